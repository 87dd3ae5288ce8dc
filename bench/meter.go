package main

import (
	"fmt"
	"os"
	"time"

	"github.com/loresync/loresync/bench/internal/proc"
	"github.com/loresync/loresync/bench/internal/report"
)

// times are readings of processor time at one moment.
type times struct {
	at                                         time.Time
	worker, postgres, temporal, bench, machine time.Duration
	// known is false where the system doesn't tell.
	known bool
}

// usage is what a stretch of work took.
type usage struct {
	times
	wall time.Duration
}

// clock reads the processor times of all that takes part, and of the whole machine. Without a child the worker is this process.
func (l *lab) clock(c *child) times {
	t := times{at: time.Now(), known: true}
	readings := map[*time.Duration]int{&t.postgres: l.postgres.Pid(), &t.temporal: l.temporal.Pid()}
	if c != nil {
		readings[&t.worker] = c.pid()
	}
	for into, pid := range readings {
		var err error
		if *into, err = proc.CPU(pid); err != nil {
			t.known = false
		}
	}
	t.bench = ownTime(t)
	var err error
	if t.machine, err = proc.Busy(); err != nil {
		t.known = false
	}
	return t
}

// ownTime is the time of this process alone: its children are read by themselves.
func ownTime(t times) time.Duration {
	all, err := proc.CPU(os.Getpid())
	if err != nil {
		return 0
	}
	return all - t.worker - t.postgres - t.temporal
}

func (t times) since(before times) usage {
	return usage{wall: t.at.Sub(before.at), times: times{
		worker: t.worker - before.worker, postgres: t.postgres - before.postgres, temporal: t.temporal - before.temporal,
		bench: t.bench - before.bench, machine: t.machine - before.machine, known: t.known && before.known,
	}}
}

// total is the time of all that takes part.
func (u usage) total() time.Duration { return u.worker + u.postgres + u.temporal + u.bench }

// others is what strangers on the machine took. It tells how far figures in seconds can be trusted.
func (u usage) others() time.Duration { return max(u.machine-u.total(), 0) }

// column is the usage of n pages or workflows.
type column struct {
	usage
	name string
	n    int
}

func (c column) each(d time.Duration) string {
	return fmt.Sprintf("%.2f", d.Seconds()*1000/float64(c.n))
}

// processorTable shows where the processor time went.
func processorTable(columns ...column) []report.Table {
	table := report.Table{Head: []string{"processor time in ms"}}
	for _, c := range columns {
		if !c.known {
			return nil
		}
		table.Head = append(table.Head, c.name)
	}
	for _, part := range []struct {
		name string
		of   func(usage) time.Duration
	}{
		{"worker", func(u usage) time.Duration { return u.worker }},
		{"Postgres", func(u usage) time.Duration { return u.postgres }},
		{"Temporal", func(u usage) time.Duration { return u.temporal }},
		{"this program", func(u usage) time.Duration { return u.bench }},
		{"together", usage.total},
		{"others on the machine meanwhile", usage.others},
	} {
		row, some := []string{part.name}, false
		for _, c := range columns {
			row, some = append(row, c.each(part.of(c.usage))), some || part.of(c.usage) > 0
		}
		if some { // the worker may be this program
			table.Rows = append(table.Rows, row)
		}
	}
	return []report.Table{table}
}
