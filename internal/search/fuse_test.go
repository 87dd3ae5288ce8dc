package search

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/loresync/loresync/internal/store"
)

func chunksOf(ids ...string) []store.SearchChunk {
	out := make([]store.SearchChunk, len(ids))
	for i, id := range ids {
		out[i] = store.SearchChunk{FolderID: "hr", PageID: id}
	}
	return out
}

func TestFuse_adds_reciprocal_ranks_and_orders_equals_by_page(t *testing.T) {
	t.Parallel()
	fused := fuse(ranking{chunksOf("c", "a", "b"), 1}, ranking{chunksOf("b", "d", "c"), 1})
	ids := make([]string, 0, len(fused))
	for _, r := range fused {
		ids = append(ids, r.chunk.PageID)
	}
	assert.Equal(t, []string{"b", "c", "a", "d"}, ids)
	assert.InDelta(t, 1.0/61+1.0/63, fused[0].score, 1e-12)
	assert.Empty(t, fuse(ranking{}, ranking{}))
}

func TestFuse_shows_the_chunk_of_the_first_ranking(t *testing.T) {
	t.Parallel()
	words, vectors := chunksOf("a"), chunksOf("a")
	words[0].Text, vectors[0].Text = "by words", "by vectors"
	assert.Equal(t, "by words", fuse(ranking{words, 1}, ranking{vectors, 1})[0].chunk.Text)
}

func TestFuse_keeps_equal_page_ids_of_two_folders_apart(t *testing.T) {
	t.Parallel()
	both := append(chunksOf("a"), chunksOf("a")...)
	both[1].FolderID = "lab"
	assert.Len(t, fuse(ranking{both, 1}), 2)
}
