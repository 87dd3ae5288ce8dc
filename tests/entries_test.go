package tests

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/client"

	"github.com/loresync/loresync/internal/control"
	"github.com/loresync/loresync/internal/knowledge"
	"github.com/loresync/loresync/internal/search"
	"github.com/loresync/loresync/internal/source"
	"github.com/loresync/loresync/internal/source/sourcetest"
	"github.com/loresync/loresync/internal/testenv"
)

var triggerNow = client.ScheduleTriggerOptions{Overlap: enumspb.SCHEDULE_OVERLAP_POLICY_ALLOW_ALL}

func TestSyncAllSyncsEveryActiveFolder(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.fill(4)
	_, err := r.AddFolder(t.Context(), control.FolderSpec{ID: "second", Source: "files", Root: r.root}, person)
	require.NoError(t, err)
	_, err = r.AddFolder(t.Context(), control.FolderSpec{ID: "paused", Source: "files", Root: r.root}, person)
	require.NoError(t, err)
	_, err = r.PauseFolder(t.Context(), "paused", person)
	require.NoError(t, err)
	all := r.wait(r.SyncAll(t.Context(), person))
	assert.Equal(t, "completed", all.Status)
	assert.Equal(t, knowledge.Counts{Listed: 8, New: 8}, *all.Counts)
	assert.Equal(t, 8, r.live(), "one source page below two folders is two pages")

	triggered, err := r.TriggerSchedule(t.Context(), person)
	require.NoError(t, err)
	assert.Contains(t, triggered.WorkflowID, "all/daily")
	testenv.Eventually(t, patience, func() bool {
		return r.count(`SELECT count(*) FROM sync_runs WHERE kind = 'all' AND trigger = 'schedule' AND status = 'completed'`) == 1
	}, "the daily workflow starts the batch")
	r.clean()
}

func TestDueReadsBecomeRequests(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.put("a.md", "# A\n\nfirst\n")
	r.synced()
	r.put("a.md", "# A\n\nsecond\n")
	r.exec(`DELETE FROM due_reads`)
	r.exec(`INSERT INTO due_reads (folder_id, page_id, due_at, reason) SELECT folder_id, page_id, now(), 'retry' FROM pages WHERE kind = 'document'`)
	require.NoError(t, r.EnsureSchedules(t.Context()))
	require.NoError(t, r.temporal.ScheduleClient().GetHandle(t.Context(), "due").Trigger(t.Context(), triggerNow))
	testenv.Eventually(t, patience, func() bool {
		return r.count(`SELECT count(*) FROM live_pages WHERE markdown LIKE '%second%'`) == 1
	}, "the page is read again")
	assert.Zero(t, r.count(`SELECT count(*) FROM due_reads WHERE reason = 'retry'`))

	r.exec(`UPDATE sync_runs SET requested_at = requested_at - interval '1 hour'`)
	runs := r.count(`SELECT count(*) FROM sync_runs`)
	require.NoError(t, r.temporal.ScheduleClient().GetHandle(t.Context(), "due").Trigger(t.Context(), triggerNow))
	testenv.Eventually(t, patience, func() bool {
		return r.count(`SELECT count(*) FROM sync_runs WHERE trigger = 'due' AND status = 'completed'`) == 1
	}, "the folder's interval is over")
	assert.Equal(t, runs+1, r.count(`SELECT count(*) FROM sync_runs`))
}

func TestRule4DeleteRestoreDelete(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.put("a.md", "# A\n\ntext\n")
	r.put("b.md", "# B\n\nother text\n")
	r.synced()
	page := r.page("a.md").PageID
	for range 5 {
		_, err := r.DeletePage(t.Context(), folderID, page, control.DeleteOptions{}, person)
		require.NoError(t, err)
		assert.Equal(t, 1, r.live())
		_, err = r.RestorePage(t.Context(), folderID, page, false, person)
		require.NoError(t, err)
		assert.Equal(t, 2, r.live())
	}
	last, err := r.DeletePage(t.Context(), folderID, page, control.DeleteOptions{}, person)
	require.NoError(t, err)
	assert.Equal(t, "completed", r.wait(last, nil).Status)
	assert.Equal(t, 1, r.live())
	r.clean()
	assert.EqualValues(t, 1, r.synced().Excluded)
	assert.Equal(t, 1, r.live())
}

