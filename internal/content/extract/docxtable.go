package extract

import (
	"encoding/xml"
	"strconv"
)

// table reads a table. A cell that goes over several rows is said in each of them, so that each row can be read by itself; one
// that goes over several columns is said in the first.
func (d *wordFile) table(w *walker, to sink) error {
	var rows [][]string
	err := d.tableRows(w, &rows)
	if isEnough(err) && len(rows) > 0 {
		to(block{rows: rows})
	}
	return err
}

func (d *wordFile) tableRows(w *walker, rows *[][]string) error {
	return w.each(func(e xml.StartElement) error {
		switch {
		case e.Name.Local == "tr":
			var above []string
			if n := len(*rows); n > 0 {
				above = (*rows)[n-1]
			}
			row, err := d.tableRow(w, above)
			*rows = append(*rows, row)
			return err
		case transparent[e.Name.Local]:
			return d.tableRows(w, rows)
		default:
			return w.Skip()
		}
	})
}

func (d *wordFile) tableRow(w *walker, above []string) ([]string, error) {
	var row []string
	var read func(xml.StartElement) error
	read = func(e xml.StartElement) error {
		switch {
		case e.Name.Local == "tc":
			cells, err := d.tableCell(w, above[min(len(row), len(above)):])
			row = append(row, cells...)
			return err
		case transparent[e.Name.Local]:
			return w.each(read)
		default:
			return w.Skip()
		}
	}
	err := w.each(read)
	return row, err
}

// tableCell reads a cell; for one that goes over several columns it gives empty ones besides.
func (d *wordFile) tableCell(w *walker, above []string) ([]string, error) {
	var all cell
	span, goesOn := 1, false
	d.budget.left -= cellCost
	err := w.each(func(e xml.StartElement) error {
		switch {
		case e.Name.Local == "tcPr":
			return w.each(func(e xml.StartElement) error {
				switch e.Name.Local {
				case "gridSpan":
					n, _ := strconv.Atoi(attribute(e, "val"))
					span = min(max(1, n), maxColSpan)
				case "vMerge":
					goesOn = attribute(e, "val") != "restart"
				}
				return w.Skip()
			})
		case e.Name.Local == "p":
			return d.paragraph(w, all.add)
		case e.Name.Local == "tbl":
			return d.table(w, all.add)
		case transparent[e.Name.Local]:
			return d.blocks(w, all.add)
		default:
			return w.Skip()
		}
	})
	cells := make([]string, span)
	cells[0] = all.html()
	if goesOn && len(above) > 0 {
		cells[0] = above[0]
	}
	return cells, err
}
