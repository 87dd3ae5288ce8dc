package activities

import (
	"context"
	"errors"
	"time"

	"go.temporal.io/sdk/activity"

	"github.com/loresync/loresync/internal/knowledge"
	"github.com/loresync/loresync/internal/pause"
	"github.com/loresync/loresync/internal/source"
	"github.com/loresync/loresync/internal/source/transport"
)

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
	// Page syncs of a remote source: what its budget can use in five seconds, at least four. More than twenty wait for Temporal
	// instead of for a slot where it is slower than the budget, and a person's page waits behind them.
	leastWindow, mostWindow = 4, 20
	windowsWorth            = 5 * time.Second
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
	root.Known = func(ctx context.Context) (map[string]string, error) { return a.Store.KnownParents(ctx, in.FolderID) }
	result := ListFolderResult{ListingID: listing.ListingID}
	if result.Window, err = a.windowOf(ctx, src, listing.Connection); err != nil {
		return result, err
	}
	if result.Mode, err = a.modeOf(ctx, src, listing); err != nil {
		return result, err
	}
	if result.Mode != knowledge.ModeDryRun {
		root.Notes = notes{store: a.Store, folder: in.FolderID, listingID: listing.ListingID}
	}
	ctx = transport.WithAttempt(ctx, transport.Attempt{Folder: in.FolderID, Lane: laneOf(result.Mode)})
	if !listing.Completed {
		if result.Refused, err = a.list(ctx, src, root, listing, &result); err != nil || result.Refused != "" {
			return result, err
		}
	}
	return a.compare(ctx, src, root, result)
}

// windowOf is how many page syncs may be under way at once.
func (a *FolderActivities) windowOf(ctx context.Context, src source.Source, connection string) (int, error) {
	if !src.Traits().Remote {
		return localWindow, nil
	}
	perSecond, err := a.Store.Pace(ctx, connection, transport.DefaultPerSecond)
	return remoteWindow(perSecond), err
}

func remoteWindow(perSecond float64) int {
	return int(min(max(perSecond*windowsWorth.Seconds(), leastWindow), mostWindow))
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

func (a *FolderActivities) list(ctx context.Context, src source.Source, root source.Root, listing knowledge.Listing, result *ListFolderResult) (string, error) {
	defer beat(ctx)()
	batchNo := listing.NextBatch
	listed, err := enumerate(ctx, src, root, listing, result.Mode, func(batch source.Batch) error {
		activity.RecordHeartbeat(ctx, batchNo)
		goOn, err := a.Store.StageBatch(ctx, listing.ListingID, batchNo, batch, src.Traits().StableIDs)
		if err == nil && !goOn {
			err = errStopped
		}
		batchNo++
		return err
	})
	var failure *source.Failure
	switch {
	case errors.Is(err, errStopped), errors.Is(err, transport.ErrStopped), errors.Is(err, transport.ErrPaused):
		return "stopped", nil
	case errors.As(err, &failure) && failure.Class == source.ClassCheckpointExpired && result.Mode == knowledge.ModeIncremental:
		// Nothing is lost: what changed since the checkpoint is found by listing everything.
		if err := a.Store.MakeListingFull(ctx, listing.ListingID); err != nil {
			return "", err
		}
		result.Mode, listing.Cursor, listing.NextBatch = knowledge.ModeFull, "", batchNo
		return a.list(ctx, src, root, listing, result)
	case err != nil:
		return "", err
	}
	if result.Checkpoint = listed.Checkpoint; listed.Checkpoint != "" {
		if err := a.Store.NoteCheckpoint(ctx, listing.ListingID, listed.Checkpoint); err != nil {
			return "", err
		}
	}
	_, err = a.Store.CompleteListing(ctx, listing.ListingID, listed.Verdict, listed.Sentence)
	return "", err
}

// laneOf gives the lane of a listing's requests.
func laneOf(mode knowledge.Mode) knowledge.Lane {
	if mode == knowledge.ModeIncremental {
		return knowledge.LaneIncremental
	}
	return knowledge.LaneBackfill
}

// beat heartbeats while a source waits for its turn, which may be longer than a worker's death takes to be noticed. The
// function that it returns ends it.
func beat(ctx context.Context) (stop func()) {
	beating, stop := context.WithCancel(ctx)
	go func() {
		for pause.For(beating, beatEvery) == nil {
			activity.RecordHeartbeat(ctx)
		}
	}()
	return stop
}

const beatEvery = 2 * time.Second

// enumerate asks the source for everything, or for what changed since the folder's checkpoint.
func enumerate(
	ctx context.Context, src source.Source, root source.Root, listing knowledge.Listing, mode knowledge.Mode, yield func(source.Batch) error,
) (source.Listed, error) {
	feed, able := src.(source.ChangeFeed)
	if mode != knowledge.ModeIncremental || !able {
		return src.List(ctx, root, listing.Cursor, yield)
	}
	return feed.Changes(ctx, root, listing.Checkpoint, func(changed []source.Entry, removed []string) error {
		return yield(source.Batch{Entries: changed, Returned: len(changed), Gone: removed})
	})
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
		if _, err := a.Store.ApplyRename(ctx, listingID, move.from, move.to, prints[move.to]); err != nil {
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
