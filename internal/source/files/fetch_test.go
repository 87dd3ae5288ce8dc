package files_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/loresync/loresync/internal/source"
	"github.com/loresync/loresync/internal/source/files"
)

func requireClass(t *testing.T, err error, class source.Class) source.Failure {
	t.Helper()
	var failure *source.Failure
	require.ErrorAs(t, err, &failure)
	require.Equal(t, class, failure.Class, failure.Error())
	require.NotEmpty(t, failure.Sentence)
	return *failure
}

func requireSkip(t *testing.T, err error, class string) {
	t.Helper()
	failure := requireClass(t, err, source.ClassInvalid)
	require.NotNil(t, failure.Skip)
	require.Equal(t, class, failure.Skip.Class)
	require.NotEmpty(t, failure.Skip.Sentence)
}

func TestFetch(t *testing.T) {
	t.Parallel()
	s := files.New(files.Options{})
	t.Run("tells the format by the extension", func(t *testing.T) {
		t.Parallel()
		d := newDir(t)
		for name, want := range map[string]source.Format{
			"a.md": source.FormatMarkdown, "a.MARKDOWN": source.FormatMarkdown, "a.txt": source.FormatText,
			"a.html": source.FormatHTML, "a.Htm": source.FormatHTML,
		} {
			d.write(name, "text")
			page, err := s.Fetch(t.Context(), d.root(), name)
			require.NoError(t, err)
			require.Equal(t, want, page.Format)
		}
	})
	t.Run("skips what is no text", func(t *testing.T) {
		t.Parallel()
		d := newDir(t)
		d.write("nul.md", "text\x00text")
		d.write("latin.md", "caf\xe9")
		_, err := s.Fetch(t.Context(), d.root(), "nul.md")
		requireSkip(t, err, "binary")
		_, err = s.Fetch(t.Context(), d.root(), "latin.md")
		requireSkip(t, err, "invalid_utf8")
		_, err = s.Fingerprint(t.Context(), d.root(), "latin.md")
		requireSkip(t, err, "invalid_utf8")
	})
	t.Run("skips a directory", func(t *testing.T) {
		t.Parallel()
		d := newDir(t)
		d.write("guide.md/page.md", "text")
		_, err := s.Fetch(t.Context(), d.root(), "guide.md")
		requireSkip(t, err, "unsupported")
	})
	t.Run("does not find what can't be a page", func(t *testing.T) {
		t.Parallel()
		d := newDir(t)
		d.write(".hidden.md", "text")
		d.write("image.png", "text")
		for _, id := range []string{
			".hidden.md", "image.png", "../root/page.md", "/etc/passwd", "", ".", "a//b.md", "%~plain.md", "none.md", "image.png/x.md",
		} {
			_, err := s.Fetch(t.Context(), d.root(), id)
			requireClass(t, err, source.ClassNotFound)
		}
	})
	t.Run("reads a large file whole", func(t *testing.T) {
		t.Parallel()
		d := newDir(t)
		content := strings.Repeat("0123456789abcde\n", 200_000)
		d.write("large.txt", content)
		page, err := s.Fetch(t.Context(), d.root(), "large.txt")
		require.NoError(t, err)
		require.True(t, bytes.Equal([]byte(content), page.Raw))
	})
}

func TestFetchingAFileThatKeepsGrowingIsTriedAgainLater(t *testing.T) {
	t.Parallel()
	d := newDir(t)
	d.write("growing.md", strings.Repeat("x", 4<<20))
	f, err := os.OpenFile(d.at("growing.md"), os.O_APPEND|os.O_WRONLY, 0)
	require.NoError(t, err)
	stop, writing := make(chan struct{}), sync.WaitGroup{}
	writing.Go(func() {
		for {
			select {
			case <-stop:
				return
			default:
				_, _ = f.WriteString("y")
			}
		}
	})
	s := files.New(files.Options{MaxBytes: 1 << 30})
	require.Eventually(t, func() bool {
		_, err = s.Fetch(t.Context(), d.root(), "growing.md")
		return err != nil
	}, 30*time.Second, time.Millisecond)
	close(stop)
	writing.Wait()
	require.NoError(t, f.Close())
	failure := requireClass(t, err, source.ClassUnavailable)
	require.Contains(t, failure.Sentence, "keeps changing while it is read")

	page, err := s.Fetch(t.Context(), d.root(), "growing.md")
	require.NoError(t, err)
	require.True(t, strings.HasSuffix(string(page.Raw), "y"))
}

