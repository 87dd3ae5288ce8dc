// Package knowledge holds loresync's nouns and its pure decisions. It imports nothing but the standard library, so every rule
// in it can be read and tested without a database or a workflow.
package knowledge

import (
	"encoding/json"
	"time"
)

// Lane is the priority class of a request: lower goes first.
type Lane int16

// The lanes, in the order in which they are served.
const (
	LanePerson      Lane = 0
	LaneDelete      Lane = 1
	LaneIncremental Lane = 2
	LaneBackfill    Lane = 3
)

// PausedByToken begins the reason of a connection that was paused because its source refused the credentials. Such a
// connection is checked every minute, and resumed at the first success.
const PausedByToken = "the source refused the credentials: " //nolint:gosec // words, no secret

// Mode is how much of a folder a sync run looks at.
type Mode string

// The modes. Only a full run may count absence; a dry run stages a listing, counts and changes nothing.
const (
	ModeFull        Mode = "full"
	ModeIncremental Mode = "incremental"
	ModeDryRun      Mode = "dry_run"
)

// RunStatus is the status of a sync run as people see it.
type RunStatus string

// The statuses of a run.
const (
	RunRunning   RunStatus = "running"
	RunCompleted RunStatus = "completed"
	RunPartial   RunStatus = "partial"
	RunFailed    RunStatus = "failed"
	RunCancelled RunStatus = "cancelled"
	RunRefused   RunStatus = "refused"
)

// PageState is the state of a page as people see it.
type PageState string

// The states of a page.
const (
	StateLive       PageState = "live"
	StateExcluded   PageState = "excluded"
	StateTombstoned PageState = "tombstoned"
	StateSkipped    PageState = "skipped"
	StatePending    PageState = "pending"
)

// Outcome is how one page sync ended.
type Outcome string

// The outcomes. Refused, fenced and cancelled are results with a reason, not errors.
const (
	OutcomePublished Outcome = "published"
	OutcomeUnchanged Outcome = "unchanged"
	OutcomeSkipped   Outcome = "skipped"
	OutcomeFailed    Outcome = "failed"
	OutcomeNotFound  Outcome = "not_found"
	OutcomeRefused   Outcome = "refused"
	OutcomeFenced    Outcome = "fenced"
	OutcomeCancelled Outcome = "cancelled"
)

// Counts is what a sync run did, in pages. Listed equals New + Changed + Unchanged + Skipped + Excluded + Failed.
type Counts struct {
	Listed    int64 `json:"listed"`
	New       int64 `json:"new"`
	Changed   int64 `json:"changed"`
	Unchanged int64 `json:"unchanged"`
	Skipped   int64 `json:"skipped"`
	Excluded  int64 `json:"excluded"`
	Failed    int64 `json:"failed"`
	Moved     int64 `json:"moved"`
	Removed   int64 `json:"removed"`
	Held      int64 `json:"held"`
	Revived   int64 `json:"revived"`
}

// Add sums the counts of two runs.
func (c Counts) Add(o Counts) Counts {
	return Counts{
		Listed: c.Listed + o.Listed, New: c.New + o.New, Changed: c.Changed + o.Changed, Unchanged: c.Unchanged + o.Unchanged,
		Skipped: c.Skipped + o.Skipped, Excluded: c.Excluded + o.Excluded, Failed: c.Failed + o.Failed, Moved: c.Moved + o.Moved,
		Removed: c.Removed + o.Removed, Held: c.Held + o.Held, Revived: c.Revived + o.Revived,
	}
}

// Status is partial while a listed page failed or the listing wasn't whole; skipped and held pages don't make it so.
func (c Counts) Status(complete bool) RunStatus {
	if c.Failed > 0 || !complete {
		return RunPartial
	}
	return RunCompleted
}

