package web

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestReady(t *testing.T) {
	t.Parallel()
	t.Run("says which part is missing and names no address", func(t *testing.T) {
		t.Parallel()
		handler := newHandler(t, func(o *Options) {
			o.Checks = append(o.Checks, Check{Name: "temporal", Advice: "not reachable", Run: func(context.Context) error {
				return errors.New("dial tcp 10.1.2.3:7233: connection refused")
			}})
		})
		answer := ask(handler, fromAfar("/readyz"))
		assert.Equal(t, http.StatusServiceUnavailable, answer.Code)
		assert.JSONEq(t, `{"ready": false, "parts": {"postgres": {"ok": true, "detail": "ok"}, "temporal": {"ok": false, "detail": "not reachable"}}}`,
			answer.Body.String())
		assert.Equal(t, http.StatusOK, ask(handler, fromAfar("/healthz")).Code, "it lives all the same")
	})
	t.Run("asks once a second, however many ask it", func(t *testing.T) {
		t.Parallel()
		var asked atomic.Int64
		now := noon
		handler := newHandler(t, func(o *Options) {
			o.Now = func() time.Time { return now }
			o.Checks = []Check{{Name: "postgres", Run: func(context.Context) error { asked.Add(1); return nil }}}
		})
		for range 20 {
			ask(handler, fromAfar("/readyz"))
		}
		assert.Equal(t, int64(1), asked.Load())
		now = now.Add(checkPause)
		ask(handler, fromAfar("/readyz"))
		assert.Equal(t, int64(2), asked.Load())
	})
	t.Run("answers for others when the one who asked hung up", func(t *testing.T) {
		t.Parallel()
		handler := newHandler(t, func(o *Options) {
			o.Checks = []Check{{Name: "postgres", Run: func(ctx context.Context) error { return ctx.Err() }}}
		})
		gone, cancel := context.WithCancel(t.Context())
		cancel()
		assert.Equal(t, http.StatusOK, ask(handler, fromAfar("/readyz").WithContext(gone)).Code)
	})
}

func TestMetrics(t *testing.T) {
	t.Parallel()
	body := ask(newHandler(t, nil), fromAfar("/metrics")).Body.String()
	for _, line := range []string{
		"loresync_postgres_up 1", "loresync_temporal_up 1", `loresync_pages{state="live"} 1234`, `loresync_folders{state="paused"} 1`,
		"loresync_folders_overdue 1", "loresync_folder_syncs_running 2", "loresync_holds 1", "loresync_deletes_unfinished 2",
	} {
		assert.Contains(t, body, line+"\n")
	}
	t.Run("answer while Postgres is down", func(t *testing.T) {
		t.Parallel()
		handler := newHandler(t, func(o *Options) { o.Status = givenStatus{err: errors.New("down")} })
		answer := ask(handler, fromAfar("/metrics"))
		assert.Equal(t, http.StatusOK, answer.Code)
		assert.Contains(t, answer.Body.String(), "loresync_postgres_up 0\n")
	})
}

func TestServeLetsWhatIsUnderWayEnd(t *testing.T) {
	t.Parallel()
	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	entered, leave := make(chan struct{}), make(chan struct{})
	handler := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		close(entered)
		<-leave
		w.WriteHeader(http.StatusTeapot)
	})
	ctx, stop := context.WithCancel(t.Context())
	served := make(chan error, 1)
	go func() { served <- Serve(ctx, listener, handler, slog.New(slog.DiscardHandler)) }()
	answered := make(chan int, 1)
	go func() {
		request, _ := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+listener.Addr().String(), http.NoBody)
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			answered <- 0
			return
		}
		_ = response.Body.Close()
		answered <- response.StatusCode
	}()
	<-entered
	stop()
	require.Eventually(t, func() bool {
		connection, err := new(net.Dialer).DialContext(t.Context(), "tcp", listener.Addr().String())
		if err == nil {
			_ = connection.Close()
		}
		return err != nil
	}, 5*time.Second, 5*time.Millisecond, "nothing new is taken")
	close(leave)
	assert.Equal(t, http.StatusTeapot, <-answered)
	assert.NoError(t, <-served)
}

func TestServerOverTheWireIsLocal(t *testing.T) {
	t.Parallel()
	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	ctx, stop := context.WithCancel(t.Context())
	served := make(chan error, 1)
	handler := newHandler(t, func(o *Options) { o.Registry = prometheus.NewRegistry() })
	go func() { served <- Serve(ctx, listener, handler, slog.New(slog.DiscardHandler)) }()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+listener.Addr().String()+"/", http.NoBody)
	require.NoError(t, err)
	response, err := http.DefaultClient.Do(request)
	require.NoError(t, err)
	assert.Equal(t, http.StatusOK, response.StatusCode)
	assert.True(t, strings.HasPrefix(response.Header.Get("Content-Type"), "text/html"))
	require.NoError(t, response.Body.Close())
	stop()
	assert.NoError(t, <-served)
}
