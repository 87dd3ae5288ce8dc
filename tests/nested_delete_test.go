package tests

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/loresync/loresync/internal/control"
	"github.com/loresync/loresync/internal/testenv"
)

// The rows of a deleted subtree are how readers are kept from what lies below it until each page is hidden by itself: a purge
// that took the top of it first showed all the rest again.
func TestRule4APurgeLeavesASubtreeThatIsStillBeingHidden(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.put("x/y/a.md", "# A\n\nfirst\n")
	r.put("x/b.md", "# B\n\nsecond\n")
	r.put("c.md", "# C\n\nthird\n")
	r.synced()
	deleted, err := r.cutOff().DeletePage(t.Context(), folderID, "x", control.DeleteOptions{Subtree: true, Now: true}, person)
	require.NoError(t, err)
	require.Equal(t, 1, r.live(), "hidden from the accept")

	_, err = r.store.PurgePages(t.Context(), 0, 500)
	require.NoError(t, err)
	assert.Equal(t, 1, r.live(), "and hidden still")

	r.exec(`UPDATE deletes SET accepted_at = accepted_at - interval '1 minute'`)
	_, err = r.Janitor(t.Context(), person)
	require.NoError(t, err)
	assert.Equal(t, "purged", r.wait(deleted, nil).Status)
	assert.Equal(t, 1, r.count(`SELECT count(*) FROM pages`))
	assert.Equal(t, 1, r.live())
	r.clean()
}

// A page that was deleted by itself, below a directory that was deleted with all below it, was shown by its own restore, although
// the directory's exclusion still covered it.
func TestRule8ARestoreShowsNothingBelowADeletedSubtree(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.put("x/y/a.md", "# A\n\nfirst\n")
	r.put("c.md", "# C\n\nsecond\n")
	r.synced()
	for _, c := range []struct {
		page    string
		options control.DeleteOptions
	}{{"x/y/a.md", control.DeleteOptions{}}, {"x", control.DeleteOptions{Subtree: true}}, {"x/y/a.md", control.DeleteOptions{}}} {
		r.wait(r.DeletePage(t.Context(), folderID, c.page, c.options, person))
	}
	_, err := r.RestorePage(t.Context(), folderID, "x/y/a.md", false, person)
	require.Equal(t, control.KindRefused, control.KindOf(err))
	require.ErrorContains(t, err, "starter restore page hr x --subtree")
	assert.Equal(t, 1, r.live(), "nothing is shown")

	_, err = r.RestorePage(t.Context(), folderID, "x", true, person)
	require.NoError(t, err)
	assert.Equal(t, 1, r.live(), "its own delete sticks")
	_, err = r.RestorePage(t.Context(), folderID, "x/y/a.md", false, person)
	require.NoError(t, err)
	assert.Equal(t, 2, r.live())
	testenv.Eventually(t, patience, func() bool { return r.count(`SELECT count(*) FROM sync_runs WHERE status = 'running'`) == 0 }, "the sync ends")
	r.clean()
}

// A deleted page that is renamed keeps its exclusion under both names, while its delete knows the old one: a restore by the new
// name left the delete open, and the next delete of the page joined it and cancelled nothing.
func TestRule8ARestoreOfARenamedPageTakesItsDeleteBack(t *testing.T) {
	t.Parallel()
	for what, name := range map[string]string{"by the new name": "b.md", "by the old name": "a.md"} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			r.put("a.md", "# A\n\nfirst\n")
			r.put("c.md", "# C\n\nsecond\n")
			r.synced()
			first := r.wait(r.DeletePage(t.Context(), folderID, "a.md", control.DeleteOptions{}, person))
			require.NoError(t, os.Rename(filepath.Join(r.root, "a.md"), filepath.Join(r.root, "b.md")))
			assert.EqualValues(t, 1, r.synced().Excluded)
			restored, err := r.RestorePage(t.Context(), folderID, name, false, person)
			require.NoError(t, err)
			assert.Equal(t, first.PageID, restored.PageID)
			assert.Equal(t, 2, r.live())
			assert.Zero(t, r.count(`SELECT count(*) FROM deletes WHERE restored_at IS NULL`), "nothing is left to be undone")
			assert.Zero(t, r.count(`SELECT count(*) FROM exclusions`), "neither name is excluded")
			r.wait(restored, nil)

			second, err := r.DeletePage(t.Context(), folderID, "b.md", control.DeleteOptions{}, person)
			require.NoError(t, err)
			assert.False(t, second.Joined, "it is a delete of its own")
			assert.Equal(t, "completed", r.wait(second, nil).Status)
			r.put("a.md", "# A\n\nanother page under the old name\n")
			r.synced()
			assert.Equal(t, 2, r.live())
			r.clean()
		})
	}
}

// A subtree that was hidden already isn't being hidden again when somebody deletes it once more: nobody would have ended that. With
// --now all of it goes, though what lies below the top had an undo window of its own.
func TestRule4ASecondDeleteOfASubtreeLeavesNothingToSweep(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.put("x/a.md", "# A\n\nfirst\n")
	r.put("c.md", "# C\n\nsecond\n")
	r.synced()
	for range 2 {
		deleted := r.wait(r.DeletePage(t.Context(), folderID, "x", control.DeleteOptions{Subtree: true}, person))
		assert.Equal(t, "completed", deleted.Status)
		assert.Zero(t, r.count(`SELECT count(*) FROM exclusions WHERE sweeping`))
	}
	assert.Equal(t, "purged", r.wait(r.DeletePage(t.Context(), folderID, "x", control.DeleteOptions{Subtree: true, Now: true}, person)).Status)
	assert.Equal(t, 1, r.count(`SELECT count(*) FROM pages`))
	r.clean()
}

// A delete that is widened to the subtree while its workflow is about to end is not finished before the subtree is hidden.
func TestRule4ADeleteIsNotFinishedBeforeItsSubtreeIsSwept(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.put("x/a.md", "# A\n\nfirst\n")
	r.put("c.md", "# C\n\nsecond\n")
	r.synced()
	_, err := r.cutOff().DeletePage(t.Context(), folderID, "x", control.DeleteOptions{Subtree: true}, person)
	require.NoError(t, err)
	open, found, err := r.store.OpenDeleteOf(t.Context(), folderID, r.page("x").PageID)
	require.NoError(t, err)
	require.True(t, found)
	outcome, err := r.store.FinishDelete(t.Context(), open.DeleteID)
	require.NoError(t, err)
	assert.Equal(t, "sweeping", outcome)
	r.exec(`UPDATE deletes SET accepted_at = accepted_at - interval '1 minute'`)
	_, err = r.Janitor(t.Context(), person)
	require.NoError(t, err)
	testenv.Eventually(t, patience, func() bool {
		return r.count(`SELECT count(*) FROM deletes WHERE finished_at IS NOT NULL`) == 1 && r.count(`SELECT count(*) FROM exclusions WHERE sweeping`) == 0
	}, "the janitor starts it, and it sweeps")
	r.clean()
}
