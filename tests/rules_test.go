package tests

import (
	"context"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/loresync/loresync/internal/control"
	"github.com/loresync/loresync/internal/knowledge"
	"github.com/loresync/loresync/internal/search"
	"github.com/loresync/loresync/internal/source"
	"github.com/loresync/loresync/internal/source/sourcetest"
	"github.com/loresync/loresync/internal/testenv"
)

func TestFolderSyncPublishesWhatIsThere(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.fill(20)
	r.put("日本語/休暇.md", "# 休暇規程\n\n有給休暇は入社六か月後に十日付与されます。申請は三日前までに行います。\n")

	first := r.synced()
	assert.Equal(t, knowledge.Counts{Listed: 21, New: 21}, first)
	assert.Equal(t, 21, r.live())
	embedded := r.embedder.texts.Load()

	second := r.synced()
	assert.Equal(t, knowledge.Counts{Listed: 21, Unchanged: 21}, second)
	assert.Equal(t, embedded, r.embedder.texts.Load(), "nothing changed, nothing is embedded")

	for query, want := range map[string]string{"有給休暇の申請": "日本語/休暇.md", "subject17": "dir2/page017.md"} {
		hits, err := r.search.Search(t.Context(), search.Query{Text: query, Limit: 3})
		require.NoError(t, err)
		require.NotEmpty(t, hits, query)
		assert.Equal(t, r.page(want).PageID, hits[0].PageID, query)
	}
	r.clean()
}

func TestRule1OneSyncPerPage(t *testing.T) {
	t.Parallel()
	var gate *sourcetest.Gate
	r := newRig(t, patiently, throughSource(func(s source.Source) source.Source { gate = sourcetest.NewGate(s); return gate.Source() }))
	r.put("a.md", "# A\n\ntext\n")
	r.synced()
	before := gate.Begun("a.md")
	gate.Hold("a.md")

	const callers = 200
	var started, joined atomic.Int64
	var met sync.Mutex
	runs := map[string]control.Answer{}
	var group sync.WaitGroup
	for range callers {
		group.Go(func() {
			answer, err := r.SyncPage(context.WithoutCancel(t.Context()), folderID, "a.md", person)
			if err != nil {
				t.Errorf("sync a page: %v", err)
				return
			}
			met.Lock()
			runs[answer.RunID] = answer
			met.Unlock()
			if answer.Joined {
				joined.Add(1)
			} else {
				started.Add(1)
			}
		})
	}
	group.Wait()
	gate.Open("a.md")
	assert.EqualValues(t, 1, started.Load())
	assert.EqualValues(t, callers-1, joined.Load())
	assert.Len(t, runs, 1, "every caller met the same run")
	for _, answer := range runs {
		r.wait(answer, nil)
	}
	assert.LessOrEqual(t, gate.Begun("a.md")-before, 2, "one read, and one more for those who came after it had begun")
	r.clean()
}

func TestRule2NoLostUpdate(t *testing.T) {
	t.Parallel()
	var gate *sourcetest.Gate
	r := newRig(t, throughSource(func(s source.Source) source.Source { gate = sourcetest.NewGate(s); return gate.Source() }))
	r.put("a.md", "one\n")
	r.synced()

	t.Run("a request that joins a run which has read makes it read again", func(t *testing.T) {
		gate.HoldLate("a.md")
		before := gate.Read("a.md")
		first, err := r.SyncPage(t.Context(), folderID, "a.md", person)
		require.NoError(t, err)
		require.NoError(t, gate.AwaitRead(t.Context(), "a.md", before+1))
		r.put("a.md", "two, written after the read\n")
		second, err := r.SyncPage(t.Context(), folderID, "a.md", person)
		require.NoError(t, err)
		assert.True(t, second.Joined)
		assert.Equal(t, first.RunID, second.RunID)
		gate.Open("a.md")
		r.wait(second, nil)
		markdown, err := r.Markdown(t.Context(), folderID, r.page("a.md").PageID)
		require.NoError(t, err)
		assert.Equal(t, "two, written after the read\n", markdown)
	})

	t.Run("a folder sync asks again when the sync it joined had read before the listing", func(t *testing.T) {
		gate.HoldLate("a.md")
		before := gate.Read("a.md")
		_, err := r.SyncPage(t.Context(), folderID, "a.md", person)
		require.NoError(t, err)
		require.NoError(t, gate.AwaitRead(t.Context(), "a.md", before+1))
		r.put("a.md", "three, written after the read\n")
		folder, err := r.SyncFolder(t.Context(), folderID, knowledge.ModeFull, person)
		require.NoError(t, err)
		testenv.Eventually(t, patience, func() bool {
			return r.count(`SELECT count(*) FROM listing_entries WHERE state = 'requested'`) == 1
		}, "the folder sync waits for the page")
		gate.Open("a.md")
		ended := r.wait(folder, nil)
		assert.Equal(t, "completed", ended.Status)
		markdown, err := r.Markdown(t.Context(), folderID, r.page("a.md").PageID)
		require.NoError(t, err)
		assert.Equal(t, "three, written after the read\n", markdown)
	})
	r.clean()
}

