package sourcetest

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"github.com/loresync/loresync/internal/source"
)

func testTraits(t *testing.T, f Fixture) {
	traits := f.Source().Traits()
	require.NotEmpty(t, f.Source().Name())
	require.Positive(t, traits.EditGranularity)
	_, feeds := f.Source().(source.ChangeFeed)
	require.Equal(t, traits.Incremental, feeds, "a source is incremental if it has a change feed")
	if !traits.StableIDs {
		_, fingerprints := f.Source().(source.Fingerprinter)
		require.True(t, fingerprints, "without stable ids, moves are recognised by fingerprints")
	}
}

func testCheck(t *testing.T, f Fixture) {
	require.NoError(t, f.Source().Check(t.Context(), f.Root()))
	requireCancelled(t, func(ctx context.Context) error { return f.Source().Check(ctx, f.Root()) })
}

func testFetch(t *testing.T, f Fixture) {
	const body = "A paragraph with \"quotes\", 日本語 and 🦉."
	id := f.Put("guides/first steps", body)
	page := fetch(t, f, id)
	require.Contains(t, text(page), body)
	require.NotEmpty(t, page.Format)
	require.NotEmpty(t, page.Raw)
	listed := listAll(t, f).documents()[id]
	page.Entry.FoundBy = listed.FoundBy // a read doesn't know how the page was found
	require.Equal(t, listed, page.Entry, "a page's entry must be the one that is listed")

	f.Put("guides/first steps", body+" And more.")
	require.Contains(t, text(fetch(t, f, id)), "And more.")
}

func testEmptyPage(t *testing.T, f Fixture) {
	id := f.Put("empty", "")
	requireListed(t, listAll(t, f).documents(), id)
	page := fetch(t, f, id)
	require.Nil(t, page.Entry.Skip)
	require.Nil(t, page.Fingerprint)
	if fp, ok := f.Source().(source.Fingerprinter); ok {
		sum, err := fp.Fingerprint(t.Context(), f.Root(), id)
		require.NoError(t, err)
		require.Nil(t, sum)
	}
}

func testVanished(t *testing.T, f Fixture) {
	kept := f.Put("kept", "text")
	id := f.Put("guides/lost", "text")
	f.Remove("guides/lost")
	_, err := f.Source().Fetch(t.Context(), f.Root(), id)
	requireFailure(t, err, source.ClassNotFound)
	documents := listAll(t, f).documents()
	requireNotListed(t, documents, id)
	requireListed(t, documents, kept)
}

func testCancelledFetch(t *testing.T, f Fixture) {
	id := f.Put("page", "text")
	requireCancelled(t, func(ctx context.Context) error {
		_, err := f.Source().Fetch(ctx, f.Root(), id)
		return err
	})
	requireCancelled(t, func(ctx context.Context) error {
		_, err := f.Source().Presence(ctx, f.Root(), id)
		return err
	})
}

func testConcurrency(t *testing.T, f Fixture) {
	ids := fill(f)
	group, ctx := errgroup.WithContext(t.Context())
	group.SetLimit(8)
	for i := range 100 {
		id := ids[i%len(ids)]
		group.Go(func() error {
			page, err := f.Source().Fetch(ctx, f.Root(), id)
			if err == nil && page.Entry.SourceID != id {
				err = fmt.Errorf("asked for %q, got %q", id, page.Entry.SourceID)
			}
			return err
		})
	}
	for range 4 {
		group.Go(func() error {
			listed, err := f.Source().List(ctx, f.Root(), "", func(source.Batch) error { return nil })
			if err == nil && listed.Verdict != source.VerdictComplete {
				err = fmt.Errorf("the verdict of a concurrent listing is %q: %s", listed.Verdict, listed.Sentence)
			}
			return err
		})
	}
	require.NoError(t, group.Wait())
}

func testPresence(t *testing.T, f Fixture) {
	f.Put("guides/kept", "text")
	id := f.Put("guides/page", "text")
	require.Equal(t, source.PresenceAlive, presence(t, f, id))
	for _, e := range listAll(t, f).entries {
		require.Equal(t, source.PresenceAlive, presence(t, f, e.SourceID), "%q is listed, so it is alive", e.SourceID)
	}
	f.Remove("guides/page")
	require.Contains(t, []source.Presence{source.PresenceGone, source.PresenceTrashed}, presence(t, f, id))
}

func testRevival(t *testing.T, f Fixture) {
	f.Put("page", "the first text")
	f.Remove("page")
	require.Empty(t, listAll(t, f).documents())
	id := f.Put("page", "the second text")
	require.Equal(t, source.PresenceAlive, presence(t, f, id))
	require.Contains(t, text(fetch(t, f, id)), "the second text")
	requireListed(t, listAll(t, f).documents(), id)
}

func testRename(t *testing.T, f Fixture) {
	f.Put("guides/other", "another text")
	before := f.Put("guides/old", "a text that moves")
	page := fetch(t, f, before)
	after := f.Rename("guides/old", "archive/new")
	requireListed(t, listAll(t, f).documents(), after)
	if f.Source().Traits().StableIDs {
		require.Equal(t, before, after)
		return
	}
	require.NotEqual(t, before, after)
	requireNotListed(t, listAll(t, f).documents(), before)
	fp, ok := f.Source().(source.Fingerprinter)
	require.True(t, ok)
	sum, err := fp.Fingerprint(t.Context(), f.Root(), after)
	require.NoError(t, err)
	require.NotEmpty(t, sum)
	require.Equal(t, page.Fingerprint, sum)
	f.Put("archive/new", "a text that has changed")
	require.NotEqual(t, sum, fetch(t, f, after).Fingerprint)
}
