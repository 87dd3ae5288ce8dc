package store_test

import (
	"context"
	"crypto/sha256"
	"fmt"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/loresync/loresync/internal/knowledge"
	"github.com/loresync/loresync/internal/source"
	"github.com/loresync/loresync/internal/store"
	"github.com/loresync/loresync/internal/testenv"
)

const (
	folder = "hr"
	undo   = 7 * 24 * time.Hour
)

// desk is a store with one folder, and a raw connection to look behind it.
type desk struct {
	*store.Store
	t   *testing.T
	sql *pgx.Conn
	url string
}

func newDesk(t *testing.T) *desk {
	t.Helper()
	url := testenv.Database(t)
	st, err := store.Open(t.Context(), url, store.Options{})
	require.NoError(t, err)
	t.Cleanup(st.Close)
	conn, err := pgx.Connect(t.Context(), url)
	require.NoError(t, err)
	t.Cleanup(func() { _ = conn.Close(context.Background()) })
	d := &desk{Store: st, t: t, sql: conn, url: url}
	d.exec(`INSERT INTO folders (folder_id, source, connection, root, title) VALUES ($1, 'files', 'files', '/nowhere', 'HR')`, folder)
	return d
}

func (d *desk) exec(query string, args ...any) {
	d.t.Helper()
	_, err := d.sql.Exec(d.t.Context(), query, args...)
	require.NoError(d.t, err)
}

func (d *desk) count(query string, args ...any) int {
	d.t.Helper()
	var n int
	require.NoError(d.t, d.sql.QueryRow(d.t.Context(), query, args...).Scan(&n))
	return n
}

// listed registers pages as a whole listing would, and completes it.
func (d *desk) listed(entries ...source.Entry) int64 {
	d.t.Helper()
	id := d.list(entries...)
	d.register(id)
	return id
}

func (d *desk) list(entries ...source.Entry) int64 {
	d.t.Helper()
	l, err := d.BeginListing(d.t.Context(), "folder/hr/sync/"+uuid.NewString(), folder, uuid.NewString())
	require.NoError(d.t, err)
	require.Equal(d.t, "begun", l.Outcome)
	_, err = d.sql.Exec(d.t.Context(), `UPDATE listings SET full_listing = true WHERE listing_id = $1`, l.ListingID)
	require.NoError(d.t, err)
	goOn, err := d.StageBatch(d.t.Context(), l.ListingID, 0, source.Batch{Entries: entries, Returned: len(entries)}, false)
	require.NoError(d.t, err)
	require.True(d.t, goOn)
	verdict, err := d.CompleteListing(d.t.Context(), l.ListingID, source.VerdictComplete, "")
	require.NoError(d.t, err)
	require.Equal(d.t, source.VerdictComplete, verdict)
	return l.ListingID
}

func (d *desk) register(listingID int64) {
	d.t.Helper()
	for {
		taken, err := d.RegisterEntries(d.t.Context(), listingID, 500)
		require.NoError(d.t, err)
		if taken <= 0 {
			return
		}
	}
}

func doc(sourceID, version string) source.Entry {
	parent := ""
	for i := len(sourceID) - 1; i > 0; i-- {
		if sourceID[i] == '/' {
			parent = sourceID[:i]
			break
		}
	}
	return source.Entry{SourceID: sourceID, ParentSourceID: parent, Kind: source.KindDocument, Title: sourceID, Path: sourceID, Version: version}
}

func dir(sourceID string) source.Entry {
	e := doc(sourceID, "")
	e.Kind = source.KindContainer
	return e
}

func (d *desk) pageID(sourceID string) string {
	d.t.Helper()
	var id string
	require.NoError(d.t, d.sql.QueryRow(d.t.Context(), `SELECT page_id FROM pages WHERE folder_id = $1 AND source_id = $2`, folder, sourceID).Scan(&id))
	return id
}

func (d *desk) begin(page string) (knowledge.Begun, knowledge.Holder) {
	d.t.Helper()
	b, err := d.BeginPageSync(d.t.Context(), folder, page, "folder/hr/page/"+page+"/sync", "first", "run", knowledge.LanePerson)
	require.NoError(d.t, err)
	return b, knowledge.Holder{Folder: folder, Page: page, Token: b.Token}
}

