package activities

import (
	"context"
	"time"

	"go.temporal.io/sdk/activity"

	"github.com/loresync/loresync/internal/knowledge"
)

// NoticeStore is what notices ask of the store.
type NoticeStore interface {
	NoticeTargets(ctx context.Context, connection string, n knowledge.Notice, folders []string, since *time.Time) ([]knowledge.NoticeTarget, error)
	PagesBelow(ctx context.Context, folder, sourceID string, bound int) ([]knowledge.Lost, error)
	RemoveToldPages(ctx context.Context, r knowledge.ToldRemoval) (knowledge.ToldRemoved, error)
	LogTargets(ctx context.Context, connection string, folders []string, since *time.Time, lately time.Duration) ([]knowledge.LogTarget, error)
}

// Asker asks for what a notice points to. control implements it.
type Asker interface {
	// ReadPageAgain starts the sync of a page, or makes the running one read once more.
	ReadPageAgain(ctx context.Context, folder, page string, lane knowledge.Lane) error
	// RequestFolderSync starts a folder sync, or joins the one that waits to list, and returns its Workflow ID.
	RequestFolderSync(ctx context.Context, folder string, mode knowledge.Mode, trigger string) (string, error)
}

// WebhookActivities follow what sources tell by webhooks. A notice is a wish to look, so nothing of it is believed: pages are
// read, and what is said to be gone is asked for.
type WebhookActivities struct {
	Store NoticeStore
	Asker Asker
	// Reconcile lends its confirmation and its guards: told by a listing or by a notice, a page goes the same way.
	Reconcile *ReconcileActivities
	// Watches know which change logs a folder needs.
	Watches *Watches
}

// FollowNoticeInput is a notice and how far it was followed. It holds ids and kinds, no content.
type FollowNoticeInput struct {
	Connection     string
	Kind           knowledge.NoticeKind
	SourceID       string
	ParentSourceID string
	// Pass counts the looks, from 0. Folders are those that wait for another look; empty at the first, which looks at all.
	Pass    int
	Folders []string
	// Since is the database's time of the first look.
	Since *time.Time
}

// FollowNoticeResult counts what one look asked for, in all folders of the connection.
type FollowNoticeResult struct {
	// Pages and FolderSyncs were asked for; Removed and Held pages are gone by the source's own word.
	Pages, FolderSyncs, Removed, Held int
	// Ignored counts folders that have nothing to do: the page is excluded, unknown and gone, or without comments.
	Ignored int
	// Waiting are the folders that are to be looked at again.
	Waiting []string
	Since   *time.Time
}

const (
	// findPasses is how many looks a page may take to be found by the read of its parent: a minute. Later the due reads have it.
	findPasses = 6
	// decideTries bounds how often a removal is decided anew because others were removed meanwhile.
	decideTries = 20
)

// FollowNotice looks once, in every active folder of a connection, for the object of a notice: it asks for the page, for the page
// above an unknown one, or for a folder sync, or has the source confirm that it is gone. A change log is followed by folder syncs.
// A second run asks once more, which costs a read and changes nothing. Its heartbeat is the number of folders done. It returns the
// failures of the source's confirmation.
func (a *WebhookActivities) FollowNotice(ctx context.Context, in FollowNoticeInput) (FollowNoticeResult, error) {
	if in.Kind == knowledge.NoticeLogChanged {
		return a.followLog(ctx, in)
	}
	result := FollowNoticeResult{Since: in.Since}
	notice := knowledge.Notice{Kind: in.Kind, SourceID: in.SourceID, ParentSourceID: in.ParentSourceID}
	targets, err := a.Store.NoticeTargets(ctx, in.Connection, notice, in.Folders, in.Since)
	if err != nil {
		return result, err
	}
	for i, target := range targets {
		activity.RecordHeartbeat(ctx, i)
		if result.Since == nil {
			result.Since = &targets[i].At
		}
		if err := a.follow(ctx, in, target, &result); err != nil {
			return result, err
		}
	}
	return result, nil
}

