package out

import (
	"slices"
	"strings"

	"github.com/jedib0t/go-pretty/v6/text"
)

// Column is one column of a Table.
type Column struct {
	Title string
	// Right aligns numbers.
	Right bool
	// Shrink marks columns that give way when a line is wider than the terminal: the widest first.
	Shrink bool
}

// Cell is one value of a row, cleaned when it is printed, with a colour for people.
type Cell struct {
	Text   string
	Colors []text.Color
}

// Plain is a cell without colour.
func Plain(content string) Cell { return Cell{Text: content} }

// Table is rows below headings, aligned by what a terminal shows rather than by bytes.
type Table struct {
	Columns []Column
	Rows    [][]Cell
}

const (
	columnGap = 2
	// Narrower than this a shrunk column says nothing any more.
	narrowest = 12
)

// NewTable gives a table with these headings; one that ends in > is aligned to the right, and one in ~ gives way when lines are
// wider than the terminal.
func NewTable(headings ...string) *Table {
	table := &Table{}
	for _, heading := range headings {
		title := strings.TrimRight(heading, ">~")
		table.Columns = append(table.Columns, Column{
			Title: title, Right: strings.Contains(heading[len(title):], ">"), Shrink: strings.Contains(heading[len(title):], "~"),
		})
	}
	return table
}

// Add appends a row.
func (t *Table) Add(cells ...Cell) { t.Rows = append(t.Rows, cells) }

// Table prints a table; columns that are empty in every row are left out.
func (p *Printer) Table(t *Table) {
	rows := cleanRows(t.Rows)
	widths := t.widths(rows)
	t.shrink(widths, p.Terminals.Width)
	heading := make([]Cell, len(t.Columns))
	for i, column := range t.Columns {
		heading[i] = Cell{Text: column.Title, Colors: []text.Color{text.Faint}}
	}
	for _, row := range append([][]Cell{heading}, rows...) {
		p.Line("%s", p.tableLine(t.Columns, row, widths))
	}
}

func cleanRows(rows [][]Cell) [][]Cell {
	cleaned := make([][]Cell, len(rows))
	for i, row := range rows {
		cleaned[i] = slices.Clone(row)
		for j := range row {
			cleaned[i][j].Text = Clean(row[j].Text)
		}
	}
	return cleaned
}

// widths is the cells each column needs, zero for one with nothing in it.
func (t *Table) widths(rows [][]Cell) []int {
	widths := make([]int, len(t.Columns))
	for _, row := range rows {
		for i, cell := range row {
			widths[i] = max(widths[i], Width(cell.Text))
		}
	}
	for i, column := range t.Columns {
		if widths[i] > 0 {
			widths[i] = max(widths[i], Width(column.Title))
		}
	}
	return widths
}

// shrink takes cells from the widest column that may give way until the lines fit.
func (t *Table) shrink(widths []int, limit int) {
	for limit > 0 && lineWidth(widths) > limit {
		widest := -1
		for i, column := range t.Columns {
			if column.Shrink && widths[i] > narrowest && (widest < 0 || widths[i] > widths[widest]) {
				widest = i
			}
		}
		if widest < 0 {
			return
		}
		widths[widest]--
	}
}

func lineWidth(widths []int) int {
	total := 0
	for _, width := range widths {
		if width > 0 {
			total += width + columnGap
		}
	}
	return total - columnGap
}

func (p *Printer) tableLine(columns []Column, row []Cell, widths []int) string {
	var line strings.Builder
	gap := 0
	for i, cell := range row {
		if widths[i] == 0 {
			continue
		}
		shown := Truncate(cell.Text, widths[i])
		padding := widths[i] - Width(shown)
		switch {
		case shown == "":
			gap += padding
		case columns[i].Right:
			line.WriteString(strings.Repeat(" ", gap+padding) + p.Paint(shown, cell.Colors...))
			gap = 0
		default:
			line.WriteString(strings.Repeat(" ", gap) + p.Paint(shown, cell.Colors...))
			gap = padding
		}
		gap += columnGap
	}
	return line.String()
}

// Pair is one line of Pairs.
type Pair struct {
	Name  string
	Value Cell
}

// Pairs prints names and values, aligned; a pair without a value is left out.
func (p *Printer) Pairs(pairs []Pair) {
	width := 0
	for _, pair := range pairs {
		if pair.Value.Text != "" {
			width = max(width, Width(pair.Name))
		}
	}
	for _, pair := range pairs {
		if pair.Value.Text == "" {
			continue
		}
		name := pair.Name + strings.Repeat(" ", width-Width(pair.Name)+columnGap)
		p.Line("%s%s", p.Faint(name), p.Paint(Clean(pair.Value.Text), pair.Value.Colors...))
	}
}
