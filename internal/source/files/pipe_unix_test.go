//go:build unix

package files_test

import (
	"os"
	"sync"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/loresync/loresync/internal/source"
	"github.com/loresync/loresync/internal/source/files"
)

func TestListingSpecialFiles(t *testing.T) {
	t.Parallel()
	d := newDir(t)
	require.NoError(t, syscall.Mkfifo(d.at("pipe.md"), 0o644))
	require.NoError(t, syscall.Mkfifo(d.at("pipe"), 0o644))
	d.link("pipe.md", "linked.md")
	s := files.New(files.Options{})
	ids, entries, listed := d.list(s)
	require.Equal(t, source.VerdictComplete, listed.Verdict)
	require.Equal(t, []string{"linked.md", "pipe.md"}, ids)
	for _, id := range ids {
		require.Equal(t, "unsupported", entries[id].Skip.Class)
		_, err := s.Fetch(t.Context(), d.root(), id)
		requireSkip(t, err, "unsupported")
	}
}

func TestAPipeIsNoRoot(t *testing.T) {
	t.Parallel()
	d := newDir(t)
	require.NoError(t, syscall.Mkfifo(d.at("pipe"), 0o644))
	root := source.Root{Ref: d.at("pipe")}
	listed, err := files.New(files.Options{}).List(t.Context(), root, "", nil)
	require.NoError(t, err)
	require.Equal(t, source.VerdictRootUnreadable, listed.Verdict)
}

// TestAPageThatBecomesAPipeDoesNotBlock reads a page that is exchanged for a pipe without a writer, again and again.
func TestAPageThatBecomesAPipeDoesNotBlock(t *testing.T) {
	t.Parallel()
	d := newDir(t)
	d.write("text", "text")
	require.NoError(t, syscall.Mkfifo(d.at("pipe"), 0o644))
	stop, swapping := make(chan struct{}), sync.WaitGroup{}
	swapping.Go(func() {
		for {
			select {
			case <-stop:
				return
			default:
				_ = os.Link(d.at("text"), d.at("next"))
				_ = os.Rename(d.at("next"), d.at("page.md"))
				_ = os.Link(d.at("pipe"), d.at("next"))
				_ = os.Rename(d.at("next"), d.at("page.md"))
			}
		}
	})
	s := files.New(files.Options{})
	for range 1000 {
		if page, err := s.Fetch(t.Context(), d.root(), "page.md"); err == nil {
			require.Equal(t, "text", string(page.Raw))
		}
	}
	close(stop)
	swapping.Wait()
}