// TestLinks covers what a symbolic link may lead to: only to a file below the root, however it is spelled.
func TestLinks(t *testing.T) {
	t.Parallel()
	d := newDir(t)
	outside := filepath.Join(filepath.Dir(d.path), "outside")
	require.NoError(t, os.Mkdir(outside, 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(outside, "secret.md"), []byte("secret"), 0o644))
	d.write("guide/real.md", "real")
	d.write(".data/real.md", "real")
	followed := map[string]string{
		"relative.md": "guide/real.md", "guide/up.md": "../guide/./real.md", "absolute.md": d.at("guide/real.md"),
		"chain.md": "absolute.md", "hidden-target.md": ".data/real.md",
	}
	excluded := map[string]string{
		"out.md": outside + "/secret.md", "out-relative.md": "../outside/secret.md", "out-chain.md": "out.md", "loop.md": "loop.md",
		"directory.md": "guide", "linked": "guide", "self": ".", "out-directory": outside, "guide/parent": "..",
	}
	for name, target := range followed {
		d.link(target, name)
	}
	for name, target := range excluded {
		d.link(target, name)
	}
	d.link("none.md", "dangling.md")
	s := files.New(files.Options{})

	_, entries, listed := d.list(s)
	require.Equal(t, source.VerdictComplete, listed.Verdict)
	require.Len(t, entries, len(followed)+2, "the links, the file and its directory")
	for name := range followed {
		page, err := s.Fetch(t.Context(), d.root(), name)
		require.NoError(t, err, name)
		require.Equal(t, "real", string(page.Raw))
		require.Equal(t, entries[name], page.Entry)
		require.Equal(t, source.PresenceAlive, presence(t, s, d, name))
	}
	for _, name := range []string{
		"out.md", "out-relative.md", "out-chain.md", "loop.md", "directory.md", "linked", "linked/real.md", "self/guide/real.md",
		"out-directory/secret.md", "guide/parent/guide/real.md",
	} {
		_, err := s.Fetch(t.Context(), d.root(), name)
		requireClass(t, err, source.ClassNotFound)
		require.Equal(t, source.PresenceMoved, presence(t, s, d, name), name)
	}
	for _, name := range []string{"dangling.md", "linked/none.md"} {
		require.Equal(t, source.PresenceGone, presence(t, s, d, name), name)
	}
}

// TestALinkThatIsSwappedNeverLeadsOut exchanges a page for a link out of the root as fast as it can while it is read.
func TestALinkThatIsSwappedNeverLeadsOut(t *testing.T) {
	t.Parallel()
	d := newDir(t)
	secret := filepath.Join(filepath.Dir(d.path), "secret.md")
	require.NoError(t, os.WriteFile(secret, []byte("secret"), 0o644))
	stop, swapping := make(chan struct{}), sync.WaitGroup{}
	swapping.Go(func() {
		for {
			select {
			case <-stop:
				return
			default:
				_ = os.WriteFile(d.at("next"), []byte("harmless"), 0o644)
				_ = os.Rename(d.at("next"), d.at("page.md"))
				_ = os.Symlink(secret, d.at("next"))
				_ = os.Rename(d.at("next"), d.at("page.md"))
			}
		}
	})
	s := files.New(files.Options{})
	for range 2000 {
		page, err := s.Fetch(t.Context(), d.root(), "page.md")
		if err == nil {
			require.NotEqual(t, "secret", string(page.Raw))
		}
	}
	close(stop)
	swapping.Wait()
}
