package control

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/loresync/loresync/internal/ids"
	"github.com/loresync/loresync/internal/knowledge"
	"github.com/loresync/loresync/internal/store"
)

const (
	// The minute Schedule starts incremental syncs, so nothing shorter can be kept.
	shortestInterval = time.Minute
	longestInterval  = 366 * 24 * time.Hour
	// Longer titles and owners are pasted by mistake.
	longestName = 500
)

// FolderSpec is a folder to be registered.
type FolderSpec struct {
	ID, Source, Root string
	// Connection is the source's own default connection when empty.
	Connection string
	// Title is the id when empty.
	Title, Owner string
}

// FolderPatch is what to change of a folder; nil keeps what is there.
type FolderPatch struct {
	// Root re-scopes the folder: syncs of the old root are stopped, and what is not below the new one goes as any page does
	// that the source no longer has.
	Root, Title, Owner *string
	Interval           *time.Duration
	Readers, Limits    *json.RawMessage
}

// AddFolder registers a root for syncing. It looks at the root first, so that a typing error is told at once.
func (c *Control) AddFolder(ctx context.Context, spec FolderSpec, actor Actor) (knowledge.Folder, error) {
	folder, err := c.checkSpec(ctx, spec)
	if err != nil {
		return knowledge.Folder{}, err
	}
	added, err := c.store.AddFolder(ctx, folder, who(actor))
	if err != nil {
		return knowledge.Folder{}, err
	}
	if !added {
		return knowledge.Folder{}, c.folderTaken(ctx, spec.ID)
	}
	c.log.InfoContext(ctx, "folder registered", "folder_id", spec.ID, "source", folder.Source, "actor", who(actor))
	return c.folderWithWarnings(ctx, spec.ID)
}

// folderWithWarnings is what the caller of a new root is told: it was taken, what else syncs the same pages, and what its source
// advises.
func (c *Control) folderWithWarnings(ctx context.Context, id string) (knowledge.Folder, error) {
	folder, err := c.Folder(ctx, id)
	if err != nil {
		return folder, err
	}
	folder.Warnings = append(overlapWarnings(folder.Overlaps), c.rootAdvice(ctx, folder)...)
	return folder, nil
}

func (c *Control) checkSpec(ctx context.Context, spec FolderSpec) (store.NewFolder, error) {
	if err := ids.CheckFolder(spec.ID); err != nil {
		return store.NewFolder{}, usage("folder_id", "%s", err)
	}
	if err := checkSource(spec.Source); err != nil {
		return store.NewFolder{}, err
	}
	for what, text := range map[string]string{"title": spec.Title, "owner": spec.Owner} {
		if err := checkName(what, text); err != nil {
			return store.NewFolder{}, err
		}
	}
	folder := store.NewFolder{ID: spec.ID, Source: spec.Source, Connection: spec.Connection, Title: spec.Title, Owner: spec.Owner}
	if folder.Connection == "" {
		folder.Connection = spec.Source
	}
	if folder.Title == "" {
		folder.Title = spec.ID
	}
	connection, err := c.connection(ctx, folder.Connection)
	if err != nil {
		return store.NewFolder{}, err
	}
	if connection.Source != spec.Source {
		return store.NewFolder{}, usage("connection_source",
			"connection %q is for %s, the folder is for %s: choose another with --connection, or add one with `starter connection add`",
			connection.Name, connection.Source, spec.Source)
	}
	folder.Root, err = c.usableRoot(ctx, store.FolderPlace{
		FolderID: spec.ID, Source: folder.Source, Connection: folder.Connection, Root: spec.Root,
	})
	return folder, err
}

// folderTaken says what is in the way of a new folder.
func (c *Control) folderTaken(ctx context.Context, id string) error {
	there, err := c.store.FolderPlace(ctx, id)
	switch {
	case errors.Is(err, store.ErrNotFound):
		return refuse("folder_exists", "a folder %q was being purged just now: run the same command again", id)
	case err != nil:
		return err
	case there.DeletedAt != nil:
		return c.deletedIsInTheWay(ctx, there)
	}
	return refuse("folder_exists", "there is a folder %q already, with the root %s: choose another id, or change it with `starter folder set %s`",
		id, there.Root, id)
}

