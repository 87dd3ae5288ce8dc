package store_test

import (
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/loresync/loresync/internal/knowledge"
	"github.com/loresync/loresync/internal/source"
	"github.com/loresync/loresync/internal/store"
)

// began begins a listing, a full one or not.
func (d *desk) began(full bool) int64 {
	d.t.Helper()
	l, err := d.BeginListing(d.t.Context(), "folder/hr/sync/"+uuid.NewString(), folder, uuid.NewString())
	require.NoError(d.t, err)
	d.exec(`UPDATE listings SET full_listing = $2 WHERE listing_id = $1`, l.ListingID, full)
	return l.ListingID
}

func (d *desk) completed(listingID int64) {
	d.t.Helper()
	_, err := d.CompleteListing(d.t.Context(), listingID, source.VerdictComplete, "")
	require.NoError(d.t, err)
}

// keep notes something on pages, whose source ids end in .md.
func (d *desk) keep(listingID int64, note string, pages ...string) {
	d.t.Helper()
	notes := map[string][]byte{}
	for _, page := range pages {
		notes[page+".md"] = []byte(note)
	}
	require.NoError(d.t, d.KeepNotes(d.t.Context(), listingID, notes))
}

func (d *desk) notes() int { return d.count(`SELECT count(*) FROM listing_notes`) }

// noteOn reads a page as a crawl does, and gives the note on it.
func (d *desk) noteOn(page string) string {
	d.t.Helper()
	note, _, err := d.TakeNote(d.t.Context(), d.crawls(page), page+".md")
	require.NoError(d.t, err)
	return string(note)
}

func (d *desk) crawls(page string) knowledge.Holder {
	d.t.Helper()
	b, err := d.BeginPageSync(d.t.Context(), folder, page, "folder/hr/page/"+page+"/sync", "first", "run", knowledge.LaneBackfill)
	require.NoError(d.t, err)
	return knowledge.Holder{Folder: folder, Page: page, Token: b.Token}
}

// noted is a desk whose first listing, over by now, kept a note on each of its pages.
func noted(t *testing.T, pages ...string) (*desk, int64) {
	t.Helper()
	d := newDesk(t)
	first := d.began(true)
	d.keep(first, "note", pages...)
	d.completed(first)
	for _, page := range pages {
		d.page(page, "")
	}
	return d, first
}

func TestNotesAreTakenOnceAndByTheHolder(t *testing.T) {
	t.Parallel()
	d, _ := noted(t, "a", "b", "c")
	late := d.crawls("a")
	assert.Equal(t, "note", d.noteOn("a"))
	assert.Empty(t, d.noteOn("a"))
	_, found, err := d.TakeNote(t.Context(), late, "b.md")
	require.NoError(t, err)
	assert.False(t, found, "one that was overtaken takes nothing")
	assert.Equal(t, 2, d.notes())

	_, asker := d.begin("b")
	_, found, err = d.TakeNote(t.Context(), asker, "b.md")
	require.NoError(t, err)
	assert.False(t, found, "a person who asks is told what is there now")

	require.NoError(t, d.DropNotes(t.Context(), folder, []string{"c.md", "unknown"}))
	assert.Zero(t, d.notes())
}

func TestNotesGrowOld(t *testing.T) {
	t.Parallel()
	d, _ := noted(t, "old", "older", "young")
	d.exec(`UPDATE listing_notes SET saved_at = now() - interval '31 minutes' WHERE source_id LIKE 'old%'`)
	assert.Empty(t, d.noteOn("old"))
	_, err := d.DropLeftovers(t.Context())
	require.NoError(t, err)
	assert.Equal(t, 1, d.notes())
	assert.Equal(t, "note", d.noteOn("young"))
}

func TestRule2NotesAreWorthNothingOnceAnotherListingMayHaveSeenThePage(t *testing.T) {
	t.Parallel()
	for what, c := range map[string]struct {
		overtake func(d *desk, first int64)
		want     string
	}{
		"a full listing": {func(d *desk, _ int64) { d.began(true) }, ""},
		"an incremental one, which drops the notes on what it mentions": {func(d *desk, _ int64) { d.began(false) }, "note"},
		"a dry run": {func(d *desk, _ int64) {
			d.exec(`UPDATE listings SET dry_run = true WHERE listing_id = $1`, d.began(true))
		}, "note"},
		"another first listing, with notes of its own": {func(d *desk, _ int64) { d.keep(d.began(true), "newer", "a") }, "newer"},
		"another root":                           {func(d *desk, _ int64) { d.exec(`UPDATE folders SET generation = gen_random_uuid()`) }, ""},
		"a worker that lists what was completed": {func(d *desk, first int64) { d.keep(first, "late", "a") }, "note"},
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			d, first := noted(t, "a")
			c.overtake(d, first)
			assert.Equal(t, c.want, d.noteOn("a"))
			assert.Zero(t, d.notes())
		})
	}

	t.Run("listings that overlap", func(t *testing.T) {
		t.Parallel()
		d := newDesk(t)
		first := d.began(true)
		second := d.began(false)
		d.keep(first, "note", "a", "b")
		d.completed(first)
		d.page("a", "")
		assert.Empty(t, d.noteOn("a"), "what the second mentioned may have been noted after that")
		d.keep(second, "newer", "b")
		d.keep(first, "late", "b")
		assert.Equal(t, 1, d.count(`SELECT count(*) FROM listing_notes WHERE note = 'newer'`))
	})
}

func TestRule4NoNoteOutlivesADelete(t *testing.T) {
	t.Parallel()
	d, _ := noted(t, "purged", "kept")
	accepted, err := d.AcceptPageDelete(t.Context(), store.DeleteRequest{Folder: folder, Page: "purged", Now: true, Who: "eve", WorkflowID: "w", Undo: undo})
	require.NoError(t, err)
	require.Equal(t, "accepted", accepted.Outcome)
	_, err = d.PurgePages(t.Context(), *accepted.DeleteID, 500)
	require.NoError(t, err)
	require.Zero(t, d.count(`SELECT count(*) FROM pages WHERE page_id = 'purged'`))
	assert.Equal(t, 1, d.notes(), "nothing is left of what is purged")

	again := d.began(true)
	d.keep(again, "again", "purged", "new")
	assert.Zero(t, d.count(`SELECT count(*) FROM listing_notes WHERE source_id = 'purged.md'`), "nor does it come back with a listing")

	d.exec(`UPDATE folders SET deleted_at = now(), purge_at = now()`)
	d.keep(again, "late", "more")
	assert.Zero(t, d.count(`SELECT count(*) FROM listing_notes WHERE source_id = 'more.md'`))
	for taken := 0; taken >= 0; {
		taken, err = d.PurgeFolder(t.Context(), folder, 500)
		require.NoError(t, err)
	}
	assert.Zero(t, d.notes())
}
