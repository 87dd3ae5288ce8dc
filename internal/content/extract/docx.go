package extract

import (
	"encoding/xml"
	"errors"
	"strings"
)

// word reads a document of Word: its text with headings, lists, tables, links and notes. Headers, footers, comments and what
// tracked changes took out are left out, as is the table of contents, which says the headings twice.
func (s *story) word(main string) (string, error) {
	d := &wordFile{story: s, page: &page{}}
	var err error
	if d.links, err = s.archive.links(main); err != nil {
		return "", err
	}
	if err := s.optional(first(d.links, "styles"), d.styles.read); err != nil {
		return "", err
	}
	if err := s.optional(first(d.links, "numbering"), d.numbering.read); err != nil {
		return "", err
	}
	err = s.archive.walk(main, s.budget, func(w *walker, _ xml.StartElement) error {
		return w.each(func(e xml.StartElement) error {
			if e.Name.Local == "body" {
				return d.blocks(w, d.page.add)
			}
			return w.Skip()
		})
	})
	if !isEnough(err) {
		return "", err
	}
	if noteErr := d.writeNotes(); noteErr != nil {
		return "", noteErr
	}
	markdown, pageErr := d.page.markdown()
	return markdown, errors.Join(err, pageErr)
}

// wordFile is a document of Word that is being read.
type wordFile struct {
	*story

	page      *page
	links     map[string]link
	styles    wordStyles
	numbering wordNumbering
	// refs are the notes in the order of their places in the text.
	refs   []noteRef
	fields []field
}

// noteRef is a place in the text that a footnote or endnote belongs to.
type noteRef struct{ kind, id string }

// field is a computed piece of text: first its instruction, then what it came to.
type field struct {
	instruction strings.Builder
	// shown is true from the end of the instruction on.
	shown bool
}

// transparent are the elements that are around text without changing what it says.
var transparent = map[string]bool{
	"ins": true, "moveTo": true, "smartTag": true, "customXml": true, "sdt": true, "sdtContent": true, "AlternateContent": true,
	"Choice": true, "dir": true, "bdo": true, "oMathPara": true,
}

// blocks reads what stands below each other: the body, a table's cell, a text box, a note.
func (d *wordFile) blocks(w *walker, to sink) error {
	return w.each(func(e xml.StartElement) error {
		switch {
		case e.Name.Local == "p":
			return d.paragraph(w, to)
		case e.Name.Local == "tbl":
			return d.table(w, to)
		case transparent[e.Name.Local]:
			return d.blocks(w, to)
		default:
			return w.Skip()
		}
	})
}

// paragraph reads a paragraph. A text box in it comes before it.
func (d *wordFile) paragraph(w *walker, to sink) error {
	p := wordParagraph{file: d, to: to, text: inline{budget: d.budget}}
	err := p.pieces(w, "")
	d.dropInstructions()
	if isEnough(err) && !p.properties.contents {
		to(p.block())
	}
	return err
}

// refer gives a note its number, which is that of its place in the text.
func (d *wordFile) refer(n noteRef) int {
	d.refs = append(d.refs, n)
	return len(d.refs)
}

// writeNotes writes the footnotes and endnotes below the text.
func (d *wordFile) writeNotes() error {
	if len(d.refs) == 0 {
		return nil
	}
	texts := map[noteRef]string{}
	for _, kind := range []string{"footnote", "endnote"} {
		if err := d.optional(first(d.links, kind+"s"), d.noteReader(kind, texts)); !isEnough(err) {
			return err
		}
	}
	for i, n := range d.refs {
		d.page.add(block{text: noteMark(i+1) + ": " + texts[n]})
	}
	return nil
}

// noteReader reads all notes of a kind.
func (d *wordFile) noteReader(kind string, texts map[noteRef]string) func(*walker, xml.StartElement) error {
	return func(w *walker, _ xml.StartElement) error {
		w.budget = d.budget
		return w.each(func(e xml.StartElement) error {
			if e.Name.Local != kind {
				return w.Skip()
			}
			var all cell
			err := d.blocks(w, all.add)
			texts[noteRef{kind: kind, id: attribute(e, "id")}] = all.html()
			return err
		})
	}
}

// mark reads the mark that begins, divides or ends a field.
func (d *wordFile) mark(kind string) {
	n := len(d.fields)
	switch {
	case kind == "begin" && n < maxNesting:
		d.fields = append(d.fields, field{})
	case kind == "separate" && n > 0:
		d.fields[n-1].shown = true
	case kind == "end" && n > 0:
		d.fields = d.fields[:n-1]
	}
}

// dropInstructions ends the fields that never came to what they show, so that a damaged one doesn't hide the rest of the text.
func (d *wordFile) dropInstructions() {
	for n := len(d.fields); n > 0 && !d.fields[n-1].shown; n = len(d.fields) {
		d.fields = d.fields[:n-1]
	}
}

// instruct reads a piece of a field's instruction.
func (d *wordFile) instruct(w *walker) error {
	text, err := w.text()
	if n := len(d.fields); n > 0 {
		d.fields[n-1].instruction.WriteString(text)
	}
	return err
}

// hyperlinkOf gives the address of a field that is a link.
func hyperlinkOf(instruction string) string {
	rest, found := strings.CutPrefix(strings.TrimSpace(instruction), "HYPERLINK")
	if !found {
		return ""
	}
	_, rest, _ = strings.Cut(rest, `"`)
	address, _, _ := strings.Cut(rest, `"`)
	return safeAddress(address)
}
