package notiontest_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/loresync/loresync/internal/source/notion/notiontest"
)

type object = notiontest.Object

func TestRequestsThatAreRefused(t *testing.T) {
	t.Parallel()
	s := newStand(t, notiontest.ServerOptions{})
	page := s.page("Page", paragraphs(5)...)
	db := s.database(page, "Database", notiontest.Column{Name: "Number", Type: "number"})
	search, query := "/v1/search", "/v1/data_sources/"+db.Source+"/query"
	nested := object{"and": []any{object{"or": []any{object{"and": []any{object{"or": []any{}}}}}}}}
	cases := []struct {
		name, version, method, path string
		body                        any
		status                      int
		code                        string
	}{
		{"no version", "", "GET", "/v1/pages/" + page, nil, 400, "missing_version"},
		{"an unknown version", "2020-01-01", "GET", "/v1/pages/" + page, nil, 400, "validation_error"},
		{"a path that isn't the API's", newest, "GET", "/v1/nothing", nil, 400, "invalid_request_url"},
		{"a method that the path hasn't", newest, "DELETE", "/v1/search", nil, 400, "invalid_request_url"},
		{"data sources in a version before them", oldest, "GET", "/v1/data_sources/" + db.Source, nil, 400, "invalid_request_url"},
		{"the query of databases in a version after it", newest, "POST", "/v1/databases/" + db.ID + "/query", nil, 400, "invalid_request_url"},
		{"an id that isn't one", newest, "GET", "/v1/pages/nonsense", nil, 400, "validation_error"},
		{"a page that doesn't exist", newest, "GET", "/v1/pages/00000000000000000000000000000000", nil, 404, "object_not_found"},
		{"a database asked for as a page", newest, "GET", "/v1/pages/" + db.ID, nil, 400, "validation_error"},
		{"a data source asked for as a database", newest, "GET", "/v1/databases/" + db.Source, nil, 404, "object_not_found"},
		{"the children of a database", newest, "GET", "/v1/blocks/" + db.ID + "/children", nil, 400, "validation_error"},
		{"a property that the page hasn't", newest, "GET", "/v1/pages/" + page + "/properties/none", nil, 404, "object_not_found"},
		{"a user who doesn't exist", newest, "GET", "/v1/users/" + page, nil, 404, "object_not_found"},
		{"comments of nothing", newest, "GET", "/v1/comments", nil, 400, "validation_error"},
		{"a page size of 0", newest, "GET", "/v1/users?page_size=0", nil, 400, "validation_error"},
		{"a page size of 101", newest, "GET", "/v1/blocks/" + page + "/children?page_size=101", nil, 400, "validation_error"},
		{"a page size that isn't a number", newest, "GET", "/v1/users?page_size=ten", nil, 400, "validation_error"},
		{"a page size of 101 in a body", newest, "POST", search, object{"page_size": 101}, 400, "validation_error"},
		{"a page size in words", newest, "POST", search, object{"page_size": "10"}, 400, "validation_error"},
		{"half a page", newest, "POST", search, object{"page_size": 1.5}, 400, "validation_error"},
		{"a cursor that was never given out", newest, "GET", "/v1/users?start_cursor=" + page, nil, 400, "validation_error"},
		{"an empty cursor", newest, "GET", "/v1/users?start_cursor=", nil, 400, "validation_error"},
		{"a null cursor", newest, "POST", search, object{"start_cursor": nil}, 400, "validation_error"},
		{"a body that isn't JSON", newest, "POST", search, "{", 400, "invalid_json"},
		{"a body that isn't an object", newest, "POST", search, "[]", 400, "invalid_json"},
		{"a body of null", newest, "POST", search, "null", 400, "invalid_json"},
		{"a body that is too large", newest, "POST", search, object{"query": strings.Repeat("a", 600_000)}, 413, "validation_error"},
		{"an unknown field", newest, "POST", search, object{"colour": "red"}, 400, "validation_error"},
		{"a query that isn't text", newest, "POST", search, object{"query": 1}, 400, "validation_error"},
		{"an empty filter of a search", newest, "POST", search, object{"filter": object{}}, 400, "validation_error"},
		{
			"the empty filter of the old client in a new version", newest, "POST", search,
			object{"filter": object{"property": "", "value": ""}},
			400, "validation_error",
		},
		{
			"a search for databases where there are data sources", newest, "POST", search,
			object{"filter": object{"property": "object", "value": "database"}},
			400, "validation_error",
		},
		{
			"a search for data sources where there are databases", oldest, "POST", search,
			object{"filter": object{"property": "object", "value": "data_source"}},
			400, "validation_error",
		},
		{"a search by another property", newest, "POST", search, object{"filter": object{"property": "title", "value": "page"}}, 400, "validation_error"},
		{
			"an unknown field in a filter", newest, "POST", search,
			object{"filter": object{"property": "object", "value": "page", "x": 1}},
			400, "validation_error",
		},
		{"a search sorted by nothing", newest, "POST", search, object{"sort": object{}}, 400, "validation_error"},
		{
			"a search sorted sideways", newest, "POST", search,
			object{"sort": object{"timestamp": "last_edited_time", "direction": "sideways"}},
			400, "validation_error",
		},
		{"an empty filter of a query", newest, "POST", query, object{"filter": object{}}, 400, "validation_error"},
		{
			"a filter on a column that isn't there", newest, "POST", query,
			object{"filter": object{"property": "None", "number": object{"equals": 1}}},
			400, "validation_error",
		},
		{
			"a filter of another type than its column", newest, "POST", query,
			object{"filter": object{"property": "Number", "checkbox": object{"equals": true}}},
			400, "validation_error",
		},
		{
			"a filter with an operator of another type", newest, "POST", query,
			object{"filter": object{"property": "Number", "number": object{"starts_with": "1"}}},
			400, "validation_error",
		},
		{
			"a filter with an operand of another type", newest, "POST", query,
			object{"filter": object{"property": "Number", "number": object{"equals": "1"}}},
			400, "validation_error",
		},
		{
			"a filter with two operators", newest, "POST", query,
			object{"filter": object{"property": "Number", "number": object{"equals": 1, "less_than": 2}}},
			400, "validation_error",
		},
		{
			"a filter on a time that pages haven't", newest, "POST", query,
			object{"filter": object{"timestamp": "read_time", "read_time": object{"before": "2026-01-01"}}},
			400, "validation_error",
		},
		{
			"a filter with a time that isn't one", newest, "POST", query,
			object{"filter": object{"timestamp": "created_time", "created_time": object{"before": "soon"}}},
			400, "validation_error",
		},
		{"a list of no filters", newest, "POST", query, object{"filter": object{"and": []any{}}}, 400, "validation_error"},
		{"filters nested too deeply", newest, "POST", query, object{"filter": nested}, 400, "validation_error"},
		{"sorts that aren't a list", newest, "POST", query, object{"sorts": object{}}, 400, "validation_error"},
		{
			"a sort by a column that isn't there", newest, "POST", query,
			object{"sorts": []any{object{"property": "None", "direction": "ascending"}}},
			400, "validation_error",
		},
		{
			"a sort by a time that pages haven't", newest, "POST", query,
			object{"sorts": []any{object{"timestamp": "read_time", "direction": "ascending"}}},
			400, "validation_error",
		},
		{"a sort without a direction", newest, "POST", query, object{"sorts": []any{object{"property": "Number"}}}, 400, "validation_error"},
		{"an unknown type of results", newest, "POST", query, object{"result_type": "block"}, 400, "validation_error"},
		{"an unknown property to keep", newest, "GET", "/v1/pages/" + page + "?filter_properties=none", nil, 400, "validation_error"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			r := s.request(c.version, c.method, c.path, c.body)
			if c.version == "" {
				r.Header.Del("Notion-Version")
			}
			got := s.send(r)
			assert.Equal(t, c.status, got.status)
			assert.Equal(t, c.code, got.code(), got.body["message"])
			assert.Equal(t, "error", got.body["object"])
			assert.InDelta(t, c.status, got.body["status"], 0)
			assert.NotEmpty(t, got.body["request_id"])
			assert.Equal(t, got.body["request_id"], got.header.Get("X-Notion-Request-Id"))
		})
	}
}

