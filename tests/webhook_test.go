package tests

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/workflowservice/v1"

	"github.com/loresync/loresync/internal/control"
	"github.com/loresync/loresync/internal/ids"
	"github.com/loresync/loresync/internal/knowledge"
	"github.com/loresync/loresync/internal/source/notion"
	"github.com/loresync/loresync/internal/source/notion/notiontest"
	"github.com/loresync/loresync/internal/testenv"
	"github.com/loresync/loresync/internal/web"
)

const (
	webhookSecret = "secret_of_the_subscription"
	// soon is what a webhook has to be seen within: the next sync would be a quarter of an hour later.
	soon = 45 * time.Second
)

// gateway serves webhooks for a control, and gives the address of its reception.
func (r *rig) gateway(through *control.Control) string {
	r.t.Helper()
	server := httptest.NewServer(web.New(web.Options{
		Status: through, Registry: prometheus.NewRegistry(), Log: slog.New(slog.DiscardHandler), Webhooks: through,
	}))
	r.t.Cleanup(server.Close)
	return server.URL + "/webhooks/notion"
}

// verified makes the handshake that brings the secret.
func (r *rig) verified(address string) {
	r.t.Helper()
	status, _ := r.deliver(address, `{"verification_token":"`+webhookSecret+`"}`, "")
	require.Equal(r.t, http.StatusOK, status)
}

// deliver posts a body, signed unless the secret is empty, and gives the status and the answer.
func (r *rig) deliver(address, body, secret string) (int, control.Answer) {
	r.t.Helper()
	request, err := http.NewRequestWithContext(r.t.Context(), http.MethodPost, address, strings.NewReader(body))
	require.NoError(r.t, err)
	if secret != "" {
		request.Header.Set("X-Notion-Signature", notiontest.Sign(secret, []byte(body)))
	}
	response, err := http.DefaultClient.Do(request)
	require.NoError(r.t, err)
	defer response.Body.Close()
	raw, err := io.ReadAll(response.Body)
	require.NoError(r.t, err)
	var answer control.Answer
	if response.StatusCode/100 == 2 {
		require.NoError(r.t, json.Unmarshal(raw, &answer))
	}
	return response.StatusCode, answer
}

// event is the body of an event about a page.
func event(id, what, page string) string {
	return fmt.Sprintf(`{"id":%q,"type":"page.%s","entity":{"id":%q,"type":"page"},"data":{"parent":{"type":"space"}}}`, id, what, page)
}

// told delivers an event and waits until it was followed.
func (r *rig) told(address, what, page string) {
	r.t.Helper()
	status, answer := r.deliver(address, event(uuid.NewString(), what, page), webhookSecret)
	require.Equal(r.t, http.StatusAccepted, status)
	r.followed(answer)
}

// followed waits until an event's workflow has ended well.
func (r *rig) followed(answers ...control.Answer) {
	r.t.Helper()
	ctx, cancel := context.WithTimeout(r.t.Context(), patience)
	defer cancel()
	for _, answer := range answers {
		require.NoError(r.t, r.temporal.GetWorkflow(ctx, answer.WorkflowID, answer.RunID).Get(ctx, nil))
	}
}

// executions counts the runs of each event's Workflow ID, once none of them is running.
func (r *rig) executions() map[string]int {
	r.t.Helper()
	counts := map[string]int{}
	testenv.Eventually(r.t, patience, func() bool {
		clear(counts)
		running := false
		answer, err := r.temporal.ListWorkflow(r.t.Context(), &workflowservice.ListWorkflowExecutionsRequest{
			Namespace: r.name, Query: "WorkflowType = 'FollowWebhookWorkflow'", PageSize: 1000,
		})
		require.NoError(r.t, err)
		for _, run := range answer.GetExecutions() {
			counts[run.GetExecution().GetWorkflowId()]++
			running = running || run.GetStatus() == enumspb.WORKFLOW_EXECUTION_STATUS_RUNNING
		}
		return !running
	}, "all events were followed")
	return counts
}

