package notiontest_test

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/loresync/loresync/internal/source/notion/notiontest"
)

const secret = "secret_for_these_tests"

// receiver keeps the events that it was sent.
type receiver struct {
	*httptest.Server
	mu     sync.Mutex
	events []object
	signed []bool
	status int
}

func newReceiver(t *testing.T) *receiver {
	t.Helper()
	r := &receiver{status: http.StatusOK}
	r.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, request *http.Request) {
		raw, err := io.ReadAll(request.Body)
		assert.NoError(t, err)
		var event object
		assert.NoError(t, json.Unmarshal(raw, &event))
		r.mu.Lock()
		defer r.mu.Unlock()
		r.events = append(r.events, event)
		r.signed = append(r.signed, request.Header.Get("X-Notion-Signature") == notiontest.Sign(secret, raw))
		w.WriteHeader(r.status)
	}))
	t.Cleanup(r.Close)
	return r
}

func (r *receiver) answer(status int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.status = status
}

// got are the events after the handshake.
func (r *receiver) got() []object {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.events[1:]
}

func (r *receiver) types() (types []any) {
	for _, event := range r.got() {
		types = append(types, event["type"])
	}
	return types
}

// subscribed is a workspace whose events wait until they are flushed.
func subscribed(t *testing.T, o notiontest.WebhookOptions) (stand, *receiver, *notiontest.Subscription) {
	t.Helper()
	s := newStand(t, notiontest.ServerOptions{})
	s.SetWebhooks(o)
	r := newReceiver(t)
	sub, err := s.Subscribe(t.Context(), r.URL, secret)
	require.NoError(t, err)
	return s, r, sub
}

func collecting() notiontest.WebhookOptions { return notiontest.WebhookOptions{Delay: time.Hour} }

// await waits for n deliveries that were taken, and not for ever.
func await(t *testing.T, sub *notiontest.Subscription, n int) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	require.NoError(t, sub.Await(ctx, n), "deliveries so far: %v", sub.Deliveries())
}