func (d *desk) stage(h knowledge.Holder, text string) knowledge.Staged {
	d.t.Helper()
	hash := sha256.Sum256([]byte(text))
	summary := "summary"
	var place knowledge.Place
	require.NoError(d.t, d.sql.QueryRow(d.t.Context(), `SELECT url, path, parent_source_id, listed_title FROM pages WHERE page_id = $1`, h.Page).
		Scan(&place.URL, &place.Path, &place.Parent, &place.ListedTitle))
	staged, err := d.StageRevision(d.t.Context(), h, knowledge.StagedRevision{
		Raw: []byte(text), Format: "markdown", ContentHash: hash[:], Markdown: text, Title: "T", Summary: &summary, Version: "v-" + text,
		Fingerprint: hash[:], EmbeddingModel: "m", EmbeddingDimensions: 2, Place: place,
		Chunks: []knowledge.StagedChunk{{Body: text, TextHash: hash[:], Terms: []string{"it's", `back\slash`, "word"}}},
	})
	require.NoError(d.t, err)
	return staged
}

func (d *desk) publish(page, text string) knowledge.Published {
	d.t.Helper()
	begun, h := d.begin(page)
	require.Equal(d.t, "begun", begun.Outcome)
	staged := d.stage(h, text)
	if len(staged.Missing) > 0 {
		outcome, err := d.EnrichRevision(d.t.Context(), h, knowledge.Enrichment{
			RevisionID: *staged.RevisionID, Model: "m", Dimensions: 2, Hashes: staged.Missing, Vectors: [][]float32{{0.6, 0.8}},
		})
		require.NoError(d.t, err)
		require.Equal(d.t, "enriched", outcome)
	}
	published, err := d.PublishStaged(d.t.Context(), h, *staged.RevisionID, nil)
	require.NoError(d.t, err)
	return published
}

func (d *desk) live() int {
	return d.count(`SELECT count(*) FROM live_pages WHERE folder_id = $1`, folder)
}

func (d *desk) deletePage(page string, subtree bool) store.Accepted {
	d.t.Helper()
	accepted, err := d.AcceptPageDelete(d.t.Context(), store.DeleteRequest{
		Folder: folder, Page: page, Subtree: subtree, Who: "eve", WorkflowID: "folder/hr/page/" + page + "/delete", Undo: undo,
	})
	require.NoError(d.t, err)
	return accepted
}

func TestRule14ModelsDueWithThePublish(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.listed(doc("a.md", "1"))
	page := d.pageID("a.md")
	due := func() int {
		return d.count(`SELECT count(*) FROM due_reads WHERE page_id = $1 AND reason = 'models' AND due_at > now() + interval '9 minutes'`, page)
	}
	after := 10 * time.Minute

	_, overtaken := d.begin(page)
	stagedFirst := d.stage(overtaken, "first")
	_, h := d.begin(page)
	staged := d.stage(h, "second")
	late, err := d.PublishStaged(t.Context(), overtaken, *stagedFirst.RevisionID, &after)
	require.NoError(t, err)
	assert.Equal(t, "fenced", late.Outcome)
	assert.Zero(t, due(), "what isn't published isn't due")

	published, err := d.PublishStaged(t.Context(), h, *staged.RevisionID, &after)
	require.NoError(t, err)
	assert.Equal(t, "published", published.Outcome)
	assert.Equal(t, 1, due(), "no step after the publish is needed: whoever died there would leave the page without its vectors")

	d.publish(page, "third")
	assert.Zero(t, due(), "with its models the page is due no more")
}

