package sourcetest

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/loresync/loresync/internal/source"
)

// fill puts pages at several depths, enough for several batches, and gives their ids.
func fill(f Fixture) []string {
	var ids []string
	for i := range 12 {
		ids = append(ids, f.Put(fmt.Sprintf("page %02d", i), fmt.Sprintf("text of page %d", i)))
	}
	for i := range 9 {
		ids = append(ids,
			f.Put(fmt.Sprintf("guides/part %d/first", i), fmt.Sprintf("the first of part %d", i)),
			f.Put(fmt.Sprintf("guides/part %d/second", i), fmt.Sprintf("the second of part %d", i)))
	}
	return append(ids, f.Put("guides/index", "what there is"), f.Put("zebra/deep/deeper/deepest", "far down"))
}

func testEmptyRoot(t *testing.T, f Fixture) {
	require.Empty(t, listAll(t, f).entries)
}

func testWholeListing(t *testing.T, f Fixture) {
	ids := fill(f)
	documents := listAll(t, f).documents()
	require.Len(t, documents, len(ids))
	for _, id := range ids {
		requireListed(t, documents, id)
		require.NotEmpty(t, documents[id].Title)
	}
}

func testParentsFirst(t *testing.T, f Fixture) {
	fill(f)
	seen := map[string]bool{"": true}
	below := 0
	for _, e := range listAll(t, f).entries {
		require.True(t, seen[e.ParentSourceID], "%q was listed before its parent %q", e.SourceID, e.ParentSourceID)
		seen[e.SourceID] = true
		if e.ParentSourceID != "" {
			below++
		}
	}
	require.Positive(t, below, "pages in containers must have a parent")
}

func testResume(t *testing.T, f Fixture) {
	fill(f)
	whole := listAll(t, f)
	require.Greater(t, len(whole.batches), 2, "a fixture's batches must be small")
	seen := 0
	for _, b := range whole.batches[:len(whole.batches)-1] {
		seen += len(b.Entries)
		rest := list(t, f, b.Cursor)
		require.Equal(t, source.VerdictComplete, rest.listed.Verdict)
		require.Equal(t, whole.ids()[seen:], rest.ids(), "resumed after %q", b.Cursor)
	}
}

func testRefusedBatch(t *testing.T, f Fixture) {
	fill(f)
	refusal := errors.New("no more")
	yielded := 0
	_, err := f.Source().List(t.Context(), f.Root(), "", func(source.Batch) error {
		yielded++
		return refusal
	})
	require.Equal(t, refusal, err, "the error must come back as it is")
	require.Equal(t, 1, yielded)
}

func testCancelledList(t *testing.T, f Fixture) {
	fill(f)
	requireCancelled(t, func(ctx context.Context) error {
		_, err := f.Source().List(ctx, f.Root(), "", func(source.Batch) error { return nil })
		return err
	})
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	yielded := 0
	_, err := f.Source().List(ctx, f.Root(), "", func(source.Batch) error {
		yielded++
		cancel()
		return nil
	})
	require.ErrorIs(t, err, context.Canceled)
	require.Equal(t, 1, yielded, "a listing must not go on after its context has ended")
}

func testVersions(t *testing.T, f Fixture) {
	edited := f.Put("edited", "before")
	kept := f.Put("kept", "always the same")
	first := listAll(t, f).documents()
	passTime(f)
	second := listAll(t, f).documents()
	require.NotEmpty(t, first[edited].Version)
	require.Equal(t, first[edited].Version, second[edited].Version)
	require.Equal(t, first[edited].EditedAt, second[edited].EditedAt)

	require.Equal(t, edited, f.Put("edited", "after, and longer than before"))
	third := listAll(t, f).documents()
	require.NotEqual(t, first[edited].Version, third[edited].Version)
	require.Equal(t, first[kept].Version, third[kept].Version)
}

func testMissingRoot(t *testing.T, f Fixture) {
	mover, ok := f.(RootMover)
	require.True(t, ok)
	id := f.Put("guides/first", "text")
	mover.MoveRootAway()
	missing := list(t, f, "")
	require.Contains(t, []source.Verdict{source.VerdictRootMissing, source.VerdictRootUnreadable}, missing.listed.Verdict)
	require.Empty(t, missing.entries)
	require.Equal(t, source.PresenceUnknown, presence(t, f, id))
	var failure *source.Failure
	require.ErrorAs(t, f.Source().Check(t.Context(), f.Root()), &failure)
	require.NotEmpty(t, failure.Sentence)
	_, err := f.Source().Fetch(t.Context(), f.Root(), id)
	requireFailure(t, err, source.ClassUnavailable)

	mover.MoveRootBack()
	requireListed(t, listAll(t, f).documents(), id)
	require.Equal(t, source.PresenceAlive, presence(t, f, id))
	require.NoError(t, f.Source().Check(t.Context(), f.Root()))
}

func testUnreadablePart(t *testing.T, f Fixture) {
	breaker, ok := f.(Breaker)
	require.True(t, ok)
	ids := fill(f)
	closed := f.Put("closed/secret", "text")
	breaker.Break("closed")
	broken := list(t, f, "")
	require.Equal(t, source.VerdictPartUnreadable, broken.listed.Verdict)
	requireNotListed(t, broken.documents(), closed)
	for _, id := range ids {
		requireListed(t, broken.documents(), id)
	}
	require.Equal(t, source.PresenceUnknown, presence(t, f, closed))
	for _, b := range broken.batches[:len(broken.batches)-1] {
		require.Equal(t, source.VerdictPartUnreadable, list(t, f, b.Cursor).listed.Verdict, "resumed after %q", b.Cursor)
	}
	breaker.Heal("closed")
	requireListed(t, listAll(t, f).documents(), closed)
}
