package terms

import (
	"iter"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"github.com/loresync/loresync/internal/content/text"
)

// Kind is where a token comes from.
type Kind int

// The kinds of tokens.
const (
	// Word is the stem of a word, or a number.
	Word Kind = iota
	// Stop is the stem of an English word without a meaning of its own.
	Stop
	// Pair is two neighbouring CJK characters, or the only one of its run.
	Pair
	// Char is one Han character of a longer run.
	Char
)

// maxWordRunes bounds a token. What is longer is a hash or an encoded file; its
// beginning is enough to find it by.
const maxWordRunes = 64

// All yields every token of s in order. The tokens are slices of one normalised
// copy of s (of s itself when it is normal), so a token costs no memory of its
// own.
func All(s string) iter.Seq2[string, Kind] {
	return func(yield func(string, Kind) bool) {
		w := walker{src: normalise(s), yield: yield}
		w.walk()
	}
}

// normalise lower-cases after NFKC, and once more brings the few letters that
// lower-casing takes apart (such as the dotted capital I) to their normal form.
func normalise(s string) string {
	s = strings.ToLower(norm.NFKC.String(s))
	return norm.NFKC.String(s)
}

type walker struct {
	src   string
	yield func(string, Kind) bool
}

// walk goes from run to run; what is neither word nor CJK separates them.
func (w *walker) walk() {
	for at := 0; at < len(w.src); {
		r, size := utf8.DecodeRuneInString(w.src[at:])
		var more bool
		switch {
		case text.CJKLetter(r):
			at, more = w.run(at)
		case wordRune(r):
			at, more = w.word(at)
		default:
			at, more = at+size, true
		}
		if !more {
			return
		}
	}
}

// run yields the pairs of one run of CJK characters.
func (w *walker) run(start int) (end int, more bool) {
	prev, at := -1, start
	for at < len(w.src) {
		r, size := utf8.DecodeRuneInString(w.src[at:])
		if !text.CJKLetter(r) {
			break
		}
		if prev >= 0 && !w.yield(w.src[prev:at+size], Pair) {
			return at, false
		}
		alone := prev < 0 && !w.cjkAt(at+size)
		if alone && !w.yield(w.src[at:at+size], Pair) {
			return at, false
		}
		if !alone && han(r) && !w.yield(w.src[at:at+size], Char) {
			return at, false
		}
		prev, at = at, at+size
	}
	return at, true
}

func han(r rune) bool {
	return (r >= 0x4E00 && r <= 0x9FFF) || (r > 0x3004 && (r < 0x3041 || r > 0x30FF) && unicode.Is(unicode.Han, r))
}

func (w *walker) cjkAt(at int) bool {
	r, _ := utf8.DecodeRuneInString(w.src[at:])
	return text.CJKLetter(r)
}

// word yields one word. The tail of an English contraction or possessive goes
// with it unseen.
func (w *walker) word(start int) (end int, more bool) {
	end = w.wordEnd(start)
	kind := Word
	full := w.src[start:end]
	if stopWords[full] {
		kind = Stop
	}
	more = w.yield(bound(full[:stem(full)]), kind)
	return end + contraction(w.src[end:]), more
}

func (w *walker) wordEnd(at int) int {
	for at < len(w.src) {
		r, size := utf8.DecodeRuneInString(w.src[at:])
		if !wordRune(r) && !unicode.Is(unicode.M, r) {
			break
		}
		at += size
	}
	return at
}

// wordRune says whether r is a letter or digit outside the CJK scripts. The
// ASCII cases come first because they are nearly all.
func wordRune(r rune) bool {
	if r < utf8.RuneSelf {
		return (r >= 'a' && r <= 'z') || (r >= '0' && r <= '9')
	}
	return (unicode.IsLetter(r) || unicode.IsNumber(r)) && !text.CJKLetter(r)
}

func bound(word string) string {
	if len(word) <= maxWordRunes {
		return word
	}
	runes := 0
	for i := range word {
		if runes == maxWordRunes {
			return word[:i]
		}
		runes++
	}
	return word
}

// contraction returns the length of an apostrophe and the ending behind it, if
// rest begins with one of the English endings.
func contraction(rest string) int {
	var mark int
	switch {
	case strings.HasPrefix(rest, "'"):
		mark = 1
	case strings.HasPrefix(rest, "’"):
		mark = len("’")
	default:
		return 0
	}
	end := mark
	for end < len(rest) && rest[end] >= 'a' && rest[end] <= 'z' {
		end++
	}
	switch rest[mark:end] {
	case "s", "t", "d", "m", "ll", "re", "ve":
		return end
	}
	return 0
}
