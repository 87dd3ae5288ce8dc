package sourcetest

import (
	"context"
	"sync"

	"github.com/loresync/loresync/internal/source"
)

// Gate wraps a source so that a test decides when reads go on, and counts them. Everything but Fetch passes through.
//
// A held Fetch waits before it reads, so that it sees what the page says once the gate opens; HoldLate holds it with what it
// has already read, as a worker that was stopped in the middle would.
type Gate struct {
	inner source.Source

	mu           sync.Mutex
	changed      chan struct{}
	holds        map[string]hold
	all          hold
	ignoreCancel bool
	begun        map[string]int
	read         map[string]int
	finished     map[string]int
}

type hold struct{ early, late bool }

// NewGate gives an open gate around a source.
func NewGate(inner source.Source) *Gate {
	return &Gate{
		inner: inner, changed: make(chan struct{}), holds: make(map[string]hold),
		begun: make(map[string]int), read: make(map[string]int), finished: make(map[string]int),
	}
}

// Source is the wrapped source. It is a Fingerprinter and a ChangeFeed if the inner one is.
func (g *Gate) Source() source.Source {
	return wrap(&gated{Source: g.inner, gate: g}, g.inner, innerFingerprint(g.inner))
}

// Hold keeps reads of these pages, or of every page when none is named, from beginning until Open.
func (g *Gate) Hold(ids ...string) { g.set(hold{early: true}, ids) }

// HoldLate lets reads of these pages, or of every page when none is named, read but not return until Open.
func (g *Gate) HoldLate(ids ...string) { g.set(hold{late: true}, ids) }

// Open lets reads of these pages go on; of every page when none is named.
func (g *Gate) Open(ids ...string) {
	g.change(func() {
		if len(ids) == 0 {
			g.all = hold{}
			clear(g.holds)
			return
		}
		for _, id := range ids {
			g.holds[id] = hold{}
		}
	})
}

// IgnoreCancel makes held reads wait for Open even when their context has ended, as code that doesn't look would.
func (g *Gate) IgnoreCancel(ignore bool) {
	g.change(func() { g.ignoreCancel = ignore })
}

// Begun is how many reads of a page were asked for; of all pages for "".
func (g *Gate) Begun(id string) int { return g.count(g.begun, id) }

// Finished is how many reads of a page came back, whatever their outcome; of all pages for "".
func (g *Gate) Finished(id string) int { return g.count(g.finished, id) }

// AwaitBegun waits until at least n reads of a page, or of all pages for "", have been asked for.
func (g *Gate) AwaitBegun(ctx context.Context, id string, n int) error {
	return g.await(ctx, func() bool { return total(g.begun, id) >= n })
}

// AwaitRead waits until at least n reads of a page, or of all pages for "", have seen what the page says, held late or not.
func (g *Gate) AwaitRead(ctx context.Context, id string, n int) error {
	return g.await(ctx, func() bool { return total(g.read, id) >= n })
}

// Read is how many reads of a page have seen what it says; of all pages for "".
func (g *Gate) Read(id string) int { return g.count(g.read, id) }

// AwaitFinished waits until at least n reads of a page, or of all pages for "", have come back.
func (g *Gate) AwaitFinished(ctx context.Context, id string, n int) error {
	return g.await(ctx, func() bool { return total(g.finished, id) >= n })
}

func (g *Gate) set(h hold, ids []string) {
	g.change(func() {
		if len(ids) == 0 {
			g.all = h
			clear(g.holds)
		}
		for _, id := range ids {
			g.holds[id] = h
		}
	})
}

// change alters the gate and wakes all who wait on it.
func (g *Gate) change(alter func()) {
	g.mu.Lock()
	defer g.mu.Unlock()
	alter()
	close(g.changed)
	g.changed = make(chan struct{})
}

// await waits until a condition holds, which is looked at under the lock after every change.
func (g *Gate) await(ctx context.Context, holds func() bool) error {
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

func (g *Gate) count(counts map[string]int, id string) int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return total(counts, id)
}

func total(counts map[string]int, id string) int {
	if id != "" {
		return counts[id]
	}
	sum := 0
	for _, n := range counts {
		sum += n
	}
	return sum
}

// pass waits while the page is held in the way that held looks for.
func (g *Gate) pass(ctx context.Context, id string, held func(hold) bool) error {
	g.mu.Lock()
	if g.ignoreCancel {
		ctx = context.WithoutCancel(ctx)
	}
	g.mu.Unlock()
	return g.await(ctx, func() bool {
		h, named := g.holds[id]
		if !named {
			h = g.all
		}
		return !held(h)
	})
}

// gated is the source that a Gate gives out.
type gated struct {
	source.Source
	gate *Gate
}

// Fetch counts, waits and reads.
func (s *gated) Fetch(ctx context.Context, root source.Root, sourceID string) (source.Page, error) {
	g := s.gate
	g.change(func() { g.begun[sourceID]++ })
	defer g.change(func() { g.finished[sourceID]++ })
	if err := g.pass(ctx, sourceID, func(h hold) bool { return h.early }); err != nil {
		return source.Page{}, err
	}
	page, err := s.Source.Fetch(ctx, root, sourceID)
	g.change(func() { g.read[sourceID]++ })
	if late := g.pass(ctx, sourceID, func(h hold) bool { return h.late }); late != nil {
		return source.Page{}, late
	}
	return page, err
}
