package api_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/loresync/loresync/internal/control"
	"github.com/loresync/loresync/internal/search"
	"github.com/loresync/loresync/internal/testenv"
)

// who may use a route. The table is written out here once more, so that nobody widens it by accident.
type rule struct {
	route string
	// least is anyone, viewer, operator or admin.
	least string
	// whole is set for what a token for some folders can't be used for.
	whole bool
	// body is a request's, where one is needed to get past the checks.
	body string
}

// Reads come first, and what deletes comes last: each row is carried out for every caller that may.
var rules = []rule{
	{route: "GET /openapi.json", least: "anyone"},
	{route: "GET /version", least: "viewer"},
	{route: "GET /folders", least: "viewer"},
	{route: "GET /folders/{folder}", least: "viewer"},
	{route: "GET /folders/{folder}/pages", least: "viewer"},
	{route: "GET /folders/{folder}/pages/{page}", least: "viewer"},
	{route: "GET /folders/{folder}/pages/{page}/markdown", least: "viewer"},
	{route: "GET /folders/{folder}/pages/{page}/chunks", least: "viewer"},
	{route: "GET /folders/{folder}/pages/{page}/revisions", least: "viewer"},
	{route: "GET /deletes", least: "viewer"},
	{route: "GET /why?ref=notes%2Fa.md", least: "viewer"},
	{route: "GET /search?q=secret", least: "viewer"},
	{route: "GET /runs", least: "viewer"},
	{route: "GET /runs/{run}", least: "viewer"},
	{route: "GET /runs/{run}/events", least: "viewer"},
	{route: "GET /holds", least: "viewer"},
	{route: "GET /holds/{hold}", least: "viewer"},
	{route: "GET /schedule", least: "viewer", whole: true},
	{route: "GET /connections", least: "viewer", whole: true},
	{route: "GET /connections/{connection}", least: "viewer", whole: true},
	{route: "GET /status", least: "viewer", whole: true},
	{route: "GET /fsck", least: "operator", whole: true},
	{route: "POST /folders", least: "admin", whole: true, body: `{"id":"new","source":"files","root":"/none"}`},
	{route: "POST /connections/{connection}/check", least: "operator", whole: true},
	{route: "POST /connections/{connection}/pause", least: "admin", whole: true},
	{route: "POST /connections/{connection}/resume", least: "admin", whole: true},
	{route: "PATCH /folders/{folder}", least: "admin", body: `{"owner":"kim"}`},
	{route: "POST /folders/{folder}/pause", least: "operator"},
	{route: "POST /folders/{folder}/resume", least: "operator"},
	{route: "POST /folders/{folder}/sync", least: "operator"},
	{route: "POST /folders/{folder}/retry", least: "operator"},
	{route: "POST /folders/{folder}/pages/{page}/sync", least: "operator"},
	{route: "POST /runs/{run}/cancel", least: "operator"},
	{route: "POST /holds/{hold}/approve", least: "operator"},
	{route: "POST /holds/{hold}/reject", least: "operator"},
	{route: "POST /sync", least: "operator", whole: true},
	{route: "PATCH /schedule", least: "admin", whole: true, body: `{"timezone":"Asia/Tokyo"}`},
	{route: "POST /schedule/trigger", least: "operator", whole: true},
	{route: "DELETE /folders/{folder}/pages/{page}", least: "operator"},
	{route: "POST /folders/{folder}/pages/{page}/restore", least: "operator"},
	{route: "DELETE /folders/{folder}", least: "admin"},
	{route: "POST /folders/{folder}/restore", least: "admin"},
}

func TestTheRulesAreThoseOfAllRoutes(t *testing.T) {
	t.Parallel()
	r := newRoom(t, nil)
	routes := map[string]bool{}
	for _, route := range r.rest.Routes() {
		routes[strings.Replace(route.Pattern, "/api/v1", "", 1)] = true
	}
	ruled := map[string]bool{"/": true}
	for _, rule := range rules {
		route, _, _ := strings.Cut(rule.route, "?")
		ruled[route] = true
	}
	assert.Equal(t, ruled, routes)
}

// theBoard has something of everything, in the folder hr.
func theBoard(t *testing.T) (r *room, fill *strings.Replacer) {
	t.Helper()
	r = newRoom(t, testenv.Client)
	r.folder("hr", "Secret handbook")
	page := r.page("hr", "notes/a.md")
	synced, err := r.SyncFolder(t.Context(), "hr", "full", mika)
	require.NoError(t, err)
	r.exec(`UPDATE sync_runs SET status = 'completed', ended_at = now()`)
	r.exec(`INSERT INTO holds (hold_id, folder_id, reason) VALUES ('h1', 'hr', 'Secret reason')`)
	r.exec(`INSERT INTO hold_pages (hold_id, folder_id, page_id) VALUES ('h1', 'hr', $1)`, page)
	require.NoError(t, r.EnsureSchedules(t.Context()))
	run := strings.ReplaceAll(synced.WorkflowID, "/", "%2F")
	return r, strings.NewReplacer("{folder}", "hr", "{page}", page, "{run}", run, "{hold}", "h1", "{connection}", "files")
}

