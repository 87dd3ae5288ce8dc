package tests

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	enumspb "go.temporal.io/api/enums/v1"

	"github.com/loresync/loresync/internal/control"
	"github.com/loresync/loresync/internal/testenv"
)

func pageSyncOf(page string) string { return "folder/hr/page/" + page + "/sync" }

// closed waits until the latest run of a Workflow ID is closed, and gives its status.
func (r *rig) closed(workflowID string) enumspb.WorkflowExecutionStatus {
	r.t.Helper()
	var status enumspb.WorkflowExecutionStatus
	testenv.Eventually(r.t, patience, func() bool {
		found, err := r.temporal.DescribeWorkflow(r.t.Context(), workflowID, "")
		require.NoError(r.t, err)
		status = found.Status
		return status != enumspb.WORKFLOW_EXECUTION_STATUS_RUNNING
	}, workflowID+" is closed")
	return status
}

func TestRule6ACancelledReadLeavesNothing(t *testing.T) {
	t.Parallel()
	c := newCourse(t)
	page := c.page("a.md").PageID
	before := c.gate.Begun("a.md")
	c.gate.Hold("a.md")
	c.request(page)
	require.NoError(t, c.gate.AwaitBegun(t.Context(), "a.md", before+1))
	require.NoError(t, c.Cancel(t.Context(), pageSyncOf(page)))
	assert.Equal(t, enumspb.WORKFLOW_EXECUTION_STATUS_CANCELED, c.closed(pageSyncOf(page)))
	testenv.Eventually(t, patience, func() bool { return c.count(`SELECT count(*) FROM in_flight`) == 0 },
		"the run cleans up after itself: no janitor, no delete and no other sync comes")
	assert.Equal(t, 1, c.live())
	c.clean()
}

func TestRule6CancelDuringCleanup(t *testing.T) {
	t.Parallel()
	c := newCourse(t)
	page := c.page("a.md").PageID
	c.put("a.md", "# A\n\nsecond\n")
	c.stopAt(pointPublish, page)
	c.points.hold(pointFinish, 1)
	require.NoError(t, c.Cancel(t.Context(), pageSyncOf(page)))
	c.points.await(t, pointFinish, 1)
	require.NoError(t, c.Cancel(t.Context(), pageSyncOf(page)), "a second cancel, by a person")
	deleted := c.deletePage(page, control.DeleteOptions{})
	c.points.open(pointFinish)
	c.points.open(pointPublish)
	assert.Equal(t, "completed", c.wait(deleted, nil).Status)
	c.closed(pageSyncOf(page))
	assert.Zero(t, c.count(`SELECT count(*) FROM in_flight`))
	assert.Equal(t, 1, c.count(`SELECT count(*) FROM revisions`), "nothing was published, nothing staged is left")
	c.clean()
}

func TestRule6AWorkerKilledInItsCleanup(t *testing.T) {
	t.Parallel()
	r := newRig(t, patiently, withoutWorker)
	r.put("a.md", "# A\n\nfirst\n")
	first := r.workerProcess()
	r.synced()
	page := r.page("a.md").PageID
	r.put("a.md", "# A\n\nsecond\n")
	release := r.blockPublish(page)
	require.NoError(t, r.Cancel(t.Context(), pageSyncOf(page)))
	r.awaitBlocked("finish_page_sync", 1)
	require.NoError(t, first.Process.Kill())
	r.exec(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE strpos(query, 'finish_page_sync(') > 0 AND pid <> pg_backend_pid()`)
	assert.Equal(t, 1, r.count(`SELECT count(*) FROM in_flight`), "the cleanup died with its worker")
	release()
	r.workerProcess()
	assert.Equal(t, enumspb.WORKFLOW_EXECUTION_STATUS_CANCELED, r.closed(pageSyncOf(page)))
	assert.Zero(t, r.count(`SELECT count(*) FROM in_flight`), "another worker did it")
	assert.Equal(t, 1, r.count(`SELECT count(*) FROM revisions`))
	r.clean()
}
