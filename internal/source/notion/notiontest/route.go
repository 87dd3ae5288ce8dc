package notiontest

import (
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"strings"
)

// Kind is an endpoint of the API, for counting requests and choosing them.
type Kind string

// The endpoints.
const (
	KindSearch     Kind = "search"
	KindPage       Kind = "page"
	KindProperty   Kind = "property"
	KindBlock      Kind = "block"
	KindChildren   Kind = "children"
	KindDatabase   Kind = "database"
	KindDataSource Kind = "data_source"
	KindQuery      Kind = "query"
	KindUsers      Kind = "users"
	KindMe         Kind = "me"
	KindUser       Kind = "user"
	KindComments   Kind = "comments"
	KindToken      Kind = "token"
	KindFile       Kind = "file"
	// KindUnknown is every other path.
	KindUnknown Kind = "unknown"
)

// route is one endpoint in the versions that have it.
type route struct {
	kind   Kind
	method string
	// path has {id} and {property} in the place of what differs.
	path     string
	from, to version
	// needs is whether a token's capabilities are enough; nil for endpoints that need none.
	needs  func(Capabilities) bool
	answer func(*call) (Object, error)
}

func routes() []route {
	content := func(c Capabilities) bool { return c.Content }
	comments := func(c Capabilities) bool { return c.Comments }
	users := func(c Capabilities) bool { return c.Users }
	get, post := http.MethodGet, http.MethodPost
	return []route{
		{KindSearch, post, "/v1/search", v2022, v2026, content, (*call).search},
		{KindPage, get, "/v1/pages/{id}", v2022, v2026, content, (*call).getPage},
		{KindProperty, get, "/v1/pages/{id}/properties/{property}", v2022, v2026, content, (*call).getProperty},
		{KindBlock, get, "/v1/blocks/{id}", v2022, v2026, content, (*call).getBlock},
		{KindChildren, get, "/v1/blocks/{id}/children", v2022, v2026, content, (*call).getChildren},
		{KindDatabase, get, "/v1/databases/{id}", v2022, v2026, content, (*call).getDatabase},
		{KindQuery, post, "/v1/databases/{id}/query", v2022, v2022, content, (*call).queryDatabase},
		{KindDataSource, get, "/v1/data_sources/{id}", v2025, v2026, content, (*call).getSource},
		{KindQuery, post, "/v1/data_sources/{id}/query", v2025, v2026, content, (*call).querySource},
		{KindUsers, get, "/v1/users", v2022, v2026, users, (*call).listUsers},
		{KindMe, get, "/v1/users/me", v2022, v2026, nil, (*call).getMe},
		{KindUser, get, "/v1/users/{id}", v2022, v2026, users, (*call).getUser},
		{KindComments, get, "/v1/comments", v2022, v2026, comments, (*call).listComments},
		{KindToken, post, "/v1/oauth/token", v2022, v2026, nil, (*call).exchangeToken},
		{KindFile, get, "/files/{id}/{property}", v2022, v2026, nil, nil},
	}
}

// segments are the parts of a path that differ from request to request.
type segments map[string]string

// id is the object that a request is about, in its usual spelling if it has one.
func (s segments) id() string {
	if id, ok := parseID(s["{id}"]); ok {
		return id
	}
	return s["{id}"]
}

// match finds the route of a request. The version isn't looked at: one endpoint is one kind in all of them.
func (s *Server) match(r *http.Request) (route, segments) {
	parts := strings.Split(r.URL.EscapedPath(), "/")
	for _, to := range s.routes {
		if found, ok := to.matches(r.Method, parts); ok {
			return to, found
		}
	}
	return route{kind: KindUnknown}, nil
}

func (t route) matches(method string, parts []string) (segments, bool) {
	want := strings.Split(t.path, "/")
	if method != t.method || len(parts) != len(want) {
		return nil, false
	}
	found := segments{}
	for i, part := range parts {
		if strings.HasPrefix(want[i], "{") {
			plain, err := url.PathUnescape(part)
			if err != nil {
				return nil, false
			}
			found[want[i]] = plain
		} else if part != want[i] {
			return nil, false
		}
	}
	return found, true
}

// call is one request that was let in.
type call struct {
	render
	s        *Server
	r        *http.Request
	kind     Kind
	segments segments
	body     Object
}

// admit checks what the API checks before it looks at a request: the token, the version, the path, capabilities, and whether
// the body is JSON.
func (s *Server) admit(r *http.Request, to route, segments segments) (*call, error) {
	c := &call{s: s, r: r, kind: to.kind, segments: segments}
	if to.kind == KindToken {
		c.w = s.w
		err := c.readBody()
		return c, err
	}
	able, err := s.tokens.check(r)
	if err != nil {
		return nil, err
	}
	v, err := versionOf(r.Header)
	if err != nil {
		return nil, err
	}
	if to.answer == nil || v < to.from || v > to.to {
		return nil, invalidURL()
	}
	if to.needs != nil && !to.needs(able) {
		return nil, restricted()
	}
	c.render = render{w: s.w, v: v, names: able.Users, sign: s.signer(r)}
	err = c.readBody()
	return c, err
}

// readBody reads the JSON object of a POST; an empty body is an empty object.
func (c *call) readBody() error {
	c.body = Object{}
	if c.r.Method != http.MethodPost {
		return nil
	}
	raw, err := io.ReadAll(io.LimitReader(c.r.Body, maxBody+1))
	notJSON := &apiError{status: http.StatusBadRequest, code: "invalid_json", message: "Error parsing JSON body."}
	switch {
	case err != nil:
		return notJSON
	case len(raw) > maxBody:
		return &apiError{status: http.StatusRequestEntityTooLarge, code: "validation_error", message: "body is too large."}
	case len(raw) == 0:
		return nil
	}
	if err := json.Unmarshal(raw, &c.body); err != nil || c.body == nil {
		return notJSON
	}
	return nil
}

// maxBody is the largest body of a request, in bytes.
const maxBody = 500 << 10

// id is the request's object in its usual spelling.
func (c *call) id(name string) (string, error) {
	id, ok := parseID(c.segments["{id}"])
	if !ok {
		return "", invalid("path failed validation: path.%s should be a valid uuid, instead was `%q`.", name, c.segments["{id}"])
	}
	return id, nil
}
