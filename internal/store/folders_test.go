package store_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/loresync/loresync/internal/knowledge"
	"github.com/loresync/loresync/internal/store"
)

// page puts the row of a page there, as a listing would.
func (d *desk) page(id, parent string) {
	d.t.Helper()
	d.exec(`INSERT INTO pages (folder_id, page_id, source_id, parent_source_id, title, path) VALUES ($1, $2, $3, $4, $5, $3)`,
		folder, id, id+".md", parent, "Title of "+id)
}

func (d *desk) begins(page string) {
	d.t.Helper()
	b, err := d.BeginPageSync(d.t.Context(), folder, page, "folder/hr/page/"+page+"/sync", uuid.NewString(), uuid.NewString(), knowledge.LanePerson)
	require.NoError(d.t, err)
	require.Equal(d.t, "begun", b.Outcome)
}

func TestFoldersAreAddedOnceAndCounted(t *testing.T) {
	t.Parallel()
	d, ctx := newDesk(t), t.Context()
	added, err := d.AddFolder(ctx, store.NewFolder{ID: "it", Source: "files", Connection: "files", Root: "/it", Title: "IT", Owner: "mika"}, "mika")
	require.NoError(t, err)
	assert.True(t, added)
	added, err = d.AddFolder(ctx, store.NewFolder{ID: "it", Source: "files", Connection: "files", Root: "/other", Title: "IT"}, "mika")
	require.NoError(t, err)
	assert.False(t, added)
	assert.Equal(t, 1, d.count(`SELECT count(*) FROM sync_events WHERE kind = 'folder_added' AND folder_id = 'it' AND actor = 'mika'`))

	d.page("a", "")
	d.page("b", "")
	d.exec(`UPDATE pages SET skip_class = 'binary', skip_sentence = 'It is binary.' WHERE page_id = 'b'`)
	d.exec(`INSERT INTO page_failures (folder_id, page_id, class, sentence, retry_at) VALUES ('hr', 'a', 'Unavailable', 'Busy.', now())`)
	d.begins("a")
	hr, err := d.Folder(ctx, folder)
	require.NoError(t, err)
	assert.Equal(t, knowledge.PageCounts{Pending: 1, Skipped: 1, Failed: 1, Syncing: 1}, hr.Pages)
	assert.Equal(t, "15m", hr.Interval)

	_, err = d.Folder(ctx, "none")
	require.ErrorIs(t, err, store.ErrNotFound)
	all, err := d.Folders(ctx)
	require.NoError(t, err)
	require.Len(t, all, 2)
	assert.Equal(t, []string{"hr", "it"}, []string{all[0].ID, all[1].ID})
}

func TestADeletedFolderCountsAllItsPagesAsExcluded(t *testing.T) {
	t.Parallel()
	d, ctx := newDesk(t), t.Context()
	d.page("a", "")
	_, err := d.AcceptFolderDelete(ctx, store.DeleteRequest{Folder: folder, Who: "mika", WorkflowID: "folder/hr/delete", Undo: undo})
	require.NoError(t, err)
	hr, err := d.Folder(ctx, folder)
	require.NoError(t, err)
	assert.Equal(t, "deleted", hr.State)
	assert.Equal(t, knowledge.PageCounts{Excluded: 1}, hr.Pages)
	page, err := d.Page(ctx, folder, "a")
	require.NoError(t, err)
	assert.Equal(t, knowledge.StateExcluded, page.State)
	assert.Contains(t, page.Reason, "folder")
	assert.NotNil(t, page.PurgeAt)
	excluded, err := d.Pages(ctx, folder, store.PageQuery{State: "excluded"})
	require.NoError(t, err)
	assert.Len(t, excluded, 1)
}

