// Package approaches holds three ways to keep the syncs and the delete of a page apart, each over the same small work, so that the
// bench can give them the same load:
//
//   - Locks: whoever asks takes a lock of the page in Postgres and does the work while it holds it.
//   - Queue: one long-lived workflow per page does what is asked of it by signals, one after the other.
//   - Named: the rule of loresync in its smallest form. The Workflow ID names the page, so requests join, and a delete accepts in
//     Postgres first and then cancels by name.
//
// Locks and Queue have a thrifty variant each, in which a sync that another one has already served is left out.
package approaches

import "context"

// Page is a page of a folder.
type Page struct {
	Folder, ID string
}

// Entry is where a request comes from.
type Entry int

// The entry points.
const (
	EntrySchedule Entry = iota
	EntryPerson
	EntryWebhook
	// Entries is their number.
	Entries
)

// Design is one of the ways. Its methods are safe for concurrent use.
type Design interface {
	// Sync is one request of an entry point for a sync of a page. It returns when the entry point would answer.
	Sync(ctx context.Context, from Entry, p Page) error
	// Delete returns when no reader sees the page and nothing of it is in flight.
	Delete(ctx context.Context, p Page) error
	// InLine is how many requests stand in line, or work, inside of Sync.
	InLine(ctx context.Context) (int, error)
}
