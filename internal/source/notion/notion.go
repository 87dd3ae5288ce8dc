// Package notion is the source for what a company keeps in Notion: pages, database rows, and databases, which are pages too.
//
// Search gives the bulk, a hundred objects a request. What search doesn't know is found by reading: child pages and databases
// in blocks, rows by querying a database's data sources; each read reports them, so that nothing is read twice. A page's
// version is its time of the last edit, which Notion cuts down to the minute: the content decides.
//
//	notion.go      the source, its settings and what it can do
//	client.go      calls, undecoded
//	error.go       refusals and what callers do about them
//	ref.go         URLs and ids
//	search.go      the two streams of search
//	list.go        everything below a root, and what changed
//	fetch.go       one page
//	database.go    one database
//	blocks.go      a page's blocks, and pages and databases among them
//	progress.go    what is kept of a large page's read
//	property.go    property values that a page cuts off
//	comment.go     unresolved comments
//	attachment.go  text of attached files
//	presence.go    whether a page is still there
//
// document, below this package, turns what was read into Markdown, and notiontest is a stand-in server.
package notion

import (
	"context"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/loresync/loresync/internal/source"
)

// Name is the source's kind, as folders store it.
const Name = "notion"

const (
	// editGranularity is the minute to which Notion cuts its times down.
	editGranularity = time.Minute
	// defaultMaxBlocks is the most blocks of one page that are read; the rest is left out with a note.
	defaultMaxBlocks = 20_000
	// maxDepth bounds nesting. Notion's own editor stops far earlier.
	maxDepth = 40
	// parallelReads are requests of one page at once; the budget decides when each is sent.
	parallelReads = 4
)

// Options are the settings of a Notion source.
type Options struct {
	// BaseURL is without /v1; empty means Notion's own.
	BaseURL string
	// Token gives the secret for each request, so that it may be renewed.
	Token func(context.Context) (string, error)
	// Transport sends requests, waits for the budget and retries; nil means the plain default one.
	Transport http.RoundTripper
	// Files downloads attachments; nil means a client with a timeout of a minute.
	Files *http.Client
	// Extract turns an attached file into text; nil leaves attachments as references.
	Extract Extractor
	// MaxBlocks is the most blocks of one page that are read. Zero means 20,000.
	MaxBlocks int
	// BatchSize is the number of entries in one batch of a listing. Zero means 500.
	BatchSize int
}

// Extractor gives the text of a file.
type Extractor func(ctx context.Context, name string, r io.Reader) (Extracted, error)

// Extracted is what became of a file.
type Extracted struct {
	Text string
	// Reason, for people, says why there is no text; Note what else they should know of how it was read.
	Reason, Note string
	// Truncated is true when Text lacks a part of the file.
	Truncated bool
}

// Source is one connection to Notion. It is safe for concurrent use.
type Source struct {
	client    *client
	files     *http.Client
	extract   Extractor
	maxBlocks int
	batchSize int
}

var (
	_ source.Source     = (*Source)(nil)
	_ source.ChangeFeed = (*Source)(nil)
)

// New gives a source. Nothing is sent yet.
func New(opts Options) *Source {
	base := strings.TrimRight(opts.BaseURL, "/")
	if base == "" {
		base = DefaultBaseURL
	}
	files := opts.Files
	if files == nil {
		files = &http.Client{Timeout: time.Minute}
	}
	maxBlocks := opts.MaxBlocks
	if maxBlocks <= 0 {
		maxBlocks = defaultMaxBlocks
	}
	batchSize := opts.BatchSize
	if batchSize <= 0 {
		batchSize = defaultBatchSize
	}
	return &Source{
		client: &client{base: base, http: &http.Client{Transport: opts.Transport}, token: opts.Token},
		files:  files, extract: opts.Extract, maxBlocks: maxBlocks, batchSize: batchSize,
	}
}

// Name is "notion".
func (*Source) Name() string { return Name }

// Canonical gives the form of a root's reference that is stored.
func (*Source) Canonical(ref string) (string, error) { return Canonical(ref) }

// Traits says that Notion answers over a network, that pages keep their ids, that some are found only by reading, and that
// times are cut down to the minute.
func (*Source) Traits() source.Traits {
	return source.Traits{Incremental: true, Remote: true, StableIDs: true, TreeByReading: true, EditGranularity: editGranularity}
}
