package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/loresync/loresync/bench/internal/approaches"
	"github.com/loresync/loresync/bench/internal/proc"
)

const (
	approachTick = 20 * time.Millisecond
	// settleTick is slower: a look is a list of Visibility.
	settleTick = 250 * time.Millisecond
)

var errLeft = errors.New("the delete has ended, but something of the page is left")

// crowdFigures are those of a delete behind a line of syncs.
type crowdFigures struct {
	took time.Duration
	// runs is how often the page was read until the delete had ended.
	runs int
	// inLine is how many requests held or awaited a connection when the delete was asked for.
	inLine   int
	timeouts int64
	history  history
	load     float64
}

// crowd asks for n syncs of one page and, once all are handed in and the first one reads, for its delete.
func (l *lab) crowd(ctx context.Context, c *contender, n int) (crowdFigures, error) {
	pages, err := c.pages(ctx, c.folder("crowd"), 1)
	if err != nil {
		return crowdFigures{}, err
	}
	page := pages[0]
	c.work.SetTakes(crowdTakes)
	var answered atomic.Int64
	group, asking := errgroup.WithContext(ctx)
	for i := range n {
		group.Go(func() error {
			defer answered.Add(1)
			return c.design.Sync(asking, entryOf(i), page)
		})
	}
	var f crowdFigures
	err = eventually(ctx, approachTick, func() (bool, error) {
		var err error
		f.inLine, err = c.design.InLine(ctx)
		return int(answered.Load())+f.inLine >= n && c.work.Begun(page) > 0, err
	})
	if err != nil {
		return f, errors.Join(err, group.Wait())
	}
	begun := time.Now()
	if err := c.remove(ctx, page); err != nil {
		return f, err
	}
	f.took, f.runs, f.load = time.Since(begun), c.work.Begun(page), proc.Load()
	if err := group.Wait(); err != nil {
		return f, fmt.Errorf("ask for a sync: %w", err)
	}
	if c.locks != nil {
		f.timeouts, _ = c.locks.Refused()
	}
	f.history, err = c.history(ctx, pages)
	return f, err
}

// remove deletes a page and looks whether anything is left of it.
func (c *contender) remove(ctx context.Context, page approaches.Page) error {
	if err := c.design.Delete(ctx, page); err != nil {
		return fmt.Errorf("delete a page: %w", err)
	}
	left, err := c.work.Left(ctx, page)
	if err == nil && left > 0 {
		err = errLeft
	}
	return err
}

// restFigures are those of deletes of pages whose sync has a while to go.
type restFigures struct {
	takes time.Duration
	took  []time.Duration
	load  float64
}

// rest deletes pages one by one, or some at once, each as soon as its sync reads.
func (l *lab) rest(ctx context.Context, c *contender, tries int, takes time.Duration, atOnce int) (restFigures, error) {
	f := restFigures{takes: takes, took: make([]time.Duration, tries)}
	pages, err := c.pages(ctx, c.folder("rest"), tries)
	if err != nil {
		return f, err
	}
	c.work.SetTakes(takes)
	group, deleting := errgroup.WithContext(ctx)
	group.SetLimit(atOnce)
	for i, page := range pages {
		group.Go(func() error {
			var err error
			f.took[i], err = c.deleteWhileRead(deleting, page)
			return err
		})
	}
	err = group.Wait()
	f.load = proc.Load()
	return f, err
}

func (c *contender) deleteWhileRead(ctx context.Context, page approaches.Page) (time.Duration, error) {
	asked := make(chan error, 1)
	go func() { asked <- c.design.Sync(ctx, approaches.EntryPerson, page) }()
	if err := eventually(ctx, approachTick, func() (bool, error) { return c.work.Begun(page) > 0, nil }); err != nil {
		return 0, err
	}
	begun := time.Now()
	err := c.remove(ctx, page)
	took := time.Since(begun)
	return took, errors.Join(err, <-asked)
}

// floodFigures are those of all pages asked for from all entry points at once.
type floodFigures struct {
	pages, runs         int
	timeouts, deadlocks int64
	history             history
	usage               usage
	load                float64
}

func (f floodFigures) rate() float64 { return float64(f.pages) / f.usage.wall.Seconds() }

// flood asks for every page from each entry point, all in the same order, and ends when every request is served.
func (l *lab) flood(ctx context.Context, c *contender, n int) (floodFigures, error) {
	f := floodFigures{pages: n}
	var pages []approaches.Page
	for i := range floodFolders {
		more, err := c.pages(ctx, fmt.Sprintf("%s-%02d", c.folder("flood"), i), n/floodFolders)
		if err != nil {
			return f, err
		}
		pages = append(pages, more...)
	}
	c.work.SetTakes(0)
	var timeouts, deadlocks int64
	if c.locks != nil {
		timeouts, deadlocks = c.locks.Refused()
	}
	before, clock := c.work.Total(), l.clock(nil)
	if err := askForAll(ctx, c.design, pages); err != nil {
		return f, err
	}
	err := eventually(ctx, settleTick, func() (bool, error) {
		live, err := c.work.Live(ctx, foldersOf(pages))
		if err != nil || live < int64(n) {
			return false, err
		}
		return c.settled(ctx, c.folder("flood"), c.work.Total()-before, len(pages)*int(approaches.Entries))
	})
	f.usage, f.runs, f.load = l.clock(nil).since(clock), c.work.Total()-before, proc.Load()
	if err != nil {
		return f, err
	}
	if c.locks != nil {
		f.timeouts, f.deadlocks = c.locks.Refused()
		f.timeouts, f.deadlocks = f.timeouts-timeouts, f.deadlocks-deadlocks
	}
	f.history, err = c.history(ctx, pages)
	return f, err
}

func askForAll(ctx context.Context, design approaches.Design, pages []approaches.Page) error {
	entries, asking := errgroup.WithContext(ctx)
	for from := range approaches.Entries {
		entries.Go(func() error {
			group, asking := errgroup.WithContext(asking)
			group.SetLimit(floodStarters)
			for _, page := range pages {
				group.Go(func() error { return design.Sync(asking, from, page) })
			}
			return group.Wait()
		})
	}
	if err := entries.Wait(); err != nil {
		return fmt.Errorf("ask for all pages: %w", err)
	}
	return nil
}

func foldersOf(pages []approaches.Page) []string {
	var folders []string
	for _, page := range pages {
		if !slices.Contains(folders, page.Folder) {
			folders = append(folders, page.Folder)
		}
	}
	return folders
}

// eventually looks until something holds.
func eventually(ctx context.Context, tick time.Duration, holds func() (bool, error)) error {
	ctx, cancel := context.WithTimeoutCause(ctx, lookPatience, errNotSeen)
	defer cancel()
	for {
		if done, err := holds(); err != nil || done {
			return err
		}
		if err := pause(ctx, tick); err != nil {
			return err
		}
	}
}

// percentile is the smallest value that a share of all does not exceed.
func percentile(list []time.Duration, share int) time.Duration {
	if len(list) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(list))
	return sorted[max((len(sorted)*share+99)/100, 1)-1]
}
