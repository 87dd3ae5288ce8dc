package extract

import (
	"encoding/xml"
	"slices"
	"strconv"
	"strings"
)

// sheetReader reads one sheet.
type sheetReader struct {
	*workbook

	to *sheet
	// row and column are those of the present cell, from 0; cells are the row's cells so far.
	row, column int
	cells       []sheetCell
	merged      []mergedCell
}

// mergedCell is a cell that goes over several rows.
type mergedCell struct{ row, column, rows int32 }

func (r *sheetReader) read(w *walker) error {
	r.row = -1
	return w.each(func(e xml.StartElement) error {
		switch e.Name.Local {
		case "sheetData":
			return w.each(func(e xml.StartElement) error { return r.readRow(w, e) })
		case "mergeCells":
			return w.each(func(e xml.StartElement) error {
				r.readMerge(attribute(e, "ref"))
				return w.Skip()
			})
		default:
			return w.Skip()
		}
	})
}

// readRow reads a row. Rows and cells may say where they are, or simply follow each other.
func (r *sheetReader) readRow(w *walker, e xml.StartElement) error {
	r.row++
	if n, err := strconv.Atoi(attribute(e, "r")); err == nil && n > r.row && n <= maxPart {
		r.row = n - 1
	}
	r.column, r.cells = -1, r.cells[:0]
	err := w.each(func(e xml.StartElement) error {
		if e.Name.Local != "c" {
			return w.Skip()
		}
		r.column++
		if column, _, ok := cellPlace(attribute(e, "r")); ok {
			r.column = column
		}
		return r.readCell(w, e)
	})
	slices.SortStableFunc(r.cells, func(a, b sheetCell) int { return int(a.column - b.column) })
	r.to.add(&r.story.cells, r.row, r.cells)
	return err
}

func (r *sheetReader) readCell(w *walker, e xml.StartElement) error {
	var value string
	formula := false
	err := w.each(func(e xml.StartElement) error {
		var err error
		switch e.Name.Local {
		case "v":
			value, err = w.text()
			return err
		case "is":
			value, err = richText(w)
			return err
		case "f":
			formula = true
		}
		return w.Skip()
	})
	if value == "" && formula {
		r.uncomputed++
	}
	if value != "" {
		r.keep(e, value)
	}
	return err
}

// keep keeps a cell that holds something.
func (r *sheetReader) keep(e xml.StartElement, value string) {
	style, _ := strconv.ParseInt(attribute(e, "s"), 10, 32)
	c := sheetCell{column: int32(min(r.column, maxColumnRead)), style: int32(style), text: value}
	switch attribute(e, "t") {
	case "s":
		c.kind = kindText
	case "b":
		c.text = map[string]string{"0": "FALSE", "1": "TRUE"}[value]
	case "d":
		c.text = strings.Replace(strings.TrimSuffix(value, "T00:00:00"), "T", " ", 1)
	case "str", "inlineStr":
		c.text = unescape(value)
	case "e":
	default:
		c.kind = kindNumber
	}
	r.cells = append(r.cells, c)
}

// readMerge notes a merged cell, given as its first and its last cell.
func (r *sheetReader) readMerge(ref string) {
	from, to, _ := strings.Cut(ref, ":")
	column, row, ok := cellPlace(from)
	_, last, found := cellPlace(to)
	if ok && found && last > row && len(r.merged) < maxCells {
		r.merged = append(r.merged, mergedCell{row: int32(row), column: int32(column), rows: int32(last - row + 1)})
	}
}

// merge tells the cells how many rows they go over.
func (r *sheetReader) merge() {
	for _, m := range r.merged {
		at, found := slices.BinarySearchFunc(r.to.cells, m, func(c sheetCell, m mergedCell) int {
			if c.row != m.row {
				return int(c.row - m.row)
			}
			return int(c.column - m.column)
		})
		if found {
			r.to.cells[at].rows = m.rows
		}
	}
}

// cellPlace reads the name of a cell, such as B7: its column and row, from 0.
func cellPlace(name string) (column, row int, ok bool) {
	name = strings.ToUpper(name)
	letters := strings.TrimRight(name, "0123456789")
	if letters == "" || len(letters) > 3 {
		return 0, 0, false
	}
	for _, letter := range letters {
		if letter < 'A' || letter > 'Z' {
			return 0, 0, false
		}
		column = column*26 + int(letter-'A') + 1
	}
	row, err := strconv.Atoi(name[len(letters):])
	return column - 1, row - 1, err == nil && row >= 1 && row <= maxPart
}
