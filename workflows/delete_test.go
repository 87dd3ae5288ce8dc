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
	"github.com/loresync/loresync/workflows"
)

const (
	deletePageID   = "folder/hr/page/p1/delete"
	deleteFolderID = "folder/hr/delete"
)

var (
	pageTarget   = activities.DeleteInput{FolderID: "hr", PageID: "p1", WorkflowID: deletePageID}
	folderTarget = activities.DeleteInput{FolderID: "hr", WorkflowID: deleteFolderID}
	acceptedAt   = time.Date(2026, 5, 4, 3, 2, 1, 0, time.UTC)
	openPage     = activities.OpenDeleteResult{DeleteID: 9, AcceptedAt: acceptedAt}
)

func deletePage(t *testing.T, env *testsuite.TestWorkflowEnvironment) (workflows.DeleteResult, error) {
	t.Helper()
	return ended[workflows.DeleteResult](t, env, workflows.DeletePageWorkflow, workflows.DeletePageInput{FolderID: "hr", PageID: "p1"})
}

func opens(env *testsuite.TestWorkflowEnvironment, target activities.DeleteInput, open activities.OpenDeleteResult) {
	env.OnActivity(deletes.OpenDelete, anything, target).Return(open, nil).Once()
}

// ends expects one round of the ladder and what Postgres says after it.
func ends(env *testsuite.TestWorkflowEnvironment, todo activities.DeleteStepInput, outcome string) {
	env.OnActivity(deletes.CancelSyncs, anything, todo).Return(activities.CancelSyncsResult{Cancelled: 2, Terminated: 1}, nil).Once()
	env.OnActivity(deletes.FinishDelete, anything, todo).Return(outcome, nil).Once()
}

func stepOf(target activities.DeleteInput, open activities.OpenDeleteResult) activities.DeleteStepInput {
	return activities.DeleteStepInput{DeleteInput: target, DeleteID: open.DeleteID, Subtree: open.Subtree, AcceptedAt: open.AcceptedAt}
}

func TestDeletePageEndings(t *testing.T) {
	t.Parallel()
	todo := stepOf(pageTarget, openPage)

	t.Run("nothing when no delete is open", func(t *testing.T) {
		t.Parallel()
		env := newEnv(t, deletePageID)
		opens(env, pageTarget, activities.OpenDeleteResult{})
		result, err := deletePage(t, env)
		require.NoError(t, err)
		assert.Equal(t, workflows.DeleteResult{Outcome: "nothing"}, result)
	})

	t.Run("finished when nothing older is in flight", func(t *testing.T) {
		t.Parallel()
		env := newEnv(t, deletePageID)
		opens(env, pageTarget, openPage)
		ends(env, todo, "finished")
		result, err := deletePage(t, env)
		require.NoError(t, err)
		assert.Equal(t, workflows.DeleteResult{Outcome: "finished", Cancelled: 2, Terminated: 1}, result)
	})

	t.Run("restored when a person took it back, and nothing is purged", func(t *testing.T) {
		t.Parallel()
		env := newEnv(t, deletePageID)
		now := openPage
		now.Now = true
		opens(env, pageTarget, now)
		ends(env, todo, "restored")
		result, err := deletePage(t, env)
		require.NoError(t, err)
		assert.Equal(t, "restored", result.Outcome)
	})

	t.Run("it cancels again, a second later, while Postgres says that something is in flight", func(t *testing.T) {
		t.Parallel()
		env := newEnv(t, deletePageID)
		opens(env, pageTarget, openPage)
		ends(env, todo, "in_flight")
		ends(env, todo, "in_flight")
		ends(env, todo, "finished")
		begun := env.Now()
		result, err := deletePage(t, env)
		require.NoError(t, err)
		assert.Equal(t, workflows.DeleteResult{Outcome: "finished", Cancelled: 6, Terminated: 3}, result)
		assert.GreaterOrEqual(t, env.Now().Sub(begun), 2*time.Second)
	})

	t.Run("a subtree is swept before it is ended", func(t *testing.T) {
		t.Parallel()
		env := newEnv(t, deletePageID)
		subtree := openPage
		subtree.Subtree = true
		opens(env, pageTarget, subtree)
		env.OnActivity(deletes.SweepSubtree, anything, stepOf(pageTarget, subtree)).Return(12, nil).Once()
		ends(env, stepOf(pageTarget, subtree), "finished")
		result, err := deletePage(t, env)
		require.NoError(t, err)
		assert.Equal(t, 12, result.Swept)
	})

	t.Run("now purges what is finished", func(t *testing.T) {
		t.Parallel()
		env := newEnv(t, deletePageID)
		now := openPage
		now.Now = true
		opens(env, pageTarget, now)
		ends(env, todo, "finished")
		env.OnActivity(deletes.PurgeDelete, anything, todo).Return(5, nil).Once()
		result, err := deletePage(t, env)
		require.NoError(t, err)
		assert.Equal(t, 5, result.Purged)
	})
}

