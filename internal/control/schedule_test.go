package control_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/client"

	"github.com/loresync/loresync/internal/control"
	"github.com/loresync/loresync/internal/testenv"
)

func TestSchedule(t *testing.T) {
	t.Parallel()
	r, ctx := withTemporal(t), t.Context()
	_, err := r.Schedule(ctx)
	requireKind(t, err, control.KindNotFound, "schedule_unknown")
	require.NoError(t, r.EnsureSchedules(ctx))
	info, err := r.Schedule(ctx)
	require.NoError(t, err)
	assert.Equal(t, []string{"0 3 * * *", "UTC", "10m0s", "24h0m0s", "skip"}, []string{info.Cron, info.Timezone, info.Jitter, info.CatchUpWindow, info.Overlap})
	require.NotEmpty(t, info.NextRuns)
	assert.Equal(t, 3, info.NextRuns[0].UTC().Hour())

	minute := time.Minute
	info, err = r.SetSchedule(ctx, control.ScheduleSpec{Cron: " 30  22 * * 1-5", Timezone: "Asia/Tokyo", Jitter: &minute})
	require.NoError(t, err)
	assert.Equal(t, []string{"30 22 * * 1-5", "Asia/Tokyo", "1m0s"}, []string{info.Cron, info.Timezone, info.Jitter})
	tokyo, err := time.LoadLocation("Asia/Tokyo")
	require.NoError(t, err)
	assert.Equal(t, "22:3", info.NextRuns[0].In(tokyo).Format("15:04")[:4])
	assert.NotContains(t, []time.Weekday{time.Saturday, time.Sunday}, info.NextRuns[0].In(tokyo).Weekday())

	require.NoError(t, r.EnsureSchedules(ctx))
	info, err = r.SetSchedule(ctx, control.ScheduleSpec{Timezone: "Europe/Berlin"})
	require.NoError(t, err)
	assert.Equal(t, []string{"30 22 * * 1-5", "Europe/Berlin", "1m0s"}, []string{info.Cron, info.Timezone, info.Jitter}, "what is not given stays")
	none := time.Duration(0)
	info, err = r.SetSchedule(ctx, control.ScheduleSpec{Jitter: &none})
	require.NoError(t, err)
	assert.Equal(t, []string{"30 22 * * 1-5", "0s"}, []string{info.Cron, info.Jitter}, "0 is a jitter too")

	first, err := r.TriggerSchedule(ctx, mika)
	require.NoError(t, err)
	assert.Contains(t, first.WorkflowID, "all/daily")
	assert.False(t, first.Joined)
	second, err := r.TriggerSchedule(ctx, mika)
	require.NoError(t, err)
	assert.True(t, second.Joined, "no worker is there, so the first one still runs")
	assert.Equal(t, first.WorkflowID, second.WorkflowID)
	info, err = r.Schedule(ctx)
	require.NoError(t, err)
	require.NotNil(t, info.LastRunAt)
}

func TestScheduleRefusesWhatNeverComes(t *testing.T) {
	t.Parallel()
	r, ctx := newRoom(t, nil, ""), t.Context()
	for _, line := range []string{"nonsense", "0 3 * *", "0 0 31 2 *", "@daily", "61 * * * *", "TZ=UTC 3 * * *", "0 3 * * * *"} {
		_, err := r.SetSchedule(ctx, control.ScheduleSpec{Cron: line})
		requireKind(t, err, control.KindUsage, "cron")
	}
	_, err := r.SetSchedule(ctx, control.ScheduleSpec{Timezone: "Mars/Olympus"})
	requireKind(t, err, control.KindUsage, "timezone")
	early := -time.Second
	_, err = r.SetSchedule(ctx, control.ScheduleSpec{Jitter: &early})
	requireKind(t, err, control.KindUsage, "jitter")
}

func TestScheduleSaysWithinFiveSecondsThatTemporalIsDown(t *testing.T) {
	t.Parallel()
	gone, err := client.NewLazyClient(client.Options{HostPort: "127.0.0.1:1", ConnectionOptions: client.ConnectionOptions{GetSystemInfoTimeout: time.Second}})
	require.NoError(t, err)
	t.Cleanup(gone.Close)
	r, ctx := newRoom(t, gone, ""), t.Context()
	began := time.Now()
	_, err = r.Schedule(ctx)
	requireKind(t, err, control.KindUnreachable, "temporal_unreachable")
	status, err := r.Status(ctx)
	require.NoError(t, err)
	assert.False(t, status.TemporalOK)
	assert.Less(t, time.Since(began), 7*time.Second)
}

func TestScheduleNamesAMissingNamespace(t *testing.T) {
	t.Parallel()
	r, ctx := newRoom(t, testenv.Client(t, "no-such-namespace"), "no-such-namespace"), t.Context()
	err := r.EnsureSchedules(ctx)
	requireKind(t, err, control.KindUnreachable, "namespace_unknown")
}
