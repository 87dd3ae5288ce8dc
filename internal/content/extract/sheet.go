package extract

import (
	"iter"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/dustin/go-humanize"

	"github.com/loresync/loresync/internal/content/render"
)

// What is kept of a spreadsheet. Rows and columns without any content don't count.
const (
	maxRows      = 5000
	maxSheetWide = 100
	// maxColumnRead is the last column that is looked at: sheets drawn on squared paper have many, most of them empty.
	maxColumnRead = 1000
	// maxCells bounds what all sheets of a file have in memory, some 100 bytes each.
	maxCells = 500_000
	// noteRoom is kept free for what is said about the rest.
	noteRoom = 200
)

// sheet is one sheet of a spreadsheet, by its cells that hold something, in order.
type sheet struct {
	name  string
	cells []sheetCell
	// rows is how many rows are kept, missing how many aren't.
	rows, missing int
	// unread is true when there may be more rows than were counted.
	unread bool
}

// sheetCell is one cell. Row and column begin with 0.
type sheetCell struct {
	row, column int32
	// rows is how many rows the cell goes over; 0 or 1 for its own.
	rows int32
	// style and kind tell how what Excel has stored is shown.
	style int32
	kind  cellKind
	text  string
}

// add takes a row that holds something; total counts the cells of the whole file.
func (s *sheet) add(total *int, row int, cells []sheetCell) {
	if len(cells) == 0 {
		return
	}
	if s.rows == maxRows || *total+len(cells) > maxCells {
		s.missing++
		return
	}
	s.rows++
	*total += len(cells)
	for _, c := range cells {
		c.row = int32(row)
		s.cells = append(s.cells, c)
	}
}

// writeSheets writes sheets as Markdown: a heading and a table each, and what is missing.
func (s *story) writeSheets(sheets []*sheet) (string, error) {
	var out strings.Builder
	rows, wide, unwritten := 0, 0, 0
	for _, one := range sheets {
		one.dropEmpty()
		columns, wider := one.usedColumns()
		written := s.writeSheet(&out, one, columns)
		if written == 0 {
			unwritten += min(1, one.rows+one.missing)
			continue
		}
		missing := one.rows - written + one.missing
		sayMissing(&out, missing, one.moreRows())
		sayMissing(&out, wider, "more column")
		rows, wide = rows+missing, wide+wider
	}
	s.truncated = s.truncated || rows+wide+unwritten > 0
	s.noteMissing(rows, "row")
	s.noteMissing(wide, "column")
	s.noteMissing(unwritten, "sheet")
	s.noteMissing(s.hiddenSheets, "hidden sheet")
	if out.Len() > 0 {
		sayMissing(&out, unwritten, "more sheet")
		sayMissing(&out, s.hiddenSheets, "hidden sheet")
	}
	document, err := render.Markdown([]byte(out.String()))
	return document.Markdown, err
}

// noteMissing notes for people how many things are missing.
func (s *story) noteMissing(count int, thing string) {
	if count > 0 {
		s.addNote("left out: %s", plural(count, thing))
	}
}

// sayMissing says the same in the text, where it belongs.
func sayMissing(out *strings.Builder, count int, thing string) {
	if count > 0 {
		out.WriteString("*Left out: " + plural(count, thing) + ".*\n\n")
	}
}

func plural(count int, thing string) string {
	if count == 1 {
		return "1 " + thing
	}
	return humanize.Comma(int64(count)) + " " + thing + "s"
}

// writeSheet writes as many rows of a sheet as there is room for, and tells how many. Without room for the first it writes nothing.
func (s *story) writeSheet(out *strings.Builder, one *sheet, columns []int32) int {
	written := 0
	heading := "## " + headingText(one.name) + "\n\n"
	s.budget.left -= utf8.RuneCountInString(heading)
	for row := range one.table(columns) {
		line := tableLine(row, written == 0)
		cost := utf8.RuneCountInString(line)
		if cost > s.budget.left-noteRoom {
			break
		}
		s.budget.left -= cost
		if written == 0 {
			out.WriteString(heading)
		}
		out.WriteString(line)
		written++
	}
	if written > 0 {
		out.WriteString("\n")
	}
	return written
}

// moreRows is what is said of rows that are missing.
func (s *sheet) moreRows() string {
	if s.unread {
		return "or more row"
	}
	return "more row"
}

// tableLine is a row as a line of a Markdown table; below the first one stands the line that makes it the header.
func tableLine(row []string, header bool) string {
	var line strings.Builder
	writeRow(&line, row, len(row))
	if header {
		line.WriteString("|" + strings.Repeat(" --- |", len(row)) + "\n")
	}
	return line.String()
}

// headingText is the name of a sheet on one line, without what Markdown would read as more than a name.
func headingText(name string) string {
	return nameEscapes.Replace(strings.Join(strings.Fields(name), " "))
}

var nameEscapes = strings.NewReplacer(`\`, `\\`, "<", `\<`, "*", `\*`, "`", "\\`", "[", `\[`, "#", `\#`)

// dropEmpty drops the cells that show nothing, now that this is known, and the rows of such cells.
func (s *sheet) dropEmpty() {
	s.cells = slices.DeleteFunc(s.cells, func(c sheetCell) bool { return isEmpty(c.text) })
	s.rows = 0
	for i, c := range s.cells {
		if i == 0 || c.row != s.cells[i-1].row {
			s.rows++
		}
	}
}

// usedColumns gives the columns that hold something, and how many there are beyond those that are kept.
func (s *sheet) usedColumns() (columns []int32, wide int) {
	used := map[int32]bool{}
	for _, c := range s.cells {
		used[c.column] = true
	}
	for column := range used {
		columns = append(columns, column)
	}
	slices.Sort(columns)
	if len(columns) > maxSheetWide {
		return columns[:maxSheetWide], len(columns) - maxSheetWide
	}
	return columns, 0
}

// table gives the rows of the sheet, in the order of the columns. A cell that goes over several rows is said in each of them
// that holds something, so that each row can be read by itself; one that goes over several columns is said in the first.
func (s *sheet) table(columns []int32) iter.Seq[[]string] {
	return func(yield func([]string) bool) {
		open := make([]sheetCell, len(columns))
		for at := 0; at < len(s.cells); {
			row := make([]string, len(columns))
			number := s.cells[at].row
			for ; at < len(s.cells) && s.cells[at].row == number; at++ {
				place, found := slices.BinarySearch(columns, s.cells[at].column)
				if found {
					row[place], open[place] = s.cells[at].text, s.cells[at]
				}
			}
			fillDown(row, number, open)
			if !yield(row) {
				return
			}
		}
	}
}

// fillDown fills empty cells of a row with the ones above that go over it.
func fillDown(row []string, number int32, open []sheetCell) {
	for place, above := range open {
		if row[place] == "" && number < above.row+above.rows {
			row[place] = above.text
		}
	}
}

func isEmpty(text string) bool { return strings.TrimSpace(text) == "" }
