package workflows_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/temporal"

	"github.com/loresync/loresync/activities"
	"github.com/loresync/loresync/internal/knowledge"
	"github.com/loresync/loresync/workflows"
)

const webhookID = "connection/notion/webhook/e1"

func TestFollowWebhookEndings(t *testing.T) {
	t.Parallel()
	in := workflows.FollowWebhookInput{
		Connection: "notion", EventID: "e1", Type: "page.deleted", Kind: knowledge.NoticeGone, SourceID: "p1", ParentSourceID: "p0",
	}
	first := activities.FollowNoticeInput{Connection: "notion", Kind: knowledge.NoticeGone, SourceID: "p1", ParentSourceID: "p0"}
	since := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)

	t.Run("ends with its counts after one look", func(t *testing.T) {
		t.Parallel()
		env := newEnv(t, webhookID)
		look := activities.FollowNoticeResult{Pages: 1, FolderSyncs: 2, Removed: 3, Held: 4, Ignored: 5}
		env.OnActivity(webhook.FollowNotice, anything, first).Return(look, nil).Once()
		result, err := ended[workflows.FollowWebhookResult](t, env, workflows.FollowWebhookWorkflow, in)
		require.NoError(t, err)
		assert.Equal(t, workflows.FollowWebhookResult{Pages: 1, FolderSyncs: 2, Removed: 3, Held: 4, Ignored: 5, Looks: 1}, result)
	})

	t.Run("looks again only at the folders that wait", func(t *testing.T) {
		t.Parallel()
		env := newEnv(t, webhookID)
		second := first
		second.Pass, second.Folders, second.Since = 1, []string{"hr"}, &since
		env.OnActivity(webhook.FollowNotice, anything, first).Return(activities.FollowNoticeResult{Pages: 1, Waiting: []string{"hr"}, Since: &since}, nil).Once()
		env.OnActivity(webhook.FollowNotice, anything, second).Return(activities.FollowNoticeResult{Removed: 1, Since: &since}, nil).Once()
		result, err := ended[workflows.FollowWebhookResult](t, env, workflows.FollowWebhookWorkflow, in)
		require.NoError(t, err)
		assert.Equal(t, workflows.FollowWebhookResult{Pages: 1, Removed: 1, Looks: 2}, result)
	})

	t.Run("leaves what stays busy to the next sync after a quarter of an hour", func(t *testing.T) {
		t.Parallel()
		env := newEnv(t, webhookID)
		begun := env.Now()
		env.OnActivity(webhook.FollowNotice, anything, anything).Return(activities.FollowNoticeResult{Waiting: []string{"hr", "it"}, Since: &since}, nil)
		result, err := ended[workflows.FollowWebhookResult](t, env, workflows.FollowWebhookWorkflow, in)
		require.NoError(t, err)
		assert.Equal(t, workflows.FollowWebhookResult{Left: 2, Looks: 20}, result)
		took := env.Now().Sub(begun)
		assert.Greater(t, took, 13*time.Minute)
		assert.Less(t, took, 20*time.Minute)
	})

	t.Run("ends with a cancel between two looks", func(t *testing.T) {
		t.Parallel()
		env := newEnv(t, webhookID)
		env.OnActivity(webhook.FollowNotice, anything, anything).Return(activities.FollowNoticeResult{Waiting: []string{"hr"}}, nil)
		env.RegisterDelayedCallback(env.CancelWorkflow, 2*time.Second)
		_, err := ended[workflows.FollowWebhookResult](t, env, workflows.FollowWebhookWorkflow, in)
		assert.True(t, temporal.IsCanceledError(err), err)
	})

	t.Run("fails when the source refuses the credentials", func(t *testing.T) {
		t.Parallel()
		env := newEnv(t, webhookID)
		env.OnActivity(webhook.FollowNotice, anything, first).Return(activities.FollowNoticeResult{}, broken(activities.FailureUnauthorized)).Once()
		_, err := ended[workflows.FollowWebhookResult](t, env, workflows.FollowWebhookWorkflow, in)
		assert.ErrorContains(t, err, activities.FailureUnauthorized)
	})
}