func TestRule3Fence(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.listed(doc("a.md", "1"))
	page := d.pageID("a.md")

	t.Run("an attempt that was overtaken can write nothing", func(t *testing.T) {
		_, first := d.begin(page)
		firstStaged := d.stage(first, "first")
		_, second := d.begin(page)
		assert.Equal(t, "fenced", d.stage(first, "late").Outcome)
		secondStaged := d.stage(second, "second")
		late, err := d.PublishStaged(t.Context(), first, *firstStaged.RevisionID, nil)
		require.NoError(t, err)
		assert.Equal(t, "fenced", late.Outcome)
		published, err := d.PublishStaged(t.Context(), second, *secondStaged.RevisionID, nil)
		require.NoError(t, err)
		assert.Equal(t, "published", published.Outcome)
		again, err := d.PublishStaged(t.Context(), second, *secondStaged.RevisionID, nil)
		require.NoError(t, err)
		assert.Equal(t, "fenced", again.Outcome, "the row went with the publish")
	})

	t.Run("a run after a restored backup loses", func(t *testing.T) {
		_, h := d.begin(page)
		staged := d.stage(h, "before the restore")
		d.exec(`UPDATE deployment SET incarnation = gen_random_uuid()`)
		late, err := d.PublishStaged(t.Context(), h, *staged.RevisionID, nil)
		require.NoError(t, err)
		assert.Equal(t, "fenced", late.Outcome)
	})

	t.Run("another generation of the folder or page loses", func(t *testing.T) {
		for _, change := range []string{`UPDATE folders SET generation = gen_random_uuid()`, `UPDATE pages SET generation = gen_random_uuid()`} {
			_, h := d.begin(page)
			staged := d.stage(h, change)
			d.exec(change)
			late, err := d.PublishStaged(t.Context(), h, *staged.RevisionID, nil)
			require.NoError(t, err)
			assert.Equal(t, "fenced", late.Outcome, change)
		}
	})

	t.Run("published revisions never change", func(t *testing.T) {
		_, err := d.sql.Exec(t.Context(), `UPDATE revisions SET markdown = 'forged' WHERE state <> 'staged'`)
		require.ErrorContains(t, err, "never changes")
		_, err = d.sql.Exec(t.Context(), `UPDATE chunks SET body = 'forged'`)
		require.ErrorContains(t, err, "never changes")
	})
	assert.Equal(t, 1, d.live())
}

func TestRule4DeleteMeansGone(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.listed(doc("a.md", "1"), doc("b.md", "1"))
	page := d.pageID("a.md")
	d.publish(page, "secret")
	d.publish(d.pageID("b.md"), "other")
	require.Equal(t, 2, d.live())

	_, running := d.begin(page)
	staged := d.stage(running, "newer secret")
	accepted := d.deletePage(page, false)
	assert.Equal(t, "accepted", accepted.Outcome)
	assert.EqualValues(t, 1, *accepted.Pages)
	assert.Equal(t, 1, d.live(), "hidden from the accept")

	late, err := d.PublishStaged(t.Context(), running, *staged.RevisionID, nil)
	require.NoError(t, err)
	assert.Equal(t, "cancel_requested", late.Outcome)
	begun, _ := d.begin(page)
	assert.Equal(t, "excluded", begun.Outcome)
	assert.Equal(t, "joined", d.deletePage(page, false).Outcome)

	flights, err := d.FlightsBelow(t.Context(), *accepted.DeleteID)
	require.NoError(t, err)
	require.Len(t, flights, 1)
	outcome, err := d.FinishDelete(t.Context(), *accepted.DeleteID)
	require.NoError(t, err)
	assert.Equal(t, "in_flight", outcome)
	dropped, err := d.DropAttempt(t.Context(), running)
	require.NoError(t, err)
	assert.True(t, dropped)
	outcome, err = d.FinishDelete(t.Context(), *accepted.DeleteID)
	require.NoError(t, err)
	assert.Equal(t, "finished", outcome)
	assert.Zero(t, d.count(`SELECT count(*) FROM revisions WHERE state = 'staged'`))

	d.exec(`UPDATE pages SET purge_at = now() WHERE page_id = $1`, page)
	d.exec(`UPDATE deletes SET purge_at = now()`)
	purged, err := d.PurgePages(t.Context(), 0, 100)
	require.NoError(t, err)
	assert.Equal(t, 1, purged)
	assert.Zero(t, d.count(`SELECT count(*) FROM pages WHERE page_id = $1`, page))
	assert.Zero(t, d.count(`SELECT count(*) FROM revisions WHERE page_id = $1`, page))
	assert.Equal(t, 1, d.count(`SELECT count(*) FROM embeddings`), "the vector of the deleted text went too")

	d.listed(doc("a.md", "2"), doc("b.md", "1"))
	assert.Zero(t, d.count(`SELECT count(*) FROM pages WHERE source_id = 'a.md'`), "the exclusion outlives the purge")
}

