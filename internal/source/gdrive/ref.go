package gdrive

import (
	"errors"
	"net"
	"net/url"
	"regexp"
	"strings"

	"github.com/loresync/loresync/internal/source"
)

// The roots that have names instead of ids.
const (
	// MyDrive is the connection's own drive.
	MyDrive = "root"
	// SharedWithMe is all that was shared with the connection's account by itself.
	SharedWithMe = "shared-with-me"
)

var (
	errRootForm = errors.New("a Drive root is the URL or id of a folder or shared drive, `root` (My Drive) or `shared-with-me`")
	// anID is what Drive's ids look like: 19 characters for drives, 28 to 44 for files, and nobody promises that for the future.
	anID = regexp.MustCompile(`^[A-Za-z0-9_-]{10,128}$`)
	// aKey is what resource keys look like.
	aKey = regexp.MustCompile(`^[A-Za-z0-9_-]{1,128}$`)
)

// keyMark parts a root's id from its resource key. Both are kept: without the key a folder that was shared by link long ago is not
// found.
const keyMark = "?resourcekey="

// Canonical gives the form of a root's reference that is stored: root, shared-with-me, or an id with its resource key if it has one.
func Canonical(ref string) (string, error) {
	ref = strings.TrimSpace(ref)
	if name := strings.ToLower(ref); name == MyDrive || name == SharedWithMe {
		return name, nil
	}
	if u := addressOf(ref); u != nil {
		if name := namedRoot(u); name != "" {
			return name, nil
		}
	}
	id, key, ok := parseRef(ref)
	switch {
	case !ok:
		return "", errRootForm
	case key != "":
		return id + keyMark + key, nil
	}
	return id, nil
}

// Resolve reads the id out of any form in which people paste a file: the addresses of its editor, of Drive, a bare id.
func (*Source) Resolve(_ source.Root, ref string) (string, bool) {
	id, _, ok := parseRef(strings.TrimSpace(ref))
	return id, ok
}

// namedRoot finds the roots that have an address without an id.
func namedRoot(u *url.URL) string {
	switch last := u.Path[strings.LastIndexByte(strings.TrimRight(u.Path, "/"), '/')+1:]; strings.TrimRight(last, "/") {
	case "my-drive":
		return MyDrive
	case "shared-with-me":
		return SharedWithMe
	}
	return ""
}

// parseRef finds an id, and a resource key with it, in an address or a bare id.
func parseRef(ref string) (id, key string, ok bool) {
	if bare, with, cut := strings.Cut(ref, keyMark); cut && anID.MatchString(bare) && aKey.MatchString(with) {
		return bare, with, true
	}
	u := addressOf(ref)
	if u == nil {
		return ref, "", anID.MatchString(ref) && ref != SharedWithMe
	}
	if id = idIn(u); id == "" {
		return "", "", false
	}
	if key = u.Query().Get("resourcekey"); !aKey.MatchString(key) {
		key = ""
	}
	return id, key, true
}

// addressOf reads an address of Drive's or of a stand-in's, with or without its scheme; nil for everything else.
func addressOf(ref string) *url.URL {
	lower := strings.ToLower(ref)
	if strings.HasPrefix(lower, "drive.google.com/") || strings.HasPrefix(lower, "docs.google.com/") {
		ref = "https://" + ref
	}
	u, err := url.Parse(ref)
	if err != nil || u.Scheme != "https" && u.Scheme != "http" {
		return nil
	}
	host := strings.ToLower(u.Hostname())
	if host == "google.com" || strings.HasSuffix(host, ".google.com") || host == "localhost" || net.ParseIP(host).IsLoopback() {
		return u
	}
	return nil
}

// idIn finds the id behind /d/ or /folders/, or in the query. Published copies, whose addresses go on with /d/e/, have ids that the
// API doesn't know.
func idIn(u *url.URL) string {
	parts := strings.Split(u.Path, "/")
	for i, part := range parts[:len(parts)-1] {
		if part == "d" || part == "folders" {
			return matching(parts[i+1])
		}
	}
	return matching(u.Query().Get("id"))
}

func matching(id string) string {
	if !anID.MatchString(id) {
		return ""
	}
	return id
}

// RootID gives the id of a root's canonical reference, without the resource key that it may bear: root and shared-with-me are
// their own.
func RootID(ref string) string { return refOf(source.Root{Ref: ref}).id }

// rootRef is a root's reference, taken apart.
type rootRef struct{ id, key string }

func refOf(root source.Root) rootRef {
	id, key, _ := strings.Cut(root.Ref, keyMark)
	return rootRef{id: id, key: key}
}
