package files

import (
	"errors"
	"io/fs"
	"sort"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/loresync/loresync/internal/source"
)

// cursor is where a listing stopped and what it must not forget: the last entry given out, which directory the root was,
// and that a part of it could not be read. It is written as
//
//	f4a3e1/guides/first.md//guides/closed
//
// f for a document or d for a container, the root's inode in hexadecimal, the source id, and behind an empty segment, which
// no id holds, the unread directory.
type cursor struct {
	kind   source.Kind
	inode  uint64
	id     string
	unread string
}

// maxUnreadBytes keeps a cursor, whose id has at most maxIDBytes and some, far below the 4 KiB that callers store.
const maxUnreadBytes = 400

var errCursor = errors.New("malformed cursor")

func (c cursor) String() string {
	kind := "f"
	if c.kind == source.KindContainer {
		kind = "d"
	}
	s := kind + strconv.FormatUint(c.inode, 16) + "/" + c.id
	if c.unread != "" {
		s += "//" + shorten(c.unread, maxUnreadBytes)
	}
	return s
}

func parseCursor(s string) (cursor, error) {
	head, rest, ok := strings.Cut(s, "/")
	if !ok || len(head) < 2 {
		return cursor{}, errCursor
	}
	kind := source.KindDocument
	if head[0] == 'd' {
		kind = source.KindContainer
	}
	inode, err := strconv.ParseUint(head[1:], 16, 64)
	if err != nil || !strings.ContainsRune("fd", rune(head[0])) {
		return cursor{}, errCursor
	}
	id, unread, _ := strings.Cut(rest, "//")
	if id == "" {
		return cursor{}, errCursor
	}
	return cursor{kind: kind, inode: inode, id: id, unread: unread}, nil
}

// sameRoot reports whether the root is still the directory it was when the cursor was given out. The device is left out,
// since another worker may have mounted the same directory under another number.
func (c cursor) sameRoot(info fs.FileInfo) bool {
	_, inode := changeStamp(info)
	return c.inode == inode
}

func (c cursor) position() position {
	return position{segments: strings.Split(c.id, "/"), kind: c.kind}
}

// shorten cuts a text to at most n bytes without splitting a character.
func shorten(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}

// position is the last entry given out, seen from a directory on the way to it; the zero value is the start. What it names
// need not exist any more.
type position struct {
	segments []string
	kind     source.Kind
}

// atFile reports whether the position is a file in this very directory.
func (p position) atFile() bool {
	return len(p.segments) == 1 && p.kind == source.KindDocument
}

// files gives those of a directory's files that come after the position.
func (p position) files(sorted []child) []child {
	switch {
	case len(p.segments) == 0:
		return sorted
	case p.atFile():
		return sorted[sort.Search(len(sorted), func(i int) bool { return sorted[i].segment > p.segments[0] }):]
	default:
		return nil
	}
}

// dirs gives those of a directory's directories that come after the position or hold it.
func (p position) dirs(sorted []child) []child {
	if len(p.segments) == 0 || p.atFile() {
		return sorted
	}
	return sorted[sort.Search(len(sorted), func(i int) bool { return sorted[i].segment >= p.segments[0] }):]
}

// into gives the position as seen from a directory below; passed when the entry of that directory was given out before.
func (p position) into(segment string) (inside position, passed bool) {
	if len(p.segments) == 0 || p.atFile() || p.segments[0] != segment {
		return position{}, false
	}
	return position{segments: p.segments[1:], kind: p.kind}, true
}
