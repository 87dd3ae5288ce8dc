// Package control is the one door: every entry point (CLI, console, API, Slack, webhooks, schedules) starts, joins, deletes,
// restores and approves through it, and holds no lock of its own. It builds the Workflow IDs by package ids, makes the accepts
// in Postgres before a workflow is started, and tells each caller whether it started something or joined it.
package control

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"go.temporal.io/sdk/client"

	"github.com/loresync/loresync/internal/knowledge"
	"github.com/loresync/loresync/internal/source"
	"github.com/loresync/loresync/internal/store"
)

// Control is safe for concurrent use, and any number of processes may each have one.
type Control struct {
	store    *store.Store
	temporal client.Client
	sources  Sources
	log      *slog.Logger
	options  Options
}

// Sources finds a connection's source, to resolve what a person pasted and to look whether it exists. It may know none.
type Sources interface {
	Source(ctx context.Context, name, connection string) (source.Source, error)
}

// Options are control's settings; zero values mean the defaults.
type Options struct {
	Namespace string
	// UndoWindow is how long a delete can be undone: 7 days by default.
	UndoWindow time.Duration
	// TemporalTimeout is how long a start may take before it is given up: 3 seconds by default, so that a caller has an
	// answer within 5.
	TemporalTimeout time.Duration
	// PublicURL is the gateway's address as sources see it; empty when it has none.
	PublicURL string
	// NotionSecretIsSet says that a setting holds the secret that signs the webhooks of the connection notion.
	NotionSecretIsSet bool
}

// New gives a Control. temporal may be nil for commands that only read.
func New(st *store.Store, temporal client.Client, sources Sources, log *slog.Logger, options Options) *Control {
	if options.UndoWindow == 0 {
		options.UndoWindow = 7 * 24 * time.Hour
	}
	if options.TemporalTimeout == 0 {
		options.TemporalTimeout = 3 * time.Second
	}
	if options.Namespace == "" {
		options.Namespace = client.DefaultNamespace
	}
	return &Control{store: st, temporal: temporal, sources: sources, log: log, options: options}
}

// Kind is what a caller can do about an error; entry points map it to exit codes and HTTP statuses.
type Kind string

// The kinds: exit codes 2, 3, 4, 5 and 1; HTTP 400, 404, 409, 503 and 500.
const (
	KindUsage       Kind = "usage"
	KindNotFound    Kind = "not_found"
	KindRefused     Kind = "refused"
	KindUnreachable Kind = "unreachable"
	KindFailed      Kind = "failed"
)

// Error is an error for people: a sentence that says what to do next, and a code for programs.
type Error struct {
	Kind Kind
	// Code is snake_case: folder_unknown, page_unknown, folder_deleted, excluded, paused, temporal_unreachable, …
	Code     string
	Sentence string
	Err      error
}

// Error gives the sentence.
func (e *Error) Error() string { return e.Sentence }

// Unwrap gives the cause.
func (e *Error) Unwrap() error { return e.Err }

// KindOf tells what kind an error is; errors of unknown origin are KindFailed.
func KindOf(err error) Kind {
	var known *Error
	switch {
	case errors.As(err, &known):
		return known.Kind
	case errors.Is(err, store.ErrUnreachable):
		return KindUnreachable
	}
	return KindFailed
}

func refuse(code, format string, args ...any) *Error {
	return &Error{Kind: KindRefused, Code: code, Sentence: fmt.Sprintf(format, args...)}
}

func notFound(code, format string, args ...any) *Error {
	return &Error{Kind: KindNotFound, Code: code, Sentence: fmt.Sprintf(format, args...)}
}

func usage(code, format string, args ...any) *Error {
	return &Error{Kind: KindUsage, Code: code, Sentence: fmt.Sprintf(format, args...)}
}

// Actor is who asks, and through which entry point.
type Actor struct {
	// Name is a user name or address; Trigger is cli, api, ui, slack, schedule, due or webhook.
	Name    string
	Trigger string
}

// Answer is what every mutation answers, as far as it applies.
type Answer struct {
	// HoldOutcome is what became of the pages of an approved hold, once its workflow was waited for.
	knowledge.HoldOutcome

	WorkflowID string     `json:"workflow_id,omitempty"`
	RunID      string     `json:"run_id,omitempty"`
	Joined     bool       `json:"joined"`
	AcceptedAt *time.Time `json:"accepted_at,omitempty"`
	// AcceptedBy is who had asked for the same before, where the answer is that it is so already.
	AcceptedBy string `json:"accepted_by,omitempty"`
	// Status is running, completed, partial, failed, cancelled, refused, accepted, restored, purged, approved, rejected, …
	Status   string            `json:"status,omitempty"`
	Reason   string            `json:"reason,omitempty"`
	FolderID string            `json:"folder_id,omitempty"`
	PageID   string            `json:"page_id,omitempty"`
	Pages    *int64            `json:"pages,omitempty"`
	PurgeAt  *time.Time        `json:"purge_at,omitempty"`
	Counts   *knowledge.Counts `json:"counts,omitempty"`
	// Unseen is how many pages a full sync did not see and kept: each goes after the second such sync. Nil for other syncs.
	Unseen *int64 `json:"unseen,omitempty"`
	// DryRun marks the answer of a sync that changes nothing: its counts are what would be done.
	DryRun bool `json:"dry_run,omitempty"`
	// WouldRemove names pages that a dry run did not see, 500 at most: two full syncs in a row would remove them.
	WouldRemove []knowledge.HoldPage `json:"would_remove,omitempty"`
	// SkippedFolders are those that a sync of all folders leaves out, with the reason.
	SkippedFolders []SkippedFolder `json:"skipped_folders,omitempty"`
	Warnings       []string        `json:"warnings,omitempty"`
}