// Folder is one root that an admin registered.
type Folder struct {
	ID           string          `json:"id"`
	Source       string          `json:"source"`
	Root         string          `json:"root"`
	Connection   string          `json:"connection"`
	Title        string          `json:"title"`
	State        string          `json:"state"`
	Owner        string          `json:"owner"`
	SyncInterval time.Duration   `json:"-"`
	Interval     string          `json:"interval"`
	Limits       json.RawMessage `json:"limits"`
	Readers      json.RawMessage `json:"readers"`
	CreatedAt    time.Time       `json:"created_at"`
	DeletedAt    *time.Time      `json:"deleted_at"`
	PurgeAt      *time.Time      `json:"purge_at"`
	LastSyncAt   *time.Time      `json:"last_sync_at"`
	Pages        PageCounts      `json:"pages"`
	// Overlaps are other folders that sync some of the same pages, as far as that is known.
	Overlaps []Overlap `json:"overlaps,omitempty"`
	// Warnings speak of other folders that sync the same pages, and of a root in which nothing is; only where a root was given anew.
	Warnings []string `json:"warnings,omitempty"`
}

// Overlap is another folder that syncs some of a folder's pages too.
type Overlap struct {
	FolderID string `json:"folder_id"`
	Root     string `json:"root"`
	// How the folder's root lies to the other's: same, below or above.
	How string `json:"how"`
}

// How two roots lie to each other.
const (
	OverlapSame  = "same"
	OverlapBelow = "below"
	OverlapAbove = "above"
)

// PageCounts is how many documents of a folder are in each state.
type PageCounts struct {
	Live       int64 `json:"live"`
	Pending    int64 `json:"pending"`
	Skipped    int64 `json:"skipped"`
	Excluded   int64 `json:"excluded"`
	Tombstoned int64 `json:"tombstoned"`
	Failed     int64 `json:"failed"`
	Held       int64 `json:"held"`
	Syncing    int64 `json:"syncing"`
}

// Page is one page with its state, as commands and the API show it.
type Page struct {
	// Facts are what the source said besides the content at the last read; not in lists.
	Facts

	PageID         string       `json:"page_id"`
	SourceID       string       `json:"source_id"`
	FolderID       string       `json:"folder_id"`
	ParentPageID   *string      `json:"parent_page_id"`
	Kind           string       `json:"kind"`
	Title          string       `json:"title"`
	URL            string       `json:"url"`
	Path           string       `json:"path"`
	State          PageState    `json:"state"`
	Reason         string       `json:"reason"`
	Failure        *PageFailure `json:"failure"`
	Running        bool         `json:"running"`
	HoldID         *string      `json:"hold_id"`
	SyncedAt       *time.Time   `json:"synced_at"`
	VerifiedAt     *time.Time   `json:"verified_at"`
	SourceEditedAt *time.Time   `json:"source_edited_at"`
	FoundBy        string       `json:"found_by"`
	PurgeAt        *time.Time   `json:"purge_at,omitempty"`
	// Fidelity says how much of the published content could be kept; nil where the source has nothing to say, and in lists.
	Fidelity *Fidelity `json:"fidelity,omitempty"`
}

// Facts are what a source says of a page besides its content.
type Facts struct {
	// Access says who may read the page at its source: objects with type and role, and what else the source tells. Null where it
	// doesn't say.
	Access json.RawMessage `json:"access,omitempty"`
	// Meta has the owner, who modified it, and what else helps people and filters.
	Meta json.RawMessage `json:"source_meta,omitempty"`
}

// PageFailure is what is wrong with a page until a sync of it succeeds.
type PageFailure struct {
	Class       string     `json:"class"`
	Sentence    string     `json:"sentence"`
	Since       time.Time  `json:"since"`
	Attempts    int        `json:"attempts"`
	Quarantined *time.Time `json:"quarantined_at,omitempty"`
}

