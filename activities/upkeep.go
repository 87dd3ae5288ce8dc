package activities

import (
	"context"
	"errors"
	"time"

	"go.temporal.io/sdk/activity"

	"github.com/loresync/loresync/internal/knowledge"
)

// UpkeepStore is what the janitor and the due reads ask of the store.
type UpkeepStore interface {
	UnfinishedDeletes(ctx context.Context, olderThan time.Duration) ([]knowledge.OpenDelete, error)
	HalfRestored(ctx context.Context) ([]knowledge.OpenDelete, error)
	RestoreSwept(ctx context.Context, deleteID int64, bound int) (int, error)
	FoldersToPurge(ctx context.Context) ([]string, error)
	PurgeFolder(ctx context.Context, folder string, bound int) (int, error)
	PurgePages(ctx context.Context, deleteID int64, bound int) (int, error)
	OldFlights(ctx context.Context, olderThan time.Duration) ([]knowledge.Flight, error)
	DropAttempt(ctx context.Context, h knowledge.Holder) (bool, error)
	RunningRuns(ctx context.Context, olderThan time.Duration) ([]knowledge.Run, error)
	FinishRun(ctx context.Context, r knowledge.FinishedRun) error
	DropLeftovers(ctx context.Context) (int64, error)
	DropOrphanEmbeddings(ctx context.Context, bound int) (int64, error)
	ApplyRetention(ctx context.Context) (int64, error)
	TakeDueReads(ctx context.Context, bound int) ([]knowledge.DueRead, error)
	DueFolders(ctx context.Context) ([]string, error)
	RefusedConnections(ctx context.Context) ([]knowledge.RefusedConnection, error)
	FoldersOf(ctx context.Context, connection string) ([]string, error)
	PauseConnection(ctx context.Context, name string, paused bool, reason, actor string) (bool, error)
}

// UpkeepActivities remove what dead processes left, start what they did not, and turn due times into requests.
type UpkeepActivities struct {
	Store      UpkeepStore
	Sources    Sources
	Starter    Starter
	Executions Executions
	Timeouts   Timeouts
	// Watches keep the push channels of sources that can call back; nil keeps none.
	Watches *Watches
}

// TidyInput is empty; it is a struct so that fields can be added.
type TidyInput struct{}

// TidyResult counts what the janitor found.
type TidyResult struct {
	DeletesStarted, Restored, Purged, AttemptsDropped, RunsClosed int
	RowsDropped                                                   int64
}

// deleteGrace is how long a delete may be without its workflow before the janitor starts it.
const deleteGrace = 10 * time.Second

// Tidy goes once through everything that a crash may have left behind. Each step is a bounded transaction, safe during syncs
// and beside another janitor; a step that fails doesn't keep the others from running.
func (a *UpkeepActivities) Tidy(ctx context.Context, _ TidyInput) (TidyResult, error) {
	var result TidyResult
	steps := []func(context.Context, *TidyResult) error{
		a.startDeletes, a.finishRestores, a.purge, a.dropAttempts, a.closeRuns, a.dropRows,
	}
	failures := make([]error, len(steps))
	for i, step := range steps {
		activity.RecordHeartbeat(ctx)
		failures[i] = step(ctx, &result)
	}
	return result, errors.Join(failures...)
}

func (a *UpkeepActivities) startDeletes(ctx context.Context, result *TidyResult) error {
	open, err := a.Store.UnfinishedDeletes(ctx, deleteGrace)
	if err != nil {
		return err
	}
	for _, del := range open {
		run, exists, err := a.Executions.Describe(ctx, del.WorkflowID)
		if err != nil {
			return err
		}
		if exists && run.Running {
			continue
		}
		if err := a.Starter.StartDelete(ctx, del); err != nil {
			return err
		}
		result.DeletesStarted++
	}
	return nil
}

func (a *UpkeepActivities) finishRestores(ctx context.Context, result *TidyResult) error {
	half, err := a.Store.HalfRestored(ctx)
	if err != nil {
		return err
	}
	for _, del := range half {
		if err := repeat(ctx, &result.Restored, func() (int, error) { return a.Store.RestoreSwept(ctx, del.DeleteID, lockBatch) }); err != nil {
			return err
		}
	}
	return nil
}

func (a *UpkeepActivities) purge(ctx context.Context, result *TidyResult) error {
	if err := repeat(ctx, &result.Purged, func() (int, error) { return a.Store.PurgePages(ctx, 0, lockBatch) }); err != nil {
		return err
	}
	folders, err := a.Store.FoldersToPurge(ctx)
	if err != nil {
		return err
	}
	for _, folder := range folders {
		if err := repeat(ctx, &result.Purged, func() (int, error) { return a.Store.PurgeFolder(ctx, folder, lockBatch) }); err != nil {
			return err
		}
	}
	return nil
}

// repeat runs a bounded step until it has nothing to do, and adds up what it did.
func repeat(ctx context.Context, sum *int, step func() (int, error)) error {
	for {
		activity.RecordHeartbeat(ctx)
		n, err := step()
		if err != nil || n <= 0 {
			return err
		}
		*sum += n
	}
}

// dropAttempts removes in-flight rows whose workflow no longer runs: it was terminated, or its cleanup could not reach
// Postgres.
func (a *UpkeepActivities) dropAttempts(ctx context.Context, result *TidyResult) error {
	flights, err := a.Store.OldFlights(ctx, a.Timeouts.Abandoned)
	if err != nil {
		return err
	}
	for _, f := range flights {
		activity.RecordHeartbeat(ctx)
		run, exists, err := a.Executions.Describe(ctx, f.WorkflowID)
		if err != nil {
			return err
		}
		if exists && run.Running && run.RunID == f.RunID {
			continue
		}
		dropped, err := a.Store.DropAttempt(ctx, f.Holder())
		if err != nil {
			return err
		}
		if dropped {
			result.AttemptsDropped++
		}
	}
	return nil
}

