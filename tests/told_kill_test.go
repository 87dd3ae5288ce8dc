package tests

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/loresync/loresync/internal/knowledge"
	"github.com/loresync/loresync/internal/source/notion"
	"github.com/loresync/loresync/internal/source/notion/notiontest"
	"github.com/loresync/loresync/internal/testenv"
)

// A worker that dies after it has told that a page is gone, and before its attempt is closed, leaves the attempt open and the word
// given: another one goes on with both, and the page is removed once.
func TestRule7AWorkerKilledBetweenTellingThatAPageIsGoneAndClosingItsAttempt(t *testing.T) {
	t.Parallel()
	var page string
	w := newWikiAt(t, 2000, notiontest.ServerOptions{}, notion.Workspace, func(space *notiontest.Workspace) {
		page = notiontest.Must(space.AddPage("", "Expenses", paragraph("Words.")))
		for _, title := range []string{"One", "Two", "Three"} {
			notiontest.Must(space.AddPage("", title, paragraph("Another page.")))
		}
	}, withoutWorker, patiently)
	kill := w.notionWorker("LORESYNC_LOCK_TIMEOUT=1m")
	require.EqualValues(t, 4, w.synced().New)
	w.clock.Advance(time.Hour)
	require.NoError(t, w.space.Trash(page))

	id := w.page(page).PageID
	held := w.server.Hold(notiontest.Both(notiontest.OfKind(notiontest.KindPage), notiontest.About(page)))
	require.NoError(t, w.RequestPageSync(t.Context(), folderID, id, knowledge.LaneIncremental))
	w.await(held, 1)
	release := w.lock(lockPage, id)
	held.Release()
	w.awaitBlocked("finish_page_sync", 1)
	var token string
	require.NoError(t, w.sql.QueryRow(t.Context(), `SELECT token FROM in_flight WHERE page_id = $1`, id).Scan(&token))
	_, told, err := w.Describe(t.Context(), "connection/notion/webhook/read-"+token)
	require.NoError(t, err)
	assert.True(t, told, "it tells first: closed, nobody would tell again")

	kill()
	w.exec(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`)
	require.Equal(t, 1, w.count(`SELECT count(*) FROM in_flight`), "the attempt died with its worker")
	release()
	w.notionWorker()
	testenv.Eventually(t, patience, func() bool {
		return w.page(page).State == "tombstoned" && w.count(`SELECT count(*) FROM in_flight`) == 0
	}, "another worker follows the word, and ends the attempt")
	w.closed(pageSyncOf(id))
	w.closed("connection/notion/webhook/read-" + token)
	assert.Equal(t, 1, w.count(`SELECT count(*) FROM sync_events WHERE kind = 'removed' AND page_id = $1`, id), "it is removed once")
	assert.Equal(t, 3, w.live())
	w.clean()
}
