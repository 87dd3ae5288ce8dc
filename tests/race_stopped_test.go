//go:build unix

package tests

import (
	"context"
	"os/exec"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/loresync/loresync/internal/control"
	"github.com/loresync/loresync/internal/testenv"
)

// stop returns once all threads of a process stand still, which is some milliseconds after the signal.
func stop(t *testing.T, process *exec.Cmd) {
	t.Helper()
	require.NoError(t, process.Process.Signal(syscall.SIGSTOP))
	var status syscall.WaitStatus
	_, err := syscall.Wait4(process.Process.Pid, &status, syscall.WUNTRACED, nil)
	require.NoError(t, err)
	require.True(t, status.Stopped(), "it ended instead")
}

func wake(t *testing.T, process *exec.Cmd) {
	t.Helper()
	require.NoError(t, process.Process.Signal(syscall.SIGCONT))
}

// sleeper is a rig with a worker process that a test stops, and one live page.
func sleeper(t *testing.T) (r *rig, worker *exec.Cmd, page string) {
	t.Helper()
	r = newRig(t, patiently, withoutWorker)
	r.put("a.md", "# A\n\nfirst\n")
	worker = r.workerProcess()
	t.Cleanup(func() { _ = worker.Process.Signal(syscall.SIGCONT) })
	r.synced()
	return r, worker, r.page("a.md").PageID
}

// storesLate stops a worker that has read a page until another has taken the page over, and tells whether it tried to store what it
// had read when it woke.
func storesLate(t *testing.T) (tried bool) {
	t.Helper()
	r, worker, page := sleeper(t)
	r.put("a.md", "# A\n\nsecond\n")
	staging := r.lock(`LOCK TABLE chunks IN SHARE MODE`)
	require.NoError(t, r.RequestPageSync(t.Context(), folderID, page, 0))
	r.awaitBlocked("stage_revision", 1)
	stop(t, worker)
	staging() // Postgres ends the statement: the worker doesn't know it yet
	r.put("a.md", "# A\n\nthird\n")
	r.workerProcess()
	testenv.Eventually(t, patience, func() bool {
		return r.count(`SELECT count(*) FROM live_pages WHERE markdown LIKE '%third%'`) == 1
	}, "another worker takes the page over")
	inFlight := r.lock(`LOCK TABLE in_flight IN EXCLUSIVE MODE`)
	wake(t, worker)
	asked := r.blocksWithin("enrich_revision", 20*time.Second)
	inFlight()
	r.quiet("enrich_revision")
	assert.Equal(t, 1, r.count(`SELECT count(*) FROM live_pages WHERE markdown LIKE '%third%'`))
	assert.Zero(t, r.count(`SELECT count(*) FROM revisions WHERE markdown LIKE '%second%'`))
	r.clean()
	return asked
}

func TestRule3AWorkerThatWasStoppedLongerThanEveryTimeout(t *testing.T) {
	t.Parallel()

	t.Run("before it stored what it had read, stores nothing when it wakes", func(t *testing.T) {
		t.Parallel()
		// One whose own deadline went by while it was stopped doesn't ask when it wakes, and shows nothing: another is stopped.
		for range 3 {
			if storesLate(t) {
				return
			}
		}
		require.Fail(t, "no worker that woke tried to store what it had read")
	})

	t.Run("inside its publish, holds up no delete", func(t *testing.T) {
		t.Parallel()
		r, worker, page := sleeper(t)
		r.put("a.md", "# A\n\nsecond\n")
		release := r.blockPublish(page)
		stop(t, worker)
		release()
		deleted, err := r.DeletePage(t.Context(), folderID, page, control.DeleteOptions{}, person)
		require.NoError(t, err, "accepted while the worker sleeps")
		assert.Zero(t, r.live())
		wake(t, worker)
		assert.Equal(t, "completed", r.wait(deleted, nil).Status)
		r.closed(pageSyncOf(page))
		assert.Zero(t, r.live())
		r.clean()
	})

	t.Run("with locks in its hands, holds up no delete for long", func(t *testing.T) {
		t.Parallel()
		r, _, page := sleeper(t)
		// A session with the store's own settings, whose client says nothing more after it took its locks.
		config, err := pgx.ParseConfig(r.url)
		require.NoError(t, err)
		config.RuntimeParams["idle_in_transaction_session_timeout"] = "5000"
		stopped, err := pgx.ConnectConfig(t.Context(), config)
		require.NoError(t, err)
		defer func() { _ = stopped.Close(context.WithoutCancel(t.Context())) }()
		_, err = stopped.Exec(t.Context(), `BEGIN; SELECT pg_advisory_xact_lock_shared(fence_key('hr')); SELECT 1 FROM folders FOR SHARE;
			SELECT 1 FROM pages WHERE source_id = 'a.md' FOR NO KEY UPDATE`)
		require.NoError(t, err)
		deleted, err := r.DeletePage(t.Context(), folderID, page, control.DeleteOptions{}, person)
		require.NoError(t, err)
		assert.Equal(t, "completed", r.wait(deleted, nil).Status)
		assert.Zero(t, r.live())
		r.clean()
	})
}
