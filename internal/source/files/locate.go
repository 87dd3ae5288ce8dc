package files

import (
	"errors"
	"io/fs"
	"path"
	"path/filepath"
	"strings"
	"syscall"
)

// errExcluded says that something is there that the rules leave out: a dot file, another extension, a way out.
var errExcluded = errors.New("left out by the rules of the source")

// maxLinks bounds a chain of symbolic links, as the system itself does.
const maxLinks = 8

// follow gives what a symbolic link leads to, if that is below the root: the path to open and its state. A link that is
// absolute is followed too when it points into the root; an os.Root alone would refuse it.
func (t *tree) follow(name string) (string, fs.FileInfo, error) {
	for range maxLinks {
		info, err := t.root.Stat(name)
		if !leadsOut(err) {
			return name, info, err
		}
		link, err := t.root.Readlink(name)
		if err != nil {
			return "", nil, errExcluded
		}
		if filepath.IsAbs(link) {
			below, ok := t.below(link)
			if !ok {
				return "", nil, errExcluded
			}
			name = below
		} else {
			name = path.Join(path.Dir(name), filepath.ToSlash(link))
		}
	}
	return "", nil, errExcluded
}

// below gives the part of an absolute path that lies below the root, whether it spells the root as the folder does or with
// its links resolved.
func (t *tree) below(abs string) (string, bool) {
	if rest, ok := cutRoot(t.path, abs); ok {
		return rest, true
	}
	resolved, err := filepath.EvalSymlinks(t.path)
	if err != nil {
		return "", false
	}
	return cutRoot(resolved, abs)
}

// cutRoot takes the root off an absolute path and cleans the rest; false when nothing is left or it isn't below the root.
func cutRoot(root, abs string) (string, bool) {
	rest, ok := strings.CutPrefix(path.Clean(filepath.ToSlash(abs)), strings.TrimSuffix(filepath.ToSlash(root), "/")+"/")
	return rest, ok && rest != ""
}

// leadsOut reports the refusal of an os.Root to leave its directory, which is the only error of it that is no errno.
func leadsOut(err error) bool {
	var errno syscall.Errno
	return err != nil && !errors.As(err, &errno) && !errors.Is(err, fs.ErrClosed) && !errors.Is(err, fs.ErrNotExist)
}

// located is an existing thing that the rules let in.
type located struct {
	// target is the path to open: another than the page's own where that is a symbolic link.
	target string
	info   fs.FileInfo
}

// locate finds what a path below the root leads to, by the rules by which a listing finds it. It gives errExcluded for what
// exists and would not be listed, and the system's own error for what doesn't exist.
func (t *tree) locate(name string) (located, error) {
	if err := t.checkParents(name); err != nil {
		return located{}, err
	}
	info, err := t.root.Lstat(name)
	if err != nil {
		return located{}, err
	}
	target := name
	if info.Mode().Type() == fs.ModeSymlink {
		if target, info, err = t.followPage(name); err != nil {
			return located{}, err
		}
	}
	if hasHidden(name) || (!info.IsDir() && !isPageName(path.Base(name))) {
		return located{}, errExcluded
	}
	return located{target: target, info: info}, nil
}

// followPage is follow for a page: a link to a directory, or to itself, is none.
func (t *tree) followPage(name string) (string, fs.FileInfo, error) {
	target, info, err := t.follow(name)
	if errors.Is(err, syscall.ELOOP) || (err == nil && info.IsDir()) {
		return "", nil, errExcluded
	}
	return target, info, err
}

// checkParents refuses a path that goes through a symbolic link, since linked directories are never listed.
func (t *tree) checkParents(name string) error {
	for i := range len(name) {
		if name[i] != '/' {
			continue
		}
		info, err := t.root.Lstat(name[:i])
		if err != nil {
			return err
		}
		if info.Mode().Type() != fs.ModeSymlink {
			continue
		}
		if _, err := t.root.Stat(name); vanished(err) {
			return err
		}
		return errExcluded
	}
	return nil
}
