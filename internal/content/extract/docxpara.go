package extract

import (
	"encoding/xml"
	"strings"
)

// wordParagraph is a paragraph that is being read.
type wordParagraph struct {
	file       *wordFile
	to         sink
	text       inline
	properties wordProperties
}

// pieces reads what a paragraph consists of.
func (p *wordParagraph) pieces(w *walker, address string) error {
	return w.each(func(e xml.StartElement) error {
		switch name := e.Name.Local; {
		case name == "pPr":
			return p.file.properties(w, &p.properties)
		case name == "r":
			return p.run(w, address)
		case name == "hyperlink":
			return p.pieces(w, safeAddress(p.file.links[relation(e, "id")].target))
		case name == "fldSimple":
			return p.pieces(w, hyperlinkOf(attribute(e, "instr")))
		case name == "oMath":
			return p.formula(w)
		case transparent[name]:
			return p.pieces(w, address)
		default:
			return w.Skip()
		}
	})
}

// formula reads a formula by its characters.
func (p *wordParagraph) formula(w *walker) error {
	formula, err := w.text()
	p.text.write(formula, style{})
	return err
}

// run reads a piece of text of one look.
func (p *wordParagraph) run(w *walker, address string) error {
	look, hidden := style{address: address}, false
	return w.each(func(e xml.StartElement) error {
		if e.Name.Local == "rPr" {
			var err error
			look.bold, look.italic, hidden, err = runProperties(w)
			return err
		}
		if hidden {
			return w.Skip()
		}
		return p.piece(w, e, look)
	})
}

func runProperties(w *walker) (bold, italic, hidden bool, err error) {
	err = w.each(func(e xml.StartElement) error {
		switch e.Name.Local {
		case "b":
			bold = isOn(e)
		case "i":
			italic = isOn(e)
		case "vanish":
			hidden = isOn(e)
		}
		return w.Skip()
	})
	return bold, italic, hidden, err
}

// piece reads one part of a run.
func (p *wordParagraph) piece(w *walker, e xml.StartElement, look style) error {
	switch e.Name.Local {
	case "t":
		text, err := w.text()
		p.write(text, look)
		return err
	case "tab", "ptab":
		p.write(" ", look)
	case "noBreakHyphen":
		p.write("-", look)
	case "br", "cr":
		p.lineBreak(attribute(e, "type"))
	case "footnoteReference", "endnoteReference":
		p.text.note(p.file.refer(noteRef{kind: strings.TrimSuffix(e.Name.Local, "Reference"), id: attribute(e, "id")}))
	case "fldChar":
		p.file.mark(attribute(e, "fldCharType"))
	case "instrText":
		return p.file.instruct(w)
	case "ruby":
		return p.ruby(w)
	case "AlternateContent", "Choice", "drawing", "pict", "object":
		return p.boxes(w)
	}
	return w.Skip()
}

// write adds text, which may belong to a field that is a link.
func (p *wordParagraph) write(text string, look style) {
	if n := len(p.file.fields); n > 0 {
		last := &p.file.fields[n-1]
		if !last.shown {
			return
		}
		if look.address == "" {
			look.address = hyperlinkOf(last.instruction.String())
		}
	}
	p.text.write(text, look)
}

// lineBreak ends the line, unless it is the page or the column that ends.
func (p *wordParagraph) lineBreak(kind string) {
	if kind == "" || kind == "textWrapping" {
		p.text.breakLine()
	}
}

// ruby reads a text with its reading above it, and keeps the text: with the reading in between it couldn't be found.
func (p *wordParagraph) ruby(w *walker) error {
	return w.each(func(e xml.StartElement) error {
		if e.Name.Local == "rubyBase" {
			return p.pieces(w, "")
		}
		return w.Skip()
	})
}

// boxes reads the text boxes in a drawing.
func (p *wordParagraph) boxes(w *walker) error {
	return w.each(func(e xml.StartElement) error {
		switch e.Name.Local {
		case "txbxContent":
			return p.file.blocks(w, p.to)
		case "Fallback":
			// The same once more, for old programs.
			return w.Skip()
		default:
			return p.boxes(w)
		}
	})
}

// block gives the paragraph, with the number that Word shows in front of it.
func (p *wordParagraph) block() block {
	b := block{text: p.text.html(), heading: p.file.styles.heading(p.properties)}
	if isBlank(b.text) {
		return block{}
	}
	l, ok := p.file.numbering.next(p.file.styles.numbered(p.properties))
	if !ok {
		return b
	}
	switch {
	case b.heading > 0:
		b.text = joinLabel(l.label, b.text)
	case l.plain:
		b.list, b.number = l.level+1, l.number
	default:
		b.list, b.text = l.level+1, joinLabel(l.label, b.text)
	}
	return b
}

func joinLabel(label, text string) string {
	var out inline
	out.budget = unbounded()
	out.write(label, style{})
	return strings.TrimSpace(out.html() + " " + text)
}
