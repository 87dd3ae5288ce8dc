package control

import (
	"context"
	"errors"
	"time"

	"go.temporal.io/api/serviceerror"
	"go.temporal.io/sdk/temporal"

	"github.com/loresync/loresync/internal/ids"
	"github.com/loresync/loresync/internal/knowledge"
	"github.com/loresync/loresync/internal/pause"
	"github.com/loresync/loresync/internal/store"
	"github.com/loresync/loresync/workflows"
)

const (
	waitTick     = 100 * time.Millisecond
	progressTick = 250 * time.Millisecond
)

// Wait waits until the workflow of an answer has ended and fills in how: status, reason and counts of syncs; finished or purged
// for deletes. progress, when given, is called a few times a second while a folder sync runs.
func (c *Control) Wait(ctx context.Context, answer Answer, progress func(knowledge.RunProgress)) (Answer, error) {
	parsed, err := ids.Parse(answer.WorkflowID)
	if err != nil {
		return answer, err
	}
	switch parsed.Kind {
	case ids.KindSyncPage:
		return c.waitPage(ctx, answer)
	case ids.KindDeletePage:
		return c.waitDelete(ctx, answer, parsed.Folder, parsed.Page)
	case ids.KindDeleteFolder:
		return c.waitDelete(ctx, answer, parsed.Folder, "")
	case ids.KindHold:
		return c.waitHold(ctx, answer, parsed.Unique)
	case ids.KindWebhook:
		return answer, c.temporal.GetWorkflow(ctx, answer.WorkflowID, answer.RunID).Get(ctx, nil)
	case ids.KindSyncFolder, ids.KindAll:
	}
	if parsed.Work != "" && answer.WorkflowID != ids.SyncAll {
		err := c.temporal.GetWorkflow(ctx, answer.WorkflowID, answer.RunID).Get(ctx, nil)
		answer.Status = string(knowledge.RunCompleted)
		return answer, err
	}
	return c.waitRun(ctx, answer, progress)
}

// waitHold waits until the pages of an approved hold were looked at once more, and tells what became of them.
func (c *Control) waitHold(ctx context.Context, answer Answer, id string) (Answer, error) {
	err := c.temporal.GetWorkflow(ctx, answer.WorkflowID, answer.RunID).Get(ctx, nil)
	switch {
	case ctx.Err() != nil:
		return answer, ctx.Err()
	case lost(err):
		return answer, unreachable(err)
	case err != nil:
		return answer, &Error{
			Kind: KindFailed, Code: "hold_unfinished", Err: err,
			Sentence: "the hold is approved, but not all of its pages could be looked at: run `starter holds approve " + id + "` again",
		}
	}
	hold, err := c.hold(ctx, id)
	answer.HoldOutcome = hold.HoldOutcome
	return answer, err
}

// waitRun waits for a folder sync or a batch: its row tells, and its workflow when the row can't.
func (c *Control) waitRun(ctx context.Context, answer Answer, progress func(knowledge.RunProgress)) (Answer, error) {
	stop := c.report(ctx, answer.WorkflowID, progress)
	err := c.temporal.GetWorkflow(ctx, answer.WorkflowID, answer.RunID).Get(ctx, nil)
	stop()
	if ctx.Err() != nil {
		return answer, ctx.Err()
	}
	if lost(err) {
		return answer, unreachable(err)
	}
	runs, readErr := c.store.RunsByWorkflow(context.WithoutCancel(ctx), []string{answer.WorkflowID})
	if readErr != nil {
		return answer, readErr
	}
	if len(runs) == 0 {
		return answer, notFound("run_unknown", "run %s is not recorded any more", answer.WorkflowID)
	}
	run := runs[0]
	answer.Status, answer.Reason, answer.Counts = string(run.Status), run.Reason, &run.Counts
	if run.Status == knowledge.RunRunning { // terminated from outside: the janitor will close the row
		answer.Status, answer.Reason = string(knowledge.RunFailed), "its workflow was ended from outside: start another sync"
	}
	err = c.addUnseen(context.WithoutCancel(ctx), run, &answer)
	return answer, err
}

// shownUnseen bounds how many pages a dry run names.
const shownUnseen = 500

// addUnseen tells what the run did not see: how many such pages stay for now, or which would go.
func (c *Control) addUnseen(ctx context.Context, run knowledge.Run, answer *Answer) (err error) {
	switch {
	case run.Kind != "folder":
	case run.Mode == knowledge.ModeDryRun:
		answer.DryRun = true
		answer.WouldRemove, err = c.store.UnseenByDryRun(ctx, run.WorkflowID, shownUnseen)
	default:
		answer.Unseen, err = c.store.UnseenByRun(ctx, run.WorkflowID)
	}
	return err
}

// lost tells an error of reaching Temporal from an error that the workflow ended with.
func lost(err error) bool {
	var ended *temporal.WorkflowExecutionError
	var unavailable *serviceerror.Unavailable
	return err != nil && !errors.As(err, &ended) && errors.As(err, &unavailable)
}

