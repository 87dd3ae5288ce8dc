package sourcetest

import (
	"context"
	"sync"

	"github.com/loresync/loresync/internal/source"
)

// Op is a call of a source that Faulty can make fail.
type Op string

// The calls, by their methods' names.
const (
	OpCheck       Op = "Check"
	OpList        Op = "List"
	OpFetch       Op = "Fetch"
	OpPresence    Op = "Presence"
	OpFingerprint Op = "Fingerprint"
)

// Always is a number of calls that no test gets through.
const Always = 1 << 30

// Faulty wraps a source so that chosen calls fail, and counts them. Calls without a fault pass through.
type Faulty struct {
	inner source.Source

	mu       sync.Mutex
	faults   []*fault
	verdicts []*verdict
	calls    map[call]int
}

// call names a kind of call; id is empty for those that are not about one page, and for all pages.
type call struct {
	op Op
	id string
}

type fault struct {
	call call
	left int
	err  error
}

type verdict struct {
	left   int
	listed source.Listed
}

// NewFaulty gives a wrapper without a fault.
func NewFaulty(inner source.Source) *Faulty {
	return &Faulty{inner: inner, calls: make(map[call]int)}
}

// Source is the wrapped source. It is a Fingerprinter and a ChangeFeed if the inner one is.
func (f *Faulty) Source() source.Source {
	return wrap(&faulted{Source: f.inner, faulty: f}, f.inner, f.fingerprint)
}

// Fail makes the next n calls about a page fail with an error; about any page when id is empty. Faults are used up in the
// order in which they were set.
func (f *Faulty) Fail(op Op, id string, n int, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.faults = append(f.faults, &fault{call: call{op, id}, left: n, err: err})
}

// EndListings makes the next n listings end with this instead of their own verdict, after all their batches.
func (f *Faulty) EndListings(n int, listed source.Listed) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.verdicts = append(f.verdicts, &verdict{left: n, listed: listed})
}

// Heal takes all faults away.
func (f *Faulty) Heal() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.faults, f.verdicts = nil, nil
}

// Calls is how often a page was asked for, failed calls included; any page when id is empty.
func (f *Faulty) Calls(op Op, id string) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.calls[call{op, id}]
}

// next counts a call and gives the error it must fail with, if any.
func (f *Faulty) next(op Op, id string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.calls[call{op, ""}]++
	if id != "" {
		f.calls[call{op, id}]++
	}
	for _, fault := range f.faults {
		if fault.left > 0 && fault.call.op == op && (fault.call.id == "" || fault.call.id == id) {
			fault.left--
			return fault.err
		}
	}
	return nil
}

func (f *Faulty) ending(listed source.Listed) source.Listed {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, v := range f.verdicts {
		if v.left > 0 {
			v.left--
			return v.listed
		}
	}
	return listed
}

func (f *Faulty) fingerprint(ctx context.Context, root source.Root, sourceID string) ([]byte, error) {
	if err := f.next(OpFingerprint, sourceID); err != nil {
		return nil, err
	}
	return innerFingerprint(f.inner)(ctx, root, sourceID)
}

// faulted is the source that a Faulty gives out.
type faulted struct {
	source.Source
	faulty *Faulty
}

// Check fails if it is told to.
func (s *faulted) Check(ctx context.Context, root source.Root) error {
	if err := s.faulty.next(OpCheck, ""); err != nil {
		return err
	}
	return s.Source.Check(ctx, root)
}

// List fails before the first batch if it is told to, and may end with another verdict.
func (s *faulted) List(
	ctx context.Context, root source.Root, cursor string, yield func(source.Batch) error,
) (source.Listed, error) {
	if err := s.faulty.next(OpList, ""); err != nil {
		return source.Listed{}, err
	}
	listed, err := s.Source.List(ctx, root, cursor, yield)
	if err != nil {
		return listed, err
	}
	return s.faulty.ending(listed), nil
}

// Fetch fails if it is told to.
func (s *faulted) Fetch(ctx context.Context, root source.Root, sourceID string) (source.Page, error) {
	if err := s.faulty.next(OpFetch, sourceID); err != nil {
		return source.Page{}, err
	}
	return s.Source.Fetch(ctx, root, sourceID)
}

// Presence fails if it is told to.
func (s *faulted) Presence(ctx context.Context, root source.Root, sourceID string) (source.Presence, error) {
	if err := s.faulty.next(OpPresence, sourceID); err != nil {
		return source.PresenceUnknown, err
	}
	return s.Source.Presence(ctx, root, sourceID)
}