func TestRule4APageIsDeletedBeforeItWasEverSynced(t *testing.T) {
	t.Parallel()
	var gate *sourcetest.Gate
	r := newRig(t, throughSource(func(s source.Source) source.Source { gate = sourcetest.NewGate(s); return gate.Source() }))
	r.put("new.md", "# New\n\ntext\n")
	deleted := r.wait(r.DeletePage(t.Context(), folderID, "new.md", control.DeleteOptions{}, person))
	assert.Equal(t, "completed", deleted.Status)
	looked := gate.Begun("new.md")
	assert.Equal(t, knowledge.Counts{Listed: 1, Excluded: 1}, r.synced())
	assert.Zero(t, r.live())
	assert.Equal(t, looked, gate.Begun("new.md"), "no sync ever read it")
	_, err := r.SyncPage(t.Context(), folderID, "nothing-there.md", person)
	assert.Equal(t, control.KindNotFound, control.KindOf(err))
}

func TestPausedFoldersStartNothingAndDeleteAllTheSame(t *testing.T) {
	t.Parallel()
	var gate *sourcetest.Gate
	r := newRig(t, throughSource(func(s source.Source) source.Source { gate = sourcetest.NewGate(s); return gate.Source() }))
	paths := r.fill(3)
	r.synced()
	r.put(paths[0], "# Page 0\n\nchanged\n")
	gate.Hold(paths[0])
	running, err := r.SyncFolder(t.Context(), folderID, knowledge.ModeFull, person)
	require.NoError(t, err)
	require.NoError(t, gate.AwaitBegun(t.Context(), paths[0], 2))
	_, err = r.PauseFolder(t.Context(), folderID, person)
	require.NoError(t, err)
	assert.Equal(t, "refused", r.wait(running, nil).Status, "a running folder sync stops")
	gate.Open(paths[0])
	_, err = r.SyncFolder(t.Context(), folderID, knowledge.ModeFull, person)
	assert.Equal(t, control.KindRefused, control.KindOf(err))
	_, err = r.SyncPage(t.Context(), folderID, paths[1], person)
	assert.Equal(t, control.KindRefused, control.KindOf(err))
	assert.Equal(t, "completed", r.wait(r.DeletePage(t.Context(), folderID, paths[1], control.DeleteOptions{}, person)).Status)
	_, err = r.RestorePage(t.Context(), folderID, paths[1], false, person)
	require.NoError(t, err)
	assert.Equal(t, 3, r.live())
	_, err = r.ResumeFolder(t.Context(), folderID, person)
	require.NoError(t, err)
	assert.EqualValues(t, 3, r.synced().Listed)
	r.clean()
}

func TestCancellingOneFolderSyncLeavesThePagesOfAnother(t *testing.T) {
	t.Parallel()
	var gate *sourcetest.Gate
	r := newRig(t, throughSource(func(s source.Source) source.Source { gate = sourcetest.NewGate(s); return gate.Source() }))
	paths := r.fill(2)
	gate.Hold(paths[0])
	first, err := r.SyncFolder(t.Context(), folderID, knowledge.ModeFull, person)
	require.NoError(t, err)
	require.NoError(t, gate.AwaitBegun(t.Context(), paths[0], 1))
	second, err := r.SyncFolder(t.Context(), folderID, knowledge.ModeFull, person)
	require.NoError(t, err)
	require.NotEqual(t, first.WorkflowID, second.WorkflowID, "the first has begun to list: another may start")
	_, err = r.CancelRun(t.Context(), first.WorkflowID, person)
	require.NoError(t, err)
	assert.Equal(t, "cancelled", r.wait(first, nil).Status)
	assert.Equal(t, 1, r.count(`SELECT count(*) FROM in_flight`), "the page sync goes on")
	gate.Open(paths[0])
	assert.Equal(t, "completed", r.wait(second, nil).Status)
	assert.Equal(t, 2, r.live())
	r.clean()
}

