package extract

import (
	"encoding/xml"
	"slices"
	"strings"
)

// slideFile is a slide, or the page with its notes, that is being read.
type slideFile struct {
	*story

	links   map[string]link
	ofNotes bool
	title   string
	body    []block
}

func (f *slideFile) add(b block) {
	if !isBlank(b.text) || len(b.rows) > 0 {
		f.body = append(f.body, b)
	}
}

func (f *slideFile) read(part string, root func(xml.StartElement)) error {
	return f.archive.walk(part, f.budget, func(w *walker, e xml.StartElement) error {
		root(e)
		return f.shapes(w)
	})
}

// shapes reads the shapes of a slide in the order in which they lie on each other, which is mostly that of reading.
func (f *slideFile) shapes(w *walker) error {
	return w.each(func(e xml.StartElement) error {
		switch e.Name.Local {
		case "cSld", "spTree", "grpSp", "graphicFrame", "graphic", "graphicData", "AlternateContent", "Choice":
			return f.shapes(w)
		case "sp":
			return f.shape(w)
		case "tbl":
			return f.table(w)
		case "relIds":
			return f.diagram(w, e)
		default:
			return w.Skip()
		}
	})
}

// decorations are the placeholders of what stands on every slide.
var decorations = []string{"sldNum", "dt", "ftr", "hdr", "sldImg"}

// shape reads a box with text. What is to be done with it depends on the place of the layout that it fills.
func (f *slideFile) shape(w *walker) error {
	place, isPlace := "", false
	return w.each(func(e xml.StartElement) error {
		switch e.Name.Local {
		case "nvSpPr", "nvPr":
			return w.each(func(e xml.StartElement) error {
				if e.Name.Local != "nvPr" {
					return w.Skip()
				}
				return w.each(func(e xml.StartElement) error {
					if e.Name.Local == "ph" {
						place, isPlace = attribute(e, "type"), true
					}
					return w.Skip()
				})
			})
		case "txBody":
			if slices.Contains(decorations, place) {
				return w.Skip()
			}
			return f.textOf(w, place, isPlace)
		default:
			return w.Skip()
		}
	})
}

// textOf reads the text of a shape. Places for bodies have bullets by their layout.
func (f *slideFile) textOf(w *walker, place string, isPlace bool) error {
	if place == "title" || place == "ctrTitle" {
		var all cell
		err := f.paragraphs(w, false, all.add)
		f.title = strings.TrimSpace(f.title + " " + strings.ReplaceAll(all.html(), lineBreak, " "))
		return err
	}
	bullets := isPlace && !f.ofNotes && (place == "" || place == "body" || place == "obj")
	return f.paragraphs(w, bullets, f.add)
}

// diagram reads the words of a drawing that Office makes of a list.
func (f *slideFile) diagram(w *walker, e xml.StartElement) error {
	part := f.links[relation(e, "dm")].target
	if part != "" && f.archive.has(part) {
		err := f.archive.walk(part, f.budget, func(w *walker, _ xml.StartElement) error { return f.points(w) })
		if err != nil {
			return err
		}
	}
	return w.Skip()
}

// points reads the points of a diagram, each with a text body of its own.
func (f *slideFile) points(w *walker) error {
	return w.each(func(e xml.StartElement) error {
		switch e.Name.Local {
		case "ptLst", "pt":
			return f.points(w)
		case "t":
			return f.paragraphs(w, true, f.add)
		default:
			return w.Skip()
		}
	})
}

// table reads a table of a slide.
func (f *slideFile) table(w *walker) error {
	var rows [][]string
	err := w.each(func(e xml.StartElement) error {
		if e.Name.Local != "tr" {
			return w.Skip()
		}
		var row []string
		err := w.each(func(e xml.StartElement) error {
			if e.Name.Local != "tc" {
				return w.Skip()
			}
			text, err := f.tableCell(w)
			if attribute(e, "vMerge") == "1" && len(rows) > 0 && len(row) < len(rows[len(rows)-1]) {
				text = rows[len(rows)-1][len(row)]
			}
			row = append(row, text)
			return err
		})
		rows = append(rows, row)
		return err
	})
	if isEnough(err) && len(rows) > 0 {
		f.add(block{rows: rows})
	}
	return err
}

func (f *slideFile) tableCell(w *walker) (string, error) {
	var all cell
	f.budget.left -= cellCost
	err := w.each(func(e xml.StartElement) error {
		if e.Name.Local != "txBody" {
			return w.Skip()
		}
		return f.paragraphs(w, false, all.add)
	})
	return all.html(), err
}
