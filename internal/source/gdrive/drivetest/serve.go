package drivetest

import (
	"net/http"
	"net/url"
	"strconv"
)

// ServeHTTP answers one request: it is logged, counted against the limit, held by a gate, hit by a fault, or answered.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) { s.mux.ServeHTTP(w, r) }

func (s *Server) endpoint(to route) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		req := s.inspect(r, to)
		noted := s.log.begin(req)
		watched := &watched{ResponseWriter: w}
		defer func() { s.log.end(noted, watched.status) }()
		to := to
		to.kind = req.Kind
		s.pass(watched, r, req, func(w http.ResponseWriter, r *http.Request) { s.serve(w, r, to) })
	}
}

// pass lets a request through the limit, the gate and the faults.
func (s *Server) pass(w http.ResponseWriter, r *http.Request, req Request, next http.HandlerFunc) {
	if req.Kind != KindToken {
		if err := s.limiter.take(req.User); err != nil {
			fail(w, err)
			return
		}
	}
	if s.gate.pass(r.Context(), req) != nil {
		return
	}
	if effect := s.faults.next(req); effect != nil {
		effect(w, r, next)
		return
	}
	next(w, r)
}

// serve is Drive itself.
func (s *Server) serve(w http.ResponseWriter, r *http.Request, to route) {
	if to.kind == KindToken {
		s.oauth.serve(w, r, s)
		return
	}
	email, err := s.oauth.bearer(r)
	if err != nil {
		fail(w, err)
		return
	}
	a, err := s.ask(r, to, email)
	switch {
	case err != nil:
		fail(w, err)
	case a.empty:
		w.WriteHeader(http.StatusNoContent)
	case a.object != nil:
		write(w, http.StatusOK, a.object)
	default:
		a.send(w, r)
	}
}

// ask answers from a Drive that stands still meanwhile.
func (s *Server) ask(r *http.Request, to route, email string) (answer, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return to.answer(&call{view: s.viewOf(email), r: r, kind: to.kind, keys: resourceKeys(r)})
}

// flag reads a parameter that is true or false.
func (c *call) flag(name string) (bool, error) {
	switch value := c.query().Get(name); value {
	case "":
		return name == "includeRemoved", nil
	case "true", "false":
		return value == "true", nil
	default:
		return false, invalid("Invalid value for: %s is not a valid value", name)
	}
}

// pageSize reads how many results are wanted: between 1 and a bound.
func (c *call) pageSize(otherwise, most int) (int, error) {
	text := c.query().Get("pageSize")
	if text == "" {
		return otherwise, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 || n > most {
		return 0, invalid("Invalid value '%s'. Values must be within the range: [1, %d]", text, most)
	}
	return n, nil
}

func (c *call) query() url.Values { return c.r.URL.Query() }

// watched remembers the status of an answer.
type watched struct {
	http.ResponseWriter
	status int
}

// WriteHeader remembers the status.
func (w *watched) WriteHeader(status int) {
	if w.status == 0 {
		w.status = status
	}
	w.ResponseWriter.WriteHeader(status)
}

// Unwrap lets a ResponseController reach the connection.
func (w *watched) Unwrap() http.ResponseWriter { return w.ResponseWriter }
