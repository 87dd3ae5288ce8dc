package extract

import (
	"strconv"
	"strings"

	"github.com/loresync/loresync/internal/content/render"
)

// Office documents become Markdown by way of HTML: it has headings, nested lists and tables as they have, and render knows
// how to escape and to indent what becomes of it.

const (
	// noteOpen and noteClose stand around the number of a footnote until the Markdown is made, which HTML has no word for.
	// No text holds these two: Unicode keeps them for such a use.
	noteOpen, noteClose = '\uFDD0', '\uFDD1'
	// maxLevel is the deepest list; Word has 9 levels, PowerPoint as many.
	maxLevel   = 9
	maxHeading = 6
	cellCost   = 3
	maxColSpan = 100
)

// toNotes writes the marks of footnotes as Markdown has them. It also takes out the comment that the converter puts between two
// lists; where text has the same words, they are escaped.
var toNotes = strings.NewReplacer(string(noteOpen), "[^", string(noteClose), "]", "<!--THE END-->\n\n", "")

// budget is how many characters of text a file may still give.
type budget struct{ left int }

func unbounded() *budget { return &budget{left: maxTotal} }

func (b *budget) over() bool { return b.left <= 0 }

// block is one paragraph, heading, list item or table of a document. Its texts are HTML made by inline.
type block struct {
	// heading is the level from 1; 0 for what is no heading.
	heading int
	// list is the level of a list item from 1; 0 for what is none. number is its number in an ordered list, else 0.
	list, number int
	text         string
	rows         [][]string
}

// sink takes the blocks of a document in their order.
type sink func(block)

// page writes blocks as HTML.
type page struct {
	out strings.Builder
	// lists are the open lists, the innermost last.
	lists []openList
}

type openList struct {
	level, number int
}

func (l openList) tag() string {
	if l.number > 0 {
		return "ol"
	}
	return "ul"
}

func (p *page) add(b block) {
	switch {
	case len(b.rows) > 0:
		p.closeLists(0)
		p.table(b.rows)
	case isBlank(b.text):
	case b.heading > 0:
		p.closeLists(0)
		level := strconv.Itoa(min(b.heading, maxHeading))
		p.out.WriteString("<h" + level + ">" + unmarked.Replace(b.text) + "</h" + level + ">\n")
	case b.list > 0:
		p.item(b)
	default:
		p.closeLists(0)
		p.out.WriteString("<p>" + b.text + "</p>\n")
	}
}

// unmarked takes what stands out off a heading, which does so by itself, and puts it on one line.
var unmarked = strings.NewReplacer("<strong>", "", "</strong>", "", "<em>", "", "</em>", "", lineBreak, " ")

// isBlank tells whether a text, which is well-formed HTML, shows nothing.
func isBlank(text string) bool {
	return strings.TrimSpace(strings.ReplaceAll(text, lineBreak, "")) == ""
}

// item writes a list item, which stays open for lists inside it.
func (p *page) item(b block) {
	p.closeLists(b.list)
	if n := len(p.lists); n > 0 && p.lists[n-1].level == b.list {
		last := &p.lists[n-1]
		if (last.number == 0) == (b.number == 0) && (b.number == 0 || b.number == last.number+1) {
			last.number = b.number
			p.out.WriteString("</li>\n<li>" + b.text)
			return
		}
		p.closeLists(b.list - 1)
	}
	list := openList{level: b.list, number: b.number}
	p.lists = append(p.lists, list)
	start := ""
	if b.number > 1 {
		start = ` start="` + strconv.Itoa(b.number) + `"`
	}
	p.out.WriteString("<" + list.tag() + start + "><li>" + b.text)
}

// closeLists closes the lists that are deeper than level.
func (p *page) closeLists(level int) {
	for n := len(p.lists); n > 0 && p.lists[n-1].level > level; n = len(p.lists) {
		p.out.WriteString("</li></" + p.lists[n-1].tag() + ">\n")
		p.lists = p.lists[:n-1]
	}
}

// table writes a table. One of a single cell is a frame around a text.
func (p *page) table(rows [][]string) {
	if len(rows) == 1 && len(rows[0]) == 1 {
		p.add(block{text: rows[0][0]})
		return
	}
	p.out.WriteString("<table>\n")
	for _, row := range rows {
		p.out.WriteString("<tr>")
		for _, cell := range row {
			p.out.WriteString("<td>" + strings.ReplaceAll(cell, lineBreak, " ") + "</td>")
		}
		p.out.WriteString("</tr>\n")
	}
	p.out.WriteString("</table>\n")
}

// markdown ends the page and gives it as the rest of the program wants it.
func (p *page) markdown() (string, error) {
	p.closeLists(0)
	document, err := render.HTML([]byte(p.out.String()))
	return toNotes.Replace(document.Markdown), err
}

// cell collects the blocks of a table's cell into one line: a Markdown table has room for no more.
type cell struct{ texts []string }

func (c *cell) add(b block) {
	for _, row := range b.rows {
		c.texts = append(c.texts, row...)
	}
	if !isBlank(b.text) {
		c.texts = append(c.texts, b.text)
	}
}

func (c *cell) html() string { return strings.Join(c.texts, " ") }
