package files_test

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/loresync/loresync/internal/source"
	"github.com/loresync/loresync/internal/source/files"
)

func TestListing(t *testing.T) {
	t.Parallel()
	t.Run("holds pages and the directories that hold them, files first, in byte order", func(t *testing.T) {
		t.Parallel()
		d := newDir(t)
		for _, name := range []string{
			"b.md", "B.MD", "a.Markdown", "z.txt", "guide/x.html", "guide/x.htm", "guide/sub/deep/y.md", "guide.md", "empty.md",
			"image.png", "README", "assets/logo.svg", ".hidden.md", ".git/config.md", "lost+found/x.md", "guide/.obsidian/z.md",
		} {
			d.write(name, "text")
		}
		require.NoError(t, os.MkdirAll(d.at("hollow/inner"), 0o755))
		ids, entries, listed := d.list(files.New(files.Options{}))
		require.Equal(t, source.Listed{Verdict: source.VerdictComplete}, listed)
		require.Equal(t, []string{
			"B.MD", "a.Markdown", "b.md", "empty.md", "guide.md", "z.txt",
			"guide", "guide/x.htm", "guide/x.html", "guide/sub", "guide/sub/deep", "guide/sub/deep/y.md",
		}, ids)
		require.Equal(t, source.KindContainer, entries["guide/sub"].Kind)
		require.Equal(t, "guide", entries["guide/sub"].ParentSourceID)
		page := entries["guide/sub/deep/y.md"]
		require.Equal(t, "y", page.Title)
		require.Equal(t, "guide/sub/deep/y.md", page.Path)
		require.Equal(t, "file://"+d.path+"/guide/sub/deep/y.md", page.URL)
		info, err := os.Stat(d.at("guide/sub/deep/y.md"))
		require.NoError(t, err)
		require.True(t, info.ModTime().Equal(page.EditedAt))
	})
	t.Run("skips what is too large for the folder", func(t *testing.T) {
		t.Parallel()
		d := newDir(t)
		d.write("small.md", strings.Repeat("x", 100))
		d.write("large.md", strings.Repeat("x", 101))
		root := d.root()
		root.Limits.MaxBytes = 100
		s := files.New(files.Options{MaxBytes: 10})
		_, err := s.List(t.Context(), root, "", func(b source.Batch) error {
			require.Equal(t, "too_large", b.Entries[0].Skip.Class)
			require.Contains(t, b.Entries[0].Skip.Sentence, "101 B")
			require.Nil(t, b.Entries[1].Skip)
			return nil
		})
		require.NoError(t, err)
		_, err = s.Fetch(t.Context(), root, "large.md")
		requireSkip(t, err, "too_large")
	})
	t.Run("needs no right to read the files", func(t *testing.T) {
		t.Parallel()
		d := newDir(t)
		d.write("closed.md", "text")
		require.NoError(t, os.Chmod(d.at("closed.md"), 0))
		s := newUnprivileged(files.Options{})
		ids, entries, listed := d.list(s)
		require.Equal(t, source.VerdictComplete, listed.Verdict)
		require.Equal(t, []string{"closed.md"}, ids)
		require.Nil(t, entries["closed.md"].Skip)
		_, err := s.Fetch(t.Context(), d.root(), "closed.md")
		requireSkip(t, err, "unreadable")
	})
	t.Run("skips a link whose target can't be looked at", func(t *testing.T) {
		t.Parallel()
		d := newDir(t)
		d.write("closed/page.md", "text")
		d.link("closed/page.md", "linked.md")
		require.NoError(t, os.Chmod(d.at("closed"), 0))
		s := newUnprivileged(files.Options{})
		_, entries, listed := d.list(s)
		_, err := s.Fetch(t.Context(), d.root(), "linked.md")
		require.NoError(t, os.Chmod(d.at("closed"), 0o755))
		require.Equal(t, source.VerdictPartUnreadable, listed.Verdict)
		require.Equal(t, "unreadable", entries["linked.md"].Skip.Class)
		requireSkip(t, err, "unreadable")
	})
	t.Run("does not see into a directory of which only the names can be read", func(t *testing.T) {
		t.Parallel()
		d := newDir(t)
		d.write("names/page.md", "text")
		require.NoError(t, os.Chmod(d.at("names"), 0o444))
		_, _, listed := d.list(newUnprivileged(files.Options{}))
		require.NoError(t, os.Chmod(d.at("names"), 0o755))
		require.Equal(t, source.VerdictPartUnreadable, listed.Verdict)
	})
	t.Run("names what could not be read", func(t *testing.T) {
		t.Parallel()
		d := newDir(t)
		d.write("guide/closed/page.md", "text")
		require.NoError(t, os.Chmod(d.at("guide/closed"), 0))
		_, _, listed := d.list(newUnprivileged(files.Options{}))
		require.NoError(t, os.Chmod(d.at("guide/closed"), 0o755))
		require.Equal(t, source.VerdictPartUnreadable, listed.Verdict)
		require.Contains(t, listed.Sentence, "guide/closed")
	})
	t.Run("refuses a place that it never gave out", func(t *testing.T) {
		t.Parallel()
		_, err := files.New(files.Options{}).List(t.Context(), newDir(t).root(), "nonsense", nil)
		requireClass(t, err, source.ClassInvalid)
	})
}

