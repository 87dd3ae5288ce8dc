package drivetest

import (
	"context"
	"slices"
	"sync"
)

// Match chooses requests; nil chooses all.
type Match func(Request) bool

// OfKind chooses the requests of some kinds.
func OfKind(kinds ...Kind) Match {
	return func(r Request) bool { return slices.Contains(kinds, r.Kind) }
}

// About chooses the requests that are about some files or shared drives, by their ids.
func About(ids ...string) Match {
	return func(r Request) bool { return slices.Contains(ids, r.ID) }
}

// By chooses the requests of a user.
func By(email string) Match {
	return func(r Request) bool { return r.User == email }
}

// Both chooses what all of some others choose.
func Both(matches ...Match) Match {
	return func(r Request) bool {
		return !slices.ContainsFunc(matches, func(m Match) bool { return !m.chooses(r) })
	}
}

func (m Match) chooses(r Request) bool { return m == nil || m(r) }

// Held are requests that are kept from being answered.
type Held struct {
	gate  *gate
	match Match
	// released is closed when they are let go.
	released chan struct{}
	// arrived counts the requests that came, waiting those that still wait.
	arrived, waiting int
}

// gate keeps chosen requests waiting, after they were logged and counted against the limit.
type gate struct {
	mu      sync.Mutex
	held    []*Held
	changed chan struct{}
}

func newGate() *gate { return &gate{changed: make(chan struct{})} }

// Hold keeps the requests that match from being answered until Release. They are answered with what is true by then.
func (s *Server) Hold(match Match) *Held {
	h := &Held{gate: s.gate, match: match, released: make(chan struct{})}
	s.gate.mu.Lock()
	defer s.gate.mu.Unlock()
	s.gate.held = append(s.gate.held, h)
	return h
}

// Release answers what is held, and holds nothing more.
func (h *Held) Release() {
	h.gate.mu.Lock()
	defer h.gate.mu.Unlock()
	if i := slices.Index(h.gate.held, h); i >= 0 {
		h.gate.held = slices.Delete(h.gate.held, i, i+1)
		close(h.released)
	}
}

// Waiting is how many requests are held now.
func (h *Held) Waiting() int {
	h.gate.mu.Lock()
	defer h.gate.mu.Unlock()
	return h.waiting
}

// Await waits until at least n requests have come to be held, those that have gone since included.
func (h *Held) Await(ctx context.Context, n int) error {
	for {
		h.gate.mu.Lock()
		arrived, changed := h.arrived, h.gate.changed
		h.gate.mu.Unlock()
		if arrived >= n {
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// pass waits while a request is held by anyone.
func (g *gate) pass(ctx context.Context, r Request) error {
	for h := g.stop(r); h != nil; h = g.stop(r) {
		var err error
		select {
		case <-h.released:
		case <-ctx.Done():
			err = ctx.Err()
		}
		g.mu.Lock()
		h.waiting--
		g.mu.Unlock()
		if err != nil {
			return err
		}
	}
	return nil
}

// stop gives who holds a request, and counts it there.
func (g *gate) stop(r Request) *Held {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, h := range g.held {
		if !h.match.chooses(r) {
			continue
		}
		h.arrived++
		h.waiting++
		close(g.changed)
		g.changed = make(chan struct{})
		return h
	}
	return nil
}

// open lets everything go.
func (g *gate) open() {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, h := range g.held {
		close(h.released)
	}
	g.held = nil
}
