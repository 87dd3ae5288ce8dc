package storm

import (
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
)

// shelf is what the generator knows of a folder's files. Versions only grow, over all files of a storm, and a file that keeps
// its version on a move goes to a path that was never used: so no path and no page ever goes back to an older version,
// unless loresync publishes something stale.
type shelf struct {
	folder string
	// docs holds the number and version of each file by its path.
	docs map[string]doc
	// used are all paths that ever held a file.
	used map[string]bool
	// locked are files and directories that can't be read at present.
	locked map[string]bool
}

type doc struct{ number, version int }

var directories = []string{"", "guide", "guide/deep", "rooms", "rooms/a/b"}

func newShelf(folder string) *shelf {
	return &shelf{folder: folder, docs: map[string]doc{}, used: map[string]bool{}, locked: map[string]bool{}}
}

// textOf is what a file holds: a word that only this document has, and the version that the checker reads.
func textOf(d doc) string {
	return fmt.Sprintf("# Document %d\n\nThis is version %d of subject%d.\n\n## Details\n\nIt was written for a storm, as text number %d.\n",
		d.number, d.version, d.number, d.version)
}

// paths are the files that can be touched: those that no unreadable directory hides.
func (s *shelf) paths() []string {
	found := slices.Sorted(maps.Keys(s.docs))
	return slices.DeleteFunc(found, func(p string) bool { return s.hidden(p) })
}

// hidden tells whether a path lies in a directory that can't be read.
func (s *shelf) hidden(p string) bool {
	for locked := range s.locked {
		if strings.HasPrefix(p, locked+"/") {
			return true
		}
	}
	return false
}

// put gives a path its file, which is readable.
func (s *shelf) put(p string, d doc) {
	s.docs[p], s.used[p] = d, true
	delete(s.locked, p)
}

func (s *shelf) move(from, to string, d doc) {
	delete(s.docs, from)
	delete(s.locked, from)
	s.put(to, d)
}

func (s *shelf) drop(p string) {
	delete(s.docs, p)
	delete(s.locked, p)
}

// fresh makes a path of the directory that was never used.
func (s *shelf) fresh(dir string, n int) string {
	for i := 0; ; i++ {
		p := path.Join(dir, fmt.Sprintf("doc%d-%d.md", n, i))
		if !s.used[p] {
			return p
		}
	}
}

// empty gives the paths that once held a file and hold none now, and that can be written to.
func (s *shelf) empty() []string {
	var found []string
	for _, p := range slices.Sorted(maps.Keys(s.used)) {
		if _, there := s.docs[p]; !there && !s.hidden(p) {
			found = append(found, p)
		}
	}
	return found
}
