package workflows

import (
	"context"
	"time"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"github.com/loresync/loresync/internal/knowledge"
)

// The option sets. Budgets are times (ScheduleToClose), not numbers of attempts, so that a short outage costs nothing and a
// long one ends in a recorded failure.

// step is a short piece of Postgres or local file work, run where the workflow runs: 9 events for a whole page instead of 29.
// It is safe to repeat after its commit, since a signal during it makes the server drop its marker.
func step(ctx workflow.Context) workflow.Context {
	return workflow.WithLocalActivityOptions(ctx, workflow.LocalActivityOptions{
		StartToCloseTimeout:    2 * time.Minute, // a large file on a slow disk
		ScheduleToCloseTimeout: 5 * time.Minute,
		RetryPolicy:            &temporal.RetryPolicy{InitialInterval: 200 * time.Millisecond, BackoffCoefficient: 2, MaximumInterval: 10 * time.Second},
	})
}

// database is a Postgres step of a workflow that takes its time: it may wait out a restart of Postgres.
func database(ctx workflow.Context) workflow.Context {
	return workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
		TaskQueue:              QueueKnowledge,
		StartToCloseTimeout:    time.Minute,
		ScheduleToCloseTimeout: 30 * time.Minute,
		RetryPolicy:            &temporal.RetryPolicy{InitialInterval: 500 * time.Millisecond, BackoffCoefficient: 2, MaximumInterval: 30 * time.Second},
		WaitForCancellation:    true,
	})
}

// vendorCall reads one page from a remote source, on the queue of its lane. It heartbeats every second, so that a dead worker
// is noticed within half a minute and a cancel arrives within a second or two.
func vendorCall(ctx workflow.Context, lane knowledge.Lane) workflow.Context {
	queue := QueueVendor
	if lane == knowledge.LanePerson {
		queue = QueueVendorInteractive
	}
	return workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
		TaskQueue:              queue,
		StartToCloseTimeout:    30 * time.Minute, // 20,000 blocks at a few requests a second
		ScheduleToCloseTimeout: 2 * time.Hour,
		HeartbeatTimeout:       30 * time.Second,
		RetryPolicy:            &temporal.RetryPolicy{InitialInterval: time.Second, BackoffCoefficient: 2, MaximumInterval: time.Minute},
		WaitForCancellation:    true,
	})
}

// scan is work over a whole folder (a listing, a window of page syncs, a purge): long, resumed where it stopped, and alive
// by its heartbeats.
func scan(ctx workflow.Context) workflow.Context {
	return workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
		TaskQueue:              QueueKnowledge,
		StartToCloseTimeout:    2 * time.Hour,
		ScheduleToCloseTimeout: 24 * time.Hour,
		HeartbeatTimeout:       15 * time.Second,
		RetryPolicy:            &temporal.RetryPolicy{InitialInterval: time.Second, BackoffCoefficient: 2, MaximumInterval: time.Minute},
		WaitForCancellation:    true,
	})
}

// models asks remote models. Its budget is short: the page is published without them when they stay down, and due again.
func models(ctx workflow.Context) workflow.Context {
	return workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
		TaskQueue:              QueueModel,
		StartToCloseTimeout:    5 * time.Minute,
		ScheduleToCloseTimeout: 10 * time.Minute,
		HeartbeatTimeout:       30 * time.Second,
		RetryPolicy:            &temporal.RetryPolicy{InitialInterval: time.Second, BackoffCoefficient: 2, MaximumInterval: 30 * time.Second, MaximumAttempts: 4},
		WaitForCancellation:    true,
	})
}

// run calls an activity with the types of its function: one that is called with the wrong input doesn't compile.
func run[In, Out any](ctx workflow.Context, act func(context.Context, In) (Out, error), in In) (Out, error) {
	var out Out
	err := workflow.ExecuteActivity(ctx, act, in).Get(ctx, &out)
	return out, err
}

// local calls a local activity with the types of its function.
func local[In, Out any](ctx workflow.Context, act func(context.Context, In) (Out, error), in In) (Out, error) {
	var out Out
	err := workflow.ExecuteLocalActivity(ctx, act, in).Get(ctx, &out)
	return out, err
}

// cleanup is the context in which every run ends: no cancellation reaches it.
func cleanup(ctx workflow.Context) workflow.Context {
	disconnected, _ := workflow.NewDisconnectedContext(ctx)
	return disconnected
}

// drain takes all signals that have come, and tells whether there were any.
func drain(signals workflow.ReceiveChannel) bool {
	found := false
	for signals.ReceiveAsync(nil) {
		found = true
	}
	return found
}