func TestANewRootStopsWhatReadsTheOldOne(t *testing.T) {
	t.Parallel()
	d, ctx := newDesk(t), t.Context()
	listing := d.list(doc("a.md", "1"))
	d.register(listing)
	require.NoError(t, d.RememberListing(ctx, listing, "checkpoint"))
	d.exec(`UPDATE pages SET strikes = 1, unseen_since = now()`)
	var page string
	require.NoError(t, d.sql.QueryRow(ctx, `SELECT page_id FROM pages`).Scan(&page))
	d.begins(page)

	root := "/elsewhere"
	changed, err := d.SetFolder(ctx, folder, store.FolderChange{Root: &root}, "mika")
	require.NoError(t, err)
	assert.True(t, changed)
	assert.Equal(t, 1, d.count(`SELECT count(*) FROM in_flight WHERE cancel_requested`))
	assert.Zero(t, d.count(`SELECT count(*) FROM folder_listings`), "the checkpoint belongs to the old root")
	assert.Zero(t, d.count(`SELECT sum(strikes) FROM pages`), "absence below the old root is no evidence")
	goOn, err := d.ListingMayGoOn(ctx, listing)
	require.NoError(t, err)
	assert.False(t, goOn)
	hr, err := d.Folder(ctx, folder)
	require.NoError(t, err)
	assert.Equal(t, root, hr.Root)
}

func TestOtherSettingsLeaveSyncsAlone(t *testing.T) {
	t.Parallel()
	d, ctx := newDesk(t), t.Context()
	d.page("a", "")
	d.begins("a")
	title, interval, limits := "People", 90*time.Minute, json.RawMessage(`{"max_bytes": 5}`)
	changed, err := d.SetFolder(ctx, folder, store.FolderChange{Title: &title, Interval: &interval, Limits: &limits}, "mika")
	require.NoError(t, err)
	assert.True(t, changed)
	assert.Zero(t, d.count(`SELECT count(*) FROM in_flight WHERE cancel_requested`))
	assert.Equal(t, 1, d.count(`SELECT count(*) FROM in_flight i JOIN folders f ON f.generation = i.folder_generation`))
	hr, err := d.Folder(ctx, folder)
	require.NoError(t, err)
	assert.Equal(t, "People", hr.Title)
	assert.Equal(t, "1h30m", hr.Interval)
	assert.JSONEq(t, string(limits), string(hr.Limits))
	assert.Equal(t, 1, d.count(`SELECT count(*) FROM sync_events WHERE kind = 'folder_set' AND data = '{"fields": ["title", "interval", "limits"]}'`))

	changed, err = d.SetFolder(ctx, "none", store.FolderChange{Title: &title}, "mika")
	require.NoError(t, err)
	assert.False(t, changed)
}

func TestAFolderIsPausedWithItsConnection(t *testing.T) {
	t.Parallel()
	d, ctx := newDesk(t), t.Context()
	state := func() string {
		hr, err := d.Folder(ctx, folder)
		require.NoError(t, err)
		return hr.State
	}
	for _, paused := range []bool{true, false} {
		changed, err := d.PauseConnection(ctx, "files", paused, "the disk is away", "mika")
		require.NoError(t, err)
		assert.True(t, changed)
		assert.Equal(t, map[bool]string{true: "paused", false: "active"}[paused], state())
	}
	for _, paused := range []bool{true, false} {
		changed, err := d.PauseFolder(ctx, folder, paused, "mika")
		require.NoError(t, err)
		assert.True(t, changed)
		again, err := d.PauseFolder(ctx, folder, paused, "mika")
		require.NoError(t, err)
		assert.False(t, again, "a second one changes nothing and is no event")
		assert.Equal(t, map[bool]string{true: "paused", false: "active"}[paused], state())
	}
	assert.Equal(t, 2, d.count(`SELECT count(*) FROM sync_events WHERE kind IN ('folder_paused', 'folder_resumed')`))
}

func TestConnectionsAreRecordedOnce(t *testing.T) {
	t.Parallel()
	d, ctx := newDesk(t), t.Context()
	added, err := d.AddConnection(ctx, store.Connection{Name: "archive", Source: "files"}, "mika")
	require.NoError(t, err)
	assert.True(t, added)
	added, err = d.AddConnection(ctx, store.Connection{Name: "archive", Source: "files"}, "mika")
	require.NoError(t, err)
	assert.False(t, added)
	all, err := d.Connections(ctx)
	require.NoError(t, err)
	assert.Len(t, all, 4, "with the default ones")
	_, err = d.Connection(ctx, "none")
	require.ErrorIs(t, err, store.ErrNotFound)
}
