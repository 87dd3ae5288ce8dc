package files

import (
	"net/url"
	"path"
	"path/filepath"
	"strings"

	"github.com/loresync/loresync/internal/source"
)

const fileScheme = "file://"

// Resolve understands a file:// URL, an absolute path below the root, and a path relative to the root, which a source id is
// too. It does not look at the disk.
func (*Source) Resolve(root source.Root, ref string) (sourceID string, ok bool) {
	abs, err := Canonical(root.Ref)
	if err != nil {
		return "", false
	}
	ref = strings.Trim(ref, "\t\r\n")
	switch {
	case hasFileScheme(ref):
		sourceID, ok = resolveURL(abs, ref)
	case filepath.IsAbs(ref):
		sourceID, ok = resolveAbsolute(abs, ref)
	case strings.Contains(ref, "://"):
		return "", false
	default:
		sourceID, ok = resolveRelative(ref)
	}
	if !ok || !isPossibleID(sourceID) {
		return "", false
	}
	return sourceID, true
}

func hasFileScheme(ref string) bool {
	return len(ref) >= len(fileScheme) && strings.EqualFold(ref[:len(fileScheme)], fileScheme)
}

func resolveURL(root, ref string) (string, bool) {
	u, err := url.Parse(ref)
	if err != nil || (u.Host != "" && !strings.EqualFold(u.Host, "localhost")) {
		return "", false
	}
	abs := u.Path
	if filepath.VolumeName(root) != "" {
		abs = strings.TrimPrefix(abs, "/")
	}
	return resolveAbsolute(root, abs)
}

func resolveAbsolute(root, abs string) (string, bool) {
	name, ok := cutRoot(root, abs)
	if !ok {
		return "", false
	}
	return idOf(name), true
}

// resolveRelative takes each part as the segment of an id where it is one, and as a file's name otherwise.
func resolveRelative(ref string) (string, bool) {
	clean := path.Clean(ref)
	if ref == "" || clean == "." || clean == ".." || strings.HasPrefix(clean, "../") {
		return "", false
	}
	segments := strings.Split(clean, "/")
	for i, segment := range segments {
		if _, ok := decodeName(segment); !ok && !isHashed(segment) {
			segments[i] = encodeName(segment)
		}
	}
	return strings.Join(segments, "/"), true
}

// isPossibleID reports whether a listing could give out this id.
func isPossibleID(id string) bool {
	if isHashed(id) {
		parent := parentOf(id)
		return parent == "" || isPossibleID(parent)
	}
	name, ok := nameOf(id)
	return ok && len(id) <= maxIDBytes && !hasHidden(name)
}