func TestWhoMayDoWhat(t *testing.T) { //nolint:tparallel // one row follows the other
	t.Parallel()
	r, fill := theBoard(t)
	roles := []string{"anyone", "viewer", "operator", "admin"}
	tokens := map[string]string{}
	for _, role := range roles[1:] {
		tokens[role] = r.token("all-"+role, role)
	}
	ofHR, ofOthers := r.token("hr-admin", "admin", "hr"), r.token("other-admin", "admin", "other")
	revoked := r.token("revoked", "admin")
	_, err := r.RevokeToken(t.Context(), "revoked", mika)
	require.NoError(t, err)

	for _, rule := range rules {
		t.Run(rule.route, func(t *testing.T) {
			method, path, _ := strings.Cut(rule.route, " ")
			path = fill.Replace(path)
			as := func(token string) answer {
				a := r.askAs(token, method, path, rule.body)
				a.t = t
				return a
			}
			for name, token := range map[string]string{"no": "", "a wrong": "wrong", "a revoked": revoked} {
				a := as(token)
				if rule.least == "anyone" {
					a.is(http.StatusOK)
					continue
				}
				assert.Equal(t, http.StatusUnauthorized, a.status, "%s token", name)
				assert.Contains(t, a.header.Get("WWW-Authenticate"), "Bearer")
				tellsNothing(t, a)
			}
			for i, role := range roles[1:] {
				a := as(tokens[role])
				if i+1 < slices.Index(roles, rule.least) {
					a.problem(http.StatusForbidden, "role")
					tellsNothing(t, a)
					continue
				}
				admitted(t, a, role)
			}
			if rule.whole {
				for _, token := range []string{ofHR, ofOthers} {
					a := as(token)
					a.problem(http.StatusForbidden, "folder_scope")
					tellsNothing(t, a)
				}
				return
			}
			admitted(t, as(ofHR), "an admin of the folder")
			if rule.least == "anyone" {
				return
			}
			a := as(ofOthers)
			tellsNothing(t, a)
			if strings.Contains(path, "hr") || strings.Contains(path, "h1") || strings.HasPrefix(path, "/why") || strings.HasPrefix(path, "/search") {
				a.is(http.StatusNotFound)
				return
			}
			a.is(http.StatusOK)
			if path != "/version" {
				assert.JSONEq(t, "[]", a.body)
			}
		})
	}
	assert.NotContains(t, r.log.String(), "loresync_", "no secret in the log")
	assert.NotContains(t, r.log.String(), adminToken)
}

// admitted demands that a request was carried out, whatever came of it.
func admitted(t *testing.T, a answer, who string) {
	t.Helper()
	assert.NotContains(t, []int{401, 403, 405, 500}, a.status, "%s: %s", who, a.body)
}

func tellsNothing(t *testing.T, a answer) {
	t.Helper()
	for _, secret := range []string{"Secret", "files", `"live"`} {
		assert.NotContains(t, a.body, secret)
	}
}

func TestWhatIsOutOfScopeIsAsIfItWereNotThere(t *testing.T) {
	t.Parallel()
	r, fill := theBoard(t)
	other := r.token("other", "admin", "other")
	for there, not := range map[string]string{
		"/folders/hr":               "/folders/no",
		"/folders/hr/pages":         "/folders/no/pages",
		"/runs?folder=hr":           "/runs?folder=no",
		"/search?q=a&folder=hr":     "/search?q=a&folder=no",
		"/holds/h1":                 "/holds/h2",
		"/why?ref=notes%2Fa.md":     "/why?ref=notes%2Fb.md",
		fill.Replace("/runs/{run}"): fill.Replace("/runs/{run}x"),
	} {
		a, b := r.askAs(other, http.MethodGet, there, ""), r.ask(http.MethodGet, not, "")
		b.is(http.StatusNotFound)
		a.is(http.StatusNotFound)
		assert.Equal(t, into[map[string]any](b)["code"], into[map[string]any](a)["code"], there)
	}
	a, b := r.askAs(other, http.MethodGet, "/folders/hr", ""), r.get("/folders/no")
	assert.Equal(t, strings.ReplaceAll(b.body, `\"no\"`, `\"hr\"`), a.body, "to the letter")
}

