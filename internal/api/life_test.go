package api_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/loresync/loresync/internal/control"
	"github.com/loresync/loresync/internal/knowledge"
	"github.com/loresync/loresync/internal/search"
	"github.com/loresync/loresync/internal/testenv"
)

// ended waits until the run of an answer has ended, and gives it.
func (r *room) ended(a control.Answer) control.RunDetail {
	r.t.Helper()
	var run control.RunDetail
	testenv.Eventually(r.t, patience, func() bool {
		run = into[control.RunDetail](r.get("/runs/" + url.PathEscape(a.WorkflowID)).is(http.StatusOK))
		return run.Status != knowledge.RunRunning
	}, "the run has ended")
	return run
}

// becomes waits until a page is in a state.
func (r *room) becomes(path string, state knowledge.PageState) knowledge.Page {
	r.t.Helper()
	var page knowledge.Page
	testenv.Eventually(r.t, patience, func() bool {
		a := r.get(path)
		if a.status != http.StatusOK {
			return false
		}
		page = into[knowledge.Page](a)
		return page.State == state && !page.Running
	}, path+" is "+string(state))
	return page
}

func TestTheLifeOfAFolder(t *testing.T) { //nolint:tparallel // one story
	t.Parallel()
	r := newRoom(t, testenv.Client)
	r.worker()
	r.gateway()
	require.Len(t, r.urls, 2, "two gateways take turns")
	r.put("travel/trains.md", "# Trains\n\nAsk for the ticket first.\n")
	r.put("travel/planes.md", "# Planes\n\nNever.\n")
	r.put("people.md", "# People\n\nEverybody.\n")
	const page = "/folders/hr/pages/travel%2Ftrains.md"

	t.Run("it is registered", func(t *testing.T) {
		added := r.ask(http.MethodPost, "/folders", `{"id":"hr","source":"files","root":"`+r.root+`","title":"HR","state":"paused"}`).is(http.StatusCreated)
		assert.Equal(t, "/api/v1/folders/hr", added.header.Get("Location"))
		assert.Equal(t, "paused", into[knowledge.Folder](added).State)
		r.ask(http.MethodPost, "/folders", `{"id":"hr","source":"files","root":"`+r.root+`"}`).problem(http.StatusConflict, "folder_exists")
		r.ask(http.MethodPost, "/folders/hr/sync", "").problem(http.StatusConflict, "paused")
		r.ask(http.MethodPost, "/folders/hr/resume", "").is(http.StatusOK)
		changed := r.ask(http.MethodPatch, "/folders/hr",
			`{"title":"People <script>","interval":"1h","readers":["support"],"limits":{"max_bytes":100000}}`).is(http.StatusOK)
		folder := into[knowledge.Folder](changed)
		assert.NotContains(t, changed.body, "<script>", "titles are strangers' words")
		assert.Equal(t, []string{"People <script>", "1h"}, []string{folder.Title, folder.Interval})
	})

	t.Run("it is synced", func(t *testing.T) {
		dry := into[control.Answer](r.ask(http.MethodPost, "/folders/hr/sync", `{"dry_run":true}`).is(http.StatusAccepted))
		assert.True(t, dry.DryRun)
		r.ended(dry)
		synced := into[control.Answer](r.ask(http.MethodPost, "/folders/hr/sync", `{"full":true}`).is(http.StatusAccepted))
		run := r.ended(synced)
		assert.Equal(t, knowledge.RunCompleted, run.Status)
		assert.EqualValues(t, 3, run.Counts.New)
		assert.Equal(t, []string{"api", "admin@127.0.0.1"}, []string{run.Trigger, run.Actor})
		last := run.WorkflowID[strings.LastIndex(run.WorkflowID, "/")+1:]
		assert.Equal(t, run.RunID, into[control.RunDetail](r.get("/runs/"+last)).RunID)
		assert.Equal(t, run.RunID, into[control.RunDetail](r.get("/runs/"+run.RunID)).RunID)
		assert.Len(t, into[[]knowledge.Run](r.get("/runs?folder=hr")), 2)
		r.ask(http.MethodPost, "/runs/"+run.RunID+"/cancel", "").problem(http.StatusConflict, "already_ended")
	})

	t.Run("its pages are shown", func(t *testing.T) {
		shown := r.get(page).is(http.StatusOK)
		live := into[knowledge.Page](shown)
		assert.Equal(t, knowledge.StateLive, live.State)
		assert.Equal(t, "Trains", live.Title)
		assert.Equal(t, live, into[knowledge.Page](r.get("/folders/hr/pages/"+live.PageID)))
		markdown := r.get(page + "/markdown").is(http.StatusOK)
		assert.Equal(t, "text/markdown; charset=utf-8", markdown.header.Get("Content-Type"))
		assert.Contains(t, markdown.body, "Ask for the ticket first.")
		assert.NotEmpty(t, into[[]knowledge.Chunk](r.get(page+"/chunks")))
		assert.Len(t, into[[]knowledge.Revision](r.get(page+"/revisions")), 1)
		hits := into[[]search.Hit](r.get("/search?q=ticket"))
		require.Len(t, hits, 1)
		assert.Equal(t, live.PageID, hits[0].PageID)
		why := into[[]control.Explanation](r.get("/why?ref=" + url.QueryEscape("travel/trains.md")))
		require.Len(t, why, 1)
		assert.Equal(t, "live", why[0].State)
		assert.EqualValues(t, 3, into[control.StatusInfo](r.get("/status")).Folders[0].Pages.Live)
		assert.Equal(t, "[]\n", r.get("/fsck").body)
	})

	t.Run("a page is deleted, stays gone, and comes back", func(t *testing.T) {
		deleted := into[control.Answer](r.ask(http.MethodDelete, page, "").is(http.StatusAccepted))
		assert.Equal(t, "accepted", deleted.Status)
		again := into[control.Answer](r.ask(http.MethodDelete, page, "").is(http.StatusOK))
		assert.True(t, again.Joined)
		assert.Equal(t, "admin@127.0.0.1 via api", again.AcceptedBy)
		assert.Equal(t, knowledge.StateExcluded, into[knowledge.Page](r.get(page)).State)
		assert.Equal(t, "[]\n", r.get("/search?q=ticket").body, "from the answer on")
		undoable := into[[]knowledge.Delete](r.get("/deletes"))
		require.Len(t, undoable, 1)
		assert.Equal(t, "admin@127.0.0.1 via api", undoable[0].Who)
		r.ask(http.MethodPost, page+"/sync", "").problem(http.StatusConflict, "excluded")
		restored := into[control.Answer](r.ask(http.MethodPost, page+"/restore", "").is(http.StatusAccepted))
		assert.Equal(t, "restored", restored.Status)
		r.becomes(page, knowledge.StateLive)
		r.ask(http.MethodPost, page+"/restore", "").problem(http.StatusConflict, "not_deleted")
	})

	t.Run("a page is synced, alone or with what is below", func(t *testing.T) {
		r.put("travel/trains.md", "# Trains\n\nAsk for the ocelot first.\n")
		asked := r.ask(http.MethodPost, page+"/sync", "")
		assert.Contains(t, []int{200, 202}, asked.status)
		testenv.Eventually(t, patience, func() bool { return strings.Contains(r.get(page+"/markdown").body, "ocelot") }, "the edit is published")
		r.ask(http.MethodDelete, "/folders/hr/pages/travel?subtree=true&now=true", "").is(http.StatusAccepted)
		testenv.Eventually(t, patience, func() bool {
			return r.get("/folders/hr/pages/travel%2Fplanes.md/markdown").status == http.StatusNotFound
		}, "they are purged")
		assert.Equal(t, "[]\n", r.get("/folders/hr/pages?q=travel&state=live").body)
	})

	t.Run("it is deleted, and comes back", func(t *testing.T) {
		r.ask(http.MethodDelete, "/folders/hr", "").is(http.StatusAccepted)
		assert.Equal(t, "deleted", into[knowledge.Folder](r.get("/folders/hr")).State)
		assert.Equal(t, "[]\n", r.get("/search?q=everybody").body)
		r.ask(http.MethodPost, "/folders/hr/sync", "").problem(http.StatusConflict, "folder_deleted")
		restored := into[control.Answer](r.ask(http.MethodPost, "/folders/hr/restore", "").is(http.StatusAccepted))
		r.ended(restored)
		assert.Len(t, into[[]search.Hit](r.get("/search?q=everybody")), 1)
	})

	t.Run("who did it is known", func(t *testing.T) {
		const actors = `SELECT string_agg(DISTINCT actor, ', ') FROM sync_events
			WHERE kind IN ('folder_added', 'folder_set', 'folder_resumed', 'deleted', 'restored')`
		assert.Equal(t, "admin@127.0.0.1 via api", r.text(actors))
	})
}

