package store_test

import (
	"fmt"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/loresync/loresync/internal/knowledge"
	"github.com/loresync/loresync/internal/store"
)

func pageIDs(pages []knowledge.Page) []string {
	ids := make([]string, len(pages))
	for i, p := range pages {
		ids[i] = p.PageID
	}
	return ids
}

func TestPagesAreFilteredByState(t *testing.T) {
	t.Parallel()
	d, ctx := newDesk(t), t.Context()
	for _, id := range []string{"pending", "skipped", "failed", "syncing", "held", "lost", "deleted"} {
		d.page(id, "")
	}
	d.exec(`INSERT INTO pages (folder_id, page_id, source_id, kind) VALUES ('hr', 'shelf', 'shelf', 'container')`)
	d.exec(`UPDATE pages SET skip_class = 'binary', skip_sentence = 'It is binary.' WHERE page_id = 'skipped'`)
	d.exec(`INSERT INTO page_failures (folder_id, page_id, class, sentence, retry_at)
		SELECT 'hr', x, 'Unavailable', 'Busy.', now() FROM unnest(ARRAY['failed', 'lost']) x`)
	d.begins("syncing")
	d.exec(`INSERT INTO holds (hold_id, folder_id, reason) VALUES ('h1', 'hr', 'too many')`)
	d.exec(`INSERT INTO hold_pages (hold_id, folder_id, page_id) VALUES ('h1', 'hr', 'held')`)
	d.exec(`UPDATE pages SET tombstoned_at = now(), tombstone_reason = 'source', purge_at = now() WHERE page_id = 'lost'`)
	_, err := d.AcceptPageDelete(ctx, store.DeleteRequest{Folder: folder, Page: "deleted", Who: "mika", WorkflowID: "w", Undo: undo})
	require.NoError(t, err)

	for state, want := range map[string][]string{
		"":           {"pending", "skipped", "failed", "syncing", "held", "lost", "deleted"},
		"pending":    {"pending", "failed", "syncing", "held"},
		"skipped":    {"skipped"},
		"failed":     {"failed"},
		"syncing":    {"syncing"},
		"held":       {"held"},
		"tombstoned": {"lost"},
		"excluded":   {"deleted"},
		"live":       {},
	} {
		pages, err := d.Pages(ctx, folder, store.PageQuery{State: state})
		require.NoError(t, err)
		assert.Equal(t, want, pageIDs(pages), "state %q", state)
	}
	with, err := d.Pages(ctx, folder, store.PageQuery{Containers: true})
	require.NoError(t, err)
	assert.Len(t, with, 8)
}

func TestPagesAreReadInParts(t *testing.T) {
	t.Parallel()
	d, ctx := newDesk(t), t.Context()
	want := make([]string, 25)
	for i := range want {
		want[i] = fmt.Sprintf("p%02d", i)
		d.page(want[i], "")
	}
	got, after := []string{}, ""
	for {
		part, err := d.Pages(ctx, folder, store.PageQuery{Limit: 10, After: after})
		require.NoError(t, err)
		if len(part) == 0 {
			break
		}
		got = append(got, pageIDs(part)...)
		after = part[len(part)-1].PageID
	}
	assert.Equal(t, want, got)
}

func TestAPageIsFoundByWhatPeopleCallIt(t *testing.T) {
	t.Parallel()
	d, ctx := newDesk(t), t.Context()
	d.page("a", "")
	d.page("b", "")
	d.exec(`UPDATE pages SET url = 'https://wiki/b' WHERE page_id = 'b'`)
	d.exec(`UPDATE pages SET source_id = 'a' WHERE page_id = 'b'`)
	for ref, want := range map[string]string{"a": "a", "a.md": "a", "b": "b", "https://wiki/b": "b"} {
		key, err := d.FindPage(ctx, folder, ref)
		require.NoError(t, err, ref)
		assert.Equal(t, want, key.PageID, ref)
	}
	_, err := d.FindPage(ctx, folder, "")
	require.ErrorIs(t, err, store.ErrNotFound, "a page without an address isn't found by none")
	_, err = d.FindPage(ctx, "other", "a")
	require.ErrorIs(t, err, store.ErrNotFound)
}

func TestAPurgedPageIsFoundByItsExclusion(t *testing.T) {
	t.Parallel()
	d, ctx := newDesk(t), t.Context()
	d.page("a", "")
	_, err := d.AcceptPageDelete(ctx, store.DeleteRequest{Folder: folder, Page: "a", Now: true, Who: "mika", WorkflowID: "w", Undo: undo})
	require.NoError(t, err)
	_, err = d.PurgePages(ctx, 0, 100)
	require.NoError(t, err)
	require.Zero(t, d.count(`SELECT count(*) FROM pages`))
	for _, ref := range []string{"a", "a.md"} {
		key, err := d.FindPage(ctx, folder, ref)
		require.NoError(t, err)
		assert.True(t, key.ExclusionOnly)
		assert.Equal(t, "a.md", key.SourceID)
		facts, err := d.PageFacts(ctx, key)
		require.NoError(t, err)
		assert.Nil(t, facts.Page)
		assert.Equal(t, "mika", *facts.ExcludedBy)
	}
}

