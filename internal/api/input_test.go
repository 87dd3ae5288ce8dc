package api_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/loresync/loresync/internal/knowledge"
)

func TestBadInputIsNamed(t *testing.T) {
	t.Parallel()
	r := newRoom(t, nil)
	r.folder("hr", "HR")
	for _, c := range []struct {
		method, path, body string
		status             int
		code, says         string
	}{
		{"POST", "/folders", `{"id":"a","sorce":"files"}`, 400, "unknown_field", `"sorce"`},
		{"POST", "/folders", `{"id":5}`, 400, "field_type", `"id" can't be a number`},
		{"POST", "/folders", `[]`, 400, "field_type", "The body can't be a array"},
		{"POST", "/folders", `{"id":`, 400, "json", ""},
		{"POST", "/folders", `{} {}`, 400, "json", "more than one"},
		{"POST", "/folders", `{}`, 400, "folder_id", ""},
		{"POST", "/folders", `{"id":"人事","source":"files","root":"/srv"}`, 400, "folder_id", ""},
		{"POST", "/folders", `{"id":"a","source":"ftp","root":"/srv"}`, 400, "source", ""},
		{"POST", "/folders", `{"id":"a","source":"files","root":"/does/not/exist"}`, 400, "root", ""},
		{"POST", "/folders", `{"id":"a","source":"files","root":"/","state":"deleted"}`, 400, "state", `"deleted"`},
		{"POST", "/folders", `{"title":"` + strings.Repeat("x", 70_000) + `"}`, 413, "too_large", ""},
		{"PATCH", "/folders/hr", `{}`, 400, "nothing_to_set", ""},
		{"PATCH", "/folders/hr", `{"interval":"soon"}`, 400, "interval", `"soon"`},
		{"PATCH", "/folders/hr", `{"interval":"1s"}`, 400, "interval", ""},
		{"PATCH", "/folders/hr", `{"limits":[]}`, 400, "limits", ""},
		{"PATCH", "/folders/none", `{"title":"x"}`, 404, "folder_unknown", `"none"`},
		{"POST", "/folders/hr/pause", `{"a":1}`, 400, "body", ""},
		{"POST", "/folders/hr/sync", `{"ful":true}`, 400, "unknown_field", `"ful"`},
		{"POST", "/folders/hr/sync?full=true", "", 400, "unknown_parameter", `"full"`},
		{"DELETE", "/folders/hr?now=yes", "", 400, "parameter", `"now"`},
		{"GET", "/folders/hr/pages?state=gone", "", 400, "parameter", `"gone"`},
		{"GET", "/folders/hr/pages?limit=0", "", 400, "parameter", "from 1 to 1000"},
		{"GET", "/folders/hr/pages?limit=1&limit=2", "", 400, "repeated_parameter", ""},
		{"GET", "/folders/hr/pages?cursor=x", "", 400, "cursor", ""},
		{"GET", "/folders/hr/pages?q=%zz", "", 400, "query", ""},
		{"GET", "/folders/hr/pages?q=%00", "", 400, "match", ""},
		{"GET", "/folders/hr/pages?page=2", "", 400, "unknown_parameter", "use state, q, containers, limit, cursor"},
		{"GET", "/folders/none/pages", "", 404, "folder_unknown", ""},
		{"GET", "/folders/hr/pages/none", "", 404, "page_unknown", ""},
		{"GET", "/folders/a%00b", "", 404, "folder_unknown", ""},
		{"GET", "/folders/a%2F..%2Fb", "", 404, "folder_unknown", ""},
		{"GET", "/search", "", 400, "empty_query", ""},
		{"GET", "/search?q=+", "", 400, "empty_query", ""},
		{"GET", "/search?q=a&folder=none", "", 404, "folder_unknown", ""},
		{"GET", "/why", "", 400, "ref", ""},
		{"GET", "/why?ref=nothing", "", 404, "page_unknown", ""},
		{"GET", "/runs/none", "", 404, "run_unknown", ""},
		{"GET", "/runs?limit=x", "", 400, "parameter", ""},
		{"GET", "/schedule", "", 503, "temporal_unreachable", ""},
		{"POST", "/folders/hr/sync", "", 503, "temporal_unreachable", ""},
		{"GET", "/none", "", 404, "address_unknown", ""},
		{"POST", "/none/none", "", 404, "address_unknown", ""},
	} {
		t.Run(c.method+" "+c.path+" "+c.body[:min(len(c.body), 30)], func(t *testing.T) {
			a := r.ask(c.method, c.path, c.body)
			a.t = t
			p := a.problem(c.status, c.code)
			assert.Contains(t, p.Detail, c.says)
			assert.Equal(t, c.status == 503, a.header.Get("Retry-After") != "")
			assert.Equal(t, "no-store", a.header.Get("Cache-Control"))
			assert.Equal(t, "nosniff", a.header.Get("X-Content-Type-Options"))
		})
	}
	assert.Equal(t, "hr", into[[]knowledge.Folder](r.get("/folders"))[0].ID)
	assert.NotContains(t, r.log.String(), "level=ERROR")
}

