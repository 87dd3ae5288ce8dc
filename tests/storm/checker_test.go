package storm

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"github.com/loresync/loresync/internal/pause"
)

// checker looks at Postgres again and again, on connections that no failure of the storm touches, each time at one snapshot.
// While Postgres is down it sees nothing, and readers neither.
type checker struct {
	storm *storm
	pool  *pgxpool.Pool
	halt  context.CancelFunc
	done  chan struct{}
	looks atomic.Int64

	// What the last looks saw, to compare with.
	newest    map[int64]published
	atPath    map[string]int
	places    map[int64]placed
	lastEvent int64
	mostLive  map[string]int
	removed   map[string]int
}

// published is how far the content of a page's row had come.
type published struct {
	readSeq int64
	version int
}

// placed is where a page's row hangs, and since when it was seen there.
type placed struct {
	sourceID string
	since    time.Time
}

// look is one snapshot, and the time that taking it took.
type look struct {
	began, ended time.Time
	pages        []pageRow
	live         []liveRow
	broken       []brokenRow
	events       []eventRow
}

type pageRow struct {
	PageNo   int64
	FolderID string
	PageID   string
	SourceID string
	ReadSeq  int64
	Version  *int
}

type liveRow struct {
	pageRow
	// Exclusion is the source id of the exclusion that covers the page, which must not be.
	Exclusion  *string
	ExcludedAt *time.Time
}

// brokenRow is a row that a rule forbids in any snapshot.
type brokenRow struct {
	Rule     string
	FolderID string
	PageID   string
	Detail   string
}

func newChecker(s *storm) *checker {
	pool, err := pgxpool.New(s.t.Context(), s.databaseURL)
	require.NoError(s.t, err)
	s.t.Cleanup(pool.Close)
	return &checker{
		storm: s, pool: pool, done: make(chan struct{}), newest: map[int64]published{}, atPath: map[string]int{},
		places: map[int64]placed{}, mostLive: map[string]int{}, removed: map[string]int{},
	}
}

func (c *checker) start() {
	ctx, cancel := context.WithCancel(context.WithoutCancel(c.storm.t.Context()))
	c.halt = cancel
	go func() {
		defer close(c.done)
		for pause.For(ctx, 100*time.Millisecond) == nil {
			c.once(ctx)
		}
	}()
	c.storm.t.Cleanup(c.stop)
}

func (c *checker) stop() {
	c.halt()
	<-c.done
}

// once takes a look and judges it. A failure of Postgres makes no look.
func (c *checker) once(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, 20*time.Second)
	defer cancel()
	l, err := c.take(ctx)
	if err != nil {
		return
	}
	c.judge(ctx, l)
	if c.looks.Add(1)%8 == 0 {
		c.searchHidden(ctx, l)
	}
}

// take reads everything in one snapshot.
func (c *checker) take(ctx context.Context) (look, error) {
	l := look{began: time.Now()}
	tx, err := c.pool.BeginTx(ctx, pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly})
	if err != nil {
		return l, err
	}
	defer func() { _ = tx.Rollback(context.WithoutCancel(ctx)) }()
	if l.pages, err = rowsOf[pageRow](ctx, tx, allPages); err != nil {
		return l, err
	}
	if l.live, err = rowsOf[liveRow](ctx, tx, allLive); err != nil {
		return l, err
	}
	for _, rule := range snapshotRules {
		broken, err := rowsOf[brokenRow](ctx, tx, rule)
		if err != nil {
			return l, err
		}
		l.broken = append(l.broken, broken...)
	}
	l.events, err = rowsOf[eventRow](ctx, tx, newEvents, c.lastEvent)
	l.ended = time.Now()
	return l, err
}

func rowsOf[T any](ctx context.Context, from interface {
	Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error)
}, query string, args ...any,
) ([]T, error) {
	rows, err := from.Query(ctx, query, args...)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, pgx.RowToStructByNameLax[T])
}

// learn looks up what an accepted delete of a page stands for, however long Postgres takes to come back.
func (c *checker) learn(folder, pageID string) (target, bool) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(c.storm.t.Context()), time.Minute)
	defer cancel()
	for {
		var found target
		err := c.pool.QueryRow(ctx, deletedPage, folder, pageID).Scan(&found.sourceID, &found.pageNo)
		switch {
		case err == nil:
			return found, true
		case errors.Is(err, pgx.ErrNoRows), pause.For(ctx, 100*time.Millisecond) != nil:
			return found, false
		}
	}
}

// deletedPage is what the last delete of a page id was accepted for; its row may be purged already.
const deletedPage = `
SELECT d.source_id, coalesce((SELECT p.page_no FROM pages p WHERE p.folder_id = d.folder_id AND p.page_id = d.page_id), 0)
FROM deletes d WHERE d.folder_id = $1 AND d.page_id = $2 ORDER BY d.delete_id DESC LIMIT 1`
