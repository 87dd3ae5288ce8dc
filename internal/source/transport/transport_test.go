package transport_test

import (
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/loresync/loresync/internal/source"
	"github.com/loresync/loresync/internal/source/transport"
)

func TestRoundTrip(t *testing.T) {
	t.Parallel()
	html := status(http.StatusBadGateway, `<html>edge</html>`, "Content-Type", "text/html")
	cases := []struct {
		name   string
		method string
		path   string
		steps  []http.HandlerFunc
		want   int // status handed on; 0 for an error
		tries  int
	}{
		{"hands an answer on", "GET", "/p", []http.HandlerFunc{fine}, 200, 1},
		{"sends a read again after 500", "GET", "/p", []http.HandlerFunc{status(500, `{}`), fine}, 200, 2},
		{"sends a read again after 502 with HTML", "GET", "/p", []http.HandlerFunc{html, fine}, 200, 2},
		{"sends a read again after 503", "GET", "/p", []http.HandlerFunc{status(503, ``), fine}, 200, 2},
		{"sends a read again after an empty 504", "GET", "/p", []http.HandlerFunc{status(504, ``), fine}, 200, 2},
		{"sends a read again after the edge's own 522", "GET", "/p", []http.HandlerFunc{status(522, ``), fine}, 200, 2},
		{"sends a read again after 409", "GET", "/p", []http.HandlerFunc{status(409, `{}`), fine}, 200, 2},
		{"hands a lasting 409 on", "GET", "/p", []http.HandlerFunc{status(409, `{}`)}, 409, 4},
		{"sends a read again after a reset", "GET", "/p", []http.HandlerFunc{reset, fine}, 200, 2},
		{"sends a read again after a body that was cut", "GET", "/p", []http.HandlerFunc{cut, fine}, 200, 2},
		{"sends a read again after JSON without an end", "GET", "/p", []http.HandlerFunc{cutChunked, fine}, 200, 2},
		{"sends a POST that is a read again", "POST", "/query", []http.HandlerFunc{status(500, `{}`), reset, fine}, 200, 3},
		{"gives up after its retries", "GET", "/p", []http.HandlerFunc{html}, 0, 4},
		{"sends a write once after 500", "POST", "/p", []http.HandlerFunc{status(500, `{}`)}, 0, 1},
		{"sends a write once after a reset", "POST", "/p", []http.HandlerFunc{reset}, 0, 1},
		{"hands a write's 409 on", "PATCH", "/p", []http.HandlerFunc{status(409, `{}`)}, 409, 1},
		{"sends a write again after 429", "POST", "/p", []http.HandlerFunc{status(429, `{}`), fine}, 200, 2},
		{"sends a write again after 529", "PATCH", "/p", []http.HandlerFunc{status(529, `{}`), fine}, 200, 2},
		{
			"sends a delete again after what the hook calls a rate limit", "DELETE", "/p",
			[]http.HandlerFunc{status(403, `{"code":"rateLimitExceeded"}`), fine},
			200, 2,
		},
		{
			"never sends again what the hook calls final", "GET", "/p",
			[]http.HandlerFunc{status(429, `{"code":"rate_limited","additional_data":{"rate_limit_reason":"blocked"}}`, "Retry-After", "0.01")},
			0, 1,
		},
		{"hands 400 on", "GET", "/p", []http.HandlerFunc{status(400, `{"code":"validation_error"}`)}, 400, 1},
		{"hands 401 on", "GET", "/p", []http.HandlerFunc{status(401, `{}`)}, 401, 1},
		{"hands 404 on", "POST", "/query", []http.HandlerFunc{status(404, `{}`)}, 404, 1},
		{"doesn't try 501 again", "GET", "/p", []http.HandlerFunc{status(501, ``)}, 0, 1},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			v := newVendor(t, c.steps...)
			body := ""
			if c.method == http.MethodPost || c.method == http.MethodPatch {
				body = `{"filter":1}`
			}
			resp, _, err := send(t, settings(), c.method, v.URL+c.path+"?secret=1", body)
			assert.EqualValues(t, c.tries, v.count.Load())
			bodies, _ := v.sent()
			for _, sent := range bodies {
				assert.Equal(t, body, sent, "each try sends the whole body")
			}
			if c.want != 0 {
				require.NoError(t, err)
				assert.Equal(t, c.want, resp.StatusCode)
				return
			}
			require.Error(t, err)
			assert.NotContains(t, err.Error(), "secret")
		})
	}
}

