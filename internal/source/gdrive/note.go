package gdrive

import (
	"context"
	"encoding/json"
	"time"

	"github.com/loresync/loresync/internal/source"
)

// maxNotes bounds what one listing notes. A note takes half a kilobyte, and no more than these are read while notes stand.
const maxNotes = 100_000

// note is what the first listing of a folder tells of a file: all that its read would ask for, so that a first sync asks for no
// file twice. What happened to the file between the two is in the change log, whose token is older than both, and its content is
// read at the time of the read in any case.
type note struct {
	ID       string   `json:"id"`
	Name     string   `json:"name"`
	MimeType string   `json:"mime_type"`
	Parents  []string `json:"parents,omitempty"`
	Drive    string   `json:"drive,omitempty"`
	Version  int64    `json:"version,omitempty"`
	MD5      string   `json:"md5,omitempty"`
	SHA256   string   `json:"sha256,omitempty"`
	Size     int64    `json:"size,omitempty"`
	URL      string   `json:"url,omitempty"`

	Edited  time.Time `json:"edited,omitzero"`
	Created time.Time `json:"created,omitzero"`

	// Key is the resource key with which the file is found, which may have come with a shortcut.
	Key    string  `json:"key,omitempty"`
	Shared bool    `json:"shared,omitempty"`
	Locked bool    `json:"locked,omitempty"`
	Owner  string  `json:"owner,omitempty"`
	Editor string  `json:"editor,omitempty"`
	Grants []grant `json:"grants,omitempty"`
	Told   bool    `json:"told,omitempty"`

	Parent string `json:"parent,omitempty"`
	Hidden bool   `json:"hidden,omitempty"`
	Path   string `json:"path"`
	Depth  int    `json:"depth"`
}

// note writes down a file at its place; nil for what won't be read: folders, and what is skipped.
func (s *Source) note(at placed, entry source.Entry) []byte {
	if entry.Skip != nil || entry.Kind != source.KindDocument {
		return nil
	}
	said, err := json.Marshal(note{
		ID: at.id, Name: at.name, MimeType: at.mime, Parents: at.parents, Drive: at.drive, Version: at.version, MD5: at.md5, SHA256: at.sha256,
		Size: at.size, URL: at.url, Edited: at.edited, Created: at.created, Key: s.client.keys.of(at.id), Shared: at.sharedWithMe, Locked: at.locked,
		Owner: at.owner, Editor: at.editor, Grants: at.grants, Told: at.told, Parent: at.parent, Hidden: at.hidden, Path: at.path, Depth: at.depth,
	})
	if err != nil {
		return nil // the read asks
	}
	return said
}

// noted gives what a listing noted of a file, for its first read. Trouble with it costs a request, and nothing else.
func (s *Source) noted(ctx context.Context, root source.Root, id string) (placed, bool) {
	if root.Note == nil {
		return placed{}, false
	}
	said, found, err := root.Note(ctx, id)
	var n note
	if err != nil || !found || json.Unmarshal(said, &n) != nil || n.ID != id {
		return placed{}, false
	}
	s.client.keys.note(n.ID, n.Key)
	return placed{
		file: file{
			id: n.ID, name: n.Name, mime: n.MimeType, parents: n.Parents, drive: n.Drive, version: n.Version, md5: n.MD5, sha256: n.SHA256,
			size: n.Size, url: n.URL, edited: n.Edited, created: n.Created, key: n.Key, sharedWithMe: n.Shared, locked: n.Locked,
			owner: n.Owner, editor: n.Editor, grants: n.Grants, told: n.Told,
		},
		parent: n.Parent, hidden: n.Hidden, path: n.Path, depth: n.Depth,
	}, true
}
