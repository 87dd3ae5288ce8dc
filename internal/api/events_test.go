package api_test

import (
	"bufio"
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/loresync/loresync/internal/control"
	"github.com/loresync/loresync/internal/knowledge"
	"github.com/loresync/loresync/internal/testenv"
)

// event is one server-sent event; comments are events without a name.
type event struct {
	name  string
	state control.RunState
}

// stream is what a listener hears.
type stream struct {
	t      *testing.T
	lines  *bufio.Scanner
	header http.Header
}

// listen follows a run. The answer is given up when the test takes too long, so nothing waits for ever.
func (r *room) listen(token, run string) *stream {
	r.t.Helper()
	request := r.request(token, http.MethodGet, "/runs/"+url.PathEscape(run)+"/events", "")
	request.Header.Set("Last-Event-ID", "whatever")
	client := http.Client{Timeout: patience}
	response, err := client.Do(request)
	require.NoError(r.t, err)
	r.t.Cleanup(func() { _ = response.Body.Close() })
	require.Equal(r.t, http.StatusOK, response.StatusCode)
	require.Equal(r.t, "text/event-stream", response.Header.Get("Content-Type"))
	return &stream{t: r.t, lines: bufio.NewScanner(response.Body), header: response.Header}
}

// next gives the next event that has a name; false when the stream has ended.
func (s *stream) next() (event, bool) {
	s.t.Helper()
	var e event
	for s.lines.Scan() {
		switch field, value, _ := strings.Cut(s.lines.Text(), ": "); field {
		case "event":
			e.name = value
		case "data":
			require.NoError(s.t, json.Unmarshal([]byte(value), &e.state))
		case "":
			if e.name != "" {
				return e, true
			}
		}
	}
	require.NoError(s.t, s.lines.Err())
	return e, false
}

// until hears events until one fits.
func (s *stream) until(fits func(event) bool) event {
	s.t.Helper()
	for {
		e, more := s.next()
		require.True(s.t, more, "the stream has ended too early")
		if fits(e) {
			return e
		}
	}
}

// running begins a run that no worker takes up.
func (r *room) running() string {
	r.t.Helper()
	r.folder("hr", "HR")
	synced, err := r.SyncFolder(r.t.Context(), "hr", knowledge.ModeFull, mika)
	require.NoError(r.t, err)
	return synced.WorkflowID
}

func TestARunIsFollowedToItsEnd(t *testing.T) {
	t.Parallel()
	r := newRoom(t, testenv.Client)
	for _, name := range []string{"a.md", "b.md", "c.md"} {
		r.put(name, "# "+name+"\n\nText.\n")
	}
	run := r.running()
	s := r.listen(adminToken, run)
	first, more := s.next()
	require.True(t, more)
	assert.Equal(t, "state", first.name)
	assert.Equal(t, []string{run, "waiting", "running"}, []string{first.state.WorkflowID, first.state.Phase, string(first.state.Status)})
	r.worker()
	last := s.until(func(e event) bool { return e.name == "ended" })
	assert.Equal(t, knowledge.RunCompleted, last.state.Status)
	assert.EqualValues(t, 3, last.state.Counts.New)
	_, more = s.next()
	assert.False(t, more, "nothing comes after the end")

	again := r.listen(adminToken, run)
	e, more := again.next()
	require.True(t, more)
	assert.Equal(t, "ended", e.name, "whoever comes late is told at once")
}

func TestAChangeIsHeard(t *testing.T) {
	t.Parallel()
	r := newRoom(t, testenv.Client)
	run := r.running()
	s := r.listen(adminToken, run)
	s.until(func(e event) bool { return e.state.Phase == "waiting" })
	r.exec(`UPDATE sync_runs SET listing_began_at = now()`)
	s.until(func(e event) bool { return e.state.Phase == "listing" })
}

func TestAListenerOutlivesTheDeadlinesOfRequests(t *testing.T) {
	t.Parallel()
	r := newRoom(t, testenv.Client)
	run := r.running()
	const short = 300 * time.Millisecond
	r.gateway(func(server *http.Server) { server.ReadTimeout, server.WriteTimeout = short, short })
	r.turn = 1
	began := time.Now()
	s := r.listen(adminToken, run)
	s.until(func(e event) bool { return e.state.Phase == "waiting" })
	testenv.Eventually(t, patience, func() bool { return time.Since(began) > 5*short }, "every deadline is over")
	r.exec(`UPDATE sync_runs SET listing_began_at = now()`)
	s.until(func(e event) bool { return e.state.Phase == "listing" })
}

func TestAListenerWhoseTokenIsRevokedHearsNoMore(t *testing.T) {
	t.Parallel()
	r := newRoom(t, testenv.Client)
	run := r.running()
	s := r.listen(r.token("ci", "viewer", "hr"), run)
	s.until(func(e event) bool { return e.state.Phase == "waiting" })
	_, err := r.RevokeToken(t.Context(), "ci", mika)
	require.NoError(t, err)
	_, more := s.next()
	assert.False(t, more)
}

func TestAGatewayThatStopsEndsWhatGoesOn(t *testing.T) {
	t.Parallel()
	r := newRoom(t, testenv.Client)
	run := r.running()
	s := r.listen(adminToken, run)
	s.until(func(e event) bool { return e.state.Phase == "waiting" })
	r.stop()
	_, more := s.next()
	assert.False(t, more)
}
