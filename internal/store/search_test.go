package store_test

import (
	"testing"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/loresync/loresync/internal/store"
	"github.com/loresync/loresync/internal/testenv"
	"github.com/loresync/loresync/schema"
)

// searchable is a store with one folder of two pages; the first has two chunks, the second one that holds hostile lexemes.
func searchable(t *testing.T) (*store.Store, *pgxpool.Pool) {
	t.Helper()
	url := testenv.EmptyDatabase(t)
	_, err := schema.Migrate(t.Context(), url)
	require.NoError(t, err)
	st, err := store.Open(t.Context(), url, store.Options{})
	require.NoError(t, err)
	t.Cleanup(st.Close)
	pool, err := pgxpool.New(t.Context(), url)
	require.NoError(t, err)
	t.Cleanup(pool.Close)
	for _, statement := range []string{
		`INSERT INTO folders (folder_id, source, connection, root, title) VALUES ('hr', 'files', 'files', '/srv', 'HR')`,
		`INSERT INTO pages (folder_id, page_id, source_id, title) VALUES ('hr', 'one', 'one', 'One'), ('hr', 'two', 'two', 'Two')`,
		`INSERT INTO revisions (folder_id, page_id, token, state, read_seq, raw, format, content_hash, markdown, title, published_at)
		 SELECT 'hr', page_id, gen_random_uuid(), 'published', 1, '', 'markdown', '', '', title, now() FROM pages ORDER BY page_id`,
		`UPDATE pages p SET published_revision_id = r.revision_id, published_read_seq = 1 FROM revisions r WHERE r.page_id = p.page_id`,
		`INSERT INTO embeddings (model, dimensions, text_hash, embedding)
		 VALUES ('m', 2, 'a', '{1,0}'), ('m', 2, 'b', '{0.6,0.8}'), ('m', 2, 'c', '{0,1}'), ('m', 3, 'c', '{1,0,0}')`,
		`INSERT INTO chunks (revision_id, chunk_no, body, text_hash, terms, model, dimensions)
		 SELECT published_revision_id, 0, 'leave', 'a'::bytea, array_to_tsvector('{leave}'), 'm', 2 FROM pages WHERE page_id = 'one'
		 UNION ALL
		 SELECT published_revision_id, 1, 'leave pay', 'b', array_to_tsvector('{leave,pay}'), 'm', 2 FROM pages WHERE page_id = 'one'
		 UNION ALL
		 SELECT published_revision_id, 0, 'odd', 'c', array_to_tsvector(ARRAY['it''s', 'a\b', 'x & y', '😀', ':*']), 'm', 2 FROM pages
		 WHERE page_id = 'two'`,
	} {
		_, err := pool.Exec(t.Context(), statement)
		require.NoError(t, err, statement)
	}
	return st, pool
}

func TestSearchTerms_says_which_lexemes_each_chunk_holds(t *testing.T) {
	t.Parallel()
	st, _ := searchable(t)
	matches, err := st.SearchTerms(t.Context(), "", []string{"pay", "nothing", "leave"})
	require.NoError(t, err)
	held := map[int32]int64{}
	for _, m := range matches {
		assert.Equal(t, "one", m.PageID)
		held[m.ChunkNo] = m.Terms
	}
	assert.Equal(t, map[int32]int64{0: 0b100, 1: 0b101}, held)
	size, err := st.SearchSize(t.Context(), "hr")
	require.NoError(t, err)
	assert.EqualValues(t, 3, size)
}

func TestSearchTerms_takes_any_lexeme_as_it_is(t *testing.T) {
	t.Parallel()
	st, _ := searchable(t)
	hostile := []string{"it's", `a\b`, "x & y", "😀", ":*"}
	for _, lexeme := range hostile {
		matches, err := st.SearchTerms(t.Context(), "hr", []string{lexeme})
		require.NoError(t, err, lexeme)
		require.Len(t, matches, 1, lexeme)
		assert.Equal(t, "two", matches[0].PageID)
	}
	for _, lexeme := range []string{"", " ", "'", `\`, `\'`, "a\x00b", "\xff", string(make([]byte, 5000)), "x:A", "'a' | 'b'"} {
		matches, err := st.SearchTerms(t.Context(), "", []string{lexeme})
		require.NoError(t, err, "%q", lexeme)
		assert.Empty(t, matches, "%q", lexeme)
	}
	many := make([]string, 200)
	for i := range many {
		many[i] = "leave"
	}
	matches, err := st.SearchTerms(t.Context(), "", many)
	require.NoError(t, err)
	require.NotEmpty(t, matches)
	assert.Equal(t, int64(-1), matches[0].Terms, "all 64 bits")
}

