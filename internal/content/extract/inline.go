package extract

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/net/html"

	"github.com/loresync/loresync/internal/content/render"
)

const lineBreak = "<br/>"

// style is how a piece of text looks, as far as Markdown can say it.
type style struct {
	bold, italic bool
	// address is where a link leads; empty for what is no link.
	address string
}

// inline collects the text of a paragraph. Neighbours of the same look become one: Word divides words for reasons of its own.
type inline struct {
	budget *budget
	out    strings.Builder
	now    style
	// open tells whether the marks of the present look have been written.
	open bool
	// space is white space that waits for what follows: it has no look of its own, and marks next to it would be read as text.
	space string
}

// write adds a text, as far as the budget goes.
func (l *inline) write(text string, s style) {
	text = l.spend(strings.Map(visible, strings.ToValidUTF8(text, "")))
	body := strings.TrimLeftFunc(text, unicode.IsSpace)
	l.space += text[:len(text)-len(body)]
	if body == "" {
		return
	}
	text = strings.TrimRightFunc(body, unicode.IsSpace)
	l.switchTo(s)
	l.out.WriteString(html.EscapeString(text))
	l.space = body[len(text):]
}

// spend takes a text out of the budget, and cuts what is too much.
func (l *inline) spend(text string) string {
	n := utf8.RuneCountInString(text)
	if n > l.budget.left {
		text = render.Truncate(text, l.budget.left)
	}
	l.budget.left = max(0, l.budget.left-n)
	return text
}

// visible drops the marks for footnotes, and what no text may hold.
func visible(r rune) rune {
	if r == noteOpen || r == noteClose || r == '\u00AD' || (unicode.IsControl(r) && r != '\t' && r != '\n') {
		return -1
	}
	return r
}

// switchTo begins a text of a look, or goes on with one.
func (l *inline) switchTo(s style) {
	if l.open && l.now == s {
		l.writeSpace()
		return
	}
	l.end()
	l.writeSpace()
	l.now, l.open = s, true
	if s.address != "" {
		l.out.WriteString(`<a href="` + html.EscapeString(s.address) + `">`)
	}
	if s.bold {
		l.out.WriteString("<strong>")
	}
	if s.italic {
		l.out.WriteString("<em>")
	}
}

func (l *inline) writeSpace() {
	l.out.WriteString(l.space)
	l.space = ""
}

// end closes the marks of the present look.
func (l *inline) end() {
	if !l.open {
		return
	}
	if l.now.italic {
		l.out.WriteString("</em>")
	}
	if l.now.bold {
		l.out.WriteString("</strong>")
	}
	if l.now.address != "" {
		l.out.WriteString("</a>")
	}
	l.now, l.open = style{}, false
}

// breakLine adds a line break inside the paragraph.
func (l *inline) breakLine() {
	l.end()
	l.space = ""
	l.out.WriteString(lineBreak)
}

// note adds the mark of a footnote.
func (l *inline) note(number int) {
	l.end()
	l.writeSpace()
	l.out.WriteString(noteMark(number))
}

func noteMark(number int) string { return string(noteOpen) + strconv.Itoa(number) + string(noteClose) }

// html ends the paragraph and gives it.
func (l *inline) html() string {
	l.end()
	return strings.TrimSpace(l.out.String())
}

// safeAddress gives an address that a reader may follow, and nothing for a script or a place inside the document.
func safeAddress(address string) string {
	address = strings.TrimSpace(address)
	scheme, _, found := strings.Cut(strings.ToLower(address), ":")
	if !found || strings.ContainsAny(address, " \t\r\n<>") {
		return ""
	}
	switch scheme {
	case "http", "https", "mailto", "tel":
		return address
	default:
		return ""
	}
}
