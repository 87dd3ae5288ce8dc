package extract

import (
	"encoding/xml"
	"strconv"
)

// openTable is a table of a text or a slide that is being read.
type openTable struct {
	rows [][]string
	// below tells for each column in how many more rows the cell above goes on.
	below []int
}

// repeated is how often an element stands for itself.
func repeated(e xml.StartElement, what string) int {
	n, _ := strconv.Atoi(attribute(e, what))
	return max(1, n)
}

// table reads a table of a text. As in those of Word, a cell that goes over several rows is said in each.
func (f *openFile) table(w *walker, to sink) error {
	var t openTable
	err := f.tableRows(w, &t)
	if isEnough(err) && len(t.rows) > 0 {
		to(block{rows: t.rows})
	}
	return err
}

func (f *openFile) tableRows(w *walker, t *openTable) error {
	return w.each(func(e xml.StartElement) error {
		switch e.Name.Local {
		case "table-header-rows", "table-row-group", "table-rows":
			return f.tableRows(w, t)
		case "table-row":
			row, err := f.tableRow(w, t)
			t.rows = append(t.rows, row)
			return err
		default:
			return w.Skip()
		}
	})
}

func (f *openFile) tableRow(w *walker, t *openTable) ([]string, error) {
	var row []string
	err := w.each(func(e xml.StartElement) error {
		if e.Name.Local != "table-cell" && e.Name.Local != "covered-table-cell" {
			return w.Skip()
		}
		var all cell
		f.budget.left -= cellCost
		err := f.blocks(w, all.add)
		text := all.html()
		for range min(repeated(e, "number-columns-repeated"), maxColSpan) {
			row = append(row, t.cell(len(row), text, repeated(e, "number-rows-spanned")))
		}
		return err
	})
	return row, err
}

// cell gives the text of a cell, which may be that of the cell above it.
func (t *openTable) cell(column int, text string, rows int) string {
	for len(t.below) <= column {
		t.below = append(t.below, 0)
	}
	if t.below[column] > 0 && text == "" && column < len(t.rows[len(t.rows)-1]) {
		t.below[column]--
		return t.rows[len(t.rows)-1][column]
	}
	t.below[column] = rows - 1
	return text
}
