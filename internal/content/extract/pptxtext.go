package extract

import (
	"encoding/xml"
	"strconv"
	"strings"
)

// titleBreak is a line break inside a title: a vertical tab, as Office writes what XML can't hold.
const titleBreak = "_x000B_"

// drawnText is the text of one shape of a slide that is being read.
type drawnText struct {
	file *slideFile
	// bullets tells whether paragraphs are list items unless they say otherwise.
	bullets bool
	// numbers are the numbers of the ordered lists, by level.
	numbers [maxLevel]int
}

// drawnLook is what a paragraph of a slide says of itself.
type drawnLook struct {
	level           int
	bullet, counted bool
	start           int
}

// paragraphs reads the paragraphs of a shape.
func (f *slideFile) paragraphs(w *walker, bullets bool, to sink) error {
	t := drawnText{file: f, bullets: bullets}
	return w.each(func(e xml.StartElement) error {
		if e.Name.Local != "p" {
			return w.Skip()
		}
		return t.paragraph(w, to)
	})
}

func (t *drawnText) paragraph(w *walker, to sink) error {
	look := drawnLook{bullet: t.bullets, start: 1}
	text := inline{budget: t.file.budget}
	err := w.each(func(e xml.StartElement) error {
		switch e.Name.Local {
		case "pPr":
			return look.read(w, e)
		case "r", "fld":
			return t.run(w, &text)
		case "br":
			text.breakLine()
		}
		return w.Skip()
	})
	if isEnough(err) {
		to(t.block(look, text.html()))
	}
	return err
}

func (l *drawnLook) read(w *walker, e xml.StartElement) error {
	level, _ := strconv.Atoi(attribute(e, "lvl"))
	l.level = min(max(0, level), maxLevel-1)
	return w.each(func(e xml.StartElement) error {
		switch e.Name.Local {
		case "buNone":
			l.bullet, l.counted = false, false
		case "buChar", "buBlip":
			l.bullet, l.counted = true, false
		case "buAutoNum":
			l.bullet, l.counted = true, true
			if start, err := strconv.Atoi(attribute(e, "startAt")); err == nil && start > 0 {
				l.start = start
			}
		}
		return w.Skip()
	})
}

// block makes a paragraph, or an item of a list.
func (t *drawnText) block(l drawnLook, text string) block {
	if isBlank(text) || !l.bullet {
		return block{text: text}
	}
	clear(t.numbers[l.level+1:])
	if !l.counted {
		t.numbers[l.level] = 0
		return block{list: l.level + 1, text: text}
	}
	t.numbers[l.level] = max(t.numbers[l.level]+1, l.start)
	return block{list: l.level + 1, number: t.numbers[l.level], text: text}
}

// run reads a piece of text of one look.
func (t *drawnText) run(w *walker, text *inline) error {
	var look style
	return w.each(func(e xml.StartElement) error {
		switch e.Name.Local {
		case "rPr":
			look.bold = attribute(e, "b") == "1" || attribute(e, "b") == "true"
			look.italic = attribute(e, "i") == "1" || attribute(e, "i") == "true"
			return w.each(func(e xml.StartElement) error {
				if e.Name.Local == "hlinkClick" {
					look.address = safeAddress(t.file.links[relation(e, "id")].target)
				}
				return w.Skip()
			})
		case "t":
			words, err := w.text()
			text.write(strings.ReplaceAll(words, titleBreak, " "), look)
			return err
		default:
			return w.Skip()
		}
	})
}
