package tests

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/loresync/loresync/internal/control"
	"github.com/loresync/loresync/internal/testenv"
)

func TestRule3PublishMeetsDeleteAtTheLock(t *testing.T) {
	t.Parallel()
	for _, race := range []struct {
		name      string
		publishes bool
		answer    string
		revisions int
	}{
		{"the publish is first in line, and is hidden with its page", true, "published", 2},
		{"the delete is first in line, and nothing is published", false, "cancel_requested", 1},
	} {
		t.Run(race.name, func(t *testing.T) {
			t.Parallel()
			c := newCourse(t)
			page := c.page("a.md").PageID
			c.put("a.md", "# A\n\nsecond\n")
			c.stopAt(pointPublish, page)
			release := c.lock(lockPage, page)
			accepted := make(chan error, 1)
			publish := func() { c.points.open(pointPublish); c.awaitBlocked("publish_staged", 1) }
			remove := func() {
				go func() {
					_, err := c.DeletePage(t.Context(), folderID, page, control.DeleteOptions{}, person)
					accepted <- err
				}()
				c.awaitBlocked("accept_page_delete", 1)
			}
			if race.publishes {
				publish()
				remove()
			} else {
				remove()
				publish()
			}
			release()
			require.NoError(t, <-accepted)
			assert.Equal(t, race.answer, c.points.awaitSaid(t, pointPublish, 2))
			assert.Zero(t, c.live())
			assert.Equal(t, "completed", c.endOf(page))
			assert.Equal(t, race.revisions, c.count(`SELECT count(*) FROM revisions`), "nothing staged is left")
			c.clean()
		})
	}
}

func TestRule3AnAttemptThatWakesLosesToTheOneThatOvertookIt(t *testing.T) {
	t.Parallel()
	for _, race := range []struct {
		name, stopped, answer string
	}{
		{"stopped before it staged, the older one stages nothing", pointStage, "fenced"},
		{"stopped before its publish, the older one publishes nothing", pointPublish, "fenced"},
	} {
		t.Run(race.name+", after the newer one has published", func(t *testing.T) {
			t.Parallel()
			c, page, said := overtaken(t, race.stopped)
			c.request(page)
			c.awaitText("third")
			c.points.open(race.stopped)
			assert.Equal(t, race.answer, c.points.awaitSaid(t, race.stopped, said+2))
			assert.Equal(t, 1, c.count(`SELECT count(*) FROM live_pages WHERE markdown LIKE '%third%'`))
			c.clean()
		})
		t.Run(race.name+", while the newer one is under way", func(t *testing.T) {
			t.Parallel()
			c, page, said := overtaken(t, race.stopped)
			inFlight := c.gate.Read("a.md")
			c.gate.HoldLate("a.md")
			c.request(page)
			require.NoError(t, c.gate.AwaitRead(t.Context(), "a.md", inFlight+1))
			c.points.open(race.stopped)
			assert.Equal(t, race.answer, c.points.awaitSaid(t, race.stopped, said+1))
			assert.Equal(t, 1, c.count(`SELECT count(*) FROM in_flight`), "the newer one holds the page")
			c.gate.Open("a.md")
			c.awaitText("third")
			c.clean()
		})
	}
}

// overtaken stops an attempt of a.md at a point with the second text in hand, ends its workflow and writes the third text.
func overtaken(t *testing.T, point string) (c *course, page string, said int) {
	t.Helper()
	c = newCourse(t)
	page = c.page("a.md").PageID
	c.put("a.md", "# A\n\nsecond\n")
	c.stopAt(point, page)
	require.NoError(t, c.Terminate(t.Context(), "folder/hr/page/"+page+"/sync", "an operator"))
	c.put("a.md", "# A\n\nthird\n")
	return c, page, len(c.points.said(point))
}

func TestRule3AReadThatIsNotTheNewestPublishesNothing(t *testing.T) {
	t.Parallel()
	c := newCourse(t)
	page := c.page("a.md").PageID
	c.put("a.md", "# A\n\nsecond\n")
	c.stopAt(pointPublish, page)
	said := len(c.points.said(pointPublish))
	// No course of events leads to it, but a hand in the database could: the token is good, and a newer read is published.
	c.exec(`UPDATE pages SET published_read_seq = nextval('moments') WHERE page_id = $1`, page)
	c.points.open(pointPublish)
	assert.Equal(t, "fenced", c.points.awaitSaid(t, pointPublish, said+1))
	c.closed(pageSyncOf(page))
	c.awaitText("first")
}

func (c *course) awaitText(word string) {
	c.t.Helper()
	testenv.Eventually(c.t, patience, func() bool {
		return c.count(`SELECT count(*) FROM live_pages WHERE strpos(markdown, $1) > 0`, word) == 1
	}, "the page says "+word)
}

func TestRule4PurgeAndReAddWhileAnOldWorkerSleeps(t *testing.T) {
	t.Parallel()
	for _, stopped := range []string{pointBegin, pointStage, pointPublish} {
		t.Run("before "+stopped, func(t *testing.T) {
			t.Parallel()
			c := newCourse(t)
			page := c.page("a.md").PageID
			c.put("a.md", "# A\n\nof the old folder\n")
			c.stopAt(stopped, page)
			said := len(c.points.said(stopped))
			deleted, err := c.DeleteFolder(t.Context(), folderID, true, person)
			require.NoError(t, err)
			assert.Equal(t, "purged", c.wait(deleted, nil).Status)
			c.put("a.md", "# A\n\nof the new folder\n")
			_, err = c.AddFolder(t.Context(), c.spec, person)
			require.NoError(t, err)
			c.synced()
			require.Equal(t, page, c.page("a.md").PageID, "the same ids again")

			c.points.open(stopped)
			c.points.awaitSaid(t, stopped, said+2)
			c.clean()
			c.awaitText("of the new folder")
			assert.Zero(t, c.count(`SELECT count(*) FROM revisions WHERE markdown LIKE '%old folder%'`))
		})
	}
}
