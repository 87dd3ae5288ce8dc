// Package web is what the gateway answers over HTTP: whether it lives, whether it is ready, its figures, a status page, the
// webhooks of sources, and the REST API.
//
// Who sees what, until people can sign in:
//
//   - /healthz and /readyz answer everyone, with words that name no address.
//   - /metrics answers everyone: it has numbers, and neither names nor ids of folders or pages.
//   - / shows all to a bearer of LORESYNC_ADMIN_TOKEN, or of an API token for the whole deployment. A request from this machine
//     to this machine sees the same without titles, roots and names of people: ids, states and counts. Anybody else gets 401, and
//     learns nothing.
//   - /api/v1 is the REST API (package api), for bearers of tokens.
//   - /webhooks/notion takes what is signed with the connection's secret, and the verification that brings the secret.
//   - /webhooks/drive takes what bears the token of a push channel.
package web

import (
	"context"
	"log/slog"
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/loresync/loresync/internal/access"
	"github.com/loresync/loresync/internal/api"
	"github.com/loresync/loresync/internal/control"
	"github.com/loresync/loresync/internal/telemetry"
)

// Status reads the state of the deployment. control.Control implements it.
type Status interface {
	Status(ctx context.Context) (control.StatusInfo, error)
}

// Options are what the pages are made of.
type Options struct {
	Status Status
	// Checks are what readiness consists of, in the order in which they are shown.
	Checks []Check
	// Registry has the figures of /metrics; those of the requests and of the deployment are added to it.
	Registry *prometheus.Registry
	// Door finds out who makes a request; nil knows nobody.
	Door *access.Door
	// API is the REST API; nil answers none.
	API *api.API
	// PublicURL is the gateway's address as people see it; empty when it has none but the one it listens on.
	PublicURL string
	// TemporalUI is the address of Temporal's web interface, for links; empty means none.
	TemporalUI string
	// Namespace is the Temporal namespace that the links lead to.
	Namespace string
	// Webhooks receives what sources send; nil answers none.
	Webhooks Webhooks
	// NotionWebhookSecret signs the webhooks of the connection notion. Empty means the one that came with the verification.
	NotionWebhookSecret string
	Log                 *slog.Logger
	// Now is the clock; nil means the system's.
	Now func() time.Time
}

// server holds what the handlers share. It keeps no truth: any gateway answers any request.
type server struct {
	options   Options
	readiness *readiness
	door      door
	links     links
}

// New gives the handler of all routes.
func New(options Options) http.Handler {
	if options.Now == nil {
		options.Now = time.Now
	}
	s := &server{
		options: options, readiness: &readiness{checks: options.Checks, now: options.Now, log: options.Log},
		door: newDoor(options.Door, options.PublicURL), links: links{ui: options.TemporalUI, namespace: options.Namespace},
	}
	options.Registry.MustRegister(telemetry.NewDeploymentCollector(s.deployment))
	requests := telemetry.NewRequests(options.Registry)
	mux := http.NewServeMux()
	routes := s.routes()
	if options.Webhooks != nil {
		routes = append(routes, newReception(s, options.Registry).routes()...)
	}
	if options.API != nil {
		for _, r := range options.API.Routes() {
			routes = append(routes, route{pattern: r.Pattern, handler: r.Handler})
		}
	}
	for _, r := range routes {
		mux.Handle(r.pattern, requests.Watch(r.pattern, r.handler))
	}
	return secure(mux)
}

// secure sets the headers that every answer has: no script, no frame, no guess at a type, and nothing from elsewhere.
func secure(next http.Handler) http.Handler {
	const policy = "default-src 'none'; style-src 'self'; img-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		header := w.Header()
		header.Set("Content-Security-Policy", policy)
		header.Set("X-Content-Type-Options", "nosniff")
		header.Set("Referrer-Policy", "no-referrer")
		header.Set("Cross-Origin-Opener-Policy", "same-origin")
		header.Set("Cross-Origin-Resource-Policy", "same-origin")
		next.ServeHTTP(w, r)
	})
}
