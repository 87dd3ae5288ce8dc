package notiontest

import (
	"strings"
	"unicode/utf8"
)

// maxSegment is how much text one piece of rich text holds, in characters.
const maxSegment = 2000

// inline turns Markdown's marks inside a text into spans; link changes the addresses of links, and may be nil.
func inline(text string, link func(string) string) []Span {
	s := &scanner{link: link}
	s.scan(text, Span{})
	return s.spans
}

// scanner collects spans.
type scanner struct {
	spans []Span
	link  func(string) string
}

// add puts text with a look at the end, to the last span if that has the same look.
func (s *scanner) add(text string, look Span) {
	if text == "" {
		return
	}
	if last := len(s.spans) - 1; last >= 0 {
		same := s.spans[last]
		same.Text = ""
		if sameLook(same, look) && utf8.RuneCountInString(s.spans[last].Text+text) <= maxSegment {
			s.spans[last].Text += text
			return
		}
	}
	for runes := []rune(text); len(runes) > 0; {
		n := min(len(runes), maxSegment)
		look.Text = string(runes[:n])
		s.spans = append(s.spans, look)
		runes = runes[n:]
	}
}

func sameLook(a, b Span) bool {
	return a.Bold == b.Bold && a.Italic == b.Italic && a.Strikethrough == b.Strikethrough && a.Code == b.Code && a.Link == b.Link
}

// scan reads a text in which everything has at least the given look.
func (s *scanner) scan(text string, look Span) {
	for text != "" {
		next := strings.IndexAny(text, "\\`*_~[<!")
		if next < 0 {
			s.add(text, look)
			return
		}
		s.add(text[:next], look)
		before := byte(' ')
		if next > 0 {
			before = text[next-1]
		}
		text = text[next:]
		taken := s.mark(text, look, before)
		if taken == 0 {
			taken = 1
			s.add(text[:1], look)
		}
		text = text[taken:]
	}
}

// mark reads what a special character begins, and gives how many bytes that was; 0 when the character means itself.
func (s *scanner) mark(text string, look Span, before byte) int {
	switch text[0] {
	case '\\':
		return s.escaped(text, look)
	case '`':
		return s.code(text, look)
	case '[':
		return s.linked(text, look)
	case '!':
		if strings.HasPrefix(text, "![") {
			if n := s.linked(text[1:], look); n > 0 {
				return n + 1
			}
		}
		return 0
	case '<':
		return s.bare(text, look)
	default:
		return s.emphasis(text, look, before)
	}
}

func (s *scanner) escaped(text string, look Span) int {
	if len(text) < 2 || !strings.ContainsRune("\\`*_{}[]()#+-.!|~<>", rune(text[1])) {
		return 0
	}
	s.add(text[1:2], look)
	return 2
}

func (s *scanner) code(text string, look Span) int {
	fence := text[:len(text)-len(strings.TrimLeft(text, "`"))]
	inside, _, found := strings.Cut(text[len(fence):], fence)
	if !found {
		return 0
	}
	look.Code = true
	s.add(strings.TrimSpace(inside), look)
	return 2*len(fence) + len(inside)
}

// linked reads [text](address "title").
func (s *scanner) linked(text string, look Span) int {
	label, rest, found := strings.Cut(text[1:], "](")
	if !found || strings.Contains(label, "[") {
		return 0
	}
	target, _, found := strings.Cut(rest, ")")
	if !found {
		return 0
	}
	address, _, _ := strings.Cut(target, " ")
	look.Link = s.address(strings.Trim(address, "<>"))
	s.scan(label, look)
	return len("[](") + len(label) + len(target) + len(")")
}

func (s *scanner) address(address string) string {
	if s.link == nil {
		return address
	}
	return s.link(address)
}

// bare reads <https://…> and <name@host>.
func (s *scanner) bare(text string, look Span) int {
	address, _, found := strings.Cut(text[1:], ">")
	switch {
	case !found || strings.ContainsAny(address, " <"):
		return 0
	case strings.HasPrefix(address, "http://"), strings.HasPrefix(address, "https://"):
		look.Link = address
	case strings.Contains(address, "@"):
		look.Link = "mailto:" + address
	default:
		return 0
	}
	s.add(address, look)
	return len(address) + len("<>")
}

// emphasis reads **bold**, __bold__, *italic*, _italic_ and ~~struck~~.
func (s *scanner) emphasis(text string, look Span, before byte) int {
	mark := text[:1]
	if strings.HasPrefix(text, mark+mark) {
		mark += mark
	}
	if mark == "~" || (mark[0] == '_' && isWord(before)) {
		return 0
	}
	inside, found := upTo(text[len(mark):], mark)
	if !found {
		return 0
	}
	switch mark {
	case "**", "__":
		look.Bold = true
	case "~~":
		look.Strikethrough = true
	default:
		look.Italic = true
	}
	s.scan(inside, look)
	return 2*len(mark) + len(inside)
}

// upTo finds the mark that closes an emphasis: not behind a space or a backslash, not a part of a longer mark, and not inside
// code.
func upTo(text, mark string) (inside string, found bool) {
	if text == "" || text[0] == ' ' {
		return "", false
	}
	inCode := text[0] == '`'
	for i := 1; i+len(mark) <= len(text); i++ {
		if text[i] == '`' {
			inCode = !inCode
		}
		if inCode || !closes(text, mark, i) {
			continue
		}
		rest := text[i+len(mark):]
		longer := strings.HasPrefix(rest, mark[:1])
		switch {
		case longer && len(mark) == 1:
			i++
		case longer:
		case mark[0] == '_' && rest != "" && isWord(rest[0]):
		default:
			return text[:i], true
		}
	}
	return "", false
}

// closes tells whether a mark stands at a place where it may close an emphasis.
func closes(text, mark string, at int) bool {
	return text[at:at+len(mark)] == mark && text[at-1] != ' ' && text[at-1] != '\\'
}

func isWord(b byte) bool {
	return b >= utf8.RuneSelf || b == '_' || (b >= '0' && b <= '9') || (b >= 'a' && b <= 'z') || (b >= 'A' && b <= 'Z')
}
