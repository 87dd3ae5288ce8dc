package activities

import (
	"context"
	"strings"
	"time"

	"github.com/loresync/loresync/internal/knowledge"
	"github.com/loresync/loresync/internal/pause"

	"go.temporal.io/sdk/activity"

	"github.com/loresync/loresync/internal/ids"
)

// DeleteStore is what deletes ask of the store.
type DeleteStore interface {
	OpenDeleteOf(ctx context.Context, folder, page string) (knowledge.OpenDelete, bool, error)
	SweepSubtree(ctx context.Context, deleteID int64, bound int) (int, error)
	FinishSweep(ctx context.Context, deleteID int64) (bool, error)
	FlightsBelow(ctx context.Context, deleteID int64) ([]knowledge.Flight, error)
	DropAttempt(ctx context.Context, h knowledge.Holder) (bool, error)
	FinishDelete(ctx context.Context, deleteID int64) (string, error)
	PurgePages(ctx context.Context, deleteID int64, bound int) (int, error)
	PurgeFolder(ctx context.Context, folder string, bound int) (int, error)
	TakeListSlot(ctx context.Context) (time.Duration, error)
}

// DeleteActivities carry out deletes that control has accepted: everything is hidden already, and each step re-reads whether
// it is still wanted.
type DeleteActivities struct {
	Store      DeleteStore
	Executions Executions
	Timeouts   Timeouts
}

// DeleteInput names a page, or a folder when PageID is empty, and the delete's own Workflow ID.
type DeleteInput struct {
	FolderID   string
	PageID     string
	WorkflowID string
}

// OpenDeleteResult is a delete with work to do; DeleteID is 0 when there is none (restored, purged or finished).
type OpenDeleteResult struct {
	DeleteID    int64
	Subtree     bool
	Now         bool
	Finished    bool
	AcceptedAt  time.Time
	AcceptedSeq int64
}

// OpenDelete reads what there is to do.
func (a *DeleteActivities) OpenDelete(ctx context.Context, in DeleteInput) (OpenDeleteResult, error) {
	open, found, err := a.Store.OpenDeleteOf(ctx, in.FolderID, in.PageID)
	if err != nil || !found {
		return OpenDeleteResult{}, err
	}
	return OpenDeleteResult{
		DeleteID: open.DeleteID, Subtree: open.Subtree, Now: open.Now, Finished: open.FinishedAt != nil, AcceptedAt: open.AcceptedAt,
		AcceptedSeq: open.AcceptedSeq,
	}, nil
}

// DeleteStepInput names an open delete.
type DeleteStepInput struct {
	DeleteInput
	DeleteID   int64
	Subtree    bool
	AcceptedAt time.Time
}

// SweepSubtree tombstones the pages below a subtree delete in bounded transactions until none is left. A second run goes on
// where the first one stopped.
func (a *DeleteActivities) SweepSubtree(ctx context.Context, in DeleteStepInput) (int, error) {
	swept := 0
	for {
		activity.RecordHeartbeat(ctx, swept)
		taken, err := a.Store.SweepSubtree(ctx, in.DeleteID, lockBatch)
		if err != nil {
			return swept, err
		}
		swept += taken
		if taken > 0 {
			continue
		}
		done, err := a.Store.FinishSweep(ctx, in.DeleteID)
		if err != nil || done {
			return swept, err
		}
	}
}

// CancelSyncsResult counts what a delete had to end.
type CancelSyncsResult struct {
	Cancelled, Terminated, Dropped int
}

const (
	cancelTick = 100 * time.Millisecond
	// Rounds of lists are this far apart: the list of what runs lags by up to a third of a second.
	listRound = time.Second
	// Executions that started this long after the accept saw it at their Begin.
	startGrace = time.Second
)

// CancelSyncs ends what runs below a delete: by the in-flight table and exact Workflow IDs, which tell the truth, and by the
// prefix query, which also finds other kinds of work but lags. Each is cancelled, waited for, and terminated when the ladder's
// time is over. It is done when no in-flight row is older than the accept and everything found that started before it is
// closed. A second run starts the ladder again.
func (a *DeleteActivities) CancelSyncs(ctx context.Context, in DeleteStepInput) (CancelSyncsResult, error) {
	hunt := &hunt{acts: a, in: in, found: map[string]time.Time{}, closed: map[string]bool{}}
	return hunt.result, hunt.run(ctx)
}

// hunt is one CancelSyncs under way.
type hunt struct {
	acts *DeleteActivities
	in   DeleteStepInput
	// found holds when the cancel of a Workflow ID was sent.
	found  map[string]time.Time
	closed map[string]bool
	lists  int
	listed time.Time
	result CancelSyncsResult
}

func (h *hunt) run(ctx context.Context) error {
	if h.in.PageID != "" {
		exact, err := ids.SyncPage(h.in.FolderID, h.in.PageID)
		if err != nil {
			return err
		}
		if err := h.look(ctx, exact); err != nil {
			return err
		}
	}
	for {
		activity.RecordHeartbeat(ctx, h.result.Cancelled)
		flights, err := h.flights(ctx)
		if err != nil {
			return err
		}
		if err := h.list(ctx); err != nil {
			return err
		}
		open, err := h.climb(ctx)
		if err != nil {
			return err
		}
		if open == 0 && flights == 0 && h.listedEnough() {
			return nil
		}
		if err := pause.For(ctx, cancelTick); err != nil {
			return err
		}
	}
}

