package notion

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"regexp"

	"github.com/loresync/loresync/internal/source"
	"github.com/loresync/loresync/internal/source/notion/document"
)

// reading is what was read of one page or database, on its way to Markdown, and what could not be.
type reading struct {
	document.Document
	// object and schemas are as Notion sent them.
	object  json.RawMessage
	schemas []json.RawMessage
	lost    int
	cuts    int
	// lostEnds counts attached files of which a part was left out: the page itself is whole.
	lostEnds int
	notes    []string
}

// unreadable counts a part that Notion doesn't give.
func (r *reading) unreadable(format string, args ...any) {
	r.lost++
	r.notes = append(r.notes, fmt.Sprintf(format, args...))
}

// cut notes that the end is missing.
func (r *reading) cut(note string) {
	r.cuts++
	r.notes = append(r.notes, note)
}

// payload is what is kept of a reading, so that a later converter can work without a new request.
type payload struct {
	Object      json.RawMessage    `json:"object"`
	DataSources []json.RawMessage  `json:"data_sources,omitempty"`
	Blocks      []*document.Block  `json:"blocks,omitempty"`
	Comments    []document.Comment `json:"comments,omitempty"`
	Attachments map[string]string  `json:"attachments,omitempty"`
}

// signature is the query of a signed link, in JSON's own spelling of it: a key to a file for an hour, which is kept nowhere.
var signature = regexp.MustCompile(`\?` + queryPart + `*?(?:X-Amz-|expirationTimestamp=)` + queryPart + `*`)

const queryPart = `(?:[^"\\\s]|\\u[0-9a-fA-F]{4}|\\/)`

// page converts what was read. Identity is the title and the Markdown: times, signed links and what else differs at each read
// are in neither.
func (r *reading) page(entry source.Entry, children []source.Entry) (source.Page, error) {
	markdown, report := document.Markdown(r.Document)
	if r.cuts > 0 {
		markdown += "\n[content beyond the limit of this page]\n"
	}
	report.Unreadable += r.lost
	report.Truncated += r.cuts + r.lostEnds
	report.Notes = append(report.Notes, r.notes...)
	fidelity, err := json.Marshal(report)
	if err != nil {
		return source.Page{}, unreadable(err)
	}
	//nolint:musttag // what is kept is read by document alone, whose names these are
	raw, err := json.Marshal(payload{Object: r.object, DataSources: r.schemas, Blocks: r.Blocks, Comments: r.Comments, Attachments: r.Attachments})
	if err != nil {
		return source.Page{}, unreadable(err)
	}
	var fingerprint []byte
	if markdown != "" {
		sum := sha256.Sum256([]byte(markdown))
		fingerprint = sum[:]
	}
	return source.Page{
		Entry: entry, Raw: signature.ReplaceAll(raw, nil), Format: source.FormatConverted, Markdown: markdown,
		Identity: []byte(entry.Title + "\n" + markdown), Fingerprint: fingerprint, Children: children, Fidelity: fidelity,
	}, nil
}
