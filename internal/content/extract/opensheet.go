package extract

import (
	"encoding/xml"
	"strings"
)

// spreadsheet reads the sheets of an OpenDocument spreadsheet. Cells hold what is shown beside what is meant.
func (f *openFile) spreadsheet(w *walker) error {
	// The cells count by themselves; what is read of them is bounded when it is written.
	budget := w.budget
	w.budget, f.budget = unbounded(), unbounded()
	defer func() { w.budget, f.budget = budget, budget }()
	hidden := 0
	err := w.each(func(e xml.StartElement) error {
		if e.Name.Local != "table" {
			return w.Skip()
		}
		if f.styles.isHidden("table", e) {
			hidden++
			return w.Skip()
		}
		one := &sheet{name: attribute(e, "name")}
		f.sheets = append(f.sheets, one)
		row := 0
		return f.sheetRows(w, one, &row)
	})
	f.hiddenSheets = hidden
	return err
}

func (f *openFile) sheetRows(w *walker, to *sheet, row *int) error {
	return w.each(func(e xml.StartElement) error {
		switch e.Name.Local {
		case "table-header-rows", "table-row-group", "table-rows":
			return f.sheetRows(w, to, row)
		case "table-row":
			cells, err := f.sheetRow(w)
			times := repeated(e, "number-rows-repeated")
			for range min(times, maxRows) {
				to.add(&f.cells, *row, cells)
				*row++
			}
			if len(cells) > 0 {
				to.missing += max(0, times-maxRows)
			}
			return err
		default:
			return w.Skip()
		}
	})
}

// sheetRow reads a row. The empty cells up to the right end of the sheet are one that is repeated.
func (f *openFile) sheetRow(w *walker) ([]sheetCell, error) {
	var row []sheetCell
	column := 0
	err := w.each(func(e xml.StartElement) error {
		if e.Name.Local != "table-cell" && e.Name.Local != "covered-table-cell" {
			return w.Skip()
		}
		text, err := f.sheetCell(w)
		times := repeated(e, "number-columns-repeated")
		if text != "" {
			for i := range min(times, maxColumnRead) {
				row = append(row, sheetCell{column: int32(min(column+i, maxColumnRead)), text: text, rows: int32(repeated(e, "number-rows-spanned"))})
			}
		}
		column = min(column+times, maxColumnRead)
		return err
	})
	return row, err
}

// sheetCell reads what a cell shows.
func (f *openFile) sheetCell(w *walker) (string, error) {
	var lines []string
	err := w.each(func(e xml.StartElement) error {
		if e.Name.Local != "p" {
			return w.Skip()
		}
		line, err := w.text()
		lines = append(lines, line)
		return err
	})
	return strings.TrimSpace(strings.Join(lines, " ")), err
}
