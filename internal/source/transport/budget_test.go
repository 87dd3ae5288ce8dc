package transport_test

import (
	"context"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/loresync/loresync/internal/knowledge"
	"github.com/loresync/loresync/internal/source"
	"github.com/loresync/loresync/internal/source/transport"
	"github.com/loresync/loresync/internal/store"
	"github.com/loresync/loresync/internal/testenv"
)

const connection = "notion"

// desk is a database with one folder, and what a process would have of it.
type desk struct {
	t   *testing.T
	url string
	sql *pgx.Conn
	st  *store.Store
}

func newDesk(t *testing.T) *desk {
	t.Helper()
	d := &desk{t: t, url: testenv.Database(t)}
	conn, err := pgx.Connect(t.Context(), d.url)
	require.NoError(t, err)
	t.Cleanup(func() { _ = conn.Close(context.WithoutCancel(t.Context())) })
	d.sql = conn
	d.st = d.open(d.url)
	d.exec(`INSERT INTO folders (folder_id, source, connection, root, title) VALUES ('hr', 'notion', 'notion', 'workspace', 'HR')`)
	return d
}

func (d *desk) open(address string) *store.Store {
	d.t.Helper()
	st, err := store.Open(d.t.Context(), address, store.Options{})
	require.NoError(d.t, err)
	d.t.Cleanup(st.Close)
	return st
}

func (d *desk) exec(query string, args ...any) {
	d.t.Helper()
	_, err := d.sql.Exec(d.t.Context(), query, args...)
	require.NoError(d.t, err)
}

func (d *desk) taken() (n int) {
	d.t.Helper()
	require.NoError(d.t, d.sql.QueryRow(d.t.Context(), `SELECT coalesce(sum(taken), 0) FROM rate_budgets`).Scan(&n))
	return n
}

// marks counts the processes whose most urgent waiter is of that lane.
func (d *desk) marks(lane knowledge.Lane) (n int) {
	d.t.Helper()
	require.NoError(d.t, d.sql.QueryRow(d.t.Context(), `SELECT count(*) FROM budget_waiters WHERE lane = $1`, int16(lane)).Scan(&n))
	return n
}

// begin starts the sync of a page, as the attempt that its requests are made for.
func (d *desk) begin(page string, lane knowledge.Lane) transport.Attempt {
	d.t.Helper()
	d.exec(`INSERT INTO pages (folder_id, page_id, source_id) VALUES ('hr', $1, $1)`, page)
	begun, err := d.st.BeginPageSync(d.t.Context(), "hr", page, "folder/hr/page/"+page+"/sync", "first", "run", lane)
	require.NoError(d.t, err)
	require.Equal(d.t, "begun", begun.Outcome)
	return transport.Attempt{Folder: "hr", Page: page, Token: begun.Token, Lane: lane}
}

// spent is a budget that has nothing left and gives a new slot only when the test moves it on.
func (d *desk) spent() transport.Budget {
	d.t.Helper()
	budget := transport.NewBudget(d.st.Slots(1.0/3600, 1))
	require.NoError(d.t, budget.Take(d.t.Context(), connection, transport.Attempt{Check: true}))
	return budget
}

// oneMore makes the next slot free.
func (d *desk) oneMore() {
	d.t.Helper()
	d.exec(`UPDATE rate_budgets SET next_at = now() - interval '1 second'`)
}

// line sends requests in the background and tells whose turn came, in order.
type line struct {
	t      *testing.T
	budget transport.Budget
	served chan string
	group  sync.WaitGroup
}

func (l *line) send(ctx context.Context, name string, a transport.Attempt) {
	l.group.Go(func() {
		if err := l.budget.Take(ctx, connection, a); err != nil {
			name += ": " + err.Error()
		}
		l.served <- name
	})
}

func (l *line) next() string {
	l.t.Helper()
	select {
	case name := <-l.served:
		return name
	case <-time.After(30 * time.Second):
		l.t.Fatal("nobody was served")
		return ""
	}
}

func newLine(t *testing.T, budget transport.Budget) *line {
	t.Helper()
	l := &line{t: t, budget: budget, served: make(chan string, 100)}
	t.Cleanup(l.group.Wait)
	return l
}

