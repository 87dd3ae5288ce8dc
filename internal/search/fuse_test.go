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

func TestOncePerOrigin_keeps_the_best_place_and_names_the_other_folders(t *testing.T) {
	t.Parallel()
	at := func(folder, connection, origin string, score float64) ranked {
		return ranked{chunk: store.SearchChunk{FolderID: folder, PageID: "p", Connection: connection, Origin: origin}, score: score}
	}
	once := oncePerOrigin([]ranked{
		at("hr", "notion", "1", 9), at("wiki", "notion", "2", 8), at("lab", "notion", "1", 7), at("all", "notion", "1", 6), at("drive", "other", "1", 5),
		at("x", "files", "", 4), at("y", "files", "", 3),
	})
	folders := make([]string, 0, len(once))
	for _, r := range once {
		folders = append(folders, r.chunk.FolderID)
	}
	assert.Equal(t, []string{"hr", "wiki", "drive", "x", "y"}, folders, "what has no origin is no page of another")
	assert.Equal(t, []string{"lab", "all"}, once[0].alsoIn)
	assert.InDelta(t, 9, once[0].score, 0)
	assert.Nil(t, once[1].alsoIn)
}
