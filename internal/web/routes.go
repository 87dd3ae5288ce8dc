package web

import (
	"embed"
	"net/http"

	"github.com/prometheus/client_golang/prometheus/promhttp"
)

//go:embed static
var static embed.FS

// route is one row of the table of routes.
type route struct {
	pattern string
	handler http.Handler
}

// routes lists everything that is answered. What isn't here is 404, and another method 405.
func (s *server) routes() []route {
	return []route{
		{"GET /{$}", http.HandlerFunc(s.statusPage)},
		{"GET /healthz", http.HandlerFunc(alive)},
		{"GET /readyz", http.HandlerFunc(s.ready)},
		{"GET /metrics", s.metrics()},
		{"GET /static/", files()},
		{"/", http.HandlerFunc(unknown)},
	}
}

// alive says that the process answers, and nothing about what it needs: a supervisor that restarted it for Postgres' sake
// would only make things worse.
func alive(w http.ResponseWriter, _ *http.Request) {
	writeJSON(w, http.StatusOK, map[string]string{"status": "ok"})
}

// metrics answers a scraper. Several at once share one collection, since each asks Postgres.
func (s *server) metrics() http.Handler {
	return promhttp.HandlerFor(s.options.Registry, promhttp.HandlerOpts{
		ErrorHandling: promhttp.ContinueOnError, Timeout: metricsPatience, CoalesceGather: true,
	})
}

// files serves the style sheet and the icon. Their addresses carry a hash of the content, so they may be kept.
func files() http.Handler {
	serve := http.FileServerFS(static)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path[len(r.URL.Path)-1] == '/' {
			unknown(w, r)
			return
		}
		w.Header().Set("Cache-Control", "public, max-age=86400")
		serve.ServeHTTP(w, r)
	})
}

// unknown answers for addresses that lead nowhere, and for known ones with another method than GET.
func unknown(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		w.Header().Set("Allow", "GET, HEAD")
		problem(w, http.StatusMethodNotAllowed, "There is nothing here yet that can be changed over HTTP.")
		return
	}
	problem(w, http.StatusNotFound, "There is nothing at this address.")
}