func (w *wiki) eventually(id, state string) {
	w.t.Helper()
	testenv.Eventually(w.t, soon, func() bool {
		page, err := w.Page(w.t.Context(), folderID, id)
		return err == nil && string(page.State) == state
	}, id+" is "+state)
}

func (w *wiki) reads(id, word string) {
	w.t.Helper()
	testenv.Eventually(w.t, soon, func() bool { return strings.Contains(w.markdown(id), word) }, word+" is published")
}

func TestNotionWebhooks(t *testing.T) {
	t.Parallel()
	var top, page, child, row string
	var projects notiontest.Database
	w := newWiki(t, notiontest.ServerOptions{}, notion.Workspace, func(space *notiontest.Workspace) {
		top = notiontest.Must(space.AddPage("", "Top", paragraph("The top.")))
		page = notiontest.Must(space.AddPage(top, "Page", paragraph("First text.")))
		child = notiontest.Must(space.AddPage(page, "Child", paragraph("Below the page.")))
		var err error
		projects, err = space.AddDatabase(top, "Projects", notiontest.Column{Name: "Stage", Type: "rich_text"})
		require.NoError(t, err)
		row = notiontest.Must(space.AddRow(projects.Source, "Project", nil, paragraph("The plan.")))
		for i := range 12 {
			notiontest.Must(space.AddPage("", fmt.Sprintf("Filler %d", i), paragraph("Filler.")))
		}
	})
	w.synced()
	w.clock.Set(time.Now())
	runs := w.count(`SELECT count(*) FROM sync_runs`)
	subscription, err := w.server.Subscribe(t.Context(), w.gateway(w.Control), webhookSecret)
	require.NoError(t, err)

	t.Run("the verification waits for a person, who is shown the token once", func(t *testing.T) {
		info, err := w.Webhook(t.Context(), "notion", person)
		require.NoError(t, err)
		assert.Equal(t, "waiting", info.State)
		assert.Equal(t, webhookSecret, info.Token)
		info, err = w.Webhook(t.Context(), "notion", person)
		require.NoError(t, err)
		assert.Empty(t, info.Token)
	})

	t.Run("an edit is published, however often and in whichever order it is told", func(t *testing.T) {
		subscription.Duplicate(3)
		subscription.Reorder(true)
		require.NoError(t, w.space.Edit(page, paragraph("An ocelot.")))
		require.NoError(t, w.space.Edit(row, paragraph("A lynx.")))
		w.reads(page, "ocelot")
		w.reads(row, "lynx")
		info, err := w.Webhook(t.Context(), "notion", person)
		require.NoError(t, err)
		assert.Equal(t, "confirmed", info.State)
		assert.Equal(t, 1, w.count(`SELECT count(*) FROM due_reads WHERE page_id = $1 AND reason = 'recent_edit' AND due_at > now() + interval '90 seconds'`, page),
			"it is read again when its minute is over")
	})

	t.Run("what is new is found below a known page or database", func(t *testing.T) {
		w.eventually(notiontest.Must(w.space.AddPage(page, "Fresh", paragraph("Fresh."))), "live")
		w.eventually(notiontest.Must(w.space.AddRow(projects.Source, "Another", nil, paragraph("Plan."))), "live")
		assert.Equal(t, runs, w.count(`SELECT count(*) FROM sync_runs`), "no folder was listed for it")
	})

	t.Run("what is new at the top is found by an incremental sync", func(t *testing.T) {
		w.eventually(notiontest.Must(w.space.AddPage("", "Another top", paragraph("Fresh."))), "live")
		assert.Positive(t, w.count(`SELECT count(*) FROM sync_runs WHERE trigger = 'webhook' AND mode = 'incremental'`))
	})

	t.Run("a page in the trash goes with what is below it, and comes back", func(t *testing.T) {
		require.NoError(t, w.space.Trash(page))
		w.eventually(page, "tombstoned")
		w.eventually(child, "tombstoned")
		require.NoError(t, w.space.Restore(page))
		w.eventually(page, "live")
	})

	t.Run("a comment is read only where the folder wants it", func(t *testing.T) {
		notiontest.Must(w.space.AddComment(top, notiontest.Text("A remark about a caracal.")))
		w.executions()
		assert.NotContains(t, w.markdown(top), "caracal")
		limits := json.RawMessage(`{"comments": true}`)
		_, err := w.SetFolder(t.Context(), folderID, control.FolderPatch{Limits: &limits}, person)
		require.NoError(t, err)
		notiontest.Must(w.space.AddComment(top, notiontest.Text("A remark about a serval.")))
		w.reads(top, "serval")
	})

	t.Run("each event was followed once, also when it comes again long after", func(t *testing.T) {
		counts := w.executions()
		require.NotEmpty(t, counts)
		for id, n := range counts {
			assert.Equal(t, 1, n, id)
		}
		told := subscription.Deliveries()
		for _, delivery := range told {
			assert.Equal(t, 2, delivery.Status/100, "%+v", delivery)
		}
		require.NoError(t, subscription.Replay(told[0].EventID))
		require.NoError(t, subscription.Await(t.Context(), len(told)+1))
		assert.Equal(t, counts, w.executions())
	})
	subscription.Close()
	w.clean()
}

