package control

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/loresync/loresync/activities"
	"github.com/loresync/loresync/internal/knowledge"
	"github.com/loresync/loresync/internal/store"
)

// shownFailures bounds the failures that a run shows; more are found by the pages command.
const shownFailures = 500

// RunDetail is one sync run with the pages that it listed and that failed.
type RunDetail struct {
	knowledge.Run
	Failures []knowledge.Page `json:"failures"`
	// Unseen is how many pages it did not see and kept, as long as no later full sync has looked.
	Unseen *int64 `json:"unseen,omitempty"`
}

// Runs gives the sync runs of a folder, or of all with "", newest first. Runs outlive their folder.
func (c *Control) Runs(ctx context.Context, folder string, limit int) ([]knowledge.Run, error) {
	if limit < 0 {
		return nil, usage("limit", "the limit %d is not possible: give how many runs to show, or 0 for all", limit)
	}
	if !storable(folder) {
		return nil, UnknownFolder(folder)
	}
	runs, err := c.store.Runs(ctx, folder, limit)
	if err == nil && len(runs) == 0 && folder != "" {
		_, err = c.place(ctx, folder)
	}
	return runs, err
}

// Run gives one run, by its run id, its Workflow ID, or the last segment of that.
func (c *Control) Run(ctx context.Context, ref string) (RunDetail, error) {
	run, err := c.findRun(ctx, ref)
	if err != nil {
		return RunDetail{}, err
	}
	detail := RunDetail{Run: run}
	if detail.Failures, err = c.store.RunFailures(ctx, run.WorkflowID, shownFailures); err != nil {
		return RunDetail{}, err
	}
	detail.Unseen, err = c.store.UnseenByRun(ctx, run.WorkflowID)
	return detail, err
}

// RunState is how far a run has come, for whoever follows it.
type RunState struct {
	WorkflowID string              `json:"workflow_id"`
	FolderID   string              `json:"folder_id"`
	Status     knowledge.RunStatus `json:"status"`
	Reason     string              `json:"reason"`
	// Phase is waiting, listing, syncing, reconciling or ended.
	Phase string `json:"phase"`
	// Listed counts what the source returned so far; Done and Failed, of Total, the pages that have to be read.
	Listed int64 `json:"listed"`
	Done   int64 `json:"done"`
	Failed int64 `json:"failed"`
	Total  int64 `json:"total"`
	// Counts are what the run did; all zero until it has ended.
	Counts knowledge.Counts `json:"counts"`
}

// RunState tells how far a run has come, by its Workflow ID.
func (c *Control) RunState(ctx context.Context, workflowID string) (RunState, error) {
	run, err := c.findRun(ctx, workflowID)
	if err != nil {
		return RunState{}, err
	}
	progress, err := c.store.RunProgress(ctx, run.WorkflowID)
	if errors.Is(err, store.ErrNotFound) { // its record's time was over in between
		return RunState{}, UnknownRun(workflowID)
	}
	return RunState{
		WorkflowID: run.WorkflowID, FolderID: run.FolderID, Status: run.Status, Reason: run.Reason, Phase: progress.Phase,
		Listed: progress.Listed, Done: progress.Done, Failed: progress.Failed, Total: progress.Total, Counts: run.Counts,
	}, err
}

// UnknownRun is what is said of a run that isn't there. Entry points say the same of one that a caller may not know of.
func UnknownRun(ref string) error {
	return notFound("run_unknown", "there is no sync run %q: `starter runs` shows those there are", ref)
}

func (c *Control) findRun(ctx context.Context, ref string) (knowledge.Run, error) {
	if ref == "" || !storable(ref) {
		return knowledge.Run{}, UnknownRun(ref)
	}
	run, err := c.store.FindRun(ctx, ref)
	if errors.Is(err, store.ErrNotFound) {
		return run, UnknownRun(ref)
	}
	return run, err
}