// deletedIsInTheWay says how to get the id of a deleted folder. One that is being erased is no longer offered for a restore.
func (c *Control) deletedIsInTheWay(ctx context.Context, there store.FolderPlace) error {
	id := there.FolderID
	erasing, err := c.beingErased(ctx, there)
	if err != nil {
		return err
	}
	if erasing {
		return refuse("purging",
			"the folder %q that was here is being removed for good: try again once `starter folder list` no longer names it, mostly within a minute; "+
				"`starter folder delete %s --now --wait` waits for that", id, id)
	}
	return refuse("folder_deleted",
		"a folder %q was deleted: `starter folder restore %s` brings it back, `starter folder delete %s --now` frees its id, which else is free after %s",
		id, id, id, clock(*there.PurgeAt))
}

// beingErased tells whether the purge of a deleted folder is on its way: it was deleted with --now, or its undo window is over.
func (c *Control) beingErased(ctx context.Context, place store.FolderPlace) (bool, error) {
	if place.State == "purging" {
		return true, nil
	}
	last, err := c.store.LastDelete(ctx, place.FolderID, "")
	if errors.Is(err, store.ErrNotFound) {
		return false, nil
	}
	return last.Now || last.UndoSeconds == 0, err
}

// SetFolder changes a folder.
func (c *Control) SetFolder(ctx context.Context, id string, patch FolderPatch, actor Actor) (knowledge.Folder, error) {
	place, err := c.openFolder(ctx, id)
	if err != nil {
		return knowledge.Folder{}, err
	}
	change := store.FolderChange{Title: patch.Title, Owner: patch.Owner, Interval: patch.Interval, Readers: patch.Readers, Limits: patch.Limits}
	if err := checkPatch(patch); err != nil {
		return knowledge.Folder{}, err
	}
	if patch.Root != nil {
		next := place
		next.Root = *patch.Root
		root, err := c.usableRoot(ctx, next)
		if err != nil {
			return knowledge.Folder{}, err
		}
		if root != place.Root {
			change.Root = &root
		}
	}
	if change == (store.FolderChange{}) {
		return c.Folder(ctx, id)
	}
	changed, err := c.store.SetFolder(ctx, id, change, who(actor))
	if err == nil && !changed {
		_, err = c.openFolder(ctx, id)
	}
	if err != nil {
		return knowledge.Folder{}, err
	}
	if change.Root != nil {
		return c.folderWithWarnings(ctx, id)
	}
	return c.Folder(ctx, id)
}

func checkPatch(patch FolderPatch) error {
	for what, text := range map[string]*string{"title": patch.Title, "owner": patch.Owner} {
		if text == nil {
			continue
		}
		if err := checkName(what, *text); err != nil {
			return err
		}
	}
	if d := patch.Interval; d != nil && (*d < shortestInterval || *d > longestInterval) {
		return usage("interval", "the interval %s is not possible: give one from 1m to 8784h (a year), for example 15m", *d)
	}
	if patch.Title != nil && *patch.Title == "" {
		return usage("title", "the title is empty: give the folder a name for people, or leave --title out")
	}
	if patch.Readers != nil {
		var readers []string
		if json.Unmarshal(*patch.Readers, &readers) != nil || readers == nil {
			return usage("readers", "the readers are not a JSON array of names: write them as [\"support\", \"sales\"], or [] for everyone")
		}
	}
	return checkLimits(patch.Limits)
}

// Folders gives all folders, deleted ones that can still be restored included.
func (c *Control) Folders(ctx context.Context) ([]knowledge.Folder, error) {
	folders, err := c.store.Folders(ctx)
	if err != nil {
		return nil, err
	}
	overlaps, err := c.overlaps(ctx, "")
	for i := range folders {
		folders[i].Overlaps = overlaps[folders[i].ID]
	}
	return folders, err
}

// Folder gives one folder with the counts of its pages.
func (c *Control) Folder(ctx context.Context, id string) (knowledge.Folder, error) {
	if !storable(id) {
		return knowledge.Folder{}, UnknownFolder(id)
	}
	folder, err := c.store.Folder(ctx, id)
	switch {
	case errors.Is(err, store.ErrNotFound):
		return folder, UnknownFolder(id)
	case err != nil || folder.DeletedAt != nil:
		return folder, err
	}
	overlaps, err := c.overlaps(ctx, id)
	folder.Overlaps = overlaps[id]
	return folder, err
}

