package storm

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
)

// room is what Postgres' tables grow in. Filled, its log still grows, so that Postgres refuses to write instead of falling down.
type room interface {
	fill() error
	empty() error
}

// smallDisk is a file system of its own for the tables of the storm's database, small enough to be filled. The log of
// Postgres lies elsewhere.
type smallDisk struct{ dir string }

// diskSize holds a storm's database many times.
const diskSize = "size=256m,mode=0755"

func newSmallDisk(dir string) (*smallDisk, error) {
	if err := openDir(dir); err != nil {
		return nil, err
	}
	return &smallDisk{dir: dir}, nil
}

// mount tells whether there is such a file system: few users may mount one.
func (d *smallDisk) mount() bool { return mountSmall(d.dir) == nil }

// give makes the disk belong to whoever owns a path.
func (d *smallDisk) give(path string) error {
	uid, gid, err := ownerOf(path)
	if err != nil {
		return err
	}
	return os.Chown(d.dir, int(uid), int(gid))
}

func ownerOf(path string) (uid, gid uint32, err error) {
	info, err := os.Stat(path)
	if err != nil {
		return 0, 0, err
	}
	owner, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return 0, 0, errors.ErrUnsupported
	}
	return owner.Uid, owner.Gid, nil
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

func (d *smallDisk) close() error { return unmount(d.dir) }
