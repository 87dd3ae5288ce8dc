package control

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/google/uuid"
	commonpb "go.temporal.io/api/common/v1"
	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"
	taskqueuepb "go.temporal.io/api/taskqueue/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/converter"
	"google.golang.org/grpc/codes"

	"github.com/loresync/loresync/activities"
	"github.com/loresync/loresync/internal/ids"
	"github.com/loresync/loresync/internal/knowledge"
	"github.com/loresync/loresync/internal/pause"
	"github.com/loresync/loresync/workflows"
)

// start is one request for a workflow.
type start struct {
	workflowID   string
	workflowType string
	input        any
	// signal, when given, is sent with the start: to a running workflow it says that there is more to do.
	signal string
	// requestID makes a repeated request the same one.
	requestID string
}

// begun is Temporal's answer: whether this request started the run, or joined the one that was there.
type begun struct {
	workflowID string
	runID      string
	started    bool
}

// begin starts a workflow or joins the running one. The raw answers are used since only they tell which of the two it was.
func (c *Control) begin(ctx context.Context, s start) (begun, error) {
	answer := begun{workflowID: s.workflowID}
	if c.temporal == nil {
		return answer, unreachable(errors.New("no client"))
	}
	ctx, cancel := context.WithTimeout(ctx, c.options.TemporalTimeout)
	defer cancel()
	input, err := converter.GetDefaultDataConverter().ToPayloads(s.input)
	if err != nil {
		return answer, fmt.Errorf("encode the input of %s: %w", s.workflowType, err)
	}
	s.requestID = uuid.NewString()
	err = patiently(ctx, func() error {
		if s.signal != "" {
			answer.runID, answer.started, err = c.signalWithStart(ctx, s, input)
		} else {
			answer.runID, answer.started, err = c.startWorkflow(ctx, s, input)
		}
		return err
	})
	if err != nil {
		return answer, unreachable(err)
	}
	return answer, nil
}

// patiently repeats a raw request while Temporal is busy or away, until the context's deadline: the SDK's own retries don't
// reach raw requests. A start repeated under the same request id still says that it was the one that started the run.
func patiently(ctx context.Context, request func() error) error {
	const longest = time.Second
	for delay := 50 * time.Millisecond; ; delay = min(2*delay, longest) {
		err := request()
		if err == nil || !transient(err) {
			return err
		}
		if pause.For(ctx, delay) != nil {
			return err
		}
	}
}

func transient(err error) bool {
	switch serviceerror.ToStatus(err).Code() {
	case codes.Unavailable, codes.ResourceExhausted, codes.Aborted, codes.Internal:
		return true
	default:
		return false
	}
}

func (c *Control) startWorkflow(ctx context.Context, s start, input *commonpb.Payloads) (runID string, started bool, err error) {
	answer, err := c.temporal.WorkflowService().StartWorkflowExecution(ctx, &workflowservice.StartWorkflowExecutionRequest{
		Namespace: c.options.Namespace, WorkflowId: s.workflowID, WorkflowType: &commonpb.WorkflowType{Name: s.workflowType},
		TaskQueue: taskQueue(), Input: input, Identity: identity(), RequestId: s.requestID,
		WorkflowIdReusePolicy:    enumspb.WORKFLOW_ID_REUSE_POLICY_ALLOW_DUPLICATE,
		WorkflowIdConflictPolicy: enumspb.WORKFLOW_ID_CONFLICT_POLICY_USE_EXISTING,
	})
	return answer.GetRunId(), answer.GetStarted(), err
}

func (c *Control) signalWithStart(ctx context.Context, s start, input *commonpb.Payloads) (runID string, started bool, err error) {
	answer, err := c.temporal.WorkflowService().SignalWithStartWorkflowExecution(ctx, &workflowservice.SignalWithStartWorkflowExecutionRequest{
		Namespace: c.options.Namespace, WorkflowId: s.workflowID, WorkflowType: &commonpb.WorkflowType{Name: s.workflowType},
		TaskQueue: taskQueue(), Input: input, Identity: identity(), RequestId: s.requestID, SignalName: s.signal,
		WorkflowIdReusePolicy:    enumspb.WORKFLOW_ID_REUSE_POLICY_ALLOW_DUPLICATE,
		WorkflowIdConflictPolicy: enumspb.WORKFLOW_ID_CONFLICT_POLICY_USE_EXISTING,
	})
	return answer.GetRunId(), answer.GetStarted(), err
}