func TestQueue(t *testing.T) {
	t.Parallel()

	t.Run("serves the most urgent first", func(t *testing.T) {
		t.Parallel()
		d := newDesk(t)
		l := newLine(t, d.spent())
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		for _, lane := range []knowledge.Lane{knowledge.LaneBackfill, knowledge.LaneIncremental, knowledge.LanePerson, knowledge.LaneDelete} {
			l.send(ctx, []string{"person", "delete", "incremental", "backfill"}[lane], transport.Attempt{Lane: lane})
		}
		transport.WaitForLine(t, l.budget, connection, 4)
		// Whoever came before the person may be asking still; once the person was told to wait, nobody else asks.
		require.Eventually(t, func() bool { return d.marks(knowledge.LanePerson) == 1 }, 30*time.Second, time.Millisecond)
		for _, want := range []string{"person", "delete", "incremental", "backfill"} {
			d.oneMore()
			assert.Equal(t, want, l.next())
		}
	})

	t.Run("serves one lane in the order of coming", func(t *testing.T) {
		t.Parallel()
		d := newDesk(t)
		l := newLine(t, d.spent())
		for i, name := range []string{"a", "b", "c"} {
			l.send(t.Context(), name, transport.Attempt{Lane: knowledge.LaneBackfill})
			transport.WaitForLine(t, l.budget, connection, i+1)
		}
		for _, want := range []string{"a", "b", "c"} {
			d.oneMore()
			assert.Equal(t, want, l.next())
		}
	})

	t.Run("lets a page overtake whose lane was lifted while it waits", func(t *testing.T) {
		t.Parallel()
		d := newDesk(t)
		first, second := d.begin("first", knowledge.LaneBackfill), d.begin("second", knowledge.LaneBackfill)
		l := newLine(t, d.spent())
		l.send(t.Context(), "first", first)
		transport.WaitForLine(t, l.budget, connection, 1)
		l.send(t.Context(), "second", second)
		transport.WaitForLine(t, l.budget, connection, 2)
		d.exec(`UPDATE in_flight SET lane = 0 WHERE page_id = 'second'`)
		transport.WaitForFirst(t, l.budget, connection, second)
		d.oneMore()
		assert.Equal(t, "second", l.next())
		d.oneMore()
		assert.Equal(t, "first", l.next())
	})

	t.Run("stops those behind the first when a delete asks for it", func(t *testing.T) {
		t.Parallel()
		d := newDesk(t)
		first, second := d.begin("first", knowledge.LaneBackfill), d.begin("second", knowledge.LaneBackfill)
		l := newLine(t, d.spent())
		l.send(t.Context(), "first", first)
		transport.WaitForLine(t, l.budget, connection, 1)
		l.send(t.Context(), "second", second)
		transport.WaitForLine(t, l.budget, connection, 2)
		d.exec(`UPDATE in_flight SET cancel_requested = true WHERE page_id = 'second'`)
		assert.Equal(t, "second: "+transport.ErrStopped.Error(), l.next())
		d.exec(`DELETE FROM in_flight WHERE page_id = 'first'`)
		assert.Equal(t, "first: "+transport.ErrStopped.Error(), l.next())
		assert.Equal(t, 1, d.taken(), "neither took a slot")
	})

	t.Run("goes on when the first one gives up", func(t *testing.T) {
		t.Parallel()
		d := newDesk(t)
		l := newLine(t, d.spent())
		ctx, cancel := context.WithCancel(t.Context())
		l.send(ctx, "first", transport.Attempt{Lane: knowledge.LanePerson})
		transport.WaitForLine(t, l.budget, connection, 1)
		l.send(t.Context(), "second", transport.Attempt{Lane: knowledge.LaneBackfill})
		transport.WaitForLine(t, l.budget, connection, 2)
		cancel()
		assert.Equal(t, "first: context canceled", l.next())
		// A question that was under way when its asker went may still take a slot in Postgres, which is lost.
		require.Eventually(t, func() bool { d.oneMore(); return len(l.served) > 0 }, 30*time.Second, 20*time.Millisecond)
		assert.Equal(t, "second", l.next())
	})

	t.Run("refuses a connection that is paused or isn't there", func(t *testing.T) {
		t.Parallel()
		d := newDesk(t)
		budget := transport.NewBudget(d.st.Slots(100, 10))
		d.exec(`UPDATE connections SET paused_at = now() WHERE name = $1`, connection)
		require.ErrorIs(t, budget.Take(t.Context(), connection, transport.Attempt{}), transport.ErrPaused)
		require.NoError(t, budget.Take(t.Context(), connection, transport.Attempt{Check: true}))
		require.ErrorContains(t, budget.Take(t.Context(), "nobody", transport.Attempt{}), "connection_unknown")
	})
}

