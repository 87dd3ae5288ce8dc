package main

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/loresync/loresync/internal/control"
	"github.com/loresync/loresync/internal/knowledge"
	"github.com/loresync/loresync/internal/store"
	"github.com/loresync/loresync/starter/internal/out"
	"github.com/loresync/loresync/starter/internal/progress"
)

const (
	redrawEvery = time.Second
	// To the upper left corner, erase to the line's end, erase what is below.
	home      = "\x1b[H"
	eraseTail = "\x1b[K\n"
	eraseRest = "\x1b[J"
)

func (a *app) statusCommand() *cobra.Command {
	var watch bool
	cmd := &cobra.Command{
		Use: "status", Short: "What is live, running, failed and held",
		Long: `Show whether Postgres and Temporal answer, what each folder holds and runs, and what waits for a person. With --watch on a
terminal it is redrawn every second until Ctrl-C. The exit code is 5 when Temporal doesn't answer; the status is printed all
the same.

A folder is paused by "starter folder pause", or with its connection, which is then named with its reason: paused_connections
in the JSON. Folders that sync some of the same pages are named too: overlaps of each folder.`,
		Example: `  starter status
  starter status --watch
  starter status --json`,
		Args: exactly(),
		PreRunE: func(*cobra.Command, []string) error {
			if watch && a.JSON {
				return &usageError{sentence: "--watch draws for people: leave out --json"}
			}
			return nil
		},
		RunE: a.connected(func(ctx context.Context, s *session, _ []string) error {
			if watch && a.Terminals.Out {
				return a.watch(ctx, s)
			}
			status, err := s.door.Status(ctx)
			if err != nil {
				return err
			}
			if err := a.show(status, func() { a.status(status) }); err != nil {
				return err
			}
			return endOfStatus(status)
		}),
	}
	cmd.Flags().BoolVar(&watch, "watch", false, "redraw every second on a terminal")
	return cmd
}

func endOfStatus(status control.StatusInfo) error {
	if status.TemporalOK {
		return nil
	}
	return &endedError{code: exitUnreachable, sentence: "Temporal is " + out.Or(status.Temporal, "not reachable")}
}

// watch redraws until the context ends, which is how a person leaves it and no error.
func (a *app) watch(ctx context.Context, s *session) error {
	ticker := time.NewTicker(redrawEvery)
	defer ticker.Stop()
	a.Line("%s", "\x1b[2J")
	for {
		if err := a.redraw(ctx, s); err != nil && ctx.Err() == nil {
			return err
		}
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C:
		}
	}
}

// redraw draws aside and shows at once: a screen that is half old and half new flickers.
func (a *app) redraw(ctx context.Context, s *session) error {
	status, err := s.door.Status(ctx)
	if err != nil {
		return err
	}
	var screen bytes.Buffer
	aside := &app{deps: a.deps, Printer: out.New(&screen, &bytes.Buffer{}, a.Terminals, a.now)}
	aside.status(status)
	fmt.Fprint(a.Answer(), home+strings.ReplaceAll(screen.String(), "\n", eraseTail)+eraseRest)
	return nil
}

func (a *app) status(status control.StatusInfo) {
	temporal := out.Cell{Text: status.Temporal, Colors: paintStatus("down").Colors}
	if status.TemporalOK {
		temporal.Colors = paintStatus("ok").Colors
	}
	pairs := []out.Pair{
		{Name: "loresync", Value: out.Plain(status.Version)},
		{Name: "Postgres", Value: out.Plain(status.Database)},
		{Name: "Temporal", Value: temporal},
		{Name: "vectors", Value: out.Plain(status.VectorStore)},
		{Name: "embeddings", Value: out.Plain(status.EmbeddingModel)},
		{Name: "keeps", Value: out.Plain(kept(status.Retention))},
	}
	if status.Maintenance {
		pairs = append(pairs, out.Pair{Name: "maintenance", Value: out.Cell{Text: "on: nothing starts", Colors: paintStatus("paused").Colors}})
	}
	a.Pairs(pairs)
	a.Line("")
	a.folderStatus(status.Folders)
	a.overlaps(status.Folders)
	a.pausedConnections(status.PausedConnections)
	a.waiting(status)
}

