package files

import (
	"io/fs"
	"net/url"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/loresync/loresync/internal/source"
)

// place is a directory on the way down from the root.
type place struct {
	parent *place
	// name is the path to open, empty for the root; id and url are what its entry says.
	name string
	id   string
	url  string
	// listed is set once its entry, and those of all above it, have been given out. The root has none to give.
	listed bool
}

func rootPlace(abs string) *place {
	return &place{url: fileURL(abs), listed: true}
}

// child is a directory in this one.
func (p *place) child(name, segment string) *place {
	return &place{parent: p, name: childOf(p.name, name), id: childOf(p.id, segment), url: p.url + "/" + url.PathEscape(name)}
}

// container is the directory's own entry. It has no version: nothing of it is read, and its time changes with every file.
func (p *place) container() source.Entry {
	return source.Entry{
		SourceID: p.id, ParentSourceID: p.parent.id, Kind: source.KindContainer,
		Title: printable(path.Base(p.name)), URL: p.url, Path: p.id,
	}
}

// document is the entry of a file in this directory.
func (p *place) document(name, segment string) source.Entry {
	id := childOf(p.id, segment)
	return source.Entry{
		SourceID: id, ParentSourceID: p.id, Kind: source.KindDocument,
		Title: titleOf(name), URL: p.url + "/" + url.PathEscape(name), Path: id,
	}
}

// stamp is the part of a file's state that its entry needs. A listing keeps one for each file of a directory, so it is much
// smaller than an fs.FileInfo.
type stamp struct {
	mode     fs.FileMode
	size     int64
	modified time.Time
	changed  int64
	inode    uint64
}

func stampOf(info fs.FileInfo) stamp {
	changed, inode := changeStamp(info)
	return stamp{mode: info.Mode(), size: info.Size(), modified: info.ModTime(), changed: changed, inode: inode}
}

// version changes whenever the system noticed a write, a replacement or a change of rights: size, time of the last write,
// time of the last change of the inode, and its number.
func (s stamp) version() string {
	b := make([]byte, 0, 64)
	b = strconv.AppendInt(b, s.size, 16)
	b = append(b, '-')
	b = strconv.AppendInt(b, s.modified.UnixNano(), 16)
	b = append(b, '-')
	b = strconv.AppendInt(b, s.changed, 16)
	b = append(b, '-')
	b = strconv.AppendUint(b, s.inode, 16)
	return string(b)
}

// describe adds what the file's state tells to its entry.
func describe(entry source.Entry, s stamp, limit int64) source.Entry {
	entry.Version = s.version()
	entry.EditedAt = s.modified.UTC()
	switch {
	case !s.mode.IsRegular():
		entry.Skip = irregular(s.mode)
	case s.size > limit:
		entry.Skip = tooLarge(s.size, limit)
	}
	return entry
}

// placeOf gives a directory by its path below the root (empty for the root itself), for looking at one page without a walk.
func placeOf(abs, dir string) *place {
	p := rootPlace(abs)
	for name := range strings.SplitSeq(dir, "/") {
		if name != "" {
			p = p.child(name, encodeName(name))
		}
	}
	return p
}

// titleOf is the file's name without its extension. A better one, from the text itself, is found when the page is read.
func titleOf(name string) string {
	if title := strings.TrimSuffix(name, path.Ext(name)); title != "" {
		return printable(title)
	}
	return printable(name)
}

// fileURL gives the file:// URL of an absolute path, without a slash at its end.
func fileURL(abs string) string {
	segments := strings.Split(strings.Trim(filepath.ToSlash(abs), "/"), "/")
	var b strings.Builder
	b.WriteString("file://")
	for _, segment := range segments {
		if segment == "" {
			continue
		}
		b.WriteByte('/')
		b.WriteString(url.PathEscape(segment))
	}
	return b.String()
}
