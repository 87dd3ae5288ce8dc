package workflows_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/testsuite"

	"github.com/loresync/loresync/activities"
	"github.com/loresync/loresync/internal/knowledge"
	"github.com/loresync/loresync/internal/source"
	"github.com/loresync/loresync/workflows"
)

const folderSyncID = "folder/hr/sync/u1"

var (
	theListing = activities.ListFolderResult{
		ListingID: 4, Mode: knowledge.ModeFull, Verdict: source.VerdictComplete, Checkpoint: "mark", Window: 64,
	}
	theCounts   = knowledge.Counts{Listed: 3, New: 2, Unchanged: 1}
	toSettle    = activities.SettlePagesInput{FolderID: "hr", ListingID: 4, Lane: knowledge.LaneBackfill, Window: 64}
	toReconcile = activities.ReconcileInput{FolderID: "hr", ListingID: 4}
)

func folderEnv(t *testing.T) *testsuite.TestWorkflowEnvironment {
	t.Helper()
	return newEnv(t, folderSyncID)
}

func syncFolder(t *testing.T, env *testsuite.TestWorkflowEnvironment) (workflows.SyncFolderResult, error) {
	t.Helper()
	return ended[workflows.SyncFolderResult](t, env, workflows.SyncFolderWorkflow, workflows.SyncFolderInput{FolderID: "hr"})
}

// closes expects the run's end, checks what it is told, and answers as the activity does.
func closes(t *testing.T, env *testsuite.TestWorkflowEnvironment, check func(in activities.FinishRunInput)) {
	t.Helper()
	env.OnActivity(folder.FinishRun, anything, anything).Once().Return(
		func(_ context.Context, in activities.FinishRunInput) (activities.FinishRunResult, error) {
			assert.Equal(t, "hr", in.FolderID)
			assert.Equal(t, folderSyncID, in.WorkflowID)
			check(in)
			result := activities.FinishRunResult{Status: in.Status, Reason: in.Reason, Counts: theCounts}
			if result.Status == "" {
				result.Status = knowledge.RunCompleted
			}
			return result, nil
		})
}

func lists(env *testsuite.TestWorkflowEnvironment, result activities.ListFolderResult) {
	env.OnActivity(folder.ListFolder, anything, anything).Return(result, nil).Once()
}

func settles(env *testsuite.TestWorkflowEnvironment, result activities.SettlePagesResult) {
	env.OnActivity(folder.SettlePages, anything, toSettle).Return(result, nil).Once()
}

func reconciles(env *testsuite.TestWorkflowEnvironment) {
	env.OnActivity(reconcile.ReconcileVanished, anything, toReconcile).Return(activities.ReconcileResult{}, nil).Once()
}

