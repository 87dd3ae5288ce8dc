package tests

import (
	"crypto/sha256"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/loresync/loresync/internal/knowledge"
	"github.com/loresync/loresync/internal/store"
	"github.com/loresync/loresync/internal/testenv"
)

// The text that two pages share, and its vector's key.
const sharedText = "a text that two pages share"

var sharedHash = sha256.Sum256([]byte(sharedText))

// begun takes a page that no listing has seen, as a sync of it would.
func (r *rig) begun(path string) knowledge.Holder {
	r.t.Helper()
	r.put(path, sharedText)
	page, err := r.ResolvePage(r.t.Context(), folderID, path, true)
	require.NoError(r.t, err)
	begun, err := r.store.BeginPageSync(r.t.Context(), folderID, page.PageID, pageSyncOf(page.PageID), "first", "run", knowledge.LanePerson)
	require.NoError(r.t, err)
	require.Equal(r.t, "begun", begun.Outcome)
	return knowledge.Holder{Folder: folderID, Page: page.PageID, Token: begun.Token}
}

func (r *rig) stageShared(h knowledge.Holder) (knowledge.Staged, error) {
	summary := "summary"
	return r.store.StageRevision(r.t.Context(), h, knowledge.StagedRevision{
		Raw: []byte(sharedText), Format: "markdown", ContentHash: sharedHash[:], Markdown: sharedText, Title: "T", Summary: &summary,
		Fingerprint: sharedHash[:], EmbeddingModel: "m", EmbeddingDimensions: 2,
		Chunks: []knowledge.StagedChunk{{Body: sharedText, TextHash: sharedHash[:], Terms: []string{"text"}}},
	})
}

func (r *rig) enrichShared(h knowledge.Holder, staged knowledge.Staged) (string, error) {
	return r.store.EnrichRevision(r.t.Context(), h, knowledge.Enrichment{
		RevisionID: *staged.RevisionID, Model: "m", Dimensions: 2, Hashes: [][]byte{sharedHash[:]}, Vectors: [][]float32{{0.6, 0.8}},
	})
}

// publishShared stages, embeds where it is needed, and publishes.
func (r *rig) publishShared(h knowledge.Holder) {
	r.t.Helper()
	staged, err := r.stageShared(h)
	require.NoError(r.t, err)
	if len(staged.Missing) > 0 {
		_, err = r.enrichShared(h, staged)
		require.NoError(r.t, err)
	}
	r.publishStaged(h, staged)
}

func (r *rig) publishStaged(h knowledge.Holder, staged knowledge.Staged) {
	r.t.Helper()
	published, err := r.store.PublishStaged(r.t.Context(), h, *staged.RevisionID, nil)
	require.NoError(r.t, err)
	require.Equal(r.t, "published", published.Outcome)
}

// stopStatements stops what does something to a table inside its transaction, until release.
func (r *rig) stopStatements(when, table string) (release func()) {
	r.t.Helper()
	release = r.lock(`SELECT pg_advisory_xact_lock(4711)`)
	r.exec(`CREATE FUNCTION stop_here() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM pg_advisory_xact_lock(4711); RETURN coalesce(NEW, OLD); END $$`)
	r.exec(`CREATE TRIGGER stop_here ` + when + ` ON ` + table + ` FOR EACH ROW EXECUTE FUNCTION stop_here()`)
	return release
}

// deletedNow accepts a delete with --now of a page and gives what its workflow would do about its rows.
func (r *rig) deletedNow(h knowledge.Holder) (purge func() error) {
	r.t.Helper()
	accepted, err := r.store.AcceptPageDelete(r.t.Context(), store.DeleteRequest{
		Folder: folderID, Page: h.Page, Now: true, Who: "eve", WorkflowID: "w", Undo: time.Hour,
	})
	require.NoError(r.t, err)
	return func() error {
		_, err := r.store.PurgePages(r.t.Context(), *accepted.DeleteID, 500)
		return err
	}
}

// meanwhile runs something and returns when it has ended or waits for a lock.
func (r *rig) meanwhile(function string, act func() error) (outcome <-chan error) {
	r.t.Helper()
	ended := make(chan error, 1)
	go func() { ended <- act() }()
	testenv.Eventually(r.t, patience, func() bool {
		return len(ended) > 0 || r.count(`SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'
			AND strpos(query, $1 || '(') > 0`, function) > 0
	}, function+" ends or waits")
	return ended
}

func TestRule9EmbeddingsAreNotCollectedFromUnderAPage(t *testing.T) {
	t.Parallel()
	const forgotten = `
INSERT INTO embeddings (model, dimensions, text_hash, embedding, created_at) VALUES ('m', 2, $1, '{1,0}', now() - interval '2 days')`
	const withVector = `SELECT count(*) FROM live_chunks WHERE embedding IS NOT NULL`

	t.Run("by the purge of another page, while it is being staged", func(t *testing.T) {
		t.Parallel()
		r := newRig(t, withoutWorker)
		old := r.begun("old.md")
		r.publishShared(old)
		purge := r.deletedNow(old)
		fresh := r.begun("fresh.md")
		release := r.stopStatements("AFTER INSERT", "chunks")
		var staged knowledge.Staged
		staging := r.meanwhile("stage_revision", func() (err error) { staged, err = r.stageShared(fresh); return err })
		purging := r.meanwhile("purge_pages", purge)
		release()
		require.NoError(t, <-purging, "the purge leaves the vector alone")
		require.NoError(t, <-staging)
		assert.Empty(t, staged.Missing, "nothing is embedded again")
		r.publishStaged(fresh, staged)
		assert.Equal(t, 1, r.count(withVector))
	})

	t.Run("by the janitor, in the middle of its collection", func(t *testing.T) {
		t.Parallel()
		r := newRig(t, withoutWorker)
		r.exec(forgotten, sharedHash[:])
		fresh := r.begun("fresh.md")
		release := r.stopStatements("BEFORE DELETE", "embeddings")
		collecting := r.meanwhile("collect_embeddings", func() error { _, err := r.store.DropOrphanEmbeddings(t.Context(), 500); return err })
		var staged knowledge.Staged
		staging := r.meanwhile("stage_revision", func() (err error) { staged, err = r.stageShared(fresh); return err })
		release()
		require.NoError(t, <-collecting)
		require.NoError(t, <-staging)
		assert.Len(t, staged.Missing, 1, "it is gone, and the page says so instead of believing in it")
		_, err := r.enrichShared(fresh, staged)
		require.NoError(t, err)
		r.publishStaged(fresh, staged)
		assert.Equal(t, 1, r.count(withVector))
	})

	t.Run("by the janitor, once it is staged", func(t *testing.T) {
		t.Parallel()
		r := newRig(t, withoutWorker)
		r.exec(forgotten, sharedHash[:])
		fresh := r.begun("fresh.md")
		release := r.stopStatements("AFTER INSERT", "chunks")
		var staged knowledge.Staged
		staging := r.meanwhile("stage_revision", func() (err error) { staged, err = r.stageShared(fresh); return err })
		gone, err := r.store.DropOrphanEmbeddings(t.Context(), 500)
		require.NoError(t, err)
		assert.Zero(t, gone, "who is about to use it holds it")
		release()
		require.NoError(t, <-staging)
		assert.Empty(t, staged.Missing)
		r.publishStaged(fresh, staged)
		assert.Equal(t, 1, r.count(withVector))
	})
}
