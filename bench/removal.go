package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/dustin/go-humanize"
	"golang.org/x/sync/errgroup"

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
	lookTick        = 2 * time.Millisecond
	lookPatience    = 2 * time.Minute
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
	const accepted = `SELECT count(*) FROM deletes WHERE folder_id = $1`
	took, err := l.timeDelete(ctx, func() (control.Answer, error) {
		return l.Control.DeleteFolder(ctx, folderDelete, false, person)
	}, accepted, folderDelete)
	if err != nil {
		return nil, err
	}
	const left = `SELECT (SELECT count(*) FROM live_pages WHERE folder_id = $1) + (SELECT count(*) FROM in_flight WHERE folder_id = $1)
		+ (SELECT count(*) FROM revisions WHERE folder_id = $1 AND state = 'staged')`
	seen, err := l.number(ctx, left, folderDelete)
	return []report.Row{
		{What: "folder: request to accepted", Figure: milliseconds(took.accepted)},
		{What: "folder: request to answered", Figure: milliseconds(took.answered)},
		{What: "folder: request to ended", Figure: seconds(took.ended)},
		{What: "folder: visible, in flight or staged afterwards", Figure: humanize.Comma(seen), Target: "0", Met: seen == 0},
	}, err
}

// deletion is how long after the request each step of a delete was done.
type deletion struct {
	accepted, answered, ended time.Duration
}

// timeDelete makes a request, and looks at the same time when a query counts its accept.
func (l *lab) timeDelete(ctx context.Context, request func() (control.Answer, error), accepted string, args ...any) (deletion, error) {
	begun := time.Now()
	var d deletion
	var answer control.Answer
	group, asking := errgroup.WithContext(ctx)
	group.Go(func() error {
		err := l.await(asking, 1, accepted, args...)
		d.accepted = time.Since(begun)
		return err
	})
	group.Go(func() error {
		var err error
		answer, err = request()
		d.answered = time.Since(begun)
		return err
	})
	if err := group.Wait(); err != nil {
		return d, err
	}
	_, err := l.Control.Wait(ctx, answer, nil)
	d.ended = time.Since(begun)
	return d, err
}

func (l *lab) deletePages(ctx context.Context) ([]report.Row, error) {
	if err := l.addFolder(ctx, folderLarge, 0); err != nil {
		return nil, err
	}
	text := "# A large page\n\n" + strings.Join(l.corpus.Paragraphs("large", largeParagraphs), "\n\n") + "\n"
	var accepted, answered, ended []time.Duration
	for i := range largePages {
		took, err := l.deletePage(ctx, fmt.Sprintf("large-%d.md", i), text)
		if err != nil {
			return nil, err
		}
		accepted, answered, ended = append(accepted, took.accepted), append(answered, took.answered), append(ended, took.ended)
	}
	return []report.Row{
		{What: "page in flight: request to accepted, median", Figure: milliseconds(median(accepted))},
		{What: "page in flight: request to answered, median", Figure: milliseconds(median(answered))},
		{What: "page in flight: request to ended, median", Figure: seconds(median(ended))},
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
	// The accept counts only if it found the sync in flight: then that has been asked to stop.
	const stopped = `SELECT count(*) FROM in_flight WHERE folder_id = $1 AND page_id = $2 AND cancel_requested`
	return l.timeDelete(ctx, func() (control.Answer, error) {
		return l.Control.DeletePage(ctx, folderLarge, answer.PageID, control.DeleteOptions{}, person)
	}, stopped, folderLarge, answer.PageID)
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

func milliseconds(d time.Duration) string {
	return fmt.Sprintf("%.0f ms", float64(d.Microseconds())/1000)
}
