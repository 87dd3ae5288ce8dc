// Package gdrive is the source for what a company keeps in Google Drive: Docs, Sheets, Slides and files, in My Drives and in shared
// drives.
//
// A listing goes down the folders, one query for each: a query for several folders at once is known to leave out results at
// times, and what isn't seen must mean that it isn't there. Afterwards the change logs tell what happened, at the cost of
// one request each, however many files there are. Shortcuts stand for their targets, which are listed once, under their own ids.
//
// Drive's version of a file rises with every change on the server, also with those that nobody can see, and is never left behind
// by a change: so it may cost a read that finds nothing new, and it never hides an edit. What Google doesn't promise is that an export
// is as new as the version told a moment before. The version is therefore read before the content, which can then only be newer
// than it says, and the content decides what counts as a change. Times of edits are milliseconds, and clients may set them at will:
// they are shown and decide nothing.
//
//	gdrive.go         the source, its settings and what it can do
//	client.go         calls and the fields that they ask for
//	export.go         exports by link
//	pages.go          lists to their end
//	keys.go           resource keys of what was shared by link
//	turn.go           one at a time
//	credentials.go    access tokens of service accounts and of people
//	authorize.go      which requests bear a token
//	transport.go      how requests are sent, and what refusals mean to the budget
//	error.go          refusals and what callers do about them
//	sentence.go       what people read of them
//	ref.go            URLs and ids
//	file.go           a file as this package sees it
//	kind.go           which kinds of files hold text
//	top.go            the root, and the check of it
//	list.go           everything below a root, batch by batch
//	sweep.go          going down the folders
//	shortcut.go       shortcuts and their targets
//	place.go          where a file is, seen from below
//	folders.go        folders that were read a moment ago
//	checkpoint.go     tokens of change logs
//	changes.go        what changed
//	changelog.go      reading the logs
//	digest.go         what changes mean for the tree
//	lost.go           what changes took away
//	fetch.go          one page
//	content.go        exports and downloads
//	download.go       files, whole and checked
//	page.go           what was read, as a page
//	docs_markdown.go  the Markdown that Docs are exported in, made readable
//	inline.go         one line of it
//	access.go         who may read
//	note.go           what a first listing told of files, so that it need not be asked again
//	presence.go       whether a page is still there
//	watch.go          channels on which Drive calls back
//
// drivetest, below this package, is a stand-in server.
package gdrive

import (
	"context"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/loresync/loresync/internal/source"
)

// Name is the source's kind, as folders store it.
const Name = "gdrive"

const (
	// DefaultEndpoint is Google's own.
	DefaultEndpoint = "https://www.googleapis.com/drive/v3/"
	// MaxContent bounds what is read of one file, in bytes, and is the limit of folders that set none.
	MaxContent = 50 << 20
	// defaultBatchSize keeps a batch well under a megabyte.
	defaultBatchSize = 500
	// parallelLists are folders that are listed at once; the budget decides when each request is sent.
	parallelLists = 4
)

// Options are the settings of a Drive source.
type Options struct {
	// Endpoint ends in /drive/v3/; a missing slash is mended. Empty means Google's own.
	Endpoint string
	// Transport sends requests, waits for the budget and retries; nil means the plain default one.
	Transport http.RoundTripper
	// TokenTransport sends requests for access tokens of a service account; nil means one of TokenTransport.
	TokenTransport http.RoundTripper
	// Credentials say who asks.
	Credentials Credentials
	// Extract turns a file into text; without it only Docs are read.
	Extract Extractor
	// BatchSize is the number of entries in one batch of a listing. Zero means 500.
	BatchSize int
}

// Extractor gives the text of a file, by its media type and name. An error means that it should be tried again.
type Extractor func(ctx context.Context, mimeType, name string, r io.Reader) (Extracted, error)

// Extracted is what became of one file.
type Extracted struct {
	// Text is Markdown; empty if nothing can be searched.
	Text string
	// Reason says for people why the file isn't searchable, beginning with a word for programs; empty if it is.
	Reason string
	// Searchable is true when Text holds what the file says.
	Searchable bool
	// Note says what else people should know of how it was read.
	Note string
	// Truncated is true when Text lacks a part of the file.
	Truncated bool
	// Pages is the number of pages, 0 for kinds that have none.
	Pages int
}

// Source is one connection to Drive. It is safe for concurrent use.
type Source struct {
	client  *client
	extract Extractor
	folders *folders
	drives  *drivePermissions
	targets *targets

	batchSize int
}

var (
	_ source.Source     = (*Source)(nil)
	_ source.ChangeFeed = (*Source)(nil)
	_ source.Watcher    = (*Source)(nil)
)

// New gives a source. Nothing is sent yet; it errs when the settings can't be used.
func New(opts Options) (*Source, error) {
	endpoint := opts.Endpoint
	if endpoint == "" {
		endpoint = DefaultEndpoint
	}
	// Without the slash the client would drop the last part of the path and ask for /drive/files.
	endpoint = strings.TrimRight(endpoint, "/") + "/"
	made, err := newClient(endpoint, opts)
	if err != nil {
		return nil, err
	}
	batchSize := opts.BatchSize
	if batchSize <= 0 {
		batchSize = defaultBatchSize
	}
	return &Source{
		client: made, extract: opts.Extract, folders: newFolders(), drives: newDrivePermissions(),
		targets: newTargets(), batchSize: batchSize,
	}, nil
}

// Name is "gdrive".
func (*Source) Name() string { return Name }

// Canonical gives the form of a root's reference that is stored.
func (*Source) Canonical(ref string) (string, error) { return Canonical(ref) }

// Traits says that Drive answers over a network, has change logs and keeps ids. Its times and versions are exact.
func (*Source) Traits() source.Traits {
	return source.Traits{Incremental: true, Remote: true, StableIDs: true, EditGranularity: time.Millisecond}
}
