package tests

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

	"github.com/loresync/loresync/internal/control"
	"github.com/loresync/loresync/internal/testenv"
)

// otherWork is a queue for work of kinds that this program doesn't know, as a newer one may start under the same prefixes.
const otherWork = "other-work"

// waitForCancel is such a kind: it ends when it is cancelled.
func waitForCancel(ctx workflow.Context) error {
	return workflow.Await(ctx, func() bool { return false })
}

// goOn is another: it goes on under a new run again and again, until it is cancelled.
func goOn(ctx workflow.Context) error {
	if err := workflow.Sleep(ctx, 20*time.Millisecond); err != nil {
		return err
	}
	return workflow.NewContinueAsNewError(ctx, goOn)
}

// others starts workflows of a kind that this program doesn't know, and waits until the list of running ones shows them.
func (r *rig) others(kind any, workflowIDs ...string) {
	r.t.Helper()
	w := worker.New(r.temporal, otherWork, worker.Options{})
	w.RegisterWorkflow(kind)
	require.NoError(r.t, w.Start())
	r.t.Cleanup(w.Stop)
	for _, id := range workflowIDs {
		_, err := r.temporal.ExecuteWorkflow(r.t.Context(), client.StartWorkflowOptions{ID: id, TaskQueue: otherWork}, kind)
		require.NoError(r.t, err)
	}
	testenv.Eventually(r.t, patience, func() bool {
		found, err := r.ListRunning(r.t.Context(), "folder/")
		require.NoError(r.t, err)
		seen := map[string]bool{}
		for _, run := range found {
			seen[run.WorkflowID] = true
		}
		for _, id := range workflowIDs {
			if !seen[id] {
				return false
			}
		}
		return true
	}, "Visibility has caught up")
}

func (r *rig) running(workflowID string) bool {
	r.t.Helper()
	found, err := r.temporal.DescribeWorkflow(r.t.Context(), workflowID, "")
	require.NoError(r.t, err)
	return found.Status == enumspb.WORKFLOW_EXECUTION_STATUS_RUNNING
}

func TestRule5IDsThatDifferInCaseOrBeginAlike(t *testing.T) {
	t.Parallel()
	r := newRig(t, patiently)
	page := func(folder, path string) string {
		r.spec.ID = folder
		if _, err := r.AddFolder(t.Context(), r.spec, person); err != nil {
			require.Equal(t, control.KindRefused, control.KindOf(err))
		}
		answer := r.wait(r.SyncPage(t.Context(), folder, path, person))
		return answer.PageID
	}
	r.put("a.md", "# A\n\ntext\n")
	short, long := page("f1", "a.md"), page("f10", "a.md")
	require.Equal(t, short, long, "one source page below two folders")
	ofFolder := []string{"folder/f1/rerender", "folder/f1/page/x/move"}
	ofPage := []string{"folder/f10/page/" + long + "/move"}
	strangers := []string{
		"folder/F1/rerender", "FOLDER/f1/rerender", "folder/f10/rerender", "folder/f1-a/rerender", "folder/f/rerender", "folder/f1",
		"folder/f10/page/" + long + "0/move", "folder/F10/page/" + long + "/move",
	}
	r.others(waitForCancel, slices.Concat(ofFolder, ofPage, strangers)...)

	deleted := r.wait(r.DeletePage(t.Context(), "f10", "a.md", control.DeleteOptions{}, person))
	assert.Equal(t, "completed", deleted.Status)
	for _, id := range ofPage {
		assert.Equal(t, enumspb.WORKFLOW_EXECUTION_STATUS_CANCELED, r.closed(id), id)
	}
	assert.Equal(t, 1, r.live(), "the page of the other folder stays")
	removed := r.wait(r.DeleteFolder(t.Context(), "f1", false, person))
	assert.Equal(t, "completed", removed.Status)
	for _, id := range ofFolder {
		assert.Equal(t, enumspb.WORKFLOW_EXECUTION_STATUS_CANCELED, r.closed(id), id)
	}
	for _, id := range strangers {
		assert.True(t, r.running(id), id)
	}
}

func TestRule5ContinueAsNewWhileADeleteLists(t *testing.T) {
	t.Parallel()
	c := newCourse(t)
	const chain = "folder/hr/rerender"
	c.others(goOn, chain)
	run := func() string {
		found, err := c.temporal.DescribeWorkflow(t.Context(), chain, "")
		require.NoError(t, err)
		return found.WorkflowExecution.RunID
	}
	c.points.hold(pointListed, 1)
	deleted, err := c.DeleteFolder(t.Context(), folderID, false, person)
	require.NoError(t, err)
	c.points.await(t, pointListed, 1)
	seen := run()
	testenv.Eventually(t, patience, func() bool { return run() != seen }, "the work goes on under a new run")
	c.points.open(pointListed)
	assert.Equal(t, "completed", c.wait(deleted, nil).Status)
	assert.Equal(t, enumspb.WORKFLOW_EXECUTION_STATUS_CANCELED, c.closed(chain), "the cancel reached the run that was there by then")
	c.clean()
}
