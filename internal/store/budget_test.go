package store_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/loresync/loresync/internal/knowledge"
	"github.com/loresync/loresync/internal/source/transport"
	"github.com/loresync/loresync/internal/store"
	"github.com/loresync/loresync/internal/testenv"
)

const connection = "notion"

// recordSlots makes Postgres note each slot at the moment at which it was taken, by its own clock, and how many had been taken when
// a mark of a more urgent waiter came and went.
const recordSlots = `
CREATE TABLE slots_seen (n bigint PRIMARY KEY, at timestamptz NOT NULL);
CREATE FUNCTION see_slot() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN INSERT INTO slots_seen VALUES (NEW.taken, NEW.taken_at); RETURN NULL; END $$;
CREATE TRIGGER see_slots AFTER UPDATE OF taken ON rate_budgets FOR EACH ROW EXECUTE FUNCTION see_slot();
CREATE TABLE marks_seen (lane smallint NOT NULL, what text NOT NULL, taken bigint NOT NULL);
CREATE FUNCTION see_mark() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO marks_seen SELECT coalesce(NEW.lane, OLD.lane), TG_OP, b.taken FROM rate_budgets b
    WHERE b.connection = coalesce(NEW.connection, OLD.connection);
    RETURN NULL;
END $$;
CREATE TRIGGER see_marks AFTER INSERT OR DELETE ON budget_waiters FOR EACH ROW EXECUTE FUNCTION see_mark();`

func (d *desk) slotTimes() []time.Time {
	d.t.Helper()
	rows, err := d.sql.Query(d.t.Context(), `SELECT at FROM slots_seen ORDER BY n`)
	require.NoError(d.t, err)
	defer rows.Close()
	var times []time.Time
	for rows.Next() {
		var at time.Time
		require.NoError(d.t, rows.Scan(&at))
		times = append(times, at)
	}
	require.NoError(d.t, rows.Err())
	return times
}

// withinBudget compares every window between two slots with what may pass in it: as many as the rate gives in that time, and a burst.
func withinBudget(t *testing.T, times []time.Time, perSecond float64, burst int) {
	t.Helper()
	for i, from := range times {
		for j := i; j < len(times); j++ {
			window := times[j].Sub(from)
			if allowed := int(window.Seconds()*perSecond+1e-9) + burst; j-i+1 > allowed {
				t.Fatalf("%d slots in %s, allowed are %d", j-i+1, window, allowed)
			}
		}
	}
}

// asker is one process' way to a budget, asked without its queue.
type asker struct {
	*store.Slots
	t *testing.T
}

func (d *desk) asker(perSecond float64, burst int) asker {
	return asker{d.Slots(perSecond, burst), d.t}
}

func (a asker) ask(lane knowledge.Lane, h knowledge.Holder, check bool) (string, time.Duration, knowledge.Lane) {
	a.t.Helper()
	outcome, wait, now, err := a.TakeSlot(a.t.Context(), connection, h, lane, check)
	require.NoError(a.t, err)
	return outcome, wait, now
}

func (a asker) outcome(lane knowledge.Lane) string {
	a.t.Helper()
	outcome, _, _ := a.ask(lane, knowledge.Holder{}, false)
	return outcome
}

// inFlight is a page whose sync has begun.
func (d *desk) inFlight(page string) knowledge.Holder {
	d.t.Helper()
	d.exec(`INSERT INTO pages (folder_id, page_id, source_id) VALUES ($1, $2, $2)`, folder, page)
	begun, holder := d.begin(page)
	require.Equal(d.t, "begun", begun.Outcome)
	return holder
}

// slow is a rate at which no test sees a second slot.
const slow = 1.0 / 3600

