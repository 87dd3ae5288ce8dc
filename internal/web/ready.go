package web

import (
	"context"
	"log/slog"
	"net/http"
	"sync"
	"time"
)

// Check is one thing that a ready gateway needs.
type Check struct {
	// Name is the key in the answer: postgres, schema, temporal.
	Name string
	// Advice is what the answer says when it fails. The error itself goes to the log alone: it may name an address.
	Advice string
	Run    func(ctx context.Context) error
}

const (
	// checkPatience bounds all checks: a load balancer rarely waits longer.
	checkPatience = 3 * time.Second
	// checkPause is how long an answer stands. Readiness is open to everyone, and nobody can make it ask Postgres more often.
	checkPause = time.Second
)

// part is the answer of one check.
type part struct {
	OK     bool   `json:"ok"`
	Detail string `json:"detail"`
}

// readyAnswer is the body of /readyz.
type readyAnswer struct {
	Ready bool            `json:"ready"`
	Parts map[string]part `json:"parts"`
}

// readiness runs the checks, at most once in a while, and for all who ask meanwhile.
type readiness struct {
	checks []Check
	now    func() time.Time
	log    *slog.Logger

	mu    sync.Mutex
	last  readyAnswer
	until time.Time
}

// ready answers 200 when everything is there that a request needs, and 503 with what isn't.
func (s *server) ready(w http.ResponseWriter, r *http.Request) {
	answer := s.readiness.ask(r.Context())
	status := http.StatusOK
	if !answer.Ready {
		status = http.StatusServiceUnavailable
	}
	writeJSON(w, status, answer)
}

func (c *readiness) ask(ctx context.Context) readyAnswer {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.now().Before(c.until) {
		return c.last
	}
	// The answer is for others too, so a caller that hangs up doesn't spoil it.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), checkPatience)
	defer cancel()
	answer := c.run(ctx)
	if answer.Ready != c.last.Ready {
		c.log.InfoContext(ctx, "readiness changed", "ready", answer.Ready)
	}
	c.last, c.until = answer, c.now().Add(checkPause)
	return answer
}

// run makes all checks at once.
func (c *readiness) run(ctx context.Context) readyAnswer {
	parts := make([]part, len(c.checks))
	var running sync.WaitGroup
	for i, check := range c.checks {
		running.Go(func() { parts[i] = c.try(ctx, check) })
	}
	running.Wait()
	answer := readyAnswer{Ready: true, Parts: make(map[string]part, len(parts))}
	for i, check := range c.checks {
		answer.Parts[check.Name] = parts[i]
		answer.Ready = answer.Ready && parts[i].OK
	}
	return answer
}

func (c *readiness) try(ctx context.Context, check Check) part {
	if err := check.Run(ctx); err != nil {
		c.log.WarnContext(ctx, "readiness check failed", "check", check.Name, "error", err)
		return part{Detail: check.Advice}
	}
	return part{OK: true, Detail: "ok"}
}