// Revision is one fetched state of a page, without its content.
type Revision struct {
	RevisionID     int64      `json:"revision_id"`
	State          string     `json:"state"`
	Title          string     `json:"title"`
	Chunks         int        `json:"chunks"`
	Bytes          int64      `json:"bytes"`
	Summary        string     `json:"summary"`
	SourceEditedAt *time.Time `json:"source_edited_at"`
	PublishedAt    *time.Time `json:"published_at"`
}

// Chunk is a piece of a published revision.
type Chunk struct {
	ChunkNo     int      `json:"chunk_no"`
	HeadingPath []string `json:"heading_path"`
	Text        string   `json:"text"`
	Embedded    bool     `json:"embedded"`
}

// Run is one sync run.
type Run struct {
	RunID       string     `json:"run_id"`
	WorkflowID  string     `json:"workflow_id"`
	FolderID    string     `json:"folder_id"`
	Kind        string     `json:"kind"`
	Mode        Mode       `json:"mode"`
	Trigger     string     `json:"trigger"`
	Actor       string     `json:"actor"`
	Status      RunStatus  `json:"status"`
	Reason      string     `json:"reason"`
	Verdict     string     `json:"verdict"`
	RequestedAt time.Time  `json:"requested_at"`
	StartedAt   *time.Time `json:"started_at"`
	EndedAt     *time.Time `json:"ended_at"`
	Counts      Counts     `json:"counts"`
	// Coverage counts the pages that the run saw by how they were found (listing, search, tree); empty while it runs.
	Coverage map[string]int64 `json:"coverage,omitempty"`
}

// RunProgress is how far a running folder sync has come.
type RunProgress struct {
	// Phase is waiting, listing, syncing, reconciling or ended.
	Phase string
	// Listed counts what the source returned so far; Done and Total count the pages that have to be read.
	Listed, Done, Failed, Total int64
}

// Hold is a planned removal that waits for a person.
type Hold struct {
	HoldOutcome

	HoldID    string     `json:"hold_id"`
	FolderID  string     `json:"folder_id"`
	Pages     []HoldPage `json:"pages"`
	Reason    string     `json:"reason"`
	State     string     `json:"state"`
	CreatedAt time.Time  `json:"created_at"`
	DecidedAt *time.Time `json:"decided_at,omitempty"`
	DecidedBy string     `json:"decided_by,omitempty"`
}

// HoldOutcome is what became of the pages of an approved hold; nil until all were looked at once more.
type HoldOutcome struct {
	Removed *int64 `json:"removed,omitempty"`
	// Kept were left: their source has them again, or couldn't tell.
	Kept *int64 `json:"kept,omitempty"`
}

// HoldPage is one page of a hold.
type HoldPage struct {
	PageID   string `json:"page_id"`
	SourceID string `json:"source_id"`
	Title    string `json:"title"`
}

// Delete is one accepted delete, with what can still be undone.
type Delete struct {
	DeleteID   int64      `json:"delete_id"`
	FolderID   string     `json:"folder_id"`
	PageID     string     `json:"page_id"`
	SourceID   string     `json:"source_id"`
	Subtree    bool       `json:"subtree"`
	Now        bool       `json:"now"`
	Who        string     `json:"who"`
	Pages      int64      `json:"pages"`
	WorkflowID string     `json:"workflow_id"`
	AcceptedAt time.Time  `json:"accepted_at"`
	FinishedAt *time.Time `json:"finished_at"`
	PurgeAt    time.Time  `json:"purge_at"`
	// UndoSeconds is the time left to restore it; zero when the purge is due.
	UndoSeconds int64 `json:"undo_seconds"`
}

// Event is one thing that happened, without content.
type Event struct {
	EventID  int64           `json:"event_id"`
	At       time.Time       `json:"at"`
	Kind     string          `json:"kind"`
	FolderID string          `json:"folder_id"`
	PageID   string          `json:"page_id"`
	Actor    string          `json:"actor"`
	Data     json.RawMessage `json:"data"`
}
