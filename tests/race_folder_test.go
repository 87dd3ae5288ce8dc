package tests

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/loresync/loresync/activities"
	"github.com/loresync/loresync/internal/control"
	"github.com/loresync/loresync/internal/knowledge"
)

func TestRule4FolderDeleteDuringPageDelete(t *testing.T) {
	t.Parallel()
	c := newCourse(t)
	c.put("b.md", "# B\n\nother\n")
	c.synced()
	page := c.page("a.md").PageID
	c.points.hold(pointFlights, 1)
	ofPage := c.deletePage(page, control.DeleteOptions{})
	c.points.await(t, pointFlights, 1)
	ofFolder, err := c.DeleteFolder(t.Context(), folderID, true, person)
	require.NoError(t, err)
	assert.Zero(t, c.live())
	assert.Equal(t, "purged", c.wait(ofFolder, nil).Status, "it neither cancels the page's delete nor waits for it")
	c.points.open(pointFlights)
	var result struct{ Outcome string }
	require.NoError(t, c.temporal.GetWorkflow(t.Context(), ofPage.WorkflowID, ofPage.RunID).Get(t.Context(), &result))
	assert.Equal(t, "nothing", c.outcomeOrNothing(result.Outcome))
	for _, table := range []string{"folders", "pages", "revisions", "exclusions", "in_flight"} {
		assert.Zero(t, c.count(`SELECT count(*) FROM `+table), table)
	}
	assert.Zero(t, c.count(`SELECT count(*) FROM deletes WHERE purged_at IS NULL`))
}

// outcomeOrNothing takes a delete that finished just before the rows went for one that found nothing: both leave nothing.
func (c *course) outcomeOrNothing(outcome string) string {
	if outcome == "finished" {
		return "nothing"
	}
	return outcome
}

func TestRule4ReAddDuringFolderDelete(t *testing.T) {
	t.Parallel()
	c := newCourse(t)
	c.put("b.md", "# B\n\nother\n")
	c.synced()
	refused := func(when string) {
		_, err := c.AddFolder(t.Context(), c.spec, person)
		assert.Equal(t, control.KindRefused, control.KindOf(err), "added %s", when)
	}
	c.points.hold(pointFlights, 1)
	deleted, err := c.DeleteFolder(t.Context(), folderID, true, person)
	require.NoError(t, err)
	c.points.await(t, pointFlights, 1)
	refused("while what runs is cancelled")
	c.points.hold(pointPurge, 1)
	c.points.open(pointFlights)
	c.points.await(t, pointPurge, 1)
	refused("before the purge")
	c.points.hold(pointPurge, 1)
	c.points.change(func() { c.points.opened[pointPurge]++ })
	c.points.await(t, pointPurge, 2)
	assert.Equal(t, 1, c.count(`SELECT count(*) FROM pages WHERE kind = 'document'`), "the purge stands in the middle")
	refused("in the middle of the purge")
	_, err = c.RestoreFolder(t.Context(), folderID, person)
	assert.Equal(t, control.KindRefused, control.KindOf(err), "the purge has begun")
	c.points.open(pointPurge)
	assert.Equal(t, "purged", c.wait(deleted, nil).Status)

	_, err = c.AddFolder(t.Context(), c.spec, person)
	require.NoError(t, err)
	assert.EqualValues(t, 2, c.synced().New)
	c.clean()
}

func TestRule7AReconcileMeetsADelete(t *testing.T) {
	t.Parallel()
	for _, stopped := range []string{pointAbsence, pointRemove} {
		t.Run("before "+stopped, func(t *testing.T) {
			t.Parallel()
			c := newCourse(t)
			c.fill(8)
			c.synced()
			page := c.page("a.md").PageID
			c.remove("a.md")
			c.synced()
			c.points.hold(stopped, 1)
			before := c.points.arrived(stopped)
			running, err := c.SyncFolder(t.Context(), folderID, knowledge.ModeFull, person)
			require.NoError(t, err)
			c.points.await(t, stopped, before+1)
			assert.Equal(t, "completed", c.wait(c.deletePage(page, control.DeleteOptions{}), nil).Status)
			c.points.open(stopped)
			ended := c.wait(running, nil)
			assert.Equal(t, "completed", ended.Status)
			assert.Zero(t, ended.Counts.Removed, "a person was first")

			c.put("a.md", "# A\n\nback at the source\n")
			assert.EqualValues(t, 1, c.synced().Excluded, "what a person deleted doesn't come back as what the source had lost")
			assert.Equal(t, 8, c.live())
			_, err = c.RestorePage(t.Context(), folderID, page, false, person)
			require.NoError(t, err)
			c.awaitText("back at the source")
			c.clean()
		})
	}
}

func TestRule7AnOlderListingThatEndsAfterANewerOne(t *testing.T) {
	t.Parallel()
	c := newCourse(t)
	paths := c.fill(8)
	c.synced()
	c.remove(paths[0])
	c.synced() // the first strike
	c.points.hold(pointAbsence, 1)
	before := c.points.arrived(pointAbsence)
	older, err := c.SyncFolder(t.Context(), folderID, knowledge.ModeFull, person)
	require.NoError(t, err)
	c.points.await(t, pointAbsence, before+1)
	c.put(paths[0], "# Page 0\n\nit is there again\n")
	assert.EqualValues(t, 1, c.synced().Changed)
	c.points.open(pointAbsence)
	ended := c.wait(older, nil)
	assert.Zero(t, ended.Counts.Removed)
	assert.Equal(t, "stale", c.points.said(pointAbsence)[len(c.points.said(pointAbsence))-1])
	assert.Equal(t, 9, c.live())
	c.clean()
}

