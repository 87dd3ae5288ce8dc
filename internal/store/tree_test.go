package store_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/loresync/loresync/internal/knowledge"
)

func TestAContainerThatWasToldGoneIsForgotten(t *testing.T) {
	t.Parallel()
	d, ctx := newDesk(t), t.Context()
	d.listed(dir("kept"), doc("kept/a", "1"), dir("out"), doc("out/b", "1"), dir("back"), doc("back/c", "1"))
	next := d.list(dir("kept"), doc("kept/a", "1"))
	d.exec(`INSERT INTO listing_told (listing_id, source_id) SELECT $1, unnest(ARRAY['out', 'out/b', 'kept'])`, next)

	told, err := d.ToldPages(ctx, next)
	require.NoError(t, err)
	assert.Equal(t, []knowledge.Lost{{PageID: d.pageID("out/b"), SourceID: "out/b"}}, told, "containers hold nothing that could be removed")
	require.NoError(t, d.ForgetContainers(ctx, next))
	known, err := d.KnownParents(ctx, folder)
	require.NoError(t, err)
	assert.NotContains(t, known, "out")
	assert.Contains(t, known, "out/b", "what it held is judged by itself")
	assert.Contains(t, known, "back", "nothing was told of it")
	assert.NotContains(t, known, "kept", "it comes back with the next full listing")
	d.register(next)
	d.listed(dir("kept"), doc("kept/a", "1"))
	assert.Equal(t, 1, d.count(`SELECT count(*) FROM pages WHERE source_id = 'kept'`))
}

func TestADryRunForgetsNoContainer(t *testing.T) {
	t.Parallel()
	d, ctx := newDesk(t), t.Context()
	d.listed(dir("out"), doc("out/b", "1"))
	next := d.list(doc("a", "1"))
	d.exec(`UPDATE listings SET dry_run = true WHERE listing_id = $1`, next)
	d.exec(`INSERT INTO listing_told (listing_id, source_id) VALUES ($1, 'out')`, next)
	require.NoError(t, d.ForgetContainers(ctx, next))
	assert.Equal(t, 1, d.count(`SELECT count(*) FROM pages WHERE source_id = 'out'`))
}

func TestARenamedContainerMovesWhatIsBelowWithoutARead(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	below := doc("id", "1")
	below.Path = "Old/Page"
	d.listed(below)
	d.exec(`UPDATE pages SET source_version = '1', published_revision_id = NULL, skip_class = 'binary', skip_sentence = 'It is binary.' WHERE source_id = 'id'`)
	below.Path = "New/Page"
	d.listed(below)
	assert.Equal(t, 1, d.count(`SELECT count(*) FROM pages WHERE path = 'New/Page'`))
	below.Path = ""
	d.listed(below)
	assert.Equal(t, 1, d.count(`SELECT count(*) FROM pages WHERE path = 'New/Page'`), "a source that tells no path takes none away")
}

func TestRule7WhatAnIncrementalListingDoesNotListIsNotGone(t *testing.T) {
	t.Parallel()
	d, ctx := newDesk(t), t.Context()
	for _, page := range []string{"a", "b", "c", "d"} {
		d.page(page, "")
		d.published(page, "Text of "+page+".")
	}
	next := d.list()
	d.exec(`UPDATE listings SET full_listing = false WHERE listing_id = $1`, next)
	facts, err := d.RemovalFacts(ctx, folder, next, 1)
	require.NoError(t, err)
	assert.Equal(t, knowledge.Removal{Live: 4, Listed: 3, Planned: 1}, facts)
	assert.Empty(t, knowledge.HoldReason(facts), "one of four was told gone, and nothing else changed")
	d.exec(`UPDATE listings SET full_listing = true WHERE listing_id = $1`, next)
	facts, err = d.RemovalFacts(ctx, folder, next, 1)
	require.NoError(t, err)
	assert.NotEmpty(t, knowledge.HoldReason(facts), "a full listing that lists none looks like an emptied source")
}
