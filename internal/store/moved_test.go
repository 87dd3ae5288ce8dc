package store_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/loresync/loresync/internal/source"
)

// hangs is a page somewhere in a tree.
func hangs(sourceID, parent string) source.Entry {
	e := doc(sourceID, "1")
	e.ParentSourceID = parent
	return e
}

// grove is a desk with a page top, mid below it, leaf below that, and beside all of them a page elsewhere.
type grove struct {
	*desk
	top, mid, leaf, elsewhere source.Entry
}

func newGrove(t *testing.T) *grove {
	t.Helper()
	g := &grove{desk: newDesk(t), top: hangs("top", ""), mid: hangs("mid", "top"), leaf: hangs("leaf", "mid"), elsewhere: hangs("elsewhere", "")}
	g.listed(g.all()...)
	for _, page := range []string{"top", "mid", "leaf", "elsewhere"} {
		g.publish(g.pageID(page), page)
	}
	return g
}

func (g *grove) all() []source.Entry { return []source.Entry{g.top, g.mid, g.leaf, g.elsewhere} }

// deleteTop deletes all below top, and hides it.
func (g *grove) deleteTop() {
	g.t.Helper()
	accepted := g.deletePage(g.pageID("top"), true)
	g.sweep(*accepted.DeleteID)
}

func (g *grove) sweep(deleteID int64) {
	g.t.Helper()
	_, err := g.SweepSubtree(g.t.Context(), deleteID, 500)
	require.NoError(g.t, err)
	done, err := g.FinishSweep(g.t.Context(), deleteID)
	require.NoError(g.t, err)
	require.True(g.t, done)
}

// purge ends the undo window of pages, and erases them.
func (g *grove) purge(sourceIDs ...string) {
	g.t.Helper()
	g.exec(`UPDATE deletes SET purge_at = now() WHERE page_id IN (SELECT page_id FROM pages WHERE source_id = ANY ($1))`, sourceIDs)
	g.exec(`UPDATE pages SET purge_at = now() WHERE source_id = ANY ($1) AND tombstoned_at IS NOT NULL`, sourceIDs)
	purged, err := g.PurgePages(g.t.Context(), 0, 500)
	require.NoError(g.t, err)
	require.Equal(g.t, len(sourceIDs), purged)
}

// restored restores a page, and gives the outcome and the page that the answer names.
func (g *grove) restored(sourceID string) (outcome, page string) {
	g.t.Helper()
	answer, err := g.RestorePage(g.t.Context(), folder, sourceID, "eve")
	require.NoError(g.t, err)
	if answer.PageID != nil {
		page = *answer.PageID
	}
	return answer.Outcome, page
}

func (g *grove) excluding(sourceID string) string {
	g.t.Helper()
	top, err := g.Excluding(g.t.Context(), folder, sourceID)
	require.NoError(g.t, err)
	return top
}

// known tells whether a page has a row.
func (g *grove) known(sourceID string) bool {
	return g.count(`SELECT count(*) FROM pages WHERE source_id = $1`, sourceID) == 1
}

