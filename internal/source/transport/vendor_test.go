package transport_test

import (
	"encoding/json"
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
				Code      string `json:"code"`
				Message   string `json:"message"`
				RequestID string `json:"request_id"`
				Data      struct {
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
