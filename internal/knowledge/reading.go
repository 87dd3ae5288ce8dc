package knowledge

import (
	"encoding/json"
	"time"
)

// Begun is the answer to a Begin. Outcome is begun, or why it was refused: folder_unknown, folder_deleted, paused,
// page_unknown, excluded.
type Begun struct {
	Outcome       string
	Token         string
	ReadSeq       int64
	PageNo        int64
	SourceID      string
	Source        string
	Connection    string
	Root          string
	Limits        json.RawMessage
	ContentHash   []byte
	Title         string
	SourceVersion string
	// Parent is the source id of the page above, as far as it is known; set for held pages only.
	Parent string
	// Lost is set for a page that is hidden because the source lost it; set for held pages only.
	Lost bool
	// ModelsPending is true when the published revision still lacks embeddings or a summary.
	ModelsPending bool
	// At is the time by Postgres' clock, before anything is read.
	At time.Time
}

// Holder names a page and the token of the sync that holds it.
type Holder struct {
	Folder, Page string
	Token        string
}

// StagedRevision is what an attempt read.
type StagedRevision struct {
	Raw         []byte
	Format      string
	ContentHash []byte
	Markdown    string
	Title       string
	Meta        json.RawMessage
	// Summary is nil until a summariser has answered.
	Summary             *string
	SummaryModel        string
	Version             string
	EditedAt            *time.Time
	Chunks              []StagedChunk
	EmbeddingModel      string
	EmbeddingDimensions int
	Place               Place
	Fingerprint         []byte
	// RecheckAfter makes the page due again once published: a second edit within the source's granularity would look the same.
	RecheckAfter *time.Duration
	// Fidelity says how much of the page could be kept, as JSON; nil where the source has nothing to say.
	Fidelity json.RawMessage
}

// StagedChunk is one chunk on its way into a staged revision. Terms are the lexemes of its text, in order.
type StagedChunk struct {
	HeadingPath []string
	Body        string
	TextHash    []byte
	Terms       []string
}

// Place is where a page hangs and what it is called there.
type Place struct {
	URL    string `json:"url"`
	Path   string `json:"path"`
	Parent string `json:"parent"`
	// ListedTitle is the title as a listing gives it, which tells a rename from an edit.
	ListedTitle string `json:"listed_title"`
}

// Staged is the answer to a Stage: staged, fenced or cancel_requested; and the hashes of texts that have no embedding yet.
type Staged struct {
	Outcome    string
	RevisionID *int64
	Missing    [][]byte
}

// Enrichment is what models made of a revision. Vectors are parallel to Hashes.
type Enrichment struct {
	RevisionID   int64
	Model        string
	Dimensions   int
	Hashes       [][]byte
	Vectors      [][]float32
	Summary      *string
	SummaryModel string
}

// PublishedTexts gives the texts of a revision's chunks that lack an embedding, and the revision's Markdown when it lacks a
// summary (else "").
type PublishedTexts struct {
	RevisionID int64
	Title      string
	Markdown   string
	NeedsWords bool
	Chunks     []StagedChunk
}

// Published is the answer to a Publish: published, unchanged, fenced or cancel_requested.
type Published struct {
	Outcome string
	Revived bool
}

// Reading is what a read that found the published content again says about the page.
type Reading struct {
	Title        string
	Place        Place
	Version      string
	EditedAt     *time.Time
	Fingerprint  []byte
	RecheckAfter *time.Duration
}
