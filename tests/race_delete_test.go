package tests

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/loresync/loresync/internal/control"
	"github.com/loresync/loresync/internal/knowledge"
	"github.com/loresync/loresync/internal/store"
	"github.com/loresync/loresync/internal/testenv"
)

func (c *course) deletePage(ref string, options control.DeleteOptions) control.Answer {
	c.t.Helper()
	answer, err := c.DeletePage(c.t.Context(), folderID, ref, options, person)
	require.NoError(c.t, err)
	return answer
}

func TestRule5ADeleteBetweenItsListAndTheBeginOfASync(t *testing.T) {
	t.Parallel()
	c := newCourse(t)
	page, read := c.page("a.md").PageID, c.gate.Begun("a.md")

	t.Run("of a sync that was started before the accept", func(t *testing.T) {
		c.stopAt(pointBegin, page)
		begun := len(c.points.said(pointBegin))
		c.points.hold(pointListed, 1)
		deleted := c.deletePage(page, control.DeleteOptions{})
		c.points.await(t, pointListed, 1)
		c.points.open(pointBegin)
		assert.Equal(t, "excluded", c.points.awaitSaid(t, pointBegin, begun+1))
		c.points.open(pointListed)
		assert.Equal(t, "completed", c.wait(deleted, nil).Status)
	})

	t.Run("of a sync that was started after the list", func(t *testing.T) {
		_, err := c.RestorePage(t.Context(), folderID, page, false, person)
		require.NoError(t, err)
		c.synced()
		read = c.gate.Begun("a.md")
		c.points.hold(pointListed, 1)
		deleted := c.deletePage(page, control.DeleteOptions{})
		c.points.await(t, pointListed, 2)
		begun := len(c.points.said(pointBegin))
		c.request(page)
		assert.Equal(t, "excluded", c.points.awaitSaid(t, pointBegin, begun+1))
		c.points.open(pointListed)
		assert.Equal(t, "completed", c.wait(deleted, nil).Status)
	})
	assert.Equal(t, read, c.gate.Begun("a.md"), "nothing was read after the accept")
	assert.Zero(t, c.live())
	c.clean()
}

func TestRule4DeleteDuringDelete(t *testing.T) {
	t.Parallel()
	c := newCourse(t)
	c.put("x/b.md", "# B\n\nbelow\n")
	c.put("x/y/c.md", "# C\n\nfurther below\n")
	c.synced()
	page := c.page("x/b.md").PageID
	c.points.hold(pointFlights, 1)
	first := c.deletePage(page, control.DeleteOptions{})
	c.points.await(t, pointFlights, 1)

	second := c.deletePage(page, control.DeleteOptions{Now: true})
	assert.True(t, second.Joined, "one delete of a page, whoever asks")
	assert.Equal(t, first.WorkflowID, second.WorkflowID)
	above := c.deletePage("x", control.DeleteOptions{Subtree: true})
	assert.Equal(t, "completed", c.wait(above, nil).Status, "the subtree's delete doesn't wait for the page's")
	assert.Equal(t, 1, c.live())

	c.points.open(pointFlights)
	assert.Equal(t, "purged", c.wait(second, nil).Status, "what the second one wants, the first one does")
	assert.Zero(t, c.count(`SELECT count(*) FROM revisions WHERE page_id = $1`, page))
	assert.EqualValues(t, 2, c.synced().Excluded)
	assert.Equal(t, 1, c.live())
	c.clean()
}

func TestRule5ASubtreeDeleteEndsTheSyncsBelowIt(t *testing.T) {
	t.Parallel()
	c := newCourse(t)
	c.put("x/y/b.md", "# B\n\nbelow\n")
	c.synced()
	page := c.page("x/y/b.md").PageID
	c.put("x/y/b.md", "# B\n\nchanged\n")
	c.stopAt(pointPublish, page)
	deleted := c.wait(c.deletePage("x", control.DeleteOptions{Subtree: true}), nil)
	assert.Equal(t, "completed", deleted.Status)
	assert.Zero(t, c.count(`SELECT count(*) FROM in_flight`), "nothing tells of it but the in-flight table: its ID is not below the deleted page's")
	assert.Zero(t, c.count(`SELECT count(*) FROM revisions WHERE state = 'staged'`))
	c.points.open(pointPublish)
	assert.Equal(t, 1, c.live())
	c.clean()
}

