// Package api is the REST API of the gateway, below /api/v1: the same nouns as the commands, and the same JSON as they print with
// --json. It decides nothing itself: every request goes through package control.
//
// One table (routes.go) lists every route with the role that it asks for, its parameters and its answers; the handlers, the checks
// in front of them and the OpenAPI document are made from it. In front of each handler, in this order: a mutation that a foreign
// web page ordered is refused, the principal is found, its role and folders are checked, the parameters and the body are read, and
// a request that was carried out before under its Idempotency-Key is answered as it was then.
package api

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/loresync/loresync/internal/access"
	"github.com/loresync/loresync/internal/control"
	"github.com/loresync/loresync/internal/search"
)

// Prefix is where the API is.
const Prefix = "/api/v1"

// patience bounds a request. It is less than what the gateway gives an answer, and than a claim on an idempotency key lasts.
const patience = 45 * time.Second

// Options are what the API is made of.
type Options struct {
	Control  *control.Control
	Searcher *search.Searcher
	Door     *access.Door
	// PublicURL is the gateway's address as people see it; its web pages may ask for mutations. Empty when it has none but the one
	// it listens on, which may always.
	PublicURL string
	// Stopping is closed when the gateway is about to stop: answers that go on, end. Nil means never.
	Stopping <-chan struct{}
	Log      *slog.Logger
}

// API answers requests. It keeps no truth: any gateway answers any request.
type API struct {
	options  Options
	routes   []route
	guard    *http.CrossOriginProtection
	openapi  []byte
	patterns *http.ServeMux
}

// Route is one address of the API, for the gateway to serve.
type Route struct {
	// Pattern is as http.ServeMux has it.
	Pattern string
	Handler http.Handler
}

// New makes the API. The error says that PublicURL is none.
func New(options Options) (*API, error) {
	a := &API{options: options, guard: http.NewCrossOriginProtection(), patterns: http.NewServeMux()}
	a.routes = a.table()
	for _, r := range a.routes {
		a.patterns.Handle(r.pattern(), http.NotFoundHandler())
	}
	if err := a.trust(options.PublicURL); err != nil {
		return nil, err
	}
	var err error
	a.openapi, err = document31(a.routes)
	return a, err
}

func (a *API) trust(publicURL string) error {
	if publicURL == "" {
		return nil
	}
	address, err := url.Parse(publicURL)
	if err != nil || address.Host == "" {
		return fmt.Errorf("the gateway's address %q is no URL", publicURL)
	}
	return a.guard.AddTrustedOrigin(address.Scheme + "://" + address.Host)
}

// Description gives the OpenAPI document.
func (a *API) Description() []byte { return slices.Clone(a.openapi) }

// Routes lists everything that is answered below Prefix, what isn't there included.
func (a *API) Routes() []Route {
	routes := make([]Route, len(a.routes), len(a.routes)+1)
	for i, r := range a.routes {
		routes[i] = Route{Pattern: r.pattern(), Handler: a.handler(r)}
	}
	return append(routes, Route{Pattern: Prefix + "/", Handler: http.HandlerFunc(a.unknown)})
}

// handler puts the checks in front of a route.
func (a *API) handler(rt route) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if rt.stream == nil {
			ctx, cancel := context.WithTimeout(r.Context(), patience)
			defer cancel()
			r = r.WithContext(ctx)
		}
		c, err := a.admit(w, r, rt)
		switch {
		case err != nil:
			a.fail(w, r, err)
		case rt.stream != nil:
			if err := rt.stream(c, w); err != nil {
				a.fail(w, r, err)
			}
		default:
			a.answer(w, c, rt) //nolint:contextcheck // a call has a context of its own
		}
	})
}

func (a *API) answer(w http.ResponseWriter, c *call, rt route) {
	do := rt.do
	if rt.mutates() {
		do = a.once(do)
	}
	answer, err := do(c)
	if err == nil {
		err = answer.send(w, c.r)
	}
	if err != nil {
		a.fail(w, c.r, err)
	}
}

// admit finds out who asks for what, and whether it may.
func (a *API) admit(w http.ResponseWriter, r *http.Request, rt route) (*call, error) {
	if err := a.guard.Check(r); err != nil {
		return nil, &Problem{Status: http.StatusForbidden, Code: "cross_origin", Detail: "A web page of another origin asked for this."}
	}
	c := &call{r: r, route: rt}
	if rt.least > access.Anyone {
		var err error
		if c.who, err = a.options.Door.Principal(r); err != nil {
			return nil, err
		}
		if err := mayUse(c.who, rt, r.PathValue("folder")); err != nil {
			return nil, err
		}
	}
	err := c.read(w)
	return c, err
}

// mayUse is the one place where roles and scopes are looked at. What a handler shows of several folders it filters itself.
func mayUse(who access.Principal, rt route, folder string) error {
	switch {
	case who.Role < rt.least:
		return &Problem{
			Status: http.StatusForbidden, Code: "role",
			Detail: fmt.Sprintf("This needs the role %s; %s has the role %s.", rt.least, who.Name, who.Role),
		}
	case !who.Scoped():
		return nil
	case rt.reach == wholeDeployment:
		return &Problem{
			Status: http.StatusForbidden, Code: "folder_scope",
			Detail: fmt.Sprintf("This is about the whole deployment; %s is for some folders only.", who.Name),
		}
	case rt.reach == oneFolder && !who.Sees(folder):
		return control.UnknownFolder(folder)
	}
	return nil
}

// unknown answers for addresses that lead nowhere, and for known ones with another method.
func (a *API) unknown(w http.ResponseWriter, r *http.Request) {
	var allowed []string
	for _, method := range []string{http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPatch, http.MethodDelete} {
		if _, pattern := a.patterns.Handler(&http.Request{Method: method, URL: r.URL, Host: r.Host}); pattern != "" {
			allowed = append(allowed, method)
		}
	}
	if len(allowed) == 0 || slices.Contains(allowed, r.Method) {
		a.fail(w, r, &Problem{
			Status: http.StatusNotFound, Code: "address_unknown", Detail: "There is nothing at this address: " + Prefix + "/openapi.json lists what there is.",
		})
		return
	}
	w.Header().Set("Allow", strings.Join(allowed, ", "))
	a.fail(w, r, &Problem{Status: http.StatusMethodNotAllowed, Code: "method", Detail: "This address takes " + strings.Join(allowed, ", ") + "."})
}
