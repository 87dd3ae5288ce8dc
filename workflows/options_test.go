package workflows

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/testsuite"
	"go.temporal.io/sdk/workflow"

	"github.com/loresync/loresync/internal/knowledge"
)

// inWorkflow runs a look at options inside a workflow, which is the only place where they can be read.
func inWorkflow(t *testing.T, look func(ctx workflow.Context)) {
	t.Helper()
	suite := testsuite.WorkflowTestSuite{}
	env := suite.NewTestWorkflowEnvironment()
	env.ExecuteWorkflow(func(ctx workflow.Context) error { look(ctx); return nil })
	require.True(t, env.IsWorkflowCompleted())
	require.NoError(t, env.GetWorkflowError())
}

// A replay sees neither a changed timeout nor a changed retry policy, so the numbers stand here a second time.
func TestOptionSets(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		set                   func(workflow.Context) workflow.Context
		queue                 string
		attempt, budget, beat time.Duration
		first, longest        time.Duration
		attempts              int32
	}{
		"database": {
			set: database, queue: "knowledge", attempt: time.Minute, budget: 30 * time.Minute, first: 500 * time.Millisecond, longest: 30 * time.Second,
		},
		"scan": {
			set: scan, queue: "knowledge", attempt: 2 * time.Hour, budget: 24 * time.Hour, beat: 15 * time.Second, first: time.Second, longest: time.Minute,
		},
		"models": {
			set: models, queue: "model", attempt: 5 * time.Minute, budget: 10 * time.Minute, beat: 30 * time.Second, first: time.Second,
			longest: 30 * time.Second, attempts: 4,
		},
		"vendor call of a person": {
			set:   func(ctx workflow.Context) workflow.Context { return vendorCall(ctx, knowledge.LanePerson) },
			queue: "vendor-interactive", attempt: 30 * time.Minute, budget: 2 * time.Hour, beat: 30 * time.Second, first: time.Second, longest: time.Minute,
		},
		"vendor call of a crawl": {
			set:   func(ctx workflow.Context) workflow.Context { return vendorCall(ctx, knowledge.LaneBackfill) },
			queue: "vendor", attempt: 30 * time.Minute, budget: 2 * time.Hour, beat: 30 * time.Second, first: time.Second, longest: time.Minute,
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var got workflow.ActivityOptions
			inWorkflow(t, func(ctx workflow.Context) { got = workflow.GetActivityOptions(c.set(ctx)) })
			assert.Equal(t, c.queue, got.TaskQueue)
			assert.Equal(t, c.attempt, got.StartToCloseTimeout)
			assert.Equal(t, c.budget, got.ScheduleToCloseTimeout)
			assert.Zero(t, got.ScheduleToStartTimeout, "a queue without workers waits for one")
			assert.Equal(t, c.beat, got.HeartbeatTimeout)
			assert.True(t, got.WaitForCancellation, "a run isn't closed while its activity still writes")
			policy := &temporal.RetryPolicy{InitialInterval: c.first, BackoffCoefficient: 2, MaximumInterval: c.longest, MaximumAttempts: c.attempts}
			assert.Equal(t, policy, got.RetryPolicy)
		})
	}

	t.Run("step", func(t *testing.T) {
		t.Parallel()
		var got workflow.LocalActivityOptions
		inWorkflow(t, func(ctx workflow.Context) { got = workflow.GetLocalActivityOptions(step(ctx)) })
		assert.Equal(t, 2*time.Minute, got.StartToCloseTimeout)
		assert.Equal(t, 5*time.Minute, got.ScheduleToCloseTimeout)
		policy := &temporal.RetryPolicy{InitialInterval: 200 * time.Millisecond, BackoffCoefficient: 2, MaximumInterval: 10 * time.Second}
		assert.Equal(t, policy, got.RetryPolicy)
	})
}

func TestLanes(t *testing.T) {
	t.Parallel()
	for mode, lane := range map[knowledge.Mode]knowledge.Lane{
		knowledge.ModeFull: knowledge.LaneBackfill, knowledge.ModeIncremental: knowledge.LaneIncremental, "": knowledge.LaneIncremental,
	} {
		assert.Equal(t, lane, laneOf(mode), mode)
	}
}

func TestFailureType(t *testing.T) {
	t.Parallel()
	assert.Equal(t, "Invalid", failureType(temporal.NewApplicationError("do", "Invalid")))
	assert.Equal(t, "Unavailable", failureType(temporal.NewTimeoutError(0, nil)), "a step that never answered")
}
