// Package order is what a storm and its entry-point processes say to each other: one JSON line an order, one a reply.
package order

import "github.com/loresync/loresync/internal/control"

// What an entry point can be asked to do.
const (
	AddFolder       = "add folder"
	SyncFull        = "sync folder in full"
	SyncIncremental = "sync folder"
	SyncPage        = "sync page"
	SyncAll         = "sync all"
	DeletePage      = "delete page"
	DeleteFolder    = "delete folder"
	RestorePage     = "restore page"
	RestoreFolder   = "restore folder"
	Pause           = "pause"
	Resume          = "resume"
	ApproveHold     = "approve a hold"
	RejectHold      = "reject a hold"
	CancelRun       = "cancel a run"
	Retry           = "retry"
	Janitor         = "janitor"
	Repair          = "fsck with repair"
	Trigger         = "trigger the schedule"
)

// Order is one thing to do, carried out through control as any entry point does.
type Order struct {
	// N is the number of the operation; its reply carries it too.
	N int `json:"n"`
	// Do is one of the constants above.
	Do     string `json:"do"`
	Folder string `json:"folder,omitempty"`
	// Page is a path below the folder's root.
	Page string `json:"page,omitempty"`
	// Root is for AddFolder.
	Root string `json:"root,omitempty"`
	// Subtree and Now are for DeletePage, Now also for DeleteFolder.
	Subtree bool `json:"subtree,omitempty"`
	Now     bool `json:"now,omitempty"`
}

// Reply is how an order ended.
type Reply struct {
	N int `json:"n"`
	// Kind is empty when it was carried out, else the kind of the error: refused, not_found, unreachable, …
	Kind     control.Kind   `json:"kind,omitempty"`
	Code     string         `json:"code,omitempty"`
	Sentence string         `json:"sentence,omitempty"`
	Answer   control.Answer `json:"answer"`
}
