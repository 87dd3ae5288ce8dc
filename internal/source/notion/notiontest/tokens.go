package notiontest

import (
	"fmt"
	"maps"
	"net/http"
	"strings"
	"sync"
)

// Capabilities are what a connection may do.
type Capabilities struct {
	// Content is reading pages, databases and searches.
	Content bool
	// Comments is reading comments.
	Comments bool
	// Users is reading who users are; without it they are ids.
	Users bool
}

// OAuthClient is a public connection.
type OAuthClient struct{ ID, Secret string }

// tokens are what Authorization headers may bear, and what they may be exchanged from.
type tokens struct {
	seed   uint64
	client OAuthClient

	mu     sync.Mutex
	made   int
	able   Capabilities
	access map[string]bool
	// codes and refresh are good for one exchange each.
	codes, refresh map[string]bool
}

func newTokens(seed uint64, token string, client OAuthClient) *tokens {
	return &tokens{
		seed: seed, client: client, able: Capabilities{Content: true, Comments: true, Users: true},
		access: map[string]bool{token: true}, codes: map[string]bool{}, refresh: map[string]bool{},
	}
}

// check gives what the bearer of a request may do.
func (t *tokens) check(r *http.Request) (Capabilities, error) {
	token, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	t.mu.Lock()
	defer t.mu.Unlock()
	if !ok || !t.access[token] {
		return Capabilities{}, unauthorized()
	}
	return t.able, nil
}

// next makes a secret of a kind. The lock is held.
func (t *tokens) next(prefix string) string {
	t.made++
	return prefix + compact(uuidOf(t.seed, fmt.Sprintf("token/%d", t.made)))
}

// SetCapabilities changes what all tokens may do.
func (s *Server) SetCapabilities(able Capabilities) {
	s.tokens.mu.Lock()
	defer s.tokens.mu.Unlock()
	s.tokens.able = able
}

// Revoke makes an access or refresh token invalid.
func (s *Server) Revoke(token string) {
	s.tokens.mu.Lock()
	defer s.tokens.mu.Unlock()
	delete(s.tokens.access, token)
	delete(s.tokens.refresh, token)
}

// Allow makes an access token valid, again or for the first time.
func (s *Server) Allow(token string) {
	s.tokens.mu.Lock()
	defer s.tokens.mu.Unlock()
	s.tokens.access[token] = true
}

// AuthorizationCode is what a person's consent brings: good for one exchange at the token endpoint.
func (s *Server) AuthorizationCode() string {
	s.tokens.mu.Lock()
	defer s.tokens.mu.Unlock()
	code := s.tokens.next("code_")
	s.tokens.codes[code] = true
	return code
}

// exchangeToken gives an access token and a refresh token for a code or for an older refresh token, which is dead from then on.
func (c *call) exchangeToken() (Object, error) {
	t := c.s.tokens
	id, secret, ok := c.r.BasicAuth()
	if !ok || t.client.ID == "" || id != t.client.ID || secret != t.client.Secret {
		return nil, &apiError{status: http.StatusUnauthorized, code: "invalid_client", message: "Client authentication failed.", oauth: true}
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if err := t.spend(c.body); err != nil {
		return nil, err
	}
	access, refresh := t.next("ntn_"), t.next("nrt_")
	t.access[access], t.refresh[refresh] = true, true
	owner := c.w.users[0]
	return Object{
		"access_token": access, "token_type": "bearer", "refresh_token": refresh, "bot_id": c.w.bot,
		"workspace_id": c.w.id, "workspace_name": c.w.name, "workspace_icon": nil, "duplicated_template_id": nil,
		"owner": Object{"type": "user", "user": render{w: c.w, names: true}.user(owner)},
	}, nil
}

// spend uses up a code or a refresh token. The lock is held.
func (t *tokens) spend(body Object) error {
	refused := func(message string) error {
		return &apiError{status: http.StatusBadRequest, code: "invalid_grant", message: message, oauth: true}
	}
	var from map[string]bool
	var field string
	switch body["grant_type"] {
	case "authorization_code":
		from, field = t.codes, "code"
	case "refresh_token":
		from, field = t.refresh, "refresh_token"
	default:
		return &apiError{
			status: http.StatusBadRequest, code: "unsupported_grant_type", message: "Unsupported grant type.", oauth: true,
		}
	}
	value, _ := body[field].(string)
	if !from[value] {
		return refused("Invalid " + strings.ReplaceAll(field, "_", " ") + ".")
	}
	delete(from, value)
	return nil
}

// AccessTokens are the tokens that are valid now.
func (s *Server) AccessTokens() []string {
	s.tokens.mu.Lock()
	defer s.tokens.mu.Unlock()
	valid := make([]string, 0, len(s.tokens.access))
	for token := range maps.Keys(s.tokens.access) {
		valid = append(valid, token)
	}
	return valid
}
