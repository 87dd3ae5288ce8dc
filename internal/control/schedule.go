package control

import (
	"context"
	"errors"
	"strings"
	"time"
	_ "time/tzdata" // time zones are known on machines without a zone database too

	"github.com/robfig/cron/v3"
	"go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/temporal"

	"github.com/loresync/loresync/internal/ids"
	"github.com/loresync/loresync/workflows"
)

const (
	defaultCron     = "0 3 * * *"
	defaultTimezone = "UTC"
	defaultJitter   = 10 * time.Minute
	// After a longer outage than this yesterday's batch is no longer caught up on: today's does the same.
	catchUp = 24 * time.Hour
	// A jitter of a day or more would let two batches swap.
	longestJitter = 23 * time.Hour
	// How long a trigger is watched for the run that it started.
	triggerPatience = 2 * time.Second
	triggerPause    = 50 * time.Millisecond
)

// ScheduleInfo is the daily batch as people see it.
type ScheduleInfo struct {
	Cron     string      `json:"cron"`
	Timezone string      `json:"timezone"`
	Jitter   string      `json:"jitter"`
	Paused   bool        `json:"paused"`
	NextRuns []time.Time `json:"next_runs"`
	// LastRunAt and LastWorkflowID are the last start; nil and empty before the first.
	LastRunAt      *time.Time `json:"last_run_at"`
	LastWorkflowID string     `json:"last_workflow_id"`
	// CatchUpWindow is how late a missed batch is still started; Overlap what happens while one runs.
	CatchUpWindow string `json:"catch_up_window"`
	Overlap       string `json:"overlap"`
	// Missed counts the batches that were too late to be caught up on.
	Missed int `json:"missed"`
}

// ScheduleSpec is when the daily batch runs. What is empty or nil keeps what is there.
type ScheduleSpec struct {
	// Cron has five fields: minute, hour, day of the month, the month, and day of the week.
	Cron string
	// Timezone is a name of the IANA database, such as Asia/Tokyo.
	Timezone string
	// Jitter spreads the start; nil keeps what is there, 0 starts on the minute.
	Jitter *time.Duration
}

// EnsureSchedules makes the Schedules that don't exist yet, and leaves the others as people have set them.
func (c *Control) EnsureSchedules(ctx context.Context) error {
	for _, options := range schedules() {
		if err := c.ensureSchedule(ctx, options); err != nil {
			return err
		}
	}
	return nil
}

func (c *Control) ensureSchedule(ctx context.Context, options client.ScheduleOptions) error {
	if c.temporal == nil {
		return temporalTrouble("make the schedules", errNoTemporal)
	}
	ctx, cancel := context.WithTimeout(ctx, c.options.TemporalTimeout)
	defer cancel()
	_, err := c.temporal.ScheduleClient().Create(ctx, options)
	if errors.Is(err, temporal.ErrScheduleAlreadyRunning) {
		return nil
	}
	return temporalTrouble("make the schedules", err)
}

// schedules are what a deployment needs. Their workflows are thin: they start or join the real Workflow IDs, since a
// Schedule appends a time to its own.
func schedules() []client.ScheduleOptions {
	return []client.ScheduleOptions{
		schedule(workflows.ScheduleDaily, workflows.DailyID, "DailyWorkflow", workflows.DailyInput{}, catchUp,
			dailySpec(defaultCron, defaultTimezone, defaultJitter)),
		schedule(workflows.ScheduleJanitor, ids.Janitor, "JanitorWorkflow", workflows.JanitorInput{}, 5*time.Minute, every(5*time.Minute)),
		schedule(workflows.ScheduleDue, ids.Due, "DueReadsWorkflow", workflows.DueReadsInput{}, time.Minute, every(time.Minute)),
	}
}

func every(interval time.Duration) client.ScheduleSpec {
	return client.ScheduleSpec{Intervals: []client.ScheduleIntervalSpec{{Every: interval}}}
}

func schedule(id, workflowID, workflowType string, input any, catchUp time.Duration, spec client.ScheduleSpec) client.ScheduleOptions {
	return client.ScheduleOptions{
		ID: id, Spec: spec, CatchupWindow: catchUp,
		Overlap: enums.SCHEDULE_OVERLAP_POLICY_SKIP,
		Action:  &client.ScheduleWorkflowAction{ID: workflowID, Workflow: workflowType, Args: []any{input}, TaskQueue: workflows.QueueKnowledge},
	}
}

