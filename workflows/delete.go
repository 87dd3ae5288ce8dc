package workflows

import (
	"time"

	"go.temporal.io/sdk/workflow"

	"github.com/loresync/loresync/activities"
)

// DeletePageInput names the page. Deletes carry no generation: each step re-reads what is wanted.
type DeletePageInput struct {
	FolderID string
	PageID   string
}

// DeleteFolderInput names the folder.
type DeleteFolderInput struct {
	FolderID string
}

// DeleteResult counts what a delete ended.
type DeleteResult struct {
	// Outcome is finished, restored (a person took it back meanwhile) or nothing (there was no open delete).
	Outcome    string
	Swept      int
	Cancelled  int
	Terminated int
	Purged     int
}

var deleteActs *activities.DeleteActivities

// DeletePageWorkflow ends what an accepted delete of a page, or of a page and all below it, must see ended.
//
//   - When it ends, nothing of the page is in flight or staged, and with --now no row of it is left; or the page was restored.
//     Readers have not seen the page since the accept, which was before this began.
//   - Its ID is folder/{folderId}/page/{pageId}/delete. control starts it after the accept, and the janitor when that was missed.
//   - Signal look-again: something was accepted or taken back; it looks once more before it ends.
//   - Continue-as-new carries over nothing but the input.
//   - A cancel ends it early; the delete stays accepted and hidden, and the janitor starts it again.
//   - It lives with syncs that don't end: they are terminated after a minute. It fails only when Postgres or Temporal stay away
//     for a day.
func DeletePageWorkflow(ctx workflow.Context, in DeletePageInput) (DeleteResult, error) {
	r := &deleteRun{
		target: activities.DeleteInput{FolderID: in.FolderID, PageID: in.PageID, WorkflowID: workflow.GetInfo(ctx).WorkflowExecution.ID},
		again:  func() error { return workflow.NewContinueAsNewError(ctx, DeletePageWorkflow, in) },
	}
	return r.run(ctx)
}

// DeleteFolderWorkflow does for a folder what DeletePageWorkflow does for a page: its prefix is the whole folder's. Its ID is
// folder/{folderId}/delete. The rows stay until the undo window is over (or go at once, with --now).
func DeleteFolderWorkflow(ctx workflow.Context, in DeleteFolderInput) (DeleteResult, error) {
	r := &deleteRun{
		target: activities.DeleteInput{FolderID: in.FolderID, WorkflowID: workflow.GetInfo(ctx).WorkflowExecution.ID},
		again:  func() error { return workflow.NewContinueAsNewError(ctx, DeleteFolderWorkflow, in) },
	}
	return r.run(ctx)
}

type deleteRun struct {
	target activities.DeleteInput
	// again goes on under a new run: a delete needs it when it is asked to look again very often, or has to wait very long.
	again  func() error
	result DeleteResult
}

func (r *deleteRun) run(ctx workflow.Context) (DeleteResult, error) {
	signals := workflow.GetSignalChannel(ctx, SignalLookAgain)
	for {
		drain(signals) // what was accepted before this look is seen by it
		if err := r.pass(ctx); err != nil {
			return r.result, err
		}
		if !drain(signals) {
			return r.result, nil
		}
		if workflow.GetInfo(ctx).GetContinueAsNewSuggested() {
			return r.result, r.again()
		}
	}
}

// pass does once what is to be done now.
func (r *deleteRun) pass(ctx workflow.Context) error {
	open, err := run(database(ctx), deleteActs.OpenDelete, r.target)
	if err != nil || open.DeleteID == 0 {
		if r.result.Outcome == "" {
			r.result.Outcome = "nothing"
		}
		return err
	}
	todo := activities.DeleteStepInput{DeleteInput: r.target, DeleteID: open.DeleteID, Subtree: open.Subtree, AcceptedAt: open.AcceptedAt}
	if open.Subtree {
		swept, err := run(scan(ctx), deleteActs.SweepSubtree, todo)
		if err != nil {
			return err
		}
		r.result.Swept += swept
	}
	if err := r.end(ctx, todo); err != nil || r.result.Outcome != "finished" || !open.Now {
		return err
	}
	purged, err := run(scan(ctx), deleteActs.PurgeDelete, todo)
	r.result.Purged += purged
	return err
}

// end cancels what runs until Postgres says that nothing older than the accept is in flight.
func (r *deleteRun) end(ctx workflow.Context, todo activities.DeleteStepInput) error {
	for {
		cancelled, err := run(scan(ctx), deleteActs.CancelSyncs, todo)
		if err != nil {
			return err
		}
		r.result.Cancelled += cancelled.Cancelled
		r.result.Terminated += cancelled.Terminated
		if r.result.Outcome, err = run(database(ctx), deleteActs.FinishDelete, todo); err != nil || r.result.Outcome != "in_flight" {
			return err
		}
		if err := workflow.Sleep(ctx, time.Second); err != nil {
			return err
		}
		if workflow.GetInfo(ctx).GetContinueAsNewSuggested() {
			return r.again()
		}
	}
}
