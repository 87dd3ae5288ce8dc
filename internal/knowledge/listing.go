package knowledge

import (
	"encoding/json"
	"time"
)

// Listing is a begun listing. Outcome is begun, or why it was refused.
type Listing struct {
	Outcome    string
	ListingID  int64
	Mode       Mode
	Source     string
	Connection string
	Root       string
	Limits     json.RawMessage
	NextBatch  int
	Cursor     string
	Completed  bool
	Checkpoint string
}

// Window is the state of a folder sync's page requests.
type Window struct {
	// OpenLeft is true while pages are left to ask for; Waiting counts those that were asked for and not read yet.
	OpenLeft bool
	Waiting  int64
	// ListedLeft is true while page syncs have reported children that have no row yet.
	ListedLeft bool
}

// Ask is a page that a folder sync wants read.
type Ask struct {
	PageID string
	Asked  int
}

// Vanished is a page, or an exclusion, whose name a whole listing did not see.
type Vanished struct {
	SourceID    string
	PageID      string
	Fingerprint []byte
	Excluded    bool
}

// Absence is what a whole listing says about pages it did not see: recorded, stale or no_evidence.
type Absence struct {
	// LastPage is the page to go on behind; nil when all were looked at.
	LastPage   *string
	Outcome    string
	Candidates int64
}

// Lost is a page with two strikes.
type Lost struct {
	PageID, SourceID string
}

// FolderRoot is where a folder's source is.
type FolderRoot struct {
	Source, Connection, Root string
	Limits                   json.RawMessage
	Generation               string
	// At is the database's time of the look.
	At time.Time
}

// Counted is the result of a listing in pages, with its verdict.
type Counted struct {
	Counts
	Verdict  string
	Sentence string
}

// FinishedRun is how a run ended.
type FinishedRun struct {
	WorkflowID, FirstRunID, Folder, Kind string
	Status                               RunStatus
	Reason, Verdict                      string
	Counts                               Counts
}

// RefusedConnection is a connection that was paused because its source refused the credentials, with a root to try.
type RefusedConnection struct {
	Name, Source, FolderID, Root string
	Limits                       json.RawMessage
}
