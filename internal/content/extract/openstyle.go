package extract

import (
	"encoding/xml"
	"strconv"
)

// openStyleSheet is what the styles of an OpenDocument file say of looks, lists, sheets and slides.
type openStyleSheet struct {
	byName map[styleName]openStyle
	// ordered tells for each style of lists which of its levels are numbered, from 1.
	ordered map[string][maxLevel + 1]bool
}

// styleName names a style; families have names of their own.
type styleName struct{ family, name string }

// openStyle is one style.
type openStyle struct {
	bold, italic bool
	// hidden is true for a sheet or a slide that isn't shown.
	hidden bool
}

func newOpenStyles() openStyleSheet {
	return openStyleSheet{byName: map[styleName]openStyle{}, ordered: map[string][maxLevel + 1]bool{}}
}

// readStyles reads styles.xml.
func (f *openFile) readStyles(w *walker, _ xml.StartElement) error {
	return w.each(func(e xml.StartElement) error {
		if e.Name.Local == "styles" {
			return f.styles.read(w)
		}
		// The automatic styles here belong to headers and footers, and share names with those of the text.
		return w.Skip()
	})
}

func (s *openStyleSheet) read(w *walker) error {
	return w.each(func(e xml.StartElement) error {
		name := attribute(e, "name")
		switch e.Name.Local {
		case "style":
			return s.readStyle(w, styleName{family: attribute(e, "family"), name: name})
		case "list-style":
			return s.readList(w, name)
		default:
			return w.Skip()
		}
	})
}

func (s *openStyleSheet) readStyle(w *walker, name styleName) error {
	var one openStyle
	err := w.each(func(e xml.StartElement) error {
		switch e.Name.Local {
		case "text-properties":
			one.bold = attribute(e, "font-weight") == "bold"
			one.italic = attribute(e, "font-style") == "italic"
		case "table-properties":
			one.hidden = attribute(e, "display") == "false"
		case "drawing-page-properties":
			one.hidden = attribute(e, "visibility") == "hidden"
		}
		return w.Skip()
	})
	s.byName[name] = one
	return err
}

func (s *openStyleSheet) readList(w *walker, name string) error {
	var ordered [maxLevel + 1]bool
	err := w.each(func(e xml.StartElement) error {
		level, _ := strconv.Atoi(attribute(e, "level"))
		if e.Name.Local == "list-level-style-number" && level >= 1 && level <= maxLevel {
			ordered[level] = attribute(e, "num-format") != ""
		}
		return w.Skip()
	})
	s.ordered[name] = ordered
	return err
}

func (s *openStyleSheet) isOrdered(list string, level int) bool { return s.ordered[list][level] }

// look is how text in an element looks, given how it looks around it.
func (s *openStyleSheet) look(e xml.StartElement, around style) style {
	family := "text"
	if e.Name.Local == "p" || e.Name.Local == "h" {
		family = "paragraph"
	}
	one := s.byName[styleName{family: family, name: attribute(e, "style-name")}]
	around.bold = around.bold || one.bold
	around.italic = around.italic || one.italic
	return around
}

// isHidden tells whether a sheet or a slide isn't shown.
func (s *openStyleSheet) isHidden(family string, e xml.StartElement) bool {
	return s.byName[styleName{family: family, name: attribute(e, "style-name")}].hidden
}
