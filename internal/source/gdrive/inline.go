package gdrive

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// inline makes one line readable: pictures that are data become placeholders, escapes that nothing needs are taken away, and what
// would be read as a tag gets one. Code between backticks stays as it is. In a heading, what stands first has no meaning of its own.
func (w *docsWriter) inline(line string, heading bool) string {
	s := lineScanner{src: line, heading: heading}
	for s.at < len(s.src) {
		switch c := s.src[s.at]; {
		case c == '`':
			s.code()
		case c == '!' && strings.HasPrefix(s.src[s.at:], "!["):
			if !w.picture(&s) {
				s.copy(1)
			}
		case c == '\\' && s.at+1 < len(s.src):
			s.escape()
		case c == '<':
			s.angle()
		default:
			s.copy(1)
		}
	}
	return s.out.String()
}

// lineScanner goes through a line.
type lineScanner struct {
	src     string
	at      int
	heading bool
	out     strings.Builder
}

func (s *lineScanner) copy(n int) {
	s.out.WriteString(s.src[s.at : s.at+n])
	s.at += n
}

// code copies a span of code; backticks that nothing closes are text.
func (s *lineScanner) code() {
	rest := s.src[s.at:]
	run := len(rest) - len(strings.TrimLeft(rest, "`"))
	for at := run; at < len(rest); {
		if rest[at] != '`' {
			at++
			continue
		}
		closing := len(rest[at:]) - len(strings.TrimLeft(rest[at:], "`"))
		if at += closing; closing == run {
			s.copy(at)
			return
		}
	}
	s.copy(run)
}

// angle copies an address between angle brackets, makes a space of a line break, and has everything else that looks like a tag be
// text.
func (s *lineScanner) angle() {
	rest := s.src[s.at:]
	if length := breakLength(rest); length > 0 && s.mayBreak() {
		if written := s.out.String(); written != "" && !strings.HasSuffix(written, " ") {
			s.out.WriteByte(' ')
		}
		s.at += length
		return
	}
	inner, _, closed := strings.Cut(rest[1:], ">")
	switch {
	case closed && strings.Contains(inner, "://") && !strings.ContainsAny(inner, "< \t") && isLetter(inner[0]):
		s.copy(len(inner) + 2)
		return
	case len(rest) > 1 && (isLetter(rest[1]) || strings.IndexByte("!/?", rest[1]) >= 0):
		s.out.WriteByte('\\')
	}
	s.copy(1)
}

// breakLength is the length of the <br> that a text begins with; 0 without one.
func breakLength(rest string) int {
	inner, _, closed := strings.Cut(rest, ">")
	if closed && strings.EqualFold(strings.TrimRight(strings.TrimSuffix(inner, "/"), " "), "<br") {
		return len(inner) + 1
	}
	return 0
}

// onlyBreaks tells a line that holds nothing but <br>.
func onlyBreaks(line string) bool {
	for line = strings.TrimLeft(line, " \t"); line != ""; line = strings.TrimLeft(line, " \t") {
		length := breakLength(line)
		if length == 0 {
			return false
		}
		line = line[length:]
	}
	return true
}

// mayBreak tells a place where a break can be left out without making what follows the begin of a block.
func (s *lineScanner) mayBreak() bool {
	written := strings.TrimLeft(s.out.String(), " ")
	return s.heading || strings.HasPrefix(written, "|") || strings.ContainsFunc(written, unicode.IsLetter)
}

func isLetter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }

// escape drops a backslash in front of a character that would mean nothing without it.
func (s *lineScanner) escape() {
	next := s.src[s.at+1]
	if next >= utf8.RuneSelf || !isPunctuation(next) || s.needed(next) || s.beginsTag(next) {
		s.copy(1)
		if next < utf8.RuneSelf && isPunctuation(next) {
			s.copy(1)
		}
		return
	}
	s.at++
	s.copy(1)
}

func isPunctuation(c byte) bool {
	return c >= '!' && c <= '/' || c >= ':' && c <= '@' || c >= '[' && c <= '`' || c >= '{' && c <= '~'
}

// needed tells whether a character means something at this place. Where it takes more than the line to know, it does.
func (s *lineScanner) needed(c byte) bool {
	switch c {
	case '\\', '`', '*', '[', ']', '<', '|', '~', '&':
		return true
	case '_':
		return !s.insideWord()
	case '#', '+', '-', '=', '>':
		return !s.heading && s.atStart() || c == '#' && s.heading
	case '.', ')':
		return s.afterNumber() || c == ')' && s.afterBracket()
	case '(', ':':
		return s.afterBracket()
	case '{':
		return s.heading && s.before('#')
	case '!':
		return s.before('[')
	}
	return false
}

// beginsTag tells a character that would make a tag of the angle bracket before it.
func (s *lineScanner) beginsTag(c byte) bool {
	return strings.IndexByte("!/?", c) >= 0 && strings.HasSuffix(s.out.String(), "<")
}

// before tells which character is behind the escaped one.
func (s *lineScanner) before(c byte) bool { return s.at+2 < len(s.src) && s.src[s.at+2] == c }

// insideWord tells an underscore between two letters or digits, where it can't begin or end emphasis.
func (s *lineScanner) insideWord() bool {
	before, _ := utf8.DecodeLastRuneInString(s.src[:s.at])
	behind, _ := utf8.DecodeRuneInString(s.src[s.at+2:])
	word := func(r rune) bool { return r != utf8.RuneError && (unicode.IsLetter(r) || unicode.IsDigit(r)) }
	return word(before) && word(behind)
}

// atStart tells a place with nothing in front but what may stand before a block's mark.
func (s *lineScanner) atStart() bool {
	return strings.Trim(s.out.String(), " \t>*+-0123456789.)=#\\") == ""
}

// afterNumber tells a place where a full stop would make a list of a line.
func (s *lineScanner) afterNumber() bool {
	written := s.out.String()
	number := strings.TrimLeft(written, " \t>*+-")
	return !s.heading && number != "" && strings.Trim(number, "0123456789.)\\ ") == ""
}

// afterBracket tells a place where a parenthesis could be a link's.
func (s *lineScanner) afterBracket() bool {
	return strings.HasSuffix(s.out.String(), "]") || strings.Contains(s.out.String(), "](")
}

// picture writes a placeholder for a picture whose content is data: by label, or right in the line.
func (w *docsWriter) picture(s *lineScanner) bool {
	rest := s.src[s.at:]
	end := strings.Index(rest, "]")
	if end < 0 || end+1 >= len(rest) {
		return false
	}
	alt, length := rest[2:end], 0
	switch behind := rest[end+1:]; behind[0] {
	case '[':
		label, _, closed := strings.Cut(behind[1:], "]")
		if closed && w.data[strings.ToLower(label)] {
			length = end + 1 + len(label) + 2
		}
	case '(':
		target, _, closed := strings.Cut(behind[1:], ")")
		if closed && strings.HasPrefix(strings.ToLower(strings.TrimLeft(target, " <")), "data:") {
			length = end + 1 + len(target) + 2
		}
	}
	if length == 0 {
		return false
	}
	s.at += length
	w.pictures++
	s.out.WriteString(placeholder(alt))
	return true
}

// placeholder stands for a picture.
func placeholder(alt string) string {
	if alt = strings.Join(strings.Fields(strings.ReplaceAll(alt, `\`, "")), " "); alt != "" {
		return "(image: " + alt + ")"
	}
	return "(image)"
}
