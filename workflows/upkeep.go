package workflows

import (
	"go.temporal.io/sdk/workflow"

	"github.com/loresync/loresync/activities"
)

// JanitorInput is empty; it is a struct so that fields can be added.
type JanitorInput struct{}

var upkeepActs *activities.UpkeepActivities

// JanitorWorkflow goes once through what dead processes left: deletes without a workflow, purges that are due, in-flight rows
// and runs without a workflow, staged revisions, embeddings that nothing uses, what is past its retention. Its ID is
// all/janitor; a Schedule runs it every five minutes, and the CLI at any time. It takes no signals and carries nothing over; a
// cancel stops it between two steps; one step that fails doesn't keep the others from running, and fails the run.
func JanitorWorkflow(ctx workflow.Context, _ JanitorInput) (activities.TidyResult, error) {
	return run(scan(ctx), upkeepActs.Tidy, activities.TidyInput{})
}

// DueReadsInput is empty; it is a struct so that fields can be added.
type DueReadsInput struct{}

// DueReadsWorkflow asks for pages and folders whose time has come. Its ID is all/due; a Schedule runs it every minute. It takes
// no signals and carries nothing over; what a cancelled or failed run did not ask for is due again in ten minutes.
func DueReadsWorkflow(ctx workflow.Context, _ DueReadsInput) (activities.RequestDueResult, error) {
	return run(scan(ctx), upkeepActs.RequestDue, activities.RequestDueInput{})
}

// ApproveHoldInput names a hold that a person approved.
type ApproveHoldInput struct {
	FolderID string
	HoldID   string
}

// ApproveHoldWorkflow confirms each page of an approved hold at the source once more, and removes those that are still gone.
// Its ID is folder/{folderId}/hold/{holdId}; control starts it after it recorded the approval. It takes no signals and carries
// nothing over; a cancel leaves the rest of the pages, which the next full sync proposes again.
func ApproveHoldWorkflow(ctx workflow.Context, in ApproveHoldInput) (activities.ReconcileResult, error) {
	return run(scan(ctx), reconcileActs.RemoveApproved, activities.ApprovedInput{FolderID: in.FolderID, HoldID: in.HoldID})
}
