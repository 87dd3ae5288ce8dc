package storm

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"
)

// disk holds the folders' files. It carries out what the generator decided, and remembers when each path held a file.
type disk struct {
	dir string

	mu sync.Mutex
	// spans are the times in which a path held a file, the last one open while it does.
	spans map[string][]span
}

// span is a time in which a file was there. A zero end means that it still is.
type span struct{ from, until time.Time }

func newDisk(dir string) (*disk, error) {
	d := &disk{dir: dir, spans: map[string][]span{}}
	for _, folder := range folders {
		if err := openDir(d.root(folder)); err != nil {
			return nil, err
		}
	}
	return d, nil
}

// openDir makes a directory that the processes of a storm may enter, whoever they run as.
func openDir(path string) error {
	if err := os.MkdirAll(path, 0o755); err != nil {
		return err
	}
	return os.Chmod(path, 0o755)
}

func (d *disk) root(folder string) string { return filepath.Join(d.dir, folder) }

func (d *disk) at(folder, path string) string {
	return filepath.Join(d.root(folder), filepath.FromSlash(path))
}

// carryOut does what a step says to the files.
func (d *disk) carryOut(s step) error {
	full := d.at(s.folder, s.page)
	switch s.do {
	case doEdit, doCreate:
		return d.write(s.folder, s.page, s.text, s.inPlace)
	case doMove:
		return d.move(s)
	case doMoveEdit:
		return errors.Join(d.move(s), d.write(s.folder, s.to, s.text, s.inPlace))
	case doTrash:
		defer d.close(s.folder, s.page)
		return os.Remove(full)
	case doLock:
		return os.Chmod(full, 0)
	case doLockDir:
		return d.lockDir(s)
	case doUnlock:
		return d.unlock(s.folder)
	}
	return nil
}

// write saves a file as editors do: over the old one, or beside it and then in its place.
func (d *disk) write(folder, path, text string, inPlace bool) error {
	full := d.at(folder, path)
	if err := openDir(filepath.Dir(full)); err != nil {
		return err
	}
	d.open(folder, path)
	if inPlace {
		if err := os.Chmod(full, 0o644); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		return os.WriteFile(full, []byte(text), 0o644)
	}
	aside := filepath.Join(filepath.Dir(full), ".saving")
	if err := os.WriteFile(aside, []byte(text), 0o644); err != nil {
		return err
	}
	return os.Rename(aside, full)
}

func (d *disk) move(s step) error {
	from, to := d.at(s.folder, s.page), d.at(s.folder, s.to)
	if err := openDir(filepath.Dir(to)); err != nil {
		return err
	}
	d.open(s.folder, s.to)
	defer d.close(s.folder, s.page)
	return errors.Join(os.Rename(from, to), os.Chmod(to, 0o644))
}

func (d *disk) lockDir(s step) error {
	if s.page == "" {
		return nil
	}
	full := d.at(s.folder, s.page)
	if err := openDir(full); err != nil {
		return err
	}
	return os.Chmod(full, 0)
}

// unlock makes everything of a folder readable, from the top down.
func (d *disk) unlock(folder string) error {
	return filepath.WalkDir(d.root(folder), func(path string, entry fs.DirEntry, err error) error {
		switch {
		case errors.Is(err, fs.ErrPermission): // a directory that isn't ours to pass yet is visited before it is read
			return nil
		case err != nil:
			return err
		case entry.IsDir():
			return os.Chmod(path, 0o755)
		}
		return os.Chmod(path, 0o644)
	})
}

// open notes that a path holds a file from now on; close that it doesn't.
func (d *disk) open(folder, path string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	key := folder + "/" + path
	if n := len(d.spans[key]); n > 0 && d.spans[key][n-1].until.IsZero() {
		return
	}
	d.spans[key] = append(d.spans[key], span{from: time.Now()})
}

func (d *disk) close(folder, path string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	key := folder + "/" + path
	if n := len(d.spans[key]); n > 0 {
		d.spans[key][n-1].until = time.Now()
	}
}

// absentBefore gives the last time before a moment in which a path held no file, its end zero when that lasts; false when it was
// there all the time.
func (d *disk) absentBefore(folder, path string, moment time.Time) (span, bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	var gap span
	found := false
	for _, s := range d.spans[folder+"/"+path] {
		if !s.from.Before(moment) {
			break
		}
		if found && gap.until.IsZero() {
			gap.until = s.from
		}
		if !s.until.IsZero() && s.until.Before(moment) {
			gap, found = span{from: s.until}, true
		}
	}
	return gap, found
}

// files gives what a folder holds now: each file's bytes by its path.
func (d *disk) files(folder string) (map[string][]byte, error) {
	found := map[string][]byte{}
	root := d.root(folder)
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || strings.HasPrefix(entry.Name(), ".") {
			return err
		}
		raw, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		name, err := filepath.Rel(root, path)
		found[filepath.ToSlash(name)] = raw
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("read the files of %s: %w", folder, err)
	}
	return found, nil
}
