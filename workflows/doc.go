// Package workflows holds decisions in time, and nothing else: what follows what, what a cancel does, and how each run ends.
// It never touches a database, a vendor or a clock of its own.
//
// The catalogue, with the Workflow ID at which every caller meets (package ids builds them):
//
//	SyncFolderWorkflow    folder/{folderId}/sync/{uniqueId}         lists a folder and has its pages read
//	SyncPageWorkflow      folder/{folderId}/page/{pageId}/sync      reads one page and publishes it; joins duplicates
//	DeletePageWorkflow    folder/{folderId}/page/{pageId}/delete    ends what an accepted delete must see ended
//	DeleteFolderWorkflow  folder/{folderId}/delete                  the same for a folder
//	ApproveHoldWorkflow   folder/{folderId}/hold/{holdId}           removes what a person approved, once confirmed again
//	FollowWebhookWorkflow connection/{id}/webhook/{eventId}         looks at what a source's event points to
//	SyncAllWorkflow       all/sync                                  one full sync per active folder
//	DailyWorkflow         all/daily-{time}                          what the daily Schedule runs: starts or joins all/sync
//	JanitorWorkflow       all/janitor                               removes what dead processes left
//	DueReadsWorkflow      all/due                                   turns due times into requests
//
// The types of workflows, activities, signals and failures, and the fields of inputs, are wire names: changing one needs a
// replay test (see testdata/histories).
package workflows

import "github.com/loresync/loresync/internal/ids"

// The task queues, by capacity: knowledge is Postgres and short local work, vendor and vendor-interactive spend a connection's
// budget, model spends tokens.
const (
	QueueKnowledge         = "knowledge"
	QueueVendor            = "vendor"
	QueueVendorInteractive = "vendor-interactive"
	QueueModel             = "model"
)

// The signals.
const (
	// SignalReadAgain tells a page sync that the source may have changed since it read it. It carries no payload.
	SignalReadAgain = "read-again"
	// SignalLookAgain tells a delete that there is something to do once more. It carries no payload.
	SignalLookAgain = "look-again"
)

// The IDs of the Schedules.
const (
	ScheduleDaily   = "daily"
	ScheduleJanitor = "janitor"
	ScheduleDue     = "due"
)

// DailyID is the base of the Workflow ID that the daily Schedule gives its runs.
const DailyID = ids.Daily
