package web

import (
	"context"
	"errors"
	"flag"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/loresync/loresync/internal/access"
	"github.com/loresync/loresync/internal/control"
	"github.com/loresync/loresync/internal/knowledge"
	"github.com/loresync/loresync/internal/store"
)

var update = flag.Bool("update", false, "write the golden files anew")

const adminToken = "a-token-of-the-test"

// noon is when the tests take place.
var noon = time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)

type givenStatus struct {
	status control.StatusInfo
	err    error
}

func (g givenStatus) Status(context.Context) (control.StatusInfo, error) { return g.status, g.err }

// givenTokens are the API tokens that there are.
type givenTokens map[access.Hash]access.Principal

func (g givenTokens) FindToken(_ context.Context, secret access.Hash) (access.Principal, bool, error) {
	p, found := g[secret]
	return p, found, nil
}

func busy() control.StatusInfo {
	ago := func(d time.Duration) *time.Time { t := noon.Add(-d); return &t }
	return control.StatusInfo{
		Version: "v0.1.0", Database: "loresync on PostgreSQL 17.2", Temporal: "reachable, namespace default", TemporalOK: true,
		VectorStore: "pgvector", EmbeddingModel: "lexical-v1", Holds: 1, UnfinishedDeletes: 2, InFlight: 3, Retention: store.KeptByDefault,
		Folders: []control.FolderStatus{
			{
				Folder: knowledge.Folder{
					ID: "handbook", Source: "files", Root: "/srv/secret-root", Title: "Handbook <b>& more</b>", State: "active", Owner: "owner@example.com",
					SyncInterval: 15 * time.Minute, CreatedAt: noon.Add(-time.Hour), LastSyncAt: ago(10 * time.Minute),
					Pages: knowledge.PageCounts{Live: 1234, Failed: 2, Held: 7, Syncing: 3},
				},
				Running: &control.RunningRun{
					WorkflowID: "folder/handbook/sync/01", Phase: "syncing", Listed: 40, Done: 10, Failed: 1, Total: 40, Since: noon.Add(-time.Minute),
				},
			},
			{Folder: knowledge.Folder{
				ID: "人事", Source: "files", Title: "人事", State: "paused", CreatedAt: noon.Add(-50 * time.Hour),
				Pages: knowledge.PageCounts{Excluded: 1, Tombstoned: 2},
			}, Running: &control.RunningRun{WorkflowID: "folder/x/sync/02", Phase: "listing", Listed: 5, Since: noon.Add(-time.Second)}},
			{Folder: knowledge.Folder{ID: "old", Source: "files", Title: "old", State: "active", CreatedAt: noon.Add(-50 * time.Hour)}},
		},
	}
}

func newHandler(t *testing.T, change func(*Options)) http.Handler {
	t.Helper()
	options := Options{
		Status: givenStatus{status: busy()}, Registry: prometheus.NewRegistry(), Door: access.NewDoor(adminToken, nil, nil), TemporalUI: "http://127.0.0.1:8233",
		Namespace: "default", Log: slog.New(slog.DiscardHandler), Now: func() time.Time { return noon },
		Checks: []Check{{Name: "postgres", Advice: "not reachable", Run: func(context.Context) error { return nil }}},
	}
	if change != nil {
		change(&options)
	}
	return New(options)
}

// atHome makes a request as a browser on this machine does.
func atHome(target string) *http.Request {
	request := httptest.NewRequest(http.MethodGet, "http://127.0.0.1:8080"+target, http.NoBody)
	request.RemoteAddr = "127.0.0.1:51234"
	here := &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 8080}
	return request.WithContext(context.WithValue(request.Context(), http.LocalAddrContextKey, net.Addr(here)))
}

func fromAfar(target string) *http.Request {
	request := httptest.NewRequest(http.MethodGet, "https://lore.example.com"+target, http.NoBody)
	request.RemoteAddr = "203.0.113.7:51234"
	here := &net.TCPAddr{IP: net.IPv4(10, 0, 0, 5), Port: 8080}
	return request.WithContext(context.WithValue(request.Context(), http.LocalAddrContextKey, net.Addr(here)))
}

