package notiontest

import (
	"context"
	"slices"
	"sync"
)

// Match chooses requests; nil chooses all of the API.
type Match func(Request) bool

// OfKind chooses the requests of some kinds.
func OfKind(kinds ...Kind) Match {
	return func(r Request) bool { return slices.Contains(kinds, r.Kind) }
}

// About chooses the requests that are about some objects, by their ids.
func About(ids ...string) Match {
	return func(r Request) bool { return slices.Contains(ids, r.ID) }
}

// Both chooses what all of some others choose.
func Both(matches ...Match) Match {
	return func(r Request) bool {
		return !slices.ContainsFunc(matches, func(m Match) bool { return !m.chooses(r) })
	}
}

func (m Match) chooses(r Request) bool { return m == nil || m(r) }

// Held are requests that a gate keeps from being answered.
type Held struct {
	gate  *gate
	match Match
	// arrived is how many requests came to the gate while it was shut; waiting how many of them still wait.
	arrived, waiting int
	open             bool
}

// gate keeps chosen requests waiting, after they were logged and counted against the limit.
type gate struct {
	mu      sync.Mutex
	changed chan struct{}
	held    []*Held
}

func newGate() *gate { return &gate{changed: make(chan struct{})} }

// Hold keeps the requests that match from being answered until Release. They are answered with what is true by then.
func (s *Server) Hold(match Match) *Held {
	h := &Held{gate: s.gate, match: match}
	s.gate.change(func() { s.gate.held = append(s.gate.held, h) })
	return h
}

// Release answers what is held, and holds nothing more.
func (h *Held) Release() {
	h.gate.change(func() {
		h.open = true
		h.gate.held = slices.DeleteFunc(h.gate.held, func(other *Held) bool { return other == h })
	})
}

// Waiting is how many requests are held now.
func (h *Held) Waiting() int {
	h.gate.mu.Lock()
	defer h.gate.mu.Unlock()
	return h.waiting
}

// Await waits until at least n requests have come to be held, those that have gone since included.
func (h *Held) Await(ctx context.Context, n int) error {
	return h.gate.await(ctx, func() bool { return h.arrived >= n })
}

// pass waits while a request is held by anyone.
func (g *gate) pass(ctx context.Context, r Request) error {
	for {
		h := g.holding(r)
		if h == nil {
			return nil
		}
		err := g.await(ctx, func() bool { return h.open })
		g.change(func() { h.waiting-- })
		if err != nil {
			return err
		}
	}
}

// holding gives who holds a request, and counts it there.
func (g *gate) holding(r Request) *Held {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, h := range g.held {
		if h.match.chooses(r) {
			h.arrived++
			h.waiting++
			g.wake()
			return h
		}
	}
	return nil
}

// open lets everything go.
func (g *gate) open() {
	g.change(func() {
		for _, h := range g.held {
			h.open = true
		}
		g.held = nil
	})
}

func (g *gate) change(alter func()) {
	g.mu.Lock()
	defer g.mu.Unlock()
	alter()
	g.wake()
}

// wake lets all who wait look again. The lock is held.
func (g *gate) wake() {
	close(g.changed)
	g.changed = make(chan struct{})
}

// await waits until a condition holds, which is looked at under the lock after every change.
func (g *gate) await(ctx context.Context, holds func() bool) error {
	for {
		g.mu.Lock()
		done, changed := holds(), g.changed
		g.mu.Unlock()
		if done {
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}
