package main

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/loresync/loresync/internal/control"
	"github.com/loresync/loresync/internal/knowledge"
	"github.com/loresync/loresync/starter/internal/out"
)

const defaultRuns = 20

func (a *app) runsCommand() *cobra.Command {
	var limit int
	cmd := noun(&cobra.Command{
		Use: "runs [FOLDER]", Short: "List sync runs, or look at one",
		Long: `List the newest sync runs, of one folder or of all. The answer is an array of runs: run_id, workflow_id, folder_id, status,
reason, counts, started_at, ended_at, …

status is one of running, completed, partial, failed, cancelled, refused. A run is partial while a page that it listed failed;
skipped and held pages don't make it so.`,
		Example: `  starter runs
  starter runs handbook --limit 5
  starter runs show RUN`,
		ValidArgsFunction: a.completeFolder,
	}, a.runsShowCommand(), a.runsCancelCommand())
	cmd.Args = between(0, folderArgument("FOLDER"))
	cmd.PreRunE = func(*cobra.Command, []string) error { return positive("limit", limit) }
	cmd.RunE = a.connected(func(ctx context.Context, s *session, args []string) error {
		folder := ""
		if len(args) > 0 {
			folder = args[0]
		}
		runs, err := s.door.Runs(ctx, folder, limit)
		if err != nil {
			return err
		}
		return a.show(list(runs), func() { a.runsTable(runs) })
	})
	cmd.Flags().IntVar(&limit, "limit", defaultRuns, "how many runs, the newest first")
	return cmd
}

func positive(flag string, value int) error {
	if value > 0 {
		return nil
	}
	return &usageError{sentence: fmt.Sprintf("--%s %d is not a number above 0", flag, value)}
}

func (a *app) runsTable(runs []knowledge.Run) {
	if len(runs) == 0 {
		a.Hint("nothing has been synced yet: starter sync folder FOLDER --wait")
		return
	}
	table := out.NewTable("FOLDER", "STATUS", "MODE", "STARTED", "TOOK>", "LISTED>", "NEW>", "CHANGED>", "REMOVED>", "FAILED>", "BY~", "RUN")
	for _, run := range runs {
		count := func(n int64) out.Cell { return out.Plain(out.Number(n)) }
		table.Add(out.Plain(out.Or(run.FolderID, "all folders")), paintStatus(string(run.Status)), out.Plain(string(run.Mode)),
			out.Plain(a.Ago(startOf(run))), out.Plain(a.lasted(run)), count(run.Counts.Listed), count(run.Counts.New),
			count(run.Counts.Changed), some(run.Counts.Removed, ""), some(run.Counts.Failed, "failed"), out.Plain(run.Trigger),
			out.Plain(out.Or(run.RunID, run.WorkflowID)))
	}
	a.Table(table)
}

func (a *app) lasted(run knowledge.Run) string {
	began := *startOf(run)
	if run.EndedAt != nil {
		return out.Took(run.EndedAt.Sub(began))
	}
	return out.Took(a.Now().Sub(began))
}

func (a *app) runsShowCommand() *cobra.Command {
	return &cobra.Command{
		Use: "show RUN", Short: "Show one run",
		Long: `Show what a run did, and which pages failed in it. RUN is a run id, a workflow id, or the last part of one. The answer is a
run with its failures, an array of pages, and as unseen how many pages a full sync did not see and kept.`,
		Example: "  starter runs show 0199d1c2-5b5e-7c6b-a8d5-3f1f3f2d9a10",
		Args:    exactly(textArgument("RUN")),
		RunE: a.connected(func(ctx context.Context, s *session, args []string) error {
			run, err := s.door.Run(ctx, args[0])
			if err != nil {
				return err
			}
			return a.show(run, func() { a.runPairs(run) })
		}),
	}
}

