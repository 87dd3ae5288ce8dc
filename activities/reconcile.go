package activities

import (
	"context"
	"strings"
	"time"

	"github.com/google/uuid"
	"go.temporal.io/sdk/activity"

	"github.com/loresync/loresync/internal/knowledge"
	"github.com/loresync/loresync/internal/source"
)

// AbsenceStore is what the reconcile of vanished pages asks of the store.
type AbsenceStore interface {
	RecordAbsence(ctx context.Context, listingID int64, behind string, bound int) (knowledge.Absence, error)
	LostPages(ctx context.Context, folder string) ([]knowledge.Lost, error)
	HoldPages(ctx context.Context, holdID string) ([]knowledge.Lost, error)
	RemovalFacts(ctx context.Context, folder string, listingID int64, planned int) (knowledge.Removal, error)
	RemoveLostPages(ctx context.Context, folder string, pages []string, undo time.Duration, approved bool) ([]string, error)
	ForgetStrikes(ctx context.Context, folder string, pages []string) error
	HoldRemovals(ctx context.Context, folder, holdID, reason string, pages []string) (string, error)
	RecordRemovals(ctx context.Context, listingID int64, removed, held int) error
	FolderRoot(ctx context.Context, folder string) (knowledge.FolderRoot, error)
}

// ReconcileActivities decide about pages that the source no longer lists. Absence is not deletion: only two complete full
// listings and the source's own word remove a page, and many at once wait for a person.
type ReconcileActivities struct {
	Store    AbsenceStore
	Sources  Sources
	Timeouts Timeouts
}

// ReconcileInput names the listing whose absences are to be judged.
type ReconcileInput struct {
	FolderID  string
	ListingID int64
}

// ReconcileResult counts what became of vanished pages.
type ReconcileResult struct {
	Removed, Held int
}

// ReconcileVanished records who was absent, confirms at the source each page with two strikes, and removes those that are
// gone, unless the guards want a person to look. A second run finds nothing left to do.
func (a *ReconcileActivities) ReconcileVanished(ctx context.Context, in ReconcileInput) (ReconcileResult, error) {
	absence, err := a.recordAbsence(ctx, in.ListingID)
	if err != nil || absence.Outcome != "recorded" || absence.Candidates == 0 {
		return ReconcileResult{}, err
	}
	lost, err := a.Store.LostPages(ctx, in.FolderID)
	if err != nil {
		return ReconcileResult{}, err
	}
	gone, err := a.confirm(ctx, in.FolderID, lost)
	if err != nil || len(gone) == 0 {
		return ReconcileResult{}, err
	}
	facts, err := a.Store.RemovalFacts(ctx, in.FolderID, in.ListingID, len(gone))
	if err != nil {
		return ReconcileResult{}, err
	}
	if reason := knowledge.HoldReason(facts); reason != "" {
		return a.hold(ctx, in, reason, gone)
	}
	removed, err := a.remove(ctx, in.FolderID, gone, false)
	if err == nil {
		err = a.Store.RecordRemovals(ctx, in.ListingID, removed, 0)
	}
	return ReconcileResult{Removed: removed}, err
}

// recordAbsence goes through the folder's pages in bounded transactions.
func (a *ReconcileActivities) recordAbsence(ctx context.Context, listingID int64) (knowledge.Absence, error) {
	for behind := ""; ; {
		activity.RecordHeartbeat(ctx, behind)
		absence, err := a.Store.RecordAbsence(ctx, listingID, behind, lockBatch)
		if err != nil || absence.LastPage == nil {
			return absence, err
		}
		behind = *absence.LastPage
	}
}

func (a *ReconcileActivities) hold(ctx context.Context, in ReconcileInput, reason string, pages []string) (ReconcileResult, error) {
	if _, err := a.Store.HoldRemovals(ctx, in.FolderID, newHoldID(), reason, pages); err != nil {
		return ReconcileResult{}, err
	}
	return ReconcileResult{Held: len(pages)}, a.Store.RecordRemovals(ctx, in.ListingID, 0, len(pages))
}

func newHoldID() string { return "hold-" + strings.ReplaceAll(uuid.NewString(), "-", "")[:12] }

// confirm asks the source about each page, and gives those that are gone or no longer below the root. Pages that are there
// after all lose their strikes; anything that isn't a clear word counts as alive.
func (a *ReconcileActivities) confirm(ctx context.Context, folder string, lost []knowledge.Lost) ([]string, error) {
	place, err := a.Store.FolderRoot(ctx, folder)
	if err != nil {
		return nil, err
	}
	src, err := a.Sources.Source(ctx, place.Source, place.Connection)
	if err != nil {
		return nil, err
	}
	root, err := rootOf(folder, place.Root, place.Limits)
	if err != nil {
		return nil, err
	}
	var gone, alive []string
	for _, page := range lost {
		activity.RecordHeartbeat(ctx, len(gone)+len(alive))
		presence, err := src.Presence(ctx, root, page.SourceID)
		if err != nil {
			return nil, err
		}
		switch presence {
		case source.PresenceGone, source.PresenceTrashed, source.PresenceMoved:
			gone = append(gone, page.PageID)
		case source.PresenceAlive:
			alive = append(alive, page.PageID)
		case source.PresenceUnknown:
		}
	}
	if len(alive) == 0 {
		return gone, nil
	}
	return gone, a.Store.ForgetStrikes(ctx, folder, alive)
}

func (a *ReconcileActivities) remove(ctx context.Context, folder string, pages []string, approved bool) (int, error) {
	removed := 0
	for len(pages) > 0 {
		activity.RecordHeartbeat(ctx, removed)
		batch := pages[:min(len(pages), lockBatch)]
		gone, err := a.Store.RemoveLostPages(ctx, folder, batch, a.Timeouts.Undo, approved)
		if err != nil {
			return removed, err
		}
		removed += len(gone)
		pages = pages[len(batch):]
	}
	return removed, nil
}

// ApprovedInput names a hold that a person approved.
type ApprovedInput struct {
	FolderID string
	HoldID   string
}

// RemoveApproved confirms each page of an approved hold at the source once more, and removes those that are still gone.
func (a *ReconcileActivities) RemoveApproved(ctx context.Context, in ApprovedInput) (ReconcileResult, error) {
	pages, err := a.Store.HoldPages(ctx, in.HoldID)
	if err != nil {
		return ReconcileResult{}, err
	}
	gone, err := a.confirm(ctx, in.FolderID, pages)
	if err != nil {
		return ReconcileResult{}, err
	}
	removed, err := a.remove(ctx, in.FolderID, gone, true)
	return ReconcileResult{Removed: removed}, err
}
