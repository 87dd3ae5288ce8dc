package main

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/loresync/loresync/bench/internal/corpus"
	"github.com/loresync/loresync/internal/content/chunk"
	"github.com/loresync/loresync/internal/testenv"
	"github.com/loresync/loresync/schema"
)

func TestMain(m *testing.M) {
	testenv.SetMigrate(func(ctx context.Context, url string) error {
		_, err := schema.Migrate(ctx, url)
		return err
	})
	testenv.Main(m)
}

func TestFlags(t *testing.T) {
	t.Parallel()
	t.Run("name measures to skip", func(t *testing.T) {
		t.Parallel()
		o, err := parse([]string{"--skip", "memory, delete"}, t.Output())
		require.NoError(t, err)
		assert.Equal(t, []string{"memory", "delete"}, o.skip)
		assert.Equal(t, 2000, o.pages)
	})
	t.Run("that make no sense are refused", func(t *testing.T) {
		t.Parallel()
		for _, args := range []string{"--skip nothing", "--pages 1", "--memory-pages 0", "first"} {
			_, err := parse(strings.Fields(args), t.Output())
			assert.ErrorIs(t, err, errUsage, args)
		}
	})
}

func TestLongPageHasItsChunksAndFreshParagraphs(t *testing.T) {
	t.Parallel()
	page := newLongPage(corpus.New(1))
	assert.InDelta(t, longChunks, len(chunk.Split(page.text(), chunk.Options{})), 3)
	assert.Len(t, page.fresh, edits)
	for _, fresh := range page.fresh {
		assert.NotContains(t, page.paragraphs, fresh)
	}
}

func TestRowsSinceLeavesOutTablesInWhichNothingWasWritten(t *testing.T) {
	t.Parallel()
	written := rows{"pages": 7, "chunks": 9, "holds": 1}.since(rows{"pages": 7, "chunks": 4})
	assert.Equal(t, rows{"chunks": 5, "holds": 1}, written)
	assert.Equal(t, []string{"chunks", "holds"}, written.names())
}

func TestHistoriesOfAChainAddUp(t *testing.T) {
	t.Parallel()
	var sum history
	sum.add(10, 900)
	sum.add(30, 500)
	assert.Equal(t, history{runs: 2, events: 40, bytes: 1400, mostEvents: 30, mostBytes: 900}, sum)
}
