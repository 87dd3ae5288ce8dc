package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/loresync/loresync/internal/control"
	"github.com/loresync/loresync/internal/knowledge"
	"github.com/loresync/loresync/starter/internal/out"
)

const waitHelp = "wait until it has ended, and tell how"

func (a *app) syncCommand() *cobra.Command {
	return noun(&cobra.Command{
		Use: "sync", Short: "Bring a folder, a page or everything up to date",
		Long: `Start a sync, or join the one that is there already: nothing is synced by two at once.

The answer is workflow_id, run_id and joined; with --wait also status and counts.`,
		Example: `  starter sync folder handbook --wait
  starter sync page handbook onboarding/first-day.md --wait
  starter sync all`,
	}, a.syncFolderCommand(), a.syncPageCommand(), a.syncAllCommand())
}

func (a *app) syncFolderCommand() *cobra.Command {
	var full, dryRun, wait bool
	cmd := &cobra.Command{
		Use: "folder ID", Short: "Sync a folder",
		Long: `List the folder's source and sync what is new or changed. A page that merely vanished from the source is removed only
after two complete full listings, and many at once become a hold that waits for a person.

Without --full a sync is incremental where the source can tell what changed; files and a folder's first sync are always
listed in full. A sync that has not begun to list is joined. With --dry-run the source is listed and counted, and nothing
changes: the answer (dry_run) has what a sync would find in counts, and in would_remove what it would miss.

unseen in the answer of a full sync counts pages that it did not see and that stay until the next one misses them too.`,
		Example: `  starter sync folder handbook --wait
  starter sync folder handbook --full --wait --json
  starter sync folder handbook --dry-run --wait`,
		Args: exactly(folderArgument("ID")), ValidArgsFunction: a.completeFolder,
		RunE: a.connected(func(ctx context.Context, s *session, args []string) error {
			answer, err := s.door.SyncFolder(ctx, args[0], modeOf(full, dryRun), a.actor)
			if err != nil {
				return err
			}
			return a.synced(ctx, s, answer, wait, syncTarget{what: args[0], folder: args[0], dryRun: dryRun})
		}),
	}
	cmd.Flags().BoolVar(&full, "full", false, "list everything, though the source could tell what changed")
	cmd.Flags().BoolVar(&dryRun, "dry-run", false, "list and count, and change nothing")
	cmd.Flags().BoolVar(&wait, "wait", false, waitHelp)
	return cmd
}

func modeOf(full, dryRun bool) knowledge.Mode {
	switch {
	case dryRun:
		return knowledge.ModeDryRun
	case full:
		return knowledge.ModeFull
	}
	return knowledge.ModeIncremental
}

func (a *app) syncPageCommand() *cobra.Command {
	var wait bool
	cmd := &cobra.Command{
		Use: "page FOLDER PAGE", Short: "Sync one page",
		Long: `Read one page again, before all work in the background. A running sync of the page is joined; if it has read the source
already, it reads once more, so what you see in the source now is what is published.`,
		Example: `  starter sync page handbook onboarding/first-day.md --wait
  starter sync page handbook 3f2a9c0de1b84f6f9a1f0c2d7e5b6a41 --json`,
		Args: exactly(folderArgument("FOLDER"), textArgument("PAGE")), ValidArgsFunction: a.completeFolder,
		RunE: a.connected(func(ctx context.Context, s *session, args []string) error {
			answer, err := s.door.SyncPage(ctx, args[0], args[1], a.actor)
			if err != nil {
				return err
			}
			return a.synced(ctx, s, answer, wait, syncTarget{what: args[1], folder: args[0], page: args[1]})
		}),
	}
	cmd.Flags().BoolVar(&wait, "wait", false, waitHelp)
	return cmd
}

func (a *app) syncAllCommand() *cobra.Command {
	var wait bool
	cmd := &cobra.Command{
		Use: "all", Short: "Sync every active folder in full",
		Long: `Start one full sync for each active folder, as the daily schedule does, or join the batch that is running. Paused folders are
left out: skipped_folders in the answer names them with the reason. When all folders are paused nothing is started, and the exit
code is 4.`,
		Example: `  starter sync all --wait`,
		Args:    exactly(),
		RunE: a.connected(func(ctx context.Context, s *session, _ []string) error {
			answer, err := s.door.SyncAll(ctx, a.actor)
			if err != nil {
				return a.refusedAll(answer, err)
			}
			return a.synced(ctx, s, answer, wait, syncTarget{what: "all folders"})
		}),
	}
	cmd.Flags().BoolVar(&wait, "wait", false, waitHelp)
	return cmd
}

// refusedAll shows what a request for all folders left out before it says that this is all there is.
func (a *app) refusedAll(answer control.Answer, refused error) error {
	if len(answer.SkippedFolders) == 0 {
		return refused
	}
	if err := a.show(answer, func() { a.skippedFolders(answer.SkippedFolders) }); err != nil {
		return err
	}
	return refused
}

// shownSkipped is how many left-out folders people see; the JSON has all.
const shownSkipped = 10

func (a *app) skippedFolders(skipped []control.SkippedFolder) {
	if len(skipped) == 0 {
		return
	}
	a.Line("%s not synced:", a.Paint(out.Plural(int64(len(skipped)), "folder"), paintStatus("skipped").Colors...))
	for _, s := range skipped[:min(len(skipped), shownSkipped)] {
		a.Line("  - %s", out.Clean(s.Sentence))
	}
	if more := len(skipped) - shownSkipped; more > 0 {
		a.Line("  and %s more", out.Number(int64(more)))
	}
}