func TestBudgetSlots(t *testing.T) {
	t.Parallel()

	t.Run("gives a burst and then has askers wait, a second at most", func(t *testing.T) {
		t.Parallel()
		a := newDesk(t).asker(slow, 3)
		for range 3 {
			assert.Equal(t, "go", a.outcome(knowledge.LaneBackfill))
		}
		outcome, wait, _ := a.ask(knowledge.LaneBackfill, knowledge.Holder{}, false)
		assert.Equal(t, "wait", outcome)
		assert.Equal(t, time.Second, wait)
	})

	t.Run("tells how long the next slot takes", func(t *testing.T) {
		t.Parallel()
		a := newDesk(t).asker(2, 1)
		require.Equal(t, "go", a.outcome(knowledge.LaneBackfill))
		outcome, wait, _ := a.ask(knowledge.LaneBackfill, knowledge.Holder{}, false)
		if outcome == "wait" { // unless the machine slept for half a second
			assert.Positive(t, wait)
			assert.LessOrEqual(t, wait, 503*time.Millisecond)
		}
	})

	t.Run("is one budget for all who ask", func(t *testing.T) {
		t.Parallel()
		d := newDesk(t)
		require.Equal(t, "go", d.asker(slow, 2).outcome(knowledge.LaneBackfill))
		require.Equal(t, "go", d.asker(slow, 2).outcome(knowledge.LaneBackfill))
		assert.Equal(t, "wait", d.asker(slow, 2).outcome(knowledge.LaneBackfill))
		outcome, _, _, err := d.Slots(slow, 2).TakeSlot(t.Context(), "gdrive", knowledge.Holder{}, knowledge.LaneBackfill, false)
		require.NoError(t, err)
		assert.Equal(t, "go", outcome, "another connection has its own")
	})

	t.Run("doesn't know a connection that isn't there", func(t *testing.T) {
		t.Parallel()
		d := newDesk(t)
		outcome, _, _, err := d.Slots(1, 1).TakeSlot(t.Context(), "nobody", knowledge.Holder{}, knowledge.LaneBackfill, false)
		require.NoError(t, err)
		assert.Equal(t, "connection_unknown", outcome)
		require.ErrorIs(t, d.Slots(1, 1).Block(t.Context(), "nobody", time.Second), store.ErrNotFound)
		require.ErrorIs(t, d.SetBudget(t.Context(), "nobody", 1, 1), store.ErrNotFound)
	})

	t.Run("survives a clock that was set back", func(t *testing.T) {
		t.Parallel()
		d := newDesk(t)
		a := d.asker(100, 5)
		require.Equal(t, "go", a.outcome(knowledge.LaneBackfill))
		d.exec(`UPDATE rate_budgets SET next_at = now() + interval '1 day'`)
		require.Eventually(t, func() bool { return a.outcome(knowledge.LaneBackfill) == "go" }, 10*time.Second, time.Millisecond)
	})
}

// TestBudgetOfNotion counts in Postgres' own arithmetic what the default lets pass in a minute: 180, without waiting for it.
func TestBudgetOfNotion(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	var step time.Duration
	require.NoError(t, d.sql.QueryRow(t.Context(), `SELECT budget_step($1)`, transport.DefaultPerSecond).Scan(&step))
	most := int(time.Minute/step) + transport.DefaultBurst
	assert.LessOrEqual(t, most, 180)
	assert.GreaterOrEqual(t, float64(time.Minute/step), 0.95*transport.DefaultPerSecond*60)
}

// TestBudgetLeavesRoomForLateRequests counts the slots of a minute and a bit: those that a vendor may see in one minute, where
// some arrive at once and some up to 0.3 s late.
func TestBudgetLeavesRoomForLateRequests(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	for _, perSecond := range []float64{0.5, transport.DefaultPerSecond, 30, 200} {
		var step time.Duration
		require.NoError(t, d.sql.QueryRow(t.Context(), `SELECT budget_step($1)`, perSecond).Scan(&step))
		seen := int((time.Minute+300*time.Millisecond)/step) + transport.DefaultBurst
		assert.LessOrEqual(t, seen, int(60*perSecond+1e-9)+transport.DefaultBurst, "%g a second", perSecond)
		assert.GreaterOrEqual(t, float64(time.Minute/step), 0.98*perSecond*60-1, "%g a second", perSecond)
	}
}

func TestBudgetSettings(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	a := d.asker(slow, 1)
	require.Equal(t, "go", a.outcome(knowledge.LaneBackfill))
	require.Equal(t, "wait", a.outcome(knowledge.LaneBackfill))

	require.NoError(t, d.SetBudget(t.Context(), connection, 2*slow, 50))
	require.Equal(t, "go", a.outcome(knowledge.LaneBackfill), "what is set goes before the default")
	found, err := d.Budgets(t.Context())
	require.NoError(t, err)
	require.Len(t, found, 1)
	assert.InDelta(t, 2*slow, *found[0].PerSecond, 0)
	assert.Equal(t, 50, *found[0].Burst)
	assert.EqualValues(t, 2, found[0].Taken)

	require.NoError(t, d.SetBudget(t.Context(), connection, 0, 0))
	found, err = d.Budgets(t.Context())
	require.NoError(t, err)
	assert.Nil(t, found[0].PerSecond)
	assert.Equal(t, "wait", a.outcome(knowledge.LaneBackfill), "the default is back, and the slots that were given away count")

	for _, wrong := range [][2]float64{{-1, 1}, {1, 0}, {0, 1}} {
		require.ErrorContains(t, d.SetBudget(t.Context(), connection, wrong[0], int(wrong[1])), "above zero")
	}
}

