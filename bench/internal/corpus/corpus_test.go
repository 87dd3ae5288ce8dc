package corpus_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/loresync/loresync/bench/internal/corpus"
	"github.com/loresync/loresync/internal/content/chunk"
)

func TestPages(t *testing.T) {
	t.Parallel()
	c := corpus.New(1)
	t.Run("are the same for the same seed and differ from each other", func(t *testing.T) {
		t.Parallel()
		assert.Equal(t, c.Page(17), corpus.New(1).Page(17))
		assert.NotEqual(t, c.Page(17).Text, corpus.New(2).Page(17).Text)
		assert.NotEqual(t, c.Page(17).Text, c.Page(18).Text)
		assert.NotEqual(t, c.Paragraphs("edit", 1), c.Paragraphs("other", 1))
	})
	t.Run("have a median of 4 KB and five chunks", func(t *testing.T) {
		t.Parallel()
		const n = 400
		sizes, chunks, words := make([]int, n), make([]int, n), map[string]bool{}
		for i := range n {
			text := c.Page(i).Text
			sizes[i], chunks[i] = len(text), len(chunk.Split(text, chunk.Options{}))
			for word := range strings.FieldsSeq(text) {
				words[word] = true
			}
		}
		slices.Sort(sizes)
		slices.Sort(chunks)
		assert.InDelta(t, 4096, sizes[n/2], 400)
		assert.InDelta(t, 5, chunks[n/2], 1)
		assert.Greater(t, len(words), 5000, "a varied vocabulary")
	})
}

func TestWriteGivesFilesThatWereEditedLongAgo(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	c := corpus.New(1)
	require.NoError(t, c.Write(dir, 60))
	page := c.Page(59)
	text, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(page.Path)))
	require.NoError(t, err)
	assert.Equal(t, page.Text, string(text))
	info, err := os.Stat(filepath.Join(dir, filepath.FromSlash(page.Path)))
	require.NoError(t, err)
	assert.Equal(t, 2026, info.ModTime().UTC().Year())
	require.NoError(t, corpus.Put(dir, page.Path, "other", 1))
	later, err := os.Stat(filepath.Join(dir, filepath.FromSlash(page.Path)))
	require.NoError(t, err)
	assert.True(t, later.ModTime().After(info.ModTime()))
}
