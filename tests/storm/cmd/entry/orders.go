package main

import (
	"context"
	"fmt"

	"github.com/loresync/loresync/internal/control"
	"github.com/loresync/loresync/internal/knowledge"
	"github.com/loresync/loresync/tests/storm/order"
)

var person = control.Actor{Name: "storm", Trigger: "cli"}

// carryOut does what an order says, through the one door.
func (d *desk) carryOut(ctx context.Context, o order.Order) (control.Answer, error) {
	c := d.control
	switch o.Do {
	case order.SyncFull:
		return c.SyncFolder(ctx, o.Folder, knowledge.ModeFull, person)
	case order.SyncIncremental:
		return c.SyncFolder(ctx, o.Folder, knowledge.ModeIncremental, person)
	case order.SyncPage:
		return c.SyncPage(ctx, o.Folder, o.Page, person)
	case order.SyncAll:
		return c.SyncAll(ctx, person)
	case order.DeletePage:
		return c.DeletePage(ctx, o.Folder, o.Page, control.DeleteOptions{Subtree: o.Subtree, Now: o.Now}, person)
	case order.DeleteFolder:
		return c.DeleteFolder(ctx, o.Folder, o.Now, person)
	case order.RestorePage:
		return c.RestorePage(ctx, o.Folder, o.Page, o.Subtree, person)
	case order.RestoreFolder:
		return c.RestoreFolder(ctx, o.Folder, person)
	case order.Retry:
		return c.Retry(ctx, o.Folder, "", person)
	case order.Janitor:
		return c.Janitor(ctx, person)
	case order.Trigger:
		return c.TriggerSchedule(ctx, person)
	}
	return d.carryOutRare(ctx, o)
}

// carryOutRare does what first has to look for its object, or answers something else than an Answer.
func (d *desk) carryOutRare(ctx context.Context, o order.Order) (control.Answer, error) {
	var err error
	switch o.Do {
	case order.AddFolder:
		_, err = d.control.AddFolder(ctx, control.FolderSpec{ID: o.Folder, Source: "files", Root: o.Root}, person)
	case order.Pause:
		_, err = d.control.PauseFolder(ctx, o.Folder, person)
	case order.Resume:
		_, err = d.control.ResumeFolder(ctx, o.Folder, person)
	case order.Repair:
		_, err = d.control.Fsck(ctx, control.FsckOptions{Repair: true})
	case order.CancelRun:
		return d.cancelRun(ctx, o.Folder)
	case order.ApproveHold, order.RejectHold:
		return d.decideHold(ctx, o)
	default:
		err = fmt.Errorf("nobody knows how to %q", o.Do)
	}
	return control.Answer{}, err
}

// cancelRun cancels the folder's latest run, if it runs.
func (d *desk) cancelRun(ctx context.Context, folder string) (control.Answer, error) {
	runs, err := d.control.Runs(ctx, folder, 1)
	if err != nil || len(runs) == 0 {
		return control.Answer{}, err
	}
	return d.control.CancelRun(ctx, runs[0].WorkflowID, person)
}

// decideHold decides the folder's open hold, if it has one.
func (d *desk) decideHold(ctx context.Context, o order.Order) (control.Answer, error) {
	holds, err := d.control.Holds(ctx, false)
	if err != nil {
		return control.Answer{}, err
	}
	for _, hold := range holds {
		switch {
		case hold.FolderID != o.Folder:
		case o.Do == order.ApproveHold:
			return d.control.ApproveHold(ctx, hold.HoldID, person)
		default:
			return d.control.RejectHold(ctx, hold.HoldID, person)
		}
	}
	return control.Answer{}, nil
}