func TestBudgetStops(t *testing.T) {
	t.Parallel()
	cases := []struct {
		name, change, want string
		check              bool
	}{
		{"goes on while nothing happened", `SELECT 1`, "go", false},
		{"stops when a delete asked for it", `UPDATE in_flight SET cancel_requested = true`, "stop", false},
		{"stops when the sync has ended", `DELETE FROM in_flight`, "stop", false},
		{"stops when another sync of the page began", `UPDATE in_flight SET token = gen_random_uuid()`, "stop", false},
		{"stops when the folder is deleted", `UPDATE folders SET deleted_at = now(), purge_at = now()`, "stop", false},
		{"pauses with the connection", `UPDATE connections SET paused_at = now() WHERE name = 'notion'`, "paused", false},
		{"stops before it pauses", `WITH x AS (DELETE FROM in_flight) UPDATE connections SET paused_at = now() WHERE name = 'notion'`, "stop", false},
		{"checks a paused connection", `UPDATE connections SET paused_at = now() WHERE name = 'notion'`, "go", true},
		{"minds no other connection's pause", `UPDATE connections SET paused_at = now() WHERE name = 'gdrive'`, "go", false},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			d := newDesk(t)
			holder := d.inFlight("a")
			d.exec(c.change)
			a := d.asker(slow, 5)
			outcome, _, _ := a.ask(knowledge.LaneBackfill, holder, c.check)
			assert.Equal(t, c.want, outcome)
			want := 0
			if c.want == "go" {
				want = 1
			}
			assert.Equal(t, want, d.count(`SELECT taken FROM rate_budgets WHERE connection = $1`, connection), "what isn't sent costs no slot")
		})
	}

	t.Run("stops a request outside a page sync when its folder is gone", func(t *testing.T) {
		t.Parallel()
		outcome, _, _ := newDesk(t).asker(slow, 5).ask(knowledge.LaneBackfill, knowledge.Holder{Folder: "elsewhere"}, false)
		assert.Equal(t, "stop", outcome)
	})
}

func TestBudgetStanding(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	a, b, c := d.inFlight("a"), d.inFlight("b"), d.inFlight("c")
	d.exec(`UPDATE in_flight SET lane = 2 WHERE page_id = $1`, a.Page)
	d.exec(`UPDATE in_flight SET cancel_requested = true WHERE page_id = $1`, b.Page)
	c.Token = uuid.NewString()
	lanes, err := d.Slots(1, 1).Standing(t.Context(), []knowledge.Holder{a, b, c})
	require.NoError(t, err)
	assert.Equal(t, map[knowledge.Holder]knowledge.Lane{a: knowledge.LaneIncremental}, lanes)

	_, _, now := d.asker(slow, 5).ask(knowledge.LaneBackfill, a, false)
	assert.Equal(t, knowledge.LaneIncremental, now, "the row's lane goes before what the caller knows")
}

func TestBudgetLanes(t *testing.T) {
	t.Parallel()

	t.Run("the less urgent let the more urgent of another process pass, until it has its slot", func(t *testing.T) {
		t.Parallel()
		d := newDesk(t)
		person, crawl := d.asker(slow, 1), d.asker(slow, 1)
		require.Equal(t, "go", crawl.outcome(knowledge.LaneBackfill))
		require.Equal(t, "wait", person.outcome(knowledge.LanePerson))
		d.exec(`UPDATE rate_budgets SET next_at = now() - interval '1 hour'`)
		d.exec(`UPDATE budget_waiters SET expires_at = now() + interval '1 hour'`)
		require.Equal(t, "wait", crawl.outcome(knowledge.LaneBackfill), "a slot is free, but not for it")
		require.Equal(t, "wait", crawl.outcome(knowledge.LaneDelete))
		require.Equal(t, "go", person.outcome(knowledge.LanePerson))
		d.exec(`UPDATE rate_budgets SET next_at = now() - interval '1 hour'`)
		assert.Equal(t, "go", crawl.outcome(knowledge.LaneBackfill))
	})

	t.Run("a waiter that died holds nobody up for long", func(t *testing.T) {
		t.Parallel()
		d := newDesk(t)
		dead, crawl := d.asker(slow, 1), d.asker(slow, 1)
		require.Equal(t, "go", crawl.outcome(knowledge.LaneBackfill))
		require.Equal(t, "wait", dead.outcome(knowledge.LanePerson))
		assert.Equal(t, 1, d.count(`SELECT count(*) FROM budget_waiters WHERE expires_at <= clock_timestamp() + interval '2 seconds'`))
		d.exec(`UPDATE budget_waiters SET expires_at = now() - interval '1 millisecond'`)
		d.exec(`UPDATE rate_budgets SET next_at = now() - interval '1 hour'`)
		require.Equal(t, "go", crawl.outcome(knowledge.LaneBackfill))
		assert.Zero(t, d.count(`SELECT count(*) FROM budget_waiters`), "its mark is cleared away")
	})

	t.Run("a waiter's mark goes when it stops", func(t *testing.T) {
		t.Parallel()
		d := newDesk(t)
		a := d.asker(slow, 1)
		require.Equal(t, "go", a.outcome(knowledge.LanePerson))
		require.Equal(t, "wait", a.outcome(knowledge.LanePerson))
		outcome, _, _ := a.ask(knowledge.LanePerson, knowledge.Holder{Folder: "elsewhere"}, false)
		require.Equal(t, "stop", outcome)
		assert.Zero(t, d.count(`SELECT count(*) FROM budget_waiters`))
	})
}