func TestRule8APageThatWasMovedOutOfADeletedSubtree(t *testing.T) {
	t.Parallel()
	t.Run("stays deleted, and is restored by itself", func(t *testing.T) {
		t.Parallel()
		g := newGrove(t)
		g.deleteTop()
		outcome, page := g.restored("leaf")
		assert.Equal(t, "covered", outcome)
		assert.Equal(t, g.pageID("top"), page, "the one whose restore helps, not the one next above")
		assert.Equal(t, "top", g.excluding("leaf"))

		g.leaf.ParentSourceID = "elsewhere"
		counted, err := g.CountListing(t.Context(), g.listed(g.all()...))
		require.NoError(t, err)
		assert.EqualValues(t, 3, counted.Excluded, "a move is no restore")
		assert.EqualValues(t, 4, counted.Listed)
		assert.Equal(t, 1, g.live())
		begun, _ := g.begin(g.pageID("leaf"))
		assert.Equal(t, "excluded", begun.Outcome)
		assert.Empty(t, g.excluding("leaf"))

		outcome, _ = g.restored("leaf")
		assert.Equal(t, "restored", outcome)
		assert.Equal(t, 2, g.live())
		outcome, page = g.restored("mid")
		assert.Equal(t, "covered", outcome)
		assert.Equal(t, g.pageID("top"), page)
		g.listed(g.all()...)
		assert.Equal(t, 2, g.live(), "nothing else comes along")
		assert.Equal(t, 1, g.count(`SELECT count(*) FROM deletes WHERE restored_at IS NULL`), "the delete of the subtree stands")
	})
	t.Run("takes what is below it along", func(t *testing.T) {
		t.Parallel()
		g := newGrove(t)
		g.deleteTop()
		g.mid.ParentSourceID = "elsewhere"
		g.listed(g.all()...)
		hidden, err := g.HiddenBy(t.Context(), folder, "mid")
		require.NoError(t, err)
		require.NotZero(t, hidden)
		for deleteID, want := range map[int64]int{0: 0, hidden + 1: 0, hidden: 1} {
			below, err := g.RestoreBelow(t.Context(), folder, "mid", deleteID, 500)
			require.NoError(t, err)
			assert.Equal(t, want, below, "only what the same delete hid")
		}
		outcome, _ := g.restored("mid")
		assert.Equal(t, "restored", outcome)
		assert.Equal(t, 3, g.live())
		for _, page := range []string{"top", "mid"} {
			hidden, err := g.HiddenBy(t.Context(), folder, page)
			require.NoError(t, err)
			assert.Zero(t, hidden)
		}
	})
	t.Run("is not brought back by the restore of where it went", func(t *testing.T) {
		t.Parallel()
		g := newGrove(t)
		g.deleteTop()
		g.leaf.ParentSourceID = "elsewhere"
		g.listed(g.all()...)
		accepted := g.deletePage(g.pageID("elsewhere"), true)
		g.sweep(*accepted.DeleteID)
		outcome, page := g.restored("leaf")
		assert.Equal(t, "covered", outcome)
		assert.Equal(t, g.pageID("elsewhere"), page)
		outcome, _ = g.restored("elsewhere")
		assert.Equal(t, "restored", outcome)
		for _, deleteID := range []int64{0, *accepted.DeleteID} {
			_, err := g.RestoreBelow(t.Context(), folder, "elsewhere", deleteID, 500)
			require.NoError(t, err)
		}
		assert.Equal(t, 1, g.live(), "it was deleted with another subtree")
	})
	t.Run("into one whose delete is over comes back with it", func(t *testing.T) {
		t.Parallel()
		g := newGrove(t)
		g.deleteTop()
		g.purge("top", "mid", "leaf")
		g.elsewhere.ParentSourceID = "top"
		g.listed(g.all()...)
		require.Zero(t, g.live())
		outcome, _ := g.restored("top")
		require.Equal(t, "lifted", outcome)
		below, err := g.RestoreBelow(t.Context(), folder, "top", 0, 500)
		require.NoError(t, err)
		assert.Equal(t, 1, below)
		assert.Equal(t, 1, g.live())
	})
	t.Run("is not brought back by its purge", func(t *testing.T) {
		t.Parallel()
		g := newGrove(t)
		g.deleteTop()
		g.leaf.ParentSourceID = "elsewhere"
		g.listed(g.all()...)
		g.purge("top", "mid", "leaf")
		g.listed(g.all()...)
		assert.False(t, g.known("leaf"), "nobody has restored it")
		outcome, _ := g.restored("leaf")
		assert.Equal(t, "lifted", outcome)
		g.listed(g.all()...)
		assert.True(t, g.known("leaf"))
		assert.False(t, g.known("mid"))
	})
	t.Run("after the purge, too", func(t *testing.T) {
		t.Parallel()
		g := newGrove(t)
		g.deleteTop()
		top := g.pageID("top")
		g.purge("top", "mid", "leaf")
		outcome, page := g.restored("leaf")
		assert.Equal(t, "covered", outcome)
		assert.Equal(t, "top", g.excluding("leaf"))
		assert.Equal(t, top, page)
		g.leaf.ParentSourceID = "elsewhere"
		g.listed(g.all()...)
		assert.False(t, g.known("leaf"))
		outcome, _ = g.restored("leaf")
		assert.Equal(t, "lifted", outcome)
		g.listed(g.all()...)
		assert.True(t, g.known("leaf"))
		assert.False(t, g.known("mid"))
	})
	t.Run("comes back with the restore of the subtree, as ever", func(t *testing.T) {
		t.Parallel()
		g := newGrove(t)
		g.deleteTop()
		g.leaf.ParentSourceID = "elsewhere"
		g.listed(g.all()...)
		answer, err := g.RestorePage(t.Context(), folder, "top", "eve")
		require.NoError(t, err)
		_, err = g.RestoreSwept(t.Context(), *answer.DeleteID, 500)
		require.NoError(t, err)
		assert.Equal(t, 4, g.live())
	})
	t.Run("is found by the sweep, if it moves before", func(t *testing.T) {
		t.Parallel()
		g := newGrove(t)
		accepted := g.deletePage(g.pageID("top"), true)
		require.Equal(t, 1, g.live())
		g.leaf.ParentSourceID = "elsewhere"
		g.listed(g.all()...)
		assert.Equal(t, 1, g.live(), "what was accepted as deleted isn't shown by a move")
		g.sweep(*accepted.DeleteID)
		g.listed(g.all()...)
		assert.Equal(t, 1, g.live())
		outcome, _ := g.restored("leaf")
		assert.Equal(t, "restored", outcome, "the listing after the sweep knows where it is")
	})
}