// flights cancels the workflows of in-flight rows, and drops the rows of those that are closed.
func (h *hunt) flights(ctx context.Context) (int, error) {
	flights, err := h.acts.Store.FlightsBelow(ctx, h.in.DeleteID)
	if err != nil {
		return 0, err
	}
	left := len(flights)
	for _, f := range flights {
		if !h.closed[f.WorkflowID] {
			if err := h.look(ctx, f.WorkflowID); err != nil {
				return left, err
			}
		}
		if !h.closed[f.WorkflowID] {
			continue
		}
		dropped, err := h.acts.Store.DropAttempt(ctx, f.Holder())
		if err != nil {
			return left, err
		}
		if dropped {
			h.result.Dropped++
			left--
		}
	}
	return left, nil
}

// look asks for a Workflow ID's latest run and, when it runs and started before the delete, sends the cancel once.
func (h *hunt) look(ctx context.Context, workflowID string) error {
	if _, known := h.found[workflowID]; known {
		return nil
	}
	run, exists, err := h.acts.Executions.Describe(ctx, workflowID)
	if err != nil {
		return err
	}
	if !exists || !run.Running || run.StartedAt.After(h.in.AcceptedAt.Add(startGrace)) {
		h.closed[workflowID] = true
		return nil
	}
	if err := h.acts.Executions.Cancel(ctx, workflowID); err != nil {
		return err
	}
	h.found[workflowID] = time.Now()
	h.result.Cancelled++
	return nil
}

// list makes one prefix query: a page delete makes one in all, a folder or subtree delete two at least, a round apart and
// within what the deployment may ask of Visibility.
func (h *hunt) list(ctx context.Context) error {
	if h.listedEnough() || time.Since(h.listed) < listRound {
		return nil
	}
	if h.wide() {
		delay, err := h.acts.Store.TakeListSlot(ctx)
		if err != nil {
			return err
		}
		if err := waitAlive(ctx, delay); err != nil {
			return err
		}
	}
	prefix, err := h.prefix()
	if err != nil {
		return err
	}
	running, err := h.acts.Executions.ListRunning(ctx, prefix)
	if err != nil {
		return err
	}
	h.lists, h.listed = h.lists+1, time.Now()
	for _, run := range running {
		if !h.mine(run, prefix) {
			continue
		}
		if err := h.look(ctx, run.WorkflowID); err != nil {
			return err
		}
	}
	return nil
}

func (h *hunt) wide() bool { return h.in.PageID == "" || h.in.Subtree }

func (h *hunt) listedEnough() bool { return h.lists >= 2 || h.lists == 1 && !h.wide() }

// prefix is what a delete lists. The pages of a subtree have nothing in common but their folder.
func (h *hunt) prefix() (string, error) {
	if h.in.PageID == "" {
		return ids.FolderPrefix(h.in.FolderID)
	}
	return ids.PagePrefix(h.in.FolderID, h.in.PageID)
}

// mine filters a prefix hit exactly: SQLite ignores case, deletes don't cancel deletes, and nothing cancels itself. An ID below
// the prefix that this program doesn't know is work of a kind that a newer one starts, and ends too.
func (h *hunt) mine(run Execution, prefix string) bool {
	if !strings.HasPrefix(run.WorkflowID, prefix) || run.WorkflowID == h.in.WorkflowID {
		return false
	}
	parsed, err := ids.Parse(run.WorkflowID)
	return err != nil || parsed.Kind != ids.KindDeletePage && parsed.Kind != ids.KindDeleteFolder
}

// climb looks at what was cancelled, terminates what had its time, and tells how much is still open.
func (h *hunt) climb(ctx context.Context) (int, error) {
	open := 0
	for workflowID, since := range h.found {
		if h.closed[workflowID] {
			continue
		}
		run, exists, err := h.acts.Executions.Describe(ctx, workflowID)
		if err != nil {
			return open, err
		}
		if !exists || !run.Running || run.StartedAt.After(h.in.AcceptedAt.Add(startGrace)) {
			h.closed[workflowID] = true
			continue
		}
		open++
		if time.Since(since) > h.acts.Timeouts.Ladder {
			if err := h.acts.Executions.Terminate(ctx, workflowID, "deleted, and not ended by its cancel"); err != nil {
				return open, err
			}
			h.result.Terminated++
		}
	}
	return open, nil
}

// waitAlive waits, however long, with heartbeats.
func waitAlive(ctx context.Context, d time.Duration) error {
	for deadline := time.Now().Add(d); ; {
		left := time.Until(deadline)
		if left <= 0 {
			return ctx.Err()
		}
		activity.RecordHeartbeat(ctx)
		if err := pause.For(ctx, min(left, time.Second)); err != nil {
			return err
		}
	}
}

// FinishDelete marks the delete finished, unless a sync that is older than it has begun again meanwhile. The answer is
// finished, restored or in_flight.
func (a *DeleteActivities) FinishDelete(ctx context.Context, in DeleteStepInput) (string, error) {
	return a.Store.FinishDelete(ctx, in.DeleteID)
}

// PurgeDelete erases what a delete with --now hid, in bounded transactions. A second run goes on where the first one stopped.
func (a *DeleteActivities) PurgeDelete(ctx context.Context, in DeleteStepInput) (int, error) {
	purged := 0
	for {
		activity.RecordHeartbeat(ctx, purged)
		var taken int
		var err error
		if in.PageID == "" {
			taken, err = a.Store.PurgeFolder(ctx, in.FolderID, lockBatch)
		} else {
			taken, err = a.Store.PurgePages(ctx, in.DeleteID, lockBatch)
		}
		if err != nil || taken <= 0 {
			return purged, err
		}
		purged += taken
	}
}
