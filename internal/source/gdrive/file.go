package gdrive

import (
	"strconv"
	"strings"
	"time"
	"unicode"

	"golang.org/x/text/unicode/norm"
	"google.golang.org/api/drive/v3"

	"github.com/loresync/loresync/internal/content/text"
	"github.com/loresync/loresync/internal/knowledge"
	"github.com/loresync/loresync/internal/source"
)

// file is what is kept of a file, folder or shortcut of Drive's.
type file struct {
	id, name, mime string
	parents        []string
	// drive is the shared drive, empty in My Drives.
	drive         string
	version       int64
	md5           string
	sha256        string
	size          int64
	trashed       bool
	url           string
	edited        time.Time
	created       time.Time
	key           string
	sharedWithMe  bool
	locked        bool
	target        target
	owner, editor string
	grants        []grant
	told          bool
}

// target is what a shortcut points to.
type target struct{ id, mime, key string }

const (
	mimeFolder   = "application/vnd.google-apps.folder"
	mimeShortcut = "application/vnd.google-apps.shortcut"
)

func (f file) isFolder() bool { return f.mime == mimeFolder }

func (f file) isShortcut() bool { return f.mime == mimeShortcut }

// fileOf keeps what is needed of Drive's own resource.
func fileOf(in *drive.File) file {
	f := file{
		id: in.Id, name: in.Name, mime: in.MimeType, parents: in.Parents, drive: in.DriveId, version: in.Version, md5: in.Md5Checksum,
		sha256: in.Sha256Checksum, size: in.Size, trashed: in.Trashed, url: in.WebViewLink, edited: timeOf(in.ModifiedTime),
		created: timeOf(in.CreatedTime), key: in.ResourceKey, sharedWithMe: in.SharedWithMeTime != "",
		locked: in.Capabilities != nil && !in.Capabilities.CanDownload, editor: userName(in.LastModifyingUser),
		told: in.Permissions != nil,
	}
	if in.ShortcutDetails != nil {
		f.target = target{id: in.ShortcutDetails.TargetId, mime: in.ShortcutDetails.TargetMimeType, key: in.ShortcutDetails.TargetResourceKey}
	}
	if len(in.Owners) > 0 {
		f.owner = userName(in.Owners[0])
	}
	f.grants = grantsOf(in.Permissions)
	return f
}

// timeOf reads a time of Drive's; one that can't be read is none.
func timeOf(said string) time.Time {
	at, err := time.Parse(time.RFC3339, said)
	if err != nil {
		return time.Time{}
	}
	return at.UTC()
}

func userName(u *drive.User) string {
	if u == nil {
		return ""
	}
	if name := text.Clean(u.DisplayName); name != "" {
		return name
	}
	return text.Clean(u.EmailAddress)
}

// untitled stands for a name with nothing in it that can be seen.
const untitled = "Untitled"

// maxTitle bounds a title in characters.
const maxTitle = 300

// title is a file's name for people: in one normal form, on one line, never empty. Files are told apart by their ids.
func (f file) title() string {
	name := strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, norm.NFC.String(text.Clean(f.name)))
	name = text.Truncate(strings.TrimSpace(name), maxTitle)
	if name == "" {
		return untitled
	}
	return name
}

// hint is what tells that a file may be unchanged. Drive's version alone would do by its documentation; the checksum of a file of
// bytes comes with it, so that a version that lied would be found out.
func (f file) hint() string {
	if f.version == 0 {
		return f.edited.Format(time.RFC3339Nano)
	}
	said := strconv.FormatInt(f.version, 10)
	if f.md5 != "" {
		said += "/" + text.Clean(f.md5)
	}
	return said
}

// placed is a file at its place below the root.
type placed struct {
	file
	// parent is a source id, empty directly below the root, and hidden is set when it can't be told.
	parent string
	hidden bool
	// path is the names from the root down, and depth how many there are.
	path  string
	depth int
	// skip is set for what isn't read, whatever its kind.
	skip *source.Skip
}

// under places a file in a folder.
func (p placed) under(f file) placed {
	at := placed{file: f, parent: p.id, path: p.path + "/" + f.title(), depth: p.depth + 1}
	if p.depth == 0 {
		at.parent, at.path = "", f.title()
	}
	return at
}

// entry is what a listing says about a file.
func (p placed) entry(limits source.Limits) source.Entry {
	e := source.Entry{
		SourceID: p.id, ParentSourceID: p.parent, ParentUnknown: p.hidden, Kind: source.KindDocument, Title: p.title(), URL: text.Clean(p.url),
		Path: p.path, Version: p.hint(), EditedAt: p.edited, FoundBy: knowledge.FoundByListing, Skip: p.skip,
	}
	if p.isFolder() {
		e.Kind = source.KindContainer
	}
	if e.Skip == nil && e.Kind == source.KindDocument {
		e.Skip = skipOf(p.file, limits)
	}
	return e
}
