package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/loresync/loresync/internal/local"
)

// markName names the file by which a data directory is known as this program's: only such a one is ever removed.
const markName = "made-by-bench"

var errNotOurs = errors.New("it exists, and this program didn't make it: name another one with --data-dir")

// makeDataDir makes an empty data directory, in place of the one that a killed run left. It refuses any other directory that
// exists, and one that another run is using.
func makeDataDir(ctx context.Context, name string) (string, error) {
	dir, err := filepath.Abs(name)
	if err != nil {
		return "", fmt.Errorf("find the data directory: %w", err)
	}
	_, err = os.Stat(dir)
	if err == nil {
		if _, err := os.Stat(filepath.Join(dir, markName)); err != nil {
			return "", fmt.Errorf("use %s: %w", dir, errNotOurs)
		}
		err = local.RemoveDataDir(ctx, dir)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", err
	}
	// The account that root lends Postgres has to pass through.
	if err := os.MkdirAll(dir, 0o711); err != nil {
		return "", fmt.Errorf("make the data directory: %w", err)
	}
	if err := os.WriteFile(filepath.Join(dir, markName), nil, 0o600); err != nil {
		return "", fmt.Errorf("mark the data directory: %w", err)
	}
	return dir, nil
}
