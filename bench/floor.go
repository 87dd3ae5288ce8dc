package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"
	"golang.org/x/sync/errgroup"

	"github.com/loresync/loresync/internal/config"
	"github.com/loresync/loresync/internal/workers"
	"github.com/loresync/loresync/workflows"
)

const (
	floorQueue = "bench-floor"
	floorSteps = 4
	// floorStarters start workflows side by side.
	floorStarters = 16
	// floorTick is how often they are counted, seldom enough not to slow them. When the last one closed is read afterwards.
	floorTick     = time.Second
	floorPatience = 20 * time.Minute
)

var errFloorLost = errors.New("the floor's workflows did not all complete in time")

// FloorWorkflow does nothing, in as many local steps as a page sync may have: its rate is the server's own.
func FloorWorkflow(ctx workflow.Context) error {
	ctx = workflow.WithLocalActivityOptions(ctx, workflow.LocalActivityOptions{StartToCloseTimeout: time.Minute})
	for range floorSteps {
		if err := workflow.ExecuteLocalActivity(ctx, Nothing).Get(ctx, nil); err != nil {
			return err
		}
	}
	return nil
}

// Nothing is the floor's local activity.
func Nothing(context.Context) error { return nil }

// startFloor starts the floor's worker, with the options that package workers gives to its own.
func startFloor(_ config.Config, w *config.Wiring, _ *slog.Logger) (stop func(), err error) {
	worker.SetStickyWorkflowCacheSize(2000)
	floor := worker.New(w.Temporal, floorQueue, workers.QueueOptions(workflows.QueueKnowledge))
	floor.RegisterWorkflow(FloorWorkflow)
	floor.RegisterActivity(Nothing)
	return floor.Stop, floor.Start()
}

// floorRun is one run of the floor.
type floorRun struct {
	// rate is completed workflows a second.
	rate  float64
	usage usage
}

// floor measures how many of n workflows that do nothing the server completes a second. Nobody waits for a single one of them,
// since that would cost the server more than loresync costs it.
func (l *lab) floor(ctx context.Context, n int) (floorRun, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, floorPatience, errFloorLost)
	defer cancel()
	var run floorRun
	err := l.withChild(ctx, roleFloor, func(c *child) error {
		before := l.clock(c)
		var err error
		run.rate, err = l.floorRate(ctx, n)
		run.usage = l.clock(c).since(before)
		return err
	})
	if err == nil {
		l.say("  floor: %.1f workflows a second", run.rate)
	}
	return run, err
}

func (l *lab) floorRate(ctx context.Context, n int) (float64, error) {
	l.floors++
	prefix := fmt.Sprintf("bench/floor-%d/", l.floors)
	begun := time.Now()
	if err := l.startFloorWorkflows(ctx, prefix, n); err != nil {
		return 0, fmt.Errorf("start the floor's workflows: %w", err)
	}
	query := fmt.Sprintf("WorkflowId STARTS_WITH '%s' AND ExecutionStatus = 'Completed'", prefix)
	for {
		done, err := l.countWorkflows(ctx, query)
		if err != nil {
			return 0, err
		}
		if done == int64(n) {
			break
		}
		if err := pause(ctx, floorTick); err != nil {
			return 0, err
		}
	}
	ended, err := l.lastClose(ctx, query)
	return float64(n) / ended.Sub(begun).Seconds(), err
}

func (l *lab) startFloorWorkflows(ctx context.Context, prefix string, n int) error {
	group, starting := errgroup.WithContext(ctx)
	group.SetLimit(floorStarters)
	for i := range n {
		group.Go(func() error {
			options := client.StartWorkflowOptions{ID: fmt.Sprintf("%s%d", prefix, i), TaskQueue: floorQueue}
			_, err := l.Temporal.ExecuteWorkflow(starting, options, FloorWorkflow)
			return err
		})
	}
	return group.Wait()
}

func (l *lab) countWorkflows(ctx context.Context, query string) (int64, error) {
	answer, err := l.Temporal.CountWorkflow(ctx, &workflowservice.CountWorkflowExecutionsRequest{Query: query})
	if err != nil {
		return 0, fmt.Errorf("count workflows: %w", err)
	}
	return answer.GetCount(), nil
}

// lastClose is when the last of the workflows closed: closed ones are listed by that, newest first.
func (l *lab) lastClose(ctx context.Context, query string) (time.Time, error) {
	answer, err := l.Temporal.ListWorkflow(ctx, &workflowservice.ListWorkflowExecutionsRequest{Query: query, PageSize: 50})
	if err != nil {
		return time.Time{}, fmt.Errorf("list workflows: %w", err)
	}
	var last time.Time
	for _, info := range answer.GetExecutions() {
		closed := info.GetCloseTime().AsTime()
		if info.GetStatus() == enumspb.WORKFLOW_EXECUTION_STATUS_COMPLETED && closed.After(last) {
			last = closed
		}
	}
	return last, nil
}
