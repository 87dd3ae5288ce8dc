// Package handbook is the sample of a first run: it puts the files of a small company handbook where they can be changed, and
// registers and syncs them as a folder.
package handbook

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// Write puts the files below dir, unless dir is there: from then on it belongs to whoever tries things out in it, and a page
// that was deleted stays deleted. The files appear all at once, so that an interrupted first run doesn't leave half of them.
func Write(dir string, files fs.FS) error {
	if _, err := os.Lstat(dir); err == nil {
		return nil
	} else if !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("look for the sample: %w", err)
	}
	fresh, err := os.MkdirTemp(filepath.Dir(dir), ".sample-")
	if err != nil {
		return fmt.Errorf("write the sample: %w", err)
	}
	defer func() { _ = os.RemoveAll(fresh) }()
	whole := filepath.Join(fresh, "sample")
	if err := os.CopyFS(whole, files); err != nil {
		return fmt.Errorf("write the sample: %w", err)
	}
	if err := os.Rename(whole, dir); err != nil {
		return fmt.Errorf("write the sample: %w", err)
	}
	return nil
}
