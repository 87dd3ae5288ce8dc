package telemetry

import (
	"net/http"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// Requests counts and times HTTP requests by route. Routes are patterns, never paths, so that no visitor can make series.
type Requests struct {
	count *prometheus.CounterVec
	times *prometheus.HistogramVec
}

// NewRequests registers the figures of an HTTP server.
func NewRequests(registry prometheus.Registerer) *Requests {
	r := &Requests{
		count: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "loresync_http_requests_total", Help: "HTTP requests by route, method and status.",
		}, []string{"route", "method", "code"}),
		times: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "loresync_http_request_seconds", Help: "How long HTTP requests took, by route.", Buckets: []float64{0.01, 0.05, 0.25, 1, 5},
		}, []string{"route"}),
	}
	registry.MustRegister(r.count, r.times)
	return r
}

// Watch counts and times what a handler answers.
func (r *Requests) Watch(route string, next http.Handler) http.Handler {
	labels := prometheus.Labels{"route": route}
	return promhttp.InstrumentHandlerDuration(r.times.MustCurryWith(labels),
		promhttp.InstrumentHandlerCounter(r.count.MustCurryWith(labels), next))
}
