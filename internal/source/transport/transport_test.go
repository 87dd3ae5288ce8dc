package transport_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/loresync/loresync/internal/source"
	"github.com/loresync/loresync/internal/source/transport"
)

// vendor is a server that answers each request of a test by the next of its steps; the last one stays.
type vendor struct {
	*httptest.Server
	steps []http.HandlerFunc
	count atomic.Int64
	// bodies and times are what was sent, in order.
	mu     sync.Mutex
	bodies []string
	times  []time.Time
	// open counts connections that were not closed or given back.
	open atomic.Int64
}

func newVendor(t *testing.T, steps ...http.HandlerFunc) *vendor {
	t.Helper()
	v := &vendor{steps: steps}
	v.Server = httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		n := v.count.Add(1) - 1
		body, err := io.ReadAll(r.Body)
		if err != nil {
			http.Error(w, "the body was cut", http.StatusTeapot)
			return
		}
		v.mu.Lock()
		v.bodies, v.times = append(v.bodies, string(body)), append(v.times, time.Now())
		v.mu.Unlock()
		v.steps[min(int(n), len(v.steps)-1)](w, r)
	}))
	v.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		switch state {
		case http.StateNew:
			v.open.Add(1)
		case http.StateClosed, http.StateHijacked:
			v.open.Add(-1)
		case http.StateActive, http.StateIdle:
		}
	}
	v.Start()
	t.Cleanup(v.Close)
	return v
}

// sent gives the bodies of all requests, and when they came.
func (v *vendor) sent() ([]string, []time.Time) {
	v.mu.Lock()
	defer v.mu.Unlock()
	return slices.Clone(v.bodies), slices.Clone(v.times)
}

func status(code int, body string, header ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		for i := 0; i+1 < len(header); i += 2 {
			w.Header().Set(header[i], header[i+1])
		}
		w.WriteHeader(code)
		_, _ = io.WriteString(w, body)
	}
}

var fine = status(http.StatusOK, `{"object":"page"}`)

// reset drops the connection without an answer.
func reset(w http.ResponseWriter, _ *http.Request) {
	conn, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		panic(err)
	}
	if tcp, ok := conn.(*net.TCPConn); ok {
		_ = tcp.SetLinger(0)
	}
	_ = conn.Close()
}

// cut announces more than it sends.
func cut(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Content-Length", "1000")
	_, _ = io.WriteString(w, `{"object":`)
}

// cutChunked ends in the middle without having announced a length.
func cutChunked(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	_, _ = io.WriteString(w, `{"object":`)
}

// slowly sends a byte and then nothing until the caller goes away.
func slowly(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	_, _ = io.WriteString(w, `{`)
	_ = http.NewResponseController(w).Flush()
	<-r.Context().Done()
}

// settings retry quickly and know one vendor's words.
func settings() transport.Config {
	return transport.Config{
		Connection: "notion", Backoff: time.Millisecond, MaxBackoff: 4 * time.Millisecond, Retries: 3, Base: &http.Transport{},
		IsRead: func(r *http.Request) bool { return strings.HasSuffix(r.URL.Path, "/query") },
		Classify: func(status int, _ http.Header, body []byte) transport.Verdict {
			var said struct {
				Code, Message string
				RequestID     string `json:"request_id"`
				Data          struct {
					Reason string `json:"rate_limit_reason"`
				} `json:"additional_data"`
			}
			if json.Unmarshal(body, &said) != nil {
				return transport.Verdict{}
			}
			v := transport.Verdict{Code: said.Code, Message: said.Message, RequestID: said.RequestID, Reason: said.Data.Reason}
			switch {
			case v.Reason == "blocked":
				v.Treat = transport.TreatAsFinal
			case status == http.StatusForbidden && v.Code == "rateLimitExceeded":
				v.Treat = transport.TreatAsRateLimit
			}
			return v
		},
	}
}

