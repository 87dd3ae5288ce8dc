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
	"github.com/loresync/loresync/workflows"
)

const syncAllID = "all/sync"

var (
	startedFolders = activities.StartFoldersResult{WorkflowIDs: []string{"folder/hr/sync/u1", "folder/it/sync/u2"}}
	awaitedFolders = activities.AwaitFoldersInput(startedFolders)
)

func syncAll(t *testing.T, env *testsuite.TestWorkflowEnvironment) (workflows.SyncAllResult, error) {
	t.Helper()
	return ended[workflows.SyncAllResult](t, env, workflows.SyncAllWorkflow, workflows.SyncAllInput{Trigger: "cli"})
}

func closesAll(t *testing.T, env *testsuite.TestWorkflowEnvironment, check func(in activities.FinishAllInput)) {
	t.Helper()
	env.OnActivity(batch.FinishAll, anything, anything).Once().Return(
		func(_ context.Context, in activities.FinishAllInput) (activities.FinishAllResult, error) {
			assert.Equal(t, syncAllID, in.WorkflowID)
			assert.Equal(t, firstRunID, in.FirstRunID)
			check(in)
			return activities.FinishAllResult{}, nil
		})
}

func startsFolders(t *testing.T, env *testsuite.TestWorkflowEnvironment) {
	t.Helper()
	env.OnActivity(batch.StartFolders, anything, anything).Once().Return(
		func(_ context.Context, in activities.StartFoldersInput) (activities.StartFoldersResult, error) {
			assert.Equal(t, syncAllID, in.WorkflowID)
			assert.Equal(t, "cli", in.Trigger)
			return startedFolders, nil
		})
}

func awaits(env *testsuite.TestWorkflowEnvironment, result activities.AwaitFoldersResult) {
	env.OnActivity(batch.AwaitFolders, anything, awaitedFolders).Return(result, nil).Once()
}

func TestSyncAllEndings(t *testing.T) {
	t.Parallel()

	for _, status := range []knowledge.RunStatus{knowledge.RunCompleted, knowledge.RunPartial} {
		t.Run("it waits for all folders and is "+string(status), func(t *testing.T) {
			t.Parallel()
			env := newEnv(t, syncAllID)
			startsFolders(t, env)
			awaits(env, activities.AwaitFoldersResult{})
			awaits(env, activities.AwaitFoldersResult{Ended: true, Status: status, Counts: theCounts})
			closesAll(t, env, func(in activities.FinishAllInput) {
				assert.Equal(t, status, in.Status)
				assert.Equal(t, theCounts, in.Counts)
			})
			result, err := syncAll(t, env)
			require.NoError(t, err)
			assert.Equal(t, workflows.SyncAllResult{Status: status, Folders: 2, Counts: theCounts}, result)
		})
	}

	t.Run("a cancel ends the waiting and says that the folder syncs go on", func(t *testing.T) {
		t.Parallel()
		env := newEnv(t, syncAllID)
		startsFolders(t, env)
		env.OnActivity(batch.AwaitFolders, anything, awaitedFolders).After(time.Hour).Return(activities.AwaitFoldersResult{}, nil)
		closesAll(t, env, func(in activities.FinishAllInput) {
			assert.Equal(t, knowledge.RunCancelled, in.Status)
			assert.Contains(t, in.Reason, "go on")
		})
		env.RegisterDelayedCallback(env.CancelWorkflow, time.Minute)
		_, err := syncAll(t, env)
		assert.True(t, temporal.IsCanceledError(err), err)
	})

	t.Run("a cancel that comes after the last folder changes nothing", func(t *testing.T) {
		t.Parallel()
		env := newEnv(t, syncAllID)
		startsFolders(t, env)
		env.OnActivity(batch.AwaitFolders, anything, awaitedFolders).Once().Return(
			func(context.Context, activities.AwaitFoldersInput) (activities.AwaitFoldersResult, error) {
				return activities.AwaitFoldersResult{Ended: true, Status: knowledge.RunCompleted}, nil
			})
		env.OnActivity(batch.FinishAll, anything, anything).Once().Return(
			func(_ context.Context, in activities.FinishAllInput) (activities.FinishAllResult, error) {
				env.CancelWorkflow()
				assert.Equal(t, knowledge.RunCompleted, in.Status)
				return activities.FinishAllResult{}, nil
			})
		_, err := syncAll(t, env)
		require.NoError(t, err)
	})

	t.Run("a failing step fails it with a reason", func(t *testing.T) {
		t.Parallel()
		env := newEnv(t, syncAllID)
		env.OnActivity(batch.StartFolders, anything, anything).Return(activities.StartFoldersResult{}, broken(activities.FailureUnavailable)).Once()
		closesAll(t, env, func(in activities.FinishAllInput) {
			assert.Equal(t, knowledge.RunFailed, in.Status)
			assert.Contains(t, in.Reason, activities.FailureUnavailable)
		})
		_, err := syncAll(t, env)
		assert.ErrorContains(t, err, activities.FailureUnavailable)
	})

	t.Run("a run that can't be closed fails", func(t *testing.T) {
		t.Parallel()
		env := newEnv(t, syncAllID)
		startsFolders(t, env)
		awaits(env, activities.AwaitFoldersResult{Ended: true, Status: knowledge.RunCompleted})
		env.OnActivity(batch.FinishAll, anything, anything).Return(activities.FinishAllResult{}, broken(activities.FailureUnavailable)).Once()
		_, err := syncAll(t, env)
		assert.ErrorContains(t, err, activities.FailureUnavailable)
	})
}

func TestDaily(t *testing.T) {
	t.Parallel()

	t.Run("it starts or joins the batch and ends with its ID", func(t *testing.T) {
		t.Parallel()
		env := newEnv(t, "all/daily-2026-05-04T03:00:00Z")
		env.OnActivity(batch.StartBatch, anything, activities.StartBatchInput{Trigger: "schedule"}).Return(syncAllID, nil).Once()
		joined, err := ended[string](t, env, workflows.DailyWorkflow, workflows.DailyInput{})
		require.NoError(t, err)
		assert.Equal(t, syncAllID, joined)
	})

	t.Run("it fails when Temporal can't be asked", func(t *testing.T) {
		t.Parallel()
		env := newEnv(t, "all/daily-2026-05-04T03:00:00Z")
		env.OnActivity(batch.StartBatch, anything, anything).Return("", broken(activities.FailureUnavailable)).Once()
		_, err := ended[string](t, env, workflows.DailyWorkflow, workflows.DailyInput{})
		assert.ErrorContains(t, err, activities.FailureUnavailable)
	})
}
