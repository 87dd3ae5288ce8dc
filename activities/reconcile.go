package activities

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"
	"go.temporal.io/sdk/activity"

	"github.com/loresync/loresync/internal/knowledge"
	"github.com/loresync/loresync/internal/source"
	"github.com/loresync/loresync/internal/source/transport"
)

// AbsenceStore is what the reconcile of vanished pages asks of the store.
type AbsenceStore interface {
	RecordAbsence(ctx context.Context, listingID int64, behind string, bound int) (knowledge.Absence, error)
	LostPages(ctx context.Context, folder string) ([]knowledge.Lost, error)
	HoldPages(ctx context.Context, holdID string) ([]knowledge.Lost, error)
	RemovalFacts(ctx context.Context, folder string, listingID int64, planned int) (knowledge.Removal, error)
	RemoveLostPages(ctx context.Context, folder string, pages []string, undo time.Duration) ([]string, error)
	RemoveToldPages(ctx context.Context, r knowledge.ToldRemoval) (knowledge.ToldRemoved, error)
	ToldPages(ctx context.Context, listingID int64) ([]knowledge.Lost, error)
	ForgetContainers(ctx context.Context, listingID int64) error
	LeaveHolds(ctx context.Context, listingID int64) error
	ForgetStrikes(ctx context.Context, folder string, pages []string) error
	HoldRemovals(ctx context.Context, folder, holdID, reason string, pages []string) (string, error)
	SettleHold(ctx context.Context, holdID string) error
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
	// Kept are pages of an approved hold that were left: their source has them again, or couldn't tell.
	Kept int
}

// ReconcileVanished records who was absent, confirms at the source each page with two strikes and each that the source told
// gone, and removes those that are, unless the guards want a person to look. A second run finds nothing left to do.
func (a *ReconcileActivities) ReconcileVanished(ctx context.Context, in ReconcileInput) (ReconcileResult, error) {
	absent, err := a.absent(ctx, in)
	if err != nil {
		return ReconcileResult{}, err
	}
	if err := errors.Join(a.Store.ForgetContainers(ctx, in.ListingID), a.Store.LeaveHolds(ctx, in.ListingID)); err != nil {
		return ReconcileResult{}, err
	}
	told, err := a.Store.ToldPages(ctx, in.ListingID)
	if err != nil || len(absent)+len(told) == 0 {
		return ReconcileResult{}, err
	}
	// One that is absent and told gone needs no strikes.
	absent = slices.DeleteFunc(absent, func(p knowledge.Lost) bool { return slices.Contains(told, p) })
	if absent, err = a.confirm(ctx, in.FolderID, absent); err != nil {
		return ReconcileResult{}, err
	}
	gone, err := a.confirmTold(ctx, in.FolderID, told)
	if err != nil {
		return ReconcileResult{}, err
	}
	return a.removeOrHold(ctx, in, pageIDs(absent), gone)
}

// absent gives the pages that a second complete listing didn't see.
func (a *ReconcileActivities) absent(ctx context.Context, in ReconcileInput) ([]knowledge.Lost, error) {
	absence, err := a.recordAbsence(ctx, in.ListingID)
	if err != nil || absence.Outcome != "recorded" || absence.Candidates == 0 {
		return nil, err
	}
	return a.Store.LostPages(ctx, in.FolderID)
}

// errOthersRemove ends an attempt whose decisions were overtaken again and again by other removals of the folder.
var errOthersRemove = errors.New("other pages of the folder are being removed meanwhile")

// removeOrHold removes what is confirmed, or has a person look at all of it. Whenever others were removed since it counted, it
// decides anew about what is left.
func (a *ReconcileActivities) removeOrHold(ctx context.Context, in ReconcileInput, absent []string, told confirmed) (ReconcileResult, error) {
	var result ReconcileResult
	for range decideTries {
		planned := slices.Concat(absent, told.pages)
		if len(planned) == 0 {
			return result, nil
		}
		facts, err := a.Store.RemovalFacts(ctx, in.FolderID, in.ListingID, len(planned))
		if err != nil {
			return result, err
		}
		if reason := knowledge.HoldReason(facts); reason != "" {
			held, err := a.hold(ctx, in, reason, planned)
			result.Held = held.Held
			return result, err
		}
		removed, decided, err := a.removeTold(ctx, &told, facts.Recent, false)
		if decided && err == nil {
			var more int
			more, err = a.removeAbsent(ctx, in.FolderID, absent)
			removed += more
		}
		result.Removed += removed
		if err = errors.Join(err, a.recordRemoved(ctx, in.ListingID, removed)); err != nil || decided {
			return result, err
		}
	}
	return result, errOthersRemove
}

