package activities

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/loresync/loresync/internal/knowledge"
	"github.com/loresync/loresync/internal/source"
)

// FolderStore is what folder syncs ask of the store.
type FolderStore interface {
	TreeStore
	CheckpointStore
	BeginListing(ctx context.Context, workflowID, folder, firstRunID string) (knowledge.Listing, error)
	MakeListingFull(ctx context.Context, listingID int64) error
	StageBatch(ctx context.Context, listingID int64, batchNo int, batch source.Batch, stableIDs bool) (bool, error)
	CompleteListing(ctx context.Context, listingID int64, verdict source.Verdict, sentence string) (source.Verdict, error)
	VanishedFingerprints(ctx context.Context, listingID int64) ([]knowledge.Vanished, error)
	NewSourceIDs(ctx context.Context, listingID int64) ([]string, error)
	ApplyRename(ctx context.Context, listingID int64, oldSourceID, newSourceID string, fingerprint []byte) (string, error)
	RegisterEntries(ctx context.Context, listingID int64, bound int) (int, error)
	SettleEntries(ctx context.Context, listingID int64) (knowledge.Window, error)
	TakeOpen(ctx context.Context, listingID int64, n int) ([]knowledge.Ask, error)
	OverdueAsks(ctx context.Context, listingID int64, after time.Duration) ([]knowledge.Ask, error)
	ReopenAsk(ctx context.Context, listingID int64, page string, maxAsks int) error
	ListingMayGoOn(ctx context.Context, listingID int64) (bool, error)
	CountListing(ctx context.Context, listingID int64) (knowledge.Counted, error)
	WouldRemove(ctx context.Context, listingID int64) (int64, error)
	FinishRun(ctx context.Context, r knowledge.FinishedRun) error
}

// TreeStore is what folder syncs ask of the store about trees that are known only by reading, and about how fast that may be.
type TreeStore interface {
	// Pace is how many requests a second a connection may send; fallback where nothing was set.
	Pace(ctx context.Context, connection string, fallback float64) (float64, error)
	KnownParents(ctx context.Context, folder string) (map[string]string, error)
	CountKnownEdges(ctx context.Context, listingID int64) (int, error)
	RecordCoverage(ctx context.Context, workflowID string, listingID int64) error
}

// CheckpointStore is what folder syncs ask of the store about what a listing leaves to later steps: where the next incremental one
// starts, and notes for reads.
type CheckpointStore interface {
	NoteStore
	NoteCheckpoint(ctx context.Context, listingID int64, checkpoint string) error
	RememberListing(ctx context.Context, listingID int64, checkpoint string) error
}

// PageExecutions tells whether the workflow of a page runs.
type PageExecutions interface {
	PageSyncRuns(ctx context.Context, folder, page string) (bool, error)
}

// FolderActivities list a folder, have its pages synced, and finish the run.
type FolderActivities struct {
	Store    FolderStore
	Sources  Sources
	Starter  Starter
	Runs     PageExecutions
	Timeouts Timeouts
}

// FinishRunInput says how a folder sync ended.
type FinishRunInput struct {
	FolderID   string
	WorkflowID string
	FirstRunID string
	ListingID  int64
	Mode       knowledge.Mode
	Checkpoint string
	// Status overrides what the counts say: cancelled, failed or refused; with a reason.
	Status knowledge.RunStatus
	Reason string
}

// FinishRunResult is what people are told.
type FinishRunResult struct {
	Status knowledge.RunStatus
	Reason string
	Counts knowledge.Counts
}

// FinishRun counts what the run did, keeps its checkpoint when it covers what it should, and closes the run. A run that is
// closed already stays as it is.
func (a *FolderActivities) FinishRun(ctx context.Context, in FinishRunInput) (FinishRunResult, error) {
	result := FinishRunResult{Status: in.Status, Reason: in.Reason}
	verdict := ""
	if in.ListingID != 0 {
		counted, err := a.Store.CountListing(ctx, in.ListingID)
		switch {
		case errors.Is(err, knowledge.ErrNotFound):
			// A purge of the folder took its listings along.
			if in.Status == "" {
				result.Status, result.Reason = knowledge.RunRefused, "the folder was deleted"
			}
		case err != nil:
			return result, err
		default:
			result.Counts, verdict = counted.Counts, counted.Verdict
			if in.Status == "" {
				result.Status, result.Reason = judge(counted)
			}
			if err := a.close(ctx, in, &result); err != nil {
				return result, err
			}
		}
	}
	return result, a.Store.FinishRun(ctx, knowledge.FinishedRun{
		WorkflowID: in.WorkflowID, FirstRunID: in.FirstRunID, Folder: in.FolderID, Kind: "folder", Status: result.Status, Reason: result.Reason,
		Verdict: verdict, Counts: result.Counts,
	})
}

// close keeps the checkpoint of a run that succeeded, or counts what a dry run would remove.
func (a *FolderActivities) close(ctx context.Context, in FinishRunInput, result *FinishRunResult) error {
	switch {
	case in.Mode == knowledge.ModeDryRun:
		removed, err := a.Store.WouldRemove(ctx, in.ListingID)
		result.Counts.Removed = removed
		return err
	case result.Status == knowledge.RunCompleted || result.Status == knowledge.RunPartial:
		if err := a.Store.RecordCoverage(ctx, in.WorkflowID, in.ListingID); err != nil {
			return err
		}
		return a.Store.RememberListing(ctx, in.ListingID, in.Checkpoint)
	}
	return nil
}

// judge gives the status of a run that went to its end.
func judge(counted knowledge.Counted) (knowledge.RunStatus, string) {
	switch source.Verdict(counted.Verdict) {
	case source.VerdictComplete:
		if counted.Failed > 0 {
			return knowledge.RunPartial, fmt.Sprintf("%d of %d pages failed", counted.Failed, counted.Listed)
		}
		return knowledge.RunCompleted, ""
	case source.VerdictRootMissing, source.VerdictRootUnreadable:
		return knowledge.RunFailed, counted.Sentence
	case source.VerdictPartUnreadable, source.VerdictCapped, source.VerdictIncompleteCount:
	}
	return knowledge.RunPartial, counted.Sentence
}
