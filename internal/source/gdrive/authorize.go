package gdrive

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
)

var errForeignHost = errors.New("Google sent the request on to a host that isn't its own") //nolint:staticcheck // Google is a name

// authorized adds the access token to requests, and sends one that was refused for it once more with a new one. Only Google's own
// hosts, or the endpoint's, ever get a token.
type authorized struct {
	endpoint *url.URL
	tokens   tokens
	next     http.RoundTripper
}

// RoundTrip sends a request with a token.
func (a *authorized) RoundTrip(req *http.Request) (*http.Response, error) {
	if !a.trusted(req.URL) {
		return nil, errForeignHost
	}
	token, err := a.tokens.token(req.Context())
	if err != nil {
		return nil, err
	}
	resp, err := a.send(req, token)
	if err != nil || resp.StatusCode != http.StatusUnauthorized || req.Body != nil && req.GetBody == nil {
		return resp, err
	}
	a.tokens.refused(req.Context(), token)
	renewed, err := a.tokens.token(req.Context())
	if err != nil || renewed == token {
		return resp, nil //nolint:nilerr // the first answer says it best
	}
	_ = resp.Body.Close()
	return a.send(req, renewed)
}

func (a *authorized) send(req *http.Request, token string) (*http.Response, error) {
	sent := req.Clone(req.Context())
	if req.GetBody != nil {
		body, err := req.GetBody()
		if err != nil {
			return nil, fmt.Errorf("get the request's body again: %w", err)
		}
		sent.Body = body
	}
	sent.Header.Set("Authorization", "Bearer "+token)
	return a.next.RoundTrip(sent) //nolint:wrapcheck,nolintlint // errors of the transport are what callers look for
}

// trusted tells the hosts that may see a token.
func (a *authorized) trusted(u *url.URL) bool {
	if u.Scheme == a.endpoint.Scheme && u.Host == a.endpoint.Host {
		return true
	}
	return u.Scheme == "https" && googleHost(u.Hostname())
}

// googleHost tells Google's own hosts that serve Drive's contents.
func googleHost(host string) bool {
	host = strings.ToLower(host)
	for _, own := range []string{"google.com", "googleapis.com", "googleusercontent.com"} {
		if host == own || strings.HasSuffix(host, "."+own) {
			return true
		}
	}
	return false
}
