package drivetest

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/xuri/excelize/v2"
)

// Tab is one sheet of a Sheet.
type Tab struct {
	Name string
	// Rows are its cells: strings, numbers, booleans and times; nil is an empty one.
	Rows [][]any
	// Hidden keeps it from being shown; it is in exports all the same.
	Hidden bool
}

// workbook is a Sheet.
type workbook []Tab

func (b workbook) formats() []string {
	return []string{"text/csv", "text/tab-separated-values", mimeXlsx}
}

// export gives all tabs as a file of Excel, and the first one alone as text.
func (b workbook) export(mime string) ([]byte, error) {
	switch mime {
	case "text/csv":
		return b.separated(',')
	case "text/tab-separated-values":
		return b.separated('\t')
	}
	return b.xlsx()
}

// separated gives the first tab as text: all rows as wide as the widest, without a line end at the end.
func (b workbook) separated(comma rune) ([]byte, error) {
	var out bytes.Buffer
	w := csv.NewWriter(&out)
	w.Comma, w.UseCRLF = comma, true
	for _, row := range b.first() {
		if err := w.Write(row); err != nil {
			return nil, fmt.Errorf("write a sheet: %w", err)
		}
	}
	w.Flush()
	return bytes.TrimSuffix(out.Bytes(), []byte("\r\n")), w.Error()
}

func (b workbook) first() [][]string {
	if len(b) == 0 {
		return nil
	}
	width := 0
	for _, row := range b[0].Rows {
		width = max(width, len(row))
	}
	rows := make([][]string, len(b[0].Rows))
	for i, row := range b[0].Rows {
		rows[i] = make([]string, width)
		for j, cell := range row {
			rows[i][j] = shown(cell)
		}
	}
	return rows
}

// shown is a cell as the sheet shows it.
func shown(cell any) string {
	switch cell := cell.(type) {
	case nil:
		return ""
	case bool:
		return strings.ToUpper(strconv.FormatBool(cell))
	case time.Time:
		return cell.Format("2006-01-02 15:04:05")
	}
	return fmt.Sprint(cell)
}

func (b workbook) xlsx() (data []byte, err error) {
	file := excelize.NewFile()
	defer func() { _ = file.Close() }() // nothing is on disk
	for i, tab := range b {
		if err := addTab(file, i, tab); err != nil {
			return nil, fmt.Errorf("write the sheet %q: %w", tab.Name, err)
		}
	}
	out, err := file.WriteToBuffer()
	if err != nil {
		return nil, fmt.Errorf("write a file of Excel: %w", err)
	}
	return out.Bytes(), nil
}

// addTab adds a tab; the first takes the place of the one that a new file has.
func addTab(file *excelize.File, i int, tab Tab) error {
	if i == 0 {
		if err := file.SetSheetName(file.GetSheetName(0), tab.Name); err != nil {
			return err
		}
	} else if _, err := file.NewSheet(tab.Name); err != nil {
		return err
	}
	for n, row := range tab.Rows {
		cell, err := excelize.CoordinatesToCellName(1, n+1)
		if err != nil {
			return err
		}
		if err := file.SetSheetRow(tab.Name, cell, &row); err != nil {
			return err
		}
	}
	return file.SetSheetVisible(tab.Name, !tab.Hidden)
}

func (b workbook) words() string {
	var out strings.Builder
	for _, tab := range b {
		out.WriteString(tab.Name + "\n")
		for _, row := range tab.Rows {
			for _, cell := range row {
				out.WriteString(shown(cell) + " ")
			}
		}
	}
	return out.String()
}

func (b workbook) size() int { return len(b.words()) }