// kept is what the janitor leaves, in one line.
func kept(r store.Retention) string {
	return fmt.Sprintf("%s or those of %s; runs of %s; deletes can be undone for %s", out.Plural(int64(r.Revisions), "revision"),
		out.Plural(int64(r.RevisionsDays), "day"), out.Plural(int64(r.RunsDays), "day"), out.Plural(int64(r.UndoDays), "day"))
}

func (a *app) folderStatus(folders []control.FolderStatus) {
	if len(folders) == 0 {
		a.Line("no folder yet")
		a.Hint("add one: starter folder add ID --source files --root DIRECTORY")
		return
	}
	table := out.NewTable("FOLDER", "STATE", "LIVE>", "PENDING>", "SKIPPED>", "FAILED>", "HELD>", "LAST SYNC", "NOW~")
	for _, f := range folders {
		table.Add(out.Plain(f.ID), paintStatus(f.State), out.Plain(out.Number(f.Pages.Live)), some(f.Pages.Pending, "pending"),
			some(f.Pages.Skipped, "skipped"), some(f.Pages.Failed, "failed"), some(f.Pages.Held, "held"),
			out.Plain(a.Ago(f.LastSyncAt)), a.running(f.Running))
	}
	a.Table(table)
}

// overlaps names each pair of folders that sync some of the same pages once, from the side of the lower one.
func (a *app) overlaps(folders []control.FolderStatus) {
	told := map[string]bool{}
	for _, f := range folders {
		var shown []knowledge.Overlap
		for _, o := range f.Overlaps {
			if o.How == knowledge.OverlapBelow || o.How == knowledge.OverlapSame && !told[o.FolderID] {
				shown = append(shown, o)
			}
		}
		told[f.ID] = true
		if len(shown) > 0 {
			a.Line("folder %s %s: what both hold is synced twice", a.Strong(f.ID), overlapping(shown))
		}
	}
}

// pausedConnections says why folders that nobody paused don't sync.
func (a *app) pausedConnections(connections []control.Connection) {
	for i, c := range connections {
		if i == 0 {
			a.Line("")
		}
		a.Line("connection %s, %s %s: %s", a.Strong(c.Name), a.painted(c.State), a.Ago(c.Since), out.Clean(c.Reason))
		if strings.HasPrefix(c.Reason, knowledge.PausedByToken) {
			a.Hint("mend its credentials; it is checked every minute, or at once: starter connection check %s", c.Name)
		} else {
			a.Hint("let its folders sync again: starter connection resume %s", c.Name)
		}
	}
}

func (a *app) running(run *control.RunningRun) out.Cell {
	if run == nil {
		return out.Cell{}
	}
	state := knowledge.RunProgress{Phase: run.Phase, Listed: run.Listed, Done: run.Done, Failed: run.Failed, Total: run.Total}
	what := ""
	if run.Total > 0 { // otherwise the line names the phase itself
		what = run.Phase
	}
	line := progress.Line(what, state, a.Now().Sub(run.Since), false)
	return out.Cell{Text: line, Colors: paintStatus("running").Colors}
}

func (a *app) waiting(status control.StatusInfo) {
	var waiting []string
	for _, w := range []struct {
		n    int64
		noun string
	}{
		{status.Holds, "hold"},
		{status.UnfinishedDeletes, "unfinished delete"},
		{status.InFlight, "page sync"},
		{status.DueReads, "due read"},
	} {
		if w.n > 0 {
			waiting = append(waiting, out.Plural(w.n, w.noun))
		}
	}
	if len(waiting) > 0 {
		a.Line("")
		a.Line("%s", out.Listing(waiting))
	}
	if status.Holds > 0 {
		a.Hint("decide about holds: starter holds list")
	}
}
