package telemetry

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestTemporalHandler(t *testing.T) {
	t.Parallel()
	t.Run("gives the figures of the SDK the names that dashboards know", func(t *testing.T) {
		t.Parallel()
		registry := prometheus.NewRegistry()
		handler := NewTemporalHandler(registry).WithTags(map[string]string{"namespace": "default", "client_name": "temporal_go", "task_queue": "none"})
		handler.WithTags(map[string]string{"operation": "StartWorkflowExecution"}).Counter("temporal_request").Inc(3)
		handler.Counter("temporal_request").Inc(1)
		handler.WithTags(map[string]string{"worker_type": "WorkflowWorker"}).Gauge("temporal_num_pollers").Update(2)
		assert.Equal(t, []string{
			`temporal_num_pollers{worker_type="WorkflowWorker"} 2`,
			`temporal_request_total 1`,
			`temporal_request_total{operation="StartWorkflowExecution"} 3`,
		}, scrape(t, registry, "temporal_"))
	})
	t.Run("measures times in seconds", func(t *testing.T) {
		t.Parallel()
		registry := prometheus.NewRegistry()
		NewTemporalHandler(registry).Timer("temporal_request_latency").Record(40 * time.Millisecond)
		families, err := registry.Gather()
		require.NoError(t, err)
		require.Len(t, families, 1)
		assert.Equal(t, "temporal_request_latency_seconds", families[0].GetName())
		histogram := families[0].GetMetric()[0].GetHistogram()
		assert.Equal(t, uint64(1), histogram.GetSampleCount())
		assert.InDelta(t, 0.04, histogram.GetSampleSum(), 1e-9)
	})
	t.Run("makes a name of whatever it is given, with one of two prefixes", func(t *testing.T) {
		t.Parallel()
		for given, want := range map[string]string{
			"temporal_request": "temporal_request_total", "loresync_pages_read": "loresync_pages_read_total",
			"own-name é": "temporal_own_name___total", "temporal_x_total": "temporal_x_total", "": "temporal__total",
		} {
			assert.Equal(t, want, metricName(given, "_total"), given)
		}
	})
	t.Run("lives with one name for two kinds", func(t *testing.T) {
		t.Parallel()
		registry := prometheus.NewRegistry()
		handler := NewTemporalHandler(registry)
		handler.Gauge("temporal_x_total").Update(1)
		handler.Counter("temporal_x").Inc(1)
		_, err := registry.Gather()
		require.NoError(t, err)
	})
}

func TestTemporalSeriesAreBounded(t *testing.T) {
	t.Parallel()
	registry := prometheus.NewRegistry()
	handler := NewTemporalHandler(registry)
	var callers sync.WaitGroup
	for caller := range 4 {
		callers.Go(func() {
			for i := range 2000 {
				tagged := handler.WithTags(map[string]string{"activity_type": fmt.Sprintf("%d-%d", caller, i)})
				tagged.Counter("temporal_request").Inc(1)
				tagged.Timer("temporal_request_latency").Record(time.Second)
			}
		})
	}
	callers.Wait()
	families, err := registry.Gather()
	require.NoError(t, err)
	lines, total := 0, 0.0
	for _, family := range families {
		for _, metric := range family.GetMetric() {
			lines += plainCost
			if histogram := metric.GetHistogram(); histogram != nil {
				lines += len(temporalBuckets) + histogramExtra - plainCost
			}
			total += metric.GetCounter().GetValue()
		}
	}
	assert.LessOrEqual(t, lines, maxTemporalSeries+len(temporalBuckets)+histogramExtra+plainCost, "one overflow series a name comes on top")
	assert.InDelta(t, 8000, total, 0, "what overflows is counted all the same")
}
