package activities

import (
	"context"
	"time"

	"go.temporal.io/sdk/activity"

	"github.com/loresync/loresync/internal/knowledge"
	"github.com/loresync/loresync/internal/pause"
)

// BatchStore is what the sync of all folders asks of the store.
type BatchStore interface {
	BeginAllRun(ctx context.Context, workflowID, firstRunID, trigger string) error
	ActiveFolders(ctx context.Context) ([]string, error)
	RunsByWorkflow(ctx context.Context, workflowIDs []string) ([]knowledge.Run, error)
	FinishRun(ctx context.Context, r knowledge.FinishedRun) error
}

// BatchActivities sync all folders.
type BatchActivities struct {
	Store   BatchStore
	Starter Starter
}

// StartFoldersInput names the run of the batch.
type StartFoldersInput struct {
	WorkflowID string
	FirstRunID string
	Trigger    string
}

// StartFoldersResult names the folder syncs that the batch started or joined.
type StartFoldersResult struct {
	WorkflowIDs []string
}

// StartFolders starts one full sync per active folder, or joins the one that waits to list. A second run joins what the first
// one started, or starts another sync of the folder: both are harmless.
func (a *BatchActivities) StartFolders(ctx context.Context, in StartFoldersInput) (StartFoldersResult, error) {
	if err := a.Store.BeginAllRun(ctx, in.WorkflowID, in.FirstRunID, in.Trigger); err != nil {
		return StartFoldersResult{}, err
	}
	folders, err := a.Store.ActiveFolders(ctx)
	if err != nil {
		return StartFoldersResult{}, err
	}
	var result StartFoldersResult
	for _, folder := range folders {
		activity.RecordHeartbeat(ctx, folder)
		workflowID, err := a.Starter.RequestFolderSync(ctx, folder, knowledge.ModeFull, "batch")
		if err != nil {
			return result, err
		}
		if workflowID != "" {
			result.WorkflowIDs = append(result.WorkflowIDs, workflowID)
		}
	}
	return result, nil
}

// AwaitFoldersInput names the folder syncs to wait for.
type AwaitFoldersInput struct {
	WorkflowIDs []string
}

// AwaitFoldersResult says whether all have ended.
type AwaitFoldersResult struct {
	Ended  bool
	Status knowledge.RunStatus
	Counts knowledge.Counts
}

const (
	awaitTick = time.Second
	awaitTime = 10 * time.Minute
)

// AwaitFolders waits until folder syncs have ended, at most ten minutes, with heartbeats.
func (a *BatchActivities) AwaitFolders(ctx context.Context, in AwaitFoldersInput) (AwaitFoldersResult, error) {
	for begun := time.Now(); ; {
		activity.RecordHeartbeat(ctx)
		runs, err := a.Store.RunsByWorkflow(ctx, in.WorkflowIDs)
		if err != nil {
			return AwaitFoldersResult{}, err
		}
		result := sumRuns(runs)
		if result.Ended || time.Since(begun) > awaitTime {
			return result, nil
		}
		if err := pause.For(ctx, awaitTick); err != nil {
			return result, err
		}
	}
}

func sumRuns(runs []knowledge.Run) AwaitFoldersResult {
	result := AwaitFoldersResult{Ended: true, Status: knowledge.RunCompleted}
	for _, run := range runs {
		result.Counts = result.Counts.Add(run.Counts)
		switch run.Status {
		case knowledge.RunRunning:
			result.Ended = false
		case knowledge.RunPartial, knowledge.RunFailed, knowledge.RunCancelled:
			result.Status = knowledge.RunPartial
		case knowledge.RunCompleted, knowledge.RunRefused:
		}
	}
	return result
}

// FinishAllInput says how the batch ended.
type FinishAllInput struct {
	WorkflowID string
	FirstRunID string
	Status     knowledge.RunStatus
	Reason     string
	Counts     knowledge.Counts
}

// FinishAllResult is empty; it is a struct so that fields can be added.
type FinishAllResult struct{}

// FinishAll closes the batch's run. A run that is closed already stays as it is.
func (a *BatchActivities) FinishAll(ctx context.Context, in FinishAllInput) (FinishAllResult, error) {
	return FinishAllResult{}, a.Store.FinishRun(ctx, knowledge.FinishedRun{
		WorkflowID: in.WorkflowID, FirstRunID: in.FirstRunID, Kind: "all", Status: in.Status, Reason: in.Reason, Counts: in.Counts,
	})
}

// StartBatchInput says what started the batch.
type StartBatchInput struct {
	Trigger string
}

// StartBatch starts the sync of all folders, or joins the running one: the Schedule's own workflow has another ID each day.
func (a *BatchActivities) StartBatch(ctx context.Context, in StartBatchInput) (string, error) {
	return a.Starter.StartSyncAll(ctx, in.Trigger)
}
