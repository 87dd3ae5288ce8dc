package document

import (
	"strings"
	"unicode/utf8"
)

// escaper writes text so that Markdown reads it as text. Escapes are few, since they are noise to whoever reads the source:
// a sign is escaped only where it could mean something.
type escaper struct {
	// inLink escapes the bracket that would end a link's text.
	inLink bool
	// inCell escapes the pipe that would end a table's cell.
	inCell bool
	// whole says that the piece is all there is, without annotations: then signs at its ends, and the tilde of "~5 minutes",
	// which nothing could close, need no escape.
	whole bool
	// lineStart says that the piece begins a line, where more signs have a meaning.
	lineStart bool
	// newline replaces each line break.
	newline string
}

// append adds s to dst. What stands before and after s is unknown, so signs at its ends are escaped when in doubt.
func (e escaper) append(dst []byte, s string) []byte {
	atStart := e.lineStart
	for i := 0; i < len(s); {
		if atStart {
			n := blockSign(s[i:])
			if n >= 0 {
				dst = append(dst, s[i:i+n]...)
				dst = append(dst, '\\', s[i+n])
				i += n + 1
				atStart = false
				continue
			}
		}
		c := s[i]
		if c == '\n' {
			dst = append(dst, e.newline...)
			atStart = strings.HasSuffix(e.newline, "\n")
			i++
			continue
		}
		atStart = false
		if e.escapes(s, i) {
			dst = append(dst, '\\')
		}
		dst = append(dst, c)
		i++
	}
	return dst
}

func (e escaper) escapes(s string, i int) bool {
	switch s[i] {
	case '*', '`', '[':
		return true
	case ']':
		return e.inLink
	case '|':
		return e.inCell
	case '_':
		return !inWord(s, i)
	}
	return e.escapesBefore(s, i)
}

// escapesBefore judges signs whose meaning depends on what follows them.
func (e escaper) escapesBefore(s string, i int) bool {
	rest := s[i+1:]
	switch s[i] {
	case '~':
		return !e.whole || rest == "" || !isDigit(rest[0]) || (i > 0 && s[i-1] != ' ')
	case '\\':
		return rest == "" || rest[0] == '\n' || isASCIIPunct(rest[0])
	case '<':
		return rest == "" || isLetter(rest[0]) || strings.IndexByte("/!?", rest[0]) >= 0
	case '&':
		return isEntity(s[i:], e.whole)
	}
	return false
}

// inWord reports a sign between two letters or digits, of any script.
func inWord(s string, i int) bool {
	before, _ := utf8.DecodeLastRuneInString(s[:i])
	after, _ := utf8.DecodeRuneInString(s[i+1:])
	return i > 0 && i+1 < len(s) && isWord(before) && isWord(after)
}

// blockSign returns the offset of the byte to be escaped when a line that begins with s would be taken for a heading, a
// list, a quote, a rule, an underline or a table; -1 when it wouldn't.
func blockSign(s string) int {
	line, _, _ := strings.Cut(s, "\n")
	if line == "" {
		return -1
	}
	if isDigit(line[0]) {
		return numberSign(line)
	}
	if opensBlock(line[0], line[1:]) {
		return 0
	}
	return -1
}

// opensBlock judges the sign that a line begins with by the rest of the line.
func opensBlock(sign byte, rest string) bool {
	switch sign {
	case '>', '|':
		return true
	case '#':
		more := strings.TrimLeft(rest, "#")
		return len(rest)-len(more) < 6 && endsMark(more)
	case '+':
		return endsMark(rest)
	case '-':
		return endsMark(rest) || strings.IndexByte("-:|", rest[0]) >= 0
	case ':':
		// The line below a table's header.
		return rest != "" && rest[0] == '-'
	case '=':
		return strings.Trim(rest, "= \t") == ""
	}
	return false
}

// numberSign finds the sign behind a list's number. Markdown takes up to nine digits.
func numberSign(line string) int {
	digits := len(line) - len(strings.TrimLeft(line, "0123456789"))
	if digits == 0 || digits > 9 || digits == len(line) || strings.IndexByte(".)", line[digits]) < 0 || !endsMark(line[digits+1:]) {
		return -1
	}
	return digits
}

// endsMark reports that a block's mark ends here: by a space, or because nothing follows that is known.
func endsMark(rest string) bool { return rest == "" || rest[0] == ' ' || rest[0] == '\t' }

// maxEntity bounds how far a semicolon is looked for: the longest name in HTML has 31 letters.
const maxEntity = 34

// isEntity reports that s begins with what Markdown would decode as a character reference; unless s is whole, also with what
// could become one by what follows.
func isEntity(s string, whole bool) bool {
	i := 1
	for i < min(len(s), maxEntity) && (isLetter(s[i]) || isDigit(s[i]) || (i == 1 && s[i] == '#')) {
		i++
	}
	if i == len(s) {
		return !whole
	}
	return i > 1 && s[i] == ';'
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

func isLetter(c byte) bool { return (c|0x20) >= 'a' && (c|0x20) <= 'z' }

func isASCIIPunct(c byte) bool {
	return c > ' ' && c < 0x7F && !isDigit(c) && !isLetter(c)
}

// lineEnds are the line breaks that Markdown doesn't know, as line feeds.
var lineEnds = strings.NewReplacer("\r\n", "\n", "\r", "\n", "\v", "\n", "\f", "\n", "\u2028", "\n", "\u2029", "\n", "\u0085", "\n")

// tidyText gives rich text one kind of line break and takes out control characters, which no reader can see.
func tidyText(s string) string {
	if strings.ContainsAny(s, "\r\v\f\u2028\u2029\u0085") {
		s = lineEnds.Replace(s)
	}
	if strings.IndexFunc(s, isControl) < 0 {
		return s
	}
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\t':
			return ' '
		case isControl(r):
			return -1
		}
		return r
	}, s)
}

// isControl leaves out the line feed, which is a break.
func isControl(r rune) bool { return (r < ' ' && r != '\n') || (r >= 0x7F && r < 0xA0) }