func TestRule8AChildThatAppearsBelowADeletedSubtree(t *testing.T) {
	t.Parallel()

	t.Run("in a listing that began before the accept", func(t *testing.T) {
		t.Parallel()
		c := newCourse(t)
		c.put("x/b.md", "# B\n\nbelow\n")
		c.synced()
		c.put("x/y/new.md", "# New\n\nbelow too\n")
		c.points.hold(pointRegister, 1)
		before := c.points.arrived(pointRegister)
		running, err := c.SyncFolder(t.Context(), folderID, knowledge.ModeFull, person)
		require.NoError(t, err)
		c.points.await(t, pointRegister, before+1)
		deleted := c.wait(c.deletePage("x", control.DeleteOptions{Subtree: true}), nil)
		assert.Equal(t, "completed", deleted.Status)
		c.points.open(pointRegister)
		ended := c.wait(running, nil)
		assert.Zero(t, ended.Counts.New)
		assert.Equal(t, 1, c.live())
		assert.EqualValues(t, 2, c.synced().Excluded)
		c.clean()
	})

	t.Run("between the accept and the sweep", func(t *testing.T) {
		t.Parallel()
		c := newCourse(t)
		c.put("x/b.md", "# B\n\nbelow\n")
		c.synced()
		c.points.hold(pointSweep, 1)
		deleted := c.deletePage("x", control.DeleteOptions{Subtree: true})
		c.points.await(t, pointSweep, 1)
		c.put("x/y/new.md", "# New\n\nbelow too\n")
		assert.Zero(t, c.synced().New)
		assert.Equal(t, 1, c.live())
		c.points.open(pointSweep)
		assert.Equal(t, "completed", c.wait(deleted, nil).Status)
		assert.EqualValues(t, 2, c.synced().Excluded)
		assert.Equal(t, 1, c.live())
		c.clean()
	})
}

// TestRule4ARunEndsAfterThePurgeOfItsFolder is about a folder sync that Temporal, away during the delete, brings to its end when
// the folder and its listings are gone, or there is another one under the same id.
func TestRule4ARunEndsAfterThePurgeOfItsFolder(t *testing.T) {
	t.Parallel()
	c := newCourse(t)
	var listing int64
	require.NoError(t, c.sql.QueryRow(t.Context(), `SELECT listing_id FROM listings ORDER BY listing_id DESC LIMIT 1`).Scan(&listing))
	deleted, err := c.DeleteFolder(t.Context(), folderID, true, person)
	require.NoError(t, err)
	require.Equal(t, "purged", c.wait(deleted, nil).Status)

	acts := &activities.FolderActivities{Store: c.store}
	in := activities.FinishRunInput{FolderID: folderID, WorkflowID: "folder/" + folderID + "/sync/late", FirstRunID: "late", ListingID: listing}
	for name, c := range map[string]struct {
		status, want knowledge.RunStatus
		reason       string
	}{
		"that went to its end":  {"", knowledge.RunRefused, "the folder was deleted"},
		"that was cancelled":    {knowledge.RunCancelled, knowledge.RunCancelled, "cancelled"},
		"that could not go on":  {knowledge.RunFailed, knowledge.RunFailed, "broken"},
		"that had been refused": {knowledge.RunRefused, knowledge.RunRefused, "the folder was deleted"},
	} {
		in.Status = c.status
		if in.Reason = c.reason; c.status == "" {
			in.Reason = ""
		}
		finished, err := acts.FinishRun(t.Context(), in)
		require.NoError(t, err, name)
		assert.Equal(t, activities.FinishRunResult{Status: c.want, Reason: c.reason}, finished, name)
	}
}

// TestRule8AMoveIntoADeletedSubtreeIsHiddenAtOnce looks between the rename of a page's row and the registration of the listing.
func TestRule8AMoveIntoADeletedSubtreeIsHiddenAtOnce(t *testing.T) {
	t.Parallel()
	for name, options := range map[string]control.DeleteOptions{"tombstoned": {Subtree: true}, "purged": {Subtree: true, Now: true}} {
		t.Run("that is "+name, func(t *testing.T) {
			t.Parallel()
			c := newCourse(t)
			c.put("x/y/b.md", "# B\n\nbelow\n")
			c.synced()
			c.wait(c.deletePage("x", options), nil)
			c.remove("a.md")
			c.put("x/y/a.md", "# A\n\nfirst\n")
			c.points.hold(pointRegister, 1)
			before := c.points.arrived(pointRegister)
			running, err := c.SyncFolder(t.Context(), folderID, knowledge.ModeFull, person)
			require.NoError(t, err)
			c.points.await(t, pointRegister, before+1)
			require.Equal(t, 1, c.count(`SELECT count(*) FROM sync_events WHERE kind = 'moved'`), "the move was seen")
			assert.Zero(t, c.live())
			c.points.open(pointRegister)
			c.wait(running, nil)
			assert.Zero(t, c.live())
			assert.Equal(t, "excluded", string(c.page("x/y/a.md").State))
			c.clean()
		})
	}
}
