package main

import (
	"context"
	"fmt"

	"github.com/dustin/go-humanize"

	"github.com/loresync/loresync/bench/internal/report"
)

const (
	folderMemory = "bench-memory"
	maxMemory    = 250_000_000
	maxEvents    = 5_000
	maxBytes     = 5_000_000
)

// measureMemory syncs a large folder: the most memory that the worker held, and the history of the folder sync.
func measureMemory(ctx context.Context, l *lab) (report.Section, error) {
	pages := l.options.memoryPages
	if err := l.addFolder(ctx, folderMemory, pages); err != nil {
		return report.Section{}, err
	}
	synced, err := l.syncMeasured(ctx, folderMemory)
	if err != nil {
		return report.Section{}, err
	}
	size, err := l.historyOf(ctx, synced.answer.WorkflowID, synced.answer.RunID)
	return report.Section{
		Note: fmt.Sprintf("A first sync of %s pages. The history is that of the folder sync, all its runs added up.", humanize.Comma(int64(pages))),
		Rows: []report.Row{
			{What: "worker's memory at most", Figure: megabytes(synced.peak), Target: "< " + megabytes(maxMemory), Met: synced.peak > 0 && synced.peak < maxMemory},
			{What: "events of the folder sync", Figure: humanize.Comma(size.events), Target: "< " + humanize.Comma(maxEvents), Met: size.events < maxEvents},
			{What: "bytes of its history", Figure: humanize.Bytes(uint64(size.bytes)), Target: "< " + humanize.Bytes(maxBytes), Met: size.bytes < maxBytes},
			{
				What:   "its runs, and the largest of them",
				Figure: fmt.Sprintf("%d, %s events, %s", size.runs, humanize.Comma(size.mostEvents), humanize.Bytes(uint64(size.mostBytes))),
			},
			{What: "pages a second", Figure: fmt.Sprintf("%.1f", float64(pages)/synced.usage.wall.Seconds())},
		},
		Tables: processorTable(column{synced.usage, "a page", pages}),
	}, err
}
