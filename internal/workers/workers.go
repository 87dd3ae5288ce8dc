// Package workers assembles and runs the Temporal workers of one process: one per task queue, over one store, one set of
// sources and one pair of models. Any number of processes may run them; none of them holds a truth of its own.
package workers

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/interceptor"
	"go.temporal.io/sdk/worker"

	"github.com/loresync/loresync/activities"
	"github.com/loresync/loresync/internal/control"
	"github.com/loresync/loresync/internal/store"
	"github.com/loresync/loresync/workflows"
)

// Options are what a process's workers are made of.
type Options struct {
	Store    *store.Store
	Temporal client.Client
	Control  *control.Control
	Sources  activities.Sources
	Models   activities.Models
	Timeouts activities.Timeouts
	// PublicURL is the gateway's address as sources see it, which may call it; empty when it has none.
	PublicURL string
	Log       *slog.Logger
}

const (
	// A cancel reaches an activity within a second, whatever its heartbeat timeout: the SDK's default would be up to 30 s.
	heartbeatThrottle = time.Second
	// A killed worker's workflows are taken over by another one after a second instead of five.
	stickyTimeout = time.Second
	// Page syncs are short local steps, bound by the server: more at once only wait in line.
	parallelSteps = 16
	// Each scan (a listing, a window, a delete) mostly waits.
	parallelScans = 64
	// What a stopping worker gives to activities that are under way.
	stopTimeout = 10 * time.Second
)

// Set are the started workers of one process.
type Set struct {
	workers []worker.Worker
}

// Start starts the workers. They run until Stop.
func Start(options Options) (*Set, error) {
	acts := assemble(options)
	worker.SetStickyWorkflowCacheSize(2000)
	set := &Set{}
	for _, queue := range []string{workflows.QueueKnowledge, workflows.QueueVendor, workflows.QueueVendorInteractive, workflows.QueueModel} {
		w := worker.New(options.Temporal, queue, QueueOptions(queue))
		if queue == workflows.QueueKnowledge {
			workflows.Register(w, acts)
		} else {
			workflows.RegisterActivities(w, acts)
		}
		if err := w.Start(); err != nil {
			set.Stop()
			return nil, fmt.Errorf("start the worker of task queue %s: %w", queue, err)
		}
		set.workers = append(set.workers, w)
	}
	return set, nil
}

// QueueOptions are the settings of the worker of a task queue.
func QueueOptions(queue string) worker.Options {
	options := worker.Options{
		MaxHeartbeatThrottleInterval: heartbeatThrottle, DefaultHeartbeatThrottleInterval: heartbeatThrottle,
		WorkerStopTimeout: stopTimeout, StickyScheduleToStartTimeout: stickyTimeout,
		MaxConcurrentActivityExecutionSize: parallelScans, MaxConcurrentLocalActivityExecutionSize: parallelSteps,
		Interceptors: []interceptor.WorkerInterceptor{&activities.Interceptor{}},
	}
	if queue != workflows.QueueKnowledge {
		options.DisableWorkflowWorker = true
	}
	return options
}

// Stop takes no more work from this moment on, and lets what is under way end, for about ten seconds.
func (s *Set) Stop() {
	var stopping sync.WaitGroup
	for _, w := range s.workers {
		stopping.Go(w.Stop)
	}
	stopping.Wait()
}

// Run starts the workers and stops them when the context ends. While Postgres doesn't answer they are stopped, too.
func Run(ctx context.Context, options Options) error {
	database := options.Store.Probe()
	defer database.Close(ctx)
	return run(ctx, database, func() (*Set, error) { return Start(options) }, options.Log)
}

func assemble(o Options) workflows.Activities {
	timeouts := o.Timeouts.WithDefaults()
	watches := &activities.Watches{Store: o.Store, Sources: o.Sources, Asker: o.Control, PublicURL: o.PublicURL}
	reconcile := &activities.ReconcileActivities{Store: o.Store, Sources: o.Sources, Timeouts: timeouts}
	return workflows.Activities{
		Page:      &activities.PageActivities{Store: o.Store, Sources: o.Sources, Models: o.Models, Gone: o.Control},
		Folder:    &activities.FolderActivities{Store: o.Store, Sources: o.Sources, Starter: o.Control, Runs: o.Control, Timeouts: timeouts},
		Reconcile: reconcile,
		Delete:    &activities.DeleteActivities{Store: o.Store, Executions: o.Control, Timeouts: timeouts},
		Batch:     &activities.BatchActivities{Store: o.Store, Starter: o.Control},
		Upkeep: &activities.UpkeepActivities{
			Store: o.Store, Sources: o.Sources, Starter: o.Control, Executions: o.Control, Timeouts: timeouts, Watches: watches,
		},
		Webhook: &activities.WebhookActivities{Store: o.Store, Asker: o.Control, Reconcile: reconcile, Watches: watches},
	}
}