func TestTokens(t *testing.T) {
	t.Parallel()
	for name, header := range map[string]string{"none": "", "another": "Bearer ntn_wrong", "another scheme": "Basic abc"} {
		t.Run(name+" is refused", func(t *testing.T) {
			t.Parallel()
			s := newStand(t, notiontest.ServerOptions{})
			r := s.request(newest, http.MethodGet, "/v1/users/me", nil)
			r.Header.Set("Authorization", header)
			got := s.send(r)
			assert.Equal(t, http.StatusUnauthorized, got.status)
			assert.Equal(t, "unauthorized", got.code())
		})
	}

	t.Run("one that is taken back is refused until it is allowed again", func(t *testing.T) {
		t.Parallel()
		s := newStand(t, notiontest.ServerOptions{})
		s.Revoke(s.Token())
		assert.Equal(t, http.StatusUnauthorized, s.get("/v1/users/me").status)
		s.Allow(s.Token())
		assert.Equal(t, http.StatusOK, s.get("/v1/users/me").status)
	})

	t.Run("without a capability its endpoints are closed and people are ids", func(t *testing.T) {
		t.Parallel()
		s := newStand(t, notiontest.ServerOptions{})
		page := s.page("Page")
		db := s.database(page, "Database", notiontest.Column{Name: "Who", Type: "people"})
		row := s.row(db.Source, "Row", map[string]notiontest.Value{"Who": notiontest.PeopleValue(s.Bot())})
		s.SetCapabilities(notiontest.Capabilities{Content: true})
		for _, path := range []string{"/v1/users", "/v1/users/" + s.Bot(), "/v1/comments?block_id=" + page} {
			got := s.get(path)
			assert.Equal(t, http.StatusForbidden, got.status, path)
			assert.Equal(t, "restricted_resource", got.code(), path)
		}
		properties, _ := s.get("/v1/pages/" + row).body["properties"].(object)
		who, _ := properties["Who"].(object)
		assert.Equal(t, []any{object{"object": "user", "id": s.Bot()}}, who["people"])
		s.SetCapabilities(notiontest.Capabilities{})
		assert.Equal(t, http.StatusForbidden, s.post("/v1/search", nil).status)
		assert.Equal(t, http.StatusOK, s.get("/v1/users/me").status)
	})
}