// closeRuns ends runs whose workflow is gone, so that nobody waits for a run that nothing runs.
func (a *UpkeepActivities) closeRuns(ctx context.Context, result *TidyResult) error {
	runs, err := a.Store.RunningRuns(ctx, a.Timeouts.Abandoned)
	if err != nil {
		return err
	}
	for _, r := range runs {
		activity.RecordHeartbeat(ctx)
		run, exists, err := a.Executions.Describe(ctx, r.WorkflowID)
		if err != nil {
			return err
		}
		if exists && run.Running {
			continue
		}
		if err := a.Store.FinishRun(ctx, knowledge.FinishedRun{
			WorkflowID: r.WorkflowID, Folder: r.FolderID, Kind: r.Kind, Status: knowledge.RunFailed,
			Reason: "its workflow ended without closing the run (terminated, or lost): start another sync", Counts: r.Counts,
		}); err != nil {
			return err
		}
		result.RunsClosed++
	}
	return nil
}

func (a *UpkeepActivities) dropRows(ctx context.Context, result *TidyResult) error {
	for _, step := range []func(context.Context) (int64, error){
		a.Store.DropLeftovers, a.Store.ApplyRetention,
		func(ctx context.Context) (int64, error) { return a.Store.DropOrphanEmbeddings(ctx, 10*lockBatch) },
	} {
		activity.RecordHeartbeat(ctx)
		n, err := step(ctx)
		if err != nil {
			return err
		}
		result.RowsDropped += n
	}
	return nil
}

// RequestDueInput is empty; it is a struct so that fields can be added.
type RequestDueInput struct{}

// RequestDueResult counts what was asked for.
type RequestDueResult struct {
	Pages, Folders, Deletes, Resumed int
	// Watched and Unwatched are push channels that were opened and closed.
	Watched, Unwatched int
}

// RequestDue starts deletes that were accepted without their workflow, and asks for the pages whose time has come and for the
// folders whose interval is over. What it asked for is due
// again later, so that a lost request comes back by itself. Last it looks after the push channels, whose trouble fails nothing.
func (a *UpkeepActivities) RequestDue(ctx context.Context, _ RequestDueInput) (RequestDueResult, error) {
	var result RequestDueResult
	var tidied TidyResult
	// A delete that could not be started is looked after every minute, not only when the janitor comes.
	if err := a.startDeletes(ctx, &tidied); err != nil {
		return result, err
	}
	result.Deletes = tidied.DeletesStarted
	if err := a.resumeConnections(ctx, &result); err != nil {
		return result, err
	}
	due, err := a.Store.TakeDueReads(ctx, lockBatch)
	if err != nil {
		return result, err
	}
	for _, read := range due {
		activity.RecordHeartbeat(ctx, result.Pages)
		if err := a.Starter.RequestPageSync(ctx, read.FolderID, read.PageID, knowledge.LaneIncremental); err != nil {
			return result, err
		}
		result.Pages++
	}
	folders, err := a.Store.DueFolders(ctx)
	if err != nil {
		return result, err
	}
	for _, folder := range folders {
		activity.RecordHeartbeat(ctx, folder)
		if _, err := a.Starter.RequestFolderSync(ctx, folder, knowledge.ModeIncremental, "due"); err != nil {
			return result, err
		}
		result.Folders++
	}
	a.keepWatches(ctx, &result)
	return result, nil
}

func (a *UpkeepActivities) keepWatches(ctx context.Context, result *RequestDueResult) {
	if a.Watches == nil {
		return
	}
	defer beat(ctx)() // sources may take their time
	kept, err := a.Watches.Keep(ctx)
	result.Folders += kept.FolderSyncs
	if result.Watched, result.Unwatched = kept.Opened, kept.Stopped; err != nil {
		activity.GetLogger(ctx).Warn("the push channels could not be looked after; the next look is in a minute", "error", err)
	}
}

// resumeConnections checks the connections whose credentials were refused, and resumes those that work again. One check of one
// root tells; an error of any kind leaves the connection as it is.
func (a *UpkeepActivities) resumeConnections(ctx context.Context, result *RequestDueResult) error {
	refused, err := a.Store.RefusedConnections(ctx)
	if err != nil {
		return err
	}
	for _, c := range refused {
		activity.RecordHeartbeat(ctx, c.Name)
		src, err := a.Sources.Source(ctx, c.Source, c.Name)
		if err != nil {
			continue // its secret is still missing
		}
		root, err := rootOf(c.FolderID, c.Root, c.Limits)
		if err != nil || src.Check(ctx, root) != nil {
			continue
		}
		if _, err := a.Store.PauseConnection(ctx, c.Name, false, "", "loresync"); err != nil {
			return err
		}
		result.Resumed++
		if err := a.catchUp(ctx, c.Name, result); err != nil {
			return err
		}
	}
	return nil
}

// catchUp asks for what happened while a connection was paused: webhooks went by, and the next sync may be an interval away.
func (a *UpkeepActivities) catchUp(ctx context.Context, connection string, result *RequestDueResult) error {
	folders, err := a.Store.FoldersOf(ctx, connection)
	if err != nil {
		return err
	}
	for _, folder := range folders {
		activity.RecordHeartbeat(ctx, folder)
		if _, err := a.Starter.RequestFolderSync(ctx, folder, knowledge.ModeIncremental, "resume"); err != nil {
			return err
		}
		result.Folders++
	}
	return nil
}