func TestOtherMethods(t *testing.T) {
	t.Parallel()
	r := newRoom(t, nil)
	for line, allowed := range map[string]string{
		"PUT /folders":             "GET, HEAD, POST",
		"DELETE /folders/hr/sync":  "POST",
		"POST /folders/hr":         "GET, HEAD, PATCH, DELETE",
		"POST /status":             "GET, HEAD",
		"GET /folders/hr/retry":    "POST",
		"PATCH /openapi.json":      "GET, HEAD",
		"PUT /folders/hr/pages/p1": "GET, HEAD, DELETE",
	} {
		method, path, _ := strings.Cut(line, " ")
		a := r.ask(method, path, "")
		a.problem(http.StatusMethodNotAllowed, "method")
		assert.Equal(t, allowed, a.header.Get("Allow"), line)
	}
}

func TestABodyHasToBeJSON(t *testing.T) {
	t.Parallel()
	r := newRoom(t, nil)
	for _, kind := range []string{"", "text/plain", "application/x-www-form-urlencoded", "multipart/form-data"} {
		r.ask(http.MethodPost, "/folders", `{"id":"a"}`, header{"Content-Type", kind}).problem(http.StatusUnsupportedMediaType, "media_type")
	}
	r.ask(http.MethodPost, "/folders", `{"id":""}`, header{"Content-Type", "application/json; charset=utf-8"}).problem(http.StatusBadRequest, "folder_id")
}

func TestPostgresAway(t *testing.T) {
	t.Parallel()
	r := newRoom(t, nil)
	ci := r.token("ci", "admin")
	r.store.Close()
	r.exec(`SELECT 1`)
	for _, token := range []string{adminToken, ci} {
		a := r.askAs(token, http.MethodGet, "/folders", "")
		assert.Contains(t, []int{500, 503}, a.status)
		assert.NotContains(t, a.body, "closed pool")
	}
}

func TestReadsAreSentOnce(t *testing.T) {
	t.Parallel()
	r := newRoom(t, nil)
	r.folder("hr", "HR")
	r.page("hr", "a.md")
	for _, path := range []string{"/folders", "/folders/hr", "/folders/hr/pages", "/openapi.json"} {
		a := r.get(path).is(http.StatusOK)
		tag := a.header.Get("ETag")
		require.NotEmpty(t, tag)
		for _, given := range []string{tag, "W/" + tag, `"x", ` + tag, "*"} {
			same := r.ask(http.MethodGet, path, "", header{"If-None-Match", given}).is(http.StatusNotModified)
			assert.Empty(t, same.body)
			assert.Equal(t, tag, same.header.Get("ETag"))
		}
		r.ask(http.MethodGet, path, "", header{"If-None-Match", `"x"`}).is(http.StatusOK)
		assert.Empty(t, r.ask(http.MethodHead, path, "").is(http.StatusOK).body)
	}
	before := r.get("/folders/hr").header.Get("ETag")
	r.ask(http.MethodPatch, "/folders/hr", `{"owner":"kim"}`).is(http.StatusOK)
	r.ask(http.MethodGet, "/folders/hr", "", header{"If-None-Match", before}).is(http.StatusOK)
}

func TestPagesComeInSlices(t *testing.T) {
	t.Parallel()
	r := newRoom(t, nil)
	r.folder("hr", "HR")
	want := make([]string, 7)
	for i := range want {
		want[i] = r.page("hr", fmt.Sprintf("p%d & more.md", i))
	}
	var got []string
	path, slices := "/folders/hr/pages?limit=3&state=pending&q=+%26+more", 0
	for ; path != ""; slices++ {
		a := r.get(path).is(http.StatusOK)
		for _, page := range into[[]knowledge.Page](a) {
			got = append(got, page.PageID)
		}
		link, rest, _ := strings.Cut(a.header.Get("Link"), ">")
		if link == "" {
			break
		}
		assert.Equal(t, `; rel="next"`, rest)
		path = strings.TrimPrefix(link, "</api/v1")
	}
	assert.Equal(t, want, got)
	assert.Equal(t, 2, slices, "and one more")
}
