package approaches

import (
	"context"
	"fmt"
	"time"

	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/workflow"
)

// SignalAsk hands one request to a page's queue.
const SignalAsk = "ask"

// Queue is the design of one long-lived workflow per page: a request is a signal, and so is a delete, which comes when it is its turn.
type Queue struct {
	Work      *Work
	Temporal  client.Client
	TaskQueue string
	// Thrifty leaves out the syncs in line behind one that is about to begin, up to the next delete.
	Thrifty bool
}

// Ask is one request.
type Ask struct {
	// Delete asks for the end of the page, else a sync is asked for.
	Delete bool
}

// QueueID is the Workflow ID of a page's queue.
func QueueID(p Page) string { return "bench/queue/" + p.Folder + "/" + p.ID }

// Sync puts a sync of the page in line.
func (q *Queue) Sync(ctx context.Context, _ Entry, p Page) error { return q.ask(ctx, p, Ask{}) }

// Delete puts the page's delete in line and waits for it.
func (q *Queue) Delete(ctx context.Context, p Page) error {
	if err := q.ask(ctx, p, Ask{Delete: true}); err != nil {
		return err
	}
	return q.Work.awaitGone(ctx, p)
}

func (q *Queue) ask(ctx context.Context, p Page, ask Ask) error {
	options := client.StartWorkflowOptions{ID: QueueID(p), TaskQueue: q.TaskQueue}
	_, err := q.Temporal.SignalWithStartWorkflow(ctx, options.ID, SignalAsk, ask, options, PageQueueWorkflow, QueueInput{Page: p, Thrifty: q.Thrifty})
	if err != nil {
		return fmt.Errorf("ask the queue of a page: %w", err)
	}
	return nil
}

// InLine is 0: nobody waits inside of Sync.
func (*Queue) InLine(context.Context) (int, error) { return 0, nil }

// QueueInput is a page and what survives a continue-as-new.
type QueueInput struct {
	Page    Page
	Thrifty bool
	// Waiting are the requests that came before and are not done yet.
	Waiting []Ask
}

// maxHandled bounds one run of a queue, besides the server's own word.
const maxHandled = 1000

// PageQueueWorkflow does what is asked of one page, one after the other, and never ends by itself.
//
//   - Its ID is bench/queue/{folder}/{page}; every request starts it or signals the running one.
//   - Signal ask: a sync or a delete, which is done when all that came before is done.
//   - Continue-as-new, after 1,000 requests or when the server suggests it, carries over what waits.
//   - A cancel ends it with what it does at that moment; what waits is lost.
//   - A failed activity is tried again for as long as it takes; everything behind it waits.
func PageQueueWorkflow(ctx workflow.Context, in QueueInput) error {
	q := &pageQueue{in: in, asked: workflow.GetSignalChannel(ctx, SignalAsk)}
	return q.run(ctx)
}

type pageQueue struct {
	in    QueueInput
	asked workflow.ReceiveChannel
}

func (q *pageQueue) run(ctx workflow.Context) error {
	ctx = workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
		StartToCloseTimeout: 10 * time.Minute, HeartbeatTimeout: 10 * time.Second, WaitForCancellation: true,
	})
	for handled := 0; ; handled++ {
		if handled == maxHandled || workflow.GetInfo(ctx).GetContinueAsNewSuggested() {
			q.drain()
			return workflow.NewContinueAsNewError(ctx, PageQueueWorkflow, q.in)
		}
		ask, err := q.next(ctx)
		if err != nil {
			return err
		}
		act := acts.SyncPage
		if ask.Delete {
			act = acts.RemovePage
		}
		if err := workflow.ExecuteActivity(ctx, act, q.in.Page).Get(ctx, nil); err != nil {
			return err
		}
	}
}

// next waits for a request and takes it out of the line.
func (q *pageQueue) next(ctx workflow.Context) (Ask, error) {
	q.drain()
	if len(q.in.Waiting) == 0 {
		if err := workflow.Await(ctx, func() bool { return q.asked.Len() > 0 }); err != nil {
			return Ask{}, err
		}
		q.drain()
	}
	ask := q.in.Waiting[0]
	q.in.Waiting = q.in.Waiting[1:]
	for q.in.Thrifty && !ask.Delete && len(q.in.Waiting) > 0 && !q.in.Waiting[0].Delete {
		q.in.Waiting = q.in.Waiting[1:]
	}
	return ask, nil
}

// drain puts what was asked in line.
func (q *pageQueue) drain() {
	for ask := (Ask{}); q.asked.ReceiveAsync(&ask); ask = (Ask{}) {
		q.in.Waiting = append(q.in.Waiting, ask)
	}
}
