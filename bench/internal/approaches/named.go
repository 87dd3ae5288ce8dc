package approaches

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"github.com/loresync/loresync/internal/ids"
)

// SignalReadAgain tells a running sync that the source may have changed since it began to read.
const SignalReadAgain = "read-again"

// Named is the naming rule in its smallest form: the Workflow ID names the page, so every request joins the sync that runs; a delete
// accepts in Postgres first, and then cancels what has the page's name.
type Named struct {
	Work      *Work
	Temporal  client.Client
	TaskQueue string
}

// Sync starts the sync of the page, or joins the running one.
func (n *Named) Sync(ctx context.Context, _ Entry, p Page) error {
	id, err := ids.SyncPage(p.Folder, p.ID)
	if err != nil {
		return fmt.Errorf("name a sync: %w", err)
	}
	options := client.StartWorkflowOptions{
		ID: id, TaskQueue: n.TaskQueue, WorkflowIDConflictPolicy: enumspb.WORKFLOW_ID_CONFLICT_POLICY_USE_EXISTING,
	}
	if _, err = n.Temporal.SignalWithStartWorkflow(ctx, id, SignalReadAgain, nil, options, NamedSyncWorkflow, p); err != nil {
		return fmt.Errorf("ask for a sync: %w", err)
	}
	return nil
}

// Delete accepts the delete, from which on no sync begins or publishes, and waits for the workflow that ends what runs.
func (n *Named) Delete(ctx context.Context, p Page) error {
	if err := n.Work.Remove(ctx, p); err != nil {
		return err
	}
	id, err := ids.DeletePage(p.Folder, p.ID)
	if err != nil {
		return fmt.Errorf("name a delete: %w", err)
	}
	options := client.StartWorkflowOptions{
		ID: id, TaskQueue: n.TaskQueue, WorkflowIDConflictPolicy: enumspb.WORKFLOW_ID_CONFLICT_POLICY_USE_EXISTING,
	}
	run, err := n.Temporal.ExecuteWorkflow(ctx, options, NamedDeleteWorkflow, p)
	if err != nil {
		return fmt.Errorf("start a delete: %w", err)
	}
	return run.Get(ctx, nil)
}

// InLine is 0: nobody waits inside of Sync.
func (*Named) InLine(context.Context) (int, error) { return 0, nil }

// NamedSyncWorkflow reads a page and publishes it, and again if it was asked for while it read.
//
//   - Its ID is folder/{folder}/page/{page}/sync; every request starts it or joins.
//   - Signal read-again: the source may have changed. It ends only when there is none left.
//   - It carries nothing over.
//   - A cancel ends the read, which gives the page back itself, and ends the run as cancelled.
func NamedSyncWorkflow(ctx workflow.Context, p Page) error {
	ctx = workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
		StartToCloseTimeout: 10 * time.Minute, HeartbeatTimeout: 10 * time.Second, WaitForCancellation: true,
	})
	again := workflow.GetSignalChannel(ctx, SignalReadAgain)
	for {
		for again.ReceiveAsync(nil) { // what was asked before the read is served by it
		}
		if err := workflow.ExecuteActivity(ctx, acts.SyncPage, p).Get(ctx, nil); err != nil {
			return err
		}
		if again.Len() == 0 {
			return nil
		}
	}
}

// NamedDeleteWorkflow ends what runs below the page's name. Its ID is folder/{folder}/page/{page}/delete.
func NamedDeleteWorkflow(ctx workflow.Context, p Page) error {
	ctx = workflow.WithActivityOptions(ctx, workflow.ActivityOptions{StartToCloseTimeout: 10 * time.Minute, HeartbeatTimeout: 10 * time.Second})
	return workflow.ExecuteActivity(ctx, acts.EndSyncs, p).Get(ctx, nil)
}

// endSyncs cancels the sync of a page by its exact name, which no list would have yet if it has just begun, and all else below the
// page's prefix, and returns when nothing of it is in flight.
func endSyncs(ctx context.Context, c client.Client, work *Work, p Page, beat func()) error {
	names, err := namesBelow(ctx, c, p)
	if err != nil {
		return err
	}
	for _, name := range names {
		var missing *serviceerror.NotFound
		if err := c.CancelWorkflow(ctx, name, ""); err != nil && !errors.As(err, &missing) {
			return fmt.Errorf("cancel a sync: %w", err)
		}
	}
	for _, name := range names {
		beat()
		if err := awaitClosed(ctx, c, name); err != nil {
			return err
		}
	}
	return work.awaitGone(ctx, p)
}

// namesBelow are the Workflow IDs to cancel: the page's sync, and what runs below its prefix but for the delete itself.
func namesBelow(ctx context.Context, c client.Client, p Page) ([]string, error) {
	prefix, err := ids.PagePrefix(p.Folder, p.ID)
	if err != nil {
		return nil, fmt.Errorf("name a page: %w", err)
	}
	sync, err := ids.SyncPage(p.Folder, p.ID)
	if err != nil {
		return nil, fmt.Errorf("name a sync: %w", err)
	}
	itself, err := ids.DeletePage(p.Folder, p.ID)
	if err != nil {
		return nil, fmt.Errorf("name a delete: %w", err)
	}
	names := []string{sync}
	running, err := c.ListWorkflow(ctx, &workflowservice.ListWorkflowExecutionsRequest{
		Query: fmt.Sprintf("WorkflowId STARTS_WITH '%s' AND ExecutionStatus = 'Running'", prefix),
	})
	if err != nil {
		return nil, fmt.Errorf("list what runs below a page: %w", err)
	}
	for _, found := range running.GetExecutions() {
		if name := found.GetExecution().GetWorkflowId(); strings.HasPrefix(name, prefix) && name != sync && name != itself {
			names = append(names, name)
		}
	}
	return names, nil
}

// awaitClosed waits until no run of a Workflow ID is open. How it ended doesn't matter.
func awaitClosed(ctx context.Context, c client.Client, name string) error {
	err := c.GetWorkflow(ctx, name, "").Get(ctx, nil)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	var ended *temporal.WorkflowExecutionError
	var missing *serviceerror.NotFound
	if err == nil || errors.As(err, &ended) || errors.As(err, &missing) {
		return nil
	}
	return fmt.Errorf("wait for a sync to end: %w", err)
}