func TestWebhooks(t *testing.T) {
	t.Parallel()

	t.Run("the handshake brings the token and isn't signed", func(t *testing.T) {
		t.Parallel()
		s, r, _ := subscribed(t, collecting())
		assert.Equal(t, []object{{"verification_token": secret}}, r.events)
		assert.False(t, r.signed[0])
		r.answer(http.StatusTeapot)
		_, err := s.Subscribe(t.Context(), r.URL, secret)
		require.ErrorContains(t, err, "answered 418")
	})

	t.Run("an event is signed and has all its fields", func(t *testing.T) {
		t.Parallel()
		s, r, sub := subscribed(t, notiontest.WebhookOptions{})
		page := s.page("Page")
		await(t, sub, 1)
		event := r.got()[0]
		assert.True(t, r.signed[1])
		for _, field := range []string{"id", "timestamp", "workspace_id", "workspace_name", "subscription_id", "integration_id", "authors"} {
			assert.NotEmpty(t, event[field], field)
		}
		assert.InDelta(t, 1, event["attempt_number"], 0)
		assert.Equal(t, newest, event["api_version"])
		assert.Equal(t, "page.created", event["type"])
		assert.Equal(t, object{"id": page, "type": "page"}, event["entity"])
		assert.Equal(t, object{"parent": object{"id": s.ID(), "type": "space"}}, event["data"])
	})

	t.Run("everything that people do is told", func(t *testing.T) {
		t.Parallel()
		s, r, sub := subscribed(t, notiontest.WebhookOptions{})
		step := 0
		did := func(err error, n int) {
			require.NoError(t, err)
			step += n
			await(t, sub, step)
		}
		page, other := s.page("Page", paragraphs(1)...), s.page("Other")
		did(nil, 2)
		db, err := s.AddDatabase(other, "Database", notiontest.Column{Name: "Number", Type: "number"})
		did(err, 3)
		did(s.Edit(page, paragraphs(2)...), 1)
		did(s.Rename(page, "New"), 1)
		did(s.Move(page, other), 2)
		did(s.Trash(page), 2)
		did(s.Restore(page), 2)
		row, err := s.AddRow(db.Source, "Row", nil)
		did(err, 2)
		did(s.SetProperty(row, "Number", notiontest.NumberValue(1)), 1)
		_, err = s.AddComment(page, words("Comment")...)
		did(err, 1)
		did(s.Rename(db.ID, "Renamed"), 1)
		for _, want := range []string{
			"page.created", "data_source.created", "database.created", "page.content_updated", "page.properties_updated", "page.moved",
			"page.deleted", "page.undeleted", "data_source.content_updated", "comment.created",
		} {
			assert.Contains(t, r.types(), want)
		}
		assert.NotContains(t, r.types(), "database.content_updated")
	})

	t.Run("what isn't shared is not told", func(t *testing.T) {
		t.Parallel()
		s, r, sub := subscribed(t, notiontest.WebhookOptions{})
		page := s.page("Page")
		require.NoError(t, s.Unshare(page))
		require.NoError(t, s.Rename(page, "Private"))
		s.page("Other")
		await(t, sub, 2)
		assert.Equal(t, []any{"page.created", "page.created"}, r.types())
	})

	t.Run("edits are collected, and what came and went is left out", func(t *testing.T) {
		t.Parallel()
		s, r, sub := subscribed(t, collecting())
		page := s.page("Page", paragraphs(2)...)
		sub.Flush()
		await(t, sub, 1)
		for i := range 3 {
			require.NoError(t, s.Edit(page, paragraphs(3+i)...))
		}
		require.NoError(t, s.Trash(s.page("Short-lived")))
		require.NoError(t, s.Edit(s.page("New"), paragraphs(1)...))
		sub.Flush()
		await(t, sub, 3)
		assert.Equal(t, []any{"page.created", "page.content_updated", "page.created"}, r.types())
		data, _ := r.got()[1]["data"].(object)
		assert.Len(t, data["updated_blocks"], 3)
	})

	t.Run("what is refused is sent again, with the same id and a higher number", func(t *testing.T) {
		t.Parallel()
		s, r, sub := subscribed(t, notiontest.WebhookOptions{Backoff: func(int) time.Duration { return time.Millisecond }})
		r.answer(http.StatusInternalServerError)
		s.page("Page")
		require.Eventually(t, func() bool { return len(sub.Deliveries()) >= 2 }, 5*time.Second, time.Millisecond)
		r.answer(http.StatusOK)
		await(t, sub, 1)
		events := r.got()
		assert.Equal(t, events[0]["id"], events[len(events)-1]["id"])
		assert.InDelta(t, len(events), events[len(events)-1]["attempt_number"], 0)
		assert.Equal(t, http.StatusInternalServerError, sub.Deliveries()[0].Status)
	})

	t.Run("an event is given up after eight attempts", func(t *testing.T) {
		t.Parallel()
		s, r, sub := subscribed(t, notiontest.WebhookOptions{Backoff: func(int) time.Duration { return 0 }})
		r.answer(http.StatusInternalServerError)
		s.page("Given up")
		require.Eventually(t, func() bool { return len(sub.Deliveries()) == 8 }, 5*time.Second, time.Millisecond)
		r.answer(http.StatusOK)
		page := s.page("Next")
		await(t, sub, 1)
		assert.Len(t, sub.Deliveries(), 9)
		assert.Equal(t, page, sub.Deliveries()[8].EntityID)
	})

	t.Run("events come twice, in another order, and again", func(t *testing.T) {
		t.Parallel()
		s, r, sub := subscribed(t, collecting())
		sub.Duplicate(2)
		sub.Reorder(true)
		first, second := s.page("First"), s.page("Second")
		sub.Flush()
		await(t, sub, 4)
		entities := make([]any, 0, len(r.got()))
		for _, event := range r.got() {
			entity, _ := event["entity"].(object)
			entities = append(entities, entity["id"])
		}
		assert.Equal(t, []any{second, second, first, first}, entities)
		sub.Duplicate(1)
		id, _ := r.got()[3]["id"].(string)
		require.NoError(t, sub.Replay(id))
		await(t, sub, 5)
		assert.Equal(t, id, r.got()[4]["id"])
		require.Error(t, sub.Replay("nothing"))
	})

	t.Run("the oldest version knows no data sources", func(t *testing.T) {
		t.Parallel()
		s, r, sub := subscribed(t, notiontest.WebhookOptions{Version: oldest})
		db := s.database("", "Database")
		await(t, sub, 1)
		require.NoError(t, s.Rename(db.ID, "Renamed"))
		await(t, sub, 2)
		assert.Equal(t, []any{"database.created", "database.content_updated"}, r.types())
	})

	t.Run("a closed subscription is silent", func(t *testing.T) {
		t.Parallel()
		s, r, sub := subscribed(t, notiontest.WebhookOptions{})
		sub.Close()
		other, err := s.Subscribe(t.Context(), newReceiver(t).URL, secret)
		require.NoError(t, err)
		s.page("Page")
		await(t, other, 1)
		assert.Empty(t, r.got())
	})
}
