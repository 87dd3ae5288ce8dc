package workflows

import (
	"errors"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"github.com/loresync/loresync/activities"
	"github.com/loresync/loresync/internal/knowledge"
)

// SyncPageInput names the page, and the lane in which it was asked for first.
type SyncPageInput struct {
	FolderID string
	PageID   string
	Lane     knowledge.Lane
}

// SyncPageResult is how the last read of a page sync ended.
type SyncPageResult struct {
	Outcome knowledge.Outcome
	// Reason is the class of a failure, skip or refusal.
	Reason string
	// Reads counts how often the source was asked.
	Reads int
	// First is set when the page had never been published before.
	First bool
}

var pageActs *activities.PageActivities

// SyncPageWorkflow reads one page and publishes it.
//
//   - When it ends, the page shows what the source held at a moment after the last request that the run took up, or what it
//     showed before, with the reason recorded on the page.
//   - Its ID is folder/{folderId}/page/{pageId}/sync. Folder syncs, deletes' restores, webhooks, people and due reads start it,
//     and a second request joins.
//   - Signal read-again: the source may have changed; if the run has begun to read since it drained its signals, it reads once
//     more before it ends. No signal is lost: it completes only when the channel is empty.
//   - Continue-as-new carries over nothing but the input; a run only does so after very many reads.
//   - A cancel ends the read, drops what it staged in a disconnected context, and ends the run as cancelled.
//   - Failures of the source or of the content are recorded on the page and are a result. Only a broken worker or database
//     fails the run.
func SyncPageWorkflow(ctx workflow.Context, in SyncPageInput) (SyncPageResult, error) {
	r := &pageRun{in: in, info: workflow.GetInfo(ctx), signals: workflow.GetSignalChannel(ctx, SignalReadAgain)}
	return r.run(ctx)
}

// pageRun is what one run knows; nothing of it survives a continue-as-new.
type pageRun struct {
	in      SyncPageInput
	info    *workflow.Info
	signals workflow.ReceiveChannel
	reads   int
	first   bool
	// token holds the page while something is under way; empty when nothing is to be cleaned up.
	token string
}

func (r *pageRun) run(ctx workflow.Context) (SyncPageResult, error) {
	for {
		drain(r.signals) // what asked before the read is served by it
		result, err := r.readOnce(ctx)
		if err != nil {
			return r.end(ctx, err)
		}
		if drain(r.signals) && result.Outcome != knowledge.OutcomeRefused {
			if workflow.GetInfo(ctx).GetContinueAsNewSuggested() {
				return result, workflow.NewContinueAsNewError(ctx, SyncPageWorkflow, r.in)
			}
			continue
		}
		return result, nil
	}
}

// readOnce is the story of one read: take the page, fetch, ask models, publish.
func (r *pageRun) readOnce(ctx workflow.Context) (SyncPageResult, error) {
	r.reads++
	read, err := local(step(ctx), pageActs.ReadPage, activities.BeginPageInput{
		FolderID: r.in.FolderID, PageID: r.in.PageID, WorkflowID: r.info.WorkflowExecution.ID, FirstRunID: r.info.FirstRunID,
		RunID: r.info.WorkflowExecution.RunID, Lane: r.in.Lane,
	})
	r.token, r.first = read.Token, r.first || read.First
	if err == nil && read.Remote {
		read, err = run(vendorCall(ctx, r.in.Lane), pageActs.FetchPage, r.held(read))
	}
	if err != nil || read.Outcome != "" {
		return r.result(read), err
	}
	modelsFailed := false
	if read.ModelsWanted {
		enriched, err := run(models(ctx), pageActs.EnrichPage, r.held(read))
		switch {
		case ctx.Err() != nil:
			return r.result(read), ctx.Err()
		case err != nil:
			modelsFailed = true // the page is found by its words meanwhile
		case enriched.Outcome != "":
			return r.result(enriched), nil
		}
	}
	published, err := local(step(ctx), pageActs.PublishPage, activities.PublishPageInput{
		FolderID: r.in.FolderID, PageID: r.in.PageID, Token: read.Token, RevisionID: read.RevisionID, ModelsFailed: modelsFailed,
	})
	return r.result(published), err
}

func (r *pageRun) held(read activities.ReadPageResult) activities.HeldPageInput {
	return activities.HeldPageInput{FolderID: r.in.FolderID, PageID: r.in.PageID, Token: read.Token, RevisionID: read.RevisionID}
}

func (r *pageRun) result(read activities.ReadPageResult) SyncPageResult {
	return SyncPageResult{Outcome: read.Outcome, Reason: read.Reason, Reads: r.reads, First: r.first}
}

// end drops what the run staged, in a context that no cancellation reaches, and closes the run: as cancelled, with a recorded
// failure, or failed when not even that could be written.
func (r *pageRun) end(ctx workflow.Context, cause error) (SyncPageResult, error) {
	result := SyncPageResult{Outcome: knowledge.OutcomeFailed, Reason: failureType(cause), Reads: r.reads}
	cancelled := temporal.IsCanceledError(cause) || ctx.Err() != nil
	if cancelled {
		result.Outcome, result.Reason = knowledge.OutcomeCancelled, ""
	}
	recorded := r.token != ""
	if recorded {
		held := activities.HeldPageInput{FolderID: r.in.FolderID, PageID: r.in.PageID, Token: r.token, Outcome: result.Outcome, Reason: result.Reason}
		if _, err := local(step(cleanup(ctx)), pageActs.FinishPage, held); err != nil {
			workflow.GetLogger(ctx).Warn("the cleanup could not be written; the janitor does it", "folder_id", r.in.FolderID, "page_id", r.in.PageID)
			recorded = false
		}
	}
	if cancelled {
		return result, temporal.NewCanceledError()
	}
	if !recorded {
		return result, cause
	}
	return result, nil
}

// failureType is the wire name of a failure's kind.
func failureType(err error) string {
	if failure, ok := errors.AsType[*temporal.ApplicationError](err); ok {
		return failure.Type()
	}
	return activities.FailureUnavailable
}
