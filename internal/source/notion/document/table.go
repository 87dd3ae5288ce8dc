package document

import "strings"

// table writes rows as a table of GitHub's kind. Such a table always has a header line; without a header row it is empty.
func (r *renderer) table(b *Block, p *payload) {
	rows, others := r.tableRows(b, p.HasRowHeader)
	if len(rows) > 0 {
		r.w.gap(false)
		width := 1
		for _, row := range rows {
			width = max(width, len(row))
		}
		if !p.HasColumnHeader {
			rows = append([][]string{nil}, rows...)
		}
		for i, row := range rows {
			r.w.line(tableLine(row, width, " "))
			if i == 0 {
				r.w.line(tableLine(nil, width, "---"))
			}
		}
	}
	// What isn't a row can't stand in a table, and what is below a row neither.
	r.blocks(others, false)
	r.children(&Block{HasChildren: b.HasChildren, Children: emptied(b.Children), Missing: b.Missing}, false)
}

// emptied tells children that were read apart from children that were not, and holds none.
func emptied(children []*Block) []*Block {
	if children == nil {
		return nil
	}
	return []*Block{}
}

// tableRows renders the cells of a table's rows and returns all that is no row of it.
func (r *renderer) tableRows(b *Block, rowHeader bool) (rows [][]string, others []*Block) {
	for _, child := range b.Children {
		if child == nil || child.Type != typeTableRow || child.InTrash || r.report.Blocks >= maxBlocks {
			others = append(others, child)
			continue
		}
		r.report.Blocks++
		rows = append(rows, r.tableCells(r.payload(child), rowHeader))
		others = append(others, child.Children...)
	}
	return rows, others
}

func (r *renderer) tableCells(p *payload, rowHeader bool) []string {
	cells := make([]string, len(p.Cells))
	for i, runs := range p.Cells {
		var more style
		if rowHeader && i == 0 {
			more = bold
		}
		if cells[i] = r.inline(runs, flowCell, more); cells[i] != "" {
			r.hit()
		}
	}
	return cells
}

// tableLine writes one line of width cells; those that are missing or empty hold filler.
func tableLine(cells []string, width int, filler string) string {
	var out strings.Builder
	for i := range width {
		content := filler
		if i < len(cells) && cells[i] != "" {
			content = cells[i]
		}
		out.WriteString("| " + strings.TrimSpace(content) + " ")
	}
	out.WriteByte('|')
	return out.String()
}

// looseRow writes a row that stands outside of any table.
func (r *renderer) looseRow(b *Block, p *payload) {
	var cells []string
	for _, cell := range r.tableCells(p, false) {
		if cell != "" {
			cells = append(cells, cell)
		}
	}
	if len(cells) > 0 {
		r.w.block(guardLine(strings.Join(cells, ` \| `)))
	}
	r.children(b, false)
}