func TestSearchVectors_gives_each_page_once_with_its_nearest_chunk(t *testing.T) {
	t.Parallel()
	st, pool := searchable(t)
	nearest, err := st.SearchVectors(t.Context(), "", "m", []float32{0.6, 0.8}, 0.1, 10)
	require.NoError(t, err)
	require.Len(t, nearest, 2)
	assert.Equal(t, "one", nearest[0].PageID)
	assert.EqualValues(t, 1, nearest[0].ChunkNo)
	assert.InDelta(t, 1, nearest[0].Similarity, 1e-6)
	assert.InDelta(t, 0.8, nearest[1].Similarity, 1e-6)

	few, err := st.SearchVectors(t.Context(), "hr", "m", []float32{0.6, 0.8}, 0.1, 1)
	require.NoError(t, err)
	assert.Equal(t, nearest[:1], few)
	near, err := st.SearchVectors(t.Context(), "hr", "m", []float32{0.6, 0.8}, 0.9, 10)
	require.NoError(t, err)
	assert.Len(t, near, 1, "the floor")
	other, err := st.SearchVectors(t.Context(), "hr", "m", []float32{1, 0, 0}, 0.1, 10)
	require.NoError(t, err)
	assert.Empty(t, other, "no chunk is embedded with three dimensions")

	_, err = pool.Exec(t.Context(), `UPDATE pages SET tombstoned_at = now(), tombstone_reason = 'person', purge_at = now() WHERE page_id = 'one'`)
	require.NoError(t, err)
	live, err := st.SearchVectors(t.Context(), "", "m", []float32{0.6, 0.8}, 0.1, 10)
	require.NoError(t, err)
	require.Len(t, live, 1)
	assert.Equal(t, "two", live[0].PageID)
}

func TestSearchVectors_passes_over_what_is_no_vector(t *testing.T) {
	t.Parallel()
	st, pool := searchable(t)
	_, err := pool.Exec(t.Context(), `UPDATE embeddings SET embedding = CASE text_hash WHEN 'a'::bytea THEN '{NULL,1}'::real[] ELSE '{NaN,1}' END
		WHERE dimensions = 2`)
	require.NoError(t, err)
	nearest, err := st.SearchVectors(t.Context(), "", "m", []float32{0.6, 0.8}, 0.1, 10)
	require.NoError(t, err)
	assert.Empty(t, nearest)
}

func TestSearchChunks_reads_what_is_live_at_that_moment(t *testing.T) {
	t.Parallel()
	st, pool := searchable(t)
	matches, err := st.SearchTerms(t.Context(), "", []string{"pay"})
	require.NoError(t, err)
	require.Len(t, matches, 1)
	two := store.ChunkRef{FolderID: "hr", PageID: "two", ChunkNo: -1}
	refs := []store.ChunkRef{two, matches[0].ChunkRef, {FolderID: "hr", PageID: "three"}}
	chunks, err := st.SearchChunks(t.Context(), refs)
	require.NoError(t, err)
	require.Len(t, chunks, 2)
	assert.Equal(t, "odd", chunks[0].Text)
	assert.Equal(t, "leave pay", chunks[1].Text)
	assert.Equal(t, 1, chunks[1].Asked)

	refs[1].RevisionID++ // as if the page had been published anew since
	chunks, err = st.SearchChunks(t.Context(), refs)
	require.NoError(t, err)
	require.Len(t, chunks, 2)
	assert.Equal(t, "leave", chunks[1].Text)

	_, err = pool.Exec(t.Context(), `UPDATE folders SET deleted_at = now(), purge_at = now()`)
	require.NoError(t, err)
	chunks, err = st.SearchChunks(t.Context(), refs)
	require.NoError(t, err)
	assert.Empty(t, chunks)
}

func TestSearchFolder_is_not_found_unless_registered(t *testing.T) {
	t.Parallel()
	st, _ := searchable(t)
	require.NoError(t, st.SearchFolder(t.Context(), "hr"))
	for _, folder := range []string{"", "HR", "a\x00b", "\xff"} {
		require.ErrorIs(t, st.SearchFolder(t.Context(), folder), store.ErrNotFound, "%q", folder)
	}
}
