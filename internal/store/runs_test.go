package store_test

import (
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/loresync/loresync/internal/knowledge"
	"github.com/loresync/loresync/internal/store"
)

func TestARunIsFoundByEachOfItsNames(t *testing.T) {
	t.Parallel()
	d, ctx := newDesk(t), t.Context()
	runID := uuid.NewString()
	claim, err := d.ClaimFolderRun(ctx, folder, "folder/hr/sync/u1", knowledge.ModeFull, "cli", "mika")
	require.NoError(t, err)
	require.Equal(t, "claimed", claim.Outcome)
	_, err = d.FindRun(ctx, "")
	require.ErrorIs(t, err, store.ErrNotFound, "a run that has not begun isn't found by its missing run id")
	_, err = d.BeginListing(ctx, "folder/hr/sync/u1", folder, runID)
	require.NoError(t, err)
	for _, ref := range []string{runID, "folder/hr/sync/u1", "u1"} {
		run, err := d.FindRun(ctx, ref)
		require.NoError(t, err, ref)
		assert.Equal(t, runID, run.RunID)
		assert.Equal(t, knowledge.RunRunning, run.Status)
		assert.Equal(t, "mika", run.Actor)
	}
	under, err := d.RunsUnderWay(ctx)
	require.NoError(t, err)
	require.Len(t, under, 1)
	assert.Equal(t, "listing", under[0].Phase)

	require.NoError(t, d.FinishRun(ctx, knowledge.FinishedRun{
		WorkflowID: "folder/hr/sync/u1", Folder: folder, Kind: "folder", Status: knowledge.RunPartial,
		Counts: knowledge.Counts{Listed: 2, New: 1, Failed: 1},
	}))
	runs, err := d.Runs(ctx, folder, 0)
	require.NoError(t, err)
	require.Len(t, runs, 1)
	assert.Equal(t, knowledge.Counts{Listed: 2, New: 1, Failed: 1}, runs[0].Counts)
	none, err := d.Runs(ctx, "other", 5)
	require.NoError(t, err)
	assert.Equal(t, []knowledge.Run{}, none)
}

func TestARunShowsThePagesThatFailed(t *testing.T) {
	t.Parallel()
	d, ctx := newDesk(t), t.Context()
	listing := d.listed(doc("a.md", "1"), doc("b.md", "1"))
	d.exec(`UPDATE listing_entries SET state = 'failed' WHERE listing_id = $1 AND source_id = 'b.md'`, listing)
	runs, err := d.Runs(ctx, "", 1)
	require.NoError(t, err)
	failures, err := d.RunFailures(ctx, runs[0].WorkflowID, 10)
	require.NoError(t, err)
	require.Len(t, failures, 1)
	assert.Equal(t, "b.md", failures[0].SourceID)
}

func TestARetryEndsWaitingAndQuarantineOfItsClass(t *testing.T) {
	t.Parallel()
	d, ctx := newDesk(t), t.Context()
	for _, id := range []string{"a", "b", "c"} {
		d.page(id, "")
	}
	d.exec(`INSERT INTO page_failures (folder_id, page_id, class, sentence, attempts, retry_at, quarantined_at) VALUES
		('hr', 'a', 'Unavailable', 'Busy.', 3, now() + interval '1 hour', NULL), ('hr', 'b', 'Unavailable', 'Busy.', 9, NULL, now()),
		('hr', 'c', 'Invalid', 'Odd.', 9, NULL, now())`)
	classes, err := d.FailureClasses(ctx, folder)
	require.NoError(t, err)
	assert.Equal(t, []string{"Invalid", "Unavailable"}, classes)
	again, err := d.RetryFailures(ctx, folder, "Unavailable", "mika")
	require.NoError(t, err)
	assert.Equal(t, []string{"a", "b"}, again)
	assert.Equal(t, 2, d.count(`SELECT count(*) FROM page_failures WHERE retry_at <= now() AND quarantined_at IS NULL AND attempts = 0`))
	assert.Equal(t, 2, d.count(`SELECT count(*) FROM due_reads WHERE reason = 'retry' AND due_at < now() + interval '2 minutes'`))
	assert.Equal(t, 1, d.count(`SELECT count(*) FROM page_failures WHERE quarantined_at IS NOT NULL`))
	rest, err := d.RetryFailures(ctx, folder, "", "mika")
	require.NoError(t, err)
	assert.Len(t, rest, 3)
}

func TestAHoldIsDecidedOnce(t *testing.T) {
	t.Parallel()
	d, ctx := newDesk(t), t.Context()
	for _, id := range []string{"a", "b"} {
		d.page(id, "")
	}
	d.exec(`UPDATE pages SET unseen_since = now(), strikes = 2 WHERE page_id = 'a'`)
	_, err := d.HoldRemovals(ctx, folder, "h1", "too many", []string{"a", "b"})
	require.NoError(t, err)
	open, err := d.Holds(ctx, false)
	require.NoError(t, err)
	require.Len(t, open, 1)
	assert.Len(t, open[0].Pages, 2)
	assert.Equal(t, "Title of a", open[0].Pages[0].Title)

	decided, err := d.DecideHold(ctx, "h1", "rejected", "mika")
	require.NoError(t, err)
	assert.True(t, decided)
	decided, err = d.DecideHold(ctx, "h1", "approved", "kim")
	require.NoError(t, err)
	assert.False(t, decided)
	for range 2 {
		_, err = d.KeepHeldPages(ctx, "h1")
		require.NoError(t, err)
	}
	assert.Equal(t, 1, d.count(`SELECT count(*) FROM pages WHERE removal_rejected`), "b was seen meanwhile")
	open, err = d.Holds(ctx, false)
	require.NoError(t, err)
	assert.Empty(t, open)
	hold, err := d.Hold(ctx, "h1")
	require.NoError(t, err)
	assert.Equal(t, "mika", hold.DecidedBy)
	_, err = d.Hold(ctx, "h2")
	require.ErrorIs(t, err, store.ErrNotFound)
}
