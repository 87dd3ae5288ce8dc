package workflows_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/testsuite"

	"github.com/loresync/loresync/activities"
	"github.com/loresync/loresync/workflows"
)

// upkeepCase is a workflow of one activity.
type upkeepCase struct {
	workflowID   string
	workflow, in any
	activity     any
	activityIn   any
	answer       any
}

func upkeepCases() map[string]upkeepCase {
	return map[string]upkeepCase{
		"the janitor": {
			workflowID: "all/janitor",
			workflow:   workflows.JanitorWorkflow, in: workflows.JanitorInput{},
			activity: upkeep.Tidy, activityIn: activities.TidyInput{}, answer: activities.TidyResult{Purged: 3, RowsDropped: 8},
		},
		"due reads": {
			workflowID: "all/due",
			workflow:   workflows.DueReadsWorkflow, in: workflows.DueReadsInput{},
			activity: upkeep.RequestDue, activityIn: activities.RequestDueInput{}, answer: activities.RequestDueResult{Pages: 4, Folders: 1},
		},
		"an approved hold": {
			workflowID: "folder/hr/hold/hold-1",
			workflow:   workflows.ApproveHoldWorkflow, in: workflows.ApproveHoldInput{FolderID: "hr", HoldID: "hold-1"},
			activity: reconcile.RemoveApproved, activityIn: activities.ApprovedInput{FolderID: "hr", HoldID: "hold-1"},
			answer: activities.ReconcileResult{Removed: 6},
		},
	}
}

func (c upkeepCase) run(env *testsuite.TestWorkflowEnvironment) error {
	env.ExecuteWorkflow(c.workflow, c.in)
	return env.GetWorkflowError()
}

func TestUpkeepEndings(t *testing.T) {
	t.Parallel()
	for name, c := range upkeepCases() {
		t.Run(name+" ends with its counts", func(t *testing.T) {
			t.Parallel()
			env := newEnv(t, c.workflowID)
			env.OnActivity(c.activity, anything, c.activityIn).Return(c.answer, nil).Once()
			require.NoError(t, c.run(env))
			want, err := defaultConverter.ToPayload(c.answer)
			require.NoError(t, err)
			var got, expected any
			require.NoError(t, env.GetWorkflowResult(&got))
			require.NoError(t, defaultConverter.FromPayload(want, &expected))
			assert.Equal(t, expected, got)
		})
		t.Run(name+" ends with a cancel", func(t *testing.T) {
			t.Parallel()
			env := newEnv(t, c.workflowID)
			env.OnActivity(c.activity, anything, c.activityIn).After(time.Hour).Return(c.answer, nil)
			env.RegisterDelayedCallback(env.CancelWorkflow, time.Minute)
			err := c.run(env)
			assert.True(t, temporal.IsCanceledError(err), err)
		})
		t.Run(name+" fails when its step fails", func(t *testing.T) {
			t.Parallel()
			env := newEnv(t, c.workflowID)
			env.OnActivity(c.activity, anything, c.activityIn).Return(c.answer, broken(activities.FailureInternal)).Once()
			assert.ErrorContains(t, c.run(env), activities.FailureInternal)
		})
	}
}