func TestAPageIsRegisteredOnceByConcurrentRequests(t *testing.T) {
	t.Parallel()
	d, ctx := newDesk(t), t.Context()
	ids := make(chan string, 8)
	for range cap(ids) {
		go func() {
			key, err := d.RegisterPage(ctx, store.NewPage{FolderID: folder, SourceID: "new.md", CandidateID: "new", Kind: "document", Title: "New"})
			assert.NoError(t, err)
			ids <- key.PageID
		}()
	}
	for range cap(ids) {
		assert.Equal(t, "new", <-ids)
	}
	assert.Equal(t, 1, d.count(`SELECT count(*) FROM pages WHERE found_by = 'request'`))
	other, err := d.RegisterPage(ctx, store.NewPage{FolderID: folder, SourceID: "other.md", CandidateID: "new", Kind: "document"})
	require.NoError(t, err)
	assert.Equal(t, "new-2", other.PageID, "a taken id gets a suffix")
}

func TestTheNearestExcludedSubtreeIsFound(t *testing.T) {
	t.Parallel()
	d, ctx := newDesk(t), t.Context()
	d.exec(`INSERT INTO exclusions (folder_id, source_id, page_id, subtree, who)
		VALUES ('hr', 'x', 'x', true, 'mika'), ('hr', 'x/y', 'y', true, 'mika'), ('hr', 'x/y/z', 'z', false, 'mika')`)
	top, err := d.ExcludedAmong(ctx, folder, []string{"x/y/z", "x/y", "x"})
	require.NoError(t, err)
	assert.Equal(t, "x/y", top)
	top, err = d.ExcludedAmong(ctx, folder, nil)
	require.NoError(t, err)
	assert.Empty(t, top)
}

// published gives a page one published revision with a chunk.
func (d *desk) published(page, text string) {
	d.t.Helper()
	d.exec(`INSERT INTO revisions (folder_id, page_id, token, state, read_seq, raw, format, content_hash, markdown, title, published_at, summary)
		VALUES ('hr', $1, $2, 'published', 1, $3::bytea, 'markdown', 'h', $4, 'T', now(), 'Short.')`, page, uuid.New(), []byte(text), text)
	d.exec(`INSERT INTO chunks (revision_id, chunk_no, heading_path, body, text_hash, terms)
		SELECT revision_id, 0, '{Top,Below}', $2, 'h', to_tsvector('simple', $2) FROM revisions WHERE page_id = $1`, page, text)
	d.exec(`UPDATE pages SET published_revision_id = (SELECT revision_id FROM revisions WHERE page_id = $1), published_read_seq = 1 WHERE page_id = $1`, page)
}

func TestAPublishedPageGivesItsTextItsChunksAndItsHistory(t *testing.T) {
	t.Parallel()
	d, ctx := newDesk(t), t.Context()
	d.page("a", "")
	d.page("empty", "")
	d.published("a", "Hello there.")
	text, published, err := d.Markdown(ctx, folder, "a")
	require.NoError(t, err)
	assert.True(t, published)
	assert.Equal(t, "Hello there.", text)
	_, published, err = d.Markdown(ctx, folder, "empty")
	require.NoError(t, err)
	assert.False(t, published)
	chunks, err := d.Chunks(ctx, folder, "a")
	require.NoError(t, err)
	assert.Equal(t, []knowledge.Chunk{{HeadingPath: []string{"Top", "Below"}, Text: "Hello there."}}, chunks)
	revisions, err := d.Revisions(ctx, folder, "a")
	require.NoError(t, err)
	require.Len(t, revisions, 1)
	assert.Equal(t, int64(12), revisions[0].Bytes)
	assert.Equal(t, 1, revisions[0].Chunks)
	page, err := d.Page(ctx, folder, "a")
	require.NoError(t, err)
	assert.Equal(t, knowledge.StateLive, page.State)
	overview, err := d.Overview(ctx)
	require.NoError(t, err)
	assert.Contains(t, overview.Database, "PostgreSQL 1")
}

func TestFactsNameTheExclusionAboveAPage(t *testing.T) {
	t.Parallel()
	d, ctx := newDesk(t), t.Context()
	d.exec(`INSERT INTO pages (folder_id, page_id, source_id, kind, title) VALUES ('hr', 'shelf', 'shelf', 'container', 'Shelf')`)
	d.page("a", "shelf")
	_, err := d.AcceptPageDelete(ctx, store.DeleteRequest{Folder: folder, Page: "shelf", Subtree: true, Who: "mika", WorkflowID: "w", Undo: undo})
	require.NoError(t, err)
	found, err := d.PagesByRef(ctx, "title of A", 10)
	require.NoError(t, err)
	require.Len(t, found, 1)
	facts, err := d.PageFacts(ctx, found[0])
	require.NoError(t, err)
	assert.Equal(t, knowledge.StateExcluded, facts.Page.State)
	assert.Equal(t, "shelf", *facts.ExclusionSourceID)
	assert.True(t, *facts.ExcludedSubtree)
	assert.Equal(t, "Shelf", *facts.ExclusionTitle)
}

func TestChildrenOfADeletedPageHangUnderItsNearestLiveAncestor(t *testing.T) {
	t.Parallel()
	d, ctx := newDesk(t), t.Context()
	d.page("top", "")
	d.page("middle", "top.md")
	d.page("leaf", "middle.md")
	parent := func() string {
		page, err := d.Page(ctx, folder, "leaf")
		require.NoError(t, err)
		require.NotNil(t, page.ParentPageID)
		return *page.ParentPageID
	}
	assert.Equal(t, "middle", parent())
	_, err := d.AcceptPageDelete(ctx, store.DeleteRequest{Folder: folder, Page: "middle", Who: "mika", WorkflowID: "w", Undo: undo})
	require.NoError(t, err)
	assert.Equal(t, "top", parent())
}
