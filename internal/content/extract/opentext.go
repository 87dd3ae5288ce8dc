package extract

import (
	"encoding/xml"
	"strconv"
)

// groups are the elements that only hold blocks together.
var groups = map[string]bool{
	"section": true, "index-body": true, "index-title": true, "text-box": true, "frame": true, "list-header": true, "g": true, "a": true,
	"object-index": true, "numbered-paragraph": true, "custom-shape": true, "rect": true, "shape": true,
}

// blocks reads what stands below each other. The table of contents, which says the headings twice, and what tracked changes
// took out are left out.
func (f *openFile) blocks(w *walker, to sink) error {
	return w.each(func(e xml.StartElement) error { return f.block(w, e, to) })
}

func (f *openFile) block(w *walker, e xml.StartElement, to sink) error {
	switch name := e.Name.Local; {
	case name == "p":
		return f.paragraph(w, e, to)
	case name == "h":
		level, _ := strconv.Atoi(attribute(e, "outline-level"))
		return f.paragraph(w, e, func(b block) {
			b.heading = max(1, level)
			to(b)
		})
	case name == "list":
		return f.outerList(w, e, to)
	case name == "table":
		return f.table(w, to)
	case groups[name]:
		return f.blocks(w, to)
	default:
		return w.Skip()
	}
}

// openListing is a list that is being read.
type openListing struct {
	style         string
	level, number int
}

// outerList reads a list that stands in no other. It may go on with the numbers of the one before.
func (f *openFile) outerList(w *walker, e xml.StartElement, to sink) error {
	l := &openListing{style: attribute(e, "style-name"), level: 1}
	if attribute(e, "continue-numbering") == "true" || attribute(e, "continue-list") != "" {
		l.number = f.numbers[l.style]
	}
	err := f.list(w, l, to)
	f.numbers[l.style] = l.number
	return err
}

// list reads a list. A list inside it has its style unless it names one of its own.
func (f *openFile) list(w *walker, l *openListing, to sink) error {
	return w.each(func(e xml.StartElement) error {
		if e.Name.Local != "list-item" && e.Name.Local != "list-header" {
			return w.Skip()
		}
		if start, err := strconv.Atoi(attribute(e, "start-value")); err == nil && start > 0 {
			l.number = start - 1
		}
		l.number++
		return f.listItem(w, l, to)
	})
}

// listItem reads an item: its first paragraph is the item, what follows stands in it.
func (f *openFile) listItem(w *walker, l *openListing, to sink) error {
	ordered := f.styles.isOrdered(l.style, l.level)
	begun := false
	return w.each(func(e xml.StartElement) error {
		if e.Name.Local == "list" {
			inner := &openListing{style: l.style, level: min(l.level+1, maxLevel)}
			if own := attribute(e, "style-name"); own != "" {
				inner.style = own
			}
			return f.list(w, inner, to)
		}
		return f.block(w, e, func(b block) {
			if b.heading == 0 && len(b.rows) == 0 && !begun && !isBlank(b.text) {
				begun = true
				b.list = l.level
				if ordered {
					b.number = l.number
				}
			}
			to(b)
		})
	})
}

// paragraph reads a paragraph or a heading. Text boxes in it come before it.
func (f *openFile) paragraph(w *walker, e xml.StartElement, to sink) error {
	text := inline{budget: f.budget}
	look := f.styles.look(e, style{})
	err := f.pieces(w, &text, look, to)
	if isEnough(err) {
		to(block{text: text.html()})
	}
	return err
}

// pieces reads what a paragraph consists of.
func (f *openFile) pieces(w *walker, text *inline, look style, to sink) error {
	return w.content(func(e xml.StartElement) error {
		switch e.Name.Local {
		case "span", "meta", "meta-field", "ruby", "ruby-base":
			return f.pieces(w, text, f.styles.look(e, look), to)
		case "a":
			linked := look
			linked.address = safeAddress(attribute(e, "href"))
			return f.pieces(w, text, linked, to)
		case "s":
			text.write(" ", look)
		case "tab":
			text.write(" ", look)
		case "line-break":
			text.breakLine()
		case "note":
			return f.note(w, text)
		case "frame", "text-box", "custom-shape", "g":
			return f.blocks(w, to)
		case "annotation", "ruby-text", "tracked-changes", "annotation-end", "script":
		default:
			// Fields: page numbers, dates, names and many more, each by what it shows.
			return f.pieces(w, text, look, to)
		}
		return w.Skip()
	}, func(s string) { text.write(s, look) })
}

// note reads a footnote or an endnote.
func (f *openFile) note(w *walker, text *inline) error {
	var all cell
	f.texts = append(f.texts, "")
	number := len(f.texts)
	text.note(number)
	err := w.each(func(e xml.StartElement) error {
		if e.Name.Local != "note-body" {
			return w.Skip()
		}
		return f.blocks(w, all.add)
	})
	f.texts[number-1] = all.html()
	return err
}

func (f *openFile) writeNotes() {
	for i, text := range f.texts {
		f.page.add(block{text: noteMark(i+1) + ": " + text})
	}
}
