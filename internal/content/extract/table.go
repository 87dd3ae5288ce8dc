package extract

import (
	"encoding/csv"
	"errors"
	"io"
	"strings"
)

const (
	// sniffLines is how many lines are looked at for the delimiter.
	sniffLines = 10
	// maxColumns bounds a table that is still worth a column mark per cell; what has more is measurement data, kept as text.
	maxColumns = 200
)

// tableOf turns comma-separated values into a Markdown table whose first row is the header. It is false when the text isn't
// such a table, and is then better kept as it is.
func tableOf(text string) (string, bool) {
	text = strings.TrimPrefix(text, "\uFEFF")
	reader := csv.NewReader(strings.NewReader(text))
	reader.Comma = delimiterOf(text)
	reader.FieldsPerRecord, reader.LazyQuotes, reader.ReuseRecord = -1, true, true
	var out strings.Builder
	columns := 0
	for {
		record, err := reader.Read()
		if errors.Is(err, io.EOF) {
			return out.String(), columns > 1
		}
		if err != nil || len(record) > maxColumns {
			return "", false
		}
		writeRow(&out, record, columns)
		if columns == 0 {
			columns = len(record)
			out.WriteString("|" + strings.Repeat(" --- |", columns) + "\n")
		}
	}
}

// delimiterOf is the candidate that the first lines hold most often: spreadsheets write semicolons where the comma is the
// decimal mark.
func delimiterOf(text string) rune {
	head := text
	for range sniffLines {
		_, rest, found := strings.Cut(head, "\n")
		if !found {
			head = ""
			break
		}
		head = rest
	}
	head = text[:len(text)-len(head)]
	best, most := ',', strings.Count(head, ",")
	for _, candidate := range []rune{';', '\t'} {
		if n := strings.Count(head, string(candidate)); n > most {
			best, most = candidate, n
		}
	}
	return best
}

// writeRow writes one row, filled up with empty cells to the width of the header: Markdown drops the cells that a row has
// beyond it, so those go into the last one.
func writeRow(out *strings.Builder, record []string, columns int) {
	if columns > 0 && len(record) > columns {
		record = append(record[:columns-1:columns-1], strings.Join(record[columns-1:], " "))
	}
	out.WriteString("|")
	for _, cell := range record {
		out.WriteString(" " + cellEscapes.Replace(strings.Join(strings.Fields(cell), " ")) + " |")
	}
	for range columns - len(record) {
		out.WriteString("  |")
	}
	out.WriteString("\n")
}

var cellEscapes = strings.NewReplacer(`\`, `\\`, "|", `\|`, "<", `\<`)
