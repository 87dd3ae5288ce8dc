package approaches_test

import (
	"context"
	"log/slog"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/mock"
	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/converter"
	sdklog "go.temporal.io/sdk/log"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/testsuite"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

	"github.com/loresync/loresync/bench/internal/approaches"
	"github.com/loresync/loresync/internal/testenv"
)

var (
	acts    *approaches.Activities
	aSync   = approaches.Ask{}
	aDelete = approaches.Ask{Delete: true}
	quiet   = sdklog.NewStructuredLogger(slog.New(slog.DiscardHandler))
)

// newEnv is a workflow environment that skips time and notes which activities run.
func newEnv(t *testing.T, each time.Duration) (env *testsuite.TestWorkflowEnvironment, done *[]string) {
	t.Helper()
	suite := testsuite.WorkflowTestSuite{}
	suite.SetLogger(quiet)
	env = suite.NewTestWorkflowEnvironment()
	// On a busy machine a moment may be longer than the three seconds and the one second that these are by default.
	env.SetTestTimeout(patience)
	env.SetWorkerOptions(worker.Options{DeadlockDetectionTimeout: patience})
	approaches.Register(env, &approaches.Activities{})
	done = &[]string{}
	note := func(name string) func(context.Context, approaches.Page) error {
		return func(context.Context, approaches.Page) error { *done = append(*done, name); return nil }
	}
	env.OnActivity(acts.SyncPage, mock.Anything, page).Maybe().After(each).Return(note("sync"))
	env.OnActivity(acts.RemovePage, mock.Anything, page).Maybe().Return(note("delete"))
	return env, done
}

func TestPageQueue(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		thrifty bool
		asked   []approaches.Ask
		want    []string
	}{
		"does what is asked one by one": {
			false, []approaches.Ask{aSync, aSync, aDelete, aSync}, []string{"sync", "sync", "sync", "delete", "sync"},
		},
		"leaves out what the next read serves, when thrifty": {
			true, []approaches.Ask{aSync, aSync, aDelete, aSync, aSync}, []string{"sync", "sync", "delete", "sync"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			env, done := newEnv(t, time.Minute)
			// The first request is under way when the others come.
			env.RegisterDelayedCallback(func() { env.SignalWorkflow(approaches.SignalAsk, aSync) }, time.Second)
			env.RegisterDelayedCallback(func() {
				for _, ask := range c.asked {
					env.SignalWorkflow(approaches.SignalAsk, ask)
				}
			}, 2*time.Second)
			env.RegisterDelayedCallback(env.CancelWorkflow, time.Hour)
			env.ExecuteWorkflow(approaches.PageQueueWorkflow, approaches.QueueInput{Page: page, Thrifty: c.thrifty})
			err := env.GetWorkflowError()
			require.True(t, temporal.IsCanceledError(err), "it ends by nothing but a cancel: %v", err)
			assert.Equal(t, c.want, *done)
		})
	}
	t.Run("takes along what waits when its history is long", func(t *testing.T) {
		t.Parallel()
		env, done := newEnv(t, 0)
		input := approaches.QueueInput{Page: page}
		for range 1500 {
			input.Waiting = append(input.Waiting, aSync)
		}
		input.Waiting = append(input.Waiting, aDelete)
		env.RegisterDelayedCallback(func() { env.SignalWorkflow(approaches.SignalAsk, aDelete) }, 0)
		env.ExecuteWorkflow(approaches.PageQueueWorkflow, input)
		var goesOn *workflow.ContinueAsNewError
		require.ErrorAs(t, env.GetWorkflowError(), &goesOn)
		var next approaches.QueueInput
		require.NoError(t, converter.GetDefaultDataConverter().FromPayloads(goesOn.Input, &next))
		assert.Len(t, *done, 1000)
		assert.Len(t, next.Waiting, 502)
		assert.Equal(t, []approaches.Ask{aDelete, aDelete}, next.Waiting[500:])
		assert.Equal(t, page, next.Page)
	})
}

func TestQueueOnAServer(t *testing.T) {
	t.Parallel()
	namespace, work := testenv.Namespace(t), approaches.NewWork(newPool(t))
	client := testenv.Client(t, namespace)
	queue := &approaches.Queue{Work: work, Temporal: client, TaskQueue: "queue"}
	stop, err := approaches.StartWorker(client, queue.TaskQueue, work, worker.Options{})
	require.NoError(t, err)
	t.Cleanup(stop)
	for range 3 {
		require.NoError(t, queue.Sync(t.Context(), approaches.EntryWebhook, page))
	}
	require.NoError(t, queue.Delete(t.Context(), page))
	gone(t, work)
	assert.Equal(t, 3, work.Begun(page))

	// Other code would not come to the same commands.
	replayer := worker.NewWorkflowReplayer()
	replayer.RegisterWorkflow(approaches.PageQueueWorkflow)
	err = replayer.ReplayWorkflowExecution(t.Context(), client.WorkflowService(), quiet, namespace, workflow.Execution{ID: approaches.QueueID(page)})
	require.NoError(t, err)
	require.NoError(t, client.TerminateWorkflow(t.Context(), approaches.QueueID(page), "", "the test is over"))
}
