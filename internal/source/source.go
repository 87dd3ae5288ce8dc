// Package source declares what loresync asks of a place where people write: list everything below a root and say whether
// that was everything, read one page, and confirm that a page is gone. Each vendor lives in a package below this one, and
// sourcetest holds the conformance suite that every one of them must pass.
//
// A source knows nothing of Postgres, Temporal, exclusions or revisions. It answers with vendor facts; what follows from
// them is decided by the callers (activities, and the pure rules in knowledge).
package source

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/loresync/loresync/internal/knowledge"
)

// Root says what a folder syncs: the reference an admin registered and the limits that hold for it.
type Root struct {
	FolderID string
	// Ref is the source's own way to name the root: a directory, a Notion page id, a Drive folder id.
	Ref    string
	Limits Limits
	// Known gives the parents of the folder's known pages by source id, for listings whose source doesn't tell every parent.
	// It may be nil.
	Known func(ctx context.Context) (map[string]string, error)
	// At is the time by the store's clock, before the page is read; zero outside a read.
	At time.Time
	// Memo keeps the answers that one page takes many requests for, for the next attempt at reading it. It may be nil.
	Memo Memo
	// Notes keeps what a listing tells of pages beyond its entries, for their first reads. It may be nil; reads have
	// none.
	Notes Notes
	// Note gives a read what a listing kept of its page, and drops it; false when there is nothing of the last half hour. It may
	// be nil; listings have none.
	Note func(ctx context.Context, sourceID string) ([]byte, bool, error)
}

// Memo is what earlier attempts at reading one page left behind. It is lost at any time, and what it can't keep or find costs
// requests, nothing else. It is safe for concurrent use.
type Memo interface {
	// Load gives what was saved under a key in the last half hour; false without it.
	Load(ctx context.Context, key string) ([]byte, bool, error)
	// Save keeps a value, in the place of an older one. What is more than is kept of one page is dropped in silence.
	Save(ctx context.Context, key string, value []byte) error
}

// Notes keeps what a listing tells of pages until their first reads, in whatever process these run. They are lost at any time,
// which costs requests, nothing else. What is newer than a note makes it worthless: a source drops the notes on all that its change
// feed leads to, and its caller gives out none that another listing overtook. It is safe for concurrent use.
type Notes interface {
	// Keep keeps notes by source id, in the place of older ones. It is called before the batch with their entries is yielded.
	Keep(ctx context.Context, notes map[string][]byte) error
	// Drop drops the notes on some pages.
	Drop(ctx context.Context, sourceIDs []string) error
}

// Limits bound one page. A zero value means the source's default.
type Limits struct {
	// MaxBytes is the largest raw page that is read; larger ones are listed as skipped.
	MaxBytes int64 `json:"max_bytes,omitempty"`
	// Comments makes a page's unresolved comments a section of it, where the source has comments.
	Comments bool `json:"comments,omitempty"`
}

// The nouns of a listing are knowledge's: the store compares them with what it knows.
type (
	// Kind is knowledge's.
	Kind = knowledge.Kind
	// Entry is knowledge's.
	Entry = knowledge.Entry
	// Skip is knowledge's.
	Skip = knowledge.Skip
	// Batch is knowledge's.
	Batch = knowledge.Batch
	// Verdict is knowledge's.
	Verdict = knowledge.Verdict
)

// The kinds and verdicts, under the names that sources use.
const (
	KindDocument           = knowledge.KindDocument
	KindContainer          = knowledge.KindContainer
	VerdictComplete        = knowledge.VerdictComplete
	VerdictRootMissing     = knowledge.VerdictRootMissing
	VerdictRootUnreadable  = knowledge.VerdictRootUnreadable
	VerdictPartUnreadable  = knowledge.VerdictPartUnreadable
	VerdictCapped          = knowledge.VerdictCapped
	VerdictIncompleteCount = knowledge.VerdictIncompleteCount
)

// Listed ends a listing.
type Listed struct {
	Verdict Verdict
	// Sentence says why the verdict isn't complete and what to do; empty when it is.
	Sentence string
	// Checkpoint, where the source has a change feed, is where the next incremental listing starts. It was taken before
	// the sweep began.
	Checkpoint string
}

// Page is one fetched page, raw and as the source understands it. Conversion to Markdown is the caller's step.
type Page struct {
	Entry Entry
	// Raw is the payload as the source sent it, so that a later converter can work without a new request.
	Raw []byte
	// Format tells the converter what Raw is.
	Format Format
	// Markdown is set by sources that convert themselves; then Format is FormatConverted.
	Markdown string
	// Identity is what decides whether the content changed, for sources whose raw payload holds what differs at each read
	// (signed links, request ids). Nil means Raw.
	Identity []byte
	// Fingerprint identifies the content for move detection: SHA-256 over what does not change by a move. It is nil for
	// empty content.
	Fingerprint []byte
	// Children are pages that were seen while reading this one, for sources whose tree is known only by reading.
	Children []Entry
	// Fidelity says how much of the page could be kept, as a JSON object; nil where the source has nothing to say.
	Fidelity json.RawMessage
	// Access says who may read the page at its source, as a JSON array of objects with type and role; nil where the source
	// doesn't tell.
	Access json.RawMessage
	// Meta is what else the source knows of the page, for people and filters: owner, modified_by.
	Meta map[string]any
}

// Format is what a raw payload is.
type Format string

// The formats a source may hand to the converter.
const (
	FormatMarkdown  Format = "markdown"
	FormatText      Format = "text"
	FormatHTML      Format = "html"
	FormatConverted Format = "converted"
)

