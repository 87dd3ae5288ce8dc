package telemetry

import (
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/prometheus/client_golang/prometheus"
)

// maxTemporalSeries leaves room below the 3,000 series that /metrics promises at most.
const maxTemporalSeries = 2000

// temporalBuckets are in seconds, from a local call to a long poll. Each bucket is a series, so there are few.
var temporalBuckets = []float64{0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10, 60}

const (
	plainCost = 1
	// The buckets, the one for all the rest, the sum and the count.
	histogramExtra = 3
)

// seriesSet makes metrics as they are asked for. The SDK gives one name different tags in different places, which the
// registry's own vectors refuse, so each series is a metric of its own with constant labels. Once the bound is reached, a
// new set of labels counts in the name's series labelled overflow: a figure is never lost, only less detailed.
type seriesSet struct {
	bound int

	mu   sync.RWMutex
	made map[string]prometheus.Metric
	cost int
}

func newSeriesSet(bound int) *seriesSet {
	return &seriesSet{bound: bound, made: map[string]prometheus.Metric{}}
}

// Describe tells nothing, which is how a collector says that its series aren't known beforehand.
func (s *seriesSet) Describe(chan<- *prometheus.Desc) {}

// Collect gives all series made so far.
func (s *seriesSet) Collect(found chan<- prometheus.Metric) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	for _, metric := range s.made {
		found <- metric
	}
}

func (s *seriesSet) counter(name string, labels prometheus.Labels) prometheus.Counter {
	return series(s, name, labels, plainCost, func(labels prometheus.Labels) prometheus.Counter {
		return prometheus.NewCounter(prometheus.CounterOpts{Name: name, Help: help(name), ConstLabels: labels})
	})
}

func (s *seriesSet) gauge(name string, labels prometheus.Labels) prometheus.Gauge {
	return series(s, name, labels, plainCost, func(labels prometheus.Labels) prometheus.Gauge {
		return prometheus.NewGauge(prometheus.GaugeOpts{Name: name, Help: help(name), ConstLabels: labels})
	})
}

func (s *seriesSet) histogram(name string, labels prometheus.Labels) prometheus.Histogram {
	cost := len(temporalBuckets) + histogramExtra
	return series(s, name, labels, cost, func(labels prometheus.Labels) prometheus.Histogram {
		return prometheus.NewHistogram(prometheus.HistogramOpts{Name: name, Help: help(name), ConstLabels: labels, Buckets: temporalBuckets})
	})
}

// series gives the metric of a name and labels, made by build when it is new. A name that was used with another kind of
// metric before gets one that nobody collects: the registry would refuse both.
func series[M prometheus.Metric](s *seriesSet, name string, labels prometheus.Labels, cost int, build func(prometheus.Labels) M) M {
	key := seriesKey(name, labels)
	s.mu.RLock()
	metric, ok := s.made[key]
	s.mu.RUnlock()
	if known, same := metric.(M); ok && same {
		return known
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.cost+cost > s.bound {
		labels = prometheus.Labels{"overflow": "true"}
		key = seriesKey(name, labels)
	}
	if metric, ok = s.made[key]; ok {
		if known, same := metric.(M); same {
			return known
		}
		return build(labels)
	}
	fresh := build(labels)
	s.made[key] = fresh
	s.cost += cost
	return fresh
}

func seriesKey(name string, labels prometheus.Labels) string {
	var key strings.Builder
	key.WriteString(name)
	for _, label := range slices.Sorted(maps.Keys(labels)) {
		key.WriteString("\xff" + label + "\xff" + labels[label])
	}
	return key.String()
}

// help is one text per name, since the registry wants the same for all series of it.
func help(name string) string {
	return "Reported by the Temporal SDK as " + strings.TrimSuffix(strings.TrimSuffix(name, "_total"), "_seconds") + "."
}

// metricName gives a name that Prometheus accepts, with one of our two prefixes and the suffix of its kind.
func metricName(name, suffix string) string {
	clean := strings.Map(func(r rune) rune {
		if r == '_' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' {
			return r
		}
		return '_'
	}, name)
	if !strings.HasPrefix(clean, "temporal_") && !strings.HasPrefix(clean, "loresync_") {
		clean = "temporal_" + clean
	}
	return strings.TrimSuffix(clean, suffix) + suffix
}