func TestNoticesEndInThePresentState(t *testing.T) {
	t.Parallel()
	var alive, trashed string
	w := newWiki(t, notiontest.ServerOptions{}, notion.Workspace, func(space *notiontest.Workspace) {
		alive = notiontest.Must(space.AddPage("", "Alive", paragraph("Here.")))
		trashed = notiontest.Must(space.AddPage("", "Trashed", paragraph("There.")))
	})
	w.synced()
	address := w.gateway(w.Control)
	w.verified(address)

	t.Run("a delete that comes after its undelete removes nothing", func(t *testing.T) {
		w.told(address, "undeleted", alive)
		w.told(address, "deleted", alive)
		assert.EqualValues(t, "live", w.page(alive).State)
	})
	t.Run("an undelete that comes before its delete brings nothing back", func(t *testing.T) {
		require.NoError(t, w.space.Trash(trashed))
		w.told(address, "deleted", trashed)
		assert.EqualValues(t, "tombstoned", w.page(trashed).State)
		w.told(address, "undeleted", trashed)
		w.clean()
		assert.EqualValues(t, "tombstoned", w.page(trashed).State)
	})
	t.Run("a delete that is told again finds a page that came back", func(t *testing.T) {
		require.NoError(t, w.space.Restore(trashed))
		w.told(address, "deleted", trashed)
		w.eventually(trashed, "live")
	})
	t.Run("deletes and undeletes in a heap end as the source is", func(t *testing.T) {
		require.NoError(t, w.space.Trash(alive))
		answers := make([]control.Answer, 0, 20)
		for i := range 20 {
			what := []string{"deleted", "undeleted", "content_updated", "moved"}[i%4]
			_, answer := w.deliver(address, event(uuid.NewString(), what, alive), webhookSecret)
			answers = append(answers, answer)
		}
		w.followed(answers...)
		w.eventually(alive, "tombstoned")
		w.clean()
		assert.EqualValues(t, "tombstoned", w.page(alive).State)
	})
	t.Run("a page that goes while it is being read is removed afterwards", func(t *testing.T) {
		require.NoError(t, w.space.Restore(alive))
		w.told(address, "undeleted", alive)
		w.eventually(alive, "live")
		w.clean()
		held := w.server.Hold(notiontest.Both(notiontest.OfKind(notiontest.KindChildren), notiontest.About(alive)))
		w.told(address, "content_updated", alive)
		require.NoError(t, held.Await(t.Context(), 1))
		require.NoError(t, w.space.Trash(alive))
		_, answer := w.deliver(address, event(uuid.NewString(), "deleted", alive), webhookSecret)
		testenv.Eventually(t, patience, func() bool {
			events := w.temporal.GetWorkflowHistory(t.Context(), answer.WorkflowID, answer.RunID, false, enumspb.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT)
			for events.HasNext() {
				event, err := events.Next()
				require.NoError(t, err)
				if event.GetEventType() == enumspb.EVENT_TYPE_TIMER_STARTED {
					return true
				}
			}
			return false
		}, "the removal waits for the read")
		assert.EqualValues(t, "live", w.page(alive).State)
		held.Release()
		w.followed(answer)
		assert.EqualValues(t, "tombstoned", w.page(alive).State)
	})
	t.Run("what a person deleted stays deleted", func(t *testing.T) {
		w.wait(w.DeletePage(t.Context(), folderID, trashed, control.DeleteOptions{}, person))
		for _, what := range []string{"content_updated", "undeleted", "deleted"} {
			w.told(address, what, trashed)
		}
		assert.EqualValues(t, "excluded", w.page(trashed).State)
	})
	w.clean()
}