func send(t *testing.T, config transport.Config, method, url, body string) (*http.Response, string, error) {
	t.Helper()
	var reader io.Reader
	if body != "" {
		reader = strings.NewReader(body)
	}
	req, err := http.NewRequestWithContext(t.Context(), method, url, reader)
	require.NoError(t, err)
	req.Header.Set("Authorization", "Bearer secret-token")
	tr := transport.New(config)
	t.Cleanup(tr.CloseIdleConnections)
	resp, err := (&http.Client{Transport: tr}).Do(req)
	if err != nil {
		return nil, "", transport.Bare(err)
	}
	defer resp.Body.Close()
	whole, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	assert.EqualValues(t, len(whole), resp.ContentLength)
	return resp, string(whole), nil
}

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
		{"sends a delete again after what the hook calls a rate limit", "DELETE", "/p",
			[]http.HandlerFunc{status(403, `{"code":"rateLimitExceeded"}`), fine}, 200, 2},
		{"never sends again what the hook calls final", "GET", "/p",
			[]http.HandlerFunc{status(429, `{"code":"rate_limited","additional_data":{"rate_limit_reason":"blocked"}}`, "Retry-After", "0.01")}, 0, 1},
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

func TestErrors(t *testing.T) {
	t.Parallel()

	t.Run("a refusal has the vendor's words, and its message only where it is asked for", func(t *testing.T) {
		t.Parallel()
		v := newVendor(t, status(500, `{"code":"internal_server_error","message":"the text of a page","request_id":"r-1"}`))
		_, _, err := send(t, settings(), http.MethodPost, v.URL+"/pages?cursor=secret", `{}`)
		refused, ok := errors.AsType[*transport.StatusError](err)
		require.True(t, ok)
		assert.Equal(t, &transport.StatusError{Status: 500, Code: "internal_server_error", Message: "the text of a page", RequestID: "r-1"}, refused)
		assert.Equal(t, "status 500 Internal Server Error, code internal_server_error, request r-1", err.Error())
	})

	t.Run("a code that is a text isn't repeated", func(t *testing.T) {
		t.Parallel()
		v := newVendor(t, status(500, `{"code":"the text of a page"}`))
		_, _, err := send(t, settings(), http.MethodPost, v.URL, `{}`)
		assert.Equal(t, "status 500 Internal Server Error", err.Error())
	})

	t.Run("HTML keeps its status", func(t *testing.T) {
		t.Parallel()
		v := newVendor(t, status(502, `<html>secret</html>`, "Content-Type", "text/html"))
		_, _, err := send(t, settings(), http.MethodGet, v.URL, "")
		refused, ok := errors.AsType[*transport.StatusError](err)
		require.True(t, ok)
		assert.Equal(t, 502, refused.Status)
	})

	t.Run("garbage on the wire isn't quoted", func(t *testing.T) {
		t.Parallel()
		v := newVendor(t, func(w http.ResponseWriter, _ *http.Request) {
			conn, _, err := http.NewResponseController(w).Hijack()
			if assert.NoError(t, err) {
				_, _ = io.WriteString(conn, "secret page text\r\n\r\n")
				_ = conn.Close()
			}
		})
		_, _, err := send(t, settings(), http.MethodGet, v.URL, "")
		require.ErrorAs(t, err, new(*transport.NetworkError))
		assert.NotContains(t, err.Error(), "secret")
	})

	t.Run("an answer above the limit is an error of its own, tried once", func(t *testing.T) {
		t.Parallel()
		for _, announced := range []bool{true, false} {
			v := newVendor(t, func(w http.ResponseWriter, _ *http.Request) {
				if announced {
					w.Header().Set("Content-Length", "4000")
				}
				for range 40 {
					_, _ = io.WriteString(w, strings.Repeat("x", 100))
				}
			})
			config := settings()
			config.MaxBody = 1000
			_, _, err := send(t, config, http.MethodGet, v.URL, "")
			large, ok := errors.AsType[*transport.TooLargeError](err)
			require.True(t, ok, "%v", err)
			assert.EqualValues(t, 1000, large.Limit)
			assert.EqualValues(t, 1, v.count.Load())
		}
	})

	t.Run("a refusal above the limit keeps its status", func(t *testing.T) {
		t.Parallel()
		v := newVendor(t, status(404, strings.Repeat("x", 4000)))
		config := settings()
		config.MaxBody = 1000
		resp, body, err := send(t, config, http.MethodGet, v.URL, "")
		require.NoError(t, err)
		assert.Equal(t, 404, resp.StatusCode)
		assert.Len(t, body, 1000)
	})

	t.Run("an answer that drips is ended and tried again", func(t *testing.T) {
		t.Parallel()
		v := newVendor(t, slowly, fine)
		config := settings()
		config.Timeout = 300 * time.Millisecond
		_, _, err := send(t, config, http.MethodGet, v.URL, "")
		if err != nil { // a machine too slow for the second try says the same
			require.ErrorContains(t, err, "no whole answer in time")
		}
		assert.GreaterOrEqual(t, v.count.Load(), int64(2))
	})

	t.Run("the caller's own end is the caller's error", func(t *testing.T) {
		t.Parallel()
		v := newVendor(t, slowly)
		ctx, cancel := context.WithCancel(t.Context())
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, v.URL, http.NoBody)
		require.NoError(t, err)
		go func() {
			for v.count.Load() == 0 && ctx.Err() == nil {
				<-time.After(time.Millisecond)
			}
			cancel()
		}()
		_, err = transport.New(settings()).RoundTrip(req) //nolint:bodyclose // there is no answer
		require.ErrorIs(t, err, context.Canceled)
		assert.EqualValues(t, 1, v.count.Load())
	})

	t.Run("no wait begins that ends after the total", func(t *testing.T) {
		t.Parallel()
		v := newVendor(t, status(503, ``, "Retry-After", "30"))
		config := settings()
		config.Total = time.Second
		_, _, err := send(t, config, http.MethodGet, v.URL, "")
		refused, ok := errors.AsType[*transport.StatusError](err)
		require.True(t, ok)
		assert.Equal(t, 30*time.Second, refused.RetryAfter)
		assert.EqualValues(t, 1, v.count.Load())
	})
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
		resp, err := tr.RoundTrip(req) //nolint:bodyclose // Refusal closes it
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

