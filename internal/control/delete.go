package control

import (
	"context"
	"errors"

	"github.com/loresync/loresync/internal/ids"
	"github.com/loresync/loresync/internal/knowledge"
	"github.com/loresync/loresync/internal/store"
)

// statusRestored is the store's word for a delete that was taken back, and what people are told.
const statusRestored = "restored"

// DeleteOptions say how much goes, and when.
type DeleteOptions struct {
	// Subtree takes all below the page along, and whatever appears there later.
	Subtree bool
	// Now purges as soon as nothing is in flight, without an undo window.
	Now bool
}

// DeletePage accepts the delete of a page in Postgres, which hides it from that moment on, and then starts the workflow that
// ends what is in flight. While Temporal is down the delete is accepted all the same, and the answer says so.
func (c *Control) DeletePage(ctx context.Context, folder, ref string, options DeleteOptions, actor Actor) (Answer, error) {
	page, err := c.ResolvePage(ctx, folder, ref, true)
	if err != nil {
		return Answer{}, err
	}
	if page.Purged {
		return c.deletedForGood(ctx, page)
	}
	workflowID, err := ids.DeletePage(folder, page.PageID)
	if err != nil {
		return Answer{}, usage("bad_id", "%s", err)
	}
	accepted, err := c.store.AcceptPageDelete(ctx, store.DeleteRequest{
		Folder: folder, Page: page.PageID, Subtree: options.Subtree, Now: options.Now, Who: who(actor), WorkflowID: workflowID,
		Undo: c.options.UndoWindow,
	})
	if err != nil {
		return Answer{}, err
	}
	if accepted.DeleteID == nil {
		return Answer{}, refusal(accepted.Outcome, folder, ref)
	}
	return c.startAccepted(ctx, folder, page.PageID, workflowID, accepted)
}

// deletedForGood answers the delete of a page of which only a person's earlier delete is left: it is as it was asked for.
func (c *Control) deletedForGood(ctx context.Context, page PageRef) (Answer, error) {
	facts, err := c.store.PageFacts(ctx, store.PageKey{FolderID: page.FolderID, PageID: page.PageID, SourceID: page.SourceID, ExclusionOnly: true})
	if err != nil {
		return Answer{}, err
	}
	answer := Answer{Joined: true, Status: "purged", FolderID: page.FolderID, PageID: page.PageID, AcceptedAt: facts.ExcludedAt}
	if facts.ExcludedBy != nil {
		answer.AcceptedBy = *facts.ExcludedBy
	}
	return answer, nil
}

// DeleteFolder accepts the delete of a folder, which hides all of it in one row write, and starts its workflow.
func (c *Control) DeleteFolder(ctx context.Context, folder string, now bool, actor Actor) (Answer, error) {
	workflowID, err := ids.DeleteFolder(folder)
	if err != nil {
		return Answer{}, usage("bad_folder_id", "%s", err)
	}
	accepted, err := c.store.AcceptFolderDelete(ctx, store.DeleteRequest{
		Folder: folder, Now: now, Who: who(actor), WorkflowID: workflowID, Undo: c.options.UndoWindow,
	})
	if err != nil {
		return Answer{}, err
	}
	if accepted.DeleteID == nil {
		return Answer{}, refusal(accepted.Outcome, folder, "")
	}
	return c.startAccepted(ctx, folder, "", workflowID, accepted)
}

// startAccepted starts the workflow of an accepted delete. That it can't be started changes nothing about the accept.
func (c *Control) startAccepted(ctx context.Context, folder, page, workflowID string, accepted store.Accepted) (Answer, error) {
	answer := Answer{
		WorkflowID: workflowID, Joined: accepted.Outcome == "joined", AcceptedAt: accepted.AcceptedAt, Status: "accepted", FolderID: folder, PageID: page,
		Pages: accepted.Pages, PurgeAt: accepted.PurgeAt,
	}
	if answer.Joined {
		earlier, err := c.store.LastDelete(ctx, folder, page)
		if err != nil && !errors.Is(err, store.ErrNotFound) { // purged meanwhile
			return Answer{}, err
		}
		answer.AcceptedBy = earlier.Who
	}
	run, err := c.startDelete(context.WithoutCancel(ctx), folder, page, *accepted.DeleteID)
	if err != nil {
		c.log.WarnContext(ctx, "a delete is accepted, and its workflow will be started by the janitor", "workflow_id", workflowID, "error", err)
		answer.Warnings = append(answer.Warnings,
			"Temporal can't be reached: the delete is accepted and hidden from readers; its cleanup starts by itself when Temporal is back")
		return answer, nil
	}
	answer.RunID = run.runID
	return answer, nil
}

// who is how records name an actor. What came over HTTP says so, since the bearer of a token is no person.
func who(actor Actor) string {
	switch {
	case actor.Name == "":
		return actor.Trigger
	case actor.Trigger == "api":
		return actor.Name + " via api"
	}
	return actor.Name
}