// syncTarget is what is synced, for the words about it; folder and page are empty for what isn't one.
type syncTarget struct {
	what, folder, page string
	dryRun             bool
}

func (t syncTarget) noun() string {
	if t.dryRun {
		return "dry run"
	}
	return "sync"
}

// synced answers a sync request, at once or when the sync has ended.
func (a *app) synced(ctx context.Context, s *session, answer control.Answer, wait bool, target syncTarget) error {
	if !wait {
		return a.acted(answer, func() { a.syncStarted(answer, target) })
	}
	began := a.Now()
	ended, err := a.await(ctx, answer, waiting{what: target.what, goesOn: goesOn(answer, target), wait: s.door.Wait})
	if err != nil {
		return err
	}
	if ended.Counts == nil {
		ended.Counts = &knowledge.Counts{}
	}
	return a.acted(ended, func() {
		if target.dryRun {
			a.dryRun(ended, target)
			return
		}
		a.Line("%s %s in %s", a.Strong(out.Clean(target.what)), a.painted(ended.Status), out.Took(a.Now().Sub(began)))
		if target.page == "" {
			a.Line("%s", a.countsLine(*ended.Counts))
			a.unseenLine(ended.Unseen)
			a.skippedFolders(ended.SkippedFolders)
		} else if word := pageOutcome(*ended.Counts, target); word != "" {
			a.Line("%s", word)
		}
		a.syncHints(*ended.Counts, target)
	})
}

// unseenLine says why pages that the source doesn't list are still there.
func (a *app) unseenLine(unseen *int64) {
	if unseen != nil && *unseen > 0 {
		a.Line("%s not seen this time: a page goes after the second full sync that doesn't see it", out.Number(*unseen))
	}
}

// shownRemovals is how many pages a dry run names for people; the JSON has more.
const shownRemovals = 10

// dryRun says what a sync would do, and that nothing was done.
func (a *app) dryRun(ended control.Answer, target syncTarget) {
	counts := *ended.Counts
	gone := counts.Removed
	counts.Removed = 0
	a.Line("%s: dry run %s; nothing was changed", a.Strong(out.Clean(target.what)), a.painted(ended.Status))
	a.Line("%s", a.countsLine(counts))
	if gone > 0 {
		a.Line("%s not seen, which the second full sync that doesn't see them would remove:", out.Plural(gone, "page"))
		for _, page := range ended.WouldRemove[:min(len(ended.WouldRemove), shownRemovals)] {
			a.Line("  - %s  %s", out.Title(page.Title), a.Faint(out.Clean(page.SourceID)))
		}
		if more := gone - int64(min(len(ended.WouldRemove), shownRemovals)); more > 0 {
			a.Line("  and %s more", out.Number(more))
		}
	} else {
		a.Line("nothing would be removed")
	}
	a.Hint("do it: starter sync folder %s --full --wait", target.folder)
}

// pageOutcome is what the sync of one page came to; how it failed is said on stderr.
func pageOutcome(c knowledge.Counts, target syncTarget) string {
	switch {
	case c.New > 0, c.Changed > 0:
		return "what the source says now is published"
	case c.Unchanged > 0:
		return "the source says what it said before"
	case c.Skipped > 0:
		return fmt.Sprintf("it was skipped; why: starter page show %s %s", target.folder, named(target.page))
	}
	return ""
}

func (a *app) painted(status string) string {
	cell := paintStatus(status)
	return a.Paint(cell.Text, cell.Colors...)
}

func (a *app) syncStarted(answer control.Answer, target syncTarget) {
	if answer.Joined {
		a.Line("joined the %s of %s that is already there", target.noun(), a.Strong(out.Clean(target.what)))
	} else {
		a.Line("started a %s of %s", target.noun(), a.Strong(out.Clean(target.what)))
	}
	if answer.WorkflowID != "" {
		a.Line("%s", a.Faint(out.Clean(answer.WorkflowID)))
	}
	a.skippedFolders(answer.SkippedFolders)
	switch {
	case target.dryRun:
		a.Hint("nothing is changed by it; what it found: starter runs %s, or --wait next time", target.folder)
	case target.page != "":
		a.Hint("see what came of it: starter page show %s %s", target.folder, named(target.page))
	case target.folder != "":
		a.Hint("follow it: starter status --watch, or starter runs %s", target.folder)
	default:
		a.Hint("follow it: starter status --watch, or starter runs")
	}
}

// goesOn is what Ctrl-C during --wait tells: a page sync has no run of its own to cancel, and is over in a moment.
func goesOn(answer control.Answer, target syncTarget) string {
	if target.page != "" {
		return fmt.Sprintf("the sync goes on; starter delete page %s %s would cancel it, starter page show %s %s tells how it ended",
			target.folder, named(target.page), target.folder, named(target.page))
	}
	return fmt.Sprintf("the %s goes on; starter runs cancel %s cancels it", target.noun(), named(answer.WorkflowID))
}

func (a *app) syncHints(counts knowledge.Counts, target syncTarget) {
	if target.folder == "" || target.page != "" {
		return
	}
	if counts.Failed > 0 {
		a.Hint("what failed, and why: starter pages %s --state failed", target.folder)
	}
	if counts.Held > 0 {
		a.Hint("what waits for you in %s: starter holds list", target.folder)
	}
}
