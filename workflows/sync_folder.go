package workflows

import (
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"github.com/loresync/loresync/activities"
	"github.com/loresync/loresync/internal/knowledge"
)

// SyncFolderInput names the folder. The mode (full, incremental, dry run) stands on the run's row, where a joiner may raise it
// until the listing begins.
type SyncFolderInput struct {
	FolderID string
	// Carried is set by continue-as-new.
	Carried *FolderProgress
}

// FolderProgress is what survives a continue-as-new.
type FolderProgress struct {
	FirstRunID string
	Listing    activities.ListFolderResult
}

// SyncFolderResult is what people are told of a folder sync.
type SyncFolderResult struct {
	Status knowledge.RunStatus
	Reason string
	Counts knowledge.Counts
}

var (
	folderActs    *activities.FolderActivities
	reconcileActs *activities.ReconcileActivities
)

// SyncFolderWorkflow lists a folder, has its new and changed pages read, and judges what vanished.
//
//   - When it ends, each listed page was read after the listing saw it, or stands among the run's failed pages with a class;
//     pages that two complete listings did not see are removed or held; the run's row has its counts.
//   - Its ID is folder/{folderId}/sync/{uniqueId}. control starts it, after it recorded the run; a request that finds a run that
//     has not begun to list joins it.
//   - No signals, queries or updates: progress is read from Postgres.
//   - Continue-as-new carries over the listing, and where it was. The first run's id stays the run's name.
//   - A cancel ends the waiting, not the page syncs, which other runs may wait for; the run is closed as cancelled in a
//     disconnected context.
//   - A folder that is deleted, paused or re-scoped meanwhile ends it as refused. Failures of pages make it partial; a root that
//     is missing, and failures of the steps themselves, fail it with a reason.
func SyncFolderWorkflow(ctx workflow.Context, in SyncFolderInput) (SyncFolderResult, error) {
	info := workflow.GetInfo(ctx)
	r := &folderRun{in: in, workflowID: info.WorkflowExecution.ID, firstRunID: info.FirstRunID}
	if in.Carried != nil {
		r.firstRunID, r.listing = in.Carried.FirstRunID, in.Carried.Listing
	}
	err := r.run(ctx)
	if workflow.IsContinueAsNewError(err) {
		return SyncFolderResult{}, err
	}
	return r.end(ctx, err)
}

type folderRun struct {
	in         SyncFolderInput
	workflowID string
	firstRunID string
	listing    activities.ListFolderResult
	refused    string
}

func (r *folderRun) run(ctx workflow.Context) error {
	if r.in.Carried == nil {
		if err := r.list(ctx); err != nil || r.refused != "" || r.listing.Mode == knowledge.ModeDryRun {
			return err
		}
	}
	if err := r.settle(ctx); err != nil || r.refused != "" {
		return err
	}
	_, err := run(scan(ctx), reconcileActs.ReconcileVanished, activities.ReconcileInput{FolderID: r.in.FolderID, ListingID: r.listing.ListingID})
	return err
}

func (r *folderRun) list(ctx workflow.Context) error {
	listing, err := run(scan(ctx), folderActs.ListFolder, activities.ListFolderInput{
		FolderID: r.in.FolderID, WorkflowID: r.workflowID, FirstRunID: r.firstRunID,
	})
	r.listing, r.refused = listing, listing.Refused
	return err
}

// settle has the window of page syncs worked off, activity by activity, and continues as new when its history has grown.
func (r *folderRun) settle(ctx workflow.Context) error {
	for {
		settled, err := run(scan(ctx), folderActs.SettlePages, activities.SettlePagesInput{
			FolderID: r.in.FolderID, ListingID: r.listing.ListingID, Lane: laneOf(r.listing.Mode), Window: r.listing.Window,
		})
		switch {
		case err != nil:
			return err
		case settled.Stopped:
			r.refused = "stopped"
			return nil
		case !settled.More:
			return nil
		case workflow.GetInfo(ctx).GetContinueAsNewSuggested():
			next := SyncFolderInput{FolderID: r.in.FolderID, Carried: &FolderProgress{FirstRunID: r.firstRunID, Listing: r.listing}}
			return workflow.NewContinueAsNewError(ctx, SyncFolderWorkflow, next)
		}
	}
}

// laneOf gives the lane of a folder sync's page requests.
func laneOf(mode knowledge.Mode) knowledge.Lane {
	if mode == knowledge.ModeFull {
		return knowledge.LaneBackfill
	}
	return knowledge.LaneIncremental
}

// end closes the run whatever ended it, in a context that no cancellation reaches.
func (r *folderRun) end(ctx workflow.Context, cause error) (SyncFolderResult, error) {
	in := activities.FinishRunInput{
		FolderID: r.in.FolderID, WorkflowID: r.workflowID, FirstRunID: r.firstRunID, ListingID: r.listing.ListingID, Mode: r.listing.Mode,
		Checkpoint: r.listing.Checkpoint,
	}
	cancelled := temporal.IsCanceledError(cause) || ctx.Err() != nil
	switch {
	case cancelled:
		in.Status, in.Reason = knowledge.RunCancelled, "cancelled"
	case cause != nil:
		in.Status, in.Reason = knowledge.RunFailed, failedSentence(cause)
	case r.refused != "":
		in.Status, in.Reason = knowledge.RunRefused, refusalSentence(r.refused)
	}
	closing := ctx
	if cancelled {
		closing = cleanup(ctx)
	}
	finished, err := run(database(closing), folderActs.FinishRun, in)
	switch {
	case cancelled:
		return SyncFolderResult(finished), temporal.NewCanceledError()
	case cause != nil:
		return SyncFolderResult(finished), cause
	}
	return SyncFolderResult(finished), err
}

// failedSentence says what keeps a sync from going on, and what to do. That of refused credentials is not to start it again.
func failedSentence(cause error) string {
	kind := failureType(cause)
	if kind == activities.FailureUnauthorized {
		return "the sync could not go on (" + kind + "): the source refused the credentials, so the connection is paused; " +
			"`starter connection list` says what to mend; it is checked every minute, and its folders are synced once it is good"
	}
	return "the sync could not go on (" + kind + "): start it again; the worker's log has the cause"
}

func refusalSentence(refused string) string {
	switch refused {
	case "folder_unknown":
		return "there is no such folder"
	case "folder_deleted":
		return "the folder was deleted"
	case "paused":
		return "the folder, or its connection, is paused"
	}
	return "the folder was deleted, paused or re-scoped during the sync"
}
