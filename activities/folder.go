package activities

import (
	"context"
	"errors"
	"fmt"
	"time"

	"go.temporal.io/sdk/activity"
	"golang.org/x/sync/errgroup"

	"github.com/loresync/loresync/internal/knowledge"
	"github.com/loresync/loresync/internal/pause"
	"github.com/loresync/loresync/internal/source"
)

// FolderStore is what folder syncs ask of the store.
type FolderStore interface {
	BeginListing(ctx context.Context, workflowID, folder, firstRunID string) (knowledge.Listing, error)
	MakeListingFull(ctx context.Context, listingID int64) error
	StageBatch(ctx context.Context, listingID int64, batchNo int, batch source.Batch, stableIDs bool) (bool, error)
	CompleteListing(ctx context.Context, listingID int64, verdict source.Verdict, sentence string) (source.Verdict, error)
	VanishedFingerprints(ctx context.Context, listingID int64) ([]knowledge.Vanished, error)
	NewSourceIDs(ctx context.Context, listingID int64) ([]string, error)
	ApplyRename(ctx context.Context, listingID int64, oldSourceID, newSourceID string) (string, error)
	RegisterEntries(ctx context.Context, listingID int64, bound int) (int, error)
	SettleEntries(ctx context.Context, listingID int64) (knowledge.Window, error)
	TakeOpen(ctx context.Context, listingID int64, n int) ([]knowledge.Ask, error)
	OverdueAsks(ctx context.Context, listingID int64, after time.Duration) ([]knowledge.Ask, error)
	ReopenAsk(ctx context.Context, listingID int64, page string, maxAsks int) error
	ListingMayGoOn(ctx context.Context, listingID int64) (bool, error)
	CountListing(ctx context.Context, listingID int64) (knowledge.Counted, error)
	WouldRemove(ctx context.Context, listingID int64) (int64, error)
	RememberListing(ctx context.Context, listingID int64, checkpoint string) error
	FinishRun(ctx context.Context, r knowledge.FinishedRun) error
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

// ListFolderInput names the run of a folder sync.
type ListFolderInput struct {
	FolderID   string
	WorkflowID string
	FirstRunID string
}

// ListFolderResult is how a listing ended, in ids and counts.
type ListFolderResult struct {
	// Refused is why the folder isn't listed: folder_unknown, folder_deleted, paused; empty when it was.
	Refused    string
	ListingID  int64
	Mode       knowledge.Mode
	Verdict    source.Verdict
	Checkpoint string
	// Window is how many page syncs may be under way for this run at once.
	Window int
}

const (
	// A transaction that holds page locks takes at most this many pages.
	lockBatch = 500
	// Page syncs of a source on this machine under way at once: enough to keep every worker busy, few enough that a delete
	// of the folder has little to wait for.
	localWindow = 64
	// What a remote source's budget can use in five seconds, at least four.
	remoteWindow = 14
)

// ListFolder enumerates the folder and compares it with what is known. It resumes after the last stored batch, and heartbeats
// per batch. A folder that is deleted or paused meanwhile ends it with a refusal.
func (a *FolderActivities) ListFolder(ctx context.Context, in ListFolderInput) (ListFolderResult, error) {
	listing, err := a.Store.BeginListing(ctx, in.WorkflowID, in.FolderID, in.FirstRunID)
	if err != nil {
		return ListFolderResult{}, err
	}
	if listing.Outcome != "begun" {
		return ListFolderResult{Refused: listing.Outcome}, nil
	}
	src, err := a.Sources.Source(ctx, listing.Source, listing.Connection)
	if err != nil {
		return ListFolderResult{}, err
	}
	root, err := rootOf(in.FolderID, listing.Root, listing.Limits)
	if err != nil {
		return ListFolderResult{}, err
	}
	result := ListFolderResult{ListingID: listing.ListingID, Window: windowOf(src)}
	if result.Mode, err = a.modeOf(ctx, src, listing); err != nil {
		return result, err
	}
	if !listing.Completed {
		if result.Refused, err = a.list(ctx, src, root, listing, &result.Checkpoint); err != nil || result.Refused != "" {
			return result, err
		}
	}
	return a.compare(ctx, src, root, result)
}

func windowOf(src source.Source) int {
	if src.Traits().Remote {
		return remoteWindow
	}
	return localWindow
}

// modeOf makes a listing full where its source can't tell what changed, or nothing says since when.
func (a *FolderActivities) modeOf(ctx context.Context, src source.Source, listing knowledge.Listing) (knowledge.Mode, error) {
	if listing.Mode != knowledge.ModeIncremental || src.Traits().Incremental && listing.Checkpoint != "" {
		return listing.Mode, nil
	}
	return knowledge.ModeFull, a.Store.MakeListingFull(ctx, listing.ListingID)
}

// compare takes the listing's verdict and gives pages to what it saw, renamed ones first. A dry run ends with the verdict.
func (a *FolderActivities) compare(ctx context.Context, src source.Source, root source.Root, result ListFolderResult) (ListFolderResult, error) {
	var err error
	if result.Verdict, err = a.Store.CompleteListing(ctx, result.ListingID, "", ""); err != nil || result.Mode == knowledge.ModeDryRun {
		return result, err
	}
	if result.Verdict == source.VerdictComplete && !src.Traits().StableIDs {
		if err := a.recogniseRenames(ctx, src, root, result.ListingID); err != nil {
			return result, err
		}
	}
	return a.register(ctx, result)
}

// errStopped ends a listing whose folder is no longer the active one it began with.
var errStopped = errors.New("the folder was deleted, paused or re-scoped")

func (a *FolderActivities) list(ctx context.Context, src source.Source, root source.Root, listing knowledge.Listing, checkpoint *string) (string, error) {
	batchNo := listing.NextBatch
	listed, err := src.List(ctx, root, listing.Cursor, func(batch source.Batch) error {
		activity.RecordHeartbeat(ctx, batchNo)
		goOn, err := a.Store.StageBatch(ctx, listing.ListingID, batchNo, batch, src.Traits().StableIDs)
		if err == nil && !goOn {
			err = errStopped
		}
		batchNo++
		return err
	})
	if errors.Is(err, errStopped) {
		return "stopped", nil
	}
	if err != nil {
		return "", err
	}
	*checkpoint = listed.Checkpoint
	_, err = a.Store.CompleteListing(ctx, listing.ListingID, listed.Verdict, listed.Sentence)
	return "", err
}

// register gives rows to what was listed, in bounded transactions.
func (a *FolderActivities) register(ctx context.Context, result ListFolderResult) (ListFolderResult, error) {
	for {
		activity.RecordHeartbeat(ctx)
		taken, err := a.Store.RegisterEntries(ctx, result.ListingID, lockBatch)
		switch {
		case err != nil || taken == 0:
			return result, err
		case taken < 0:
			result.Refused = "stopped"
			return result, nil
		}
	}
}

// recogniseRenames finds pages of sources without stable ids under their new names: exactly one vanished and one new page
// with the same content that isn't empty. Fingerprints are only taken when something vanished.
func (a *FolderActivities) recogniseRenames(ctx context.Context, src source.Source, root source.Root, listingID int64) error {
	printer, able := src.(source.Fingerprinter)
	if !able {
		return nil
	}
	vanished, err := a.Store.VanishedFingerprints(ctx, listingID)
	if err != nil || len(vanished) == 0 {
		return err
	}
	arrived, err := a.Store.NewSourceIDs(ctx, listingID)
	if err != nil {
		return err
	}
	prints := make(map[string][]byte, len(arrived))
	for _, sourceID := range arrived {
		activity.RecordHeartbeat(ctx)
		if prints[sourceID], err = printer.Fingerprint(ctx, root, sourceID); err != nil && ctx.Err() != nil {
			return ctx.Err()
		}
	}
	for _, move := range matchRenames(vanished, arrived, prints) {
		if _, err := a.Store.ApplyRename(ctx, listingID, move.from, move.to); err != nil {
			return err
		}
	}
	return nil
}

type rename struct{ from, to string }

// matchRenames pairs what vanished with what arrived where the content leaves no doubt.
func matchRenames(vanished []knowledge.Vanished, arrived []string, prints map[string][]byte) []rename {
	gone, here := map[string][]string{}, map[string][]string{}
	for _, v := range vanished {
		gone[string(v.Fingerprint)] = append(gone[string(v.Fingerprint)], v.SourceID)
	}
	for _, sourceID := range arrived {
		if content := prints[sourceID]; len(content) > 0 {
			here[string(content)] = append(here[string(content)], sourceID)
		}
	}
	var moves []rename
	for _, v := range vanished {
		from, to := gone[string(v.Fingerprint)], here[string(v.Fingerprint)]
		if len(from) == 1 && len(to) == 1 {
			moves = append(moves, rename{from: from[0], to: to[0]})
		}
	}
	return moves
}

// SettlePagesInput names the listing whose pages are to be read.
type SettlePagesInput struct {
	FolderID  string
	ListingID int64
	Lane      knowledge.Lane
	Window    int
}

// SettlePagesResult tells how the window ended.
type SettlePagesResult struct {
	// More is true when pages are left: the activity returns now and then to keep its attempts short.
	More bool
	// Stopped is true when the folder is no longer to be synced.
	Stopped bool
	Asked   int
}

const (
	settlePages = 500
	settleTime  = 10 * time.Minute
	settleTick  = 100 * time.Millisecond
	// A page is asked for once, and again at most twice when its sync ended without having read it after the listing.
	maxAsks = 3
	// Requests sent to Temporal at once.
	parallelStarts = 8
)

// SettlePages asks for a sync of each page that the listing found to read, a window at a time, and waits until each was read
// after the listing saw it. It starts with USE_EXISTING, so that duplicates join, and cancelling this run leaves a sync that
// another run waits for alone. It heartbeats at every look, and resumes without asking twice.
func (a *FolderActivities) SettlePages(ctx context.Context, in SettlePagesInput) (SettlePagesResult, error) {
	var result SettlePagesResult
	begun, checked := time.Now(), time.Time{}
	for {
		activity.RecordHeartbeat(ctx, result.Asked)
		if time.Since(checked) > time.Second {
			checked = time.Now()
			goOn, err := a.check(ctx, in)
			if err != nil || !goOn {
				result.Stopped = !goOn
				return result, err
			}
		}
		window, err := a.Store.SettleEntries(ctx, in.ListingID)
		if err != nil {
			return result, err
		}
		if !window.OpenLeft && window.Waiting == 0 {
			return result, nil
		}
		if result.Asked >= settlePages || time.Since(begun) > settleTime {
			result.More = true
			return result, nil
		}
		asked, err := a.ask(ctx, in, in.Window-int(window.Waiting))
		result.Asked += asked
		if err != nil {
			return result, err
		}
		if err := pause.For(ctx, settleTick); err != nil {
			return result, err
		}
	}
}

// check tells whether the run may go on, and looks after requests that nobody answers.
func (a *FolderActivities) check(ctx context.Context, in SettlePagesInput) (bool, error) {
	goOn, err := a.Store.ListingMayGoOn(ctx, in.ListingID)
	if err != nil || !goOn {
		return goOn, err
	}
	overdue, err := a.Store.OverdueAsks(ctx, in.ListingID, a.Timeouts.AskAgain)
	if err != nil {
		return true, err
	}
	for _, ask := range overdue {
		runs, err := a.Runs.PageSyncRuns(ctx, in.FolderID, ask.PageID)
		if err != nil {
			return true, err
		}
		if !runs {
			if err := a.Store.ReopenAsk(ctx, in.ListingID, ask.PageID, maxAsks); err != nil {
				return true, err
			}
		}
	}
	return true, nil
}

func (a *FolderActivities) ask(ctx context.Context, in SettlePagesInput, room int) (int, error) {
	if room <= 0 {
		return 0, nil
	}
	asks, err := a.Store.TakeOpen(ctx, in.ListingID, room)
	if err != nil {
		return 0, err
	}
	group, starting := errgroup.WithContext(ctx)
	group.SetLimit(parallelStarts)
	for _, ask := range asks {
		group.Go(func() error { return a.Starter.RequestPageSync(starting, in.FolderID, ask.PageID, in.Lane) })
	}
	return len(asks), group.Wait()
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
		if err != nil {
			return result, err
		}
		result.Counts, verdict = counted.Counts, counted.Verdict
		if in.Status == "" {
			result.Status, result.Reason = judge(counted)
		}
		if err := a.close(ctx, in, &result); err != nil {
			return result, err
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
