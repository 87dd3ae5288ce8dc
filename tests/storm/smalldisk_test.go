package storm

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
)

// smallDisk is a file system of its own for the tables of the storm's database, small enough to be filled. The log of
// Postgres lies elsewhere, so that Postgres refuses to write instead of falling down.
type smallDisk struct {
	dir string
	// real is false where no file system may be mounted: then nothing can be filled.
	real bool
}

// diskSize holds a storm's database many times.
const diskSize = "size=256m,mode=0755"

func newSmallDisk(dir string) (*smallDisk, error) {
	if err := openDir(dir); err != nil {
		return nil, err
	}
	return &smallDisk{dir: dir, real: mountSmall(dir) == nil}, nil
}

// give makes the disk belong to whoever owns a path.
func (d *smallDisk) give(path string) error {
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	owner, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return errors.ErrUnsupported
	}
	return os.Chown(d.dir, int(owner.Uid), int(owner.Gid))
}

func (d *smallDisk) ballast() string { return filepath.Join(d.dir, "ballast") }

// fill writes until there is no room any more.
func (d *smallDisk) fill() error {
	file, err := os.Create(d.ballast())
	if err != nil {
		return err
	}
	block := make([]byte, 1<<20)
	for size := len(block); size > 0; {
		n, err := file.Write(block[:size])
		switch {
		case err == nil:
		case errors.Is(err, syscall.ENOSPC):
			if n == 0 {
				size /= 16
			}
		default:
			return errors.Join(err, file.Close())
		}
	}
	return file.Close()
}

func (d *smallDisk) empty() error {
	if err := os.Remove(d.ballast()); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return nil
}

func (d *smallDisk) close() error {
	if !d.real {
		return nil
	}
	return unmount(d.dir)
}
