package approaches

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/loresync/loresync/internal/pause"
)

// Work is what a sync and a delete do, the same in every design, and the count of it. A sync marks the page as in flight, reads for
// as long as Takes says, and writes the body.
type Work struct {
	pool *pgxpool.Pool
	body string

	mu    sync.Mutex
	takes time.Duration
	begun map[Page]int
	total int
}

// BodyBytes is the size of a page, about the median of the bench's generated ones.
const BodyBytes = 4096

// goneTick is how often a caller looks whether a page is gone.
const goneTick = 10 * time.Millisecond

// NewWork gives the work of one design.
func NewWork(pool *pgxpool.Pool) *Work {
	const line = "What is to be known of this page. "
	return &Work{pool: pool, begun: map[Page]int{}, body: strings.Repeat(line, BodyBytes/len(line))}
}

const createTable = `
CREATE SCHEMA IF NOT EXISTS approaches;
CREATE TABLE IF NOT EXISTS approaches.pages (
    folder_id     text NOT NULL,
    page_id       text NOT NULL,
    body          text,
    read_began_at timestamptz,
    token         text,
    gone          boolean NOT NULL DEFAULT false,
    PRIMARY KEY (folder_id, page_id)
)`

// Create makes the table of pages. A token in a row says that a sync of the page is in flight.
func Create(ctx context.Context, pool *pgxpool.Pool) error {
	if _, err := pool.Exec(ctx, createTable); err != nil {
		return fmt.Errorf("make the table of the designs: %w", err)
	}
	return nil
}

// SetTakes says how long the reads that begin from now on take.
func (w *Work) SetTakes(d time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.takes = d
}

// Begun is how many reads of a page have begun.
func (w *Work) Begun(p Page) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.begun[p]
}

// Total is how many reads of all pages have begun.
func (w *Work) Total() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.total
}

func (w *Work) count(p Page) (takes time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.begun[p]++
	w.total++
	return w.takes
}

const (
	beginSync = `
INSERT INTO approaches.pages AS p (folder_id, page_id, read_began_at, token) VALUES ($1, $2, clock_timestamp(), $3)
ON CONFLICT (folder_id, page_id) DO UPDATE SET read_began_at = excluded.read_began_at, token = excluded.token WHERE NOT p.gone`
	publish = `UPDATE approaches.pages SET body = $4, token = NULL WHERE folder_id = $1 AND page_id = $2 AND token = $3 AND NOT gone`
	finish  = `UPDATE approaches.pages SET token = NULL WHERE folder_id = $1 AND page_id = $2 AND token = $3`
)

// Sync reads a page and publishes it. It does nothing to a page that is gone, and publishes nothing once the page is gone or another
// sync has begun. beat, when given, is called now and then while it reads.
func (w *Work) Sync(ctx context.Context, p Page, beat func()) error {
	token := uuid.NewString()
	began, err := w.pool.Exec(ctx, beginSync, p.Folder, p.ID, token)
	if err != nil {
		return fmt.Errorf("begin a sync: %w", err)
	}
	if began.RowsAffected() == 0 {
		return nil
	}
	defer w.finish(ctx, p, token)
	if err := read(ctx, w.count(p), beat); err != nil {
		return err
	}
	if _, err := w.pool.Exec(ctx, publish, p.Folder, p.ID, token, w.body); err != nil {
		return fmt.Errorf("publish a page: %w", err)
	}
	return nil
}

// finish gives the page back, whatever has ended the sync. After a publish it changes nothing.
func (w *Work) finish(ctx context.Context, p Page, token string) {
	_, _ = w.pool.Exec(context.WithoutCancel(ctx), finish, p.Folder, p.ID, token)
}

// beatEvery is how often a read says that it is alive.
const beatEvery = 500 * time.Millisecond

func read(ctx context.Context, takes time.Duration, beat func()) error {
	for left := takes; left > 0; left -= beatEvery {
		if err := pause.For(ctx, min(left, beatEvery)); err != nil {
			return err
		}
		if beat != nil {
			beat()
		}
	}
	return ctx.Err()
}

const remove = `
INSERT INTO approaches.pages AS p (folder_id, page_id, gone) VALUES ($1, $2, true)
ON CONFLICT (folder_id, page_id) DO UPDATE SET gone = true, body = NULL`

// Remove hides a page from its commit on.
func (w *Work) Remove(ctx context.Context, p Page) error {
	if _, err := w.pool.Exec(ctx, remove, p.Folder, p.ID); err != nil {
		return fmt.Errorf("remove a page: %w", err)
	}
	return nil
}

// state is what Postgres knows of a page.
type state struct {
	gone, inFlight bool
	// served is set when a sync of the page has begun since a moment.
	served bool
}

const readState = `SELECT gone, token IS NOT NULL, coalesce(read_began_at >= $3, false) FROM approaches.pages WHERE folder_id = $1 AND page_id = $2`

func (w *Work) state(ctx context.Context, p Page, since time.Time) (state, error) {
	var s state
	err := w.pool.QueryRow(ctx, readState, p.Folder, p.ID, since).Scan(&s.gone, &s.inFlight, &s.served)
	if errors.Is(err, pgx.ErrNoRows) {
		return s, nil
	}
	if err != nil {
		return s, fmt.Errorf("look at a page: %w", err)
	}
	return s, nil
}

// now is Postgres' time.
func (w *Work) now(ctx context.Context) (time.Time, error) {
	var now time.Time
	if err := w.pool.QueryRow(ctx, `SELECT clock_timestamp()`).Scan(&now); err != nil {
		return now, fmt.Errorf("read the time: %w", err)
	}
	return now, nil
}

// Left counts what a delete should have ended: a page that readers see, and a sync in flight.
func (w *Work) Left(ctx context.Context, p Page) (int64, error) {
	s, err := w.state(ctx, p, time.Time{})
	left := int64(0)
	if !s.gone {
		left++
	}
	if s.inFlight {
		left++
	}
	return left, err
}

// awaitGone waits until nothing is left of a page.
func (w *Work) awaitGone(ctx context.Context, p Page) error {
	for {
		left, err := w.Left(ctx, p)
		if err != nil || left == 0 {
			return err
		}
		if err := pause.For(ctx, goneTick); err != nil {
			return err
		}
	}
}

const live = `SELECT count(*) FROM approaches.pages WHERE folder_id = ANY($1) AND body IS NOT NULL`

// Live counts the pages of some folders that readers see.
func (w *Work) Live(ctx context.Context, folders []string) (int64, error) {
	var n int64
	if err := w.pool.QueryRow(ctx, live, folders).Scan(&n); err != nil {
		return 0, fmt.Errorf("count pages: %w", err)
	}
	return n, nil
}