func (a *WebhookActivities) follow(ctx context.Context, in FollowNoticeInput, target knowledge.NoticeTarget, result *FollowNoticeResult) error {
	switch {
	case target.Excluded:
		result.Ignored++
		return nil
	case in.Kind == knowledge.NoticeGone && target.IsRoot:
		// A missing root removes nothing; the folder sync says what is wrong with it.
		return a.askForFolder(ctx, target, result)
	case in.Kind == knowledge.NoticeGone && target.PageID != "" && !target.Hidden:
		return a.askWhetherGone(ctx, in, target, result)
	case in.Kind == knowledge.NoticeCommented && !target.Comments, in.Kind != knowledge.NoticeChanged && target.PageID == "":
		result.Ignored++
		return nil
	case target.PageID != "":
		// Also one that the source lost: it may be back, whatever came in which order.
		return a.askForPage(ctx, target, target.PageID, result)
	case target.ParentPageID != "":
		return a.askForParent(ctx, in, target, result)
	}
	return a.askForFolder(ctx, target, result)
}

func (a *WebhookActivities) askForPage(ctx context.Context, target knowledge.NoticeTarget, page string, result *FollowNoticeResult) error {
	result.Pages++
	return a.Asker.ReadPageAgain(ctx, target.FolderID, page, knowledge.LaneIncremental)
}

// askForParent has the page above read, which reports the unknown one, and waits a while for it to be known.
func (a *WebhookActivities) askForParent(ctx context.Context, in FollowNoticeInput, target knowledge.NoticeTarget, result *FollowNoticeResult) error {
	if in.Pass < findPasses {
		result.Waiting = append(result.Waiting, target.FolderID)
	}
	if in.Pass > 0 {
		return nil
	}
	return a.askForPage(ctx, target, target.ParentPageID, result)
}

// askForFolder has a folder listed, at most once a minute for notices: in a busy workspace most notices are about objects that
// no folder knows, and each listing costs requests. A listing that began since the notice came has seen it.
func (a *WebhookActivities) askForFolder(ctx context.Context, target knowledge.NoticeTarget, result *FollowNoticeResult) error {
	if target.Listed {
		return nil
	}
	if target.Asked {
		result.Waiting = append(result.Waiting, target.FolderID)
		return nil
	}
	result.FolderSyncs++
	_, err := a.Asker.RequestFolderSync(ctx, target.FolderID, knowledge.ModeIncremental, "webhook")
	return err
}

// askWhetherGone removes a page, and what lies below it, that the source itself says is gone. A page that is being read, or was
// read since the source was asked, is looked at again.
func (a *WebhookActivities) askWhetherGone(ctx context.Context, in FollowNoticeInput, target knowledge.NoticeTarget, result *FollowNoticeResult) error {
	if target.RemovalRejected {
		result.Ignored++
		return nil
	}
	gone, err := a.Reconcile.confirm(ctx, target.FolderID, []knowledge.Lost{{PageID: target.PageID, SourceID: in.SourceID}})
	if err != nil || len(gone) == 0 {
		return err
	}
	below, err := a.Store.PagesBelow(ctx, target.FolderID, in.SourceID, lockBatch-1)
	if err != nil {
		return err
	}
	if below, err = a.Reconcile.confirm(ctx, target.FolderID, below); err != nil {
		return err
	}
	return a.removeTold(ctx, target, pageIDs(append(gone, below...)), result)
}

// removeTold decides by the same guards as a reconcile, and once more whenever other pages were removed since it counted.
func (a *WebhookActivities) removeTold(ctx context.Context, target knowledge.NoticeTarget, pages []string, result *FollowNoticeResult) error {
	for range decideTries {
		activity.RecordHeartbeat(ctx)
		facts, err := a.Reconcile.Store.RemovalFacts(ctx, target.FolderID, 0, len(pages))
		if err != nil {
			return err
		}
		if reason := knowledge.HoldReason(facts); reason != "" {
			held, err := a.Reconcile.hold(ctx, ReconcileInput{FolderID: target.FolderID}, reason, pages)
			result.Held += held.Held
			return err
		}
		removed, err := a.Store.RemoveToldPages(ctx, knowledge.ToldRemoval{
			FolderID: target.FolderID, Generation: target.Generation, PageIDs: pages, Since: target.At, Undo: a.Reconcile.Timeouts.Undo, Recent: facts.Recent,
		})
		if err != nil {
			return err
		}
		if removed.Outcome == "recount" {
			continue
		}
		if result.Removed += len(removed.Gone); len(removed.Gone) == len(pages) {
			return nil
		}
		break
	}
	result.Waiting = append(result.Waiting, target.FolderID)
	return nil
}
