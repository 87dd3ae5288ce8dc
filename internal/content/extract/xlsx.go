package extract

import (
	"encoding/xml"
	"errors"
)

// excel reads a workbook: every sheet that is shown, with what its cells show. Excelize would be at hand, but it unpacks the
// whole workbook and all its texts at once: a sheet of 100,000 rows took 320 MB. So the sheets are read here as a stream, and
// excelize is asked for what it alone knows: how Excel shows a number in a given format.
func (s *story) excel(main string) (string, error) {
	b := &workbook{story: s, format: numberFormats{}}
	var err error
	if b.links, err = s.archive.links(main); err != nil {
		return "", err
	}
	if err := s.archive.walk(main, unbounded(), b.read); err != nil {
		return "", err
	}
	for _, place := range b.places {
		if err := b.sheet(place); err != nil {
			return "", err
		}
	}
	if err := b.fillTexts(); err != nil {
		return "", err
	}
	if err := b.fillNumbers(); err != nil {
		return "", err
	}
	if b.uncomputed > 0 {
		s.addNote("%s without a stored value", plural(b.uncomputed, "formula"))
	}
	return s.writeSheets(b.sheets)
}

// workbook is a file of Excel that is being read.
type workbook struct {
	*story

	links  map[string]link
	places []sheetPlace
	sheets []*sheet
	format numberFormats
	// uncomputed counts formulas whose value isn't stored: programs that don't compute leave that to Excel.
	uncomputed int
}

// sheetPlace is where a sheet that is shown is kept.
type sheetPlace struct{ name, part string }

// cellKind is what the text of a cell stands for.
type cellKind uint8

const (
	// kindShown is shown as it is.
	kindShown cellKind = iota
	// kindText is the number of a text in the table that all sheets share.
	kindText
	// kindNumber is shown as the style of the cell says.
	kindNumber
)

func (b *workbook) read(w *walker, _ xml.StartElement) error {
	return w.each(func(e xml.StartElement) error {
		switch e.Name.Local {
		case "workbookPr":
			b.format.date1904 = attribute(e, "date1904") == "1" || attribute(e, "date1904") == "true"
		case "sheets":
			return w.each(func(e xml.StartElement) error {
				b.place(e)
				return w.Skip()
			})
		}
		return w.Skip()
	})
}

// place notes where a sheet is, if it is one of cells and is shown.
func (b *workbook) place(e xml.StartElement) {
	l := b.links[relation(e, "id")]
	if l.kind != "worksheet" {
		return
	}
	if state := attribute(e, "state"); state == "hidden" || state == "veryHidden" {
		b.hiddenSheets++
		return
	}
	b.places = append(b.places, sheetPlace{name: attribute(e, "name"), part: l.target})
}

// sheet reads the cells of a sheet. One that is too long to be read to its end is kept as far as it was read.
func (b *workbook) sheet(place sheetPlace) error {
	r := &sheetReader{workbook: b, to: &sheet{name: place.name}}
	err := b.archive.walk(place.part, unbounded(), func(w *walker, _ xml.StartElement) error { return r.read(w) })
	if errors.Is(err, errBomb) && r.to.missing > 0 {
		r.to.unread, err = true, nil
	}
	if err != nil {
		return err
	}
	r.merge()
	b.sheets = append(b.sheets, r.to)
	return nil
}
