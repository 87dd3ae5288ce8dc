package workflows_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/testsuite"

	"github.com/loresync/loresync/activities"
	"github.com/loresync/loresync/internal/knowledge"
	"github.com/loresync/loresync/workflows"
)

const (
	pageSyncID = "folder/hr/page/p1/sync"
	pageToken  = "f0f0f0f0-0000-4000-8000-000000000001"
)

var (
	defaultConverter = converter.GetDefaultDataConverter()
	theWantedPage    = workflows.SyncPageInput{FolderID: "hr", PageID: "p1", Lane: knowledge.LaneIncremental}
	staged           = activities.ReadPageResult{Token: pageToken, RevisionID: 7}
	remote           = activities.ReadPageResult{Token: pageToken, Remote: true}
	published        = activities.ReadPageResult{Token: pageToken, RevisionID: 7, Outcome: knowledge.OutcomePublished}
	heldPage         = activities.HeldPageInput{FolderID: "hr", PageID: "p1", Token: pageToken}
	heldRevision     = activities.HeldPageInput{FolderID: "hr", PageID: "p1", Token: pageToken, RevisionID: 7}
	toPublish        = activities.PublishPageInput{FolderID: "hr", PageID: "p1", Token: pageToken, RevisionID: 7}
)

func pageEnv(t *testing.T) *testsuite.TestWorkflowEnvironment {
	t.Helper()
	return newEnv(t, pageSyncID)
}

func syncPage(t *testing.T, env *testsuite.TestWorkflowEnvironment) (workflows.SyncPageResult, error) {
	t.Helper()
	return ended[workflows.SyncPageResult](t, env, workflows.SyncPageWorkflow, theWantedPage)
}

// finishes expects the cleanup, with what it is to record.
func finishes(env *testsuite.TestWorkflowEnvironment, outcome knowledge.Outcome, reason string, err error) {
	cleanup := heldPage
	cleanup.Outcome, cleanup.Reason = outcome, reason
	env.OnActivity(page.FinishPage, anything, cleanup).Return(activities.ReadPageResult{Outcome: outcome}, err)
}

func TestSyncPageEndings(t *testing.T) {
	t.Parallel()

	t.Run("a page at hand is read and published in two local steps", func(t *testing.T) {
		t.Parallel()
		env := pageEnv(t)
		env.OnActivity(page.ReadPage, anything, anything).Once().Return(
			func(ctx context.Context, in activities.BeginPageInput) (activities.ReadPageResult, error) {
				assert.True(t, activity.GetInfo(ctx).IsLocalActivity)
				assert.Equal(t, "hr", in.FolderID)
				assert.Equal(t, "p1", in.PageID)
				assert.Equal(t, pageSyncID, in.WorkflowID)
				assert.Equal(t, knowledge.LaneIncremental, in.Lane)
				assert.NotEmpty(t, in.RunID)
				assert.Equal(t, firstRunID, in.FirstRunID)
				return staged, nil
			})
		env.OnActivity(page.PublishPage, anything, toPublish).Return(published, nil).Once()
		result, err := syncPage(t, env)
		require.NoError(t, err)
		assert.Equal(t, workflows.SyncPageResult{Outcome: knowledge.OutcomePublished, Reads: 1}, result)
	})

	for name, read := range map[string]activities.ReadPageResult{
		"an unchanged page ends after the read": {Outcome: knowledge.OutcomeUnchanged, Token: pageToken},
		"a refused page is a result":            {Outcome: knowledge.OutcomeRefused, Reason: "excluded"},
		"a failure of the page is a result":     {Outcome: knowledge.OutcomeFailed, Reason: "Invalid", Token: pageToken},
		"a skipped page is a result":            {Outcome: knowledge.OutcomeSkipped, Reason: "binary", Token: pageToken},
		"a page that vanished is a result":      {Outcome: knowledge.OutcomeNotFound, Token: pageToken},
		"a fenced read is a result":             {Outcome: knowledge.OutcomeFenced, Token: pageToken},
		"a read that a delete stopped ends":     {Outcome: knowledge.OutcomeCancelled, Token: pageToken},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			env := pageEnv(t)
			env.OnActivity(page.ReadPage, anything, anything).Return(read, nil).Once()
			result, err := syncPage(t, env)
			require.NoError(t, err)
			assert.Equal(t, workflows.SyncPageResult{Outcome: read.Outcome, Reason: read.Reason, Reads: 1}, result)
		})
	}

	t.Run("a publish that was overtaken is a result", func(t *testing.T) {
		t.Parallel()
		env := pageEnv(t)
		env.OnActivity(page.ReadPage, anything, anything).Return(staged, nil).Once()
		env.OnActivity(page.PublishPage, anything, toPublish).Return(activities.ReadPageResult{Outcome: knowledge.OutcomeFenced}, nil).Once()
		result, err := syncPage(t, env)
		require.NoError(t, err)
		assert.Equal(t, knowledge.OutcomeFenced, result.Outcome)
	})
}

