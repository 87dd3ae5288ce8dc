package control

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/loresync/loresync/internal/knowledge"
	"github.com/loresync/loresync/internal/store"
)

// RootIDs is implemented by Sources that know what a root is by its reference alone, without asking a source.
type RootIDs interface {
	// RootID gives the source's id of the page or container that a root is. whole says that the root holds all that its connection
	// sees.
	RootID(source, ref string) (id string, whole bool)
}

// placedRoot is the root of a folder as the roots of others may meet it.
type placedRoot struct {
	store.FolderPlace
	id    string
	whole bool
}

// overlaps finds which other folders sync the same pages, for one folder or with "" for each. That is allowed: such pages have a
// state of their own in each folder, and search shows each of them once. Only Postgres is asked: below another root is what a
// sync found there.
func (c *Control) overlaps(ctx context.Context, only string) (map[string][]knowledge.Overlap, error) {
	places, err := c.store.FolderPlaces(ctx, "")
	if err != nil {
		return nil, err
	}
	roots := c.placedRoots(places)
	known, err := c.knownRoots(ctx, roots, only)
	if err != nil {
		return nil, err
	}
	found := map[string][]knowledge.Overlap{}
	for _, folder := range roots {
		for _, other := range roots {
			if !ofInterest(folder, other, only) || only != "" && folder.FolderID != only {
				continue
			}
			if how := overlap(folder, other, known); how != "" {
				found[folder.FolderID] = append(found[folder.FolderID], knowledge.Overlap{FolderID: other.FolderID, Root: other.Root, How: how})
			}
		}
	}
	return found, nil
}

// placedRoots leaves out deleted folders, which sync nothing.
func (c *Control) placedRoots(places []store.FolderPlace) []placedRoot {
	var roots []placedRoot
	for _, place := range places {
		if place.DeletedAt != nil {
			continue
		}
		root := placedRoot{FolderPlace: place, id: place.Root}
		if known, able := c.sources.(RootIDs); able {
			root.id, root.whole = known.RootID(place.Source, place.Root)
		}
		roots = append(roots, root)
	}
	return roots
}

// ofInterest tells whether two roots can meet at all, and whether anybody asks. Files need no connection to be the same.
func ofInterest(folder, other placedRoot, only string) bool {
	return folder.FolderID != other.FolderID && folder.Source == other.Source && (folder.Source == filesSource || folder.Connection == other.Connection) &&
		(only == "" || folder.FolderID == only || other.FolderID == only)
}

// knownRoots finds the roots that are pages or containers of other folders.
func (c *Control) knownRoots(ctx context.Context, roots []placedRoot, only string) (map[store.FolderRoot]bool, error) {
	var sought []store.FolderRoot
	for _, folder := range roots {
		for _, other := range roots {
			if folder.Source != filesSource && ofInterest(folder, other, only) {
				sought = append(sought, store.FolderRoot{FolderID: folder.FolderID, SourceID: other.id})
			}
		}
	}
	found, err := c.store.KnownRoots(ctx, sought)
	known := make(map[store.FolderRoot]bool, len(found))
	for _, root := range found {
		known[root] = true
	}
	return known, err
}

const filesSource = "files"

// overlap tells how the root of a folder lies to that of another; empty when they don't meet. Roots are canonical. Those of files
// show in their names what is below what; elsewhere the listings tell.
func overlap(folder, other placedRoot, known map[store.FolderRoot]bool) string {
	files := folder.Source == filesSource
	switch {
	case folder.id == other.id:
		return knowledge.OverlapSame
	case other.whole, files && isBelow(folder.Root, other.Root), known[store.FolderRoot{FolderID: other.FolderID, SourceID: folder.id}]:
		return knowledge.OverlapBelow
	case folder.whole, files && isBelow(other.Root, folder.Root), known[store.FolderRoot{FolderID: folder.FolderID, SourceID: other.id}]:
		return knowledge.OverlapAbove
	}
	return ""
}

func isBelow(path, above string) bool {
	return strings.HasPrefix(path, strings.TrimSuffix(above, string(filepath.Separator))+string(filepath.Separator))
}

// overlapWarnings words overlaps for whoever gave the root.
func overlapWarnings(overlaps []knowledge.Overlap) []string {
	how := map[string]string{
		knowledge.OverlapSame: "the root is that of", knowledge.OverlapBelow: "the root is below that of", knowledge.OverlapAbove: "the root holds that of",
	}
	warnings := make([]string, len(overlaps))
	for i, o := range overlaps {
		warnings[i] = fmt.Sprintf("%s folder %q (%s): the pages of both are synced twice, and a page deleted in one stays in the other",
			how[o.How], o.FolderID, o.Root)
	}
	return warnings
}
