package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
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
	lookPatience    = 10 * time.Minute
)

var errNotSeen = errors.New("what was waited for did not happen in time")

// measureDelete deletes a folder in the middle of its first sync, and pages while they are read.
func measureDelete(ctx context.Context, l *lab) (report.Section, error) {
	var folder, pages []report.Row
	err := l.withWorker(ctx, func(*child) error {
		var err error
		if folder, err = l.deleteFolder(ctx); err != nil {
			return err
		}
		pages, err = l.deletePages(ctx)
		return err
	})
	return report.Section{
		Note: fmt.Sprintf("A folder of %s pages is deleted when a quarter of its first sync is done; then %d pages, each while it is read. From the accept on "+
			"no reader sees them; a delete has ended when nothing of it is in flight or staged.", humanize.Comma(int64(l.options.pages)), largePages),
		Rows: slices.Concat(folder, pages),
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
	took, err := l.timeDelete(ctx, folderDelete, func() (control.Answer, error) {
		return l.Control.DeleteFolder(ctx, folderDelete, false, person)
	})
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
	// stopped is how many syncs were seen, right after the accept, that it had asked to stop.
	stopped int64
}

// The open deletes of a folder and its pages, and the syncs that were asked to stop and haven't yet.
const (
	openDeletes  = `SELECT count(*) FROM deletes WHERE folder_id = $1 AND finished_at IS NULL`
	stoppedSyncs = `SELECT count(*) FROM in_flight WHERE folder_id = $1 AND cancel_requested`
)

// timeDelete makes a request below a folder, and looks at the same time when it is accepted.
func (l *lab) timeDelete(ctx context.Context, folder string, request func() (control.Answer, error)) (deletion, error) {
	begun := time.Now()
	var d deletion
	var answer control.Answer
	group, asking := errgroup.WithContext(ctx)
	group.Go(func() error {
		err := l.await(asking, 1, openDeletes, folder)
		d.accepted = time.Since(begun)
		if err == nil {
			d.stopped, err = l.number(asking, stoppedSyncs, folder)
		}
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
	d.accepted = min(d.accepted, d.answered) // whoever looks may be late on a busy machine
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
	stopped := int64(0)
	for i := range largePages {
		took, err := l.deletePage(ctx, fmt.Sprintf("large-%d.md", i), text)
		if err != nil {
			return nil, err
		}
		accepted, answered, ended = append(accepted, took.accepted), append(answered, took.answered), append(ended, took.ended)
		stopped += took.stopped
	}
	return []report.Row{
		{What: "pages whose sync was in flight at the accept", Figure: fmt.Sprintf("%d of %d", stopped, largePages)},
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
	return l.timeDelete(ctx, folderLarge, func() (control.Answer, error) {
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

func milliseconds(d time.Duration) string {
	return fmt.Sprintf("%.0f ms", float64(d.Microseconds())/1000)
}