func TestATokenForFoldersSeesOnlyThose(t *testing.T) {
	t.Parallel()
	r, _ := theBoard(t)
	r.folder("it", "IT") // the same directory: each of its pages is in both
	r.exec(`INSERT INTO sync_runs (workflow_id, folder_id, kind, mode, trigger, requested_at)
		VALUES ('folder/it/sync/x', 'it', 'folder', 'full', 'cli', now())`)
	it, both := r.token("it", "viewer", "it"), r.token("both", "viewer", "it", "hr")
	ids := func(a answer) []string {
		listed := into[[]map[string]any](a.is(http.StatusOK))
		found := make([]string, len(listed))
		for i, each := range listed {
			id, ok := each["folder_id"].(string)
			if !ok {
				id = fmt.Sprint(each["id"])
			}
			found[i] = id
		}
		return found
	}
	assert.Equal(t, []string{"it"}, ids(r.askAs(it, http.MethodGet, "/folders", "")))
	assert.Equal(t, []string{"hr", "it"}, ids(r.askAs(both, http.MethodGet, "/folders", "")))
	for _, path := range []string{"/folders", "/folders/it"} {
		assert.NotContains(t, r.askAs(it, http.MethodGet, path, "").is(http.StatusOK).body, "overlaps", "it would name hr")
		assert.Contains(t, r.askAs(both, http.MethodGet, path, "").is(http.StatusOK).body, "overlaps")
	}
	assert.Equal(t, []string{"it"}, ids(r.askAs(it, http.MethodGet, "/runs", "")))
	assert.Equal(t, []string{"it", "hr"}, ids(r.askAs(both, http.MethodGet, "/runs", "")), "the newest first")
	assert.Len(t, ids(r.askAs(both, http.MethodGet, "/runs?limit=1", "")), 1)
	r.askAs(both, http.MethodGet, "/search?q=text", "").problem(http.StatusBadRequest, "folder")
	r.askAs(both, http.MethodGet, "/search?q=text&folder=it", "").is(http.StatusOK)
	r.askAs(it, http.MethodGet, "/search?q=text", "").is(http.StatusOK)
}

func TestSearchNamesNoFolderThatATokenIsNotFor(t *testing.T) {
	t.Parallel()
	r := newRoom(t, testenv.Client)
	r.worker()
	r.put("a.md", "# Ocelots\n\nAll about ocelots.\n")
	for _, folder := range []string{"hr", "it"} {
		r.folder(folder, folder)
		r.ended(into[control.Answer](r.ask(http.MethodPost, "/folders/"+folder+"/sync", "").is(http.StatusAccepted)))
	}
	found := func(token string) search.Hit {
		hits := into[[]search.Hit](r.askAs(token, http.MethodGet, "/search?q=ocelots&folder=it", "").is(http.StatusOK))
		require.Len(t, hits, 1)
		require.Equal(t, "it", hits[0].FolderID)
		return hits[0]
	}
	all := into[[]search.Hit](r.get("/search?q=ocelots"))
	require.Len(t, all, 1)
	assert.Len(t, all[0].AlsoIn, 1)
	assert.Empty(t, found(r.token("it", "viewer", "it")).AlsoIn)
	explained := into[[]control.Explanation](r.askAs(r.token("it2", "viewer", "it"), http.MethodGet, "/why?ref=a.md", ""))
	require.Len(t, explained, 1)
	assert.Equal(t, "it", explained[0].FolderID)
}

func TestAForeignWebPageChangesNothing(t *testing.T) {
	t.Parallel()
	r := newRoom(t, nil)
	r.folder("hr", "HR")
	pause := func(headers ...header) answer { return r.ask(http.MethodPost, "/folders/hr/pause", "", headers...) }
	pause(header{"Sec-Fetch-Site", "cross-site"}).problem(http.StatusForbidden, "cross_origin")
	pause(header{"Sec-Fetch-Site", "same-site"}).problem(http.StatusForbidden, "cross_origin")
	pause(header{"Origin", "https://evil.example"}).problem(http.StatusForbidden, "cross_origin")
	require.Equal(t, "active", into[map[string]any](r.get("/folders/hr"))["state"])
	pause(header{"Sec-Fetch-Site", "same-origin"}).is(http.StatusOK)
	pause(header{"Origin", "https://lore.example.com"}).is(http.StatusOK)
	pause(header{"Origin", "https://lore.example.com"}, header{"Sec-Fetch-Site", "cross-site"}).is(http.StatusOK)
	r.ask(http.MethodGet, "/folders/hr", "", header{"Sec-Fetch-Site", "cross-site"}).is(http.StatusOK)
}