func taskQueue() *taskqueuepb.TaskQueue {
	return &taskqueuepb.TaskQueue{Name: workflows.QueueKnowledge, Kind: enumspb.TASK_QUEUE_KIND_NORMAL}
}

// identity is how Temporal names this process to people; a machine without a name only reads worse.
func identity() string {
	host, err := os.Hostname()
	if err != nil {
		host = "unknown"
	}
	return fmt.Sprintf("%d@%s", os.Getpid(), host)
}

func unreachable(err error) error {
	return &Error{
		Kind: KindUnreachable, Code: "temporal_unreachable", Err: err,
		Sentence: "Temporal can't be reached: check that it runs and TEMPORAL_ADDRESS points to it, then try again (nothing was started)",
	}
}

// requestPageSync starts the sync of a page or joins the running one. With readAgain a running sync reads once more when it
// has begun to read already; without it the caller looks at read numbers itself.
func (c *Control) requestPageSync(ctx context.Context, folder, page string, lane knowledge.Lane, readAgain bool) (begun, error) {
	workflowID, err := ids.SyncPage(folder, page)
	if err != nil {
		return begun{}, usage("bad_id", "%s", err)
	}
	s := start{workflowID: workflowID, workflowType: "SyncPageWorkflow", input: workflows.SyncPageInput{FolderID: folder, PageID: page, Lane: lane}}
	if readAgain {
		s.signal = workflows.SignalReadAgain
	}
	return c.begin(ctx, s)
}

// RequestPageSync asks for a page on behalf of a folder sync or a due time.
func (c *Control) RequestPageSync(ctx context.Context, folder, page string, lane knowledge.Lane) error {
	_, err := c.requestPageSync(ctx, folder, page, lane, false)
	return err
}

// RequestFolderSync asks for a folder sync on behalf of the batch or a due time; a refusal is no error and gives no ID.
func (c *Control) RequestFolderSync(ctx context.Context, folder string, mode knowledge.Mode, trigger string) (string, error) {
	answer, err := c.SyncFolder(ctx, folder, mode, Actor{Name: "loresync", Trigger: trigger})
	if kind := KindOf(err); err != nil && (kind == KindRefused || kind == KindNotFound) {
		return "", nil
	}
	return answer.WorkflowID, err
}

// StartSyncAll starts the sync of all folders, or joins the running one.
func (c *Control) StartSyncAll(ctx context.Context, trigger string) (string, error) {
	answer, err := c.startAll(ctx, Actor{Name: "loresync", Trigger: trigger})
	return answer.WorkflowID, err
}

// StartDelete starts the workflow of an accepted delete, or wakes the running one.
func (c *Control) StartDelete(ctx context.Context, open knowledge.OpenDelete) error {
	page := ""
	if open.PageID != nil {
		page = *open.PageID
	}
	_, err := c.startDelete(ctx, open.FolderID, page, open.DeleteID)
	return err
}

func (c *Control) startDelete(ctx context.Context, folder, page string, deleteID int64) (begun, error) {
	s := start{signal: workflows.SignalLookAgain}
	var err error
	if page == "" {
		s.workflowType, s.input = "DeleteFolderWorkflow", workflows.DeleteFolderInput{FolderID: folder}
		s.workflowID, err = ids.DeleteFolder(folder)
	} else {
		s.workflowType, s.input = "DeletePageWorkflow", workflows.DeletePageInput{FolderID: folder, PageID: page}
		s.workflowID, err = ids.DeletePage(folder, page)
	}
	if err != nil {
		return begun{}, usage("bad_id", "%s", err)
	}
	answer, err := c.begin(ctx, s)
	if err != nil {
		return answer, err
	}
	return answer, c.store.MarkDeleteStarted(ctx, deleteID)
}

func (c *Control) startHold(ctx context.Context, folder, hold, _ string) (Answer, error) {
	workflowID, err := ids.Hold(folder, hold)
	if err != nil {
		return Answer{}, usage("bad_id", "%s", err)
	}
	answer, err := c.begin(ctx, start{
		workflowID: workflowID, workflowType: "ApproveHoldWorkflow", input: workflows.ApproveHoldInput{FolderID: folder, HoldID: hold},
	})
	return Answer{WorkflowID: workflowID, RunID: answer.runID, Joined: err == nil && !answer.started, FolderID: folder, Status: "approved"}, err
}