// dailySpec writes the cron line as its own comment too: Temporal gives back calendars, and people want to see what they set.
func dailySpec(line, timezone string, jitter time.Duration) client.ScheduleSpec {
	return client.ScheduleSpec{CronExpressions: []string{line + " # " + line}, TimeZoneName: timezone, Jitter: jitter}
}

// Schedule shows the daily batch.
func (c *Control) Schedule(ctx context.Context) (ScheduleInfo, error) {
	description, err := c.describeDaily(ctx)
	if err != nil {
		return ScheduleInfo{}, err
	}
	return scheduleInfo(description), nil
}

func (c *Control) describeDaily(ctx context.Context) (*client.ScheduleDescription, error) {
	if c.temporal == nil {
		return nil, temporalTrouble("read the schedule", errNoTemporal)
	}
	ctx, cancel := context.WithTimeout(ctx, c.options.TemporalTimeout)
	defer cancel()
	description, err := c.temporal.ScheduleClient().GetHandle(ctx, workflows.ScheduleDaily).Describe(ctx)
	if missing(err) {
		return nil, notFound("schedule_unknown", "there is no daily schedule yet: a worker makes it when it starts, or run `starter schedule set`")
	}
	return description, temporalTrouble("read the schedule", err)
}

func scheduleInfo(d *client.ScheduleDescription) ScheduleInfo {
	info := ScheduleInfo{NextRuns: d.Info.NextActionTimes, Missed: d.Info.NumActionsMissedCatchupWindow, Timezone: defaultTimezone, Overlap: "skip"}
	if info.NextRuns == nil {
		info.NextRuns = []time.Time{}
	}
	if spec := d.Schedule.Spec; spec != nil {
		info.Cron, info.Jitter = cronOf(spec), spec.Jitter.String()
		if spec.TimeZoneName != "" {
			info.Timezone = spec.TimeZoneName
		}
	}
	if policy := d.Schedule.Policy; policy != nil {
		info.CatchUpWindow = policy.CatchupWindow.String()
		info.Overlap = strings.ToLower(policy.Overlap.String())
	}
	if d.Schedule.State != nil {
		info.Paused = d.Schedule.State.Paused
	}
	if n := len(d.Info.RecentActions); n > 0 {
		last := d.Info.RecentActions[n-1]
		info.LastRunAt = &last.ActualTime
		if last.StartWorkflowResult != nil {
			info.LastWorkflowID = last.StartWorkflowResult.WorkflowID
		}
	}
	return info
}

// cronOf finds the line that set the schedule; one that was made elsewhere has none.
func cronOf(spec *client.ScheduleSpec) string {
	for _, calendar := range spec.Calendars {
		if calendar.Comment != "" {
			return strings.TrimSpace(calendar.Comment)
		}
	}
	return ""
}

// SetSchedule changes when the daily batch runs.
func (c *Control) SetSchedule(ctx context.Context, spec ScheduleSpec) (ScheduleInfo, error) {
	if err := checkSchedule(spec); err != nil {
		return ScheduleInfo{}, err
	}
	if err := c.EnsureSchedules(ctx); err != nil {
		return ScheduleInfo{}, err
	}
	update, cancel := context.WithTimeout(ctx, c.options.TemporalTimeout)
	defer cancel()
	err := c.temporal.ScheduleClient().GetHandle(update, workflows.ScheduleDaily).Update(update, client.ScheduleUpdateOptions{
		DoUpdate: func(input client.ScheduleUpdateInput) (*client.ScheduleUpdate, error) {
			next := input.Description.Schedule
			applySpec(&next, spec)
			return &client.ScheduleUpdate{Schedule: &next}, nil
		},
	})
	if err != nil {
		return ScheduleInfo{}, temporalTrouble("change the schedule", err)
	}
	return c.Schedule(ctx)
}

func applySpec(next *client.Schedule, spec ScheduleSpec) {
	if next.Spec == nil {
		next.Spec = &client.ScheduleSpec{}
	}
	jitter, timezone := next.Spec.Jitter, next.Spec.TimeZoneName
	if spec.Jitter != nil {
		jitter = *spec.Jitter
	}
	if spec.Timezone != "" {
		timezone = spec.Timezone
	}
	if spec.Cron == "" {
		next.Spec.Jitter, next.Spec.TimeZoneName = jitter, timezone
		return
	}
	daily := dailySpec(strings.Join(strings.Fields(spec.Cron), " "), timezone, jitter)
	next.Spec = &daily
}