func TestSyncPageOfARemoteSource(t *testing.T) {
	t.Parallel()

	t.Run("is fetched, enriched and published, each on its queue", func(t *testing.T) {
		t.Parallel()
		env := pageEnv(t)
		fetched := staged
		fetched.ModelsWanted = true
		env.OnActivity(page.ReadPage, anything, anything).Return(remote, nil).Once()
		env.OnActivity(page.FetchPage, anything, heldPage).Once().Return(
			func(ctx context.Context, _ activities.HeldPageInput) (activities.ReadPageResult, error) {
				assert.Equal(t, workflows.QueueVendor, activity.GetInfo(ctx).TaskQueue)
				return fetched, nil
			})
		env.OnActivity(page.EnrichPage, anything, heldRevision).Once().Return(
			func(ctx context.Context, _ activities.HeldPageInput) (activities.ReadPageResult, error) {
				assert.Equal(t, workflows.QueueModel, activity.GetInfo(ctx).TaskQueue)
				return staged, nil
			})
		env.OnActivity(page.PublishPage, anything, toPublish).Return(published, nil).Once()
		result, err := syncPage(t, env)
		require.NoError(t, err)
		assert.Equal(t, knowledge.OutcomePublished, result.Outcome)
	})

	t.Run("goes ahead of the crawl when a person asked", func(t *testing.T) {
		t.Parallel()
		env := pageEnv(t)
		env.OnActivity(page.ReadPage, anything, anything).Return(remote, nil).Once()
		env.OnActivity(page.FetchPage, anything, heldPage).Once().Return(
			func(ctx context.Context, _ activities.HeldPageInput) (activities.ReadPageResult, error) {
				assert.Equal(t, workflows.QueueVendorInteractive, activity.GetInfo(ctx).TaskQueue)
				return activities.ReadPageResult{Outcome: knowledge.OutcomeUnchanged, Token: pageToken}, nil
			})
		asked := theWantedPage
		asked.Lane = knowledge.LanePerson
		result, err := ended[workflows.SyncPageResult](t, env, workflows.SyncPageWorkflow, asked)
		require.NoError(t, err)
		assert.Equal(t, knowledge.OutcomeUnchanged, result.Outcome)
	})

	t.Run("is published without models when they stay down", func(t *testing.T) {
		t.Parallel()
		env := pageEnv(t)
		fetched := staged
		fetched.ModelsWanted = true
		env.OnActivity(page.ReadPage, anything, anything).Return(remote, nil).Once()
		env.OnActivity(page.FetchPage, anything, heldPage).Return(fetched, nil).Once()
		env.OnActivity(page.EnrichPage, anything, heldRevision).Return(activities.ReadPageResult{}, temporal.NewApplicationError("model", "Unavailable")).Times(4)
		without := toPublish
		without.ModelsFailed = true
		env.OnActivity(page.PublishPage, anything, without).Return(published, nil).Once()
		result, err := syncPage(t, env)
		require.NoError(t, err)
		assert.Equal(t, knowledge.OutcomePublished, result.Outcome)
	})

	t.Run("isn't published when a delete stops the models", func(t *testing.T) {
		t.Parallel()
		env := pageEnv(t)
		fetched := staged
		fetched.ModelsWanted = true
		env.OnActivity(page.ReadPage, anything, anything).Return(fetched, nil).Once()
		env.OnActivity(page.EnrichPage, anything, heldRevision).Return(activities.ReadPageResult{Outcome: knowledge.OutcomeCancelled}, nil).Once()
		result, err := syncPage(t, env)
		require.NoError(t, err)
		assert.Equal(t, knowledge.OutcomeCancelled, result.Outcome)
	})

	t.Run("records the class of a failure that ends the fetch", func(t *testing.T) {
		t.Parallel()
		env := pageEnv(t)
		env.OnActivity(page.ReadPage, anything, anything).Return(remote, nil).Once()
		env.OnActivity(page.FetchPage, anything, heldPage).Return(activities.ReadPageResult{}, broken(activities.FailureUnauthorized)).Once()
		finishes(env, knowledge.OutcomeFailed, activities.FailureUnauthorized, nil)
		result, err := syncPage(t, env)
		require.NoError(t, err)
		assert.Equal(t, workflows.SyncPageResult{Outcome: knowledge.OutcomeFailed, Reason: activities.FailureUnauthorized, Reads: 1}, result)
	})
}

