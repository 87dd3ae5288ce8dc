package knowledge

import "time"

// NoticeKind is what a source's webhook says happened to an object.
type NoticeKind string

// The kinds. Each is a wish to look at the source, never a fact: notices come late, twice, out of order, or not at all.
const (
	// NoticeChanged says that an object was made, edited, moved or brought back.
	NoticeChanged NoticeKind = "changed"
	// NoticeGone says that an object was deleted. The source's own word is asked for before anything is removed.
	NoticeGone NoticeKind = "gone"
	// NoticeCommented says that somebody wrote or changed a comment on an object.
	NoticeCommented NoticeKind = "commented"
	// NoticeLogChanged says that a change log has something new, and not what: its object is the log.
	NoticeLogChanged NoticeKind = "log_changed"
)

// Notice is what is kept of a webhook event: ids and kinds, no content.
type Notice struct {
	// EventID is the source's own name of the event; all deliveries of it share it. At most a few hundred characters.
	EventID string
	// Type is the source's word for what happened, for logs and for people.
	Type string
	Kind NoticeKind
	// SourceID is the object that the folder's pages may know.
	SourceID string
	// ParentSourceID is where the source says that it hangs; empty when it doesn't say. An unknown object is looked for there.
	ParentSourceID string
}

// NoticeTarget is what one folder knows about the object of a notice.
type NoticeTarget struct {
	FolderID   string
	Generation string
	// At is the database's time of the look: what was read later knows better.
	At time.Time
	// PageID is empty for an object that the folder doesn't know.
	PageID string
	// IsRoot is set when the object is the folder's root, whose loss removes nothing.
	IsRoot bool
	// Hidden is set for a page that the source lost, Excluded for one that a person deleted, or that lies below one.
	Hidden, Excluded bool
	// RemovalRejected is set when a person said that the page stays.
	RemovalRejected bool
	// Comments is set when the folder's pages have their comments in them.
	Comments bool
	// ParentPageID is the known page that the object is said to hang under; empty without one that can be read.
	ParentPageID string
	// Listed is set when a listing of the folder began since the notice came, Asked when one was asked for by a webhook within
	// the last minute and has begun.
	Listed, Asked bool
}

// ToldRemoval is the removal of pages that a source told gone and then confirmed.
type ToldRemoval struct {
	FolderID   string
	Generation string
	PageIDs    []string
	// Since is when the source was asked: pages that were read later are left alone.
	Since time.Time
	// Undo is how long the removal can be undone.
	Undo time.Duration
	// Recent is the number of removals in the last 24 hours that the decision was made on.
	Recent int64
	// Approved is set when a person decided: then other removals change nothing.
	Approved bool
}

// ToldRemoved is the answer. Outcome is removed, or recount when other pages were removed since the decision.
type ToldRemoved struct {
	Outcome string
	Gone    []string
}

// WebhookSecret is what is known of the secret that signs a connection's webhooks.
type WebhookSecret struct {
	Connection, Source string
	// Secret is empty when none is kept.
	Secret string
	// ReceivedAt, ShownAt and ConfirmedAt are when it came, when a person was shown it, and when an event first bore it.
	ReceivedAt, ShownAt, ConfirmedAt *time.Time
}
