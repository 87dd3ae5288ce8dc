package workflows_test

import (
	"log/slog"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/mock"
	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/interceptor"
	sdklog "go.temporal.io/sdk/log"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/testsuite"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

	"github.com/loresync/loresync/activities"
	"github.com/loresync/loresync/workflows"
)

// The activities as the workflows see them: names and types, without a receiver.
var (
	page      *activities.PageActivities
	folder    *activities.FolderActivities
	reconcile *activities.ReconcileActivities
	deletes   *activities.DeleteActivities
	batch     *activities.BatchActivities
	upkeep    *activities.UpkeepActivities
	webhook   *activities.WebhookActivities
)

// anything stands for an activity's context.
const anything = mock.Anything

// newEnv is a workflow environment that skips time, in which every activity is registered and none is allowed: a test says
// which of them it expects, and each must be called.
func newEnv(t *testing.T, workflowID string) *testsuite.TestWorkflowEnvironment {
	t.Helper()
	suite := testsuite.WorkflowTestSuite{}
	suite.SetLogger(sdklog.NewStructuredLogger(slog.New(slog.DiscardHandler)))
	env := suite.NewTestWorkflowEnvironment()
	env.SetStartWorkflowOptions(client.StartWorkflowOptions{ID: workflowID, TaskQueue: workflows.QueueKnowledge})
	env.SetWorkerOptions(worker.Options{Interceptors: []interceptor.WorkerInterceptor{&observed{t: t}}})
	for _, wf := range workflows.All() {
		env.RegisterWorkflow(wf)
	}
	for _, acts := range []any{page, folder, reconcile, deletes, batch, upkeep, webhook} {
		env.RegisterActivity(acts)
	}
	t.Cleanup(func() { env.AssertExpectations(t) })
	return env
}

// firstRunID is the first run of every chain in the environment, which gives none of its own.
const firstRunID = "the-first-run"

// patience is the option set of each activity, told by how long one attempt may take: a replay would not see it change.
var patience = map[string]time.Duration{
	"ListFolder": 2 * time.Hour, "SettlePages": 2 * time.Hour, "ReconcileVanished": 2 * time.Hour, "RemoveApproved": 2 * time.Hour,
	"SweepSubtree": 2 * time.Hour, "CancelSyncs": 2 * time.Hour, "PurgeDelete": 2 * time.Hour, "StartFolders": 2 * time.Hour,
	"AwaitFolders": 2 * time.Hour, "Tidy": 2 * time.Hour, "RequestDue": 2 * time.Hour, "FollowNotice": 2 * time.Hour,
	"FinishRun": time.Minute, "OpenDelete": time.Minute, "FinishDelete": time.Minute, "FinishAll": time.Minute, "StartBatch": time.Minute,
	"FetchPage": 30 * time.Minute, "EnrichPage": 5 * time.Minute,
}

// observed gives workflows a first run, and checks which options they call each activity with.
type observed struct {
	interceptor.WorkerInterceptorBase
	t *testing.T
}

func (o *observed) InterceptWorkflow(_ workflow.Context, next interceptor.WorkflowInboundInterceptor) interceptor.WorkflowInboundInterceptor {
	return &observedInbound{interceptor.WorkflowInboundInterceptorBase{Next: next}, o.t}
}

type observedInbound struct {
	interceptor.WorkflowInboundInterceptorBase
	t *testing.T
}

func (i *observedInbound) Init(outbound interceptor.WorkflowOutboundInterceptor) error {
	return i.Next.Init(&observedOutbound{interceptor.WorkflowOutboundInterceptorBase{Next: outbound}, i.t})
}

type observedOutbound struct {
	interceptor.WorkflowOutboundInterceptorBase
	t *testing.T
}

func (o *observedOutbound) GetInfo(ctx workflow.Context) *workflow.Info {
	info := *o.Next.GetInfo(ctx)
	info.FirstRunID = firstRunID
	return &info
}

func (o *observedOutbound) ExecuteActivity(ctx workflow.Context, name string, args ...any) workflow.Future {
	assert.Equal(o.t, patience[name], workflow.GetActivityOptions(ctx).StartToCloseTimeout, name)
	return o.Next.ExecuteActivity(ctx, name, args...)
}

// ended runs a workflow to its end and decodes its result.
func ended[Out any](t *testing.T, env *testsuite.TestWorkflowEnvironment, wf, in any) (Out, error) {
	t.Helper()
	env.ExecuteWorkflow(wf, in)
	require.True(t, env.IsWorkflowCompleted())
	var out Out
	err := env.GetWorkflowError()
	if err == nil {
		require.NoError(t, env.GetWorkflowResult(&out))
	}
	return out, err
}

// continued is the input of the run that a continue-as-new error asks for.
func continued[In any](t *testing.T, err error, workflowType string) In {
	t.Helper()
	var next *workflow.ContinueAsNewError
	require.ErrorAs(t, err, &next)
	require.Equal(t, workflowType, next.WorkflowType.Name)
	var in In
	require.NoError(t, defaultConverter.FromPayloads(next.Input, &in))
	return in
}

// broken is a failure that isn't tried again, as the seam of the activities gives it.
func broken(failureType string) error {
	return temporal.NewNonRetryableApplicationError("do a step", failureType, nil)
}
