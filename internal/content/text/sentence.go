package text

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// SentenceEnd returns the byte offset just behind the first sentence of s, with
// its closing quotes or brackets, or len(s) when s is one sentence.
//
// A CJK full stop, question or exclamation mark ends a sentence by itself. The
// European ones do when white space follows and the next word doesn't go on in
// lower case, so that "e.g. this" and "v1.2" stay whole.
func SentenceEnd(s string) int {
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		i += size
		switch r {
		case '。', '！', '？', '｡', '．':
			end := skipClosers(s, i)
			if !quotes(s[i:end], s[end:]) {
				return end
			}
			i = end
		case '.', '!', '?', '…':
			end := skipClosers(s, i)
			if endsEuropean(s, i, end) {
				return end
			}
			i = end
		}
	}
	return len(s)
}

// Sentences calls yield with the bounds of each sentence of s in order, without
// the white space around it. It stops when yield returns false.
func Sentences(s string, yield func(start, end int) bool) {
	for at := 0; at < len(s); {
		end := at + SentenceEnd(s[at:])
		piece := s[at:end]
		start := at + len(piece) - len(strings.TrimLeftFunc(piece, unicode.IsSpace))
		stop := at + len(strings.TrimRightFunc(piece, unicode.IsSpace))
		if start < stop && !yield(start, stop) {
			return
		}
		at = end
	}
}

func skipClosers(s string, at int) int {
	for at < len(s) {
		r, size := utf8.DecodeRuneInString(s[at:])
		if !strings.ContainsRune("。！？｡．.!?…」』）】》〉”’\"')]*_", r) {
			break
		}
		at += size
	}
	return at
}

// quotes says whether closers end a quotation that the sentence around it goes on
// behind, as in 「はい。」と言った: Hiragana follows.
func quotes(closers, rest string) bool {
	next, _ := utf8.DecodeRuneInString(rest)
	return strings.ContainsAny(closers, "」』）】》〉”") && unicode.Is(unicode.Hiragana, next)
}

// endsEuropean looks at what stands before mark (the offset behind the mark)
// and behind end (the offset behind its closers).
func endsEuropean(s string, mark, end int) bool {
	if end >= len(s) {
		return true
	}
	r, size := utf8.DecodeRuneInString(s[end:])
	if !unicode.IsSpace(r) {
		return false
	}
	next, _ := utf8.DecodeRuneInString(strings.TrimLeftFunc(s[end+size:], unicode.IsSpace))
	if unicode.IsLower(next) {
		return false
	}
	return !isInitial(s[:mark])
}

// isInitial says whether s ends in a single capital and a full stop, as in
// "J. Smith", or in a number and one at the start of a line, as in "3. Apply".
func isInitial(s string) bool {
	word := strings.TrimSuffix(s, ".")
	if word == s {
		return false
	}
	digits := strings.TrimRight(word, "0123456789")
	if digits != word {
		before := strings.TrimRight(digits, " \t")
		return before == "" || strings.HasSuffix(before, "\n")
	}
	last, size := utf8.DecodeLastRuneInString(word)
	before, _ := utf8.DecodeLastRuneInString(word[:len(word)-size])
	return unicode.IsUpper(last) && (before == utf8.RuneError || unicode.IsSpace(before))
}