func TestSyncPageCancelled(t *testing.T) {
	t.Parallel()

	t.Run("in the fetch drops what it staged and ends cancelled", func(t *testing.T) {
		t.Parallel()
		env := pageEnv(t)
		env.OnActivity(page.ReadPage, anything, anything).Return(remote, nil).Once()
		env.OnActivity(page.FetchPage, anything, heldPage).After(time.Minute).Return(staged, nil)
		finishes(env, knowledge.OutcomeCancelled, "", nil)
		env.RegisterDelayedCallback(env.CancelWorkflow, 10*time.Second)
		_, err := syncPage(t, env)
		assert.True(t, temporal.IsCanceledError(err), err)
	})

	t.Run("while models are asked is not taken for a model that is down", func(t *testing.T) {
		t.Parallel()
		env := pageEnv(t)
		wanting := staged
		wanting.ModelsWanted = true
		env.OnActivity(page.ReadPage, anything, anything).Return(wanting, nil).Once()
		env.OnActivity(page.EnrichPage, anything, heldRevision).After(time.Minute).Return(staged, nil)
		finishes(env, knowledge.OutcomeCancelled, "", nil)
		env.RegisterDelayedCallback(env.CancelWorkflow, 10*time.Second)
		_, err := syncPage(t, env)
		assert.True(t, temporal.IsCanceledError(err), err)
	})

	t.Run("ends cancelled even when the cleanup can't be written", func(t *testing.T) {
		t.Parallel()
		env := pageEnv(t)
		env.OnActivity(page.ReadPage, anything, anything).Return(remote, nil).Once()
		env.OnActivity(page.FetchPage, anything, heldPage).After(time.Minute).Return(staged, nil)
		finishes(env, knowledge.OutcomeCancelled, "", broken(activities.FailureUnavailable))
		env.RegisterDelayedCallback(env.CancelWorkflow, 10*time.Second)
		_, err := syncPage(t, env)
		assert.True(t, temporal.IsCanceledError(err), err)
	})
}

