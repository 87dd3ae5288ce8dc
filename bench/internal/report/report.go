// Package report writes what was measured as Markdown: a table of the targets, then a section per measure, between two
// markers in a file whose other text is people's.
package report

import (
	"fmt"
	"io"
	"strings"
)

// Row is one figure.
type Row struct {
	What   string
	Figure string
	// Target is empty when the issue sets none.
	Target string
	Met    bool
}

// Table is further detail of a section.
type Table struct {
	Head []string
	Rows [][]string
}

// Image is a picture in a file beside the report.
type Image struct {
	File string
	// Alt is for those who don't see it.
	Alt string
}

// Section is one measure.
type Section struct {
	Title string
	// Note says how it was measured, in a sentence or two.
	Note   string
	Rows   []Row
	Tables []Table
	// Images stand behind the tables.
	Images []Image
	// Missing is why there are no figures: it was skipped, or it failed.
	Missing string
}

// Fact is a line about the machine.
type Fact struct {
	Name, Value string
}

// Report is one run of the benchmarks.
type Report struct {
	Facts    []Fact
	Sections []Section
}

// Targets counts the figures with a target, and those of them that missed it.
func (r *Report) Targets() (total, missed int) {
	for _, section := range r.Sections {
		for _, row := range section.Rows {
			if row.Target != "" {
				total++
				if !row.Met {
					missed++
				}
			}
		}
	}
	return total, missed
}

// Markdown writes the report.
func (r *Report) Markdown(w io.Writer) {
	facts := Table{Head: []string{"machine", ""}}
	for _, fact := range r.Facts {
		facts.Rows = append(facts.Rows, []string{fact.Name, fact.Value})
	}
	facts.write(w)
	fmt.Fprint(w, "\n### The targets\n\n")
	r.summary().write(w)
	for _, section := range r.Sections {
		section.write(w)
	}
}

// summary is all rows with targets in one table.
func (r *Report) summary() Table {
	table := Table{Head: []string{"measure", "figure", "target", "met"}}
	for _, section := range r.Sections {
		if section.Missing != "" {
			table.Rows = append(table.Rows, []string{section.Title, "not measured", "", ""})
		}
		for _, row := range section.Rows {
			if row.Target != "" {
				table.Rows = append(table.Rows, row.cells())
			}
		}
	}
	return table
}

func (s Section) write(w io.Writer) {
	fmt.Fprintf(w, "\n### %s\n\n", s.Title)
	if s.Note != "" {
		fmt.Fprintf(w, "%s\n\n", s.Note)
	}
	if s.Missing != "" {
		fmt.Fprintf(w, "Not measured: %s.\n", s.Missing)
		return
	}
	table := Table{Head: []string{"measure", "figure", "target", "met"}}
	for _, row := range s.Rows {
		table.Rows = append(table.Rows, row.cells())
	}
	table.write(w)
	for _, extra := range s.Tables {
		fmt.Fprintln(w)
		extra.write(w)
	}
	for _, image := range s.Images {
		fmt.Fprintf(w, "\n![%s](%s)\n", image.Alt, image.File)
	}
}

func (r Row) cells() []string {
	met := ""
	switch {
	case r.Target != "" && r.Met:
		met = "yes"
	case r.Target != "":
		met = "**no**"
	}
	return []string{r.What, r.Figure, r.Target, met}
}

func (t Table) write(w io.Writer) {
	line(w, t.Head)
	rule := make([]string, len(t.Head))
	for i := range rule {
		rule[i] = "---"
	}
	line(w, rule)
	for _, row := range t.Rows {
		line(w, row)
	}
}

func line(w io.Writer, cells []string) {
	escaped := make([]string, len(cells))
	for i, cell := range cells {
		escaped[i] = strings.NewReplacer("|", `\|`, "\n", " ").Replace(cell)
	}
	fmt.Fprintf(w, "| %s |\n", strings.Join(escaped, " | "))
}