func TestRule8ExplicitDeleteSticks(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	tree := []source.Entry{dir("x"), dir("x/y"), doc("x/1.md", "1"), doc("x/y/2.md", "1"), doc("z.md", "1")}
	d.listed(tree...)
	for _, id := range []string{"x/1.md", "x/y/2.md", "z.md"} {
		d.publish(d.pageID(id), id)
	}
	assert.Equal(t, "needs_subtree", d.deletePage(d.pageID("x"), false).Outcome)

	accepted := d.deletePage(d.pageID("x"), true)
	assert.EqualValues(t, 2, *accepted.Pages)
	assert.Equal(t, 1, d.live(), "all below is hidden from the accept, before any page row of it is written")
	begun, _ := d.begin(d.pageID("x/y/2.md"))
	assert.Equal(t, "excluded", begun.Outcome)

	swept, err := d.SweepSubtree(t.Context(), *accepted.DeleteID, 500)
	require.NoError(t, err)
	assert.Equal(t, 3, swept)
	done, err := d.FinishSweep(t.Context(), *accepted.DeleteID)
	require.NoError(t, err)
	assert.True(t, done)

	t.Run("what appears below later is covered, and a moved page too", func(t *testing.T) {
		moved := doc("z.md", "1")
		moved.ParentSourceID = "x/y"
		id := d.listed(append(tree[:4:4], moved, doc("x/y/new.md", "1"), dir("x/n"), doc("x/n/3.md", "1"))...)
		assert.Zero(t, d.live())
		assert.Zero(t, d.count(`SELECT count(*) FROM pages WHERE source_id IN ('x/y/new.md', 'x/n/3.md')`))
		counted, err := d.CountListing(t.Context(), id)
		require.NoError(t, err)
		assert.EqualValues(t, 5, counted.Excluded)
		assert.EqualValues(t, 5, counted.Listed)
	})

	t.Run("the purge leaves nothing but exclusions, and a child can't come back", func(t *testing.T) {
		d.exec(`UPDATE pages SET purge_at = now() WHERE tombstoned_at IS NOT NULL`)
		d.exec(`UPDATE deletes SET purge_at = now()`)
		_, err := d.PurgePages(t.Context(), 0, 500)
		require.NoError(t, err)
		assert.Zero(t, d.count(`SELECT count(*) FROM pages`))
		assert.Zero(t, d.count(`SELECT count(*) FROM revisions`))
		assert.Zero(t, d.count(`SELECT count(*) FROM embeddings`))
		d.listed(tree[:4]...)
		assert.Zero(t, d.count(`SELECT count(*) FROM pages WHERE kind = 'document'`))
	})

	t.Run("a restore lifts it, with what it covered", func(t *testing.T) {
		restored, err := d.RestorePage(t.Context(), folder, "x", "eve")
		require.NoError(t, err)
		assert.Contains(t, []string{"lifted", "restored"}, restored.Outcome)
		d.listed(tree[:4]...)
		assert.Equal(t, 2, d.count(`SELECT count(*) FROM pages WHERE kind = 'document'`))
	})
}

func TestRule8RestoreBringsBackWhatWasPublished(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.listed(dir("x"), doc("x/1.md", "1"), doc("x/2.md", "1"))
	d.publish(d.pageID("x/1.md"), "one")
	d.publish(d.pageID("x/2.md"), "two")
	d.deletePage(d.pageID("x/2.md"), false)
	accepted := d.deletePage(d.pageID("x"), true)
	_, err := d.SweepSubtree(t.Context(), *accepted.DeleteID, 1)
	require.NoError(t, err)

	covered, err := d.RestorePage(t.Context(), folder, "x/1.md", "eve")
	require.NoError(t, err)
	assert.Equal(t, "covered", covered.Outcome)
	restored, err := d.RestorePage(t.Context(), folder, "x", "eve")
	require.NoError(t, err)
	require.Equal(t, "restored", restored.Outcome)
	for {
		n, err := d.RestoreSwept(t.Context(), *restored.DeleteID, 1)
		require.NoError(t, err)
		if n == 0 {
			break
		}
	}
	assert.Equal(t, 1, d.live(), "the page that had its own delete stays deleted")
	again, err := d.RestorePage(t.Context(), folder, "x/2.md", "eve")
	require.NoError(t, err)
	assert.Equal(t, "restored", again.Outcome)
	assert.Equal(t, 2, d.live())
}

