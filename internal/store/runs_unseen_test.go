package store_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/loresync/loresync/internal/knowledge"
	"github.com/loresync/loresync/internal/source"
)

// runOf is the run that a listing belongs to.
func (d *desk) runOf(listingID int64) string {
	d.t.Helper()
	var workflowID string
	require.NoError(d.t, d.sql.QueryRow(d.t.Context(), `SELECT workflow_id FROM listings WHERE listing_id = $1`, listingID).Scan(&workflowID))
	return workflowID
}

func TestARunCountsWhatItDidNotSeeUntilALaterOneLooks(t *testing.T) {
	t.Parallel()
	d, ctx := newDesk(t), t.Context()
	unseen := func(listingID int64) *int64 {
		n, err := d.UnseenByRun(t.Context(), d.runOf(listingID))
		require.NoError(t, err)
		return n
	}
	reconcile := func(entries ...source.Entry) int64 {
		id := d.listed(entries...)
		_, err := d.RecordAbsence(t.Context(), id, "", 500)
		require.NoError(t, err)
		return id
	}
	first := reconcile(doc("a.md", "1"), doc("b.md", "1"), doc("c.md", "1"))
	require.NotNil(t, unseen(first))
	assert.Zero(t, *unseen(first))
	second := d.listed(doc("a.md", "1"))
	assert.Nil(t, unseen(second), "it has judged nothing so far")
	_, err := d.RecordAbsence(ctx, second, "", 500)
	require.NoError(t, err)
	assert.Equal(t, int64(2), *unseen(second))
	assert.Nil(t, unseen(first), "an older run's answer is no longer known")

	_, err = d.HoldRemovals(ctx, folder, "h1", "too many", []string{d.pageID("b.md")})
	require.NoError(t, err)
	assert.Equal(t, int64(1), *unseen(second), "what waits in a hold is counted as held")
	d.exec(`UPDATE pages SET tombstoned_at = now(), tombstone_reason = 'source', purge_at = now() WHERE source_id = 'c.md'`)
	assert.Zero(t, *unseen(second), "what was removed is counted as removed")
}

func TestADryRunNamesWhatItDidNotSee(t *testing.T) {
	t.Parallel()
	d, ctx := newDesk(t), t.Context()
	d.listed(doc("a.md", "1"), doc("b.md", "1"), doc("c.md", "1"))
	dry := d.list(doc("b.md", "1"), doc("new.md", "1"))
	d.exec(`UPDATE listings SET dry_run = true WHERE listing_id = $1`, dry)
	pages, err := d.UnseenByDryRun(ctx, d.runOf(dry), 10)
	require.NoError(t, err)
	assert.Equal(t, []knowledge.HoldPage{
		{PageID: d.pageID("a.md"), SourceID: "a.md", Title: "a.md"}, {PageID: d.pageID("c.md"), SourceID: "c.md", Title: "c.md"},
	}, pages)
	none, err := d.UnseenByRun(ctx, d.runOf(dry))
	require.NoError(t, err)
	assert.Nil(t, none)
}

func TestAPageIsNewToOneOfTwoOverlappingRuns(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	counts := func(listingID int64) knowledge.Counts {
		counted, err := d.CountListing(t.Context(), listingID)
		require.NoError(t, err)
		return counted.Counts
	}
	claim := func() int64 {
		id := d.list(doc("a.md", "1"), doc("b.md", "1"))
		d.exec(`INSERT INTO sync_runs (workflow_id, run_id, folder_id, kind, mode, trigger, listing_began_at)
			VALUES ($1, $1, 'hr', 'folder', 'full', 'cli', now()) ON CONFLICT (workflow_id) DO NOTHING`, d.runOf(id))
		return id
	}
	first, second := claim(), claim()
	d.register(first)
	d.register(second)
	assert.Equal(t, knowledge.Counts{Listed: 2, New: 2}, counts(first))
	assert.Equal(t, knowledge.Counts{Listed: 2, Unchanged: 2}, counts(second))
	d.exec(`UPDATE listing_entries SET state = 'failed' WHERE listing_id = $1 AND source_id = 'b.md'`, first)
	assert.Equal(t, knowledge.Counts{Listed: 2, New: 1, Failed: 1}, counts(first))
	assert.Equal(t, knowledge.Counts{Listed: 2, New: 1, Unchanged: 1}, counts(second), "what the first run failed with is new to the second")
	d.exec(`UPDATE sync_runs SET status = 'cancelled', ended_at = now() - interval '1 hour' WHERE workflow_id = $1`, d.runOf(first))
	assert.Equal(t, knowledge.Counts{Listed: 2, New: 2}, counts(second), "a run that had ended before is no rival")
}