func TestBudgetBlock(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	a := d.asker(slow, 5)
	require.NoError(t, a.Block(t.Context(), connection, time.Hour))
	require.NoError(t, d.asker(slow, 5).Block(t.Context(), connection, time.Second))
	outcome, wait, _ := a.ask(knowledge.LanePerson, knowledge.Holder{}, false)
	assert.Equal(t, "blocked", outcome)
	assert.Greater(t, wait, 50*time.Minute, "the longer block stays")
	found, err := d.Budgets(t.Context())
	require.NoError(t, err)
	require.NotNil(t, found[0].BlockedUntil)

	d.exec(`UPDATE rate_budgets SET blocked_until = blocked_until - interval '1 hour', next_at = next_at - interval '1 hour'`)
	require.Equal(t, "go", a.outcome(knowledge.LanePerson))
	assert.Equal(t, "wait", a.outcome(knowledge.LanePerson), "no burst was saved up")
}

// TestBudgetOfManyProcesses lets two processes' worth of requests ask for what they can get, and counts by Postgres' clock. The bound
// must hold in every round; that a machine with other work gets its slots used up in time, in one of a few.
func TestBudgetOfManyProcesses(t *testing.T) {
	t.Parallel()
	const perSecond, burst, rounds = 50, 10, 8
	var used float64
	for range rounds {
		d := newDesk(t)
		d.exec(recordSlots)
		ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
		var group sync.WaitGroup
		for range 2 {
			budget := transport.NewBudget(d.Slots(perSecond, burst))
			for i := range 8 {
				group.Go(func() {
					for budget.Take(ctx, connection, transport.Attempt{Lane: knowledge.Lane(2 + i%2)}) == nil {
					}
				})
			}
		}
		group.Wait()
		cancel()
		times := d.slotTimes()
		require.NotEmpty(t, times)
		withinBudget(t, times, perSecond, burst)
		window := times[len(times)-1].Sub(times[0])
		used = max(used, float64(len(times))/(window.Seconds()*perSecond+burst))
		if used >= 0.95 {
			break
		}
	}
	assert.GreaterOrEqual(t, used, 0.95, "what the budget gives is used")
}

// TestBudgetForAPerson counts the slots that go to others between a person's request having left its mark and its slot.
func TestBudgetForAPerson(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.exec(recordSlots)
	const perSecond, burst = 40, 1
	ctx, cancel := context.WithCancel(t.Context())
	var group sync.WaitGroup
	crawl, gateway := transport.NewBudget(d.Slots(perSecond, burst)), transport.NewBudget(d.Slots(perSecond, burst))
	for range 10 {
		for _, budget := range []transport.Budget{crawl, gateway} {
			group.Go(func() {
				for budget.Take(ctx, connection, transport.Attempt{Lane: knowledge.LaneBackfill}) == nil {
				}
			})
		}
	}
	require.Eventually(t, func() bool { return d.count(`SELECT count(*) FROM slots_seen`) > 3 }, 30*time.Second, 5*time.Millisecond)
	for range 5 {
		require.NoError(t, gateway.Take(ctx, connection, transport.Attempt{Lane: knowledge.LanePerson}))
	}
	cancel()
	group.Wait()

	rows, err := d.sql.Query(t.Context(), `SELECT what, taken FROM marks_seen WHERE lane = 0`)
	require.NoError(t, err)
	defer rows.Close()
	var came int64
	var seen []string
	for rows.Next() {
		var what string
		var taken int64
		require.NoError(t, rows.Scan(&what, &taken))
		seen = append(seen, fmt.Sprintf("%s at %d", what, taken))
		if what == "INSERT" {
			came = taken
			continue
		}
		assert.LessOrEqual(t, taken-came, int64(2), "its own slot, and at most one that was being given away: %v", seen)
	}
	require.NoError(t, rows.Err())
	assert.NotEmpty(t, seen)
}

// BenchmarkTakeSlot is the cost of one slot: a round trip that takes it, with a page sync to look at.
func BenchmarkTakeSlot(b *testing.B) {
	st, err := store.Open(b.Context(), testenv.Database(b), store.Options{})
	require.NoError(b, err)
	b.Cleanup(st.Close)
	slots := st.Slots(1e6, 1000)
	for b.Loop() {
		_, _, _, err := slots.TakeSlot(b.Context(), connection, knowledge.Holder{}, knowledge.LaneBackfill, false)
		require.NoError(b, err)
	}
}
