package control_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/loresync/loresync/internal/control"
)

func TestASyncOfAllNamesTheFoldersThatItLeavesOut(t *testing.T) {
	t.Parallel()
	r, ctx := withTemporal(t), t.Context()
	_, err := r.AddFolder(ctx, control.FolderSpec{ID: "ops", Source: "files", Root: t.TempDir()}, mika)
	require.NoError(t, err)
	answer, err := r.SyncAll(ctx, mika)
	require.NoError(t, err)
	assert.Empty(t, answer.SkippedFolders)

	_, err = r.PauseFolder(ctx, "hr", mika)
	require.NoError(t, err)
	for name, ask := range r.batches() {
		answer, err := ask()
		require.NoError(t, err, name)
		require.Len(t, answer.SkippedFolders, 1, name)
		assert.Equal(t, []string{"hr", "paused"}, []string{answer.SkippedFolders[0].FolderID, answer.SkippedFolders[0].Reason}, name)
		assert.Contains(t, answer.SkippedFolders[0].Sentence, "starter folder resume hr", name)
	}

	_, err = r.PauseConnection(ctx, "files", mika)
	require.NoError(t, err)
	for name, ask := range r.batches() {
		answer, err := ask()
		requireKind(t, err, control.KindRefused, "paused")
		assert.Contains(t, err.Error(), "all 2 folders are paused", name)
		assert.Equal(t, "refused", answer.Status, name)
		assert.Len(t, answer.SkippedFolders, 2, name)
		assert.Empty(t, answer.WorkflowID, "nothing was started")
	}
	started, err := r.StartSyncAll(ctx, "schedule")
	require.NoError(t, err, "for the schedule there being nothing to do is no trouble")
	assert.NotEmpty(t, started)

	r.exec(`UPDATE deployment SET maintenance = true`)
	for _, ask := range r.batches() {
		_, err := ask()
		requireKind(t, err, control.KindRefused, "maintenance")
	}
}

// batches are the ways in which a person asks for all folders.
func (r *room) batches() map[string]func() (control.Answer, error) {
	ctx := r.t.Context()
	return map[string]func() (control.Answer, error){
		"sync all":         func() (control.Answer, error) { return r.SyncAll(ctx, mika) },
		"schedule trigger": func() (control.Answer, error) { return r.TriggerSchedule(ctx, mika) },
	}
}

func TestAFoldersDeleteCountsWhatReadersSaw(t *testing.T) {
	t.Parallel()
	r, ctx := withTemporal(t), t.Context()
	publish(r, r.page("live.md"))
	skipped := r.page("skipped.md")
	r.page("unread.md")
	r.exec(`UPDATE pages SET skip_class = 'binary', skip_sentence = 'It is binary.' WHERE page_id = $1`, skipped)
	answer, err := r.DeleteFolder(ctx, "hr", false, mika)
	require.NoError(t, err)
	require.NotNil(t, answer.Pages)
	assert.EqualValues(t, 1, *answer.Pages)
	deletes, err := r.Deletes(ctx)
	require.NoError(t, err)
	require.Len(t, deletes, 1)
	assert.EqualValues(t, 1, deletes[0].Pages)
}