func TestListingHostileNames(t *testing.T) {
	t.Parallel()
	d := newDir(t)
	names := []string{"a\xff.md", "%~a%FF.md", "a%FF.md", "line\nend.md", "tab\there.md", "%~plain.md", "d\xfe/in\xfd.md"}
	for _, name := range names {
		d.write(name, fmt.Sprintf("this is %q", name))
	}
	s := files.New(files.Options{})
	ids, entries, listed := d.list(s)
	require.Equal(t, source.VerdictComplete, listed.Verdict)
	require.Len(t, ids, len(names)+1)
	for _, name := range names {
		id, ok := s.Resolve(d.root(), d.path+"/"+name)
		require.True(t, ok, "%q", name)
		entry, ok := entries[id]
		require.True(t, ok, "%q must be listed as %q", name, id)
		page, err := s.Fetch(t.Context(), d.root(), id)
		require.NoError(t, err)
		require.Equal(t, fmt.Sprintf("this is %q", name), string(page.Raw))
		require.Equal(t, entry, page.Entry)
		fromURL, ok := s.Resolve(d.root(), entry.URL)
		require.True(t, ok)
		require.Equal(t, id, fromURL)
	}
}

func TestListingLongPaths(t *testing.T) {
	t.Parallel()
	d := newDir(t)
	deep := strings.Repeat(strings.Repeat("d", 199)+"/", 9)
	d.write(deep+"fits.md", "text")
	d.write(deep+strings.Repeat("f", 200)+".md", "text")
	d.write(deep+strings.Repeat("e", 199)+"/below.md", "text")
	s := files.New(files.Options{})
	ids, entries, listed := d.list(s)
	require.Equal(t, source.VerdictComplete, listed.Verdict)
	require.Len(t, ids, 9+3)
	skippedIDs := make([]string, 0, 2)
	for _, id := range ids {
		require.Less(t, len(id), 2000)
		if skip := entries[id].Skip; skip != nil {
			require.Equal(t, "unsupported", skip.Class)
			skippedIDs = append(skippedIDs, id)
		}
	}
	require.Len(t, skippedIDs, 2)
	for _, id := range skippedIDs {
		require.Equal(t, source.PresenceAlive, presence(t, s, d, id))
		_, err := s.Fetch(t.Context(), d.root(), id)
		requireSkip(t, err, "unsupported")
		resolved, ok := s.Resolve(d.root(), id)
		require.True(t, ok)
		require.Equal(t, id, resolved)
	}
	d.remove(deep + strings.Repeat("f", 200) + ".md")
	d.remove(deep + strings.Repeat("e", 199))
	for _, id := range skippedIDs {
		require.Equal(t, source.PresenceGone, presence(t, s, d, id))
	}
	d.remove(strings.Repeat("d", 199))
	require.Equal(t, source.PresenceGone, presence(t, s, d, skippedIDs[0]))
}

func TestListingWhileTheRootChanges(t *testing.T) {
	t.Parallel()
	s := files.New(files.Options{BatchSize: 2})
	during := func(d *dir, change func()) source.Listed {
		listed, err := s.List(t.Context(), d.root(), "", func(source.Batch) error {
			if change != nil {
				change()
				change = nil
			}
			return nil
		})
		require.NoError(t, err)
		return listed
	}
	setup := func(t *testing.T) *dir {
		t.Helper()
		d := newDir(t)
		for i := range 5 {
			d.write(fmt.Sprintf("part %d/page.md", i), "text")
		}
		return d
	}
	t.Run("a directory that vanishes is fine", func(t *testing.T) {
		t.Parallel()
		d := setup(t)
		require.Equal(t, source.VerdictComplete, during(d, func() { d.remove("part 4") }).Verdict)
	})
	t.Run("a root that vanishes is missing", func(t *testing.T) {
		t.Parallel()
		d := setup(t)
		require.Equal(t, source.VerdictRootMissing, during(d, func() { require.NoError(t, os.RemoveAll(d.path)) }).Verdict)
	})
	t.Run("a root that is replaced is missing", func(t *testing.T) {
		t.Parallel()
		d := setup(t)
		listed := during(d, func() {
			require.NoError(t, os.Rename(d.path, d.path+".old"))
			require.NoError(t, os.Mkdir(d.path, 0o755))
		})
		require.Equal(t, source.VerdictRootMissing, listed.Verdict)
		require.Contains(t, listed.Sentence, "replaced")
	})
	t.Run("a root that is replaced between two parts is missing", func(t *testing.T) {
		t.Parallel()
		d := setup(t)
		stop, cursor := errors.New("stop"), ""
		_, err := s.List(t.Context(), d.root(), "", func(b source.Batch) error {
			cursor = b.Cursor
			return stop
		})
		require.ErrorIs(t, err, stop)
		require.NoError(t, os.Rename(d.path, d.path+".old"))
		require.NoError(t, os.Mkdir(d.path, 0o755))
		listed, err := s.List(t.Context(), d.root(), cursor, func(source.Batch) error { return nil })
		require.NoError(t, err)
		require.Equal(t, source.VerdictRootMissing, listed.Verdict)
	})
	t.Run("what is added before the place it stopped at is left for the next one", func(t *testing.T) {
		t.Parallel()
		d := setup(t)
		var ids []string
		_, err := s.List(t.Context(), d.root(), "", func(b source.Batch) error {
			d.write("early.md", "text")
			for _, e := range b.Entries {
				ids = append(ids, e.SourceID)
			}
			return nil
		})
		require.NoError(t, err)
		require.Len(t, ids, 10)
	})
}

