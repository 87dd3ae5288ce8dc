package api_test

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/loresync/loresync/internal/control"
	"github.com/loresync/loresync/internal/knowledge"
	"github.com/loresync/loresync/internal/testenv"
)

func keyed(key string) header { return header{"Idempotency-Key", key} }

func TestARepeatedRequestIsCarriedOutOnce(t *testing.T) {
	t.Parallel()
	r := newRoom(t, testenv.Client)
	r.gateway()
	body := `{"id":"hr","source":"files","root":"` + r.root + `","title":"<HR>"}`
	first := r.ask(http.MethodPost, "/folders", body, keyed("a")).is(http.StatusCreated)
	assert.Empty(t, first.header.Get("Idempotent-Replayed"))
	second := r.ask(http.MethodPost, "/folders", body, keyed("a")).is(http.StatusCreated)
	assert.Equal(t, first.body, second.body, "by the other gateway, to the letter")
	assert.Equal(t, first.header.Get("Location"), second.header.Get("Location"))
	assert.Equal(t, "true", second.header.Get("Idempotent-Replayed"))

	r.ask(http.MethodPost, "/folders", strings.Replace(body, "HR", "PR", 1), keyed("a")).problem(http.StatusUnprocessableEntity, "idempotency_key_reused")
	r.ask(http.MethodPost, "/folders/hr/sync", "", keyed("a")).problem(http.StatusUnprocessableEntity, "idempotency_key_reused")
	r.ask(http.MethodPost, "/folders", body, keyed("b")).problem(http.StatusConflict, "folder_exists")

	synced := into[control.Answer](r.ask(http.MethodPost, "/folders/hr/sync", "", keyed("c")).is(http.StatusAccepted))
	for range 3 {
		again := r.ask(http.MethodPost, "/folders/hr/sync", "", keyed("c")).is(http.StatusAccepted)
		assert.Equal(t, synced, into[control.Answer](again))
	}
	assert.Equal(t, "1", r.text(`SELECT count(*)::text FROM sync_runs`))
}

func TestKeysBelongToWhoSendsThem(t *testing.T) {
	t.Parallel()
	r := newRoom(t, nil)
	r.folder("hr", "HR")
	r.ask(http.MethodPost, "/folders/hr/pause", "", keyed("a")).is(http.StatusOK)
	other := r.askAs(r.token("ci", "operator"), http.MethodPost, "/folders/hr/resume", "", keyed("a")).is(http.StatusOK)
	assert.Equal(t, "active", into[knowledge.Folder](other).State)
}

func TestWhatChangedNothingMayBeTriedAgain(t *testing.T) {
	t.Parallel()
	r := newRoom(t, nil)
	r.folder("hr", "HR")
	r.ask(http.MethodPost, "/folders/none/pause", "", keyed("a")).problem(http.StatusNotFound, "folder_unknown")
	r.ask(http.MethodPost, "/folders/none/pause", "", keyed("a")).problem(http.StatusNotFound, "folder_unknown")
	r.ask(http.MethodPost, "/folders/hr/sync", "", keyed("b")).problem(http.StatusServiceUnavailable, "temporal_unreachable")
	assert.Equal(t, "0", r.text(`SELECT count(*)::text FROM idempotency_keys`))
	for _, bad := range []string{"", "a b", "ü", strings.Repeat("x", 256)} {
		r.ask(http.MethodPost, "/folders/hr/pause", "", keyed(bad)).problem(http.StatusBadRequest, "idempotency_key")
	}
}

func TestTheSameRequestManyTimesAtOnce(t *testing.T) {
	t.Parallel()
	r := newRoom(t, nil)
	r.gateway()
	body := `{"id":"hr","source":"files","root":"` + r.root + `"}`
	const callers = 12
	requests := make([]*http.Request, callers)
	for i := range requests {
		requests[i] = r.request(adminToken, http.MethodPost, "/folders", body)
		requests[i].Header.Set("Idempotency-Key", "at-once")
	}
	statuses := make([]int, callers)
	var all sync.WaitGroup
	for i, request := range requests {
		all.Go(func() {
			if response, err := http.DefaultClient.Do(request); assert.NoError(t, err) {
				statuses[i] = response.StatusCode
				assert.NoError(t, response.Body.Close())
			}
		})
	}
	all.Wait()
	assert.Contains(t, statuses, http.StatusCreated)
	for _, status := range statuses {
		assert.Contains(t, []int{http.StatusCreated, http.StatusConflict}, status, fmt.Sprint(statuses))
	}
	r.ask(http.MethodPost, "/folders", body, keyed("at-once")).is(http.StatusCreated)
	assert.Equal(t, "1", r.text(`SELECT count(*)::text FROM sync_events WHERE kind = 'folder_added'`))
}

func TestTheKeyOfAGatewayThatDied(t *testing.T) {
	t.Parallel()
	r := newRoom(t, nil)
	r.folder("hr", "HR")
	first := r.ask(http.MethodPost, "/folders/hr/pause", "", keyed("a")).is(http.StatusOK)
	r.exec(`UPDATE idempotency_keys SET answer = answer || '{"status": 0, "body": ""}'`)
	busy := r.ask(http.MethodPost, "/folders/hr/pause", "", keyed("a"))
	busy.problem(http.StatusConflict, "idempotency_key_in_use")
	assert.Equal(t, "1", busy.header.Get("Retry-After"))
	r.exec(`UPDATE idempotency_keys SET created_at = now() - interval '2 minutes'`)
	r.ask(http.MethodPost, "/folders/hr/resume", "", keyed("a")).problem(http.StatusUnprocessableEntity, "idempotency_key_reused")
	taken := r.ask(http.MethodPost, "/folders/hr/pause", "", keyed("a")).is(http.StatusOK)
	require.Empty(t, taken.header.Get("Idempotent-Replayed"))
	assert.Equal(t, into[knowledge.Folder](first).State, into[knowledge.Folder](taken).State)
	assert.Equal(t, "true", r.ask(http.MethodPost, "/folders/hr/pause", "", keyed("a")).header.Get("Idempotent-Replayed"))
}