func TestDeleteLooksAgain(t *testing.T) {
	t.Parallel()
	todo := stepOf(pageTarget, openPage)
	// during answers a finish with a wish to look again.
	during := func(env *testsuite.TestWorkflowEnvironment) {
		env.OnActivity(deletes.CancelSyncs, anything, todo).Return(activities.CancelSyncsResult{Cancelled: 1}, nil).Once()
		env.OnActivity(deletes.FinishDelete, anything, todo).Once().Return(
			func(context.Context, activities.DeleteStepInput) (string, error) {
				env.SignalWorkflow(workflows.SignalLookAgain, nil)
				return "restored", nil
			})
	}

	t.Run("when it was asked to during its pass", func(t *testing.T) {
		t.Parallel()
		env := newEnv(t, deletePageID)
		opens(env, pageTarget, openPage)
		during(env)
		again := openPage
		again.DeleteID = 10
		opens(env, pageTarget, again)
		ends(env, stepOf(pageTarget, again), "finished")
		result, err := deletePage(t, env)
		require.NoError(t, err)
		assert.Equal(t, workflows.DeleteResult{Outcome: "finished", Cancelled: 3, Terminated: 1}, result, "delete, restore, delete comes out deleted")
	})

	t.Run("and keeps its outcome when there is nothing more to do", func(t *testing.T) {
		t.Parallel()
		env := newEnv(t, deletePageID)
		opens(env, pageTarget, openPage)
		during(env)
		opens(env, pageTarget, activities.OpenDeleteResult{})
		result, err := deletePage(t, env)
		require.NoError(t, err)
		assert.Equal(t, "restored", result.Outcome)
	})

	t.Run("not for a signal that came with its start", func(t *testing.T) {
		t.Parallel()
		env := newEnv(t, deletePageID)
		env.RegisterDelayedCallback(func() { env.SignalWorkflow(workflows.SignalLookAgain, nil) }, 0)
		opens(env, pageTarget, activities.OpenDeleteResult{})
		_, err := deletePage(t, env)
		require.NoError(t, err)
	})

	t.Run("under a new run once its history has grown", func(t *testing.T) {
		t.Parallel()
		env := newEnv(t, deletePageID)
		env.SetContinueAsNewSuggested(true)
		opens(env, pageTarget, openPage)
		during(env)
		_, err := deletePage(t, env)
		next := continued[workflows.DeletePageInput](t, err, "DeletePageWorkflow")
		assert.Equal(t, workflows.DeletePageInput{FolderID: "hr", PageID: "p1"}, next)
	})

	t.Run("and waits under a new run too", func(t *testing.T) {
		t.Parallel()
		env := newEnv(t, deleteFolderID)
		env.SetContinueAsNewSuggested(true)
		opens(env, folderTarget, openPage)
		ends(env, stepOf(folderTarget, openPage), "in_flight")
		_, err := ended[workflows.DeleteResult](t, env, workflows.DeleteFolderWorkflow, workflows.DeleteFolderInput{FolderID: "hr"})
		next := continued[workflows.DeleteFolderInput](t, err, "DeleteFolderWorkflow")
		assert.Equal(t, workflows.DeleteFolderInput{FolderID: "hr"}, next)
	})
}

