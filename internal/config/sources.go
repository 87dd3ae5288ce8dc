package config

import (
	"context"
	"fmt"
	"path"

	"github.com/loresync/loresync/internal/control"
	"github.com/loresync/loresync/internal/source"
	"github.com/loresync/loresync/internal/source/files"
)

// NewSources gives the sources that this version can sync, one for each connection that asks for it.
func NewSources(Config) control.Sources {
	return sources{files: filesSource{files.New(files.Options{})}}
}

type sources struct{ files filesSource }

// Source finds a source by its name. Files need no connection of their own: there is nothing to sign in to.
func (s sources) Source(_ context.Context, name, _ string) (source.Source, error) {
	switch name {
	case files.Name:
		return s.files, nil
	case "notion", "gdrive":
		return nil, fmt.Errorf("the source %q is not supported yet by this version: use files", name)
	}
	return nil, fmt.Errorf("there is no source %q: use files", name)
}

// filesSource adds what control asks of sources whose roots and ids are paths.
type filesSource struct{ *files.Source }

// Canonical gives the absolute form of a directory.
func (filesSource) Canonical(ref string) (string, error) { return files.Canonical(ref) }

// Ancestors gives the directories above a page, nearest first. The id of a page is the path below its root.
func (filesSource) Ancestors(sourceID string) []string {
	var above []string
	for dir := path.Dir(sourceID); dir != "." && dir != "/"; dir = path.Dir(dir) {
		above = append(above, dir)
	}
	return above
}