func TestRule4And5DeleteDuringSync(t *testing.T) {
	t.Parallel()
	var gate *sourcetest.Gate
	r := newRig(t, throughSource(func(s source.Source) source.Source { gate = sourcetest.NewGate(s); return gate.Source() }))
	r.put("a.md", "# A\n\nfirst\n")
	r.put("b.md", "# B\n\nother\n")
	r.synced()
	embedded := r.embedder.texts.Load()
	gate.Hold("a.md")
	before := gate.Begun("a.md")
	running, err := r.SyncPage(t.Context(), folderID, "a.md", person)
	require.NoError(t, err)
	require.NoError(t, gate.AwaitBegun(t.Context(), "a.md", before+1))

	begun := time.Now()
	deleted, err := r.DeletePage(t.Context(), folderID, "a.md", control.DeleteOptions{}, person)
	require.NoError(t, err)
	assert.Equal(t, 1, r.live(), "hidden from the accept")
	deleted = r.wait(deleted, nil)
	t.Logf("the delete ended after %s", time.Since(begun).Round(time.Millisecond))
	assert.Equal(t, "completed", deleted.Status)
	r.wait(running, nil)
	r.clean()
	gate.Open("a.md")

	counts := r.synced()
	assert.EqualValues(t, 1, counts.Excluded)
	assert.Equal(t, 1, r.live(), "it doesn't come back")
	page := r.page("a.md")
	assert.Equal(t, knowledge.StateExcluded, page.State)
	_, err = r.SyncPage(t.Context(), folderID, "a.md", person)
	assert.Equal(t, control.KindRefused, control.KindOf(err))

	restored, err := r.RestorePage(t.Context(), folderID, page.PageID, false, person)
	require.NoError(t, err)
	assert.Equal(t, 2, r.live(), "the last published revision is visible at once")
	_, err = r.WaitLive(t.Context(), restored)
	require.NoError(t, err)
	assert.Equal(t, embedded, r.embedder.texts.Load(), "without a new embedding")
	r.clean()
}

func TestRule4DeleteNowLeavesNothing(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.put("x/a.md", "# A\n\nfirst\n")
	r.put("x/y/b.md", "# B\n\nsecond\n")
	r.put("c.md", "# C\n\nthird\n")
	r.synced()
	deleted := r.wait(r.DeletePage(t.Context(), folderID, "x", control.DeleteOptions{Subtree: true, Now: true}, person))
	assert.Equal(t, "purged", deleted.Status)
	assert.Equal(t, 1, r.count(`SELECT count(*) FROM pages`))
	assert.Equal(t, 1, r.count(`SELECT count(*) FROM revisions`))
	assert.Equal(t, 1, r.count(`SELECT count(*) FROM embeddings`))
	r.put("x/y/new.md", "# New\n\nfourth\n")
	assert.EqualValues(t, 3, r.synced().Excluded)
	assert.Equal(t, 1, r.live())

	gone := r.wait(r.DeleteFolder(t.Context(), folderID, true, person))
	assert.Equal(t, "purged", gone.Status)
	for _, table := range []string{"folders", "pages", "revisions", "chunks", "embeddings", "exclusions", "listings", "in_flight"} {
		assert.Zero(t, r.count(`SELECT count(*) FROM `+table), table)
	}
	_, err := r.AddFolder(t.Context(), control.FolderSpec{ID: folderID, Source: "files", Root: r.root}, person)
	require.NoError(t, err, "the id is free again")
	assert.EqualValues(t, 4, r.synced().New, "exclusions went with the folder")
}

