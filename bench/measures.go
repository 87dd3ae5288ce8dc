package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/loresync/loresync/bench/internal/report"
)

// measure is one thing to measure. Each starts its own worker, so that its memory and processor time are its own.
type measure struct {
	name  string
	title string
	take  func(context.Context, *lab) (report.Section, error)
}

// measures stand in the order in which they are taken: the largest last, since it fills the servers' databases.
var measures = []measure{
	{"first", "First sync", measureFirst},
	{"unchanged", "Second sync, nothing changed", measureUnchanged},
	{"edit", "One paragraph edited", measureEdit},
	{"history", "History of a page sync", measureHistory},
	{"delete", "Deletes during a sync", measureDelete},
	{"approaches", "Three designs compared", measureApproaches},
	{"notion-budget", "Rate budget of Notion", measureNotionBudget},
	{"memory", "Memory and history of a large folder", measureMemory},
}

func measureNames() []string {
	names := make([]string, len(measures))
	for i, m := range measures {
		names[i] = m.name
	}
	return names
}

// measure takes all measures that aren't skipped.
func (l *lab) measure(ctx context.Context) (*report.Report, error) {
	figures := &report.Report{Facts: l.facts(ctx)}
	var failed error
	for _, m := range measures {
		section := report.Section{Missing: "skipped"}
		if l.options.takes(m.name) {
			var err error
			if section, err = l.take(ctx, m); err != nil {
				failed = errors.Join(failed, fmt.Errorf("measure %s: %w", m.name, err))
				section = report.Section{Missing: "it failed in this run"}
			}
		}
		section.Title = m.title
		figures.Sections = append(figures.Sections, section)
	}
	return figures, failed
}

func (l *lab) take(ctx context.Context, m measure) (report.Section, error) {
	if ctx.Err() != nil {
		return report.Section{}, context.Cause(ctx)
	}
	l.say("%s …", m.title)
	begun := time.Now()
	section, err := m.take(ctx, l)
	if err != nil {
		l.say("  failed: %v", err)
		return section, err
	}
	for _, row := range section.Rows {
		l.say("  %s", plainRow(row))
	}
	l.say("  (took %s)", time.Since(begun).Round(time.Second))
	return section, nil
}

// plainRow is a figure for a terminal.
func plainRow(row report.Row) string {
	text := row.What + ": " + row.Figure
	switch {
	case row.Target == "":
		return text
	case row.Met:
		return text + " (target " + row.Target + ", met)"
	}
	return text + " (target " + row.Target + ", MISSED)"
}
