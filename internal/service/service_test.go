package service

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/loresync/loresync/internal/config"
	"github.com/loresync/loresync/internal/control"
	"github.com/loresync/loresync/internal/testenv"
	"github.com/loresync/loresync/schema"
)

const testPatience = 30 * time.Second

func TestMain(m *testing.M) {
	testenv.SetMigrate(func(ctx context.Context, url string) error {
		_, err := schema.Migrate(ctx, url)
		return err
	})
	testenv.Main(m)
}

// journal is a log that is read while it is written.
type journal struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (j *journal) Write(line []byte) (int, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.text.Write(line)
}

func (j *journal) String() string {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.text.String()
}

func (j *journal) contains(words string) func() bool {
	return func() bool { return strings.Contains(j.String(), words) }
}

func newLog() (*slog.Logger, *journal) {
	j := &journal{}
	return slog.New(slog.NewTextHandler(j, nil)), j
}

// settings are those of a process on the servers of the tests.
func settings(t *testing.T, database, namespace string) config.Config {
	t.Helper()
	cfg := config.Config{DatabaseURL: database, Listen: freeAddress(t)}
	cfg.Temporal.HostPort, cfg.Temporal.Namespace = testenv.Temporal(t), namespace
	cfg.Timeouts = config.Timeouts{
		Temporal: 4 * time.Second, DatabaseConnect: 4 * time.Second, Lock: 3 * time.Second, IdleInTransaction: 5 * time.Second,
	}
	return cfg
}

func freeAddress(t *testing.T) string {
	t.Helper()
	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer func() { _ = listener.Close() }()
	return listener.Addr().String()
}

// runAside runs a process until the test stops it.
func runAside(t *testing.T, process func(ctx context.Context) error) (stop func() error) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- process(ctx) }()
	return func() error {
		cancel()
		select {
		case err := <-ended:
			return err
		case <-time.After(testPatience):
			return errors.New("it didn't end")
		}
	}
}

type readiness struct {
	Ready bool `json:"ready"`
	Parts map[string]struct {
		OK     bool   `json:"ok"`
		Detail string `json:"detail"`
	} `json:"parts"`
}

// ask gives the status and the body of an address; status 0 while nothing answers.
func ask(t *testing.T, address string) (int, []byte) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, address, http.NoBody)
	require.NoError(t, err)
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return 0, nil
	}
	defer func() { _ = response.Body.Close() }()
	body, err := io.ReadAll(response.Body)
	require.NoError(t, err)
	return response.StatusCode, body
}

func TestGateway(t *testing.T) {
	t.Parallel()
	t.Run("is ready when everything is there", func(t *testing.T) {
		t.Parallel()
		cfg := settings(t, testenv.Database(t), testenv.Namespace(t))
		log, _ := newLog()
		stop := runAside(t, func(ctx context.Context) error { return Gateway(ctx, cfg, log) })
		testenv.Eventually(t, testPatience, func() bool {
			status, _ := ask(t, "http://"+cfg.Listen+"/readyz")
			return status == http.StatusOK
		}, "the gateway is ready")
		status, body := ask(t, "http://"+cfg.Listen+"/metrics")
		assert.Equal(t, http.StatusOK, status)
		for _, name := range []string{
			"loresync_postgres_up 1", "loresync_temporal_up 1", "go_goroutines", `temporal_request_total{operation="DescribeNamespace"}`,
		} {
			assert.Contains(t, string(body), name)
		}
		status, _ = ask(t, "http://"+cfg.Listen+"/api/v1/folders")
		assert.Equal(t, http.StatusUnauthorized, status, "the API is there")
		require.NoError(t, stop())
	})
	t.Run("says which part is missing", func(t *testing.T) {
		t.Parallel()
		cfg := settings(t, testenv.Database(t), "nobody-registered-this")
		log, said := newLog()
		stop := runAside(t, func(ctx context.Context) error { return Gateway(ctx, cfg, log) })
		var answer readiness
		testenv.Eventually(t, testPatience, func() bool {
			status, body := ask(t, "http://"+cfg.Listen+"/readyz")
			return status == http.StatusServiceUnavailable && json.Unmarshal(body, &answer) == nil
		}, "the gateway answers")
		assert.True(t, answer.Parts["postgres"].OK)
		assert.True(t, answer.Parts["schema"].OK)
		assert.False(t, answer.Parts["temporal"].OK)
		assert.Contains(t, answer.Parts["temporal"].Detail, "TEMPORAL_NAMESPACE")
		assert.Contains(t, said.String(), "nobody-registered-this", "the log has the whole error")
		require.NoError(t, stop())
	})
	t.Run("refuses an address that is taken at once", func(t *testing.T) {
		t.Parallel()
		taken, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
		require.NoError(t, err)
		defer func() { _ = taken.Close() }()
		log, _ := newLog()
		err = Gateway(t.Context(), config.Config{Listen: taken.Addr().String()}, log)
		assert.Equal(t, exitUsage, ExitCode(err))
		assert.ErrorContains(t, err, "LORESYNC_LISTEN")
	})
}

func TestWorker(t *testing.T) {
	t.Parallel()
	t.Run("polls until it is stopped", func(t *testing.T) {
		t.Parallel()
		cfg := settings(t, testenv.Database(t), testenv.Namespace(t))
		log, said := newLog()
		stop := runAside(t, func(ctx context.Context) error { return Worker(ctx, cfg, log) })
		testenv.Eventually(t, testPatience, said.contains("worker is ready"), "the worker is ready")
		require.NoError(t, stop())
	})
	t.Run("refuses an older schema with the command to run", func(t *testing.T) {
		t.Parallel()
		log, _ := newLog()
		err := Worker(t.Context(), settings(t, testenv.EmptyDatabase(t), "default"), log)
		require.ErrorContains(t, err, "starter migrate")
		assert.Equal(t, exitFailed, ExitCode(err))
	})
	t.Run("waits for a server that isn't there, and ends quietly when stopped meanwhile", func(t *testing.T) {
		t.Parallel()
		log, said := newLog()
		cfg := settings(t, "postgres://a:b@"+freeAddress(t)+"/x", "default")
		stop := runAside(t, func(ctx context.Context) error { return Worker(ctx, cfg, log) })
		testenv.Eventually(t, testPatience, said.contains("waiting for a server"), "it says what it waits for")
		assert.Contains(t, said.String(), "server=postgres")
		require.NoError(t, stop())
	})
}

func TestExitCode(t *testing.T) {
	t.Parallel()
	for code, err := range map[int]error{
		0: nil, 1: errors.New("a bug"), exitUsage: fmt.Errorf("start: %w", &SettingsError{Err: errors.New("X is wrong")}),
		exitUnreachable: &control.Error{Kind: control.KindUnreachable, Sentence: "down"},
	} {
		assert.Equal(t, code, ExitCode(err))
	}
}

func TestMainEndsWith2WithoutItsSettings(t *testing.T) {
	t.Setenv("LORESYNC_DATABASE_URL", "")
	t.Setenv("LORESYNC_DATA_DIR", t.TempDir())
	served := false
	serve := func(context.Context, config.Config, *slog.Logger) error {
		served = true
		return nil
	}
	assert.Equal(t, exitUsage, Main("worker", serve))
	assert.False(t, served)
	t.Setenv("LORESYNC_DATABASE_URL", "postgres://127.0.0.1:1/none")
	assert.Zero(t, Main("worker", serve))
	assert.True(t, served)
}
