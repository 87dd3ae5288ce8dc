package api_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/client"

	"github.com/loresync/loresync/activities"
	"github.com/loresync/loresync/internal/access"
	"github.com/loresync/loresync/internal/api"
	"github.com/loresync/loresync/internal/config"
	"github.com/loresync/loresync/internal/content/embed"
	"github.com/loresync/loresync/internal/content/summary"
	"github.com/loresync/loresync/internal/control"
	"github.com/loresync/loresync/internal/search"
	"github.com/loresync/loresync/internal/store"
	"github.com/loresync/loresync/internal/testenv"
	"github.com/loresync/loresync/internal/web"
	"github.com/loresync/loresync/internal/workers"
)

const (
	adminToken = "the-admin-token-of-the-test"
	patience   = 2 * time.Minute
)

var mika = control.Actor{Name: "mika", Trigger: "cli"}

// room is a gateway over real HTTP, on a database and a namespace of its own, with a directory to sync.
type room struct {
	*control.Control
	t        *testing.T
	store    *store.Store
	temporal client.Client
	sources  *config.Sources
	sql      *pgx.Conn
	name     string
	root     string
	log      *safeBuffer
	// url is the gateway's address; where there are several they take turns.
	urls []string
	turn int
	// stop tells the gateways to stop.
	stop func()

	stopping <-chan struct{}
	door     *access.Door
	rest     *api.API
}

// safeBuffer is a log that several goroutines write.
type safeBuffer struct {
	mu     sync.Mutex
	buffer bytes.Buffer
}

func (b *safeBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buffer.Write(p)
}

func (b *safeBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buffer.String()
}

// newRoom makes a room; temporal may be nil for one in which Temporal is away.
func newRoom(t *testing.T, connect func(t testing.TB, namespace string) client.Client) *room {
	t.Helper()
	url := testenv.Database(t)
	st, err := store.Open(t.Context(), url, store.Options{})
	require.NoError(t, err)
	t.Cleanup(st.Close)
	conn, err := pgx.Connect(t.Context(), url)
	require.NoError(t, err)
	t.Cleanup(func() { _ = conn.Close(context.Background()) })
	stopping, stop := context.WithCancel(t.Context())
	r := &room{
		t: t, store: st, sql: conn, root: t.TempDir(), sources: config.NewSources(config.Config{}, st), log: &safeBuffer{},
		stopping: stopping.Done(), stop: stop,
	}
	if connect != nil {
		r.name = testenv.Namespace(t)
		r.temporal = connect(t, r.name)
	}
	r.Control = r.control()
	r.gateway()
	return r
}

func (r *room) control() *control.Control {
	return control.New(r.store, r.temporal, r.sources, slog.New(slog.NewTextHandler(r.log, nil)), control.Options{
		Namespace: r.name, TemporalTimeout: 30 * time.Second,
	})
}

// gateway opens another gateway, which shares nothing with the others but the servers behind.
func (r *room) gateway(changes ...func(*http.Server)) {
	r.t.Helper()
	log := slog.New(slog.NewTextHandler(r.log, nil))
	c := r.control()
	// Wrong tries are slowed by a clock that runs an hour at each look: how, is tested in package access.
	var mu sync.Mutex
	now := time.Now()
	r.door = access.NewDoor(adminToken, c, func() time.Time {
		mu.Lock()
		defer mu.Unlock()
		now = now.Add(time.Hour)
		return now
	})
	var err error
	r.rest, err = api.New(api.Options{
		Control: c, Searcher: search.New(r.store, embed.Lexical{}), Door: r.door, PublicURL: "https://lore.example.com", Stopping: r.stopping, Log: log,
	})
	require.NoError(r.t, err)
	server := httptest.NewUnstartedServer(web.New(web.Options{Status: c, Registry: prometheus.NewRegistry(), Door: r.door, API: r.rest, Log: log}))
	for _, change := range changes {
		change(server.Config)
	}
	server.Start()
	r.t.Cleanup(server.Close)
	r.urls = append(r.urls, server.URL)
}

// worker starts a worker, which ends with the test.
func (r *room) worker() {
	r.t.Helper()
	set, err := workers.Start(workers.Options{
		Store: r.store, Temporal: r.temporal, Control: r.Control, Sources: r.sources, Log: slog.New(slog.DiscardHandler),
		Models:   activities.Models{Embedder: embed.Lexical{}, Summarizer: summary.Extractive{}},
		Timeouts: activities.Timeouts{Ladder: 3 * time.Second, Abandoned: 2 * time.Second, AskAgain: time.Second},
	})
	require.NoError(r.t, err)
	r.t.Cleanup(set.Stop)
}

