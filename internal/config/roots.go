package config

import (
	"github.com/loresync/loresync/internal/control"
	"github.com/loresync/loresync/internal/source/gdrive"
	"github.com/loresync/loresync/internal/source/notion"
)

var _ control.RootIDs = (*Sources)(nil)

// RootID gives the id of the page or container that a root is, by its reference alone, and tells whether the root holds all that
// its connection sees.
func (*Sources) RootID(name, ref string) (id string, whole bool) {
	switch name {
	case notion.Name:
		return ref, ref == notion.Workspace
	case gdrive.Name:
		return gdrive.RootID(ref), false
	}
	return ref, false
}
