package transport

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// WaitForLine waits until that many requests of a connection wait in this process.
func WaitForLine(t *testing.T, b Budget, connection string, n int) {
	t.Helper()
	waitForLine(t, b, connection, func(line []*waiter) bool { return len(line) == n })
}

// WaitForFirst waits until a request stands first in its line.
func WaitForFirst(t *testing.T, b Budget, connection string, a Attempt) {
	t.Helper()
	waitForLine(t, b, connection, func(line []*waiter) bool { return len(line) > 0 && line[0].attempt == a })
}

func waitForLine(t *testing.T, b Budget, connection string, reached func([]*waiter) bool) {
	t.Helper()
	shared, ok := b.(*sharedBudget)
	require.True(t, ok)
	q := shared.queues.of(connection)
	require.Eventually(t, func() bool {
		q.mu.Lock()
		defer q.mu.Unlock()
		return reached(q.line)
	}, 30*time.Second, time.Millisecond)
}