func (r *room) put(path, text string) {
	r.t.Helper()
	full := filepath.Join(r.root, path)
	require.NoError(r.t, os.MkdirAll(filepath.Dir(full), 0o700))
	require.NoError(r.t, os.WriteFile(full, []byte(text), 0o600))
}

// folder registers the room's directory.
func (r *room) folder(id, title string) {
	r.t.Helper()
	_, err := r.AddFolder(r.t.Context(), control.FolderSpec{ID: id, Source: "files", Root: r.root, Title: title}, mika)
	require.NoError(r.t, err)
}

// page registers a file as a request would, and gives its page id.
func (r *room) page(folder, path string) string {
	r.t.Helper()
	r.put(path, "# Secret title of "+path+"\n\nText.\n")
	ref, err := r.ResolvePage(r.t.Context(), folder, path, true)
	require.NoError(r.t, err)
	return ref.PageID
}

func (r *room) token(name, role string, folders ...string) string {
	r.t.Helper()
	token, err := r.AddToken(r.t.Context(), control.TokenSpec{Name: name, Role: role, Folders: folders}, mika)
	require.NoError(r.t, err)
	return token.Secret
}

func (r *room) exec(query string, args ...any) {
	r.t.Helper()
	_, err := r.sql.Exec(r.t.Context(), query, args...)
	require.NoError(r.t, err)
}

func (r *room) text(query string, args ...any) string {
	r.t.Helper()
	var found string
	require.NoError(r.t, r.sql.QueryRow(r.t.Context(), query, args...).Scan(&found))
	return found
}

// answer is what a gateway answered.
type answer struct {
	t      *testing.T
	status int
	header http.Header
	body   string
}

// into reads the body.
func into[T any](a answer) T {
	a.t.Helper()
	var value T
	require.NoError(a.t, json.Unmarshal([]byte(a.body), &value), a.body)
	return value
}

// is demands a status.
func (a answer) is(status int) answer {
	a.t.Helper()
	require.Equal(a.t, status, a.status, a.body)
	return a
}

// problem demands a problem, by its status and code.
func (a answer) problem(status int, code string) api.Problem {
	a.t.Helper()
	a.is(status)
	require.Equal(a.t, "application/problem+json", a.header.Get("Content-Type"))
	p := into[api.Problem](a)
	require.Equal(a.t, code, p.Code, a.body)
	require.Equal(a.t, status, p.Status)
	require.Equal(a.t, http.StatusText(status), p.Title)
	require.NotEmpty(a.t, p.Type)
	require.NotEmpty(a.t, p.Detail)
	return p
}

// header is a header of a request.
type header struct{ name, value string }

// ask makes a request below /api/v1 as the bearer of the admin token, and checks the answer against the OpenAPI document.
func (r *room) ask(method, path, body string, headers ...header) answer {
	r.t.Helper()
	return r.askAs(adminToken, method, path, body, headers...)
}

func (r *room) get(path string) answer {
	r.t.Helper()
	return r.ask(http.MethodGet, path, "")
}

func (r *room) askAs(token, method, path, body string, headers ...header) answer {
	r.t.Helper()
	request := r.request(token, method, path, body)
	for _, h := range headers {
		request.Header.Set(h.name, h.value)
	}
	response, err := http.DefaultClient.Do(request)
	require.NoError(r.t, err)
	defer response.Body.Close()
	content, err := io.ReadAll(response.Body)
	require.NoError(r.t, err)
	r.fits(request, response, content)
	return answer{t: r.t, status: response.StatusCode, header: response.Header, body: string(content)}
}

func (r *room) request(token, method, path, body string) *http.Request {
	r.t.Helper()
	address := r.urls[r.turn%len(r.urls)] + api.Prefix + path
	r.turn++
	request, err := http.NewRequestWithContext(r.t.Context(), method, address, strings.NewReader(body))
	require.NoError(r.t, err)
	if token != "" {
		request.Header.Set("Authorization", "Bearer "+token)
	}
	if body != "" {
		request.Header.Set("Content-Type", "application/json")
	}
	return request
}
