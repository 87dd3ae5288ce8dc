package document

import (
	"slices"
	"strings"
	"unicode"
)

// style is a set of the annotations that Markdown can show. Colour and underline have no sign of their own and are dropped.
type style uint8

const (
	strike style = 1 << iota
	bold
	italic
)

// flow is the kind of place that rich text is written into.
type flow uint8

const (
	// flowParagraph keeps line breaks as hard breaks.
	flowParagraph flow = iota
	// flowLine holds one line: a heading, a label, an item of the properties.
	flowLine
	// flowCell is a table's cell: breaks are tags, and a pipe is escaped.
	flowCell
)

func (f flow) newline() string {
	switch f {
	case flowLine:
		return " "
	case flowCell:
		return "<br>"
	default:
		return "  \n"
	}
}

// cell is one character of rich text, or one atom: a piece of code or mathematics with marks of its own.
type cell struct {
	r     rune
	style style
	link  int32 // 1 + index into the links; 0 is none
	atom  int32 // 1 + index into the atoms; 0 is none
}

// space reports white space, next to which no delimiter may stand on its inner side.
func (c cell) space() bool { return c.atom == 0 && unicode.IsSpace(c.r) }

// punct reports what CommonMark counts as punctuation where it decides whether a delimiter opens or closes.
func (c cell) punct() bool { return c.atom > 0 || isPunct(c.r) }

func isPunct(r rune) bool { return unicode.IsPunct(r) || unicode.IsSymbol(r) }

func isWord(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }

// inliner turns one rich text into one piece of Markdown.
type inliner struct {
	flow  flow
	cells []cell
	links []string
	atoms []string
	out   []byte
}

// inline renders rich text. The result has no space at either end.
func (r *renderer) inline(runs []textRun, to flow, more style) string {
	spans := r.spans(runs, more)
	if len(spans) == 0 {
		return ""
	}
	if len(spans) == 1 && spans[0].kind == spanText && spans[0].style == 0 && spans[0].link == "" {
		return escapeText(spans[0].text, to)
	}
	w := inliner{flow: to, cells: r.scratch[:0]}
	for _, s := range spans {
		w.add(s)
	}
	w.trimLines()
	w.shareSpaces()
	for _, bit := range []style{strike, bold, italic} {
		w.fit(bit)
	}
	w.write()
	r.scratch = w.cells
	return string(w.out)
}

// escapeText renders text that has no annotation.
func escapeText(s string, to flow) string {
	e := escaper{lineStart: to == flowParagraph, newline: to.newline(), inCell: to == flowCell, whole: true}
	s = tidyText(s)
	if strings.IndexByte(s, '\n') >= 0 {
		s = trimTextLines(s)
	}
	return string(e.append(nil, strings.Trim(s, " \t\n")))
}

// trimTextLines takes the spaces off both ends of each line and drops empty lines: a blank line would end the paragraph.
func trimTextLines(s string) string {
	var lines []string
	for line := range strings.SplitSeq(s, "\n") {
		if line = strings.Trim(line, " \t"); line != "" {
			lines = append(lines, line)
		}
	}
	return strings.Join(lines, "\n")
}

func (w *inliner) add(s span) {
	link := int32(0)
	if s.link != "" {
		w.links = append(w.links, s.link)
		link = int32(len(w.links))
		if n := len(w.cells); n > 0 && w.cells[n-1].link > 0 && w.links[w.cells[n-1].link-1] == s.link {
			link = w.cells[n-1].link
		}
	}
	// A bracket in code can't be escaped, and in a link's text it could end the text: then the code is written as text.
	asText := s.kind == spanText || strings.TrimSpace(s.text) == "" || (link > 0 && strings.Contains(s.text, "]"))
	if !asText {
		w.atoms = append(w.atoms, atom(s, w.flow))
		w.cells = append(w.cells, cell{style: s.style, link: link, atom: int32(len(w.atoms))})
		return
	}
	w.cells = slices.Grow(w.cells, len(s.text))
	for _, r := range s.text {
		w.cells = append(w.cells, cell{r: r, style: s.style, link: link})
	}
}

// trimLines does to cells what trimTextLines does to text.
func (w *inliner) trimLines() {
	kept := w.cells[:0]
	for _, c := range w.cells {
		blank := c.atom == 0 && (c.r == ' ' || c.r == '\n')
		if blank && (len(kept) == 0 || kept[len(kept)-1].newline()) {
			continue
		}
		if c.newline() {
			kept = trimSpaces(kept)
		}
		kept = append(kept, c)
	}
	w.cells = trimSpaces(kept)
}

func (c cell) newline() bool { return c.atom == 0 && c.r == '\n' }

func trimSpaces(cells []cell) []cell {
	n := len(cells)
	for n > 0 && cells[n-1].atom == 0 && (cells[n-1].r == ' ' || cells[n-1].r == '\n') {
		n--
	}
	return cells[:n]
}

// shareSpaces leaves white space only the annotations that it shares with the text on both its sides, so that no delimiter
// ever stands between a space and the text that it marks.
func (w *inliner) shareSpaces() {
	for i := 0; i < len(w.cells); {
		if !w.cells[i].space() {
			i++
			continue
		}
		end := i
		for end < len(w.cells) && w.cells[end].space() {
			end++
		}
		var before, after cell
		if i > 0 && end < len(w.cells) {
			before, after = w.cells[i-1], w.cells[end]
		}
		for ; i < end; i++ {
			c := &w.cells[i]
			c.style &= before.style & after.style
			if before.link != after.link || c.link != before.link {
				c.link = 0
			}
		}
	}
}

// fit shrinks each stretch of one annotation until CommonMark lets its delimiters open and close: punctuation at its edge
// stays outside when a letter stands before it, as in Japanese brackets inside a sentence.
func (w *inliner) fit(bit style) {
	for i := 0; i < len(w.cells); {
		if w.cells[i].style&bit == 0 {
			i++
			continue
		}
		end := i
		for end < len(w.cells) && w.cells[end].style&bit != 0 && w.cells[end].link == w.cells[i].link {
			end++
		}
		w.fitStretch(i, end, bit)
		i = end
	}
}

func (w *inliner) fitStretch(from, to int, bit style) {
	start := from
	for from < to && (w.cells[from].space() || (w.cells[from].punct() && w.letterAt(from-1, w.cells[start].link))) {
		w.cells[from].style &^= bit
		from++
	}
	end := to
	for to > from && (w.cells[to-1].space() || (w.cells[to-1].punct() && w.letterAt(to, w.cells[end-1].link))) {
		to--
		w.cells[to].style &^= bit
	}
}

// letterAt reports that the neighbour at i is neither space nor punctuation. A neighbour outside of the link is hidden behind
// the link's bracket.
func (w *inliner) letterAt(i int, link int32) bool {
	return i >= 0 && i < len(w.cells) && w.cells[i].link == link && !w.cells[i].space() && !w.cells[i].punct()
}
