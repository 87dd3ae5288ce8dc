package text

import (
	"html"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Plain returns inline Markdown as a reader sees it: emphasis and code marks
// gone, links and images by their text, tags dropped, entities decoded, white
// space folded. It works on one paragraph, heading or list item; block marks
// are the caller's.
func Plain(markdown string) string {
	p := plain{src: markdown}
	p.out.Grow(len(markdown))
	for p.at < len(p.src) {
		p.step()
	}
	return fold(html.UnescapeString(p.out.String()))
}

type plain struct {
	src  string
	at   int
	open bool // a comment that nothing closes was seen; looking again would take a scan each time
	out  strings.Builder
}

// step consumes one piece of markup or one byte of text. Every byte that has a
// meaning in Markdown is ASCII, so the others can be copied singly.
func (p *plain) step() {
	c := p.src[p.at]
	switch c {
	case '\\':
		p.escape()
	case '*', '`':
		p.at++
	case '_', '~':
		p.mark(c)
	case '!':
		if !strings.HasPrefix(p.src[p.at:], "![") {
			p.out.WriteByte(c)
		}
		p.at++
	case '[':
		p.bracket()
	case ']':
		p.link()
	case '<':
		p.tag()
	default:
		p.out.WriteByte(c)
		p.at++
	}
}

func (p *plain) escape() {
	p.at++
	if p.at < len(p.src) && p.src[p.at] < utf8.RuneSelf && unicode.In(rune(p.src[p.at]), unicode.P, unicode.S) {
		p.out.WriteByte(p.src[p.at])
		p.at++
		return
	}
	p.out.WriteByte('\\')
}

// mark drops an underscore or tilde at a word's edge and keeps it inside one:
// snake_case and ~/path are text.
func (p *plain) mark(c byte) {
	before := p.at > 0 && wordByte(p.src[p.at-1])
	after := p.at+1 < len(p.src) && (wordByte(p.src[p.at+1]) || p.src[p.at+1] == '/')
	doubled := p.at+1 < len(p.src) && p.src[p.at+1] == c
	if (before && after) || (c == '~' && after && !doubled && !p.follows(c)) {
		p.out.WriteByte(c)
	}
	p.at++
}

func (p *plain) follows(c byte) bool { return p.at > 0 && p.src[p.at-1] == c }

// bracket keeps a bracket that opens no link, such as an array index, and drops
// the others with the box of a task.
func (p *plain) bracket() {
	rest := p.src[p.at:]
	for _, box := range []string{"[ ] ", "[x] ", "[X] "} {
		if p.out.Len() == 0 && strings.HasPrefix(rest, box) {
			p.at += len(box)
			return
		}
	}
	if !opensLink(rest) {
		p.out.WriteByte('[')
	}
	p.at++
}

// maxLink bounds how far a link's text or target is looked for, so that a page
// of opening brackets costs no more than its length times this.
const maxLink = 1024

func opensLink(rest string) bool {
	depth := 0
	for i := 0; i < len(rest) && i < maxLink; i++ {
		switch rest[i] {
		case '\\':
			i++
		case '[':
			depth++
		case ']':
			depth--
			if depth == 0 {
				return i+1 < len(rest) && (rest[i+1] == '(' || rest[i+1] == '[')
			}
		}
	}
	return false
}

// link stands at a closing bracket and skips the target behind it.
func (p *plain) link() {
	rest := p.src[p.at+1:]
	if rest == "" || (rest[0] != '(' && rest[0] != '[') {
		p.out.WriteByte(']')
		p.at++
		return
	}
	closer := byte(')')
	if rest[0] == '[' {
		closer = ']'
	}
	end := closing(rest, rest[0], closer)
	if end < 0 {
		p.out.WriteByte(']')
		p.at++
		return
	}
	p.at += 1 + end + 1
}

// closing returns the index of the bracket that closes the one at s[0], or -1.
func closing(s string, opener, closer byte) int {
	depth := 0
	for i := 0; i < len(s) && i < maxLink; i++ {
		switch s[i] {
		case '\\':
			i++
		case opener:
			depth++
		case closer:
			depth--
			if depth == 0 {
				return i
			}
		}
	}
	return -1
}

// tag drops an HTML tag or comment and unwraps an autolink; any other angle
// bracket is text.
func (p *plain) tag() {
	rest := p.src[p.at:]
	if !p.open && strings.HasPrefix(rest, "<!--") {
		if end := strings.Index(rest, "-->"); end > 0 {
			p.at += end + len("-->")
			return
		}
		p.open = true
	}
	end := strings.IndexByte(rest[:min(len(rest), maxLink)], '>')
	if end < 2 || !tagByte(rest[1]) {
		p.out.WriteByte('<')
		p.at++
		return
	}
	inner := rest[1:end]
	if strings.Contains(inner, "://") && !strings.ContainsAny(inner, " \n") {
		p.out.WriteString(inner)
	} else {
		p.out.WriteByte(' ')
	}
	p.at += end + 1
}

func tagByte(c byte) bool {
	return c == '/' || c == '!' || (c|0x20 >= 'a' && c|0x20 <= 'z')
}

func wordByte(c byte) bool {
	return c >= utf8.RuneSelf || (c >= '0' && c <= '9') || (c|0x20 >= 'a' && c|0x20 <= 'z')
}

// fold makes every run of white space one space and trims the ends. A line break
// between two Japanese or Chinese characters is no space at all.
func fold(s string) string {
	var out strings.Builder
	out.Grow(len(s))
	var last rune
	space, broken := false, false
	for _, r := range s {
		if unicode.IsSpace(r) {
			space, broken = true, broken || r == '\n'
			continue
		}
		if space && out.Len() > 0 && (!broken || !unspaced(last) || !unspaced(r)) {
			out.WriteByte(' ')
		}
		out.WriteRune(r)
		last, space, broken = r, false, false
	}
	return out.String()
}

// unspaced says whether r belongs to a script that is written without spaces
// between its words, or to its punctuation. Hangul, which has spaces, doesn't.
func unspaced(r rune) bool {
	if r < 0x1100 {
		return false
	}
	return (r >= 0x3000 && r <= 0x303F) || (r >= 0xFF00 && r <= 0xFF65) ||
		(CJKLetter(r) && !unicode.Is(unicode.Hangul, r))
}

// CJKLetter says whether r is a letter of Han, Hiragana, Katakana or Hangul. The
// prolonged sound mark belongs to no script in Unicode, but to the word in
// Japanese. The blocks that nearly all text is made of are asked before the
// tables of Unicode.
func CJKLetter(r rune) bool {
	switch {
	case r < 0x1100:
		return false
	case r >= 0x4E00 && r <= 0x9FFF, r >= 0x3041 && r <= 0x3096, r >= 0x30A1 && r <= 0x30FA, r >= 0xAC00 && r <= 0xD7A3:
		return true
	case r == 'ー':
		return true
	case r >= 0x3000 && r <= 0x3004:
		return false
	}
	return unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul)
}
