package oauth

import (
	"errors"
	"net/http"
	"strings"
)

// Transport gives a RoundTripper around the one that sends a source's requests. A request that Notion answers with 401 is sent again
// with the token that Renew gives. Requests of a connection that nobody authorized pass as they are.
//
// The error is next's, or a *source.Failure when there is no token that Notion takes.
func (t *Tokens) Transport(next http.RoundTripper) http.RoundTripper {
	if next == nil {
		next = http.DefaultTransport
	}
	return &renewing{tokens: t, next: next}
}

type renewing struct {
	tokens *Tokens
	next   http.RoundTripper
}

// mostRenewals is how often one request asks for another token: once for the one that others had renewed meanwhile, and once more
// if that has ended too.
const mostRenewals = 2

// RoundTrip sends a request, and again with another token if Notion refuses the one it bears.
func (r *renewing) RoundTrip(req *http.Request) (*http.Response, error) {
	resp, err := r.next.RoundTrip(req)
	for range mostRenewals {
		// A body that can't be had again was spent; whoever sends the request anew gets the new token.
		if err != nil || resp.StatusCode != http.StatusUnauthorized || req.Body != nil && req.GetBody == nil {
			return resp, err
		}
		token, failed := r.tokens.Renew(req.Context(), bearer(req))
		if errors.Is(failed, ErrNotAuthorized) {
			return resp, nil
		}
		_ = resp.Body.Close() // nothing more is wanted of it
		if failed != nil {
			return nil, failed
		}
		if req, err = withToken(req, token); err != nil {
			return nil, err
		}
		resp, err = r.next.RoundTrip(req)
	}
	if err != nil || resp.StatusCode != http.StatusUnauthorized {
		return resp, err
	}
	_ = resp.Body.Close()
	return nil, r.tokens.unauthorized(sayAgain, nil)
}

// bearer is the token that a request was sent with.
func bearer(req *http.Request) string {
	return strings.TrimPrefix(req.Header.Get("Authorization"), "Bearer ")
}

// withToken copies a request: a RoundTripper leaves the original as it is.
func withToken(req *http.Request, token string) (*http.Request, error) {
	again := req.Clone(req.Context())
	again.Header.Set("Authorization", "Bearer "+token)
	if req.GetBody == nil {
		return again, nil
	}
	body, err := req.GetBody()
	if err != nil {
		return nil, err
	}
	again.Body = body
	return again, nil
}