func TestARootThatIsNoDirectory(t *testing.T) {
	t.Parallel()
	d := newDir(t)
	d.write("file.md", "text")
	s := files.New(files.Options{})
	for ref, want := range map[string]source.Verdict{
		d.at("file.md"):       source.VerdictRootUnreadable,
		d.at("file.md/below"): source.VerdictRootMissing,
		d.at("none"):          source.VerdictRootMissing,
		"":                    source.VerdictRootMissing,
		"a\x00b":              source.VerdictRootMissing,
	} {
		listed, err := s.List(t.Context(), source.Root{Ref: ref}, "", nil)
		require.NoError(t, err)
		require.Equal(t, want, listed.Verdict, ref)
		require.NotEmpty(t, listed.Sentence)
		var failure *source.Failure
		require.ErrorAs(t, s.Check(t.Context(), source.Root{Ref: ref}), &failure, ref)
		require.Equal(t, listed.Sentence, failure.Sentence)
	}
}

func TestAClosedRootIsUnreadable(t *testing.T) {
	t.Parallel()
	d := newDir(t)
	require.NoError(t, os.Chmod(d.path, 0))
	s := newUnprivileged(files.Options{})
	_, _, listed := d.list(s)
	require.Equal(t, source.VerdictRootUnreadable, listed.Verdict)
	requireClass(t, s.Check(t.Context(), d.root()), source.ClassInvalid)
	require.Equal(t, source.PresenceUnknown, presence(t, s, d, "page.md"))
	require.NoError(t, os.Chmod(d.path, 0o755))
}

func TestCanonical(t *testing.T) {
	t.Parallel()
	wd, err := os.Getwd()
	require.NoError(t, err)
	for ref, want := range map[string]string{
		"/srv/docs/": "/srv/docs", "/srv/./a/../docs": "/srv/docs", "/": "/", "docs/": wd + "/docs", ".": wd,
	} {
		abs, err := files.Canonical(ref)
		require.NoError(t, err)
		require.Equal(t, want, abs)
	}
	for _, ref := range []string{"", "a\x00b", "a\nb", "\xff"} {
		_, err := files.Canonical(ref)
		require.Error(t, err, "%q", ref)
	}
}

// TestAHundredThousandFilesInOneDirectory links one file under many names, which is faster than creating them.
func TestAHundredThousandFilesInOneDirectory(t *testing.T) {
	t.Parallel()
	const many = 100_000
	d := newDir(t)
	fill(d, many)
	seen, batches, last := 0, 0, ""
	listed, err := files.New(files.Options{}).List(t.Context(), d.root(), "", func(b source.Batch) error {
		for _, e := range b.Entries {
			require.Less(t, last, e.SourceID)
			last = e.SourceID
		}
		seen += len(b.Entries)
		batches++
		return nil
	})
	require.NoError(t, err)
	require.Equal(t, source.VerdictComplete, listed.Verdict)
	require.Equal(t, many, seen)
	require.Equal(t, many/1000, batches)
}

// fill makes n pages in the root. A file has at most 65,000 names on some file systems, so there is one per 10,000.
func fill(d *dir, n int) {
	d.t.Helper()
	original := ""
	for i := range n {
		name := d.at(fmt.Sprintf("page-%06d.md", i))
		if i%10_000 == 0 {
			original = name
			require.NoError(d.t, os.WriteFile(name, []byte("text"), 0o644))
			continue
		}
		if err := os.Link(original, name); err != nil {
			require.NoError(d.t, err)
		}
	}
}

func BenchmarkList(b *testing.B) {
	const pages = 20_000
	d := newDir(b)
	fill(d, pages)
	s := files.New(files.Options{})
	for b.Loop() {
		if _, err := s.List(b.Context(), d.root(), "", func(source.Batch) error { return nil }); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N)/pages, "µs/file")
}
