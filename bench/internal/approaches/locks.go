package approaches

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
)

// DefaultLockTimeout is how long a request waits for a lock before it tries again.
const DefaultLockTimeout = 30 * time.Second

// Locks is the design of database locks: a request takes the advisory lock of the page, does the work in its own process while it
// holds it, and a delete waits for it like any other.
type Locks struct {
	Work *Work
	// Pool gives the connections that hold and await locks: one for each request.
	Pool *pgxpool.Pool
	// Space keeps the locks of two Locks on one database apart.
	Space int32
	// Timeout is how long a request waits before it tries again.
	Timeout time.Duration
	// Thrifty leaves out a sync when another one has begun since it was asked for.
	Thrifty bool

	timeouts, deadlocks atomic.Int64
}

// Sync waits for the page's lock and reads the page while it holds it.
func (l *Locks) Sync(ctx context.Context, _ Entry, p Page) error {
	asked, err := l.Work.now(ctx)
	if err != nil {
		return err
	}
	return l.holding(ctx, p, func() error {
		s, err := l.Work.state(ctx, p, asked)
		if err != nil || s.gone || l.Thrifty && s.served {
			return err
		}
		return l.Work.Sync(ctx, p, nil)
	})
}

// Delete waits for the page's lock, like everybody: with it in hand nothing else is in flight.
func (l *Locks) Delete(ctx context.Context, p Page) error {
	return l.holding(ctx, p, func() error { return l.Work.Remove(ctx, p) })
}

const (
	takeLock = `SELECT pg_advisory_lock($1, hashtext($2))`
	giveLock = `SELECT pg_advisory_unlock($1, hashtext($2))`
)

// holding does something while it holds the lock of a page. A lock that doesn't come in time is asked for again, at the end of the line.
func (l *Locks) holding(ctx context.Context, p Page, do func() error) error {
	conn, err := l.Pool.Acquire(ctx)
	if err != nil {
		return fmt.Errorf("take a connection for a lock: %w", err)
	}
	defer conn.Release()
	if _, err := conn.Exec(ctx, fmt.Sprintf("SET lock_timeout = %d", l.Timeout.Milliseconds())); err != nil {
		return fmt.Errorf("set how long to wait for a lock: %w", err)
	}
	name := p.Folder + "/" + p.ID
	for {
		_, err := conn.Exec(ctx, takeLock, l.Space, name)
		if err == nil {
			break
		}
		if !l.mayRetry(err) {
			return fmt.Errorf("lock page %s: %w", name, err)
		}
	}
	// Without the unlock the next user of the pooled connection would hold the page for ever.
	defer func() { _, _ = conn.Exec(context.WithoutCancel(ctx), giveLock, l.Space, name) }()
	return do()
}

// The codes that Postgres gives to a lock that wasn't granted in time, and to one that would have been waited for in a circle.
const (
	codeLockTimeout = "55P03"
	codeDeadlock    = "40P01"
)

// mayRetry counts a lock that was not granted, and tells whether it may be asked for again.
func (l *Locks) mayRetry(err error) bool {
	var refused *pgconn.PgError
	if !errors.As(err, &refused) {
		return false
	}
	switch refused.Code {
	case codeLockTimeout:
		l.timeouts.Add(1)
	case codeDeadlock:
		l.deadlocks.Add(1)
	default:
		return false
	}
	return true
}

// Refused is how many locks were not granted in time, and how many would have been a deadlock.
func (l *Locks) Refused() (timeouts, deadlocks int64) { return l.timeouts.Load(), l.deadlocks.Load() }

const inLine = `SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND objsubid = 2 AND classid = $1::int::oid
	AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`

// InLine is how many connections hold a lock or wait for one.
func (l *Locks) InLine(ctx context.Context) (int, error) {
	var n int
	if err := l.Work.pool.QueryRow(ctx, inLine, l.Space).Scan(&n); err != nil {
		return 0, fmt.Errorf("count the locks: %w", err)
	}
	return n, nil
}