func TestRule5DeleteFolderDuringFolderSync(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.fill(300)
	running, err := r.SyncFolder(t.Context(), folderID, knowledge.ModeFull, person)
	require.NoError(t, err)
	testenv.Eventually(t, patience, func() bool { return r.live() > 20 }, "pages are being published")
	begun := time.Now()
	deleted, err := r.DeleteFolder(t.Context(), folderID, false, person)
	require.NoError(t, err)
	assert.Zero(t, r.live())
	deleted = r.wait(deleted, nil)
	t.Logf("the delete ended after %s", time.Since(begun).Round(time.Millisecond))
	assert.Equal(t, "completed", deleted.Status)
	ended := r.wait(running, nil)
	assert.Contains(t, []string{"cancelled", "refused"}, ended.Status)
	r.clean()
	restored := r.wait(r.RestoreFolder(t.Context(), folderID, person))
	assert.Equal(t, "completed", restored.Status, restored.Reason)
	assert.Equal(t, 300, r.live())
	r.clean()
}

func TestRule6CleanupAfterATermination(t *testing.T) {
	t.Parallel()
	var gate *sourcetest.Gate
	r := newRig(t, throughSource(func(s source.Source) source.Source { gate = sourcetest.NewGate(s); return gate.Source() }))
	r.put("a.md", "# A\n\nfirst\n")
	r.synced()
	gate.Hold("a.md")
	before := gate.Begun("a.md")
	running, err := r.SyncPage(t.Context(), folderID, "a.md", person)
	require.NoError(t, err)
	require.NoError(t, gate.AwaitBegun(t.Context(), "a.md", before+1))
	require.NoError(t, r.Terminate(t.Context(), running.WorkflowID, "an operator"))
	assert.Equal(t, 1, r.count(`SELECT count(*) FROM in_flight`))
	testenv.Eventually(t, patience, func() bool {
		_, err := r.Janitor(t.Context(), person)
		return err == nil && r.count(`SELECT count(*) FROM in_flight`) == 0
	}, "the janitor drops what the terminated run left")
	gate.Open("a.md")
	r.clean()
	r.put("a.md", "# A\n\nsecond\n")
	assert.EqualValues(t, 1, r.synced().Changed)
}

func TestRule7AbsenceIsNotDeletion(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	paths := r.fill(40)
	r.synced()

	t.Run("a root that moved away removes nothing", func(t *testing.T) {
		require.NoError(t, os.Rename(r.root, r.root+".away"))
		for range 3 {
			answer := r.sync()
			assert.Equal(t, "failed", answer.Status)
			assert.NotEmpty(t, answer.Reason)
		}
		assert.Equal(t, 40, r.live())
		require.NoError(t, os.Rename(r.root+".away", r.root))
		assert.EqualValues(t, 40, r.synced().Unchanged)
	})

	t.Run("a sync of files lists in full without being told", func(t *testing.T) {
		answer, err := r.SyncFolder(t.Context(), folderID, knowledge.ModeIncremental, person)
		r.wait(answer, err)
		assert.Equal(t, 1, r.count(`SELECT count(*) FROM sync_runs WHERE workflow_id = $1 AND mode = 'full'`, answer.WorkflowID))
	})

	t.Run("three of forty go after the second full sync", func(t *testing.T) {
		r.remove(paths[:3]...)
		assert.Zero(t, r.synced().Removed)
		assert.Equal(t, 40, r.live())
		assert.EqualValues(t, 3, r.synced().Removed)
		assert.Equal(t, 37, r.live())
		r.put(paths[0], "# Page 0\n\nback again\n")
		assert.EqualValues(t, 1, r.synced().Revived)
		assert.Equal(t, 38, r.live())
	})

	t.Run("forty per cent make a hold, and approving it removes what is still gone", func(t *testing.T) {
		r.remove(paths[10:26]...)
		r.synced()
		assert.EqualValues(t, 16, r.synced().Held)
		assert.Equal(t, 38, r.live())
		holds, err := r.Holds(t.Context(), false)
		require.NoError(t, err)
		require.Len(t, holds, 1)
		assert.Len(t, holds[0].Pages, 16)
		r.put(paths[10], "# Page 10\n\nback again\n")
		r.wait(r.ApproveHold(t.Context(), holds[0].HoldID, person))
		assert.Equal(t, 23, r.live())
	})

	t.Run("an emptied folder makes a hold, and a rejected page isn't proposed again", func(t *testing.T) {
		live := r.live()
		entries, err := os.ReadDir(r.root)
		require.NoError(t, err)
		for _, e := range entries {
			require.NoError(t, os.RemoveAll(filepath.Join(r.root, e.Name())))
		}
		r.synced()
		assert.EqualValues(t, live, r.synced().Held)
		assert.Equal(t, live, r.live())
		holds, err := r.Holds(t.Context(), false)
		require.NoError(t, err)
		require.Len(t, holds, 1)
		_, err = r.RejectHold(t.Context(), holds[0].HoldID, person)
		require.NoError(t, err)
		assert.Zero(t, r.synced().Held)
		assert.Equal(t, live, r.live())
	})
	r.clean()
}

