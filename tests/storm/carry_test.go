package storm

import (
	"context"
	"fmt"
	"os"
	"strings"
	"time"

	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"

	"github.com/loresync/loresync/internal/ids"
	"github.com/loresync/loresync/internal/pause"
	"github.com/loresync/loresync/workflows"

	enumspb "go.temporal.io/api/enums/v1"
)

// onDisk changes files, while no root is away.
func (s *storm) onDisk(act func() error) {
	s.t.Helper()
	s.root.Lock()
	defer s.root.Unlock()
	if err := act(); err != nil {
		s.t.Errorf("change the source: %v", err)
	}
}

// rootAway moves a folder's root to another name and back, as a mount that is lost does. No file is edited meanwhile.
func (s *storm) rootAway(next step) {
	s.root.Lock()
	root := s.disk.root(next.folder)
	s.aside(next.do, func(ctx context.Context) error {
		defer s.root.Unlock()
		if err := os.Rename(root, root+".away"); err != nil {
			return err
		}
		waited := pause.For(ctx, next.lasts/4)
		if err := os.Rename(root+".away", root); err != nil {
			return err
		}
		return waited
	})
}

// fromOutside does to workflows what an operator could do in Temporal's UI. That Temporal is down is no news.
func (s *storm) fromOutside(next step) {
	s.aside(next.do, func(ctx context.Context) error {
		ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
		defer cancel()
		if next.do == doSchedule {
			s.triggerSchedule(ctx, next)
			return nil
		}
		running, err := s.running(ctx, ids.Folders+next.folder+"/")
		if err != nil || len(running) == 0 {
			return nil
		}
		victim := running[int(next.pick*float64(len(running)))]
		s.t.Logf("%d: %s: %s", next.n, next.do, victim)
		if next.do == doCancel {
			_ = s.client.CancelWorkflow(ctx, victim, "")
		} else {
			_ = s.client.TerminateWorkflow(ctx, victim, "", "the storm")
		}
		return nil
	})
}

func (s *storm) triggerSchedule(ctx context.Context, next step) {
	all := []string{workflows.ScheduleDaily, workflows.ScheduleDue, workflows.ScheduleJanitor}
	schedule := s.client.ScheduleClient().GetHandle(ctx, all[int(next.pick*float64(len(all)))])
	_ = schedule.Trigger(ctx, client.ScheduleTriggerOptions{Overlap: enumspb.SCHEDULE_OVERLAP_POLICY_ALLOW_ALL})
}

// running lists the Workflow IDs that run, of all or of a prefix.
func (s *storm) running(ctx context.Context, prefix string) ([]string, error) {
	query := "ExecutionStatus = 'Running'"
	if prefix != "" {
		query += fmt.Sprintf(" AND WorkflowId STARTS_WITH '%s'", prefix)
	}
	answer, err := s.client.ListWorkflow(ctx, &workflowservice.ListWorkflowExecutionsRequest{Query: query, PageSize: 500})
	if err != nil {
		return nil, err
	}
	var found []string
	for _, info := range answer.GetExecutions() {
		if id := info.GetExecution().GetWorkflowId(); strings.HasPrefix(id, prefix) {
			found = append(found, id)
		}
	}
	return found, nil
}
