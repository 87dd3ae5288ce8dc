package tests

import (
	"encoding/json"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/client"

	"github.com/loresync/loresync/activities"
	"github.com/loresync/loresync/internal/content/summary"
	"github.com/loresync/loresync/internal/control"
	"github.com/loresync/loresync/internal/knowledge"
	"github.com/loresync/loresync/internal/store"
	"github.com/loresync/loresync/internal/testenv"
	"github.com/loresync/loresync/internal/web"
	"github.com/loresync/loresync/internal/workers"
	"github.com/loresync/loresync/workflows"
)

// watched is a loresync whose folder reads a board, and whose gateway the board calls.
type watched struct {
	*rig
	board  *board
	public string
}

// newWatched syncs a folder of the log user once; nothing is watched before the first upkeep.
func newWatched(t *testing.T) *watched {
	t.Helper()
	w := &watched{board: newBoard(t)}
	w.board.write("user", "plan", "The first plan.")
	w.rig = newRig(t, withoutWorker, patiently, func(r *rig) {
		r.src = w.board.source()
		r.spec = control.FolderSpec{ID: folderID, Source: "files", Root: "user", Title: "Board"}
	})
	w.public = w.gatewayOf(w.Control)
	w.startWorker(w.public)
	w.synced()
	return w
}

// gatewayOf serves calls for a control, and gives its public address.
func (w *watched) gatewayOf(through *control.Control) string {
	w.t.Helper()
	server := httptest.NewServer(web.New(web.Options{
		Status: through, Registry: prometheus.NewRegistry(), Log: slog.New(slog.DiscardHandler), Webhooks: through,
	}))
	w.t.Cleanup(server.Close)
	return server.URL
}

func (w *watched) startWorker(public string) {
	w.t.Helper()
	set, err := workers.Start(workers.Options{
		Store: w.store, Temporal: w.temporal, Control: w.Control, Sources: w.sources, Log: slog.New(slog.DiscardHandler), PublicURL: public,
		Models:   activities.Models{Embedder: w.embedder, Summarizer: summary.Extractive{}},
		Timeouts: activities.Timeouts{Ladder: 3 * time.Second, Abandoned: 2 * time.Second, AskAgain: time.Second},
	})
	require.NoError(w.t, err)
	w.t.Cleanup(set.Stop)
}

// upkeep runs the due reads once, as their Schedule does every minute.
func (w *watched) upkeep() activities.RequestDueResult {
	w.t.Helper()
	run, err := w.temporal.ExecuteWorkflow(w.t.Context(), client.StartWorkflowOptions{ID: "all/due", TaskQueue: workflows.QueueKnowledge},
		workflows.DueReadsWorkflow, workflows.DueReadsInput{})
	require.NoError(w.t, err)
	var result activities.RequestDueResult
	require.NoError(w.t, run.Get(w.t.Context(), &result))
	w.quiet()
	return result
}

// quiet waits until no folder sync runs: a first channel is followed by one.
func (w *watched) quiet() {
	w.t.Helper()
	testenv.Eventually(w.t, patience, func() bool { return w.count(`SELECT count(*) FROM sync_runs WHERE status = 'running'`) == 0 }, "no sync runs")
}

func (w *watched) keeper() *activities.Watches {
	return &activities.Watches{Store: w.store, Sources: w.sources, Asker: w.Control, PublicURL: w.public}
}

func (w *watched) watches() []knowledge.Watch { return w.watchesOf("files") }

func (w *watched) watchesOf(connection string) []knowledge.Watch {
	w.t.Helper()
	found, err := w.store.Watches(w.t.Context(), connection)
	require.NoError(w.t, err)
	return found
}

// confirmed waits until the first call of a log's channel has come.
func (w *watched) confirmed(log string) boardChannel {
	w.t.Helper()
	channel := w.board.demandOpen(log)
	testenv.Eventually(w.t, patience, func() bool {
		return w.count(`SELECT count(*) FROM watch_channels WHERE channel_id = $1 AND confirmed_at IS NOT NULL`, channel.ID) == 1
	}, "the channel is confirmed")
	return channel
}

