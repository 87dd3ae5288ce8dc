package workflows

import (
	"go.temporal.io/sdk/worker"

	"github.com/loresync/loresync/activities"
)

// Activities are all activity structs of a worker.
type Activities struct {
	Page      *activities.PageActivities
	Folder    *activities.FolderActivities
	Reconcile *activities.ReconcileActivities
	Delete    *activities.DeleteActivities
	Batch     *activities.BatchActivities
	Upkeep    *activities.UpkeepActivities
	Webhook   *activities.WebhookActivities
}

// All are the workflows, in the catalogue's order.
func All() []any {
	return []any{
		SyncFolderWorkflow, SyncPageWorkflow, DeletePageWorkflow, DeleteFolderWorkflow, ApproveHoldWorkflow, SyncAllWorkflow, DailyWorkflow,
		JanitorWorkflow, DueReadsWorkflow, FollowWebhookWorkflow,
	}
}

// Register makes a worker run all workflows and activities.
func Register(w worker.Registry, acts Activities) {
	for _, wf := range All() {
		w.RegisterWorkflow(wf)
	}
	RegisterActivities(w, acts)
}

// RegisterActivities makes a worker run the activities only: the queues of vendors and models.
func RegisterActivities(w worker.ActivityRegistry, acts Activities) {
	for _, s := range []any{acts.Page, acts.Folder, acts.Reconcile, acts.Delete, acts.Batch, acts.Upkeep, acts.Webhook} {
		w.RegisterActivity(s)
	}
}
