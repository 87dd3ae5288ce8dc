package knowledge

import (
	"time"
)

// OpenDelete is a delete as its workflow sees it.
type OpenDelete struct {
	DeleteID    int64
	FolderID    string
	PageID      *string
	SourceID    string
	Subtree     bool
	Now         bool
	WorkflowID  string
	AcceptedAt  time.Time
	AcceptedSeq int64
	FinishedAt  *time.Time
}

// Flight is an in-flight row.
type Flight struct {
	FolderID   string
	PageID     string
	Token      string
	WorkflowID string
	RunID      string
	BeganAt    time.Time
}

// Holder names the sync that the row stands for.
func (f Flight) Holder() Holder { return Holder{Folder: f.FolderID, Page: f.PageID, Token: f.Token} }

// DueRead is a page whose time to be read has come.
type DueRead struct {
	FolderID, PageID, Reason string
}
