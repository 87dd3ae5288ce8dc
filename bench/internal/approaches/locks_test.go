package approaches_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/loresync/loresync/bench/internal/approaches"
	"github.com/loresync/loresync/internal/testenv"
)

// newLocks gives locks whose page is being read, by a sync that goes on until release.
func newLocks(t *testing.T, timeout time.Duration, thrifty bool) (locks *approaches.Locks, release func()) {
	t.Helper()
	pool := newPool(t)
	locks = &approaches.Locks{Work: approaches.NewWork(pool), Pool: newPoolOn(t, pool), Space: 1, Timeout: timeout, Thrifty: thrifty}
	locks.Work.SetTakes(time.Hour)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- locks.Sync(ctx, approaches.EntryPerson, page) }()
	awaitBegun(t, locks.Work, 1)
	locks.Work.SetTakes(0)
	return locks, func() {
		cancel()
		require.ErrorIs(t, <-ended, context.Canceled)
	}
}

func awaitInLine(t *testing.T, locks *approaches.Locks, n int) {
	t.Helper()
	testenv.Eventually(t, patience, func() bool {
		there, err := locks.InLine(t.Context())
		return err == nil && there == n
	}, "requests stand in line")
}

func TestLocks(t *testing.T) {
	t.Parallel()
	t.Run("let a delete wait for the sync", func(t *testing.T) {
		t.Parallel()
		locks, release := newLocks(t, time.Minute, false)
		deleted := make(chan error, 1)
		go func() { deleted <- locks.Delete(t.Context(), page) }()
		awaitInLine(t, locks, 2)
		left, err := locks.Work.Left(t.Context(), page)
		require.NoError(t, err)
		assert.NotZero(t, left, "the delete is not accepted before")
		release()
		require.NoError(t, <-deleted)
		gone(t, locks.Work)
		require.NoError(t, locks.Sync(t.Context(), approaches.EntryWebhook, page))
		assert.Equal(t, 1, locks.Work.Begun(page), "a page that is gone is not read")
		awaitInLine(t, locks, 0)
	})
	t.Run("that don't come in time are counted and asked for again", func(t *testing.T) {
		t.Parallel()
		locks, release := newLocks(t, 20*time.Millisecond, false)
		synced := make(chan error, 1)
		go func() { synced <- locks.Sync(t.Context(), approaches.EntryPerson, page) }()
		testenv.Eventually(t, patience, func() bool { timeouts, _ := locks.Refused(); return timeouts >= 2 }, "timeouts are counted")
		release()
		require.NoError(t, <-synced)
		assert.Equal(t, 2, locks.Work.Begun(page))
		_, deadlocks := locks.Refused()
		assert.Zero(t, deadlocks)
	})
	for name, c := range map[string]struct {
		thrifty bool
		reads   int
	}{"read for each request": {false, 4}, "read once for all that wait, when thrifty": {true, 2}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			locks, release := newLocks(t, time.Minute, c.thrifty)
			synced := make(chan error, 3)
			for range cap(synced) {
				go func() { synced <- locks.Sync(t.Context(), approaches.EntryPerson, page) }()
			}
			awaitInLine(t, locks, 1+cap(synced))
			release()
			for range cap(synced) {
				require.NoError(t, <-synced)
			}
			assert.Equal(t, c.reads, locks.Work.Begun(page))
		})
	}
}