func checkSchedule(spec ScheduleSpec) error {
	if spec.Cron != "" {
		if err := checkCron(spec.Cron); err != nil {
			return err
		}
	}
	if spec.Timezone != "" {
		if _, err := time.LoadLocation(spec.Timezone); err != nil || spec.Timezone == "Local" {
			return usage("timezone", "there is no time zone %q: give a name of the IANA database, for example Asia/Tokyo or UTC", spec.Timezone)
		}
	}
	if jitter := spec.Jitter; jitter != nil && (*jitter < 0 || *jitter > longestJitter) {
		return usage("jitter", "the jitter %s is not possible: give one from 0 to 23h, for example 10m", *jitter)
	}
	return nil
}

// checkCron accepts five fields that name a time which comes. Temporal would take more, but a calendar that never fires or
// a zone of its own inside the line is a mistake here.
func checkCron(line string) error {
	const example = "give five fields (minute, hour, day of the month, the month, day of the week), for example '0 3 * * *'"
	if len(strings.Fields(line)) != 5 || strings.ContainsAny(line, "@=#") {
		return usage("cron", "the cron line %q can't be used: %s", line, example)
	}
	parsed, err := cron.ParseStandard(line)
	if err != nil {
		return usage("cron", "the cron line %q can't be used (%v): %s", line, err, example)
	}
	if parsed.Next(time.Now()).IsZero() {
		return usage("cron", "the cron line %q names a day that never comes: %s", line, example)
	}
	return nil
}

// TriggerSchedule starts the daily batch now. While one runs, nothing new starts and the answer names the running one.
// Folders that are left out are named as by SyncAll.
func (c *Control) TriggerSchedule(ctx context.Context, actor Actor) (Answer, error) {
	if err := c.EnsureSchedules(ctx); err != nil {
		return Answer{}, err
	}
	skipped, all, err := c.skippedFolders(ctx)
	if err != nil {
		return Answer{}, err
	}
	if all {
		return nothingActive(skipped)
	}
	answer, err := c.triggerDaily(ctx, actor)
	answer.SkippedFolders = skipped
	return answer, err
}

func (c *Control) triggerDaily(ctx context.Context, actor Actor) (Answer, error) {
	before, err := c.describeDaily(ctx)
	if err != nil {
		return Answer{}, err
	}
	if running := before.Info.RunningWorkflows; len(running) > 0 {
		last := running[len(running)-1]
		return Answer{WorkflowID: last.WorkflowID, RunID: last.FirstExecutionRunID, Joined: true, Status: "running"}, nil
	}
	trigger, cancel := context.WithTimeout(ctx, c.options.TemporalTimeout)
	defer cancel()
	err = c.temporal.ScheduleClient().GetHandle(trigger, workflows.ScheduleDaily).Trigger(trigger, client.ScheduleTriggerOptions{
		Overlap: enums.SCHEDULE_OVERLAP_POLICY_SKIP,
	})
	if err != nil {
		return Answer{}, temporalTrouble("trigger the schedule", err)
	}
	c.log.InfoContext(ctx, "daily schedule triggered", "actor", who(actor))
	return c.triggered(ctx, before.Info.NumActions)
}

// triggered waits a moment for the run that a trigger started, to name it. A trigger that is slower is carried out all the
// same.
func (c *Control) triggered(ctx context.Context, actionsBefore int) (Answer, error) {
	answer := Answer{Status: "accepted"}
	watch, cancel := context.WithTimeout(ctx, triggerPatience)
	defer cancel()
	tick := time.NewTicker(triggerPause)
	defer tick.Stop()
	for {
		now, err := c.describeDaily(watch)
		if err == nil && now.Info.NumActions > actionsBefore && len(now.Info.RecentActions) > 0 {
			last := now.Info.RecentActions[len(now.Info.RecentActions)-1]
			if last.StartWorkflowResult != nil {
				answer.WorkflowID, answer.RunID = last.StartWorkflowResult.WorkflowID, last.StartWorkflowResult.FirstExecutionRunID
			}
			answer.Status = "running"
			return answer, nil
		}
		select {
		case <-watch.Done():
			return answer, ctx.Err()
		case <-tick.C:
		}
	}
}
