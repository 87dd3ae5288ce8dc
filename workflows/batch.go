package workflows

import (
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"github.com/loresync/loresync/activities"
	"github.com/loresync/loresync/internal/knowledge"
)

// SyncAllInput says what started the batch.
type SyncAllInput struct {
	Trigger string
}

// SyncAllResult sums the folder syncs of the batch.
type SyncAllResult struct {
	Status  knowledge.RunStatus
	Folders int
	Counts  knowledge.Counts
}

var batchActs *activities.BatchActivities

// SyncAllWorkflow starts one full sync per active folder and waits for all of them.
//
//   - When it ends, each folder that was active had a full sync that began to list after this run began.
//   - Its ID is all/sync: the daily Schedule, the CLI and the console meet there.
//   - No signals; continue-as-new is not needed, since waiting costs one activity in ten minutes.
//   - A cancel ends the waiting; the folder syncs go on.
//   - A folder sync that fails or is cancelled makes it partial.
func SyncAllWorkflow(ctx workflow.Context, in SyncAllInput) (SyncAllResult, error) {
	info := workflow.GetInfo(ctx)
	closing := activities.FinishAllInput{WorkflowID: info.WorkflowExecution.ID, FirstRunID: info.FirstRunID}
	result, err := syncAll(ctx, in, closing)
	closing.Status, closing.Counts = result.Status, result.Counts
	switch {
	case err == nil: // also when a cancel came too late to matter
	case temporal.IsCanceledError(err) || ctx.Err() != nil:
		closing.Status, closing.Reason = knowledge.RunCancelled, "cancelled; the folder syncs go on"
	default:
		closing.Status, closing.Reason = knowledge.RunFailed, "the batch could not go on ("+failureType(err)+"): start it again"
	}
	if _, closeErr := run(database(cleanup(ctx)), batchActs.FinishAll, closing); closeErr != nil && err == nil {
		err = closeErr
	}
	return result, err
}

func syncAll(ctx workflow.Context, in SyncAllInput, self activities.FinishAllInput) (SyncAllResult, error) {
	started, err := run(scan(ctx), batchActs.StartFolders, activities.StartFoldersInput{
		WorkflowID: self.WorkflowID, FirstRunID: self.FirstRunID, Trigger: in.Trigger,
	})
	result := SyncAllResult{Folders: len(started.WorkflowIDs), Status: knowledge.RunFailed}
	if err != nil {
		return result, err
	}
	for {
		awaited, err := run(scan(ctx), batchActs.AwaitFolders, activities.AwaitFoldersInput(started))
		if err != nil {
			return result, err
		}
		if awaited.Ended {
			result.Status, result.Counts = awaited.Status, awaited.Counts
			return result, nil
		}
	}
}

// DailyInput is empty; it is a struct so that fields can be added.
type DailyInput struct{}

// DailyWorkflow is what the daily Schedule runs. A Schedule appends a timestamp to its Workflow ID and sees only runs of its
// own, so this is thin: it starts all/sync, or joins it, and ends. It carries nothing over, a cancel does nothing, and it
// fails only when Temporal can't be asked.
func DailyWorkflow(ctx workflow.Context, _ DailyInput) (string, error) {
	return run(database(ctx), batchActs.StartBatch, activities.StartBatchInput{Trigger: "schedule"})
}