// PauseFolder lets no sync of the folder start; running ones stop at their next batch. Deletes, restores and search go on.
func (c *Control) PauseFolder(ctx context.Context, id string, actor Actor) (knowledge.Folder, error) {
	return c.pauseFolder(ctx, id, true, actor)
}

// ResumeFolder undoes a pause of the folder itself. A folder whose connection is paused stays paused.
func (c *Control) ResumeFolder(ctx context.Context, id string, actor Actor) (knowledge.Folder, error) {
	return c.pauseFolder(ctx, id, false, actor)
}

func (c *Control) pauseFolder(ctx context.Context, id string, paused bool, actor Actor) (knowledge.Folder, error) {
	place, err := c.openFolder(ctx, id)
	if err != nil {
		return knowledge.Folder{}, err
	}
	changed, err := c.store.PauseFolder(ctx, id, paused, who(actor))
	if err != nil {
		return knowledge.Folder{}, err
	}
	folder, err := c.Folder(ctx, id)
	if err == nil && !paused && !changed && folder.State == "paused" {
		return folder, refuse("connection_paused", "folder %q is paused with its connection %q: run `starter connection resume %s`",
			id, place.Connection, place.Connection)
	}
	return folder, err
}

// place reads where a folder's pages come from, deleted folders included.
func (c *Control) place(ctx context.Context, id string) (store.FolderPlace, error) {
	if !storable(id) {
		return store.FolderPlace{}, UnknownFolder(id)
	}
	place, err := c.store.FolderPlace(ctx, id)
	if errors.Is(err, store.ErrNotFound) {
		return place, UnknownFolder(id)
	}
	return place, err
}

// openFolder is place for commands that a deleted folder refuses.
func (c *Control) openFolder(ctx context.Context, id string) (store.FolderPlace, error) {
	place, err := c.place(ctx, id)
	if err != nil || place.DeletedAt == nil {
		return place, err
	}
	return place, c.deletedFolder(ctx, place)
}

// UnknownFolder is what is said of a folder that isn't there. Entry points say the same of one that a caller may not know of.
func UnknownFolder(id string) error {
	return notFound("folder_unknown", "there is no folder %q: `starter folder list` shows those there are", id)
}

func (c *Control) deletedFolder(ctx context.Context, place store.FolderPlace) error {
	erasing, err := c.beingErased(ctx, place)
	if err != nil {
		return err
	}
	if erasing {
		return refuse("purging", "folder %q was deleted and is being removed for good: register it anew once `starter folder list` no longer names it",
			place.FolderID)
	}
	return refuse("folder_deleted", "folder %q was deleted: until %s `starter folder restore %s` brings it back",
		place.FolderID, clock(*place.PurgeAt), place.FolderID)
}

// checkLimits accepts what source.Limits knows, so that a misspelt limit is told instead of ignored.
func checkLimits(raw *json.RawMessage) error {
	if raw == nil {
		return nil
	}
	limits, err := decodeLimits(*raw)
	if err != nil || bytes.TrimSpace(*raw)[0] != '{' {
		return usage("limits", "these limits are unknown: there are max_bytes=10485760 and comments=true (in JSON {\"max_bytes\": 10485760, \"comments\": true})")
	}
	if limits.MaxBytes < 0 {
		return usage("limits", "max_bytes is %d: give a number of bytes, or 0 for the default", limits.MaxBytes)
	}
	return nil
}

func checkName(what, text string) error {
	if utf8.RuneCountInString(text) > longestName {
		return usage(what, "the %s has more than %d characters: give a shorter one", what, longestName)
	}
	if !storable(text) || strings.ContainsFunc(text, unicode.IsControl) {
		return usage(what, "the %s holds control characters or is not valid UTF-8: write it on one line", what)
	}
	return nil
}

// storable tells whether Postgres could hold a text. What it can't hold is nothing that anybody registered.
func storable(text string) bool { return utf8.ValidString(text) && !strings.ContainsRune(text, 0) }

// clock is how times are written in sentences.
func clock(t time.Time) string { return t.UTC().Format("2006-01-02 15:04 UTC") }