func (c *Control) report(ctx context.Context, workflowID string, progress func(knowledge.RunProgress)) (stop func()) {
	if progress == nil {
		return func() {}
	}
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		for pause.For(ctx, progressTick) == nil {
			if p, err := c.store.RunProgress(ctx, workflowID); err == nil {
				progress(p)
			}
		}
	}()
	return func() { cancel(); <-done }
}

// waitPage waits for a page sync and tells what it did in the counts of one page.
func (c *Control) waitPage(ctx context.Context, answer Answer) (Answer, error) {
	var result workflows.SyncPageResult
	err := c.temporal.GetWorkflow(ctx, answer.WorkflowID, answer.RunID).Get(ctx, &result)
	if ctx.Err() != nil {
		return answer, ctx.Err()
	}
	if lost(err) {
		return answer, unreachable(err)
	}
	if err != nil {
		result.Outcome = knowledge.OutcomeFailed
		if temporal.IsCanceledError(err) {
			result.Outcome = knowledge.OutcomeCancelled
		}
	}
	status, counts := pageCounts(result)
	answer.Status, answer.Counts, answer.Reason = string(status), &counts, result.Reason
	if result.Outcome != knowledge.OutcomeFailed {
		return answer, nil
	}
	if page, err := c.Page(ctx, answer.FolderID, answer.PageID); err == nil && page.Failure != nil {
		answer.Reason = page.Failure.Class + ": " + page.Failure.Sentence
	}
	return answer, nil
}

func pageCounts(result workflows.SyncPageResult) (knowledge.RunStatus, knowledge.Counts) {
	switch result.Outcome {
	case knowledge.OutcomePublished:
		if result.First {
			return knowledge.RunCompleted, knowledge.Counts{Listed: 1, New: 1}
		}
		return knowledge.RunCompleted, knowledge.Counts{Listed: 1, Changed: 1}
	case knowledge.OutcomeUnchanged:
		return knowledge.RunCompleted, knowledge.Counts{Listed: 1, Unchanged: 1}
	case knowledge.OutcomeSkipped, knowledge.OutcomeNotFound:
		return knowledge.RunCompleted, knowledge.Counts{Listed: 1, Skipped: 1}
	case knowledge.OutcomeRefused:
		return knowledge.RunRefused, knowledge.Counts{Listed: 1, Excluded: 1}
	case knowledge.OutcomeCancelled, knowledge.OutcomeFenced:
		return knowledge.RunCancelled, knowledge.Counts{}
	case knowledge.OutcomeFailed:
	}
	return knowledge.RunFailed, knowledge.Counts{Listed: 1, Failed: 1}
}

// waitDelete waits until a delete has ended: nothing in flight or staged, and with --now purged. It looks at Postgres, so it
// also waits for a delete whose workflow the janitor starts.
func (c *Control) waitDelete(ctx context.Context, answer Answer, folder, page string) (Answer, error) {
	for {
		del, err := c.store.LastDelete(ctx, folder, page)
		switch {
		case errors.Is(err, store.ErrNotFound):
			return answer, notFound("delete_unknown", "there is no delete of it")
		case err != nil:
			return answer, err
		case del.RestoredAt != nil:
			answer.Status = statusRestored
			return answer, nil
		case del.PurgedAt != nil:
			answer.Status = "purged"
			return answer, nil
		case del.FinishedAt != nil && !del.Now:
			answer.Status = string(knowledge.RunCompleted)
			return answer, nil
		}
		if err := pause.For(ctx, waitTick); err != nil {
			return answer, err
		}
	}
}

// WaitLive waits until the sync that follows a restore has ended, and gives the answer back when the page is live (or skipped
// with a reason, or a directory, which is never live itself). A page that isn't is an error that says why.
func (c *Control) WaitLive(ctx context.Context, restored Answer) (Answer, error) {
	reason := "its sync could not be started"
	if restored.WorkflowID != "" {
		ended, err := c.Wait(ctx, restored, nil)
		if err != nil {
			return restored, err
		}
		reason = ended.Reason
	}
	page, err := c.Page(ctx, restored.FolderID, restored.PageID)
	if err != nil && KindOf(err) != KindNotFound {
		return restored, err
	}
	switch {
	case err == nil && (page.State == knowledge.StateLive || page.State == knowledge.StateSkipped || page.Kind == "container"):
		return restored, nil
	case page.State == knowledge.StateExcluded:
		return restored, refusal("excluded", restored.FolderID, restored.PageID)
	case page.Failure != nil:
		reason = page.Failure.Class + ": " + page.Failure.Sentence
	case reason == "":
		reason = "the source no longer has it"
	}
	return restored, &Error{Kind: KindFailed, Code: "not_live", Sentence: "restored, but not live: " + reason}
}