func TestHoldsScheduleAndConnections(t *testing.T) { //nolint:tparallel // one story
	t.Parallel()
	r, _ := theBoard(t)
	t.Run("a hold is decided", func(t *testing.T) {
		assert.Len(t, into[[]knowledge.Hold](r.get("/holds")), 1)
		assert.Len(t, into[control.HoldDetail](r.get("/holds/h1")).Pages, 1)
		rejected := into[control.Answer](r.ask(http.MethodPost, "/holds/h1/reject", "").is(http.StatusOK))
		assert.Equal(t, "rejected", rejected.Status)
		again := into[control.Answer](r.ask(http.MethodPost, "/holds/h1/reject", "").is(http.StatusOK))
		assert.True(t, again.Joined)
		r.ask(http.MethodPost, "/holds/h1/approve", "").problem(http.StatusConflict, "already_decided")
		assert.Equal(t, "[]\n", r.get("/holds").body)
		assert.Len(t, into[[]knowledge.Hold](r.get("/holds?all=true")), 1)
		r.ask(http.MethodPost, "/holds/h2/reject", "").problem(http.StatusNotFound, "hold_unknown")
	})
	t.Run("the schedule is set and triggered", func(t *testing.T) {
		set := into[control.ScheduleInfo](r.ask(http.MethodPatch, "/schedule", `{"cron":"5 4 * * *","timezone":"Asia/Tokyo","jitter":"0s"}`).is(http.StatusOK))
		assert.Equal(t, []string{"5 4 * * *", "Asia/Tokyo", "0s"}, []string{set.Cron, set.Timezone, set.Jitter})
		assert.Equal(t, set.Cron, into[control.ScheduleInfo](r.get("/schedule")).Cron)
		r.ask(http.MethodPatch, "/schedule", `{"cron":"soon"}`).problem(http.StatusBadRequest, "cron")
		r.ask(http.MethodPatch, "/schedule", `{"jitter":"soon"}`).problem(http.StatusBadRequest, "jitter")
		r.ask(http.MethodPost, "/schedule/trigger", "").is(http.StatusAccepted)
		first := into[control.Answer](r.ask(http.MethodPost, "/sync", ""))
		second := into[control.Answer](r.ask(http.MethodPost, "/sync", "").is(http.StatusOK))
		assert.Equal(t, first.RunID, second.RunID)
		assert.True(t, second.Joined)
	})
	t.Run("a connection is checked and paused", func(t *testing.T) {
		assert.NotEmpty(t, into[[]control.Connection](r.get("/connections")))
		checks := into[[]control.ConnectionCheck](r.ask(http.MethodPost, "/connections/files/check", "").is(http.StatusOK))
		require.Len(t, checks, 1)
		assert.True(t, checks[0].OK)
		r.ask(http.MethodPost, "/connections/files/pause", "").is(http.StatusOK)
		paused := into[control.Connection](r.get("/connections/files"))
		assert.Equal(t, []string{"paused", "paused by admin@127.0.0.1 via api"}, []string{paused.State, paused.Reason})
		r.ask(http.MethodPost, "/connections/files/resume", "").is(http.StatusOK)
		r.get("/connections/none").problem(http.StatusNotFound, "connection_unknown")
	})
	t.Run("what fails is tried again", func(t *testing.T) {
		r.ask(http.MethodPost, "/folders/hr/retry", "").is(http.StatusOK)
		r.exec(`INSERT INTO page_failures (folder_id, page_id, class, sentence, retry_at)
			SELECT folder_id, page_id, 'Unavailable', 'away', now() FROM pages WHERE kind = 'document'`)
		r.ask(http.MethodPost, "/folders/hr/retry", `{"class":"Invalid"}`).problem(http.StatusNotFound, "class_unknown")
		asked := into[control.Answer](r.ask(http.MethodPost, "/folders/hr/retry", `{"class":"Unavailable"}`).is(http.StatusAccepted))
		assert.EqualValues(t, 1, *asked.Pages)
	})
}
