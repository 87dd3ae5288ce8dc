package control

import (
	"context"
	"strings"

	"github.com/google/uuid"

	"github.com/loresync/loresync/internal/ids"
	"github.com/loresync/loresync/internal/knowledge"
	"github.com/loresync/loresync/workflows"
)

// SyncFolder starts a folder sync, or joins the one that has not begun to list. When Temporal can't be reached it says so
// within TemporalTimeout and leaves nothing behind.
func (c *Control) SyncFolder(ctx context.Context, folder string, mode knowledge.Mode, actor Actor) (Answer, error) {
	workflowID, err := ids.SyncFolder(folder, newUnique())
	if err != nil {
		return Answer{}, usage("bad_folder_id", "%s", err)
	}
	claim, err := c.store.ClaimFolderRun(ctx, folder, workflowID, mode, actor.Trigger, actor.Name)
	if err != nil {
		return Answer{}, err
	}
	if claim.Outcome != "claimed" && claim.Outcome != "joined" {
		return Answer{}, c.refused(ctx, claim.Outcome, folder, "")
	}
	// A joiner starts the same ID once more: should the first one have died between its claim and its start, it runs now.
	answer, err := c.begin(ctx, start{
		workflowID: *claim.WorkflowID, workflowType: "SyncFolderWorkflow", input: workflows.SyncFolderInput{FolderID: folder},
	})
	if err != nil {
		if claim.Outcome == "claimed" {
			if undo := c.store.AbandonFolderRun(context.WithoutCancel(ctx), workflowID); undo != nil {
				c.log.WarnContext(ctx, "a run could not be taken back; the janitor closes it", "workflow_id", workflowID, "error", undo)
			}
		}
		return Answer{}, err
	}
	return Answer{
		WorkflowID: *claim.WorkflowID, RunID: answer.runID, Joined: claim.Outcome == "joined" || !answer.started, FolderID: folder,
		Status: string(knowledge.RunRunning), DryRun: mode == knowledge.ModeDryRun,
	}, nil
}

func newUnique() string { return strings.ReplaceAll(uuid.Must(uuid.NewV7()).String(), "-", "") }

// SyncPage starts the sync of a page on behalf of a person, or joins the running one, which then reads once more if it has
// begun to read already.
func (c *Control) SyncPage(ctx context.Context, folder, ref string, _ Actor) (Answer, error) {
	page, err := c.ResolvePage(ctx, folder, ref, true)
	if err != nil {
		return Answer{}, err
	}
	if page.Kind == string(knowledge.KindContainer) {
		return Answer{}, usage("container", "%q holds pages and has no text of its own: `starter sync folder %s` reads what is new below it", ref, folder)
	}
	if err := c.mayBeSynced(ctx, page, ref); err != nil {
		return Answer{}, err
	}
	asked, err := c.requestPageSync(ctx, folder, page.PageID, knowledge.LanePerson, true)
	if err != nil {
		return Answer{}, err
	}
	return Answer{
		WorkflowID: asked.workflowID, RunID: asked.runID, Joined: !asked.started,
		FolderID: folder, PageID: page.PageID, Status: string(knowledge.RunRunning),
	}, nil
}

// mayBeSynced gives the answer that Begin would give, before a workflow is started for it.
func (c *Control) mayBeSynced(ctx context.Context, page PageRef, ref string) error {
	why, err := c.store.SyncRefusal(ctx, page.FolderID, page.PageID)
	if err != nil || why == "" {
		return err
	}
	if why != "excluded" {
		return c.refused(ctx, why, page.FolderID, ref)
	}
	above, err := c.store.Excluding(ctx, page.FolderID, page.SourceID)
	if err != nil {
		return err
	}
	if above == "" || above == page.SourceID {
		return refusal(why, page.FolderID, ref)
	}
	return c.refuseBelow(ctx, why, page, ref, above)
}

// SyncAll starts one full sync per active folder, or joins the running batch. The answer names the folders that are left out; where
// that is all of them, nothing is started and it is refused.
func (c *Control) SyncAll(ctx context.Context, actor Actor) (Answer, error) {
	skipped, all, err := c.skippedFolders(ctx)
	if err != nil {
		return Answer{}, err
	}
	if all {
		return nothingActive(skipped)
	}
	answer, err := c.startAll(ctx, actor)
	answer.SkippedFolders = skipped
	return answer, err
}

func (c *Control) startAll(ctx context.Context, actor Actor) (Answer, error) {
	answer, err := c.begin(ctx, start{workflowID: ids.SyncAll, workflowType: "SyncAllWorkflow", input: workflows.SyncAllInput{Trigger: actor.Trigger}})
	if err != nil {
		return Answer{}, err
	}
	return Answer{WorkflowID: ids.SyncAll, RunID: answer.runID, Joined: !answer.started, Status: string(knowledge.RunRunning)}, nil
}

// refusal is the sentence for what the store's functions refuse.
func refusal(why, folder, page string) error {
	switch why {
	case "folder_unknown":
		return notFound(why, "there is no folder %q: `starter folder list` shows those there are", folder)
	case "page_unknown":
		return notFound(why, "folder %q has no page %q: `starter pages %s` lists its pages", folder, page, folder)
	case "folder_deleted":
		return refuse(why, "folder %q is deleted: `starter folder restore %s` brings it back while its undo window lasts", folder, folder)
	case "paused":
		return refuse(why, "folder %q, or its connection, is paused: `starter folder resume %s` (or `starter connection resume`) first", folder, folder)
	case "maintenance":
		return refuse(why, "maintenance is on, no sync starts: `starter maintenance off` ends it")
	case "excluded":
		return refuse(why, "page %q of folder %q was deleted by a person: `starter restore page %s %s` brings it back", page, folder, folder, shellWord(page))
	case "needs_subtree":
		return usage(why, "%q holds pages and has no text of its own: use --subtree to delete it with all below it", page)
	case "purging":
		return refuse(why, "the undo window is over and the purge has begun: sync it again when it is done")
	case "not_deleted":
		return refuse(why, "it isn't deleted: there is nothing to restore")
	}
	return refuse(why, "refused: %s", why)
}