func (w *watched) says(id, word string) {
	w.t.Helper()
	testenv.Eventually(w.t, soon, func() bool {
		page, err := w.Page(w.t.Context(), folderID, id)
		if err != nil {
			return false
		}
		text, err := w.Markdown(w.t.Context(), folderID, page.PageID)
		return err == nil && strings.Contains(text, word)
	}, id+" says "+word)
}

// webhookRuns counts the folder syncs that calls have asked for.
func (w *watched) webhookRuns() int {
	return w.count(`SELECT count(*) FROM sync_runs WHERE trigger = 'webhook'`)
}

func TestCallsOfAChangeLogAreFollowed(t *testing.T) {
	t.Parallel()
	w := newWatched(t)
	w.board.write("user", "plan", "An oncilla, written before anybody could call.")
	first := w.upkeep()
	require.Equal(t, [2]int{1, 1}, [2]int{first.Watched, first.Folders})
	w.says("plan", "oncilla")
	channel := w.confirmed("user")
	assert.Equal(t, w.public+"/webhooks/drive/files", channel.Address)
	assert.Zero(t, w.upkeep().Watched, "one is enough")
	assert.Zero(t, w.count(`SELECT count(*) FROM watch_channels WHERE encode(token_hash, 'escape') = $1`, channel.Token), "the token isn't kept")

	t.Run("an edit and a new note are published long before the next sync", func(t *testing.T) {
		w.board.put("user", "plan", "An ocelot.")
		w.board.put("user", "fresh", "A lynx.")
		w.says("plan", "ocelot")
		w.says("fresh", "lynx")
		assert.Equal(t, w.webhookRuns(), w.count(`SELECT count(*) FROM sync_runs WHERE trigger = 'webhook' AND mode = 'incremental'`))
	})

	t.Run("a crawl of edits joins, and its last one is followed", func(t *testing.T) {
		runs, begun := w.webhookRuns(), time.Now()
		var slowest time.Duration
		var met sync.Mutex
		var group sync.WaitGroup
		for i := range 200 {
			w.board.write("user", "plan", "Edit "+strings.Repeat("x", i)+".")
			group.Go(func() {
				began := time.Now()
				status := w.board.call(channel, "change", i)
				met.Lock()
				defer met.Unlock()
				slowest = max(slowest, time.Since(began))
				assert.Equal(t, 2, status/100)
			})
		}
		group.Wait()
		lasted := time.Since(begun)
		w.board.put("user", "last", "The last edit.")
		w.says("last", "last edit")
		t.Logf("the slowest of 200 answers at once took %s; %d syncs in %s", slowest, w.webhookRuns()-runs, lasted)
		assert.LessOrEqual(t, w.webhookRuns()-runs, 2+int(lasted/(5*time.Second))+1, "no more than one in five seconds")
	})

	t.Run("edits that go on and on lead to a sync now and then", func(t *testing.T) {
		w.quiet()
		w.executions()
		runs, events, begun := w.webhookRuns(), map[string]bool{}, time.Now()
		for i := 0; len(events) < 7; i++ {
			w.board.write("user", "plan", "Edit "+strconv.Itoa(i)+".")
			require.Equal(t, 2, w.board.call(channel, "change", i)/100)
			events[strconv.FormatInt(time.Now().UnixNano()/int64(knowledge.LogWindow), 10)] = true
		}
		lasted := time.Since(begun)
		w.board.put("user", "very-last", "The very last edit.")
		w.says("very-last", "very last")
		t.Logf("%d syncs in %s", w.webhookRuns()-runs, lasted)
		assert.LessOrEqual(t, w.webhookRuns()-runs, int(lasted/(5*time.Second))+3, "no more than one in five seconds")
	})

	t.Run("a call while a listing runs is followed by one more", func(t *testing.T) {
		release := w.board.hold()
		defer release()
		listings := func() (n int) { w.board.set(func() { n = w.board.listings }); return n }
		before := listings()
		w.board.put("user", "plan", "Seen by the listing that is held.")
		testenv.Eventually(t, patience, func() bool { return listings() > before }, "the listing has read the log")
		w.board.write("user", "late", "A serval, which that listing doesn't know.")
		followed := w.called(channel)
		testenv.Eventually(t, patience, func() bool { return w.judged(followed) }, "it was looked whether the listing will do")
		release()
		w.says("late", "serval")
	})
	w.clean()
}