// CancelRun asks a running sync to stop. Page syncs that another run waits for go on.
func (c *Control) CancelRun(ctx context.Context, ref string, actor Actor) (Answer, error) {
	run, err := c.findRun(ctx, ref)
	if err != nil {
		return Answer{}, err
	}
	if run.Status != knowledge.RunRunning {
		return Answer{}, refuse("already_ended", "run %s has ended already, as %s: there is nothing to cancel", run.WorkflowID, run.Status)
	}
	answer := Answer{WorkflowID: run.WorkflowID, RunID: run.RunID, FolderID: run.FolderID, Status: "cancel_requested"}
	err = c.cancelWorkflow(ctx, run.WorkflowID)
	switch {
	case missing(err):
		// Its start never happened, or it ended without a word: the record is all there is to cancel.
		answer.Status = string(knowledge.RunCancelled)
		err = c.store.FinishRun(ctx, knowledge.FinishedRun{
			WorkflowID: run.WorkflowID, FirstRunID: run.RunID, Folder: run.FolderID, Kind: run.Kind, Status: knowledge.RunCancelled,
			Reason: "its workflow was not running any more", Verdict: run.Verdict, Counts: run.Counts,
		})
	case err != nil:
		return Answer{}, temporalTrouble("cancel the run", err)
	}
	if err != nil {
		return Answer{}, err
	}
	c.log.InfoContext(ctx, "run cancelled", "workflow_id", run.WorkflowID, "actor", who(actor))
	return answer, c.store.NoteRunCancelled(ctx, run.FolderID, run.WorkflowID, who(actor))
}

// cancelWorkflow cancels whatever runs under a Workflow ID: without a run id, since continue-as-new goes on under a new one.
func (c *Control) cancelWorkflow(ctx context.Context, workflowID string) error {
	if c.temporal == nil {
		return errNoTemporal
	}
	ctx, cancel := context.WithTimeout(ctx, c.options.TemporalTimeout)
	defer cancel()
	return c.temporal.CancelWorkflow(ctx, workflowID, "")
}

// Retry lets the failing pages of a folder try again now, those of one class or all with "": their waiting and quarantine
// end, and a sync of each is asked for.
func (c *Control) Retry(ctx context.Context, folder, class string, actor Actor) (Answer, error) {
	place, err := c.openFolder(ctx, folder)
	if err != nil {
		return Answer{}, err
	}
	if err := c.refusePaused(ctx, place.FolderID); err != nil {
		return Answer{}, err
	}
	if class != "" {
		if err := c.checkClass(ctx, folder, class); err != nil {
			return Answer{}, err
		}
	}
	pages, err := c.store.RetryFailures(ctx, folder, class, who(actor))
	if err != nil {
		return Answer{}, err
	}
	asked := int64(0)
	for _, page := range pages {
		if _, err := c.requestPageSync(ctx, folder, page, knowledge.LaneIncremental, true); err != nil {
			return Answer{}, c.retryTrouble(ctx, err, len(pages)-int(asked))
		}
		asked++
	}
	answer := Answer{FolderID: folder, Pages: &asked, Status: "requested"}
	if asked == 0 {
		answer.Status, answer.Reason = "completed", "no page is failing"
	}
	return answer, nil
}

// retryTrouble tells that the pages whose requests did not come through are due and so not forgotten.
func (c *Control) retryTrouble(ctx context.Context, err error, left int) error {
	c.log.WarnContext(ctx, "retry could not ask for all pages", "left", left, "error", err)
	if KindOf(err) != KindUnreachable {
		return err
	}
	return &Error{
		Kind: KindUnreachable, Code: "temporal_unreachable", Err: err,
		Sentence: "Temporal can't be reached: the pages are due, and are read by themselves within a minute once it is back",
	}
}

func (c *Control) checkClass(ctx context.Context, folder, class string) error {
	classes, err := c.store.FailureClasses(ctx, folder)
	if err != nil {
		return err
	}
	switch {
	case slices.Contains(classes, class):
		return nil
	case len(classes) > 0:
		return notFound("class_unknown", "no page of folder %q fails with class %q: the classes there are %s", folder, class, strings.Join(classes, ", "))
	case slices.Contains(knownClasses, class):
		return nil
	}
	return notFound("class_unknown", "there is no class %q: the classes are %s; no page of folder %q is failing", class, strings.Join(knownClasses, ", "), folder)
}

// knownClasses are those that a page can fail with, the commonest first.
var knownClasses = []string{
	activities.FailureUnavailable, activities.FailureRateLimited, activities.FailureUnauthorized, activities.FailureInvalid, activities.FailureInternal,
}