// Presence is a source's answer to "is this page still below the root?".
type Presence string

// The answers. Anything that isn't a clear word from the source is PresenceUnknown, which counts as alive.
const (
	PresenceAlive   Presence = "alive"
	PresenceGone    Presence = "gone"
	PresenceTrashed Presence = "trashed"
	PresenceMoved   Presence = "moved_out"
	PresenceUnknown Presence = "unknown"
)

// Source is one connection to a place where people write. Implementations are safe for concurrent use.
type Source interface {
	// Name is the source's kind: files, notion, gdrive.
	Name() string
	// Traits says what the source can and cannot do.
	Traits() Traits
	// Check tells whether the root can be read, in an error a person may read (a *Failure). It does not list.
	Check(ctx context.Context, root Root) error
	// List enumerates everything below the root, batch by batch, starting after cursor (empty: from the start), and ends
	// with its verdict. Trouble below the root is a verdict; trouble that should be tried again is an error. A batch that
	// yield refuses ends the listing with that error.
	List(ctx context.Context, root Root, cursor string, yield func(Batch) error) (Listed, error)
	// Fetch reads one page. Errors are *Failure: ClassNotFound when it vanished, ClassInvalid with a Skip class when it
	// can't be used.
	Fetch(ctx context.Context, root Root, sourceID string) (Page, error)
	// Presence reads directly whether a page is still there and still below the root. It errs only for trouble that
	// should be tried again.
	Presence(ctx context.Context, root Root, sourceID string) (Presence, error)
	// Resolve turns what a person pasted (a URL, a path) into a source id, without asking the source; false when it
	// can't be one of this source's.
	Resolve(root Root, ref string) (sourceID string, ok bool)
}

// Traits are what callers need to know about a source to use it well.
type Traits struct {
	// Incremental sources also implement ChangeFeed.
	Incremental bool
	// Remote sources answer over a network: their fetch is an activity of its own with heartbeats.
	Remote bool
	// EditGranularity is the resolution of Entry.EditedAt and Version: a page read within twice this time of its edit is
	// read again later, since a second edit may look the same.
	EditGranularity time.Duration
	// StableIDs is true when a page keeps its id through a move or a rename. Without it moves are recognised by content.
	StableIDs bool
	// TreeByReading is true when some pages are found only by reading the page above them. Such a source gives Children.
	TreeByReading bool
}

// Fingerprinter is implemented by sources without stable ids: it fingerprints a page that a listing found new, to tell a
// renamed page from a new one. Nil means empty content, which never matches.
type Fingerprinter interface {
	Fingerprint(ctx context.Context, root Root, sourceID string) ([]byte, error)
}

// ChangeFeed is implemented by sources that can tell what changed since a checkpoint.
type ChangeFeed interface {
	// Changes yields what changed since the checkpoint; removed source ids are told gone, not merely absent. A checkpoint
	// that the source refuses is a *Failure of ClassCheckpointExpired.
	Changes(ctx context.Context, root Root, checkpoint string, yield func(changed []Entry, removed []string) error) (Listed, error)
}

// Class is the kind of a failure, the same for every source.
type Class string

// The classes. What follows from each is decided in one place, by activities.
const (
	ClassRateLimited       Class = "RateLimited"
	ClassUnavailable       Class = "Unavailable"
	ClassUnauthorized      Class = "Unauthorized"
	ClassNotFound          Class = "NotFound"
	ClassCheckpointExpired Class = "CheckpointExpired"
	ClassInvalid           Class = "Invalid"
)

// Failure is an error of a source that callers can act on.
type Failure struct {
	Class Class
	// Doing is what was being done, lower case, without "failed to".
	Doing string
	// Sentence is for people and says what to do next. No tokens, no page text.
	Sentence string
	// Skip is set with ClassInvalid: the page becomes a skipped page with this reason.
	Skip *Skip
	// Told is set with ClassNotFound when the source says itself that the page is in its trash. Without it nobody knows why it
	// isn't there.
	Told bool
	// RetryAfter is the source's own wish, with ClassRateLimited.
	RetryAfter time.Duration
	Err        error
}

// Error gives what was being done and why it went wrong.
func (f *Failure) Error() string {
	if f.Err == nil {
		return fmt.Sprintf("%s: %s", f.Doing, f.Sentence)
	}
	return fmt.Sprintf("%s: %v", f.Doing, f.Err)
}

// Unwrap gives the cause.
func (f *Failure) Unwrap() error { return f.Err }

// Watcher is implemented by change feeds whose source can call back when one of its logs has something new. A call says no
// more than that: what changed is asked for as ever.
type Watcher interface {
	ChangeFeed
	// Logs are the change logs that a checkpoint covers, by names that are the source's own.
	Logs(checkpoint string) []string
	// Watch opens a channel on a log. An open one can't be prolonged: a new one takes its place.
	Watch(ctx context.Context, log string, channel Channel) (Watched, error)
	// Unwatch closes a channel. One that is closed or unknown is no error.
	Unwatch(ctx context.Context, channelID, resourceID string) error
}

// Channel is where a source is to call.
type Channel struct {
	// ID is new for each channel, a UUID.
	ID string
	// Address is an https URL.
	Address string
	// Token comes back with each call, and is how a call proves where it comes from.
	Token string
	// Life is how long the channel should stay open.
	Life time.Duration
}

// Watched is an open channel.
type Watched struct {
	// ResourceID is the source's name of what is watched; it comes with each call.
	ResourceID string
	// Expires is when the source closes the channel by itself; zero when it doesn't tell.
	Expires time.Time
}
