package activities

import (
	"context"
	"errors"
	"time"

	"go.temporal.io/sdk/activity"
	"golang.org/x/sync/errgroup"

	"github.com/loresync/loresync/internal/knowledge"
	"github.com/loresync/loresync/internal/pause"
)

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
		window, more, err := a.look(ctx, in.ListingID)
		switch {
		case errors.Is(err, errStopped):
			result.Stopped = true
			return result, nil
		case err != nil || !more:
			return result, err
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

// look settles what was read, registers the children that page syncs reported, and when nothing is left counts what hangs
// under unchanged pages; false when even that brings nothing more.
func (a *FolderActivities) look(ctx context.Context, listingID int64) (knowledge.Window, bool, error) {
	for {
		window, err := a.Store.SettleEntries(ctx, listingID)
		switch {
		case err != nil:
			return window, false, err
		case window.ListedLeft:
			taken, err := a.Store.RegisterEntries(ctx, listingID, lockBatch)
			if err == nil && taken < 0 {
				err = errStopped
			}
			if err != nil {
				return window, false, err
			}
		case window.OpenLeft || window.Waiting > 0:
			return window, true, nil
		default:
			if more, err := a.Store.CountKnownEdges(ctx, listingID); err != nil || more == 0 {
				return window, false, err
			}
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
