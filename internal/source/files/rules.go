package files

import (
	"path"
	"strings"

	"github.com/loresync/loresync/internal/source"
)

// formatOf tells what a file holds by its extension, whatever its case; false when such files are no pages.
func formatOf(name string) (source.Format, bool) {
	switch strings.ToLower(path.Ext(name)) {
	case ".md", ".markdown":
		return source.FormatMarkdown, true
	case ".txt":
		return source.FormatText, true
	case ".html", ".htm":
		return source.FormatHTML, true
	default:
		return "", false
	}
}

// lostAndFound is where a file system check puts what it saved. It stands in the root of a mounted disk, readable by the
// administrator alone, and would make every listing of such a root incomplete.
const lostAndFound = "lost+found"

// isHidden reports a dot file or dot directory, where tools keep their own things (.git, .obsidian, .DS_Store).
func isHidden(name string) bool { return strings.HasPrefix(name, ".") || name == lostAndFound }

// hasHidden reports whether any component of a path is hidden.
func hasHidden(name string) bool {
	for part := range strings.SplitSeq(name, "/") {
		if isHidden(part) {
			return true
		}
	}
	return false
}

// isPageName reports whether a file of this name would be listed.
func isPageName(name string) bool {
	_, ok := formatOf(name)
	return ok && !isHidden(name)
}
