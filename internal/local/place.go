package local

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// clusterDir is the folder of the cluster's files inside its place.
const clusterDir = "data"

// placePrefix begins the name of every place outside a data directory.
const placePrefix = "loresync-"

var errNoPlace = errors.New("found no folder that the account may enter")

// A place is the folder of one cluster: its files in "data", its password beside them. It is <data-dir>/postgres, except
// when root lends the cluster to an account that may not pass through the folders above; then it lies elsewhere, and
// <data-dir>/postgres.path remembers where.

// pathFile remembers a place outside the data directory.
func pathFile(dataDir string) string {
	return filepath.Join(dataDir, "postgres.path")
}

// rememberedPlace is the place that was chosen before, or the usual one.
func rememberedPlace(dataDir string) string {
	text, err := os.ReadFile(pathFile(dataDir))
	if place := strings.TrimSpace(string(text)); err == nil && exists(place) {
		return place
	}
	return filepath.Join(dataDir, "postgres")
}

// makeDataDir makes a directory that an ordinary account may pass through but not list, since root may lend such an
// account a cluster below it. It returns the one true path: servers are recognised by it in their command lines.
func makeDataDir(dir string) (string, error) {
	path, err := filepath.Abs(dir)
	if err != nil {
		return "", fmt.Errorf("find the data directory: %w", err)
	}
	if err := os.MkdirAll(path, 0o711); err != nil { //nolint:gosec // see above
		return "", fmt.Errorf("make the data directory: %w", err)
	}
	if path, err = filepath.EvalSymlinks(path); err != nil {
		return "", fmt.Errorf("find the data directory: %w", err)
	}
	return path, nil
}

// choosePlace returns the folder for the cluster and the account that runs it.
func choosePlace(ctx context.Context, dataDir string) (string, *account, error) {
	place := rememberedPlace(dataDir)
	if cluster := filepath.Join(place, clusterDir); exists(cluster) {
		acct, err := ownerOf(cluster)
		return place, acct, err
	}
	acct, err := ordinaryAccount()
	if err != nil {
		return "", nil, err
	}
	if _, err := makeDataDir(place); err != nil {
		return "", nil, err
	}
	if open, err := acct.canEnter(ctx, place); err != nil || open {
		return place, acct, err
	}
	place, err = placeElsewhere(ctx, dataDir, acct)
	return place, acct, err
}

// otherParents are where a cluster goes when it can't lie below its data directory.
func otherParents() []string {
	return []string{"/var/lib", os.TempDir()}
}

// placeElsewhere makes a place outside the data directory. Its name is partly random: a place that exists may belong to
// a data directory that was moved away, and a guessable name below the temporary folder could be anybody's.
func placeElsewhere(ctx context.Context, dataDir string, acct *account) (string, error) {
	hash := sha256.Sum256([]byte(dataDir))
	pattern := placePrefix + hex.EncodeToString(hash[:4]) + "-*"
	for _, parent := range otherParents() {
		place, err := os.MkdirTemp(parent, pattern)
		if err != nil {
			continue
		}
		if openTo(ctx, acct, place) {
			return place, rememberPlace(dataDir, place)
		}
		_ = os.Remove(place)
	}
	return "", fmt.Errorf("place the cluster of %s for %s: %w", dataDir, acct.name, errNoPlace)
}

// openTo lets everybody pass through a new place and reports whether the account can.
func openTo(ctx context.Context, acct *account, place string) bool {
	if err := os.Chmod(place, 0o711); err != nil { //nolint:gosec // passing through, not listing
		return false
	}
	open, err := acct.canEnter(ctx, place)
	return err == nil && open
}

// rememberPlace writes the place down in one step, before anything is put there.
func rememberPlace(dataDir, place string) error {
	fresh := pathFile(dataDir) + ".new"
	if err := os.WriteFile(fresh, []byte(place+"\n"), 0o600); err != nil {
		return fmt.Errorf("remember the cluster's place: %w", err)
	}
	if err := os.Rename(fresh, pathFile(dataDir)); err != nil {
		return fmt.Errorf("remember the cluster's place: %w", err)
	}
	return nil
}
