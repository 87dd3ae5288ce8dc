package main

import (
	"context"
	"fmt"
	"time"

	"github.com/dustin/go-humanize"
	"golang.org/x/sync/errgroup"

	"github.com/loresync/loresync/bench/internal/approaches"
	"github.com/loresync/loresync/bench/internal/report"
)

const (
	// crowdTakes is how long each of the syncs takes that stand before a delete.
	crowdTakes = 2 * time.Second
	// longTakes is what a sync has to go when its page is deleted, and shortTakes where the delete has to wait for it.
	longTakes, shortTakes = time.Minute, 5 * time.Second
	// deleteTries is how often loresync's delete is timed, namedTries that of the rule's smallest form, and waitTries the others'.
	deleteTries, namedTries, waitTries = 50, 10, 5
	// floodFolders hold the pages that are asked for from all entry points at once, floodStarters at a time from each.
	floodFolders, floodStarters = 20, 16
	// mostCrowd keeps those that wait below the connections there are.
	mostCrowd = 50
	// floorPages bounds the floor of this measure.
	floorPages = 500
)

// comparison is what was measured of each design. The lists stand in the order of the designs.
type comparison struct {
	when   time.Time
	crowd  int
	pages  int
	floors []float64
	names  []string
	crowds map[string]crowdFigures
	rests  map[string]restFigures
	floods map[string]floodFigures
}

// measureApproaches gives the same load to database locks, a queue per page, the naming rule in its smallest form, and loresync.
func measureApproaches(ctx context.Context, l *lab) (report.Section, error) {
	c := &comparison{
		when: time.Now(), crowd: l.options.crowd, pages: l.options.pages / floodFolders * floodFolders,
		crowds: map[string]crowdFigures{}, rests: map[string]restFigures{}, floods: map[string]floodFigures{},
	}
	err := l.withContenders(ctx, func(all contenders) error {
		for _, one := range all.list() {
			c.names = append(c.names, one.name)
		}
		return l.compare(ctx, all, c)
	})
	if err != nil {
		return report.Section{}, err
	}
	return c.section(l.options.chartFile())
}

// compare takes all figures, between two runs of the floor.
func (l *lab) compare(ctx context.Context, all contenders, c *comparison) error {
	steps := []func(context.Context, contenders, *comparison) error{l.compareFloor, l.compareCrowds, l.compareRests, l.compareFloods, l.compareFloor}
	for _, step := range steps {
		if err := step(ctx, all, c); err != nil {
			return err
		}
	}
	return nil
}

func (l *lab) compareFloor(ctx context.Context, _ contenders, c *comparison) error {
	run, err := l.floor(ctx, min(l.options.pages, floorPages))
	c.floors = append(c.floors, run.rate)
	return err
}

// compareCrowds deletes a page for which syncs stand in line. Designs whose requests wait take most of the time and none of the
// processor, so they wait side by side; the others are measured alone.
func (l *lab) compareCrowds(ctx context.Context, all contenders, c *comparison) error {
	for _, together := range [][]*contender{{all.locks, all.queue}, {all.thriftyLocks, all.thriftyQueue}, {all.named}, {all.loresync}} {
		figures := make([]crowdFigures, len(together))
		group, measuring := errgroup.WithContext(ctx)
		for i, one := range together {
			group.Go(func() error {
				var err error
				figures[i], err = l.crowd(measuring, one, c.crowd)
				return err
			})
		}
		if err := group.Wait(); err != nil {
			return err
		}
		for i, one := range together {
			c.crowds[one.name] = figures[i]
			l.say("  %s: %s behind %d syncs, %d runs", one.name, seconds(figures[i].took), c.crowd, figures[i].runs)
		}
	}
	return nil
}

// compareRests deletes pages whose sync has long to go. Where the delete has to wait for it, a shorter sync tells as much.
func (l *lab) compareRests(ctx context.Context, all contenders, c *comparison) error {
	for _, one := range all.list() {
		tries, takes, atOnce := waitTries, shortTakes, waitTries
		switch one {
		case all.named:
			tries, takes, atOnce = namedTries, longTakes, 1
		case all.loresync:
			tries, takes, atOnce = deleteTries, longTakes, 1
		}
		figures, err := l.rest(ctx, one, tries, takes, atOnce)
		if err != nil {
			return fmt.Errorf("%s: %w", one.name, err)
		}
		c.rests[one.name] = figures
		l.say("  %s: %s with %s to go", one.name, seconds(percentile(figures.took, 50)), wholeSeconds(takes))
	}
	return nil
}

// compareFloods asks for all pages from all entry points at once. The thrifty queue is left out: how many of its requests are done
// can't be seen from outside, and its line is too short here to save much.
func (l *lab) compareFloods(ctx context.Context, all contenders, c *comparison) error {
	for _, one := range all.list() {
		if one == all.thriftyQueue {
			continue
		}
		figures, err := l.flood(ctx, one, c.pages)
		if err != nil {
			return fmt.Errorf("%s: %w", one.name, err)
		}
		c.floods[one.name] = figures
		l.say("  %s: %.1f pages a second, %s runs", one.name, figures.rate(), humanize.Comma(int64(figures.runs)))
	}
	return nil
}

// entryOf spreads requests over the entry points.
func entryOf(i int) approaches.Entry { return approaches.Entry(i % int(approaches.Entries)) }