func TestBudgetOverHTTP(t *testing.T) {
	t.Parallel()

	t.Run("takes a slot for each try", func(t *testing.T) {
		t.Parallel()
		d := newDesk(t)
		v := newVendor(t, status(500, ``), reset, fine)
		config := settings()
		config.Budget = transport.NewBudget(d.st.Slots(1000, 100))
		_, _, err := send(t, config, http.MethodGet, v.URL, "")
		require.NoError(t, err)
		assert.EqualValues(t, 3, v.count.Load())
		assert.Equal(t, 3, d.taken(), "the one too that net/http sends again on its own after the reset")
	})

	t.Run("moves the whole budget when one is told to wait", func(t *testing.T) {
		t.Parallel()
		d := newDesk(t)
		v := newVendor(t, status(429, `{}`, "Retry-After", "1"), fine)
		config := settings()
		config.Budget = transport.NewBudget(d.st.Slots(1000, 100))
		_, _, err := send(t, config, http.MethodGet, v.URL, "")
		require.NoError(t, err)
		var late bool
		require.NoError(t, d.sql.QueryRow(t.Context(), `SELECT taken_at >= blocked_until FROM rate_budgets`).Scan(&late))
		assert.True(t, late, "the second slot came after the rest, by Postgres' own clock")
	})

	t.Run("hands a long rest up at once, to those as well who come later", func(t *testing.T) {
		t.Parallel()
		d := newDesk(t)
		v := newVendor(t, status(429, `{}`, "Retry-After", "600"))
		config := settings()
		for range 2 {
			config.Budget = transport.NewBudget(d.st.Slots(1000, 100))
			_, _, err := send(t, config, http.MethodGet, v.URL, "")
			var failure *source.Failure
			require.ErrorAs(t, err, &failure)
			assert.Equal(t, source.ClassRateLimited, failure.Class)
			assert.Greater(t, failure.RetryAfter, 9*time.Minute)
		}
		assert.EqualValues(t, 1, v.count.Load())
	})

	t.Run("sends nothing for a sync that a delete stopped", func(t *testing.T) {
		t.Parallel()
		d := newDesk(t)
		a := d.begin("p", knowledge.LanePerson)
		v := newVendor(t, func(w http.ResponseWriter, r *http.Request) {
			_, err := d.sql.Exec(r.Context(), `UPDATE in_flight SET cancel_requested = true`)
			assert.NoError(t, err)
			status(500, ``)(w, r)
		})
		config := settings()
		config.Budget = transport.NewBudget(d.st.Slots(1000, 100))
		req, err := http.NewRequestWithContext(transport.WithAttempt(t.Context(), a), http.MethodGet, v.URL, http.NoBody)
		require.NoError(t, err)
		_, err = (&http.Client{Transport: transport.New(config)}).Do(req)
		require.ErrorIs(t, err, transport.ErrStopped)
		assert.EqualValues(t, 1, v.count.Load(), "the retry after the accept isn't sent")
	})
}

func TestBudgetWithoutPostgres(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	door := newDoor(t, d.url)
	budget := transport.NewBudget(d.open(door.url).Slots(1000, 100))
	require.NoError(t, budget.Take(t.Context(), connection, transport.Attempt{}))

	door.shut()
	l := newLine(t, budget)
	l.send(t.Context(), "served", transport.Attempt{})
	blocked := make(chan error, 1)
	go func() { blocked <- budget.Block(t.Context(), connection, time.Millisecond) }()
	require.Eventually(t, func() bool { return door.knocks() > 2 }, 30*time.Second, 5*time.Millisecond)
	assert.Empty(t, l.served, "nothing is sent without a slot")
	assert.Equal(t, 1, d.taken())

	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	require.ErrorIs(t, budget.Take(ctx, connection, transport.Attempt{}), context.Canceled)

	door.open()
	assert.Equal(t, "served", l.next())
	require.NoError(t, <-blocked)
	assert.Equal(t, 2, d.taken())
}
