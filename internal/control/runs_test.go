package control_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/loresync/loresync/internal/control"
	"github.com/loresync/loresync/internal/knowledge"
	"github.com/loresync/loresync/internal/store"
)

func TestCancelRun(t *testing.T) {
	t.Parallel()
	r, ctx := withTemporal(t), t.Context()
	started, err := r.SyncFolder(ctx, "hr", knowledge.ModeFull, mika)
	require.NoError(t, err)
	answer, err := r.CancelRun(ctx, started.WorkflowID, mika)
	require.NoError(t, err)
	assert.Equal(t, "cancel_requested", answer.Status)

	_, err = r.store.ClaimFolderRun(ctx, "hr", "folder/hr/sync/never", knowledge.ModeDryRun, "cli", "mika")
	require.NoError(t, err)
	answer, err = r.CancelRun(ctx, "never", mika)
	require.NoError(t, err)
	assert.Equal(t, "cancelled", answer.Status, "a run whose workflow never started is closed")
	_, err = r.CancelRun(ctx, "never", mika)
	requireKind(t, err, control.KindRefused, "already_ended")
	_, err = r.CancelRun(ctx, "unknown", mika)
	requireKind(t, err, control.KindNotFound, "run_unknown")
	detail, err := r.Run(ctx, "never")
	require.NoError(t, err)
	assert.Equal(t, knowledge.RunCancelled, detail.Status)
	assert.Equal(t, []knowledge.Page{}, detail.Failures)
}

func TestRetryAsksForEveryFailingPageOfAClass(t *testing.T) {
	t.Parallel()
	r, ctx := withTemporal(t), t.Context()
	for _, name := range []string{"a.md", "b.md", "c.md"} {
		r.page(name)
	}
	r.exec(`INSERT INTO page_failures (folder_id, page_id, class, sentence, quarantined_at)
		SELECT 'hr', page_id, CASE WHEN source_id = 'c.md' THEN 'Odd' ELSE 'Unavailable' END, 'Busy.', now() FROM pages`)
	_, err := r.Retry(ctx, "hr", "Unknown", mika)
	requireKind(t, err, control.KindNotFound, "class_unknown")
	answer, err := r.Retry(ctx, "hr", "Unavailable", mika)
	require.NoError(t, err)
	assert.Equal(t, int64(2), *answer.Pages)
	_, err = r.Retry(ctx, "none", "", mika)
	requireKind(t, err, control.KindNotFound, "folder_unknown")
}

func TestRetryWithoutTemporalLeavesThePagesDue(t *testing.T) {
	t.Parallel()
	r, ctx := withFolder(t), t.Context()
	answer, err := r.Retry(ctx, "hr", "", mika)
	require.NoError(t, err)
	assert.Zero(t, *answer.Pages)
	r.page("a.md")
	r.exec(`INSERT INTO page_failures (folder_id, page_id, class, sentence, quarantined_at) SELECT 'hr', page_id, 'Odd', 'Odd.', now() FROM pages`)
	_, err = r.Retry(ctx, "hr", "", mika)
	requireKind(t, err, control.KindUnreachable, "temporal_unreachable")
	status, err := r.Status(ctx)
	require.NoError(t, err)
	assert.False(t, status.TemporalOK)
	assert.Equal(t, int64(1), status.Folders[0].Pages.Failed)
	assert.Equal(t, store.KeptByDefault, status.Retention)
}

func TestHolds(t *testing.T) {
	t.Parallel()
	r, ctx := withTemporal(t), t.Context()
	page := r.page("a.md")
	r.exec(`UPDATE pages SET unseen_since = now(), strikes = 2`)
	for _, id := range []string{"h1", "h2"} {
		_, err := r.store.HoldRemovals(ctx, "hr", id, "too many", []string{page})
		require.NoError(t, err)
		if id == "h1" {
			answer, err := r.RejectHold(ctx, id, mika)
			require.NoError(t, err)
			assert.Equal(t, "rejected", answer.Status)
			again, err := r.RejectHold(ctx, id, mika)
			require.NoError(t, err, "a second rejection carries on where a first one was cut off")
			assert.Equal(t, []any{answer.Status, answer.Pages, "mika"}, []any{again.Status, again.Pages, again.AcceptedBy})
			_, err = r.ApproveHold(ctx, id, mika)
			requireKind(t, err, control.KindRefused, "already_decided")
		}
	}
	answer, err := r.ApproveHold(ctx, "h2", mika)
	require.NoError(t, err)
	assert.Equal(t, "approved", answer.Status)
	assert.Equal(t, "folder/hr/hold/h2", answer.WorkflowID)
	assert.Equal(t, int64(1), *answer.Pages)
	answer, err = r.ApproveHold(ctx, "h2", mika)
	require.NoError(t, err)
	assert.True(t, answer.Joined)
	_, err = r.ApproveHold(ctx, "none", mika)
	requireKind(t, err, control.KindNotFound, "hold_unknown")
	open, err := r.Holds(ctx, false)
	require.NoError(t, err)
	assert.Empty(t, open)
}

func TestStatusShowsTheRunOfAFolder(t *testing.T) {
	t.Parallel()
	r, ctx := withTemporal(t), t.Context()
	started, err := r.SyncFolder(ctx, "hr", knowledge.ModeFull, mika)
	require.NoError(t, err)
	status, err := r.Status(ctx)
	require.NoError(t, err)
	assert.True(t, status.TemporalOK)
	require.Len(t, status.Folders, 1)
	require.NotNil(t, status.Folders[0].Running)
	assert.Equal(t, started.WorkflowID, status.Folders[0].Running.WorkflowID)
	assert.Equal(t, "waiting", status.Folders[0].Running.Phase)
}