func TestRetryAfter(t *testing.T) {
	t.Parallel()
	limited := func(after string) http.HandlerFunc {
		return status(429, `{"code":"rate_limited"}`, "Retry-After", after)
	}
	cases := []struct {
		name  string
		step  http.HandlerFunc
		least time.Duration
	}{
		{"whole seconds", limited("1"), time.Second},
		{"a fraction", limited("0.2"), 200 * time.Millisecond},
		{"an HTTP date, counted from the server's own clock", func(w http.ResponseWriter, r *http.Request) {
			now := time.Date(2001, 1, 1, 0, 0, 0, 0, time.UTC)
			w.Header().Set("Date", now.Format(http.TimeFormat))
			limited(now.Add(time.Second).Format(http.TimeFormat))(w, r)
		}, time.Second},
		{"absent", status(529, `{}`), 0},
		{"not understood", limited("soon"), 0},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			v := newVendor(t, c.step, fine)
			_, body, err := send(t, settings(), http.MethodPost, v.URL+"/pages", `{"a":1}`)
			require.NoError(t, err)
			assert.JSONEq(t, `{"object":"page"}`, body)
			_, times := v.sent()
			require.Len(t, times, 2)
			assert.GreaterOrEqual(t, times[1].Sub(times[0]), c.least)
		})
	}

	for name, after := range map[string]string{
		"a long rest is handed up": "61", "an absurd one is bounded": "99999999999",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			v := newVendor(t, limited(after))
			_, _, err := send(t, settings(), http.MethodGet, v.URL, "")
			failure, ok := errors.AsType[*source.Failure](err)
			require.True(t, ok, "%v", err)
			assert.Equal(t, source.ClassRateLimited, failure.Class)
			assert.GreaterOrEqual(t, failure.RetryAfter, 61*time.Second)
			assert.LessOrEqual(t, failure.RetryAfter, time.Hour)
			refused, ok := errors.AsType[*transport.StatusError](err)
			require.True(t, ok)
			assert.Equal(t, "rate_limited", refused.Code)
			assert.EqualValues(t, 1, v.count.Load())
		})
	}
}

func TestRequests(t *testing.T) {
	t.Parallel()

	t.Run("a body without GetBody is sent again whole, and closed", func(t *testing.T) {
		t.Parallel()
		v := newVendor(t, status(429, `{}`), reset, fine)
		body := &closing{Reader: strings.NewReader(`{"filter":1}`)}
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, v.URL+"/query", body)
		require.NoError(t, err)
		resp, err := transport.New(settings()).RoundTrip(req)
		require.NoError(t, err)
		require.NoError(t, resp.Body.Close())
		bodies, _ := v.sent()
		assert.Equal(t, []string{`{"filter":1}`, `{"filter":1}`, `{"filter":1}`}, bodies)
		assert.True(t, body.closed)
		assert.Same(t, body, req.Body, "the caller's request stays as it was")
	})

	t.Run("connections are used again after refusals", func(t *testing.T) {
		t.Parallel()
		v := newVendor(t, status(500, strings.Repeat("x", 100<<10)), status(503, `{}`), fine)
		_, _, err := send(t, settings(), http.MethodGet, v.URL, "")
		require.NoError(t, err)
		assert.LessOrEqual(t, v.open.Load(), int64(1))
	})

	t.Run("a HEAD keeps the length that was told", func(t *testing.T) {
		t.Parallel()
		v := newVendor(t, status(200, ``, "Content-Length", "77"))
		req, err := http.NewRequestWithContext(t.Context(), http.MethodHead, v.URL, http.NoBody)
		require.NoError(t, err)
		resp, err := transport.New(settings()).RoundTrip(req)
		require.NoError(t, err)
		require.NoError(t, resp.Body.Close())
		assert.EqualValues(t, 77, resp.ContentLength)
	})

	t.Run("a refusal that was handed on can be read as an error", func(t *testing.T) {
		t.Parallel()
		v := newVendor(t, status(404, `{"code":"object_not_found","request_id":"r-2"}`))
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, v.URL, http.NoBody)
		require.NoError(t, err)
		tr := transport.New(settings())
		resp, err := tr.RoundTrip(req)
		require.NoError(t, err)
		refused, err := tr.Refusal(resp)
		require.NoError(t, err)
		assert.Equal(t, &transport.StatusError{Status: 404, Code: "object_not_found", RequestID: "r-2"}, refused)
	})
}

// closing notes that it was closed, and has no GetBody.
type closing struct {
	io.Reader
	closed bool
}

func (c *closing) Close() error { c.closed = true; return nil }
