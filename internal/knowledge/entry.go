package knowledge

import "time"

// Kind tells documents, which are read and published, from containers, which only give the tree its shape.
type Kind string

// The kinds of entries.
const (
	KindDocument  Kind = "document"
	KindContainer Kind = "container"
)

// Entry is one thing a listing saw.
type Entry struct {
	// SourceID is the vendor's id; for files the slash-separated path below the root. Unique in one folder.
	SourceID string `json:"source_id"`
	// ParentSourceID is empty directly below the root. Parents are listed before their children where the source can.
	ParentSourceID string `json:"parent_source_id,omitempty"`
	// ParentUnknown is set when the source can't tell the parent without another request; what is known of it stays.
	ParentUnknown bool `json:"parent_unknown,omitempty"`
	// FoundBy is how the source came to know of it: search or tree; empty for a plain listing.
	FoundBy string `json:"found_by,omitempty"`
	Kind    Kind   `json:"kind"`
	Title   string `json:"title"`
	URL     string `json:"url,omitempty"`
	// Path is for people: the titles or names from the root down, joined by slashes.
	Path string `json:"path,omitempty"`
	// Version is an opaque hint: when it equals the one stored with the last read, the page need not be read again.
	// It is never compared for order.
	Version string `json:"version,omitempty"`
	// EditedAt is the source's own time of the last edit; zero when it has none.
	EditedAt time.Time `json:"edited_at,omitzero"`
	// Skip is set when the page is known not to be readable as knowledge (too large, binary, no right to download).
	Skip *Skip `json:"skip,omitempty"`
}

// Skip is why a listed page is not read. It is a state, not a failure.
type Skip struct {
	// Class is a snake_case word that can be filtered by: too_large, binary, invalid_utf8, unreadable, unsupported.
	Class string `json:"class"`
	// Sentence is for people and names no secrets and no page text.
	Sentence string `json:"sentence"`
}

// Batch is a bounded part of a listing.
type Batch struct {
	Entries []Entry
	// Returned is how many items the source returned for this batch. The caller compares it with what it stored, so that
	// a listing can prove that it is whole. Entries holds each of them, strange ones included.
	Returned int
	// Cursor resumes the listing after this batch; opaque, printable ASCII or UTF-8, at most 4 KiB; empty in the last one.
	Cursor string
	// Gone are source ids that the source says are in its trash or removed. Each is confirmed before anything is removed.
	Gone []string
}

// How a page was found.
const (
	FoundByListing = "listing"
	FoundBySearch  = "search"
	FoundByTree    = "tree"
)

// Verdict is a listing's own word on whether it saw everything.
type Verdict string

// The verdicts. Only a complete listing may count as evidence that a page is absent.
const (
	VerdictComplete        Verdict = "complete"
	VerdictRootMissing     Verdict = "root_missing"
	VerdictRootUnreadable  Verdict = "root_unreadable"
	VerdictPartUnreadable  Verdict = "part_unreadable"
	VerdictCapped          Verdict = "capped"
	VerdictIncompleteCount Verdict = "incomplete_count"
)