func TestRule8ADeletedSubtreeCoversWhatHangsUnderAPurgedPage(t *testing.T) {
	t.Parallel()
	t.Run("that was deleted by itself", func(t *testing.T) {
		t.Parallel()
		g := newGrove(t)
		g.deletePage(g.pageID("mid"), false)
		g.deleteTop()
		g.purge("mid")
		g.purge("leaf")
		g.listed(g.all()...)
		assert.False(t, g.known("leaf"), "it was deleted with the subtree, whatever became of the page between them")
	})
	t.Run("that was deleted by itself and purged before the subtree was deleted", func(t *testing.T) {
		t.Parallel()
		g := newGrove(t)
		g.deletePage(g.pageID("mid"), false)
		g.purge("mid")
		require.Equal(t, 3, g.live())
		accepted := g.deletePage(g.pageID("top"), true)
		assert.Equal(t, 1, g.live(), "hidden from the accept")
		assert.EqualValues(t, 2, *accepted.Pages)
		g.sweep(*accepted.DeleteID)
		g.purge("top", "leaf")
		g.listed(g.all()...)
		assert.False(t, g.known("leaf"))
		g.listed(append(g.all(), hangs("new", "mid"))...)
		assert.False(t, g.known("new"), "nor what appears below it")
	})
	t.Run("that its source had lost", func(t *testing.T) {
		t.Parallel()
		g := newGrove(t)
		g.exec(`UPDATE pages SET strikes = 2 WHERE source_id = 'mid'`)
		gone, err := g.RemoveLostPages(t.Context(), folder, []string{g.pageID("mid")}, undo)
		require.NoError(t, err)
		require.Len(t, gone, 1)
		g.purge("mid")
		g.deleteTop()
		assert.Equal(t, 1, g.live())
		g.purge("top", "leaf")
		g.listed(g.top, g.leaf, g.elsewhere)
		assert.False(t, g.known("leaf"))
	})
	t.Run("until that page hangs elsewhere", func(t *testing.T) {
		t.Parallel()
		g := newGrove(t)
		g.deletePage(g.pageID("mid"), false)
		g.purge("mid")
		g.mid.ParentSourceID = "elsewhere"
		g.listed(g.all()...)
		g.deleteTop()
		assert.Equal(t, 2, g.live(), "the leaf is no longer below it")
	})
	t.Run("which knows its place anew when it is back", func(t *testing.T) {
		t.Parallel()
		g := newGrove(t)
		g.deletePage(g.pageID("mid"), false)
		g.purge("mid")
		outcome, _ := g.restored("mid")
		require.Equal(t, "lifted", outcome)
		g.mid.ParentSourceID = "elsewhere"
		g.listed(g.all()...)
		assert.Zero(t, g.count(`SELECT count(*) FROM purged_places`))
		g.deleteTop()
		assert.Equal(t, 2, g.live())
	})
}