// called makes a call of a channel, and gives what follows it.
func (w *watched) called(channel boardChannel) control.Answer {
	w.t.Helper()
	response, err := w.board.send(channel, "change", 1)
	require.NoError(w.t, err)
	defer response.Body.Close()
	var answer control.Answer
	require.NoError(w.t, json.NewDecoder(response.Body).Decode(&answer))
	require.Equal(w.t, http.StatusAccepted, response.StatusCode)
	return answer
}

// judged tells whether what follows a call has looked after its calls were gathered: it has ended, or waits for another look.
func (w *watched) judged(followed control.Answer) bool {
	w.t.Helper()
	events := w.temporal.GetWorkflowHistory(w.t.Context(), followed.WorkflowID, followed.RunID, false, enumspb.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT)
	waits := 0
	for events.HasNext() {
		event, err := events.Next()
		require.NoError(w.t, err)
		switch event.GetEventType() {
		case enumspb.EVENT_TYPE_WORKFLOW_EXECUTION_COMPLETED:
			return true
		case enumspb.EVENT_TYPE_TIMER_STARTED:
			waits++
		default:
		}
	}
	return waits > 2 // the second look may come a moment too early to count
}

func TestFaultCallsThatCountForNothing(t *testing.T) {
	t.Parallel()
	w := newWatched(t)
	w.upkeep()
	channel := w.confirmed("user")
	forge := func(change func(*boardChannel)) boardChannel {
		forged := channel
		change(&forged)
		return forged
	}
	w.board.write("user", "plan", "A caracal.")
	for name, forged := range map[string]boardChannel{
		"a wrong token":           forge(func(c *boardChannel) { c.Token = strings.Repeat("A", len(c.Token)) }),
		"no token":                forge(func(c *boardChannel) { c.Token = "" }),
		"another resource":        forge(func(c *boardChannel) { c.Resource = "resource of others" }),
		"an unknown channel":      forge(func(c *boardChannel) { c.ID = "00000000-0000-4000-8000-000000000000" }),
		"a channel that is no id": forge(func(c *boardChannel) { c.ID = "' OR true --" }),
		"another connection":      forge(func(c *boardChannel) { c.Address = w.public + "/webhooks/drive/gdrive" }),
	} {
		assert.Equal(t, http.StatusUnauthorized, w.board.call(forged, "change", 2), name)
	}
	assert.Empty(t, w.executions())
	assert.Zero(t, w.webhookRuns())

	plain := forge(func(c *boardChannel) { c.Address = w.public + "/webhooks/drive" })
	assert.Equal(t, http.StatusOK, w.board.call(plain, "exists", 2), "a state that nothing follows from")
	assert.Equal(t, http.StatusAccepted, w.board.call(plain, "change", 2), "the path needs no connection")
	w.says("plan", "caracal")
}

func TestFaultCallsComeTwiceAndOutOfOrder(t *testing.T) {
	t.Parallel()
	w := newWatched(t)
	w.upkeep()
	channel := w.confirmed("user")
	w.board.write("user", "plan", "A margay.")
	for _, number := range []int{9, 3, 3, 9, 2, 1, 9} {
		assert.Equal(t, 2, w.board.call(channel, "change", number)/100)
	}
	w.says("plan", "margay")
	w.executions()
	w.clean()
	assert.LessOrEqual(t, w.webhookRuns(), 2)
}