func TestOAuth(t *testing.T) {
	t.Parallel()
	exchange := func(s stand, secret string, body object) answer {
		r := s.request(newest, http.MethodPost, "/v1/oauth/token", body)
		r.SetBasicAuth("client", secret)
		return s.send(r)
	}
	open := func(t *testing.T) stand {
		t.Helper()
		return newStand(t, notiontest.ServerOptions{OAuth: notiontest.OAuthClient{ID: "client", Secret: "secret"}})
	}

	t.Run("a code is good for one exchange", func(t *testing.T) {
		t.Parallel()
		s := open(t)
		code := object{"grant_type": "authorization_code", "code": s.AuthorizationCode()}
		got := exchange(s, "secret", code)
		require.Equal(t, http.StatusOK, got.status)
		for _, field := range []string{
			"access_token", "token_type", "refresh_token", "bot_id", "workspace_id", "workspace_name", "workspace_icon", "owner",
			"duplicated_template_id",
		} {
			assert.Contains(t, got.body, field)
		}
		r := s.request(newest, http.MethodGet, "/v1/users/me", nil)
		access, _ := got.body["access_token"].(string)
		r.Header.Set("Authorization", "Bearer "+access)
		assert.Equal(t, http.StatusOK, s.send(r).status)
		again := exchange(s, "secret", code)
		assert.Equal(t, http.StatusBadRequest, again.status)
		assert.Equal(t, "invalid_grant", again.body["error"])
		assert.NotEmpty(t, again.body["error_description"])
	})

	t.Run("a refresh gives new tokens and kills the old refresh token", func(t *testing.T) {
		t.Parallel()
		s := open(t)
		first := exchange(s, "secret", object{"grant_type": "authorization_code", "code": s.AuthorizationCode()})
		refresh := object{"grant_type": "refresh_token", "refresh_token": first.body["refresh_token"]}
		second := exchange(s, "secret", refresh)
		require.Equal(t, http.StatusOK, second.status)
		assert.NotEqual(t, first.body["access_token"], second.body["access_token"])
		assert.NotEqual(t, first.body["refresh_token"], second.body["refresh_token"])
		assert.Equal(t, "invalid_grant", exchange(s, "secret", refresh).body["error"])
	})

	t.Run("a wrong secret and a grant that isn't one are refused", func(t *testing.T) {
		t.Parallel()
		s := open(t)
		code := object{"grant_type": "authorization_code", "code": s.AuthorizationCode()}
		assert.Equal(t, "invalid_client", exchange(s, "wrong", code).body["error"])
		assert.Equal(t, "unsupported_grant_type", exchange(s, "secret", object{"grant_type": "password"}).body["error"])
		assert.Equal(t, http.StatusOK, exchange(s, "secret", code).status, "a refused exchange doesn't use up the code")
	})
}
