package extract

import (
	"encoding/xml"
	"errors"
	"strings"
)

// The parts of an OpenDocument file.
const (
	openContent  = "content.xml"
	openStyles   = "styles.xml"
	openManifest = "META-INF/manifest.xml"
)

// openDocument reads a text, a spreadsheet or a presentation of OpenDocument.
func (s *story) openDocument() (string, error) {
	if err := s.optional(openManifest, refuseEncrypted); err != nil {
		return "", err
	}
	f := &openFile{story: s, page: &page{}, styles: newOpenStyles(), numbers: map[string]int{}}
	if err := s.optional(openStyles, f.readStyles); err != nil {
		return "", err
	}
	err := s.archive.walk(openContent, s.budget, f.content)
	if !isEnough(err) {
		return "", err
	}
	if f.sheets != nil {
		return s.writeSheets(f.sheets)
	}
	if f.slides != nil {
		return s.show(len(f.slides), func(i int) (*slide, error) { return f.slides[i], nil })
	}
	f.writeNotes()
	markdown, pageErr := f.page.markdown()
	return markdown, errors.Join(err, pageErr)
}

// refuseEncrypted looks in the table of contents for what says that parts are encrypted.
func refuseEncrypted(w *walker, _ xml.StartElement) error {
	return w.each(func(e xml.StartElement) error {
		encrypted := strings.HasPrefix(e.Name.Local, "encrypted")
		err := w.each(func(e xml.StartElement) error {
			encrypted = encrypted || e.Name.Local == "encryption-data"
			return w.Skip()
		})
		if encrypted {
			return errEncrypted
		}
		return err
	})
}

// openFile is a file of OpenDocument that is being read.
type openFile struct {
	*story

	page   *page
	styles openStyleSheet
	// numbers are the last numbers of lists, by their style.
	numbers map[string]int
	// texts are the footnotes and endnotes so far.
	texts  []string
	sheets []*sheet
	slides []*slide
}

// content reads content.xml: the styles first, then the document.
func (f *openFile) content(w *walker, _ xml.StartElement) error {
	return w.each(func(e xml.StartElement) error {
		switch e.Name.Local {
		case "automatic-styles":
			return f.styles.read(w)
		case "body":
			return w.each(func(e xml.StartElement) error {
				switch e.Name.Local {
				case "text":
					return f.blocks(w, f.page.add)
				case "spreadsheet":
					f.sheets = []*sheet{}
					return f.spreadsheet(w)
				case "presentation":
					f.slides = []*slide{}
					return f.presentation(w)
				default:
					return errFormat
				}
			})
		default:
			return w.Skip()
		}
	})
}