func TestFaultAnOldChannelIsReplayed(t *testing.T) {
	t.Parallel()
	w := newWatched(t)
	w.upkeep()
	old := w.confirmed("user")
	w.exec(`UPDATE watched_logs SET renew_at = now()`)
	kept := w.upkeep()
	assert.Equal(t, [2]int{1, 1}, [2]int{kept.Watched, kept.Unwatched})
	fresh := w.confirmed("user")
	require.NotEqual(t, old.ID, fresh.ID)
	assert.Equal(t, []string{old.ID, fresh.ID}, w.board.opened)
	assert.Equal(t, []string{old.ID}, w.board.stopped, "the old one is stopped after the new one was opened")

	w.board.write("user", "plan", "A puma.")
	assert.Equal(t, http.StatusAccepted, w.board.call(old, "change", 77), "a call that was under way when it was stopped")
	w.says("plan", "puma")
	w.exec(`UPDATE watch_channels SET expires_at = now() WHERE channel_id = $1`, old.ID)
	assert.Equal(t, http.StatusUnauthorized, w.board.call(old, "change", 78), "after its end nobody may call")
	assert.Equal(t, 2, w.board.call(fresh, "change", 2)/100)
}

func TestFaultAChannelEndsWithoutRenewal(t *testing.T) {
	t.Parallel()
	w := newWatched(t)
	w.upkeep()
	channel := w.confirmed("user")
	w.board.set(func() { w.board.broken = true })
	w.exec(`UPDATE watched_logs SET renew_at = now()`)
	assert.Zero(t, w.upkeep().Watched, "the upkeep itself is well")
	require.Len(t, w.watches(), 1)
	assert.Equal(t, 1, w.watches()[0].Failures)
	assert.Contains(t, w.watches()[0].Sentence, "503")
	assert.Equal(t, 2, w.board.call(channel, "change", 2)/100, "the old one goes on to its end")

	w.exec(`UPDATE watch_channels SET expires_at = now() WHERE channel_id = $1`, channel.ID)
	w.exec(`UPDATE watched_logs SET next_try_at = now()`)
	w.upkeep()
	assert.Equal(t, 2, w.watches()[0].Failures)
	assert.Equal(t, "expired", w.watches()[0].State)
	w.board.put("user", "plan", "A jaguarundi.")
	w.exec(`UPDATE sync_runs SET requested_at = requested_at - interval '1 hour' WHERE status <> 'running'`)
	assert.Equal(t, 1, w.upkeep().Folders, "the interval is the net")
	w.says("plan", "jaguarundi")

	w.board.set(func() { w.board.broken = false })
	w.exec(`UPDATE watched_logs SET next_try_at = now()`)
	assert.Equal(t, 1, w.upkeep().Watched)
	assert.Zero(t, w.watches()[0].Failures)
}

