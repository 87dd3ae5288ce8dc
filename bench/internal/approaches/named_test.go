package approaches_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/worker"

	"github.com/loresync/loresync/bench/internal/approaches"
	"github.com/loresync/loresync/internal/testenv"
)

func TestNamedSync(t *testing.T) {
	t.Parallel()
	t.Run("reads once more for all who ask while it reads", func(t *testing.T) {
		t.Parallel()
		env, done := newEnv(t, time.Minute)
		for i := range 10 {
			env.RegisterDelayedCallback(func() { env.SignalWorkflow(approaches.SignalReadAgain, nil) }, time.Duration(i)*time.Second)
		}
		env.ExecuteWorkflow(approaches.NamedSyncWorkflow, page)
		require.NoError(t, env.GetWorkflowError())
		assert.Equal(t, []string{"sync", "sync"}, *done)
	})
	t.Run("reads once when nobody asks again", func(t *testing.T) {
		t.Parallel()
		env, done := newEnv(t, time.Minute)
		env.ExecuteWorkflow(approaches.NamedSyncWorkflow, page)
		require.NoError(t, env.GetWorkflowError())
		assert.Equal(t, []string{"sync"}, *done)
	})
}

func TestNamedDeleteEndsTheSync(t *testing.T) {
	t.Parallel()
	work := approaches.NewWork(newPool(t))
	client := testenv.Client(t, testenv.Namespace(t))
	named := &approaches.Named{Work: work, Temporal: client, TaskQueue: "named"}
	stop, err := approaches.StartWorker(client, named.TaskQueue, work, worker.Options{
		MaxHeartbeatThrottleInterval: time.Second, DefaultHeartbeatThrottleInterval: time.Second,
	})
	require.NoError(t, err)
	t.Cleanup(stop)
	work.SetTakes(time.Hour)
	for from := range approaches.Entries {
		require.NoError(t, named.Sync(t.Context(), from, page))
	}
	awaitBegun(t, work, 1)
	require.NoError(t, named.Delete(t.Context(), page))
	gone(t, work)
	assert.Equal(t, 1, work.Begun(page), "all requests met in one run")
	require.NoError(t, named.Delete(t.Context(), page), "of a page that is gone")
	gone(t, work)
}
