package local

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

var errNotOurDir = errors.New("it belongs to another user")

// RemoveDataDir ends what a dead owner left on a data directory and removes it, the cluster's place elsewhere included.
// It is an InUseError while the owner lives. It refuses a directory of another user: the file that names the place could
// name anything there.
func RemoveDataDir(ctx context.Context, dataDir string) error {
	dir, err := filepath.EvalSymlinks(dataDir)
	if err != nil {
		return fmt.Errorf("remove a data directory: %w", err)
	}
	if owner, err := ownerOf(dir); err != nil || owner != nil {
		return fmt.Errorf("remove %s: %w", dir, errors.Join(errNotOurDir, err))
	}
	if err := EndLeftovers(ctx, dir); err != nil {
		return err
	}
	if place := rememberedPlace(dir); isElsewhere(place) {
		if err := os.RemoveAll(place); err != nil {
			return fmt.Errorf("remove the cluster of %s: %w", dir, err)
		}
	}
	if err := os.RemoveAll(dir); err != nil {
		return fmt.Errorf("remove a data directory: %w", err)
	}
	return nil
}

// isElsewhere reports whether a path has the form that placeElsewhere gives.
func isElsewhere(place string) bool {
	return slices.Contains(otherParents(), filepath.Dir(place)) && strings.HasPrefix(filepath.Base(place), placePrefix)
}
