package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/dustin/go-humanize"

	"github.com/loresync/loresync/bench/internal/corpus"
	"github.com/loresync/loresync/bench/internal/report"
	"github.com/loresync/loresync/internal/control"
	"github.com/loresync/loresync/internal/knowledge"
)

const (
	folderDelete = "bench-delete"
	folderLarge  = "bench-large"
	// largePages are deleted one by one while they are read. Each is large, so that its read takes a while.
	largePages      = 5
	largeParagraphs = 4000
	lookTick        = 5 * time.Millisecond
	lookPatience    = 5 * time.Minute
)

var errNotSeen = errors.New("what was waited for did not happen in time")

// measureDelete deletes a folder in the middle of its first sync, and pages while they are read.
func measureDelete(ctx context.Context, l *lab) (report.Section, error) {
	var rows []report.Row
	err := l.withWorker(ctx, func(*child) error {
		folder, err := l.deleteFolder(ctx)
		if err != nil {
			return err
		}
		pages, err := l.deletePages(ctx)
		rows = append(folder, pages...)
		return err
	})
	return report.Section{
		Note: fmt.Sprintf("A folder of %s pages is deleted when a quarter of its first sync is done; then %d pages, each while it is read. From the accept on "+
			"no reader sees them; a delete has ended when nothing of it is in flight or staged.", humanize.Comma(int64(l.options.pages)), largePages),
		Rows: rows,
	}, err
}

func (l *lab) deleteFolder(ctx context.Context) ([]report.Row, error) {
	if err := l.addFolder(ctx, folderDelete, l.options.pages); err != nil {
		return nil, err
	}
	if _, err := l.Control.SyncFolder(ctx, folderDelete, knowledge.ModeFull, person); err != nil {
		return nil, err
	}
	const published = `SELECT count(*) FROM live_pages WHERE folder_id = $1`
	if err := l.await(ctx, int64(l.options.pages/4), published, folderDelete); err != nil {
		return nil, err
	}
	took, err := l.timeDelete(ctx, func() (control.Answer, error) { return l.Control.DeleteFolder(ctx, folderDelete, false, person) })
	if err != nil {
		return nil, err
	}
	const left = `SELECT (SELECT count(*) FROM live_pages WHERE folder_id = $1) + (SELECT count(*) FROM in_flight WHERE folder_id = $1)
		+ (SELECT count(*) FROM revisions WHERE folder_id = $1 AND state = 'staged')`
	seen, err := l.number(ctx, left, folderDelete)
	return []report.Row{
		{What: "folder: request to accepted and started", Figure: milliseconds(took.accepted)},
		{What: "folder: accept to ended", Figure: seconds(took.ended)},
		{What: "folder: visible, in flight or staged afterwards", Figure: humanize.Comma(seen), Target: "0", Met: seen == 0},
	}, err
}

// deletion is how long the steps of a delete took.
type deletion struct {
	accepted, ended time.Duration
}

func (l *lab) timeDelete(ctx context.Context, request func() (control.Answer, error)) (deletion, error) {
	begun := time.Now()
	answer, err := request()
	if err != nil {
		return deletion{}, err
	}
	accepted := time.Now()
	_, err = l.Control.Wait(ctx, answer, nil)
	return deletion{accepted: accepted.Sub(begun), ended: time.Since(accepted)}, err
}

func (l *lab) deletePages(ctx context.Context) ([]report.Row, error) {
	if err := l.addFolder(ctx, folderLarge, 0); err != nil {
		return nil, err
	}
	text := "# A large page\n\n" + strings.Join(l.corpus.Paragraphs("large", largeParagraphs), "\n\n") + "\n"
	var accepted, ended []time.Duration
	for i := range largePages {
		took, err := l.deletePage(ctx, fmt.Sprintf("large-%d.md", i), text)
		if err != nil {
			return nil, err
		}
		accepted, ended = append(accepted, took.accepted), append(ended, took.ended)
	}
	return []report.Row{
		{What: "page in flight: request to accepted and started, median", Figure: milliseconds(median(accepted))},
		{What: "page in flight: accept to ended, median", Figure: seconds(median(ended))},
	}, nil
}

// deletePage deletes a page as soon as a sync of it is in flight.
func (l *lab) deletePage(ctx context.Context, path, text string) (deletion, error) {
	if err := corpus.Put(l.root(folderLarge), path, text, 0); err != nil {
		return deletion{}, err
	}
	answer, err := l.Control.SyncPage(ctx, folderLarge, path, person)
	if err != nil {
		return deletion{}, err
	}
	const inFlight = `SELECT count(*) FROM in_flight WHERE folder_id = $1 AND page_id = $2`
	if err := l.await(ctx, 1, inFlight, folderLarge, answer.PageID); err != nil {
		return deletion{}, err
	}
	return l.timeDelete(ctx, func() (control.Answer, error) {
		return l.Control.DeletePage(ctx, folderLarge, answer.PageID, control.DeleteOptions{}, person)
	})
}

// await looks until a count is reached.
func (l *lab) await(ctx context.Context, n int64, query string, args ...any) error {
	ctx, cancel := context.WithTimeoutCause(ctx, lookPatience, errNotSeen)
	defer cancel()
	for {
		there, err := l.number(ctx, query, args...)
		if err != nil || there >= n {
			return err
		}
		if err := pause(ctx, lookTick); err != nil {
			return err
		}
	}
}

func milliseconds(d time.Duration) string { return fmt.Sprintf("%.0f ms", float64(d.Microseconds())/1000) }
