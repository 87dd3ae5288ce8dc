package extract

import (
	"encoding/xml"
	"slices"
	"strings"
)

// presentation reads the slides of an OpenDocument presentation.
func (f *openFile) presentation(w *walker) error {
	return w.each(func(e xml.StartElement) error {
		if e.Name.Local != "page" {
			return w.Skip()
		}
		one := &slide{hidden: f.styles.isHidden("drawing-page", e)}
		f.slides = append(f.slides, one)
		return f.openSlide(w, one)
	})
}

// openSlide reads a slide, or the page with its notes, without what stands on every slide.
func (f *openFile) openSlide(w *walker, one *slide) error {
	body := keepBlocks(&one.body)
	var shape func(xml.StartElement) error
	shape = func(e xml.StartElement) error {
		switch class := attribute(e, "class"); {
		case e.Name.Local == "notes":
			body = keepBlocks(&one.notes)
			return w.each(shape)
		case slices.Contains(openDecorations, class):
			return w.Skip()
		case class == "title":
			var all cell
			err := f.blocks(w, all.add)
			one.title = strings.TrimSpace(one.title + " " + strings.ReplaceAll(all.html(), lineBreak, " "))
			return err
		default:
			return f.block(w, e, body)
		}
	}
	return w.each(shape)
}

// openDecorations are the classes of what stands on every slide.
var openDecorations = []string{"page", "date-time", "footer", "header", "page-number"}

// keepBlocks is a sink that keeps what says something.
func keepBlocks(blocks *[]block) sink {
	return func(b block) {
		if !isBlank(b.text) || len(b.rows) > 0 {
			*blocks = append(*blocks, b)
		}
	}
}