func TestRule7ManyNoticesAtOnceAreHeld(t *testing.T) {
	t.Parallel()
	const pages, gone = 24, 16
	made := make([]string, pages)
	w := newWiki(t, notiontest.ServerOptions{}, notion.Workspace, func(space *notiontest.Workspace) {
		for i := range made {
			made[i] = notiontest.Must(space.AddPage("", fmt.Sprintf("Page %d", i), paragraph("Text.")))
		}
	})
	w.synced()
	address := w.gateway(w.Control)
	w.verified(address)
	// All of them are asked about before any is answered, so that they are decided at the same time.
	held := w.server.Hold(notiontest.About(made[:gone]...))
	answers := make([]control.Answer, 0, gone)
	for _, id := range made[:gone] {
		require.NoError(t, w.space.Trash(id))
		_, answer := w.deliver(address, event(uuid.NewString(), "deleted", id), webhookSecret)
		answers = append(answers, answer)
	}
	require.NoError(t, held.Await(t.Context(), gone))
	held.Release()
	w.followed(answers...)
	removed := w.count(`SELECT count(*) FROM pages WHERE tombstoned_at IS NOT NULL`)
	assert.LessOrEqual(t, removed, max(5, pages/4), "no more than go without asking, though each was decided by itself")
	assert.Positive(t, removed)
	assert.Equal(t, gone-removed, w.count(`SELECT count(*) FROM hold_pages`), "the rest waits for a person")
	assert.Equal(t, pages-removed, w.live(), "and stays readable")

	holds, err := w.Holds(t.Context(), false)
	require.NoError(t, err)
	require.Len(t, holds, 1)

	back := w.heldPage()
	require.NoError(t, w.space.Restore(back))
	w.synced()
	assert.Zero(t, w.count(`SELECT count(*) FROM hold_pages WHERE page_id = $1`, back), "a page that is seen again leaves its hold")
	assert.Equal(t, gone-removed-1, w.count(`SELECT count(*) FROM hold_pages`), "the others wait on")

	w.wait(w.ApproveHold(t.Context(), holds[0].HoldID, person))
	assert.Equal(t, pages-gone+1, w.live())
	w.clean()
}

// heldPage is a page that waits in a hold.
func (w *wiki) heldPage() string {
	w.t.Helper()
	var page string
	require.NoError(w.t, w.sql.QueryRow(w.t.Context(), `SELECT page_id FROM hold_pages ORDER BY page_id LIMIT 1`).Scan(&page))
	return page
}

