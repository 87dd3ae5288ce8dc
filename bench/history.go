package main

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/dustin/go-humanize"
	enumspb "go.temporal.io/api/enums/v1"

	"github.com/loresync/loresync/bench/internal/report"
	"github.com/loresync/loresync/internal/control"
	"github.com/loresync/loresync/internal/ids"
	"github.com/loresync/loresync/internal/knowledge"
	"github.com/loresync/loresync/workflows"
)

// maxPageEvents bounds the history of one page sync.
const maxPageEvents = 9

var errOutcome = errors.New("the page sync had another outcome than expected")

// history is the size of workflow histories.
type history struct {
	runs          int
	events, bytes int64
	// mostEvents and mostBytes are those of the largest single run.
	mostEvents, mostBytes int64
}

// historyOf adds up the histories of a chain of runs, from the first run on.
func (l *lab) historyOf(ctx context.Context, workflowID, runID string) (history, error) {
	var sum history
	for {
		described, err := l.Temporal.DescribeWorkflow(ctx, workflowID, runID)
		if err != nil {
			return sum, fmt.Errorf("look at a workflow: %w", err)
		}
		info := described.RawResponse.GetWorkflowExecutionInfo()
		sum.add(info.GetHistoryLength(), info.GetHistorySizeBytes())
		if info.GetStatus() != enumspb.WORKFLOW_EXECUTION_STATUS_CONTINUED_AS_NEW {
			return sum, nil
		}
		if runID, err = l.nextRun(ctx, workflowID, info.GetExecution().GetRunId()); err != nil {
			return sum, err
		}
	}
}

func (h *history) add(events, bytes int64) {
	h.runs++
	h.events, h.bytes = h.events+events, h.bytes+bytes
	h.mostEvents, h.mostBytes = max(h.mostEvents, events), max(h.mostBytes, bytes)
}

// nextRun is the run that a continued one goes on as.
func (l *lab) nextRun(ctx context.Context, workflowID, runID string) (string, error) {
	events := l.Temporal.GetWorkflowHistory(ctx, workflowID, runID, false, enumspb.HISTORY_EVENT_FILTER_TYPE_CLOSE_EVENT)
	last, err := events.Next()
	if err != nil {
		return "", fmt.Errorf("read the end of a workflow: %w", err)
	}
	return last.GetWorkflowExecutionContinuedAsNewEventAttributes().GetNewExecutionRunId(), nil
}

// measureHistory reads the histories of page syncs with every ordinary outcome.
func measureHistory(ctx context.Context, l *lab) (report.Section, error) {
	if err := l.fill(ctx); err != nil {
		return report.Section{}, err
	}
	page, err := l.Control.ResolvePage(ctx, folderMain, l.corpus.Page(0).Path, false)
	if err != nil {
		return report.Section{}, err
	}
	var rows []report.Row
	err = l.withWorker(ctx, func(*child) error { rows, err = l.historyRows(ctx, page.PageID); return err })
	return report.Section{
		Note: "The events of a page sync that a folder sync asked for: the first one, which published, and one that found the page unchanged; and of one " +
			"that a person asked for, which has a signal more.",
		Rows: rows,
	}, err
}

func (l *lab) historyRows(ctx context.Context, page string) ([]report.Row, error) {
	workflowID, err := ids.SyncPage(folderMain, page)
	if err != nil {
		return nil, err
	}
	published, err := l.pageHistory(ctx, workflowID, knowledge.OutcomePublished)
	if err != nil {
		return nil, err
	}
	if err := l.Control.RequestPageSync(ctx, folderMain, page, knowledge.LaneBackfill); err != nil {
		return nil, err
	}
	unchanged, err := l.pageHistory(ctx, workflowID, knowledge.OutcomeUnchanged)
	if err != nil {
		return nil, err
	}
	if _, err := l.Control.SyncPage(ctx, folderMain, page, control.Actor{Name: "bench", Trigger: "cli"}); err != nil {
		return nil, err
	}
	asked, err := l.pageHistory(ctx, workflowID, knowledge.OutcomeUnchanged)
	return []report.Row{
		published.row("published", true), unchanged.row("unchanged", true), asked.row("unchanged, asked for by a person", false),
	}, err
}

// pageHistory waits for the latest run of a page sync and reads its size.
func (l *lab) pageHistory(ctx context.Context, workflowID string, outcome knowledge.Outcome) (history, error) {
	var result workflows.SyncPageResult
	if err := l.Temporal.GetWorkflow(ctx, workflowID, "").Get(ctx, &result); err != nil {
		return history{}, fmt.Errorf("wait for a page sync: %w", err)
	}
	if result.Outcome != outcome {
		return history{}, fmt.Errorf("%w: %s instead of %s", errOutcome, result.Outcome, outcome)
	}
	return l.historyOf(ctx, workflowID, "")
}

func (h *history) row(what string, bounded bool) report.Row {
	row := report.Row{What: "events, " + what, Figure: fmt.Sprintf("%d (%s)", h.events, humanize.Bytes(uint64(h.bytes)))}
	if bounded {
		row.Target, row.Met = "≤ "+strconv.Itoa(maxPageEvents), h.events <= maxPageEvents
	}
	return row
}
