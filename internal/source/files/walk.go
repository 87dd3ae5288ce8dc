package files

import (
	"cmp"
	"context"
	"errors"
	"io"
	"io/fs"
	"slices"
	"syscall"

	"github.com/loresync/loresync/internal/source"
)

// walker goes through a tree in a fixed order: in each directory first the files, then the directories with what they hold,
// both in the byte order of their id segments. It holds the names in the directories on its way down; it opens no
// file.
type walker struct {
	tree  *tree
	limit int64
	emit  func(source.Entry) error
	// unread is the path of the first thing that could not be read, for people; empty when there was none.
	unread string
}

// child is a name in a directory, with the id segment it is sorted by and its state when the name was read.
type child struct {
	name    string
	segment string
	// long is set when segment is only a hash, since the id would be too long.
	long  bool
	state stamp
}

// readChunk is how many names are read at once, so that a cancelled context is noticed in a directory of any size.
const readChunk = 4096

// walk gives out everything below a directory that comes after the position.
func (w *walker) walk(ctx context.Context, p *place, from position) error {
	dirs, err := w.files(ctx, p, from)
	if err != nil {
		return err
	}
	for _, dir := range from.dirs(dirs) {
		below := p.child(dir.name, dir.segment)
		inside, passed := from.into(dir.segment)
		below.listed = passed
		if err := w.walk(ctx, below, inside); err != nil {
			return err
		}
	}
	return nil
}

// files gives out the files of one directory and returns the directories in it.
func (w *walker) files(ctx context.Context, p *place, from position) ([]child, error) {
	files, dirs, err := w.tree.read(ctx, p.name, p.id)
	if err != nil {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		return nil, w.trouble(p, err)
	}
	for _, file := range from.files(files) {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if err := w.file(p, file); err != nil {
			return nil, err
		}
	}
	return dirs, nil
}

// read gives what may be a page or hold one in a directory, each kind in the order of the walk. The directory is closed
// again before any other is opened, so that a deep tree needs no more open files than a flat one.
//
// A directory opened below an os.Root looks at the state of each file as it reads its name, so that Info costs nothing.
func (t *tree) read(ctx context.Context, name, id string) (files, dirs []child, err error) {
	f, err := t.root.OpenFile(cmp.Or(name, "."), readFlags, 0)
	if err != nil {
		return nil, nil, err
	}
	defer func() { _ = f.Close() }()
	for err == nil {
		if err = ctx.Err(); err != nil {
			break
		}
		var chunk []fs.DirEntry
		chunk, err = f.ReadDir(readChunk)
		files, dirs = sortOut(chunk, id, files, dirs)
	}
	if !errors.Is(err, io.EOF) {
		return nil, nil, err
	}
	slices.SortFunc(files, bySegment)
	slices.SortFunc(dirs, bySegment)
	return files, dirs, nil
}

func bySegment(a, b child) int { return cmp.Compare(a.segment, b.segment) }

// sortOut appends the names that count. A directory whose id would be too long goes among the files, since it becomes one
// skipped entry.
func sortOut(chunk []fs.DirEntry, parentID string, files, dirs []child) (newFiles, newDirs []child) {
	for _, entry := range chunk {
		name, isDir := entry.Name(), entry.IsDir()
		if isHidden(name) || (!isDir && !isPageName(name)) {
			continue
		}
		info, err := entry.Info()
		if err != nil {
			continue
		}
		segment, long := segmentBelow(parentID, name)
		c := child{name: name, segment: segment, long: long, state: stampOf(info)}
		if isDir && !long {
			dirs = append(dirs, c)
		} else {
			files = append(files, c)
		}
	}
	return files, dirs
}

// file gives out the entry of one file. A link that leads nowhere, out of the root or to a directory has none.
func (w *walker) file(p *place, c child) error {
	entry := p.document(c.name, c.segment)
	if c.long {
		entry.Skip = longPath()
		return w.give(p, entry)
	}
	if c.state.mode.Type() != fs.ModeSymlink {
		return w.give(p, describe(entry, c.state, w.limit))
	}
	_, info, err := w.tree.followPage(childOf(p.name, c.name))
	switch {
	case err == nil:
		return w.give(p, describe(entry, stampOf(info), w.limit))
	case errors.Is(err, errExcluded), vanished(err):
		return nil
	case errors.Is(err, fs.ErrPermission):
		entry.Skip = unreadable()
		return w.give(p, entry)
	case exhausted(err):
		return shortage(err)
	}
	w.note(entry.Path)
	return nil
}

// give hands out an entry, after those of the directories above it that had not been given out yet.
func (w *walker) give(p *place, entry source.Entry) error {
	if err := w.announce(p); err != nil {
		return err
	}
	return w.emit(entry)
}

func (w *walker) announce(p *place) error {
	if p.listed {
		return nil
	}
	if err := w.announce(p.parent); err != nil {
		return err
	}
	p.listed = true
	return w.emit(p.container())
}

// trouble decides what becomes of a directory that could not be read. One that vanished meanwhile holds nothing; one that
// can't be read spoils the verdict; the root itself, and a lack of open files, end the walk.
func (w *walker) trouble(p *place, err error) error {
	switch {
	case exhausted(err):
		return shortage(err)
	case p.parent == nil:
		return newRootError(w.tree.path, err)
	case vanished(err), leadsOut(err), errors.Is(err, syscall.ELOOP):
		return nil
	}
	w.note(p.id)
	return nil
}

func (w *walker) note(path string) {
	if w.unread == "" {
		w.unread = path
	}
}

func shortage(err error) error {
	return unavailable("listing the root", "The machine is short of open files or memory; it will be tried again.", err)
}
