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
	at                                        time.Time
	worker, postgres, temporal, bench, machine time.Duration
	// known is false where the system doesn't tell.
	known bool
}

// usage is what a stretch of work took.
type usage struct {
	times
	wall time.Duration
}

// clock reads the processor times of all that takes part, and of the whole machine.
func (l *lab) clock(c *child) times {
	t := times{at: time.Now(), known: true}
	for _, reading := range []struct {
		into *time.Duration
		pid  int
	}{{&t.worker, c.pid()}, {&t.postgres, l.postgres.Pid()}, {&t.temporal, l.temporal.Pid()}} {
		var err error
		if *reading.into, err = proc.CPU(reading.pid); err != nil {
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

// table shows where the processor time of n pages went. What strangers took tells how far the figures can be trusted.
func (u usage) table(n int) []report.Table {
	if !u.known {
		return nil
	}
	strangers := max(u.machine-u.worker-u.postgres-u.temporal-u.bench, 0)
	table := report.Table{Head: []string{"processor time", "seconds", "ms a page"}}
	for _, part := range []struct {
		name string
		time time.Duration
	}{{"worker", u.worker}, {"Postgres", u.postgres}, {"Temporal", u.temporal}, {"this program", u.bench}, {"others on the machine", strangers}} {
		each := part.time.Seconds() * 1000 / float64(n)
		table.Rows = append(table.Rows, []string{part.name, fmt.Sprintf("%.1f", part.time.Seconds()), fmt.Sprintf("%.2f", each)})
	}
	return []report.Table{table}
}