func bearing(request *http.Request, authorization string) *http.Request {
	request.Header.Set("Authorization", authorization)
	return request
}

func ask(handler http.Handler, request *http.Request) *httptest.ResponseRecorder {
	answer := httptest.NewRecorder()
	handler.ServeHTTP(answer, request)
	return answer
}

func TestRoutes(t *testing.T) {
	t.Parallel()
	handler := newHandler(t, nil)
	for _, c := range []struct {
		method, path string
		status       int
		mediaType    string
	}{
		{http.MethodGet, "/healthz", 200, "application/json"},
		{http.MethodHead, "/healthz", 200, "application/json"},
		{http.MethodGet, "/readyz", 200, "application/json"},
		{http.MethodGet, "/metrics", 200, "text/plain"},
		{http.MethodGet, "/", 401, "text/html"},
		{http.MethodGet, styleAddress, 200, "text/css"},
		{http.MethodGet, iconAddress, 200, "image/svg+xml"},
		{http.MethodGet, "/static/", 404, "application/problem+json"},
		{http.MethodGet, "/static/none.css", 404, "text/plain"},
		{http.MethodGet, "/static/../web.go", 307, ""},
		{http.MethodGet, "/none", 404, "application/problem+json"},
		{http.MethodGet, "/healthz/none", 404, "application/problem+json"},
		{http.MethodPost, "/", 405, "application/problem+json"},
		{http.MethodDelete, "/readyz", 405, "application/problem+json"},
	} {
		t.Run(c.method+" "+c.path, func(t *testing.T) {
			t.Parallel()
			request := fromAfar(c.path)
			request.Method = c.method
			answer := ask(handler, request)
			assert.Equal(t, c.status, answer.Code)
			assert.True(t, strings.HasPrefix(answer.Header().Get("Content-Type"), c.mediaType), answer.Header().Get("Content-Type"))
			assert.Equal(t, "nosniff", answer.Header().Get("X-Content-Type-Options"))
			assert.Contains(t, answer.Header().Get("Content-Security-Policy"), "default-src 'none'")
		})
	}
}

func TestStatusPage(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		request *http.Request
		change  func(*Options)
		status  int
		golden  string
	}{
		"shows all to a bearer of the token": {bearing(fromAfar("/"), "Bearer "+adminToken), nil, 200, "full.html"},
		"shows no titles at home":            {atHome("/?refresh=off"), nil, 200, "local.html"},
		"shows how to begin": {atHome("/"), func(o *Options) {
			o.Status = givenStatus{status: control.StatusInfo{
				Version: "v0.1.0", Database: "loresync on PostgreSQL 17.2", Temporal: "not reachable: start it, or check TEMPORAL_ADDRESS",
				VectorStore: "exact", Maintenance: true, Retention: store.KeptByDefault,
			}}
			o.TemporalUI = ""
		}, 200, "empty.html"},
		"says that the status can't be read": {atHome("/"), func(o *Options) {
			o.Status = givenStatus{err: errors.New("dial tcp 10.1.2.3:5432: refused")}
		}, 503, "unavailable.html"},
		"tells strangers nothing": {fromAfar("/"), nil, 401, "refused.html"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			answer := ask(newHandler(t, c.change), c.request)
			assert.Equal(t, c.status, answer.Code)
			assert.Equal(t, "no-store", answer.Header().Get("Cache-Control"))
			requireGolden(t, c.golden, answer.Body.String())
		})
	}
	t.Run("writes what people typed as text", func(t *testing.T) {
		t.Parallel()
		body := ask(newHandler(t, nil), bearing(fromAfar("/"), "Bearer "+adminToken)).Body.String()
		assert.Contains(t, body, "Handbook &lt;b&gt;&amp; more&lt;/b&gt;")
	})
}