func TestDeleteCancelledOrFailed(t *testing.T) {
	t.Parallel()
	todo := stepOf(pageTarget, openPage)

	t.Run("a cancel ends it early, and the delete stays accepted", func(t *testing.T) {
		t.Parallel()
		env := newEnv(t, deletePageID)
		opens(env, pageTarget, openPage)
		env.OnActivity(deletes.CancelSyncs, anything, todo).After(time.Hour).Return(activities.CancelSyncsResult{}, nil)
		env.RegisterDelayedCallback(env.CancelWorkflow, time.Minute)
		_, err := deletePage(t, env)
		assert.True(t, temporal.IsCanceledError(err), err)
	})

	t.Run("a cancel between two looks ends it too", func(t *testing.T) {
		t.Parallel()
		env := newEnv(t, deletePageID)
		opens(env, pageTarget, openPage)
		ends(env, todo, "in_flight")
		env.RegisterDelayedCallback(env.CancelWorkflow, 500*time.Millisecond)
		_, err := deletePage(t, env)
		assert.True(t, temporal.IsCanceledError(err), err)
	})

	for name, fails := range map[string]func(*testsuite.TestWorkflowEnvironment){
		"when it can't read what is open": func(env *testsuite.TestWorkflowEnvironment) {
			env.OnActivity(deletes.OpenDelete, anything, pageTarget).Return(activities.OpenDeleteResult{}, broken(activities.FailureUnavailable)).Once()
		},
		"when it can't cancel": func(env *testsuite.TestWorkflowEnvironment) {
			opens(env, pageTarget, openPage)
			env.OnActivity(deletes.CancelSyncs, anything, todo).Return(activities.CancelSyncsResult{}, broken(activities.FailureUnavailable)).Once()
		},
		"when it can't finish": func(env *testsuite.TestWorkflowEnvironment) {
			opens(env, pageTarget, openPage)
			env.OnActivity(deletes.CancelSyncs, anything, todo).Return(activities.CancelSyncsResult{}, nil).Once()
			env.OnActivity(deletes.FinishDelete, anything, todo).Return("", broken(activities.FailureUnavailable)).Once()
		},
		"when it can't purge": func(env *testsuite.TestWorkflowEnvironment) {
			now := openPage
			now.Now = true
			opens(env, pageTarget, now)
			ends(env, todo, "finished")
			env.OnActivity(deletes.PurgeDelete, anything, todo).Return(0, broken(activities.FailureUnavailable)).Once()
		},
	} {
		t.Run("it fails "+name, func(t *testing.T) {
			t.Parallel()
			env := newEnv(t, deletePageID)
			fails(env)
			_, err := deletePage(t, env)
			assert.ErrorContains(t, err, activities.FailureUnavailable)
		})
	}
}

func TestDeleteFolder(t *testing.T) {
	t.Parallel()
	env := newEnv(t, deleteFolderID)
	now := openPage
	now.Now = true
	opens(env, folderTarget, now)
	ends(env, stepOf(folderTarget, now), "finished")
	env.OnActivity(deletes.PurgeDelete, anything, stepOf(folderTarget, now)).Return(40, nil).Once()
	result, err := ended[workflows.DeleteResult](t, env, workflows.DeleteFolderWorkflow, workflows.DeleteFolderInput{FolderID: "hr"})
	require.NoError(t, err)
	assert.Equal(t, workflows.DeleteResult{Outcome: "finished", Cancelled: 2, Terminated: 1, Purged: 40}, result)
}