func TestChannelsAreOpenedOnceAndOnlyForLogsThatAreNeeded(t *testing.T) {
	t.Parallel()
	w := newWatched(t)

	t.Run("many upkeeps at once open one channel", func(t *testing.T) {
		var group sync.WaitGroup
		for range 12 {
			group.Go(func() {
				_, err := w.keeper().Keep(t.Context())
				assert.NoError(t, err)
			})
		}
		group.Wait()
		assert.Len(t, w.board.open("user"), 1)
		assert.Len(t, w.board.opened, 1)
	})

	t.Run("each log has its own, however many folders need it", func(t *testing.T) {
		_, err := w.AddFolder(t.Context(), control.FolderSpec{ID: "both", Source: "files", Root: "user+drive-1", Title: "Both"}, person)
		require.NoError(t, err)
		w.wait(w.SyncFolder(t.Context(), "both", knowledge.ModeFull, person))
		assert.Equal(t, 1, w.upkeep().Watched)
		w.confirmed("drive-1")
		w.board.put("drive-1", "shared", "A kodkod.")
		testenv.Eventually(t, soon, func() bool {
			return w.count(`SELECT count(*) FROM live_pages WHERE folder_id = 'both' AND title = 'shared'`) == 1
		}, "the folder that needs the log is synced")
		assert.Zero(t, w.count(`SELECT count(*) FROM sync_runs WHERE folder_id = $1 AND trigger = 'webhook'`, folderID), "and no other")
	})

	t.Run("a paused folder's log is closed, and opened again", func(t *testing.T) {
		_, err := w.PauseFolder(t.Context(), "both", person)
		require.NoError(t, err)
		assert.Equal(t, 1, w.upkeep().Unwatched)
		assert.Empty(t, w.board.open("drive-1"))
		assert.Len(t, w.board.open("user"), 1)
		_, err = w.ResumeFolder(t.Context(), "both", person)
		require.NoError(t, err)
		assert.Equal(t, 1, w.upkeep().Watched)
	})

	t.Run("so are those of a paused connection", func(t *testing.T) {
		_, err := w.PauseConnection(t.Context(), "files", person)
		require.NoError(t, err)
		assert.Equal(t, 2, w.upkeep().Unwatched)
		assert.Empty(t, w.watches())
		_, err = w.ResumeConnection(t.Context(), "files", person)
		require.NoError(t, err)
		assert.Equal(t, 2, w.upkeep().Watched)
	})

	t.Run("maintenance leaves all as it is", func(t *testing.T) {
		require.NoError(t, w.SetMaintenance(t.Context(), true, person))
		_, err := w.PauseFolder(t.Context(), "both", person)
		require.NoError(t, err)
		assert.Zero(t, w.upkeep().Unwatched)
		require.NoError(t, w.SetMaintenance(t.Context(), false, person))
	})

	t.Run("a deleted folder needs none", func(t *testing.T) {
		w.wait(w.DeleteFolder(t.Context(), folderID, false, person))
		assert.Equal(t, 2, w.upkeep().Unwatched)
		assert.Empty(t, w.board.open("user"))
		assert.Empty(t, w.board.open("drive-1"))
	})
}

func TestNothingIsOpenedThatCouldNotBeCalled(t *testing.T) {
	t.Parallel()
	w := newWatched(t)
	for _, public := range []string{"", "http://lore.example.com", "ftp://lore.example.com"} {
		keeper := w.keeper()
		keeper.PublicURL = public
		kept, err := keeper.Keep(t.Context())
		require.NoError(t, err)
		assert.Zero(t, kept.Opened, public)
	}
	assert.Empty(t, w.watches())
}

func TestCallsWhileSomethingIsAway(t *testing.T) {
	t.Parallel()
	w := newWatched(t)
	w.upkeep()
	channel := w.confirmed("user")
	cut, gone := channel, channel
	cut.Address = w.gatewayOf(w.cutOff()) + "/webhooks/drive"
	closed, err := store.Open(t.Context(), w.url, store.Options{})
	require.NoError(t, err)
	closed.Close()
	gone.Address = w.gatewayOf(control.New(closed, w.temporal, w.sources, slog.New(slog.DiscardHandler), control.Options{Namespace: w.name})) + "/webhooks/drive"
	for name, away := range map[string]boardChannel{"Temporal": cut, "Postgres": gone} {
		begun := time.Now()
		assert.Equal(t, http.StatusServiceUnavailable, w.board.call(away, "change", 2), name)
		assert.Less(t, time.Since(begun), 6*time.Second, name)
	}
	w.board.write("user", "plan", "A colocolo.")
	assert.Equal(t, http.StatusAccepted, w.board.call(channel, "change", 2), "delivered again, it works")
	w.says("plan", "colocolo")
}
