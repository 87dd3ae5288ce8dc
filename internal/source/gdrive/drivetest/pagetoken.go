package drivetest

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"net/url"
	"strings"
)

// pageToken is what a page token says. Tokens are signed: one that was made up, changed, given to another user or for another
// query is refused.
type pageToken struct {
	// For is the query that the token belongs to.
	For  string `json:"f"`
	User string `json:"u"`
	// Position is how far a log or a list in a fixed order was read; After is the last file that a list of files gave.
	Position int    `json:"p,omitempty"`
	After    *place `json:"a,omitempty"`
	// Epoch is how often change tokens had been forgotten when this one was given.
	Epoch int `json:"e,omitempty"`
	// Doubled has the next page begin with the last file once more.
	Doubled bool `json:"d,omitempty"`
}

const tokenPrefix = "~!!~"

// token writes a page token.
func (s *Server) token(t pageToken) string {
	body, err := json.Marshal(t)
	if err != nil {
		return ""
	}
	return tokenPrefix + base64.RawURLEncoding.EncodeToString(append(s.sign(body), body...))
}

func (s *Server) sign(body []byte) []byte {
	mac := hmac.New(sha256.New, s.secret)
	mac.Write(body)
	return mac.Sum(nil)[:12]
}

// readToken reads a token of a user for a query.
func (c *call) readToken(text, query string) (pageToken, bool) {
	var t pageToken
	raw, err := base64.RawURLEncoding.DecodeString(strings.TrimPrefix(text, tokenPrefix))
	if err != nil || !strings.HasPrefix(text, tokenPrefix) || len(raw) < 12 {
		return t, false
	}
	if !hmac.Equal(raw[:12], c.s.sign(raw[12:])) || json.Unmarshal(raw[12:], &t) != nil {
		return t, false
	}
	return t, t.For == query && t.User == c.email
}

// offset gives where a page of a list in a fixed order begins.
func (c *call) offset(query string, length int) (int, error) {
	text := c.query().Get("pageToken")
	if text == "" {
		return 0, nil
	}
	t, ok := c.readToken(text, query)
	if !ok {
		return 0, invalid("")
	}
	return min(t.Position, length), nil
}

// sameQuery names what must stay the same from page to page.
func (c *call) sameQuery(names ...string) string {
	values := c.query()
	asked := url.Values{"": {string(c.kind)}}
	for _, name := range names {
		asked.Set(name, values.Get(name))
	}
	sum := sha256.Sum256([]byte(asked.Encode()))
	return base64.RawURLEncoding.EncodeToString(sum[:9])
}