func TestRule8RenamesKeepThePageAndItsExclusion(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.put("a.md", "# A\n\nunique text of a\n")
	r.put("b.md", "# B\n\nunique text of b\n")
	r.put("empty.md", "")
	r.synced()
	a, b := r.page("a.md"), r.page("b.md")
	embedded := r.embedder.texts.Load()
	rename := func(from, to string) {
		require.NoError(t, os.MkdirAll(filepath.Dir(filepath.Join(r.root, to)), 0o700))
		require.NoError(t, os.Rename(filepath.Join(r.root, from), filepath.Join(r.root, to)))
	}
	rename("a.md", "moved/a2.md")
	rename("empty.md", "empty2.md")
	counts := r.synced()
	assert.EqualValues(t, 1, counts.Moved)
	assert.Equal(t, a.PageID, r.page("moved/a2.md").PageID)
	assert.Equal(t, embedded, r.embedder.texts.Load(), "a move embeds nothing")

	r.wait(r.DeletePage(t.Context(), folderID, "b.md", control.DeleteOptions{}, person))
	rename("b.md", "b2.md")
	assert.EqualValues(t, 1, r.synced().Excluded)
	assert.Equal(t, knowledge.StateExcluded, r.page("b2.md").State)
	assert.Equal(t, b.PageID, r.page("b2.md").PageID)
	r.put("b.md", "# B again\n\nsomething else under the old name\n")
	r.synced()
	assert.Equal(t, 1, r.count(`SELECT count(*) FROM exclusions WHERE source_id = 'b.md'`), "the old name stays excluded")
	r.clean()
}

func TestRule9LastGoodContentStays(t *testing.T) {
	t.Parallel()
	var faulty *sourcetest.Faulty
	r := newRig(t, throughSource(func(s source.Source) source.Source { faulty = sourcetest.NewFaulty(s); return faulty.Source() }))
	paths := r.fill(10)
	r.synced()
	faulty.Fail(sourcetest.OpFetch, paths[0], sourcetest.Always, &source.Failure{
		Class: source.ClassUnavailable, Doing: "read a page", Sentence: "the source answers 500",
	})
	r.put(paths[0], "# Page 0\n\nchanged\n")
	r.put(paths[1], "# Page 1\n\nchanged\n")
	answer := r.sync()
	assert.Equal(t, "partial", answer.Status)
	assert.EqualValues(t, 1, answer.Counts.Failed)
	assert.EqualValues(t, 1, answer.Counts.Changed, "one strange page never fails the others")
	assert.Equal(t, 10, r.live())
	page := r.page(paths[0])
	require.NotNil(t, page.Failure)
	assert.Equal(t, "Unavailable", page.Failure.Class)
	assert.Equal(t, "the source answers 500", page.Failure.Sentence)
	assert.Equal(t, 1, r.count(`SELECT count(*) FROM due_reads WHERE reason = 'retry'`))
	faulty.Heal()
	assert.EqualValues(t, 1, r.synced().Changed, "a failed page is tried again without an edit")
	assert.Nil(t, r.page(paths[0]).Failure)
	r.clean()
}

