package main

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/loresync/loresync/bench/internal/report"
)

const (
	folderEmpty = "bench-empty"
	// rounds is how often a short sync is repeated; its median counts.
	rounds = 7
	// The time that a sync without changes may take beyond that of an empty folder.
	unchangedBase    = 500 * time.Millisecond
	unchangedPerPage = 300 * time.Microsecond
	// visibilityLag is how long a workflow that was started may stay unseen: more than twice the longest measured.
	visibilityLag = time.Second
)

// pageTables hold what a page that didn't change must cost no row of.
var pageTables = []string{"pages", "revisions", "chunks", "embeddings", "listing_entries"}

// measureUnchanged syncs a folder in which nothing has changed: its time beside an empty folder's, and what it wrote.
func measureUnchanged(ctx context.Context, l *lab) (report.Section, error) {
	if err := l.fill(ctx); err != nil {
		return report.Section{}, err
	}
	if err := l.addFolder(ctx, folderEmpty, 0); err != nil {
		return report.Section{}, err
	}
	// What Postgres does by itself some minutes after a large change, so that it doesn't do it in the middle.
	if _, err := l.sql.Exec(ctx, `VACUUM (ANALYZE)`); err != nil {
		return report.Section{}, fmt.Errorf("vacuum the database: %w", err)
	}
	empty, full, err := l.timeUnchanged(ctx)
	if err != nil {
		return report.Section{}, err
	}
	cost, err := l.costUnchanged(ctx)
	if err != nil {
		return report.Section{}, err
	}
	return report.Section{
		Note: fmt.Sprintf("The folder of the first sync again, %d times in turn with an empty folder; medians. What was written is that of one more sync.",
			rounds),
		Rows: append(l.timeRows(empty, full), cost.rows(l.options.pages)...), Tables: cost.tables(),
	}, nil
}

// timeUnchanged gives the median times of an empty folder's sync and of the shared folder's.
func (l *lab) timeUnchanged(ctx context.Context) (empty, full time.Duration, err error) {
	times := map[string][]time.Duration{}
	err = l.withWorker(ctx, func(*child) error {
		for range rounds {
			for _, folder := range []string{folderEmpty, folderMain} {
				begun := time.Now()
				if _, err := l.sync(ctx, folder); err != nil {
					return err
				}
				times[folder] = append(times[folder], time.Since(begun))
			}
		}
		return nil
	})
	return median(times[folderEmpty]), median(times[folderMain]), err
}

func median(list []time.Duration) time.Duration {
	if len(list) == 0 {
		return 0
	}
	return slices.Sorted(slices.Values(list))[len(list)/2]
}

func (l *lab) timeRows(empty, full time.Duration) []report.Row {
	beyond, bound := full-empty, unchangedBase+time.Duration(l.options.pages)*unchangedPerPage
	return []report.Row{
		{What: "time beyond an empty folder's sync", Figure: seconds(beyond), Target: "≤ " + seconds(bound), Met: beyond <= bound},
		{What: "time of an empty folder's sync", Figure: seconds(empty)},
	}
}

func seconds(d time.Duration) string { return fmt.Sprintf("%.3f s", d.Seconds()) }

// cost is what a sync without changes did.
type cost struct {
	pageSyncs int64
	written   rows
	logged    int64
}

const pageSyncsQuery = `WorkflowType = 'SyncPageWorkflow'`

func (l *lab) costUnchanged(ctx context.Context) (cost, error) {
	var c cost
	before, err := l.writtenRows(ctx)
	if err != nil {
		return c, err
	}
	if err := l.withWorker(ctx, func(*child) error { return l.countUnchanged(ctx, &c) }); err != nil {
		return c, err
	}
	after, err := l.writtenRows(ctx)
	c.written = after.since(before)
	return c, err
}

// countUnchanged syncs once and counts page workflows and bytes of the log.
func (l *lab) countUnchanged(ctx context.Context, c *cost) error {
	workflowsBefore, err := l.countWorkflows(ctx, pageSyncsQuery)
	if err != nil {
		return err
	}
	loggedBefore, err := l.logged(ctx)
	if err != nil {
		return err
	}
	if _, err := l.sync(ctx, folderMain); err != nil {
		return err
	}
	loggedAfter, err := l.logged(ctx)
	if err != nil {
		return err
	}
	if err := pause(ctx, visibilityLag); err != nil {
		return err
	}
	workflowsAfter, err := l.countWorkflows(ctx, pageSyncsQuery)
	c.pageSyncs, c.logged = workflowsAfter-workflowsBefore, loggedAfter-loggedBefore
	return err
}

func (c cost) rows(pages int) []report.Row {
	pageRows := int64(0)
	for _, table := range pageTables {
		pageRows += c.written[table]
	}
	zero := func(what string, n int64) report.Row {
		return report.Row{What: what, Figure: strconv.FormatInt(n, 10), Target: "0", Met: n == 0}
	}
	return []report.Row{
		zero("page workflows started", c.pageSyncs),
		zero("embeddings written", c.written["embeddings"]),
		zero("rows written for pages", pageRows),
		{What: "bytes of Postgres' log a page", Figure: fmt.Sprintf("%.1f", float64(c.logged)/float64(pages))},
	}
}

// tables show every table in which a row was written.
func (c cost) tables() []report.Table {
	table := report.Table{Head: []string{"table", "rows written by the whole sync"}}
	for _, name := range pageTables {
		table.Rows = append(table.Rows, []string{name, strconv.FormatInt(c.written[name], 10)})
	}
	for _, name := range c.written.names() {
		if !slices.Contains(pageTables, name) {
			table.Rows = append(table.Rows, []string{name, strconv.FormatInt(c.written[name], 10)})
		}
	}
	return []report.Table{table}
}
