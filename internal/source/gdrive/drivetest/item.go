package drivetest

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// The types that Drive has for what isn't a file of bytes.
const (
	MimeFolder   = "application/vnd.google-apps.folder"
	MimeShortcut = "application/vnd.google-apps.shortcut"
	MimeDoc      = "application/vnd.google-apps.document"
	MimeSheet    = "application/vnd.google-apps.spreadsheet"
	MimeSlides   = "application/vnd.google-apps.presentation"
	MimeDrawing  = "application/vnd.google-apps.drawing"
	MimeScript   = "application/vnd.google-apps.script"
	MimeForm     = "application/vnd.google-apps.form"
	MimeSite     = "application/vnd.google-apps.site"

	googleTypes = "application/vnd.google-apps."
)

// isEditors is whether a type is Google's own, made and kept by one of its editors.
func isEditors(mime string) bool {
	return strings.HasPrefix(mime, googleTypes) && mime != MimeFolder && mime != MimeShortcut
}

// item is a file, a folder, a shortcut, a My Drive or a shared drive.
type item struct {
	id, name, mime string
	// parents are folders, My Drives or the shared drive itself; drive is the shared drive, empty in My Drives.
	parents []string
	drive   string
	// isRoot marks My Drives, isDrive shared drives.
	isRoot, isDrive bool
	// owner is empty in shared drives; editor is who changed it last.
	owner, editor     string
	created, modified time.Time
	version           int64
	order             int
	permissions       []Permission
	// lost are the users from whom access was taken, whatever the permissions say; seenBy all who ever could see it.
	lost, seenBy map[string]bool
	sharedAt     map[string]time.Time
	// trashedAt is set for what was thrown away by itself, not with a folder.
	trashedAt time.Time
	trasher   string
	gone      bool

	content     content
	target      string
	targetMime  string
	resourceKey string
	description string
	abusive     bool
	locked      bool
}

// isFolder is whether an item can hold others.
func (i *item) isFolder() bool { return i.mime == MimeFolder }

// find gives an item that wasn't deleted. The lock is held.
func (s *Server) find(id string) (*item, error) {
	it := s.items[id]
	if it == nil || it.gone {
		return nil, fmt.Errorf("nothing in the stand-in of Drive has the id %q", id)
	}
	return it, nil
}

// container gives what can hold files: a folder, or the editor's My Drive for an empty id. The lock is held.
func (s *Server) container(id string) (*item, error) {
	if id == "" {
		id = s.user(s.editor).root
	}
	it, err := s.find(id)
	if err == nil && !it.isFolder() {
		return nil, fmt.Errorf("%q is not a folder", id)
	}
	return it, err
}

// isTrashed is whether an item was thrown away, or all folders that it lies in were.
func (s *Server) isTrashed(it *item) bool {
	if !it.trashedAt.IsZero() {
		return true
	}
	for _, parent := range it.parents {
		p := s.items[parent]
		if p != nil && !s.isTrashed(p) {
			return false
		}
	}
	return len(it.parents) > 0
}

// isBelow is whether an item is another one or lies below it.
func (s *Server) isBelow(it *item, above string) bool {
	if it.id == above {
		return true
	}
	return slices.ContainsFunc(it.parents, func(parent string) bool {
		p := s.items[parent]
		return p != nil && s.isBelow(p, above)
	})
}

// below gives everything under an item, not the item itself.
func (s *Server) below(it *item) []*item {
	var found []*item
	for _, id := range s.children[it.id] {
		child := s.items[id]
		if child == nil || child.gone {
			continue
		}
		found = append(found, child)
		found = append(found, s.below(child)...)
	}
	return found
}

// place puts an item under a parent, besides those it has. The lock is held.
func (s *Server) place(it *item, parent string) {
	it.parents = append(it.parents, parent)
	s.children[parent] = append(s.children[parent], it.id)
}

// displace takes an item out of all its parents. The lock is held.
func (s *Server) displace(it *item) {
	for _, parent := range it.parents {
		s.children[parent] = slices.DeleteFunc(s.children[parent], func(id string) bool { return id == it.id })
	}
	it.parents = nil
}
