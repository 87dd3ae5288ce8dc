package api

import (
	"slices"

	"github.com/loresync/loresync/internal/control"
	"github.com/loresync/loresync/internal/knowledge"
)

// schedulePatch is what to change of the daily batch; what is left out stays.
type schedulePatch struct {
	Cron     string  `json:"cron"`
	Timezone string  `json:"timezone"`
	Jitter   *string `json:"jitter"`
}

func (a *API) listRuns(c *call) (reply, error) {
	folder, limit := c.text("folder"), c.number("limit", defaultRuns)
	if folder != "" && !c.who.Sees(folder) {
		return reply{}, control.UnknownFolder(folder)
	}
	if folder != "" || !c.who.Scoped() {
		return ok(a.options.Control.Runs(c.r.Context(), folder, limit))
	}
	// The newest of several folders are among the newest of each.
	runs := []knowledge.Run{}
	for _, each := range c.who.Folders {
		some, err := a.options.Control.Runs(c.r.Context(), each, limit)
		if err != nil && control.KindOf(err) != control.KindNotFound {
			return reply{}, err
		}
		runs = append(runs, some...)
	}
	slices.SortStableFunc(runs, func(x, y knowledge.Run) int { return y.RequestedAt.Compare(x.RequestedAt) })
	return ok(runs[:min(len(runs), limit)], nil)
}

// run finds the run that a request names, if its caller may know of it.
func (a *API) run(c *call) (control.RunDetail, error) {
	run, err := a.options.Control.Run(c.r.Context(), c.path("run"))
	if err == nil && !c.who.Sees(run.FolderID) {
		return control.RunDetail{}, control.UnknownRun(c.path("run"))
	}
	return run, err
}

func (a *API) showRun(c *call) (reply, error) { return ok(a.run(c)) }

func (a *API) cancelRun(c *call) (reply, error) {
	run, err := a.run(c)
	if err != nil {
		return reply{}, err
	}
	return did(a.options.Control.CancelRun(c.r.Context(), run.WorkflowID, c.actor()))
}

func (a *API) syncAll(c *call) (reply, error) {
	return did(a.options.Control.SyncAll(c.r.Context(), c.actor()))
}

func (a *API) showSchedule(c *call) (reply, error) {
	return ok(a.options.Control.Schedule(c.r.Context()))
}

func (a *API) setSchedule(c *call) (reply, error) {
	given, err := decode[schedulePatch](c)
	if err != nil {
		return reply{}, err
	}
	if given == (schedulePatch{}) {
		return reply{}, badInput("nothing_to_set", "There is nothing to set: give cron, timezone or jitter.")
	}
	spec := control.ScheduleSpec{Cron: given.Cron, Timezone: given.Timezone}
	if spec.Jitter, err = duration("jitter", given.Jitter); err != nil {
		return reply{}, err
	}
	schedule, err := a.options.Control.SetSchedule(c.r.Context(), spec)
	if err == nil {
		a.options.Log.InfoContext(c.r.Context(), "daily schedule changed", "cron", schedule.Cron, "timezone", schedule.Timezone, "actor", c.actor().Name)
	}
	return ok(schedule, err)
}

func (a *API) triggerSchedule(c *call) (reply, error) {
	return did(a.options.Control.TriggerSchedule(c.r.Context(), c.actor()))
}

func (a *API) listHolds(c *call) (reply, error) {
	holds, err := a.options.Control.Holds(c.r.Context(), c.flag("all"))
	return ok(slices.DeleteFunc(holds, func(h knowledge.Hold) bool { return !c.who.Sees(h.FolderID) }), err)
}

// hold finds the hold that a request names, if its caller may know of it.
func (a *API) hold(c *call) (control.HoldDetail, error) {
	hold, err := a.options.Control.Hold(c.r.Context(), c.path("hold"))
	if err == nil && !c.who.Sees(hold.FolderID) {
		return control.HoldDetail{}, control.UnknownHold(c.path("hold"))
	}
	return hold, err
}

func (a *API) showHold(c *call) (reply, error) { return ok(a.hold(c)) }

func (a *API) approveHold(c *call) (reply, error) {
	hold, err := a.hold(c)
	if err != nil {
		return reply{}, err
	}
	return did(a.options.Control.ApproveHold(c.r.Context(), hold.HoldID, c.actor()))
}

func (a *API) rejectHold(c *call) (reply, error) {
	hold, err := a.hold(c)
	if err != nil {
		return reply{}, err
	}
	return did(a.options.Control.RejectHold(c.r.Context(), hold.HoldID, c.actor()))
}