// RestorePage takes a person's delete of a page back: its last published revision is visible again at once, without a new
// embedding, and a sync follows. With subtree all that the delete hid comes back; that is also so when the delete itself took
// the subtree, since one exclusion covers it.
func (c *Control) RestorePage(ctx context.Context, folder, ref string, subtree bool, actor Actor) (Answer, error) {
	page, err := c.ResolvePage(ctx, folder, ref, false)
	if err != nil {
		return Answer{}, err
	}
	along, err := c.restoreAlong(ctx, page, subtree)
	if err != nil {
		return Answer{}, err
	}
	restored, err := c.store.RestorePage(ctx, folder, page.SourceID, who(actor))
	if err != nil {
		return Answer{}, err
	}
	switch restored.Outcome {
	case statusRestored, "lifted":
	case "covered":
		return Answer{}, c.refuseBelow(ctx, "covered", page, ref, *restored.PageID)
	default:
		return Answer{}, refusal(restored.Outcome, folder, ref)
	}
	answer := Answer{FolderID: folder, PageID: *restored.PageID, Status: statusRestored}
	pages := int64(0)
	if restored.Outcome == statusRestored && page.Kind != "container" {
		pages = 1
	}
	below, err := c.restoreWithIt(ctx, page, restored)
	if err != nil {
		return Answer{}, err
	}
	below += along
	pages += below
	answer.Pages = &pages
	if subtree && below == 0 && restored.Subtree != nil && !*restored.Subtree {
		answer.Warnings = append(answer.Warnings, "only the page itself had been deleted: nothing below it was to be restored")
	}
	return c.syncRestored(ctx, answer, restored.Outcome == "lifted" || page.Kind == "container")
}

// restoreAlong brings back, where the subtree is asked for, what was moved along with a page out of a deleted one. It comes before the
// page itself, so that a restore that is cut off can be repeated.
func (c *Control) restoreAlong(ctx context.Context, page PageRef, subtree bool) (int64, error) {
	if !subtree {
		return 0, nil
	}
	deleteID, err := c.store.HiddenBy(ctx, page.FolderID, page.SourceID)
	if err != nil || deleteID == 0 {
		return 0, err
	}
	return c.restoreBelow(ctx, page, deleteID)
}

// restoreWithIt brings back what a page's delete hid, and what only its exclusion had covered.
func (c *Control) restoreWithIt(ctx context.Context, page PageRef, restored store.Restored) (int64, error) {
	sum := int64(0)
	if restored.DeleteID != nil {
		swept, err := c.restoreSwept(ctx, *restored.DeleteID)
		if err != nil {
			return 0, err
		}
		sum += swept
	}
	if restored.Subtree == nil || !*restored.Subtree {
		return sum, nil
	}
	below, err := c.restoreBelow(ctx, page, 0)
	return sum + below, err
}

func (c *Control) restoreBelow(ctx context.Context, page PageRef, deleteID int64) (int64, error) {
	return inBatches(func() (int, error) {
		return c.store.RestoreBelow(ctx, page.FolderID, page.SourceID, deleteID, restoreBatch)
	})
}

// refuseBelow says under which deleted page another one lies, by the name that people know, and what to do.
func (c *Control) refuseBelow(ctx context.Context, code string, page PageRef, ref, above string) error {
	name := above
	if top, err := c.Page(ctx, page.FolderID, above); err == nil {
		name = top.SourceID
	}
	return refuse(code, "%q lies below %q, which was deleted with all that is below it: `starter restore page %s %s --subtree` brings all of it back; "+
		"where %q was moved out of it since, run `starter sync folder %s --full --wait`, then `starter restore page %s %s`",
		ref, name, page.FolderID, shellWord(name), ref, page.FolderID, page.FolderID, shellWord(page.PageID))
}

// restoreBatch is how many pages one transaction restores.
const restoreBatch = 500

// restoreSwept brings back what a subtree delete hid, in bounded transactions. A crash in the middle leaves the rest to the
// janitor.
func (c *Control) restoreSwept(ctx context.Context, deleteID int64) (int64, error) {
	return inBatches(func() (int, error) { return c.store.RestoreSwept(ctx, deleteID, restoreBatch) })
}

// inBatches repeats a bounded step until it has nothing to do, and adds up what it did.
func inBatches(step func() (int, error)) (int64, error) {
	sum := int64(0)
	for {
		n, err := step()
		if err != nil || n == 0 {
			return sum, err
		}
		sum += int64(n)
	}
}

// syncRestored asks for the sync that follows a restore: of the page, or of the folder where only a listing can find it again.
func (c *Control) syncRestored(ctx context.Context, answer Answer, byListing bool) (Answer, error) {
	var err error
	if byListing {
		var synced Answer
		synced, err = c.SyncFolder(ctx, answer.FolderID, knowledge.ModeFull, Actor{Name: "loresync", Trigger: "restore"})
		answer.WorkflowID, answer.RunID, answer.Joined = synced.WorkflowID, synced.RunID, synced.Joined
	} else {
		var asked begun
		asked, err = c.requestPageSync(ctx, answer.FolderID, answer.PageID, knowledge.LanePerson, true)
		answer.WorkflowID, answer.RunID, answer.Joined = asked.workflowID, asked.runID, err == nil && !asked.started
	}
	if err != nil {
		answer.Warnings = append(answer.Warnings, "restored, but the sync that follows could not be started ("+err.Error()+")")
	}
	return answer, nil
}

// RestoreFolder takes a folder's delete back while its purge has not begun, and starts a full sync of it.
func (c *Control) RestoreFolder(ctx context.Context, folder string, actor Actor) (Answer, error) {
	if err := ids.CheckFolder(folder); err != nil {
		return Answer{}, usage("bad_folder_id", "%s", err)
	}
	outcome, err := c.store.RestoreFolder(ctx, folder, who(actor))
	if err != nil {
		return Answer{}, err
	}
	if outcome != statusRestored {
		return Answer{}, refusal(outcome, folder, "")
	}
	return c.syncRestored(ctx, Answer{FolderID: folder, Status: statusRestored}, true)
}

// Deletes gives what can still be undone, the latest first, with the time that is left.
func (c *Control) Deletes(ctx context.Context) ([]knowledge.Delete, error) {
	return c.store.UndoableDeletes(ctx)
}
