package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/robfig/cron/v3"
	"github.com/spf13/cobra"

	"github.com/loresync/loresync/internal/control"
	"github.com/loresync/loresync/starter/internal/out"
)

func (a *app) scheduleCommand() *cobra.Command {
	return noun(&cobra.Command{
		Use: "schedule", Short: "The daily batch",
		Long: `The schedule starts one full sync of every active folder. The answer is cron, timezone, jitter, paused, next_runs and
last_run_at.`,
		Example: `  starter schedule show
  starter schedule set --cron '0 3 * * *' --timezone Asia/Tokyo`,
	}, a.scheduleShowCommand(), a.scheduleSetCommand(), a.scheduleTriggerCommand())
}

func (a *app) scheduleShowCommand() *cobra.Command {
	return &cobra.Command{
		Use: "show", Short: "Show when the batch runs",
		Long:    `Show the schedule, and its next three runs in its own time zone.`,
		Example: "  starter schedule show",
		Args:    exactly(),
		RunE: a.connected(func(ctx context.Context, s *session, _ []string) error {
			schedule, err := s.door.Schedule(ctx)
			if err != nil {
				return err
			}
			return a.show(schedule, func() { a.schedule(schedule) })
		}),
	}
}

// shownRuns is how many of the next runs people see.
const shownRuns = 3

func (a *app) schedule(schedule control.ScheduleInfo) {
	state := "active"
	if schedule.Paused {
		state = "paused"
	}
	a.Pairs(append([]out.Pair{
		{Name: "cron", Value: out.Plain(schedule.Cron)},
		{Name: "time zone", Value: out.Plain(schedule.Timezone)},
		{Name: "jitter", Value: out.Plain(schedule.Jitter)},
		{Name: "state", Value: paintStatus(state)},
		{Name: "last run", Value: out.Plain(a.Ago(schedule.LastRunAt))},
	}, a.nextRuns(schedule)...))
}

func (a *app) nextRuns(schedule control.ScheduleInfo) []out.Pair {
	zone, err := time.LoadLocation(schedule.Timezone)
	if err != nil {
		zone = time.UTC
	}
	pairs := make([]out.Pair, min(len(schedule.NextRuns), shownRuns))
	for i := range pairs {
		at := schedule.NextRuns[i]
		pairs[i].Value = out.Plain(fmt.Sprintf("%s (%s)", at.In(zone).Format("Mon 2 Jan 2006 15:04 MST"), a.Ago(&at)))
	}
	if len(pairs) > 0 {
		pairs[0].Name = "next runs"
	}
	return pairs
}

func (a *app) scheduleSetCommand() *cobra.Command {
	var spec control.ScheduleSpec
	var jitter time.Duration
	cmd := &cobra.Command{
		Use: "set", Short: "Change when the batch runs",
		Long: `Set when the batch runs, as a cron expression of five fields (minute, hour, day, month, weekday) in a time zone by
its IANA name. Jitter spreads the start, so that many deployments don't ask the vendors at the same second. What isn't given
stays as it is.`,
		Example: `  starter schedule set --cron '0 3 * * *' --timezone Asia/Tokyo
  starter schedule set --cron '30 22 * * 1-5' --timezone Europe/Berlin --jitter 10m`,
		Args: exactly(),
		PreRunE: func(cmd *cobra.Command, _ []string) error {
			if cmd.Flags().Changed("jitter") {
				spec.Jitter = &jitter
			}
			return checkSchedule(spec, a.Now())
		},
		RunE: a.connected(func(ctx context.Context, s *session, _ []string) error {
			schedule, err := s.door.SetSchedule(ctx, spec)
			if err != nil {
				return err
			}
			return a.show(schedule, func() { a.schedule(schedule) })
		}),
	}
	cmd.Flags().StringVar(&spec.Cron, "cron", "", "when, such as '0 3 * * *'")
	cmd.Flags().StringVar(&spec.Timezone, "timezone", "", "the zone of its times, such as Asia/Tokyo or UTC")
	cmd.Flags().DurationVar(&jitter, "jitter", 0, "start up to this much later, such as 10m; 0 starts on the minute")
	return cmd
}

// checkSchedule refuses what Temporal would refuse in its own words, or would accept and never run.
func checkSchedule(spec control.ScheduleSpec, now time.Time) error {
	switch {
	case spec == control.ScheduleSpec{}:
		return &usageError{sentence: "nothing to set: give --cron, --timezone or --jitter"}
	case spec.Jitter != nil && *spec.Jitter < 0:
		return &usageError{sentence: fmt.Sprintf("--jitter %s is below 0", *spec.Jitter)}
	}
	if _, err := time.LoadLocation(spec.Timezone); err != nil || spec.Timezone == "Local" {
		return &usageError{sentence: fmt.Sprintf("--timezone %q is unknown: give an IANA name such as Asia/Tokyo", spec.Timezone)}
	}
	if spec.Cron == "" {
		return nil
	}
	return checkCron(spec.Cron, now)
}

func checkCron(line string, now time.Time) error {
	if strings.ContainsAny(line, "@=#") {
		return &usageError{sentence: fmt.Sprintf("--cron %q is not five fields, such as '0 3 * * *'; the zone is given by --timezone", line)}
	}
	schedule, err := cron.ParseStandard(line)
	if err != nil {
		return &usageError{sentence: fmt.Sprintf("--cron %q is not a cron expression: %s", line, err)}
	}
	if schedule.Next(now).IsZero() {
		return &usageError{sentence: fmt.Sprintf("--cron %q never comes", line)}
	}
	return nil
}

func (a *app) scheduleTriggerCommand() *cobra.Command {
	return &cobra.Command{
		Use: "trigger", Short: "Run the batch now",
		Long: `Start the batch as the schedule would, or join the one that is running. The answer is workflow_id, run_id and joined, and
skipped_folders as of "starter sync all".`,
		Example: "  starter schedule trigger",
		Args:    exactly(),
		RunE: a.connected(func(ctx context.Context, s *session, _ []string) error {
			answer, err := s.door.TriggerSchedule(ctx, a.actor)
			if err != nil {
				return a.refusedAll(answer, err)
			}
			return a.acted(answer, func() { a.syncStarted(answer, syncTarget{what: "all folders"}) })
		}),
	}
}