func TestRule2SyncPageReadsAgain(t *testing.T) {
	t.Parallel()
	unchanged := activities.ReadPageResult{Outcome: knowledge.OutcomeUnchanged, Token: pageToken}

	t.Run("when asked after it began to read", func(t *testing.T) {
		t.Parallel()
		env := pageEnv(t)
		env.OnActivity(page.ReadPage, anything, anything).Once().Return(
			func(context.Context, activities.BeginPageInput) (activities.ReadPageResult, error) {
				env.SignalWorkflow(workflows.SignalReadAgain, nil)
				return staged, nil
			})
		env.OnActivity(page.PublishPage, anything, toPublish).Return(published, nil).Once()
		env.OnActivity(page.ReadPage, anything, anything).Return(unchanged, nil).Once()
		result, err := syncPage(t, env)
		require.NoError(t, err)
		assert.Equal(t, workflows.SyncPageResult{Outcome: knowledge.OutcomeUnchanged, Reads: 2}, result)
	})

	t.Run("once for many that asked during one read", func(t *testing.T) {
		t.Parallel()
		env := pageEnv(t)
		env.OnActivity(page.ReadPage, anything, anything).Once().Return(
			func(context.Context, activities.BeginPageInput) (activities.ReadPageResult, error) {
				for range 200 {
					env.SignalWorkflow(workflows.SignalReadAgain, nil)
				}
				return unchanged, nil
			})
		env.OnActivity(page.ReadPage, anything, anything).Return(unchanged, nil).Once()
		result, err := syncPage(t, env)
		require.NoError(t, err)
		assert.Equal(t, 2, result.Reads)
	})

	t.Run("not when asked before it began to read", func(t *testing.T) {
		t.Parallel()
		env := pageEnv(t)
		env.RegisterDelayedCallback(func() { env.SignalWorkflow(workflows.SignalReadAgain, nil) }, 0)
		env.OnActivity(page.ReadPage, anything, anything).Return(unchanged, nil).Once()
		result, err := syncPage(t, env)
		require.NoError(t, err)
		assert.Equal(t, 1, result.Reads)
	})

	t.Run("not when the page is refused", func(t *testing.T) {
		t.Parallel()
		env := pageEnv(t)
		env.OnActivity(page.ReadPage, anything, anything).Once().Return(
			func(context.Context, activities.BeginPageInput) (activities.ReadPageResult, error) {
				env.SignalWorkflow(workflows.SignalReadAgain, nil)
				return activities.ReadPageResult{Outcome: knowledge.OutcomeRefused, Reason: "excluded"}, nil
			})
		result, err := syncPage(t, env)
		require.NoError(t, err)
		assert.Equal(t, 1, result.Reads)
	})

	t.Run("under a new run once its history has grown", func(t *testing.T) {
		t.Parallel()
		env := pageEnv(t)
		env.SetContinueAsNewSuggested(true)
		env.OnActivity(page.ReadPage, anything, anything).Once().Return(
			func(context.Context, activities.BeginPageInput) (activities.ReadPageResult, error) {
				env.SignalWorkflow(workflows.SignalReadAgain, nil)
				return unchanged, nil
			})
		_, err := syncPage(t, env)
		assert.Equal(t, theWantedPage, continued[workflows.SyncPageInput](t, err, "SyncPageWorkflow"))
	})
}

func TestSyncPageFailsOnlyWhenNothingCanBeWritten(t *testing.T) {
	t.Parallel()

	t.Run("as when the database is broken before the page is taken", func(t *testing.T) {
		t.Parallel()
		env := pageEnv(t)
		env.OnActivity(page.ReadPage, anything, anything).Return(activities.ReadPageResult{}, broken(activities.FailureInternal)).Once()
		_, err := syncPage(t, env)
		var failure *temporal.ApplicationError
		require.ErrorAs(t, err, &failure)
		assert.Equal(t, activities.FailureInternal, failure.Type())
	})

	t.Run("or when not even the failure could be recorded", func(t *testing.T) {
		t.Parallel()
		env := pageEnv(t)
		env.OnActivity(page.ReadPage, anything, anything).Return(staged, nil).Once()
		env.OnActivity(page.PublishPage, anything, toPublish).Return(activities.ReadPageResult{}, broken(activities.FailureInternal)).Once()
		finishes(env, knowledge.OutcomeFailed, activities.FailureInternal, broken(activities.FailureUnavailable))
		_, err := syncPage(t, env)
		assert.ErrorContains(t, err, activities.FailureInternal)
	})

	t.Run("but not when a publish fails and that can be recorded", func(t *testing.T) {
		t.Parallel()
		env := pageEnv(t)
		env.OnActivity(page.ReadPage, anything, anything).Return(staged, nil).Once()
		env.OnActivity(page.PublishPage, anything, toPublish).Return(activities.ReadPageResult{}, broken(activities.FailureInternal)).Once()
		finishes(env, knowledge.OutcomeFailed, activities.FailureInternal, nil)
		result, err := syncPage(t, env)
		require.NoError(t, err)
		assert.Equal(t, knowledge.OutcomeFailed, result.Outcome)
	})
}
