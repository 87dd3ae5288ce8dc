package gdrive

import (
	"cmp"
	"context"
	"encoding/json"

	"github.com/loresync/loresync/internal/source"
)

// List enumerates everything below the root, parents first. Resumed, it goes down again and leaves out what comes before its cursor;
// the change logs' tokens stay those of its beginning, which the cursor bears.
func (s *Source) List(ctx context.Context, root source.Root, after string, yield func(source.Batch) error) (source.Listed, error) {
	top, listed, err := s.top(ctx, root, fresh)
	if err != nil || listed.Verdict != "" {
		return listed, failure(err)
	}
	from := parseCursor(after)
	logs, err := s.begin(ctx, top, from.Logs)
	if notFound(err) || withheld(err) {
		// The log of a shared drive goes before its folder does.
		return source.Listed{Verdict: source.VerdictRootMissing, Sentence: sayRootMissing}, nil
	}
	if err != nil {
		return source.Listed{}, failure(err)
	}
	noting, err := notes(ctx, root)
	if err != nil {
		return source.Listed{}, err
	}
	w := s.sweep(top, logs, noting)
	out := &batches{size: s.batchSize, from: from, logs: logs, notes: root.Notes, yield: yield}
	w.take = func(ctx context.Context, at placed) error {
		entry := at.entry(root.Limits)
		var said []byte
		if noting {
			said = s.note(at, entry)
		}
		return out.add(ctx, w.phase, at.depth, entry, said)
	}
	err = w.down(ctx, []placed{top})
	if err == nil {
		err = w.follow(ctx)
	}
	if err == nil {
		err = out.end(ctx)
	}
	switch {
	case out.refused != nil:
		return source.Listed{}, out.refused
	case err != nil:
		return source.Listed{}, failure(err)
	}
	return w.listed(), nil
}

// notes tells whether a listing notes what the reads need: where nothing is known of the folder yet, so that all is read.
func notes(ctx context.Context, root source.Root) (bool, error) {
	if root.Known == nil || root.Notes == nil {
		return false, nil
	}
	known, err := root.Known(ctx)
	return err == nil && len(known) == 0, err
}

// cursor is the place behind which a listing goes on.
type cursor struct {
	Phase int        `json:"phase,omitempty"`
	Depth int        `json:"depth"`
	ID    string     `json:"id"`
	Logs  checkpoint `json:"logs,omitempty"`
}

// parseCursor reads a cursor. One that can't be read lists from the start, which costs requests and nothing else.
func parseCursor(said string) cursor {
	var c cursor
	if said == "" || json.Unmarshal([]byte(said), &c) != nil {
		return cursor{}
	}
	return c
}

func (c cursor) compare(other cursor) int {
	if c.Phase == lastPhase && other.Phase == lastPhase {
		return cmp.Compare(c.ID, other.ID)
	}
	return cmp.Or(cmp.Compare(c.Phase, other.Phase), cmp.Compare(c.Depth, other.Depth), cmp.Compare(c.ID, other.ID))
}

// batches cuts a listing into batches. A full one waits until it is known not to be the last, which has no cursor.
type batches struct {
	size    int
	from    cursor
	logs    checkpoint
	notes   source.Notes
	yield   func(source.Batch) error
	pending []source.Entry
	last    cursor
	// noted are the notes on what is pending, and count is how many there were.
	noted map[string][]byte
	count int
	// refused is why a batch wasn't taken.
	refused error
}

func (b *batches) add(ctx context.Context, phase, depth int, e source.Entry, note []byte) error {
	at := cursor{Phase: phase, Depth: depth, ID: e.SourceID}
	if b.from.ID != "" && at.compare(b.from) <= 0 {
		return nil
	}
	if len(b.pending) >= b.size {
		next := b.last
		next.Logs = b.logs
		said, err := json.Marshal(next)
		if err != nil {
			return err
		}
		if err := b.flush(ctx, string(said)); err != nil {
			return err
		}
	}
	b.pending, b.last = append(b.pending, e), at
	if note != nil && b.count < maxNotes {
		if b.noted == nil {
			b.noted = map[string][]byte{}
		}
		b.noted[e.SourceID] = note
		b.count++
	}
	return nil
}

func (b *batches) end(ctx context.Context) error {
	if len(b.pending) == 0 {
		return ctx.Err()
	}
	return b.flush(ctx, "")
}

func (b *batches) flush(ctx context.Context, next string) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if len(b.noted) > 0 {
		_ = b.notes.Keep(ctx, b.noted) // without them the reads ask
		b.noted = nil
	}
	b.refused = b.yield(source.Batch{Entries: b.pending, Returned: len(b.pending), Cursor: next})
	b.pending = nil
	return b.refused
}