// PageSyncRuns tells whether the sync of a page is running, by its exact Workflow ID.
func (c *Control) PageSyncRuns(ctx context.Context, folder, page string) (bool, error) {
	workflowID, err := ids.SyncPage(folder, page)
	if err != nil {
		return false, err
	}
	run, exists, err := c.Describe(ctx, workflowID)
	return exists && run.Running, err
}

// Describe looks at the latest run of an exact Workflow ID; false when Temporal knows none.
func (c *Control) Describe(ctx context.Context, workflowID string) (activities.Execution, bool, error) {
	ctx, cancel := context.WithTimeout(ctx, c.options.TemporalTimeout)
	defer cancel()
	found, err := c.temporal.DescribeWorkflow(ctx, workflowID, "")
	if missing(err) {
		return activities.Execution{}, false, nil
	}
	if err != nil {
		return activities.Execution{}, false, unreachable(err)
	}
	started, err := c.chainStart(ctx, found)
	return activities.Execution{
		WorkflowID: workflowID, RunID: found.WorkflowExecution.RunID, StartedAt: started,
		Running: found.Status == enumspb.WORKFLOW_EXECUTION_STATUS_RUNNING,
	}, err == nil, err
}

// chainStart is when the first run of a chain started. One that Temporal has forgotten is older than anything that asks.
func (c *Control) chainStart(ctx context.Context, latest *client.WorkflowExecutionDescription) (time.Time, error) {
	first := latest.RawResponse.GetWorkflowExecutionInfo().GetFirstRunId()
	if first == "" || first == latest.WorkflowExecution.RunID {
		return latest.WorkflowStartTime, nil
	}
	found, err := c.temporal.DescribeWorkflow(ctx, latest.WorkflowExecution.ID, first)
	if missing(err) {
		return time.Time{}, nil
	}
	if err != nil {
		return time.Time{}, unreachable(err)
	}
	return found.WorkflowStartTime, nil
}

// ListRunning lists running workflows by the prefix of their IDs, as Visibility has them: it lags. An empty prefix, or one that
// doesn't end in a slash, would also match strangers and is refused.
func (c *Control) ListRunning(ctx context.Context, prefix string) ([]activities.Execution, error) {
	if len(prefix) < 2 || prefix[len(prefix)-1] != '/' {
		return nil, fmt.Errorf("%q is no prefix of Workflow IDs", prefix)
	}
	query := fmt.Sprintf("WorkflowId STARTS_WITH '%s' AND ExecutionStatus = 'Running'", prefix)
	var found []activities.Execution
	var token []byte
	for {
		answer, err := c.temporal.ListWorkflow(ctx, &workflowservice.ListWorkflowExecutionsRequest{
			Namespace: c.options.Namespace, Query: query, PageSize: 500, NextPageToken: token,
		})
		if err != nil {
			return nil, unreachable(err)
		}
		for _, info := range answer.GetExecutions() {
			found = append(found, activities.Execution{
				WorkflowID: info.GetExecution().GetWorkflowId(), RunID: info.GetExecution().GetRunId(), StartedAt: info.GetStartTime().AsTime(), Running: true,
			})
		}
		if token = answer.GetNextPageToken(); len(token) == 0 {
			return found, nil
		}
	}
}

// Cancel asks the latest run of a Workflow ID to end; that there is none is no error.
func (c *Control) Cancel(ctx context.Context, workflowID string) error {
	return endQuietly(c.temporal.CancelWorkflow(ctx, workflowID, ""))
}

// Terminate ends the latest run of a Workflow ID at once; that there is none is no error.
func (c *Control) Terminate(ctx context.Context, workflowID, reason string) error {
	return endQuietly(c.temporal.TerminateWorkflow(ctx, workflowID, "", reason))
}

func endQuietly(err error) error {
	if err == nil || missing(err) {
		return nil
	}
	return unreachable(err)
}

func missing(err error) bool {
	var notFound *serviceerror.NotFound
	return errors.As(err, &notFound)
}
