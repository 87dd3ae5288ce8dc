package main

import (
	"context"
	"fmt"

	"github.com/dustin/go-humanize"

	"github.com/loresync/loresync/bench/internal/report"
)

// floorShare is the share of the server's own rate that a first sync has to reach.
const floorShare = 0.5

// measureFirst syncs a folder for the first time, between two runs of the floor: machines are noisy.
func measureFirst(ctx context.Context, l *lab) (report.Section, error) {
	if err := l.addMain(ctx); err != nil {
		return report.Section{}, err
	}
	before, err := l.floor(ctx, l.options.pages)
	if err != nil {
		return report.Section{}, err
	}
	synced, err := l.syncMeasured(ctx, folderMain)
	if err != nil {
		return report.Section{}, err
	}
	l.filled = true
	after, err := l.floor(ctx, l.options.pages)
	if err != nil {
		return report.Section{}, err
	}
	rows, err := l.firstRows(ctx, synced, before, after)
	return report.Section{
		Note: fmt.Sprintf("%s generated English pages, the built-in models, one worker. The floor is the rate at which the same server completes "+
			"workflows that do nothing but %d local activities, %s of them, right before and after. Processor time depends less than rates do on what "+
			"else the machine does.", humanize.Comma(int64(l.options.pages)), floorSteps, humanize.Comma(int64(l.options.pages))),
		Rows: rows,
		Tables: processorTable(column{synced.usage, "a page", l.options.pages}, column{before.usage, "a workflow of the floor before", l.options.pages},
			column{after.usage, "and after", l.options.pages}),
	}, err
}

func (l *lab) firstRows(ctx context.Context, synced measured, before, after floorRun) ([]report.Row, error) {
	size, err := l.contentSize(ctx)
	if err != nil {
		return nil, err
	}
	rate, floor := float64(l.options.pages)/synced.usage.wall.Seconds(), (before.rate+after.rate)/2
	ratio := rate / floor
	floorTime, pageTime := (before.usage.total()+after.usage.total()).Seconds()/2, synced.usage.total().Seconds()
	rows := []report.Row{
		{What: "page rate ÷ floor", Figure: fmt.Sprintf("%.2f", ratio), Target: fmt.Sprintf("≥ %.2f", floorShare), Met: ratio >= floorShare},
		{What: "pages a second", Figure: fmt.Sprintf("%.1f", rate)},
		{What: "floor, workflows a second", Figure: fmt.Sprintf("%.1f before, %.1f after", before.rate, after.rate)},
		{What: "median page", Figure: fmt.Sprintf("%s, %d chunks", humanize.Bytes(uint64(size.bytes)), size.chunks)},
		{What: "worker's memory at most", Figure: megabytes(synced.peak)},
	}
	if synced.usage.known && before.usage.known && after.usage.known {
		rows = append(rows, report.Row{What: "processor time, floor ÷ page", Figure: fmt.Sprintf("%.2f", floorTime/pageTime)})
	}
	return rows, nil
}

// contentSize is the median page of the shared folder.
type contentSize struct {
	bytes, chunks int64
}

const medianPage = `
SELECT percentile_disc(0.5) WITHIN GROUP (ORDER BY octet_length(r.raw)),
       percentile_disc(0.5) WITHIN GROUP (ORDER BY (SELECT count(*) FROM chunks c WHERE c.revision_id = r.revision_id))
FROM revisions r WHERE r.folder_id = $1`

func (l *lab) contentSize(ctx context.Context) (contentSize, error) {
	var size contentSize
	if err := l.sql.QueryRow(ctx, medianPage, folderMain).Scan(&size.bytes, &size.chunks); err != nil {
		return size, fmt.Errorf("look at the synced pages: %w", err)
	}
	return size, nil
}

func megabytes(bytes int64) string {
	if bytes == 0 {
		return "unknown"
	}
	return humanize.Bytes(uint64(bytes))
}
