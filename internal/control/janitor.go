package control

import (
	"context"

	"github.com/loresync/loresync/internal/ids"
	"github.com/loresync/loresync/internal/knowledge"
	"github.com/loresync/loresync/workflows"
)

// Janitor starts the janitor now, or joins the running one.
func (c *Control) Janitor(ctx context.Context, _ Actor) (Answer, error) {
	answer, err := c.begin(ctx, start{workflowID: ids.Janitor, workflowType: "JanitorWorkflow", input: workflows.JanitorInput{}})
	if err != nil {
		return Answer{}, err
	}
	return Answer{WorkflowID: ids.Janitor, RunID: answer.runID, Joined: !answer.started, Status: string(knowledge.RunRunning)}, nil
}

// SetMaintenance stops every start of a sync, or allows them again. Deletes, restores and search go on.
func (c *Control) SetMaintenance(ctx context.Context, on bool, actor Actor) error {
	return c.store.SetMaintenance(ctx, on, who(actor))
}