func TestRule5DeleteOfASlowSyncIsQuick(t *testing.T) {
	t.Parallel()
	var gate *sourcetest.Gate
	r := newRig(t, throughSource(func(s source.Source) source.Source { gate = sourcetest.NewGate(s); return gate.Source() }))
	r.put("a.md", "# A\n\ntext\n")
	r.synced()
	before := gate.Begun("a.md")
	gate.Hold("a.md")
	gate.IgnoreCancel(true)
	_, err := r.SyncPage(t.Context(), folderID, "a.md", person)
	require.NoError(t, err)
	require.NoError(t, gate.AwaitBegun(t.Context(), "a.md", before+1))
	begun := time.Now()
	deleted := r.wait(r.DeletePage(t.Context(), folderID, "a.md", control.DeleteOptions{}, person))
	t.Logf("a sync that ignores its cancel was ended after %s, by the ladder", time.Since(begun).Round(time.Millisecond))
	assert.Equal(t, "completed", deleted.Status)
	assert.Zero(t, r.count(`SELECT count(*) FROM in_flight`))
	gate.Open("a.md")
	assert.Zero(t, r.live())
	r.clean()
}

func TestARestoreWaitsForItsSyncAndSaysWhyAPageIsNotLive(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.put("sub/one.md", "# One\n\nfirst\n")
	r.put("sub/deep/two.md", "# Two\n\nsecond\n")
	r.put("stay.md", "# Stay\n\nthird\n")
	r.synced()
	restore := func(ref string, subtree bool) error {
		restored, err := r.RestorePage(t.Context(), folderID, ref, subtree, person)
		require.NoError(t, err)
		_, err = r.WaitLive(t.Context(), restored)
		return err
	}

	r.wait(r.DeletePage(t.Context(), folderID, "sub", control.DeleteOptions{Subtree: true}, person))
	require.NoError(t, restore("sub", true), "a directory is never live itself")
	assert.Equal(t, 3, r.live())

	r.put("purged.md", "# Purged\n\nfourth\n")
	first := r.wait(r.SyncPage(t.Context(), folderID, "purged.md", person))
	assert.Equal(t, knowledge.Counts{Listed: 1, New: 1}, *first.Counts)
	r.wait(r.DeletePage(t.Context(), folderID, "purged.md", control.DeleteOptions{Now: true}, person))
	r.remove("purged.md")
	require.ErrorContains(t, restore("purged.md", false), "the source no longer has it")

	r.put("never.md", "# Never\n\nfifth\n")
	r.wait(r.DeletePage(t.Context(), folderID, "never.md", control.DeleteOptions{}, person))
	r.remove("never.md")
	require.ErrorContains(t, restore("never.md", false), "the source no longer has it")
	r.clean()
}

func TestFsckAfterRestoreFencesWhatBeganBefore(t *testing.T) {
	t.Parallel()
	var gate *sourcetest.Gate
	r := newRig(t, throughSource(func(s source.Source) source.Source { gate = sourcetest.NewGate(s); return gate.Source() }))
	r.put("a.md", "# A\n\nbefore\n")
	r.synced()
	before := gate.Begun("a.md")
	gate.HoldLate("a.md")
	running, err := r.SyncPage(t.Context(), folderID, "a.md", person)
	require.NoError(t, err)
	require.NoError(t, gate.AwaitBegun(t.Context(), "a.md", before+1))
	found, err := r.Fsck(t.Context(), control.FsckOptions{AfterRestore: true})
	require.NoError(t, err)
	require.Len(t, found, 1)
	assert.True(t, found[0].Repaired)
	gate.Open("a.md")
	assert.Equal(t, "cancelled", r.wait(running, nil).Status, "the run from before the restore wrote nothing")
	assert.EqualValues(t, 1, r.synced().Listed)
	r.clean()
}

func TestRule13AFailingModelNeverFailsASync(t *testing.T) {
	t.Parallel()
	moody := &moodyEmbedder{}
	r := newRig(t, func(r *rig) { r.embedder.Embedder = moody })
	r.put("a.md", "# A\n\nxylophone lessons\n")
	assert.Equal(t, knowledge.Counts{Listed: 1, New: 1}, r.synced())
	hits, err := r.search.Search(t.Context(), search.Query{Text: "xylophone"})
	require.NoError(t, err)
	require.Len(t, hits, 1, "the page is found by its words meanwhile")
	assert.Equal(t, 1, r.count(`SELECT count(*) FROM due_reads WHERE reason = 'models'`))
	assert.Zero(t, r.count(`SELECT count(*) FROM embeddings`))

	moody.mended.Store(true)
	r.wait(r.SyncPage(t.Context(), folderID, "a.md", person))
	assert.Equal(t, 1, r.count(`SELECT count(*) FROM live_chunks WHERE embedding IS NOT NULL`))
	assert.Zero(t, r.count(`SELECT count(*) FROM due_reads`), "nothing is due any more")
	r.clean()
}
