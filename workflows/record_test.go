package workflows_test

import (
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/loresync/loresync/internal/content/embed"
	"github.com/loresync/loresync/internal/control"
	"github.com/loresync/loresync/internal/knowledge"
	"github.com/loresync/loresync/workflows"
)

var record = flag.Bool("record", false, "record the histories of the release anew, from real runs on real servers")

// TestRecordHistories writes the histories that TestReplay replays. It is run once per release, and by whoever adds a workflow.
func TestRecordHistories(t *testing.T) {
	if !*record {
		t.Skip("it writes files, and does so only when asked: -record")
	}
	require.NoError(t, os.RemoveAll(filepath.Join(historiesDir, release)))
	t.Run("pages", recordPages)
	t.Run("pages of a remote source", recordRemotePages)
	t.Run("pages whose models are down", recordWithoutModels)
	t.Run("folders", recordFolders)
	t.Run("deletes", recordDeletes)
	t.Run("batches and upkeep", recordUpkeep)
	t.Run("webhooks", recordWebhooks)
	t.Run("change logs", recordLogs)
}

func recordPages(t *testing.T) {
	r := newRecordRig(t, embed.Lexical{}, false)
	r.put("a.md")
	r.record("published", r.accepted(r.SyncPage(t.Context(), "hr", "a.md", recorder)))
	r.record("unchanged", r.accepted(r.SyncPage(t.Context(), "hr", "a.md", recorder)))

	r.gate.HoldLate("a.md")
	r.put("a.md")
	reading := r.accepted(r.SyncPage(t.Context(), "hr", "a.md", recorder))
	r.awaitRead("a.md", 3)
	r.accepted(r.SyncPage(t.Context(), "hr", "a.md", recorder))
	r.gate.Open("a.md")
	r.record("read_again", reading)

	r.gate.Hold("a.md")
	reading = r.accepted(r.SyncPage(t.Context(), "hr", "a.md", recorder))
	r.awaitRead("a.md", 5)
	deleted := r.accepted(r.DeletePage(t.Context(), "hr", "a.md", control.DeleteOptions{}, recorder))
	r.record("stopped_by_a_delete", reading)
	r.gate.Open("a.md")
	r.awaitEnd(deleted)
	refused := r.direct(reading.WorkflowID, workflows.SyncPageWorkflow, workflows.SyncPageInput{FolderID: "hr", PageID: reading.PageID})
	r.record("refused", refused)
}

func recordRemotePages(t *testing.T) {
	r := newRecordRig(t, seemingModel{}, true)
	r.put("a.md")
	r.record("remote_published", r.accepted(r.SyncPage(t.Context(), "hr", "a.md", recorder)))
	r.record("remote_unchanged", r.accepted(r.SyncPage(t.Context(), "hr", "a.md", recorder)))
	r.put("a.md")
	r.gate.HoldLate("a.md")
	reading := r.accepted(r.SyncPage(t.Context(), "hr", "a.md", recorder))
	r.awaitRead("a.md", 3)
	r.accepted(r.SyncPage(t.Context(), "hr", "a.md", recorder))
	r.gate.Open("a.md")
	r.record("remote_read_again", reading)

	r.gate.Hold("a.md")
	reading = r.accepted(r.SyncPage(t.Context(), "hr", "a.md", recorder))
	r.awaitRead("a.md", 5)
	r.accepted(r.SyncPage(t.Context(), "hr", "a.md", recorder))
	require.NoError(t, r.Cancel(t.Context(), reading.WorkflowID))
	r.record("remote_cancelled", reading)
	r.gate.Open("a.md")
}

func recordWithoutModels(t *testing.T) {
	r := newRecordRig(t, seemingModel{down: true}, true)
	r.put("a.md")
	r.record("remote_without_models", r.accepted(r.SyncPage(t.Context(), "hr", "a.md", recorder)))
}

func recordFolders(t *testing.T) {
	r := newRecordRig(t, embed.Lexical{}, false)
	paths := r.fill(30)
	sync := func(mode knowledge.Mode) control.Answer {
		return r.accepted(r.SyncFolder(t.Context(), "hr", mode, recorder))
	}
	r.record("dry_run", sync(knowledge.ModeDryRun))
	r.record("thirty_pages", sync(knowledge.ModeFull))
	r.record("unchanged", sync(knowledge.ModeFull))
	r.remove(paths[0], paths[1])
	r.record("two_vanished", sync(knowledge.ModeFull))

	r.gate.Hold()
	r.put(paths[2])
	running := sync(knowledge.ModeFull)
	r.awaitRead(paths[2], 2)
	r.accepted(r.CancelRun(t.Context(), running.WorkflowID, recorder))
	r.record("cancelled", running)

	running = sync(knowledge.ModeFull)
	r.awaitActivity(running, "SettlePages")
	_, err := r.PauseFolder(t.Context(), "hr", recorder)
	require.NoError(t, err)
	r.record("paused", running)
	r.gate.Open()
}

func recordDeletes(t *testing.T) {
	r := newRecordRig(t, embed.Lexical{}, false)
	r.put("x/a.md")
	r.put("x/y/b.md")
	r.put("c.md")
	r.put("d.md")
	r.record("four_pages", r.accepted(r.SyncFolder(t.Context(), "hr", knowledge.ModeFull, recorder)))

	r.record("page", r.accepted(r.DeletePage(t.Context(), "hr", "c.md", control.DeleteOptions{}, recorder)))
	r.record("subtree_now", r.accepted(r.DeletePage(t.Context(), "hr", "x", control.DeleteOptions{Subtree: true, Now: true}, recorder)))

	r.gate.IgnoreCancel(true)
	r.gate.Hold("d.md")
	reads := r.gate.Begun("d.md")
	r.accepted(r.SyncPage(t.Context(), "hr", "d.md", recorder))
	r.awaitRead("d.md", reads+1)
	deleted := r.accepted(r.DeletePage(t.Context(), "hr", "d.md", control.DeleteOptions{}, recorder))
	r.awaitActivity(deleted, "CancelSyncs")
	require.NoError(t, r.temporal.SignalWorkflow(t.Context(), deleted.WorkflowID, "", workflows.SignalLookAgain, nil))
	r.record("terminating_and_looking_again", deleted)
	r.gate.Open()

	r.record("folder", r.accepted(r.DeleteFolder(t.Context(), "hr", false, recorder)))
	r.record("folder_now", r.accepted(r.DeleteFolder(t.Context(), "hr", true, recorder)))
}

func recordUpkeep(t *testing.T) {
	r := newRecordRig(t, embed.Lexical{}, false)
	paths := r.fill(10)
	r.record("one_folder", r.accepted(r.SyncAll(t.Context(), recorder)))
	r.record("started", r.accepted(r.TriggerSchedule(t.Context(), recorder)))
	r.record("joined", r.accepted(r.SyncAll(t.Context(), recorder)))

	r.remove(paths[:8]...)
	for _, strike := range []string{"first_strike", "second_strike"} {
		r.record(strike, r.accepted(r.SyncFolder(t.Context(), "hr", knowledge.ModeFull, recorder)))
	}
	holds, err := r.Holds(t.Context(), false)
	require.NoError(t, err)
	require.Len(t, holds, 1)
	r.record("removed", r.accepted(r.ApproveHold(t.Context(), holds[0].HoldID, recorder)))
	r.record("tidied", r.accepted(r.Janitor(t.Context(), recorder)))
	r.record("asked", r.direct("all/due", workflows.DueReadsWorkflow, workflows.DueReadsInput{}))
}
