// Package activities holds what touches the world on behalf of the workflows: sources, models and the store. Each activity is
// safe to run twice, and errors become Temporal failures in one place (failures.go). The structs are small, and hold what all
// their methods use; store and control are reached through the interfaces that are declared here.
package activities

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/loresync/loresync/internal/content/embed"
	"github.com/loresync/loresync/internal/content/summary"
	"github.com/loresync/loresync/internal/knowledge"
	"github.com/loresync/loresync/internal/source"
)

// Sources gives the source of a connection.
type Sources interface {
	Source(ctx context.Context, name, connection string) (source.Source, error)
}

// Models are the embedder and the summariser in use.
type Models struct {
	Embedder   embed.Embedder
	Summarizer summary.Summarizer
}

// Starter starts and looks at other workflows. control implements it.
type Starter interface {
	// RequestPageSync starts the sync of a page, or joins the running one without disturbing it.
	RequestPageSync(ctx context.Context, folder, page string, lane knowledge.Lane) error
	// RequestFolderSync starts a folder sync, or joins the one that waits to list, and returns its Workflow ID.
	RequestFolderSync(ctx context.Context, folder string, mode knowledge.Mode, trigger string) (string, error)
	// StartDelete starts the workflow of an accepted delete, or wakes the running one.
	StartDelete(ctx context.Context, open knowledge.OpenDelete) error
	// StartSyncAll starts the sync of all folders, or joins the running one, and returns its Workflow ID.
	StartSyncAll(ctx context.Context, trigger string) (string, error)
}

// Execution is a workflow run as Temporal tells it.
type Execution struct {
	WorkflowID string
	RunID      string
	// StartedAt is when the chain's first run started: what goes on under a new run is as old as it was.
	StartedAt time.Time
	Running   bool
}

// Executions looks at, cancels and terminates workflows. control implements it.
type Executions interface {
	// Describe looks at the latest run of an exact Workflow ID; false when Temporal knows none.
	Describe(ctx context.Context, workflowID string) (Execution, bool, error)
	// ListRunning lists the running workflows whose ID starts with a prefix that ends in a slash, as Visibility has them:
	// it lags.
	ListRunning(ctx context.Context, prefix string) ([]Execution, error)
	// Cancel asks the latest run of a Workflow ID to end; that there is none is no error.
	Cancel(ctx context.Context, workflowID string) error
	// Terminate ends the latest run of a Workflow ID at once; that there is none is no error.
	Terminate(ctx context.Context, workflowID, reason string) error
}

// Timeouts are the times that the storm shortens and production keeps; zero values mean the defaults.
type Timeouts struct {
	// Ladder is how long a cancelled workflow may take before it is terminated: one minute.
	Ladder time.Duration
	// Abandoned is how long an in-flight row may be without a running workflow before the janitor drops it: two minutes.
	Abandoned time.Duration
	// AskAgain is how long a requested page may be without an in-flight row before its workflow is looked at: 3 seconds.
	AskAgain time.Duration
	// Undo is how long a removal can be undone: 7 days.
	Undo time.Duration
}

// WithDefaults fills in what is zero.
func (t Timeouts) WithDefaults() Timeouts {
	for _, d := range []struct {
		value *time.Duration
		usual time.Duration
	}{{&t.Ladder, time.Minute}, {&t.Abandoned, 2 * time.Minute}, {&t.AskAgain, 3 * time.Second}, {&t.Undo, 7 * 24 * time.Hour}} {
		if *d.value == 0 {
			*d.value = d.usual
		}
	}
	return t
}

// rootOf reads a folder's root as its source wants it.
func rootOf(folder, ref string, limits json.RawMessage) (source.Root, error) {
	root := source.Root{FolderID: folder, Ref: ref}
	if len(limits) > 0 {
		if err := json.Unmarshal(limits, &root.Limits); err != nil {
			return root, fmt.Errorf("read the limits of folder %s: %w", folder, err)
		}
	}
	return root, nil
}