func TestRule8ARenameIsLookedAtAgainWhenItIsApplied(t *testing.T) {
	t.Parallel()
	vanish := func(t *testing.T) (d *desk, listing int64, content []byte) {
		t.Helper()
		d = newDesk(t)
		d.listed(doc("a.md", "1"), doc("c.md", "1"))
		d.publish(d.pageID("a.md"), "first")
		d.publish(d.pageID("c.md"), "other")
		d.exec(`UPDATE pages SET created_seq = 0`)
		listing = d.list(doc("b.md", "1"), doc("c.md", "1"))
		vanished, err := d.VanishedFingerprints(t.Context(), listing)
		require.NoError(t, err)
		require.Len(t, vanished, 1)
		return d, listing, vanished[0].Fingerprint
	}
	t.Run("the page has other content by now", func(t *testing.T) {
		t.Parallel()
		d, listing, content := vanish(t)
		page := d.pageID("a.md")
		d.publish(page, "second")
		d.deletePage(page, false)
		outcome, err := d.ApplyRename(t.Context(), listing, "a.md", "b.md", content)
		require.NoError(t, err)
		assert.Equal(t, "dropped", outcome)
		d.register(listing)
		assert.Equal(t, 1, d.count(`SELECT count(*) FROM pages WHERE source_id = 'b.md' AND tombstoned_at IS NULL`), "nobody has deleted it")
	})
	t.Run("the exclusion of a purged page was lifted", func(t *testing.T) {
		t.Parallel()
		d, listing, content := vanish(t)
		d.deletePage(d.pageID("a.md"), false)
		d.exec(`UPDATE pages SET purge_at = now() WHERE tombstoned_at IS NOT NULL`)
		_, err := d.PurgePages(t.Context(), 0, 500)
		require.NoError(t, err)
		restored, err := d.RestorePage(t.Context(), folder, "a.md", "eve")
		require.NoError(t, err)
		require.Equal(t, "lifted", restored.Outcome)
		outcome, err := d.ApplyRename(t.Context(), listing, "a.md", "b.md", content)
		require.NoError(t, err)
		assert.Equal(t, "dropped", outcome)
	})
	t.Run("it is as it was", func(t *testing.T) {
		t.Parallel()
		d, listing, content := vanish(t)
		page := d.pageID("a.md")
		outcome, err := d.ApplyRename(t.Context(), listing, "a.md", "b.md", content)
		require.NoError(t, err)
		assert.Equal(t, "moved", outcome)
		assert.Equal(t, page, d.pageID("b.md"))
	})
	t.Run("it is below a subtree that is just being hidden", func(t *testing.T) {
		t.Parallel()
		d := newDesk(t)
		d.listed(dir("x"), doc("x/a.md", "1"), doc("c.md", "1"))
		page := d.pageID("x/a.md")
		d.publish(page, "first")
		accepted := d.deletePage(d.pageID("x"), true)
		listing := d.list(dir("x"), doc("b.md", "1"), doc("c.md", "1"))
		vanished, err := d.VanishedFingerprints(t.Context(), listing)
		require.NoError(t, err)
		require.Len(t, vanished, 1)
		outcome, err := d.ApplyRename(t.Context(), listing, "x/a.md", "b.md", vanished[0].Fingerprint)
		require.NoError(t, err)
		assert.Equal(t, "moved", outcome)
		assert.Zero(t, d.live(), "it was accepted as deleted under its old name")
		answer, err := d.RestorePage(t.Context(), folder, "x", "eve")
		require.NoError(t, err)
		assert.Equal(t, *accepted.DeleteID, *answer.DeleteID)
		_, err = d.RestoreSwept(t.Context(), *answer.DeleteID, 500)
		require.NoError(t, err)
		assert.Equal(t, 1, d.live())
	})
}
