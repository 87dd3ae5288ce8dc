package transport_test

import (
	"context"
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
		_, err = transport.New(settings()).RoundTrip(req)
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
