package gdrive_test

import (
	"path"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/text/unicode/norm"

	"github.com/loresync/loresync/internal/source"
	"github.com/loresync/loresync/internal/source/gdrive"
	"github.com/loresync/loresync/internal/source/gdrive/drivetest"
	"github.com/loresync/loresync/internal/source/sourcetest"
)

func TestDriveConformsToSource(t *testing.T) {
	t.Parallel()
	for what, kind := range map[string]kind{
		"docs":           {options: drivetest.Options{}},
		"text files":     {files: true},
		"a shared drive": {shared: true},
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			sourcetest.Run(t, func(t *testing.T) sourcetest.Fixture {
				t.Helper()
				return newTree(t, kind)
			})
		})
	}
}

// kind is what the pages of a fixture are, and where.
type kind struct {
	options drivetest.Options
	files   bool
	shared  bool
}

// tree is a root as the conformance suite sees it: a page is a Doc or a text file, a container a folder.
type tree struct {
	*office

	kind kind
	ids  map[string]string
	heal map[string]func()
}

func newTree(tb testing.TB, k kind) *tree {
	tb.Helper()
	s := newOffice(tb, k.options)
	if k.shared {
		id, err := s.AddDrive("Company")
		require.NoError(tb, err)
		s.root = s.at(s.folder(id, "Handbook"))
	}
	return &tree{office: s, kind: k, ids: map[string]string{}, heal: map[string]func(){}}
}

func (s *tree) Source() source.Source { return s.src }

func (s *tree) Root() source.Root { return s.root }

// parent makes the folders above a path.
func (s *tree) parent(at string) string {
	dir := path.Dir(at)
	if dir == "." {
		return s.root.Ref
	}
	if id, made := s.ids["folder "+dir]; made {
		return id
	}
	id := s.folder(s.parent(dir), path.Base(dir))
	s.ids["folder "+dir] = id
	return id
}

// literal is a text in Markdown that says just that.
func literal(text string) string {
	var out strings.Builder
	for _, r := range text {
		if r < 0x80 && strings.ContainsRune("!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~", r) {
			out.WriteByte('\\')
		}
		out.WriteRune(r)
	}
	return out.String()
}

func (s *tree) Put(at, text string) string {
	id, made := s.ids[at]
	switch {
	case made && s.kind.files:
		s.did(s.EditFile(id, []byte(text)))
	case made:
		s.did(s.EditDoc(id, literal(text)))
	case s.kind.files:
		s.ids[at] = s.file(s.parent(at), path.Base(at), "text/plain", text)
	default:
		s.ids[at] = s.doc(s.parent(at), path.Base(at), literal(text))
	}
	return s.ids[at]
}

func (s *tree) Remove(at string) {
	s.did(s.Delete(s.ids[at]))
	delete(s.ids, at)
}

func (s *tree) Rename(from, to string) string {
	id := s.ids[from]
	s.did(s.Move(id, s.parent(to)))
	s.did(s.Server.Rename(id, path.Base(to)))
	delete(s.ids, from)
	s.ids[to] = id
	return id
}

// Allows leaves out of Docs what their text can't hold, since the suite's texts repeat the titles.
func (s *tree) Allows(at string) bool {
	if s.kind.files {
		return true
	}
	for name := range strings.SplitSeq(at, "/") {
		if strings.TrimSpace(name) != name {
			return false
		}
	}
	return norm.NFC.String(at) == at
}

// Break makes Drive refuse a folder, which it does by name and in lists.
func (s *tree) Break(at string) {
	s.heal[at] = s.Fail(naming(s.ids["folder "+at]), 0, drivetest.Refuse(drivetest.InsufficientFile))
}

func (s *tree) Heal(at string) { s.heal[at]() }

func (s *tree) MoveRootAway() { s.did(s.Trash(s.root.Ref)) }

func (s *tree) MoveRootBack() { s.did(s.Restore(s.root.Ref)) }

// naming chooses requests that name a file in their path or in their query.
func naming(id string) drivetest.Match {
	return func(r drivetest.Request) bool { return r.ID == id || strings.Contains(r.Query.Get("q"), id) }
}

var (
	_ sourcetest.Breaker   = (*tree)(nil)
	_ sourcetest.Namer     = (*tree)(nil)
	_ sourcetest.RootMover = (*tree)(nil)
	_ source.Watcher       = (*gdrive.Source)(nil)
)