func (a *app) runPairs(run control.RunDetail) {
	a.Pairs([]out.Pair{
		{Name: "folder", Value: out.Plain(out.Or(run.FolderID, "all folders"))},
		{Name: "status", Value: paintStatus(string(run.Status))},
		{Name: "reason", Value: out.Plain(run.Reason)},
		{Name: "verdict", Value: out.Plain(run.Verdict)},
		{Name: "found by", Value: out.Plain(coverage(run.Coverage))},
		{Name: "mode", Value: out.Plain(string(run.Mode))},
		{Name: "asked for by", Value: out.Plain(asker(run.Run))},
		{Name: "requested", Value: out.Plain(a.Ago(&run.RequestedAt))},
		{Name: "took", Value: out.Plain(a.lasted(run.Run))},
		{Name: "run", Value: out.Plain(run.RunID)},
		{Name: "workflow", Value: out.Plain(run.WorkflowID)},
	})
	a.Line("%s", a.countsLine(run.Counts))
	a.unseenLine(run.Unseen)
	if len(run.Failures) > 0 {
		a.Line("")
		a.pagesTable(run.Failures, "", run.FolderID)
		a.Hint("after mending the cause: starter retry %s", run.FolderID)
	}
	if run.Status == knowledge.RunRunning {
		a.Hint("stop it: starter runs cancel %s", named(out.Or(run.RunID, run.WorkflowID)))
	}
}

func asker(run knowledge.Run) string {
	if run.Actor == "" {
		return run.Trigger
	}
	return fmt.Sprintf("%s (%s)", run.Actor, run.Trigger)
}

func (a *app) runsCancelCommand() *cobra.Command {
	return &cobra.Command{
		Use: "cancel RUN", Short: "Cancel a running folder sync",
		Long: `Ask a running sync to end. What it has published stays published; page syncs that others wait for go on. RUN is a run id,
a workflow id, or the last part of one.`,
		Example: "  starter runs cancel 0199d1c2-5b5e-7c6b-a8d5-3f1f3f2d9a10",
		Args:    exactly(textArgument("RUN")),
		RunE: a.connected(func(ctx context.Context, s *session, args []string) error {
			answer, err := s.door.CancelRun(ctx, args[0], a.actor)
			if err != nil {
				return err
			}
			return a.asked(answer, func() { a.Line("asked %s to end", a.Strong(out.Clean(out.Or(answer.WorkflowID, args[0])))) })
		}),
	}
}

// asked is acted for requests that succeed by being accepted: that a run ends as cancelled is what was asked for.
func (a *app) asked(answer control.Answer, human func()) error {
	a.warn(answer.Warnings)
	return a.show(answer, human)
}

func (a *app) retryCommand() *cobra.Command {
	var class string
	cmd := &cobra.Command{
		Use: "retry FOLDER", Short: "Try the failed pages of a folder again",
		Long: `Ask for a sync of each page whose last sync failed, quarantined ones too (those that failed too often to be tried again by
themselves). --class restricts it to one class of failures, the word in front of a failure in "starter page show": Unavailable,
RateLimited, Unauthorized, Invalid or Internal.`,
		Example: `  starter retry handbook
  starter retry handbook --class Unavailable`,
		Args: exactly(folderArgument("FOLDER")), ValidArgsFunction: a.completeFolder,
		RunE: a.connected(func(ctx context.Context, s *session, args []string) error {
			answer, err := s.door.Retry(ctx, args[0], class, a.actor)
			if err != nil {
				return err
			}
			return a.acted(answer, func() {
				switch {
				case answer.Pages == nil:
					a.Line("asked for the failed pages of %s again", a.Strong(args[0]))
				case *answer.Pages == 0:
					a.Line("no page of %s is failing", a.Strong(args[0]))
					return
				default:
					a.Line("asked for %s again", a.Strong(out.Plural(*answer.Pages, "page")))
				}
				a.Hint("what still fails: starter pages %s --state failed", args[0])
			})
		}),
	}
	cmd.Flags().StringVar(&class, "class", "", "only failures of this class")
	return cmd
}

// coverage names how many pages were found in which way.
func coverage(counts map[string]int64) string {
	parts := make([]string, 0, len(counts))
	for _, way := range slices.Sorted(maps.Keys(counts)) {
		parts = append(parts, fmt.Sprintf("%s %d", way, counts[way]))
	}
	return strings.Join(parts, ", ")
}
