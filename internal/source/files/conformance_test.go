package files_test

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/loresync/loresync/internal/source"
	"github.com/loresync/loresync/internal/source/files"
	"github.com/loresync/loresync/internal/source/sourcetest"
)

func TestFilesConformsToSource(t *testing.T) {
	t.Parallel()
	sourcetest.Run(t, func(t *testing.T) sourcetest.Fixture {
		t.Helper()
		return &fixture{dir: newDir(t), src: newUnprivileged(files.Options{BatchSize: 7})}
	})
}

// fixture is a directory as the conformance suite sees it: a page is a Markdown file, a container a directory.
type fixture struct {
	*dir
	src source.Source
}

func (f *fixture) Source() source.Source { return f.src }

func (f *fixture) Root() source.Root { return f.root() }

func (f *fixture) Put(path, text string) string {
	f.write(path+".md", text)
	return f.id(path)
}

func (f *fixture) Remove(path string) { f.remove(path + ".md") }

func (f *fixture) Rename(from, to string) string {
	f.rename(from+".md", to+".md")
	return f.id(to)
}

// id is the path itself but for the few names that are escaped.
func (f *fixture) id(path string) string {
	id, ok := f.src.Resolve(f.root(), f.at(path+".md"))
	require.True(f.t, ok)
	return id
}

func (f *fixture) Break(path string) { require.NoError(f.t, os.Chmod(f.at(path), 0)) }

func (f *fixture) Heal(path string) { require.NoError(f.t, os.Chmod(f.at(path), 0o755)) }

func (f *fixture) MoveRootAway() { require.NoError(f.t, os.Rename(f.path, f.path+".away")) }

func (f *fixture) MoveRootBack() { require.NoError(f.t, os.Rename(f.path+".away", f.path)) }

func (f *fixture) PassTime() {
	time.Sleep(2 * f.src.Traits().EditGranularity) //nolint:forbidigo // the file system's own clock has to move on
}

// Allows leaves out what the file systems of macOS and Windows can't tell apart or hold.
func (*fixture) Allows(path string) bool {
	switch runtime.GOOS {
	case "darwin", "windows":
		return path == strings.ToLower(path) && !strings.ContainsAny(path, `\:*?"<>|`) && !strings.Contains(path, "\u3099")
	default:
		return true
	}
}

// dir is a root of a test's own.
type dir struct {
	t    testing.TB
	path string
}

// newDir gives an empty directory that other users can reach too, which a test's usual one is not.
func newDir(tb testing.TB) *dir {
	tb.Helper()
	base, err := os.MkdirTemp("", "loresync-files-") //nolint:usetesting // other users can't enter TempDir's parent
	require.NoError(tb, err)
	tb.Cleanup(func() { require.NoError(tb, os.RemoveAll(base)) })
	require.NoError(tb, os.Chmod(base, 0o755))
	d := &dir{t: tb, path: filepath.Join(base, "root")}
	require.NoError(tb, os.Mkdir(d.path, 0o755))
	return d
}

func (d *dir) root() source.Root { return source.Root{FolderID: "handbook", Ref: d.path} }

func (d *dir) at(name string) string { return filepath.Join(d.path, filepath.FromSlash(name)) }

func (d *dir) write(name, content string) {
	d.t.Helper()
	require.NoError(d.t, os.MkdirAll(filepath.Dir(d.at(name)), 0o755))
	require.NoError(d.t, os.WriteFile(d.at(name), []byte(content), 0o644))
}

func (d *dir) remove(name string) {
	d.t.Helper()
	require.NoError(d.t, os.RemoveAll(d.at(name)))
}

func (d *dir) rename(from, to string) {
	d.t.Helper()
	require.NoError(d.t, os.MkdirAll(filepath.Dir(d.at(to)), 0o755))
	require.NoError(d.t, os.Rename(d.at(from), d.at(to)))
}

func (d *dir) link(target, name string) {
	d.t.Helper()
	require.NoError(d.t, os.MkdirAll(filepath.Dir(d.at(name)), 0o755))
	require.NoError(d.t, os.Symlink(target, d.at(name)))
}

// list gives a whole listing's entries by id, in their order too.
func (d *dir) list(s source.Source) (ids []string, entries map[string]source.Entry, listed source.Listed) {
	d.t.Helper()
	entries = make(map[string]source.Entry)
	listed, err := s.List(d.t.Context(), d.root(), "", func(b source.Batch) error {
		for _, e := range b.Entries {
			ids = append(ids, e.SourceID)
			entries[e.SourceID] = e
		}
		return nil
	})
	require.NoError(d.t, err)
	return ids, entries, listed
}
