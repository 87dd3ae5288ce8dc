package approaches

import (
	"context"

	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/worker"
)

// Activities are what the workflows of this package do, with the work of one design.
type Activities struct {
	work     *Work
	temporal client.Client
}

var acts *Activities

// SyncPage reads a page and publishes it. A second run reads it again; its heartbeat says that it is alive, and brings the cancel.
func (a *Activities) SyncPage(ctx context.Context, p Page) error {
	return a.work.Sync(ctx, p, func() { activity.RecordHeartbeat(ctx) })
}

// RemovePage hides a page. A second run changes nothing.
func (a *Activities) RemovePage(ctx context.Context, p Page) error { return a.work.Remove(ctx, p) }

// EndSyncs ends what runs below a page's name. A second run finds less to end; its heartbeat counts what it has cancelled.
func (a *Activities) EndSyncs(ctx context.Context, p Page) error {
	return endSyncs(ctx, a.temporal, a.work, p, func() { activity.RecordHeartbeat(ctx) })
}

// StartWorker starts a worker for the workflows of one design.
func StartWorker(temporal client.Client, taskQueue string, work *Work, options worker.Options) (stop func(), err error) {
	w := worker.New(temporal, taskQueue, options)
	Register(w, &Activities{work: work, temporal: temporal})
	return w.Stop, w.Start()
}

// Register makes a worker run all workflows and activities of this package.
func Register(w worker.Registry, a *Activities) {
	w.RegisterWorkflow(PageQueueWorkflow)
	w.RegisterWorkflow(NamedSyncWorkflow)
	w.RegisterWorkflow(NamedDeleteWorkflow)
	w.RegisterActivity(a)
}
