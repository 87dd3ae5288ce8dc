package document

import (
	"fmt"
	"slices"

	"github.com/loresync/loresync/internal/knowledge"
)

// maxNotes bounds the notes of one page; the counts go on.
const maxNotes = 20

// Report says how much of a document its Markdown holds. Blocks counts children too. Unsupported is keyed by "form" for a block,
// "property place" for a property, "mention agent" for a mention; Unreadable is what Notion refused or sent in a shape that can't
// be read. A page without content is searchable as a whole. Notes are at most 20.
type Report = knowledge.Fidelity

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
