package storm

import (
	"fmt"
	"strings"
	"time"

	"github.com/loresync/loresync/tests/storm/order"
)

// What a step can do besides the orders of package order. A collision stands for several steps.
const (
	doEdit       = "edit a file"
	doCreate     = "create a file"
	doMove       = "move a file"
	doMoveEdit   = "move a file and edit it"
	doTrash      = "remove a file"
	doLock       = "make a file unreadable"
	doLockDir    = "make a directory unreadable"
	doUnlock     = "make all readable again"
	doCollide    = "collide"
	doRootAway   = "take the root away for a while"
	doCancel     = "cancel a workflow from outside"
	doTerminate  = "terminate a workflow from outside"
	doSchedule   = "trigger a schedule from outside"
	doKill       = "kill a process"
	doStop       = "stop a process for a while"
	doCut        = "cut a process's connections"
	doSlow       = "slow a process's connections for a while"
	doPartition  = "hold a process's connections for a while"
	doRestartPG  = "restart Postgres"
	doKillPG     = "kill Postgres"
	doRestartTmp = "restart Temporal"
	doKillTmp    = "kill Temporal"
	doFillDisk   = "fill Postgres' disk for a while"
)

// The lines of a process, one to each server.
const postgresLine, temporalLine = "postgres", "temporal"

// weights say how often each is chosen, of their sum.
var weights = []struct {
	do     string
	weight int
}{
	{order.SyncFull, 100},
	{order.SyncIncremental, 50},
	{order.SyncPage, 130},
	{order.SyncAll, 8},
	{order.DeletePage, 70},
	{order.RestorePage, 60},
	{order.DeleteFolder, 16},
	{order.RestoreFolder, 30},
	{order.AddFolder, 36},
	{order.Pause, 10},
	{order.Resume, 40},
	{order.ApproveHold, 16},
	{order.RejectHold, 8},
	{order.CancelRun, 14},
	{order.Retry, 8},
	{order.Janitor, 20},
	{order.Repair, 8},
	{order.Trigger, 6},
	{doEdit, 130},
	{doCollide, 110},
	{doCreate, 40},
	{doMove, 30},
	{doMoveEdit, 10},
	{doTrash, 34},
	{doLock, 12},
	{doLockDir, 8},
	{doUnlock, 20},
	{doRootAway, 6},
	{doCancel, 24},
	{doTerminate, 24},
	{doSchedule, 12},
	{doKill, 24},
	{doStop, 16},
	{doCut, 16},
	{doPartition, 12},
	{doSlow, 20},
	{doRestartPG, 4},
	{doKillPG, 4},
	{doRestartTmp, 4},
	{doKillTmp, 4},
	{doFillDisk, 5},
}

// step is one decision of the generator, complete in itself: carrying it out decides nothing more.
type step struct {
	n      int
	do     string
	folder string
	// page and to are paths below the folder's root; text is what a file is given, and inPlace how.
	page, to, text string
	inPlace        bool
	subtree, now   bool
	// keep makes a step of a collision stay with its page.
	keep bool
	// victim is the process that something happens to, or that an order goes to.
	victim int
	// lasts is how long it goes on; server is the connection that is cut or held (postgres, temporal).
	lasts  time.Duration
	server string
	// drop ends held connections instead of letting them go on.
	drop bool
	// pick chooses among what there is when the step is carried out, from 0 to 1.
	pick float64
	// pause is the time before the next step.
	pause time.Duration
}

// String is the step in the run log: what was decided, and nothing that depends on time.
func (s step) String() string {
	words := []string{fmt.Sprintf("%4d", s.n), s.do}
	for _, w := range []struct{ label, value string }{{"", s.folder}, {"", s.page}, {"to ", s.to}, {"of ", s.server}} {
		if w.value != "" {
			words = append(words, w.label+w.value)
		}
	}
	if s.subtree {
		words = append(words, "with its subtree")
	}
	if s.now {
		words = append(words, "now")
	}
	if s.lasts > 0 {
		words = append(words, "for", s.lasts.String())
	}
	return strings.Join(append(words, fmt.Sprintf("(process %d)", s.victim)), " ")
}