func requireGolden(t *testing.T, name, got string) {
	t.Helper()
	path := "testdata/" + name
	// The hash in an address changes with every touch of the style sheet.
	got = strings.NewReplacer(styleAddress, "/static/style.css", iconAddress, "/static/icon.svg").Replace(got)
	if *update {
		require.NoError(t, os.WriteFile(path, []byte(got), 0o600))
	}
	want, err := os.ReadFile(path)
	require.NoError(t, err, "run the test with -update to write it")
	assert.Equal(t, string(want), got)
}

func TestNobodyWithoutCredentialsReadsATitle(t *testing.T) {
	t.Parallel()
	secrets := []string{"Handbook", "/srv/secret-root", "owner@example.com"}
	handler := newHandler(t, nil)
	for _, request := range []*http.Request{
		atHome("/"), fromAfar("/"), bearing(fromAfar("/"), "Bearer wrong"), atHome("/metrics"), fromAfar("/metrics"), fromAfar("/readyz"), fromAfar("/none"),
	} {
		body := ask(handler, request).Body.String()
		for _, secret := range secrets {
			assert.NotContains(t, body, secret, "%s from %s", request.URL, request.RemoteAddr)
		}
	}
	assert.NotContains(t, ask(handler, fromAfar("/metrics")).Body.String(), "handbook", "ids neither")
}

func TestSight(t *testing.T) {
	t.Parallel()
	newDoor := func(token, publicURL string) door { return newDoor(access.NewDoor(token, nil, nil), publicURL) }
	whole, wholeHash := access.NewSecret()
	some, someHash := access.NewSecret()
	withTokens := door{Door: access.NewDoor("", givenTokens{
		wholeHash: {Role: access.Viewer}, someHash: {Role: access.Admin, Folders: []string{"handbook"}},
	}, nil), atHome: true}
	with := func(request *http.Request, header, value string) *http.Request {
		request.Header.Set(header, value)
		return request
	}
	hosted := func(host string) *http.Request {
		request := atHome("/")
		request.Host = host
		return request
	}
	near := atHome("/")
	near.RemoteAddr = "192.168.1.9:1000"
	for _, c := range []struct {
		name    string
		door    door
		request *http.Request
		want    sight
	}{
		{"a bearer sees all from anywhere", newDoor(adminToken, ""), bearing(fromAfar("/"), "Bearer "+adminToken), sightAll},
		{"the scheme may be written small", newDoor(adminToken, ""), bearing(fromAfar("/"), "bearer "+adminToken), sightAll},
		{"a wrong token sees nothing even at home", newDoor(adminToken, ""), bearing(atHome("/"), "Bearer wrong"), sightNone},
		{"half a token is wrong", newDoor(adminToken, ""), bearing(fromAfar("/"), "Bearer "+adminToken[:5]), sightNone},
		{"another scheme is refused", newDoor(adminToken, ""), bearing(fromAfar("/"), "Basic "+adminToken), sightNone},
		{"no token is right when none is set", newDoor("", ""), bearing(fromAfar("/"), "Bearer "), sightNone},
		{"an API token for the whole sees all", withTokens, bearing(fromAfar("/"), "Bearer "+whole), sightAll},
		{"one for some folders sees nothing", withTokens, bearing(atHome("/"), "Bearer "+some), sightNone},
		{"this machine sees counts", newDoor(adminToken, ""), atHome("/"), sightLocal},
		{"this machine sees counts by name", newDoor("", "http://localhost:8080"), hosted("localhost:8080"), sightLocal},
		{"this machine sees counts over IPv6", newDoor("", ""), hosted("[::1]:8080"), sightLocal},
		{"a neighbour sees nothing", newDoor("", ""), near, sightNone},
		{"a web page that rebinds its name sees nothing", newDoor("", ""), hosted("evil.example:8080"), sightNone},
		{"what a proxy passes on sees nothing", newDoor("", ""), with(atHome("/"), "X-Forwarded-For", "203.0.113.7"), sightNone},
		{"nothing is local behind a public address", newDoor("", "https://lore.example.com"), atHome("/"), sightNone},
		{"a stranger sees nothing", newDoor(adminToken, ""), fromAfar("/"), sightNone},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			assert.Equal(t, c.want, c.door.sight(c.request))
		})
	}
}