func (a *ReconcileActivities) recordRemoved(ctx context.Context, listingID int64, removed int) error {
	if removed == 0 {
		return nil
	}
	return a.Store.RecordRemovals(ctx, listingID, removed, 0)
}

func pageIDs(pages []knowledge.Lost) []string {
	found := make([]string, len(pages))
	for i, p := range pages {
		found[i] = p.PageID
	}
	return found
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
func (a *ReconcileActivities) confirm(ctx context.Context, folder string, lost []knowledge.Lost) ([]knowledge.Lost, error) {
	if len(lost) == 0 {
		return nil, nil
	}
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
	ctx = transport.WithAttempt(ctx, transport.Attempt{Folder: folder, Lane: knowledge.LaneDelete})
	defer beat(ctx)()
	var gone []knowledge.Lost
	var alive []string
	for _, page := range lost {
		activity.RecordHeartbeat(ctx, len(gone)+len(alive))
		presence, err := src.Presence(ctx, root, page.SourceID)
		if err != nil {
			return nil, err
		}
		switch presence {
		case source.PresenceGone, source.PresenceTrashed, source.PresenceMoved:
			gone = append(gone, page)
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

// confirmed are pages that the source said are gone, and said so again when it was asked.
type confirmed struct {
	folder, generation string
	// since is the database's time at which the source was asked: pages that were read later are there after all.
	since time.Time
	pages []string
}

// confirmTold confirms pages, and notes when it began to ask.
func (a *ReconcileActivities) confirmTold(ctx context.Context, folder string, told []knowledge.Lost) (confirmed, error) {
	if len(told) == 0 {
		return confirmed{folder: folder}, nil
	}
	place, err := a.Store.FolderRoot(ctx, folder)
	if err != nil {
		return confirmed{}, err
	}
	gone, err := a.confirm(ctx, folder, told)
	return confirmed{folder: folder, generation: place.Generation, since: place.At, pages: pageIDs(gone)}, err
}

// removeTold removes confirmed pages, and takes those that it looked at out of them. False when others were removed since
// recent removals were counted, unless a person approved.
func (a *ReconcileActivities) removeTold(ctx context.Context, told *confirmed, recent int64, approved bool) (removed int, decided bool, err error) {
	for len(told.pages) > 0 {
		activity.RecordHeartbeat(ctx, removed)
		batch := told.pages[:min(len(told.pages), lockBatch)]
		answer, err := a.Store.RemoveToldPages(ctx, knowledge.ToldRemoval{
			FolderID: told.folder, Generation: told.generation, PageIDs: batch, Since: told.since, Undo: a.Timeouts.Undo,
			Recent: recent + int64(removed), Approved: approved,
		})
		if err != nil || answer.Outcome == "recount" {
			return removed, false, err
		}
		removed += len(answer.Gone)
		told.pages = told.pages[len(batch):]
	}
	return removed, true, nil
}

// removeAbsent removes pages that two listings didn't see.
func (a *ReconcileActivities) removeAbsent(ctx context.Context, folder string, pages []string) (int, error) {
	removed := 0
	for len(pages) > 0 {
		activity.RecordHeartbeat(ctx, removed)
		batch := pages[:min(len(pages), lockBatch)]
		gone, err := a.Store.RemoveLostPages(ctx, folder, batch, a.Timeouts.Undo)
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

// RemoveApproved confirms each page of an approved hold at the source once more, removes those that are still gone, and notes how many
// went and how many were left.
func (a *ReconcileActivities) RemoveApproved(ctx context.Context, in ApprovedInput) (ReconcileResult, error) {
	pages, err := a.Store.HoldPages(ctx, in.HoldID)
	if err != nil {
		return ReconcileResult{}, err
	}
	gone, err := a.confirmTold(ctx, in.FolderID, pages)
	if err != nil {
		return ReconcileResult{}, err
	}
	removed, _, err := a.removeTold(ctx, &gone, 0, true)
	if err == nil {
		err = a.Store.SettleHold(ctx, in.HoldID)
	}
	return ReconcileResult{Removed: removed, Kept: len(pages) - removed}, err
}
