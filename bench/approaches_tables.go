package main

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/dustin/go-humanize"

	"github.com/loresync/loresync/bench/internal/approaches"
	"github.com/loresync/loresync/bench/internal/chart"
	"github.com/loresync/loresync/bench/internal/report"
)

const (
	chartName = "approaches.svg"
	// mostReads is how often a page is read that is asked for many times at once: by the run that is there, and once more for those
	// who asked after it had begun to read.
	mostReads = 2
)

// section writes what was measured, and the chart where there is a place for it.
func (c *comparison) section(chartFile string) (report.Section, error) {
	lines, err := linesTable()
	if err != nil {
		return report.Section{}, err
	}
	section := report.Section{
		Note: c.note(), Rows: c.rows(), Tables: []report.Table{c.crowdTable(), c.restTable(), c.floodTable()},
	}
	section.Tables = append(append(section.Tables, c.processorTable()...), lines)
	if chartFile == "" {
		return section, nil
	}
	section.Images = []report.Image{{File: chartName, Alt: c.chartAlt()}}
	return section, chart.WriteFile(chartFile, c.panels())
}

func (c *comparison) note() string {
	return fmt.Sprintf("Measured on %s. The designs of the table above, over the same work: mark the page in flight, read it, write %s. *loresync* is its "+
		"own workflows, which do more (fence, chunks, embeddings, search terms), in local activities where the read takes no time; those cost Temporal less "+
		"than the activities of the others. A lock is asked for again after %s, at the end of the line. Reads beyond one a page are work done twice, but for "+
		"those who asked after a read had begun. All workers run in the bench's process. Designs whose requests wait were measured side by side where they "+
		"wait. The load is the machine's average of a minute, right afterwards.",
		c.when.UTC().Format("2006-01-02 15:04 UTC"), humanize.Bytes(approaches.BodyBytes), wholeSeconds(approaches.DefaultLockTimeout))
}

func (c *comparison) floor() float64 {
	sum := 0.0
	for _, rate := range c.floors {
		sum += rate
	}
	return sum / float64(len(c.floors))
}

const loresync = "loresync"

func (c *comparison) rows() []report.Row {
	crowd, rest, flood := c.crowds[loresync], c.rests[loresync], c.floods[loresync]
	return []report.Row{
		{
			What:   fmt.Sprintf("loresync: reads of a page asked for %d times at once, then deleted", c.crowd),
			Figure: strconv.Itoa(crowd.runs), Target: "≤ " + strconv.Itoa(mostReads), Met: crowd.runs <= mostReads,
		},
		{What: "loresync: its delete", Figure: seconds(crowd.took)},
		{What: "loresync: a delete while a sync has " + wholeSeconds(rest.takes) + " to go, median", Figure: seconds(percentile(rest.took, 50))},
		{What: "loresync: pages a second from three entry points ÷ floor", Figure: fmt.Sprintf("%.2f", flood.rate()/c.floor())},
		{What: fmt.Sprintf("floor, workflows of %d local activities a second", floorSteps), Figure: c.floorText()},
	}
}

func (c *comparison) floorText() string {
	rates := make([]string, len(c.floors))
	for i, rate := range c.floors {
		rates[i] = fmt.Sprintf("%.1f", rate)
	}
	return strings.Join(rates, " before, ") + " after"
}

func (c *comparison) crowdTable() report.Table {
	table := report.Table{Head: []string{
		fmt.Sprintf("%d syncs of %s asked for at once, then a delete", c.crowd, wholeSeconds(crowdTakes)), "delete took", "÷ one sync", "reads of the page",
		"events", "history", "connections held by requests", "lock timeouts", "load",
	}}
	for _, name := range c.names {
		f := c.crowds[name]
		table.Rows = append(table.Rows, []string{
			name, seconds(f.took), fmt.Sprintf("%.2f", f.took.Seconds()/crowdTakes.Seconds()), strconv.Itoa(f.runs), humanize.Comma(f.history.events),
			humanize.Bytes(uint64(f.history.bytes)), strconv.Itoa(f.inLine), humanize.Comma(f.timeouts), loadText(f.load),
		})
	}
	return table
}

// wholeSeconds is a time that was chosen, not measured.
func wholeSeconds(d time.Duration) string { return fmt.Sprintf("%.0f s", d.Seconds()) }

func loadText(load float64) string { return fmt.Sprintf("%.1f", load) }

func (c *comparison) restTable() report.Table {
	table := report.Table{Head: []string{"a delete while one sync is under way", "the sync has to go", "tries", "p50", "p95", "longest", "it waits for", "load"}}
	for _, name := range c.names {
		f := c.rests[name]
		waits := "the end of the sync, however long"
		if cancels := percentile(f.took, 50) < f.takes/2; cancels {
			waits = "the cancel to arrive"
		}
		table.Rows = append(table.Rows, []string{
			name, wholeSeconds(f.takes), strconv.Itoa(len(f.took)), seconds(percentile(f.took, 50)), seconds(percentile(f.took, 95)),
			seconds(percentile(f.took, 100)), waits, loadText(f.load),
		})
	}
	return table
}

