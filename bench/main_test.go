package main

import (
	"context"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/loresync/loresync/bench/internal/corpus"
	"github.com/loresync/loresync/internal/content/chunk"
	"github.com/loresync/loresync/internal/source/notion/notiontest"
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
		assert.True(t, filepath.IsAbs(o.binDir), "servers are started from another directory")
	})
	t.Run("name measures to take", func(t *testing.T) {
		t.Parallel()
		o, err := parse([]string{"--only", "notion-budget"}, t.Output())
		require.NoError(t, err)
		assert.True(t, o.takes("notion-budget"))
		assert.False(t, o.takes("first"))
		o, err = parse([]string{"--skip", "first"}, t.Output())
		require.NoError(t, err)
		assert.True(t, o.takes("notion-budget"))
		assert.False(t, o.takes("first"))
	})
	t.Run("that make no sense are refused", func(t *testing.T) {
		t.Parallel()
		for _, args := range []string{
			"--skip nothing", "--only nothing", "--pages 1", "--memory-pages 0", "--notion-pages 10001", "--crowd 0", "--crowd 51", "first",
		} {
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

func TestShareOfABudget(t *testing.T) {
	t.Parallel()
	begun := time.Date(2026, 12, 1, 0, 0, 0, 0, time.UTC)
	c := crawl{rate: 2, until: begun.Add(time.Minute)}
	assert.Zero(t, c.share(), "nothing was asked")
	assert.Equal(t, 129, minuteLimit(2))
	for i := range 129 {
		c.requests = append(c.requests, notiontest.Request{Time: begun.Add(time.Duration(max(0, i-9)) * time.Second / 2), Status: http.StatusOK})
	}
	assert.InDelta(t, 1, c.share(), 1e-9)
	c.requests = c.requests[:64]
	c.requests[3].Status = http.StatusTooManyRequests
	assert.InDelta(t, 0.496, c.share(), 1e-3)
	assert.Equal(t, 1, c.refused())
	rows := c.rows("now")
	assert.False(t, rows[0].Met || rows[2].Met)
	assert.True(t, rows[1].Met)
}
