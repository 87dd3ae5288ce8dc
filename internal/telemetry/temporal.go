package telemetry

import (
	"maps"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"go.temporal.io/sdk/client"
)

// temporalLabels are the tags of the SDK that become labels. Its namespace and client name are the same for a whole process,
// and whatever else a future version adds stays out until somebody has looked at how many values it can have.
var temporalLabels = map[string]bool{
	"operation": true, "task_queue": true, "workflow_type": true, "activity_type": true, "worker_type": true, "poller_type": true,
	"status_code": true, "failure_reason": true, "cause": true,
}

// noValue is what the SDK gives a tag that has none.
const noValue = "none"

// temporalHandler is the SDK's view of a seriesSet: a handler for each set of tags.
type temporalHandler struct {
	series *seriesSet
	labels prometheus.Labels
}

// NewTemporalHandler gives a metrics handler for a Temporal client whose figures appear in the registry: counters end in
// _total and times in _seconds, as dashboards for the SDK expect. The number of series is bounded by maxTemporalSeries.
func NewTemporalHandler(registry prometheus.Registerer) client.MetricsHandler {
	series := newSeriesSet(maxTemporalSeries)
	registry.MustRegister(series)
	return temporalHandler{series: series}
}

// WithTags gives a handler that adds the tags to those of h.
func (h temporalHandler) WithTags(tags map[string]string) client.MetricsHandler {
	labels := make(prometheus.Labels, len(h.labels)+len(tags))
	maps.Copy(labels, h.labels)
	for name, value := range tags {
		if temporalLabels[name] && value != "" && value != noValue {
			labels[name] = value
		}
	}
	return temporalHandler{series: h.series, labels: labels}
}

// Counter gives the counter of a name and the handler's tags.
func (h temporalHandler) Counter(name string) client.MetricsCounter {
	counter := h.series.counter(metricName(name, "_total"), h.labels)
	return counterOf{counter}
}

// Gauge gives the gauge of a name and the handler's tags.
func (h temporalHandler) Gauge(name string) client.MetricsGauge {
	return gaugeOf{h.series.gauge(metricName(name, ""), h.labels)}
}

// Timer gives the timer of a name and the handler's tags.
func (h temporalHandler) Timer(name string) client.MetricsTimer {
	return timerOf{h.series.histogram(metricName(name, "_seconds"), h.labels)}
}

type counterOf struct{ counter prometheus.Counter }

// Inc adds to the counter. The SDK only ever counts up; a counter that went down would panic.
func (c counterOf) Inc(by int64) { c.counter.Add(float64(max(by, 0))) }

type gaugeOf struct{ gauge prometheus.Gauge }

// Update sets the gauge.
func (g gaugeOf) Update(value float64) { g.gauge.Set(value) }

type timerOf struct{ histogram prometheus.Histogram }

// Record notes a duration.
func (t timerOf) Record(d time.Duration) { t.histogram.Observe(d.Seconds()) }
