package control

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/loresync/loresync/internal/store"
)

// overlaps says which other folders sync the same pages. That is allowed: such pages have a state of their own in each folder,
// and search shows each of them once.
func (c *Control) overlaps(ctx context.Context, folder store.FolderPlace) ([]string, error) {
	places, err := c.store.FolderPlaces(ctx, "")
	if err != nil {
		return nil, err
	}
	var warnings []string
	for _, other := range places {
		if other.FolderID == folder.FolderID || other.DeletedAt != nil {
			continue
		}
		if how := overlap(folder, other); how != "" {
			warnings = append(warnings, fmt.Sprintf(
				"%s folder %q (%s): the pages of both are synced twice, and a page deleted in one stays in the other", how, other.FolderID, other.Root))
		}
	}
	return warnings, nil
}

// overlap tells how the root of a folder meets that of another; empty when it doesn't. Roots are canonical. Only those of files
// show in their names what is below what, and they need no connection to be the same.
func overlap(folder, other store.FolderPlace) string {
	files := folder.Source == "files"
	switch {
	case folder.Source != other.Source || !files && folder.Connection != other.Connection:
		return ""
	case folder.Root == other.Root:
		return "the root is that of"
	case files && isBelow(folder.Root, other.Root):
		return "the root is below that of"
	case files && isBelow(other.Root, folder.Root):
		return "the root holds that of"
	}
	return ""
}

func isBelow(path, above string) bool {
	return strings.HasPrefix(path, strings.TrimSuffix(above, string(filepath.Separator))+string(filepath.Separator))
}
