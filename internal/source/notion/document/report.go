package document

import (
	"fmt"
	"slices"
	"strings"
)

// maxNotes bounds the notes of one page; the counts go on.
const maxNotes = 20

// Report says how much of a document its Markdown holds.
type Report struct {
	// Blocks is the number of blocks that were looked at, children included.
	Blocks int `json:"blocks"`
	// Unsupported counts by type what is known to be there and can't be shown: "form" for a block, "property place" for a
	// property, "mention agent" for a mention.
	Unsupported map[string]int `json:"unsupported,omitempty"`
	// Unreadable counts what Notion refused or sent in a shape that can't be read.
	Unreadable int `json:"unreadable"`
	// Truncated counts what was cut short by a limit, Notion's or ours.
	Truncated int `json:"truncated"`
	// Skipped counts what was left out on purpose, such as blocks in the trash.
	Skipped int `json:"skipped"`
	// Searchable is the share, 0 to 1, of the items with content whose content is in the Markdown. A page without content
	// is 1.
	Searchable float64 `json:"searchable"`
	// Notes are sentences for people, at most 20.
	Notes []string `json:"notes,omitempty"`
}

// String is the report in one line for people.
func (r Report) String() string {
	parts := []string{fmt.Sprintf("%d blocks", r.Blocks), fmt.Sprintf("%.0f %% searchable", r.Searchable*100)}
	kinds := make([]string, 0, len(r.Unsupported))
	for kind, n := range r.Unsupported {
		kinds = append(kinds, fmt.Sprintf("%s %d", kind, n))
	}
	if len(kinds) > 0 {
		slices.Sort(kinds)
		parts = append(parts, "unsupported: "+strings.Join(kinds, ", "))
	}
	for _, count := range []struct {
		n    int
		word string
	}{{r.Unreadable, "unreadable"}, {r.Truncated, "truncated"}, {r.Skipped, "skipped"}} {
		if count.n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", count.n, count.word))
		}
	}
	return strings.Join(parts, "; ")
}

func (r *renderer) unsupported(kind string) {
	if r.report.Unsupported == nil {
		r.report.Unsupported = map[string]int{}
	}
	r.report.Unsupported[kind]++
}

func (r *renderer) note(format string, args ...any) {
	note := fmt.Sprintf(format, args...)
	if len(r.report.Notes) < maxNotes && !slices.Contains(r.report.Notes, note) {
		r.report.Notes = append(r.report.Notes, note)
	}
}
