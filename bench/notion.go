package main

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/dustin/go-humanize"

	"github.com/loresync/loresync/bench/internal/report"
	"github.com/loresync/loresync/internal/source/notion/notiontest"
	"github.com/loresync/loresync/internal/source/transport"
)

const (
	// steadyTime is how long the budget of a free workspace is watched.
	steadyTime = 3 * time.Minute
	// steadyPages are more than the budget reads in that time.
	steadyPages = 800
	// fastRate is that of a larger plan.
	fastRate = 30.0
	// Notion's search gives 10,000 pages at most; fewer than some hundreds are read before a person has asked often enough.
	leastNotionPages, mostNotionPages = 500, 10_000
	// personAsks is how often a person asks for a page during the crawl.
	personAsks = 5

	shareGoal  = 0.95
	personGoal = 2 * time.Second
	// notionWorkers are the processes that share one budget.
	notionWorkers = 2
	// notionFolders share one token, and so one budget.
	notionFolders = 2
)

// measureNotionBudget crawls a stand-in of Notion that refuses what comes too soon: at the default rate for a while, and at a
// higher one to its end, with a person who asks for pages meanwhile.
func measureNotionBudget(ctx context.Context, l *lab) (report.Section, error) {
	var steady, fast crawl
	err := l.withNotion(ctx, steadyPages, transport.DefaultPerSecond, func(n *notionLab) error {
		var err error
		steady, err = n.watch(ctx, steadyTime)
		l.say("  %.1f %% of the budget used at %g a second", 100*steady.share(), steady.rate)
		return err
	})
	if err != nil {
		return report.Section{}, err
	}
	err = l.withNotion(ctx, l.options.notionPages-notionFolders, fastRate, func(n *notionLab) error {
		var err error
		fast, err = n.crawl(ctx)
		return err
	})
	if err != nil {
		return report.Section{}, err
	}
	return report.Section{
		Note: budgetNote(l.begun, l.options.notionPages),
		Rows: append(steady.rows("at 3 a second"), fast.rows("at 30 a second")...),
	}, nil
}

// budgetNote says how it was measured.
func budgetNote(when time.Time, pages int) string {
	return fmt.Sprintf("A stand-in of Notion that counts by itself and refuses what exceeds the limit of a minute; %d worker processes, %d folders "+
		"on one token. Measured on %s. At %g requests a second for %s, with more pages than that time reads; then at %g until all of %s pages are read, "+
		"while a person asks for %d pages that were read before. The share is of all requests that the budget allows from the first request on, its "+
		"burst of %d included.", notionWorkers, notionFolders, when.UTC().Format("2006-01-02 15:04 UTC"), transport.DefaultPerSecond, steadyTime, fastRate,
		humanize.Comma(int64(pages)), personAsks, transport.DefaultBurst)
}

// crawl is what the stand-in counted.
type crawl struct {
	rate     float64
	requests []notiontest.Request
	// until is when there was no work any more, or nobody looked any longer.
	until time.Time
	// perMinute is the most within any span of a minute.
	perMinute int
	// persons are the times from a person's request to the first one for the page.
	persons []time.Duration
}

// share is how much of what the budget allowed was used.
func (c crawl) share() float64 {
	if len(c.requests) == 0 {
		return 0
	}
	allowed := c.rate*c.until.Sub(c.requests[0].Time).Seconds() + transport.DefaultBurst
	return float64(len(c.requests)) / allowed
}

func (c crawl) refused() int {
	refused := 0
	for _, r := range c.requests {
		if r.Status == http.StatusTooManyRequests {
			refused++
		}
	}
	return refused
}

func (c crawl) rows(when string) []report.Row {
	limit, share := minuteLimit(c.rate), c.share()
	rows := []report.Row{
		{What: "budget used " + when, Figure: percent(share), Target: "≥ " + percent(shareGoal), Met: share >= shareGoal},
		{
			What: "most requests in 60 s " + when, Figure: humanize.Comma(int64(c.perMinute)), Target: "≤ " + humanize.Comma(int64(limit)),
			Met: c.perMinute <= limit,
		},
		{What: "requests refused " + when, Figure: humanize.Comma(int64(c.refused())), Target: "0", Met: c.refused() == 0},
	}
	if len(c.persons) > 0 {
		var longest time.Duration
		times := make([]string, len(c.persons))
		for i, took := range c.persons {
			longest, times[i] = max(longest, took), seconds(took)
		}
		rows = append(rows,
			report.Row{What: "a person's page, first request after at most", Figure: seconds(longest), Target: "< " + seconds(personGoal), Met: longest < personGoal},
			report.Row{What: "each of them", Figure: strings.Join(times, ", ")})
	}
	return rows
}

func percent(share float64) string { return fmt.Sprintf("%.1f %%", 100*share) }
