package api

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"time"

	"github.com/loresync/loresync/internal/control"
	"github.com/loresync/loresync/internal/knowledge"
)

// newFolder is a folder to be registered.
type newFolder struct {
	ID     string `json:"id" required:"true"`
	Source string `json:"source" required:"true"`
	Root   string `json:"root" required:"true"`
	// Connection is the source's own default connection when empty, Title the id.
	Connection string `json:"connection"`
	Title      string `json:"title"`
	Owner      string `json:"owner"`
	// State is active, or paused for a folder that is not to be synced yet.
	State string `json:"state"`
}

// folderPatch is what to change of a folder; what is left out stays.
type folderPatch struct {
	Root     *string          `json:"root"`
	Title    *string          `json:"title"`
	Owner    *string          `json:"owner"`
	Interval *string          `json:"interval"`
	Readers  *json.RawMessage `json:"readers"`
	Limits   *json.RawMessage `json:"limits"`
}

func (p folderPatch) patch() (control.FolderPatch, error) {
	patch := control.FolderPatch{Root: p.Root, Title: p.Title, Owner: p.Owner, Readers: p.Readers, Limits: p.Limits}
	interval, err := duration("interval", p.Interval)
	patch.Interval = interval
	if err == nil && patch == (control.FolderPatch{}) {
		err = badInput("nothing_to_set", "There is nothing to set: give root, title, owner, interval, readers or limits.")
	}
	return patch, err
}

// duration reads a field such as 15m.
func duration(field string, text *string) (*time.Duration, error) {
	if text == nil {
		return nil, nil //nolint:nilnil // a field that isn't there has no duration
	}
	d, err := time.ParseDuration(*text)
	if err != nil {
		return nil, badInput(field, fmt.Sprintf("The field %q is %q: give a time such as 15m or 2h.", field, *text))
	}
	return &d, nil
}

// syncOptions say how a folder is synced: incrementally where the source has a checkpoint, unless full.
type syncOptions struct {
	Full   bool `json:"full"`
	DryRun bool `json:"dry_run"`
}

// retryOptions say which failing pages try again: all with no class.
type retryOptions struct {
	Class string `json:"class"`
}

func (a *API) listFolders(c *call) (reply, error) {
	folders, err := a.options.Control.Folders(c.r.Context())
	folders = slices.DeleteFunc(folders, func(f knowledge.Folder) bool { return !c.who.Sees(f.ID) })
	for i := range folders {
		folders[i] = c.seen(folders[i])
	}
	return ok(folders, err)
}

// seen leaves out of a folder what it says of others that the caller doesn't see.
func (c *call) seen(folder knowledge.Folder) knowledge.Folder {
	folder.Overlaps = slices.DeleteFunc(folder.Overlaps, func(o knowledge.Overlap) bool { return !c.who.Sees(o.FolderID) })
	return folder
}

// oneSeen answers a folder as the caller sees it.
func (c *call) oneSeen(folder knowledge.Folder, err error) (reply, error) {
	return ok(c.seen(folder), err)
}

func (a *API) addFolder(c *call) (reply, error) {
	wanted, err := decode[newFolder](c)
	if err != nil {
		return reply{}, err
	}
	if wanted.State != "" && wanted.State != "active" && wanted.State != "paused" {
		return reply{}, badInput("state", fmt.Sprintf("A folder can't begin as %q: use active or paused.", wanted.State))
	}
	ctx := c.r.Context()
	folder, err := a.options.Control.AddFolder(ctx, control.FolderSpec{
		ID: wanted.ID, Source: wanted.Source, Root: wanted.Root, Connection: wanted.Connection, Title: wanted.Title, Owner: wanted.Owner,
	}, c.actor())
	if err == nil && wanted.State == "paused" {
		warnings := folder.Warnings
		folder, err = a.options.Control.PauseFolder(ctx, wanted.ID, c.actor())
		folder.Warnings = warnings
	}
	return reply{status: http.StatusCreated, body: folder, location: Prefix + "/folders/" + url.PathEscape(folder.ID)}, err
}

func (a *API) showFolder(c *call) (reply, error) {
	return c.oneSeen(a.options.Control.Folder(c.r.Context(), c.path("folder")))
}

func (a *API) setFolder(c *call) (reply, error) {
	given, err := decode[folderPatch](c)
	if err != nil {
		return reply{}, err
	}
	patch, err := given.patch()
	if err != nil {
		return reply{}, err
	}
	folder, err := a.options.Control.SetFolder(c.r.Context(), c.path("folder"), patch, c.actor())
	if c.who.Scoped() {
		folder.Warnings = nil // they name other folders
	}
	return c.oneSeen(folder, err)
}

func (a *API) deleteFolder(c *call) (reply, error) {
	return did(a.options.Control.DeleteFolder(c.r.Context(), c.path("folder"), c.flag("now"), c.actor()))
}

func (a *API) restoreFolder(c *call) (reply, error) {
	return did(a.options.Control.RestoreFolder(c.r.Context(), c.path("folder"), c.actor()))
}

func (a *API) pauseFolder(c *call) (reply, error) {
	return c.oneSeen(a.options.Control.PauseFolder(c.r.Context(), c.path("folder"), c.actor()))
}

func (a *API) resumeFolder(c *call) (reply, error) {
	return c.oneSeen(a.options.Control.ResumeFolder(c.r.Context(), c.path("folder"), c.actor()))
}

func (a *API) syncFolder(c *call) (reply, error) {
	wanted, err := decode[syncOptions](c)
	if err != nil {
		return reply{}, err
	}
	mode := knowledge.ModeIncremental
	switch {
	case wanted.DryRun:
		mode = knowledge.ModeDryRun
	case wanted.Full:
		mode = knowledge.ModeFull
	}
	return did(a.options.Control.SyncFolder(c.r.Context(), c.path("folder"), mode, c.actor()))
}

// retry answers 202 when it asked for pages: each has a workflow of its own, so the answer names none.
func (a *API) retry(c *call) (reply, error) {
	wanted, err := decode[retryOptions](c)
	if err != nil {
		return reply{}, err
	}
	answer, err := a.options.Control.Retry(c.r.Context(), c.path("folder"), wanted.Class, c.actor())
	status := http.StatusOK
	if answer.Pages != nil && *answer.Pages > 0 {
		status = http.StatusAccepted
	}
	return reply{status: status, body: answer}, err
}