func TestFailure(t *testing.T) {
	t.Parallel()
	cases := []struct {
		name string
		err  error
		want source.Class
	}{
		{"529 is a rate limit", &transport.StatusError{Status: 529}, source.ClassRateLimited},
		{"503 is unavailable", &transport.StatusError{Status: 503}, source.ClassUnavailable},
		{"401 is unauthorized", &transport.StatusError{Status: 401}, source.ClassUnauthorized},
		{"404 is not found", &transport.StatusError{Status: 404}, source.ClassNotFound},
		{"400 is the vendor's business", &transport.StatusError{Status: 400}, ""},
		{"403 is the vendor's business", &transport.StatusError{Status: 403}, ""},
		{"no answer is unavailable", &transport.NetworkError{Method: "GET", Host: "h", Err: io.EOF}, source.ClassUnavailable},
		{"too large is invalid", &transport.TooLargeError{Limit: 1 << 20}, source.ClassInvalid},
		{"a class that is known stays", &source.Failure{Class: source.ClassCheckpointExpired, Doing: "x"}, source.ClassCheckpointExpired},
		{"a stop is no failure", transport.ErrStopped, ""},
		{"the end of a context is no failure", context.Canceled, ""},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			err := transport.Failure("read a page", c.err)
			require.ErrorContains(t, err, "read a page")
			failure, ok := errors.AsType[*source.Failure](err)
			assert.Equal(t, c.want != "", ok)
			if ok {
				assert.Equal(t, c.want, failure.Class)
				assert.NotEmpty(t, failure.Error())
				return
			}
			require.ErrorIs(t, err, c.err)
		})
	}
	require.NoError(t, transport.Failure("read a page", nil))
}