func TestRule7Absence(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	a, b := doc("a.md", "1"), doc("b.md", "1")
	d.listed(a, b)
	pa := d.pageID("a.md")
	d.publish(pa, "a")
	d.publish(d.pageID("b.md"), "b")

	strike := func(entries ...source.Entry) knowledge.Absence {
		id := d.listed(entries...)
		absence, err := d.RecordAbsence(t.Context(), id, "", 500)
		require.NoError(t, err)
		return absence
	}
	assert.Zero(t, strike(b).Candidates, "one listing is no removal")

	overlapping := d.list(b)
	assert.EqualValues(t, 1, strike(b).Candidates, "two are, the second begun after the first was reconciled")
	older, err := d.RecordAbsence(t.Context(), overlapping, "", 500)
	require.NoError(t, err)
	assert.Equal(t, "stale", older.Outcome, "an older listing that finishes after a newer one is dropped")

	assert.Zero(t, strike(a, b).Candidates, "seen again: the strikes are gone")
	assert.Zero(t, strike(b).Candidates)
	_, reading := d.begin(pa)
	assert.Zero(t, strike(b).Candidates, "a page in flight gets no strike")
	_, err = d.DropAttempt(t.Context(), reading)
	require.NoError(t, err)
	assert.Zero(t, strike(b).Candidates)
	assert.EqualValues(t, 1, strike(b).Candidates)

	gone, err := d.RemoveLostPages(t.Context(), folder, []string{pa, d.pageID("b.md")}, undo)
	require.NoError(t, err)
	assert.Equal(t, []string{pa}, gone, "only what has its strikes goes")
	assert.Equal(t, 1, d.live())

	d.listed(a, b)
	begun, _ := d.begin(pa)
	assert.Equal(t, "begun", begun.Outcome, "a page that the source lost may come back")
	published := d.publish(pa, "a")
	assert.True(t, published.Revived)
	assert.Equal(t, 2, d.live())
}

func TestRule7IncompleteListingsAreNoEvidence(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.listed(doc("a.md", "1"))
	d.publish(d.pageID("a.md"), "a")
	for range 3 {
		l, err := d.BeginListing(t.Context(), "folder/hr/sync/"+uuid.NewString(), folder, uuid.NewString())
		require.NoError(t, err)
		_, err = d.StageBatch(t.Context(), l.ListingID, 0, source.Batch{Returned: 1}, false)
		require.NoError(t, err)
		verdict, err := d.CompleteListing(t.Context(), l.ListingID, source.VerdictComplete, "")
		require.NoError(t, err)
		assert.Equal(t, source.VerdictIncompleteCount, verdict, "fewer items were stored than the source returned")
		absence, err := d.RecordAbsence(t.Context(), l.ListingID, "", 500)
		require.NoError(t, err)
		assert.Equal(t, "no_evidence", absence.Outcome)
	}
	assert.Equal(t, 1, d.live())
}

func TestRule4FolderDeleteIsAcceptedAmongPublishers(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	const pages = 16
	entries := make([]source.Entry, pages)
	for i := range entries {
		entries[i] = doc(fmt.Sprintf("%02d.md", i), "1")
	}
	d.listed(entries...)
	ctx, stop := context.WithCancel(t.Context())
	var publishers sync.WaitGroup
	for i := range entries {
		page := d.pageID(entries[i].SourceID)
		publishers.Go(func() {
			for n := 0; ctx.Err() == nil; n++ {
				b, err := d.BeginPageSync(ctx, folder, page, "w", "f", "r", knowledge.LaneBackfill)
				if err != nil || b.Outcome != "begun" {
					return
				}
				h := knowledge.Holder{Folder: folder, Page: page, Token: b.Token}
				_, _ = d.PublishUnchanged(ctx, h, knowledge.Reading{Title: strconv.Itoa(n)})
			}
		})
	}
	testenv.Eventually(t, 10*time.Second, func() bool { return d.count(`SELECT count(*) FROM pages WHERE read_at IS NOT NULL`) > pages/2 }, "publishers run")
	begun := time.Now()
	accepted, err := d.AcceptFolderDelete(t.Context(), store.DeleteRequest{Folder: folder, Who: "eve", WorkflowID: "w", Undo: undo})
	require.NoError(t, err)
	t.Logf("accepted in %s", time.Since(begun))
	assert.Equal(t, "accepted", accepted.Outcome)
	stop()
	publishers.Wait()
	begunNow, _ := d.begin(d.pageID("00.md"))
	assert.Equal(t, "folder_deleted", begunNow.Outcome)
	outcome, err := d.RestoreFolder(t.Context(), folder, "eve")
	require.NoError(t, err)
	assert.Equal(t, "restored", outcome)
}
