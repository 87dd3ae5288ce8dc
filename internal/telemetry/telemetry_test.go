package telemetry

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestNewLogger(t *testing.T) {
	t.Parallel()
	t.Run("writes one JSON object a line", func(t *testing.T) {
		t.Parallel()
		var log bytes.Buffer
		NewLogger(&log, FormatJSON, slog.LevelInfo).InfoContext(t.Context(), "worker is ready", "folder_id", "hr")
		var line map[string]any
		require.NoError(t, json.Unmarshal(log.Bytes(), &line))
		assert.Equal(t, "worker is ready", line["msg"])
		assert.Equal(t, "hr", line["folder_id"])
	})
	t.Run("writes text, from the level on", func(t *testing.T) {
		t.Parallel()
		var log bytes.Buffer
		logger := NewLogger(&log, FormatText, slog.LevelWarn)
		logger.InfoContext(t.Context(), "not said")
		logger.WarnContext(t.Context(), "said")
		assert.Contains(t, log.String(), "level=WARN msg=said")
		assert.NotContains(t, log.String(), "not said")
	})
	t.Run("takes JSON for a file that nobody watches", func(t *testing.T) {
		t.Parallel()
		file, err := os.Create(t.TempDir() + "/log")
		require.NoError(t, err)
		defer func() { _ = file.Close() }()
		assert.Equal(t, FormatJSON, FormatFor(file))
	})
}

func TestNewRegistry(t *testing.T) {
	t.Parallel()
	names := map[string]bool{}
	families, err := NewRegistry().Gather()
	require.NoError(t, err)
	for _, family := range families {
		names[family.GetName()] = true
	}
	assert.True(t, names["loresync_build_info"])
	assert.True(t, names["go_goroutines"])
}

func TestDeploymentCollector(t *testing.T) {
	t.Parallel()
	t.Run("tells the deployment in numbers", func(t *testing.T) {
		t.Parallel()
		collector := NewDeploymentCollector(func(context.Context) (Deployment, error) {
			return Deployment{
				Folders: map[string]int64{"active": 2}, Pages: map[string]int64{"live": 17, "failed": 1}, Overdue: 1, Holds: 3, TemporalUp: true,
			}, nil
		})
		lines := scrape(t, registryOf(collector), "loresync_")
		for _, line := range []string{
			"loresync_folders_overdue 1", "loresync_holds 3", `loresync_pages{state="failed"} 1`, `loresync_pages{state="live"} 17`,
			"loresync_postgres_up 1", "loresync_temporal_up 1", "loresync_maintenance 0",
		} {
			assert.Contains(t, lines, line)
		}
	})
	t.Run("says that Postgres is down and nothing else", func(t *testing.T) {
		t.Parallel()
		collector := NewDeploymentCollector(func(context.Context) (Deployment, error) { return Deployment{}, errors.New("down") })
		assert.Equal(t, []string{"loresync_postgres_up 0"}, scrape(t, registryOf(collector), "loresync_"))
	})
}

func TestRequests(t *testing.T) {
	t.Parallel()
	registry := prometheus.NewRegistry()
	watched := NewRequests(registry).Watch("/x/{id}", http.NotFoundHandler())
	for _, path := range []string{"/x/1", "/x/2"} {
		watched.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest(http.MethodGet, path, http.NoBody))
	}
	assert.Equal(t, []string{`loresync_http_requests_total{code="404",method="get",route="/x/{id}"} 2`},
		scrape(t, registry, "loresync_http_requests_total"))
}

func registryOf(collector prometheus.Collector) *prometheus.Registry {
	registry := prometheus.NewRegistry()
	registry.MustRegister(collector)
	return registry
}