func TestRule4DeleteRestoreDeleteWhileTheFirstRuns(t *testing.T) {
	t.Parallel()
	c := newCourse(t)
	page := c.page("a.md").PageID
	c.points.hold(pointFlights, 1)
	first := c.deletePage(page, control.DeleteOptions{})
	c.points.await(t, pointFlights, 1)
	_, err := c.RestorePage(t.Context(), folderID, page, false, person)
	require.NoError(t, err)
	assert.Equal(t, 1, c.live())
	second := c.deletePage(page, control.DeleteOptions{})
	assert.Equal(t, first.RunID, second.RunID, "the first one's workflow runs yet")
	c.points.open(pointFlights)
	assert.Equal(t, "completed", c.wait(second, nil).Status)
	assert.Zero(t, c.live())
	assert.Equal(t, 1, c.count(`SELECT count(*) FROM deletes WHERE restored_at IS NOT NULL`))
	assert.Equal(t, 1, c.count(`SELECT count(*) FROM deletes WHERE restored_at IS NULL AND finished_at IS NOT NULL`))
	assert.Equal(t, 1, c.count(`SELECT count(*) FROM exclusions`))
	c.clean()
}

func TestRule8RestoreDuringDelete(t *testing.T) {
	t.Parallel()
	c := newCourse(t)
	page := c.page("a.md").PageID
	c.put("a.md", "# A\n\nsecond\n")
	c.stopAt(pointPublish, page)
	c.points.hold(pointFlights, 1)
	c.deletePage(page, control.DeleteOptions{})
	c.points.await(t, pointFlights, 1)

	restored, err := c.RestorePage(t.Context(), folderID, page, false, person)
	require.NoError(t, err)
	assert.Equal(t, 1, c.live(), "visible at once, though the delete runs yet")
	c.points.open(pointFlights)
	c.points.open(pointPublish)
	_, err = c.WaitLive(t.Context(), restored)
	require.NoError(t, err)
	c.dueUntil(`SELECT count(*) FROM live_pages WHERE markdown LIKE '%second%'`, "a sync follows a restore, whatever the delete has cancelled")
	assert.Equal(t, "restored", c.endOf(restored.PageID))
	assert.Zero(t, c.count(`SELECT count(*) FROM exclusions`))
	c.clean()
}

// endOf gives how the last delete of a page has ended, once its workflow is over.
func (c *course) endOf(page string) string {
	c.t.Helper()
	answer := c.wait(control.Answer{WorkflowID: "folder/hr/page/" + page + "/delete", FolderID: folderID, PageID: page}, nil)
	return answer.Status
}

// dueUntil lets time pass as the minute's Schedule would, until there is one of what is counted.
func (c *course) dueUntil(query, message string) {
	c.t.Helper()
	testenv.Eventually(c.t, patience, func() bool {
		if c.count(query) == 1 {
			return true
		}
		c.exec(`UPDATE due_reads SET due_at = now() WHERE due_at > now() AND due_at < now() + interval '5 minutes'`)
		due, err := c.store.TakeDueReads(c.t.Context(), 10)
		require.NoError(c.t, err)
		for _, read := range due {
			require.NoError(c.t, c.RequestPageSync(c.t.Context(), read.FolderID, read.PageID, knowledge.LaneIncremental))
		}
		return false
	}, message)
}

func TestRule4ACrashBetweenTheAcceptAndTheStart(t *testing.T) {
	t.Parallel()
	c := newCourse(t)
	page := c.page("a.md").PageID
	c.put("a.md", "# A\n\nsecond\n")
	c.stopAt(pointPublish, page)
	accepted := c.accept(page)
	assert.Zero(t, c.live(), "hidden, although nobody started its workflow")
	c.points.open(pointPublish)
	assert.Equal(t, "cancel_requested", c.points.awaitSaid(t, pointPublish, 2))

	c.exec(`UPDATE deletes SET accepted_at = accepted_at - interval '1 minute'`)
	_, err := c.Janitor(t.Context(), person)
	require.NoError(t, err)
	assert.Equal(t, "completed", c.endOf(page))
	assert.Zero(t, c.count(`SELECT count(*) FROM deletes WHERE delete_id = $1 AND finished_at IS NULL`, accepted))
	c.clean()
}

// accept does what an entry point does before it dies: it accepts a delete and starts nothing.
func (c *course) accept(page string) int64 {
	c.t.Helper()
	accepted, err := c.store.AcceptPageDelete(c.t.Context(), store.DeleteRequest{
		Folder: folderID, Page: page, Who: "eve", WorkflowID: "folder/hr/page/" + page + "/delete", Undo: time.Hour,
	})
	require.NoError(c.t, err)
	require.Equal(c.t, "accepted", accepted.Outcome)
	return *accepted.DeleteID
}
