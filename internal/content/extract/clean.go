package extract

import (
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

const (
	// pageBreak stands between the pages of a PDF until clean makes a blank line of it.
	pageBreak  = '\f'
	softHyphen = '\u00AD'
)

// lineEnds are the forms that the engine gives to the end of a line. Where the line ends with a hyphen behind a letter, it
// leaves one of two marks in place of both, whether the hyphen divides a word or belongs to it.
var lineEnds = strings.NewReplacer("\r\n", "\n", "\r", "\n", "\u0002", "-\n", "\uFFFE", "-\n")

// clean makes text out of what a PDF shows: pages become paragraphs, divided words become whole, ligatures become letters,
// and what isn't printed goes. A PDF knows no paragraphs, so line ends stay.
func clean(s string) string {
	s = lineEnds.Replace(s)
	var out strings.Builder
	out.Grow(len(s))
	for page := range strings.SplitSeq(s, string(pageBreak)) {
		lines := tidyLines(page)
		if len(lines) == 0 {
			continue
		}
		if out.Len() > 0 {
			out.WriteString("\n\n")
		}
		writeLines(&out, lines)
	}
	return out.String()
}

// tidyLines gives the lines of a page without blank ones around them and with no more than one between two.
func tidyLines(page string) []string {
	var lines []string
	blank := false
	for line := range strings.SplitSeq(page, "\n") {
		line = strings.TrimSpace(strings.Map(printed, unfold(line)))
		if line == "" {
			blank = len(lines) > 0
			continue
		}
		if blank {
			lines = append(lines, "")
		}
		blank = false
		lines = append(lines, line)
	}
	return lines
}

// printed drops the characters that a reader doesn't see, but for the soft hyphen, which tells where a word was divided, and
// the joiners that writing systems need.
func printed(r rune) rune {
	switch {
	case r == '\t' || r == '\u00A0':
		return ' '
	case r == '\uFEFF', r == '\u200B', r == unicode.ReplacementChar:
		return -1
	case unicode.IsControl(r):
		return -1
	}
	return r
}

// unfold replaces what fonts draw as one shape by the letters that people search for: the Latin and Armenian ligatures, and
// the radicals that Japanese fonts share with the ideographs of the same look. Other compatibility characters carry a
// meaning of their own (superscripts, half-width letters) and stay.
func unfold(s string) string {
	if strings.IndexFunc(s, isShape) < 0 {
		return s
	}
	var out strings.Builder
	for _, r := range s {
		if isShape(r) {
			out.WriteString(norm.NFKC.String(string(r)))
		} else {
			out.WriteRune(r)
		}
	}
	return out.String()
}

func isShape(r rune) bool {
	return r >= '\uFB00' && r <= '\uFB17' || r >= '\u2E80' && r <= '\u2FD5'
}

// writeLines joins lines, and the halves of words that a hyphen divides at the end of one.
func writeLines(out *strings.Builder, lines []string) {
	for i, line := range lines {
		next := ""
		if i+1 < len(lines) {
			next = lines[i+1]
		}
		whole, divided := undivided(line, next)
		out.WriteString(strings.ReplaceAll(whole, string(softHyphen), ""))
		if !divided && i+1 < len(lines) {
			out.WriteByte('\n')
		}
	}
}

// undivided takes the hyphen off a line whose last word goes on in the next one. Between a letter and a small letter a hyphen
// nearly always divides a word; before a capital or a digit it belongs to it.
func undivided(line, next string) (string, bool) {
	if stem, ok := strings.CutSuffix(line, string(softHyphen)); ok && next != "" {
		return stem, true
	}
	stem, ok := strings.CutSuffix(line, "-")
	if !ok {
		if stem, ok = strings.CutSuffix(line, "\u2010"); !ok {
			return line, false
		}
	}
	if unicode.IsLetter(lastRune(stem)) && unicode.IsLower(firstRune(next)) {
		return stem, true
	}
	return line, false
}

func firstRune(s string) rune {
	for _, r := range s {
		return r
	}
	return 0
}

func lastRune(s string) rune {
	last := rune(0)
	for _, r := range s[max(0, len(s)-4):] {
		last = r
	}
	return last
}
