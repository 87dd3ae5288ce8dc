package sourcetest

import (
	"context"
	"errors"
	"maps"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/loresync/loresync/internal/source"
)

// Notes keeps what listings tell of pages in memory, for tests that need no more. It serves listings as source.Notes and reads by
// Take. The zero value is empty.
type Notes struct {
	mu   sync.Mutex
	kept map[string][]byte
}

var _ source.Notes = (*Notes)(nil)

// Keep keeps notes.
func (n *Notes) Keep(_ context.Context, notes map[string][]byte) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.kept == nil {
		n.kept = map[string][]byte{}
	}
	maps.Copy(n.kept, notes)
	return nil
}

// Drop drops the notes on some pages.
func (n *Notes) Drop(_ context.Context, sourceIDs []string) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, id := range sourceIDs {
		delete(n.kept, id)
	}
	return nil
}

// Take gives the note on a page and drops it.
func (n *Notes) Take(_ context.Context, sourceID string) ([]byte, bool, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	note, found := n.kept[sourceID]
	delete(n.kept, sourceID)
	return note, found, nil
}

// Len is how many notes are kept.
func (n *Notes) Len() int {
	n.mu.Lock()
	defer n.mu.Unlock()
	return len(n.kept)
}

// Noting gives a root of which nothing is known, whose notes are kept here.
func (n *Notes) Noting(root source.Root) source.Root {
	root.Known = func(context.Context) (map[string]string, error) { return map[string]string{}, nil }
	root.Notes, root.Note = n, n.Take
	return root
}

// lostNotes fails at everything.
type lostNotes struct{ Notes }

var errNotes = errors.New("the notes are lost")

// Keep keeps nothing.
func (*lostNotes) Keep(context.Context, map[string][]byte) error { return errNotes }

// Take finds nothing.
func (*lostNotes) Take(context.Context, string) ([]byte, bool, error) { return nil, false, errNotes }

// rooted is a fixture with another root.
type rooted struct {
	Fixture

	root source.Root
}

// Root is the other root.
func (r rooted) Root() source.Root { return r.root }

func testNotes(t *testing.T, f Fixture) {
	var notes Notes
	first, second := f.Put("guides/first", "Text."), f.Put("guides/second", "More text.")
	noting := rooted{Fixture: f, root: notes.Noting(f.Root())}
	s := list(t, noting, "")
	for _, id := range []string{first, second} {
		requireListed(t, s.documents(), id)
		byNote, asked := fetch(t, noting, id), fetch(t, f, id)
		byNote.Raw, asked.Raw = nil, nil // which may differ at each read
		require.Equal(t, asked, byNote, "a note must say what a read finds")
	}
	_, found, err := notes.Take(t.Context(), first)
	require.NoError(t, err)
	require.False(t, found, "a note is taken once")
}

func testLostNotes(t *testing.T, f Fixture) {
	var lost lostNotes
	id := f.Put("guides/first", "Text.")
	root := lost.Noting(f.Root())
	root.Notes = &lost
	garbage := func(context.Context, string) ([]byte, bool, error) { return []byte("\x00{"), true, nil }
	for _, root.Note = range []func(context.Context, string) ([]byte, bool, error){lost.Take, garbage} {
		without := rooted{Fixture: f, root: root}
		requireListed(t, list(t, without, "").documents(), id)
		got, want := fetch(t, without, id), fetch(t, f, id)
		got.Raw, want.Raw = nil, nil
		require.Equal(t, want, got)
	}
}