func (c *comparison) floodTable() report.Table {
	table := report.Table{Head: []string{
		fmt.Sprintf("%d folders, %s pages, each asked for by %d entry points at once", floodFolders, humanize.Comma(int64(c.pages)), approaches.Entries),
		"pages a second", "÷ floor", "reads", "reads beyond one a page", "lock timeouts, deadlocks", "events a page", "history a page", "load",
	}}
	for _, name := range c.names {
		f, measured := c.floods[name]
		if !measured {
			continue
		}
		pages := float64(f.pages)
		table.Rows = append(table.Rows, []string{
			name, fmt.Sprintf("%.1f", f.rate()), fmt.Sprintf("%.2f", f.rate()/c.floor()), humanize.Comma(int64(f.runs)),
			humanize.Comma(int64(f.runs - f.pages)), fmt.Sprintf("%d, %d", f.timeouts, f.deadlocks), fmt.Sprintf("%.1f", float64(f.history.events)/pages),
			humanize.Bytes(uint64(float64(f.history.bytes) / pages)), loadText(f.load),
		})
	}
	return table
}

// processorTable shows what the rate of each design was bound by.
func (c *comparison) processorTable() []report.Table {
	var columns []column
	for _, name := range c.names {
		if f, measured := c.floods[name]; measured {
			columns = append(columns, column{f.usage, "a page, " + name, f.pages})
		}
	}
	return processorTable(columns...)
}

// codeOf are the functions that stand behind a request.
type codeOf struct {
	name, file           string
	sync, remove, behind []string
}

var codes = []codeOf{
	{
		"database locks", "locks.go",
		[]string{"Locks.Sync", "Locks.holding", "Locks.mayRetry"},
		[]string{"Locks.Delete", "Locks.holding", "Locks.mayRetry"},
		nil,
	},
	{
		"a queue per page", "queue.go",
		[]string{"Queue.Sync", "Queue.ask"},
		[]string{"Queue.Delete", "Queue.ask"},
		[]string{"PageQueueWorkflow", "pageQueue.run", "pageQueue.next", "pageQueue.drain"},
	},
	{
		"the naming rule, smallest form", "named.go",
		[]string{"Named.Sync"},
		[]string{"Named.Delete"},
		[]string{"NamedSyncWorkflow", "NamedDeleteWorkflow", "endSyncs", "namesBelow", "awaitClosed"},
	},
}

// linesTable counts what an entry point runs in its own process, and what there is once for all of them.
func linesTable() (report.Table, error) {
	table := report.Table{Head: []string{"lines of code", "an entry point runs to sync", "and to delete", "workflows and activities behind", "file"}}
	for _, code := range codes {
		row := []string{code.name}
		for _, functions := range [][]string{code.sync, code.remove, code.behind} {
			n, err := approaches.Lines(approaches.Source, code.file, functions...)
			if err != nil {
				return table, err
			}
			row = append(row, strconv.Itoa(n))
		}
		table.Rows = append(table.Rows, append(row, fmt.Sprintf("[%s](internal/approaches/%s)", code.file, code.file)))
	}
	return table, nil
}

// panels are the pictures of the tables.
func (c *comparison) panels() []chart.Panel {
	crowd := chart.Panel{Title: fmt.Sprintf("A delete behind %d syncs of %s: seconds", c.crowd, wholeSeconds(crowdTakes))}
	reads := chart.Panel{Title: fmt.Sprintf("Reads of that page, asked for %d times", c.crowd)}
	flood := chart.Panel{Title: "Pages a second, asked for by three entry points at once"}
	for _, name := range c.names {
		crowd.Bars = append(crowd.Bars, chart.Bar{Name: name, Value: c.crowds[name].took.Seconds()})
		reads.Bars = append(reads.Bars, chart.Bar{Name: name, Value: float64(c.crowds[name].runs)})
		if f, measured := c.floods[name]; measured {
			flood.Bars = append(flood.Bars, chart.Bar{Name: name, Value: f.rate()})
		}
	}
	return []chart.Panel{crowd, reads, flood}
}

// chartAlt says the chart's first panel in words.
func (c *comparison) chartAlt() string {
	parts := make([]string, len(c.names))
	for i, name := range c.names {
		parts[i] = fmt.Sprintf("%s %.1f s", name, c.crowds[name].took.Seconds())
	}
	return fmt.Sprintf("A delete behind %d syncs takes: %s", c.crowd, strings.Join(parts, "; "))
}