func TestWebhooksAtTheDoor(t *testing.T) {
	t.Parallel()
	var page string
	w := newWiki(t, notiontest.ServerOptions{}, notion.Workspace, func(space *notiontest.Workspace) {
		page = notiontest.Must(space.AddPage("", "Page", paragraph("Text.")))
	})
	w.synced()
	first, second := w.gateway(w.Control), w.gateway(control.New(w.store, w.temporal, w.sources, slog.New(slog.DiscardHandler),
		control.Options{Namespace: w.name}))
	cut := w.gateway(w.cutOff())

	t.Run("nothing is taken before there is a secret", func(t *testing.T) {
		status, _ := w.deliver(first, event("e0", "deleted", page), webhookSecret)
		assert.Equal(t, http.StatusUnauthorized, status)
		w.verified(first)
		w.verified(second)
		status, _ = w.deliver(second, `{"verification_token":"secret_of_somebody_else"}`, "")
		assert.Equal(t, http.StatusUnauthorized, status)
	})

	t.Run("a forged event changes nothing", func(t *testing.T) {
		require.NoError(t, w.space.Trash(page))
		before := len(w.server.Requests())
		for _, secret := range []string{"", "secret_of_somebody_else"} {
			status, _ := w.deliver(first, event("forged", "deleted", page), secret)
			assert.Equal(t, http.StatusUnauthorized, status)
		}
		assert.Empty(t, w.executions())
		assert.Len(t, w.server.Requests(), before)
		assert.Equal(t, 1, w.live())
		require.NoError(t, w.space.Restore(page))
	})

	t.Run("one of many deliveries at two gateways starts something", func(t *testing.T) {
		var group sync.WaitGroup
		var met sync.Mutex
		statuses, runs := map[int]int{}, map[string]bool{}
		for i := range 40 {
			group.Go(func() {
				status, answer := w.deliver([]string{first, second}[i%2], event("twice", "content_updated", page), webhookSecret)
				met.Lock()
				defer met.Unlock()
				statuses[status]++
				runs[answer.RunID] = true
			})
		}
		group.Wait()
		assert.Equal(t, map[int]int{http.StatusAccepted: 1, http.StatusOK: 39}, statuses)
		assert.Len(t, runs, 1, "all are told of the same run")
		id, err := ids.Webhook("notion", "twice")
		require.NoError(t, err)
		assert.Equal(t, 1, w.executions()[id])
		status, answer := w.deliver(first, event("twice", "content_updated", page), webhookSecret)
		assert.Equal(t, http.StatusOK, status)
		assert.True(t, answer.Joined, "an event that was followed is remembered")
	})

	t.Run("without Temporal it is to be delivered again, and then works", func(t *testing.T) {
		require.NoError(t, w.space.Edit(page, paragraph("An ocelot.")))
		begun := time.Now()
		status, _ := w.deliver(cut, event("late", "content_updated", page), webhookSecret)
		assert.Equal(t, http.StatusServiceUnavailable, status)
		assert.Less(t, time.Since(begun), 5*time.Second)
		status, _ = w.deliver(first, event("late", "content_updated", page), webhookSecret)
		assert.Equal(t, http.StatusAccepted, status)
		w.reads(page, "ocelot")
	})

	t.Run("an answer comes at once", func(t *testing.T) {
		var slowest time.Duration
		for i := range 50 {
			begun := time.Now()
			status, _ := w.deliver(first, event(fmt.Sprintf("quick%d", i), "content_updated", page), webhookSecret)
			require.Equal(t, http.StatusAccepted, status)
			slowest = max(slowest, time.Since(begun))
		}
		t.Logf("the slowest of 50 answers took %s", slowest)
	})

	t.Run("a paused folder is left alone", func(t *testing.T) {
		_, err := w.PauseFolder(t.Context(), folderID, person)
		require.NoError(t, err)
		require.NoError(t, w.space.Trash(page))
		w.told(first, "deleted", page)
		assert.EqualValues(t, "live", w.page(page).State)
		_, err = w.ResumeFolder(t.Context(), folderID, person)
		require.NoError(t, err)
	})

	t.Run("a page that is lost removes no root", func(t *testing.T) {
		require.NoError(t, w.space.Restore(page))
		root := page
		_, err := w.SetFolder(t.Context(), folderID, control.FolderPatch{Root: &root}, person)
		require.NoError(t, err)
		require.NoError(t, w.space.Trash(page))
		w.told(first, "deleted", page)
		testenv.Eventually(t, patience, func() bool {
			return w.count(`SELECT count(*) FROM sync_runs WHERE trigger = 'webhook' AND status = 'failed'`) > 0
		}, "the folder sync says what is wrong with the root")
		assert.Equal(t, knowledge.StateLive, w.page(page).State)
	})
}