func TestRule10NoContentInHistories(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.put("geheim/plan.md", "# Xylophone title\n\nxylophone body\n")
	answer := r.sync()
	r.wait(r.DeletePage(t.Context(), folderID, "geheim/plan.md", control.DeleteOptions{}, person))
	page := r.page("geheim/plan.md").PageID
	for _, id := range []string{answer.WorkflowID, "folder/hr/page/" + page + "/sync", "folder/hr/page/" + page + "/delete"} {
		events := r.temporal.GetWorkflowHistory(t.Context(), id, "", false, 0)
		n := 0
		for events.HasNext() {
			event, err := events.Next()
			require.NoError(t, err)
			n++
			for _, secret := range []string{"ylophone", "geheim", "plan.md"} {
				assert.NotContains(t, event.String(), secret, id)
			}
		}
		if id != answer.WorkflowID {
			continue
		}
		assert.Less(t, n, 60, "a folder sync's history is small")
	}
}

func TestRule11And14FailuresAreSeenAndComeBack(t *testing.T) {
	t.Parallel()
	var faulty *sourcetest.Faulty
	r := newRig(t, throughSource(func(s source.Source) source.Source { faulty = sourcetest.NewFaulty(s); return faulty.Source() }))
	r.put("a.md", "# A\n\ntext\n")
	r.put("big.md", "x\x00y")
	faulty.Fail(sourcetest.OpFetch, "a.md", sourcetest.Always, &source.Failure{Class: source.ClassInvalid, Doing: "read a page", Sentence: "it can't be read"})
	answer := r.sync()
	assert.Equal(t, knowledge.Counts{Listed: 2, Failed: 1, Skipped: 1}, *answer.Counts)
	assert.Equal(t, knowledge.StateSkipped, r.page("big.md").State)
	assert.Contains(t, r.page("big.md").Reason, "binary")
	for range 9 {
		r.wait(r.SyncPage(t.Context(), folderID, "a.md", person))
	}
	assert.Equal(t, 1, r.count(`SELECT count(*) FROM page_failures WHERE quarantined_at IS NOT NULL`))
	before := faulty.Calls(sourcetest.OpFetch, "a.md")
	assert.Equal(t, knowledge.Counts{Listed: 2, Failed: 1, Skipped: 1}, *r.sync().Counts)
	assert.Equal(t, before, faulty.Calls(sourcetest.OpFetch, "a.md"), "a quarantined page isn't asked for until its version changes")
	faulty.Heal()
	retried, err := r.Retry(t.Context(), folderID, "", person)
	require.NoError(t, err)
	assert.EqualValues(t, 1, *retried.Pages)
	testenv.Eventually(t, patience, func() bool { return r.live() == 1 }, "the retry publishes it")
	r.clean()
}

func TestAFolderSyncSurvivesTheTerminationOfOneOfItsPageSyncs(t *testing.T) {
	t.Parallel()
	var gate *sourcetest.Gate
	r := newRig(t, throughSource(func(s source.Source) source.Source { gate = sourcetest.NewGate(s); return gate.Source() }))
	paths := r.fill(3)
	gate.Hold(paths[0])
	folder, err := r.SyncFolder(t.Context(), folderID, knowledge.ModeFull, person)
	require.NoError(t, err)
	require.NoError(t, gate.AwaitBegun(t.Context(), paths[0], 1))
	r.exec(`UPDATE in_flight SET began_at = now() - interval '1 minute'`)
	require.NoError(t, r.Terminate(t.Context(), "folder/hr/page/"+r.page(paths[0]).PageID+"/sync", "an operator"))
	gate.Open(paths[0])
	ended := r.wait(folder, nil)
	assert.Equal(t, "completed", ended.Status, ended.Reason)
	assert.Equal(t, 3, r.live())
	r.clean()
}
