package extract

import (
	"encoding/xml"
	"strconv"
	"strings"
)

// maxInheritance is how many styles may be based on each other.
const maxInheritance = 20

// noOutline is Word's outline level of what is no heading. Levels begin with 0.
const noOutline = 9

// wordProperties is what a paragraph, or its style, says of itself.
type wordProperties struct {
	style string
	// outline is the level of a heading from 1; 0 when nothing is said. noOutline+1 says that it is none.
	outline int
	// list is the list that the paragraph belongs to; empty when nothing is said, "0" when it belongs to none. level is its
	// level from 0, if levelled.
	list     string
	level    int
	levelled bool
	// contents is true for a line of a table of contents.
	contents bool
}

// properties reads what a paragraph says of itself.
func (d *wordFile) properties(w *walker, p *wordProperties) error {
	if err := readProperties(w, p); err != nil {
		return err
	}
	p.contents = strings.HasPrefix(d.styles.byID[p.style].name, "toc ")
	return nil
}

func readProperties(w *walker, p *wordProperties) error {
	return w.each(func(e xml.StartElement) error {
		switch e.Name.Local {
		case "pStyle":
			p.style = attribute(e, "val")
		case "outlineLvl":
			p.outline = numberOf(e) + 1
		case "numPr":
			return readProperties(w, p)
		case "numId":
			p.list = attribute(e, "val")
		case "ilvl":
			p.level, p.levelled = numberOf(e), true
		}
		return w.Skip()
	})
}

// numberOf gives a small number from an element, 0 for what is none.
func numberOf(e xml.StartElement) int {
	n, _ := strconv.Atoi(attribute(e, "val"))
	return min(max(0, n), maxPart)
}

// wordStyles are the styles of paragraphs.
type wordStyles struct{ byID map[string]wordStyle }

type wordStyle struct {
	wordProperties

	// name is in English and in lower case whatever the language of Word is; only the id follows the language.
	name, basedOn string
}

func (s *wordStyles) read(w *walker, _ xml.StartElement) error {
	s.byID = map[string]wordStyle{}
	return w.each(func(e xml.StartElement) error {
		if e.Name.Local != "style" {
			return w.Skip()
		}
		var one wordStyle
		err := w.each(func(e xml.StartElement) error {
			switch e.Name.Local {
			case "name":
				one.name = strings.ToLower(attribute(e, "val"))
			case "basedOn":
				one.basedOn = attribute(e, "val")
			case "pPr":
				return readProperties(w, &one.wordProperties)
			}
			return w.Skip()
		})
		s.byID[attribute(e, "styleId")] = one
		return err
	})
}

// chain calls look for a style and those it is based on, until look is content.
func (s *wordStyles) chain(id string, look func(wordStyle) bool) {
	for range maxInheritance {
		one, found := s.byID[id]
		if !found || look(one) {
			return
		}
		id = one.basedOn
	}
}

// heading gives the level of a heading from 1; 0 for what is none.
func (s *wordStyles) heading(p wordProperties) int {
	level := p.outline
	if level == 0 {
		s.chain(p.style, func(one wordStyle) bool {
			level = one.level1()
			return level > 0
		})
	}
	if level > noOutline {
		return 0
	}
	return level
}

// level1 is the level of a heading by what its style says, or by its name.
func (s wordStyle) level1() int {
	if s.outline > 0 {
		return s.outline
	}
	if s.name == "title" {
		return 1
	}
	level, _ := strconv.Atoi(strings.TrimPrefix(s.name, "heading "))
	return min(max(0, level), noOutline)
}

// numbered gives the list and the level in it that a paragraph belongs to, by itself or by its style.
func (s *wordStyles) numbered(p wordProperties) (list string, level int) {
	list, level = p.list, p.level
	levelled := p.levelled
	s.chain(p.style, func(one wordStyle) bool {
		if list == "" {
			list = one.list
		}
		if !levelled && one.levelled {
			level, levelled = one.level, true
		}
		return list != "" && levelled
	})
	return list, min(level, maxLevel-1)
}