func TestSyncFolderEndings(t *testing.T) {
	t.Parallel()

	t.Run("it lists, settles window by window, reconciles, and closes the run by its counts", func(t *testing.T) {
		t.Parallel()
		env := folderEnv(t)
		lists(env, theListing)
		settles(env, activities.SettlePagesResult{More: true, Asked: 500})
		settles(env, activities.SettlePagesResult{Asked: 3})
		reconciles(env)
		closes(t, env, func(in activities.FinishRunInput) {
			assert.Equal(t, firstRunID, in.FirstRunID)
			assert.Empty(t, in.Status, "the counts decide")
			assert.EqualValues(t, 4, in.ListingID)
			assert.Equal(t, "mark", in.Checkpoint)
			assert.Equal(t, knowledge.ModeFull, in.Mode)
		})
		result, err := syncFolder(t, env)
		require.NoError(t, err)
		assert.Equal(t, workflows.SyncFolderResult{Status: knowledge.RunCompleted, Counts: theCounts}, result)
	})

	t.Run("an incremental run asks in its own lane", func(t *testing.T) {
		t.Parallel()
		env := folderEnv(t)
		listing := theListing
		listing.Mode = knowledge.ModeIncremental
		lists(env, listing)
		incremental := toSettle
		incremental.Lane = knowledge.LaneIncremental
		env.OnActivity(folder.SettlePages, anything, incremental).Return(activities.SettlePagesResult{}, nil).Once()
		reconciles(env)
		closes(t, env, func(activities.FinishRunInput) {})
		_, err := syncFolder(t, env)
		require.NoError(t, err)
	})

	t.Run("a dry run ends after the listing", func(t *testing.T) {
		t.Parallel()
		env := folderEnv(t)
		lists(env, activities.ListFolderResult{ListingID: 4, Mode: knowledge.ModeDryRun, Verdict: source.VerdictComplete})
		closes(t, env, func(in activities.FinishRunInput) {
			assert.Equal(t, knowledge.ModeDryRun, in.Mode)
			assert.EqualValues(t, 4, in.ListingID)
		})
		_, err := syncFolder(t, env)
		require.NoError(t, err)
	})

	for refused, sentence := range map[string]string{
		"folder_unknown": "there is no such folder",
		"folder_deleted": "the folder was deleted",
		"paused":         "the folder, or its connection, is paused",
		"stopped":        "the folder was deleted, paused or re-scoped during the sync",
	} {
		t.Run("a listing refused as "+refused+" reads nothing and says why", func(t *testing.T) {
			t.Parallel()
			env := folderEnv(t)
			lists(env, activities.ListFolderResult{Refused: refused})
			closes(t, env, func(activities.FinishRunInput) {})
			result, err := syncFolder(t, env)
			require.NoError(t, err)
			assert.Equal(t, knowledge.RunRefused, result.Status)
			assert.Equal(t, sentence, result.Reason)
		})
	}

	t.Run("a folder that is deleted while its pages are read ends it as refused", func(t *testing.T) {
		t.Parallel()
		env := folderEnv(t)
		lists(env, theListing)
		settles(env, activities.SettlePagesResult{Stopped: true})
		closes(t, env, func(in activities.FinishRunInput) { assert.EqualValues(t, 4, in.ListingID) })
		result, err := syncFolder(t, env)
		require.NoError(t, err)
		assert.Equal(t, knowledge.RunRefused, result.Status)
	})
}

func TestSyncFolderContinuesAsNew(t *testing.T) {
	t.Parallel()

	t.Run("with its listing, when pages are left and the history has grown", func(t *testing.T) {
		t.Parallel()
		env := folderEnv(t)
		env.SetContinueAsNewSuggested(true)
		env.OnActivity(folder.ListFolder, anything, activities.ListFolderInput{FolderID: "hr", WorkflowID: folderSyncID, FirstRunID: firstRunID}).
			Return(theListing, nil).Once()
		settles(env, activities.SettlePagesResult{More: true, Asked: 500})
		_, err := syncFolder(t, env)
		next := continued[workflows.SyncFolderInput](t, err, "SyncFolderWorkflow")
		assert.Equal(t, "hr", next.FolderID)
		assert.Equal(t, &workflows.FolderProgress{FirstRunID: firstRunID, Listing: theListing}, next.Carried)
	})

	t.Run("not when nothing is left", func(t *testing.T) {
		t.Parallel()
		env := folderEnv(t)
		env.SetContinueAsNewSuggested(true)
		lists(env, theListing)
		settles(env, activities.SettlePagesResult{})
		reconciles(env)
		closes(t, env, func(activities.FinishRunInput) {})
		_, err := syncFolder(t, env)
		require.NoError(t, err)
	})

	t.Run("and then goes on where it was, under the first run's name", func(t *testing.T) {
		t.Parallel()
		env := folderEnv(t)
		settles(env, activities.SettlePagesResult{})
		reconciles(env)
		closes(t, env, func(in activities.FinishRunInput) {
			assert.Equal(t, "an-earlier-run", in.FirstRunID)
			assert.Equal(t, "mark", in.Checkpoint)
			assert.EqualValues(t, 4, in.ListingID)
		})
		carried := workflows.SyncFolderInput{FolderID: "hr", Carried: &workflows.FolderProgress{FirstRunID: "an-earlier-run", Listing: theListing}}
		_, err := ended[workflows.SyncFolderResult](t, env, workflows.SyncFolderWorkflow, carried)
		require.NoError(t, err)
	})
}

