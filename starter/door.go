package main

import (
	"context"

	"github.com/loresync/loresync/internal/control"
	"github.com/loresync/loresync/internal/knowledge"
	"github.com/loresync/loresync/internal/search"
)

// door is what the commands ask of control: exactly what they call, by subject.
type door interface {
	folderDoor
	connectionDoor
	syncDoor
	deleteDoor
	pageDoor
	runDoor
	scheduleDoor
	upkeepDoor
	tokenDoor
}

type folderDoor interface {
	AddFolder(ctx context.Context, spec control.FolderSpec, actor control.Actor) (knowledge.Folder, error)
	SetFolder(ctx context.Context, id string, patch control.FolderPatch, actor control.Actor) (knowledge.Folder, error)
	Folders(ctx context.Context) ([]knowledge.Folder, error)
	Folder(ctx context.Context, id string) (knowledge.Folder, error)
	PauseFolder(ctx context.Context, id string, actor control.Actor) (knowledge.Folder, error)
	ResumeFolder(ctx context.Context, id string, actor control.Actor) (knowledge.Folder, error)
}

type connectionDoor interface {
	Connections(ctx context.Context) ([]control.Connection, error)
	AddConnection(ctx context.Context, spec control.ConnectionSpec, actor control.Actor) (control.Connection, error)
	CheckConnection(ctx context.Context, name string) ([]control.ConnectionCheck, error)
	CheckCredentials(ctx context.Context, name string) (control.CredentialsCheck, error)
	PauseConnection(ctx context.Context, name string, actor control.Actor) (control.Connection, error)
	ResumeConnection(ctx context.Context, name string, actor control.Actor) (control.Connection, error)
	ForceConnection(ctx context.Context, name string, actor control.Actor) (control.Connection, error)
	Webhook(ctx context.Context, connection string, actor control.Actor) (control.WebhookInfo, error)
	ForgetWebhook(ctx context.Context, connection string, actor control.Actor) (control.WebhookInfo, error)
	BeginAuthorization(ctx context.Context, name string) (control.Authorization, error)
	FinishAuthorization(ctx context.Context, consent control.Consent, actor control.Actor) (control.Authorized, error)
}

type syncDoor interface {
	SyncFolder(ctx context.Context, id string, mode knowledge.Mode, actor control.Actor) (control.Answer, error)
	SyncPage(ctx context.Context, folder, ref string, actor control.Actor) (control.Answer, error)
	SyncAll(ctx context.Context, actor control.Actor) (control.Answer, error)
	Retry(ctx context.Context, folder, class string, actor control.Actor) (control.Answer, error)
	Wait(ctx context.Context, answer control.Answer, progress func(knowledge.RunProgress)) (control.Answer, error)
}

type deleteDoor interface {
	DeleteFolder(ctx context.Context, id string, now bool, actor control.Actor) (control.Answer, error)
	RestoreFolder(ctx context.Context, id string, actor control.Actor) (control.Answer, error)
	DeletePage(ctx context.Context, folder, ref string, options control.DeleteOptions, actor control.Actor) (control.Answer, error)
	RestorePage(ctx context.Context, folder, ref string, subtree bool, actor control.Actor) (control.Answer, error)
	Deletes(ctx context.Context) ([]knowledge.Delete, error)
	WaitLive(ctx context.Context, restored control.Answer) (control.Answer, error)
}

type pageDoor interface {
	Pages(ctx context.Context, folder string, filter control.PageFilter) ([]knowledge.Page, error)
	Page(ctx context.Context, folder, ref string) (knowledge.Page, error)
	Markdown(ctx context.Context, folder, pageID string) (string, error)
	Chunks(ctx context.Context, folder, pageID string) ([]knowledge.Chunk, error)
	Revisions(ctx context.Context, folder, pageID string) ([]knowledge.Revision, error)
	Why(ctx context.Context, ref string) ([]control.Explanation, error)
}

type runDoor interface {
	Runs(ctx context.Context, folder string, limit int) ([]knowledge.Run, error)
	Run(ctx context.Context, ref string) (control.RunDetail, error)
	CancelRun(ctx context.Context, ref string, actor control.Actor) (control.Answer, error)
	Holds(ctx context.Context, all bool) ([]knowledge.Hold, error)
	Hold(ctx context.Context, id string) (control.HoldDetail, error)
	ApproveHold(ctx context.Context, id string, actor control.Actor) (control.Answer, error)
	RejectHold(ctx context.Context, id string, actor control.Actor) (control.Answer, error)
}

type scheduleDoor interface {
	Schedule(ctx context.Context) (control.ScheduleInfo, error)
	SetSchedule(ctx context.Context, spec control.ScheduleSpec) (control.ScheduleInfo, error)
	TriggerSchedule(ctx context.Context, actor control.Actor) (control.Answer, error)
}

type upkeepDoor interface {
	Status(ctx context.Context) (control.StatusInfo, error)
	Fsck(ctx context.Context, options control.FsckOptions) ([]control.Difference, error)
	Janitor(ctx context.Context, actor control.Actor) (control.Answer, error)
	SetMaintenance(ctx context.Context, on bool, actor control.Actor) error
}

type tokenDoor interface {
	AddToken(ctx context.Context, spec control.TokenSpec, actor control.Actor) (control.Token, error)
	Tokens(ctx context.Context) ([]control.Token, error)
	RevokeToken(ctx context.Context, ref string, actor control.Actor) (control.Token, error)
}

// searcher answers questions from the live pages.
type searcher interface {
	Answer(ctx context.Context, query search.Query) (search.Answer, error)
}