func TestRule6SyncFolderCancelled(t *testing.T) {
	t.Parallel()
	cancelled := func(in activities.FinishRunInput) {
		assert.Equal(t, knowledge.RunCancelled, in.Status)
		assert.Equal(t, "cancelled", in.Reason)
	}

	t.Run("while it lists closes the run as cancelled", func(t *testing.T) {
		t.Parallel()
		env := folderEnv(t)
		env.OnActivity(folder.ListFolder, anything, anything).After(time.Hour).Return(theListing, nil)
		closes(t, env, cancelled)
		env.RegisterDelayedCallback(env.CancelWorkflow, time.Minute)
		_, err := syncFolder(t, env)
		assert.True(t, temporal.IsCanceledError(err), err)
	})

	t.Run("while it waits for pages closes the run with what was counted", func(t *testing.T) {
		t.Parallel()
		env := folderEnv(t)
		lists(env, theListing)
		env.OnActivity(folder.SettlePages, anything, toSettle).After(time.Hour).Return(activities.SettlePagesResult{}, nil)
		closes(t, env, func(in activities.FinishRunInput) {
			cancelled(in)
			assert.EqualValues(t, 4, in.ListingID)
		})
		env.RegisterDelayedCallback(env.CancelWorkflow, time.Minute)
		_, err := syncFolder(t, env)
		assert.True(t, temporal.IsCanceledError(err), err)
	})

	t.Run("during an activity that doesn't notice ends cancelled all the same", func(t *testing.T) {
		t.Parallel()
		env := folderEnv(t)
		env.OnActivity(folder.ListFolder, anything, anything).Once().Return(
			func(context.Context, activities.ListFolderInput) (activities.ListFolderResult, error) {
				env.CancelWorkflow()
				return activities.ListFolderResult{Refused: "paused"}, nil
			})
		closes(t, env, cancelled)
		_, err := syncFolder(t, env)
		assert.True(t, temporal.IsCanceledError(err), err)
	})
}

func TestSyncFolderFailsWithAReason(t *testing.T) {
	t.Parallel()
	for name, fails := range map[string]func(*testsuite.TestWorkflowEnvironment){
		"when it can't list": func(env *testsuite.TestWorkflowEnvironment) {
			env.OnActivity(folder.ListFolder, anything, anything).Return(activities.ListFolderResult{}, broken(activities.FailureUnauthorized)).Once()
		},
		"when pages can't be settled": func(env *testsuite.TestWorkflowEnvironment) {
			lists(env, theListing)
			env.OnActivity(folder.SettlePages, anything, toSettle).Return(activities.SettlePagesResult{}, broken(activities.FailureUnauthorized)).Once()
		},
		"when it can't reconcile": func(env *testsuite.TestWorkflowEnvironment) {
			lists(env, theListing)
			settles(env, activities.SettlePagesResult{})
			env.OnActivity(reconcile.ReconcileVanished, anything, toReconcile).Return(activities.ReconcileResult{}, broken(activities.FailureUnauthorized)).Once()
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			env := folderEnv(t)
			fails(env)
			closes(t, env, func(in activities.FinishRunInput) {
				assert.Equal(t, knowledge.RunFailed, in.Status)
				assert.Contains(t, in.Reason, activities.FailureUnauthorized)
			})
			_, err := syncFolder(t, env)
			var failure *temporal.ApplicationError
			require.ErrorAs(t, err, &failure)
			assert.Equal(t, activities.FailureUnauthorized, failure.Type())
		})
	}

	t.Run("when the run can't be closed", func(t *testing.T) {
		t.Parallel()
		env := folderEnv(t)
		lists(env, theListing)
		settles(env, activities.SettlePagesResult{})
		reconciles(env)
		env.OnActivity(folder.FinishRun, anything, anything).Return(activities.FinishRunResult{}, broken(activities.FailureUnavailable)).Once()
		_, err := syncFolder(t, env)
		assert.ErrorContains(t, err, activities.FailureUnavailable)
	})
}
