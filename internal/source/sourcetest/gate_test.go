package sourcetest_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/loresync/loresync/internal/source"
	"github.com/loresync/loresync/internal/source/files"
	"github.com/loresync/loresync/internal/source/sourcetest"
)

// newRoot gives a root with two pages, read by the files source.
func newRoot(t *testing.T) (source.Source, source.Root) {
	t.Helper()
	dir := t.TempDir()
	for _, name := range []string{"a.md", "b.md"} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte("before"), 0o600))
	}
	return files.New(files.Options{}), source.Root{Ref: dir}
}

func overwrite(t *testing.T, root source.Root, name, content string) {
	t.Helper()
	require.NoError(t, os.WriteFile(filepath.Join(root.Ref, name), []byte(content), 0o600))
}

type outcome struct {
	page source.Page
	err  error
}

func fetchInBackground(ctx context.Context, s source.Source, root source.Root, id string) <-chan outcome {
	done := make(chan outcome, 1)
	go func() {
		page, err := s.Fetch(ctx, root, id)
		done <- outcome{page, err}
	}()
	return done
}

func TestGate(t *testing.T) {
	t.Parallel()
	t.Run("an open gate only counts", func(t *testing.T) {
		t.Parallel()
		inner, root := newRoot(t)
		gate := sourcetest.NewGate(inner)
		_, err := gate.Source().Fetch(t.Context(), root, "a.md")
		require.NoError(t, err)
		require.Equal(t, 1, gate.Begun("a.md"))
		require.Equal(t, 1, gate.Finished("a.md"))
		require.Zero(t, gate.Begun("b.md"))
		require.Equal(t, 1, gate.Begun(""))
	})
	t.Run("a held read sees what the page says once it goes on", func(t *testing.T) {
		t.Parallel()
		inner, root := newRoot(t)
		gate := sourcetest.NewGate(inner)
		gate.Hold("a.md")
		held := fetchInBackground(t.Context(), gate.Source(), root, "a.md")
		require.NoError(t, gate.AwaitBegun(t.Context(), "a.md", 1))
		_, err := gate.Source().Fetch(t.Context(), root, "b.md")
		require.NoError(t, err, "other pages pass")
		require.Zero(t, gate.Finished("a.md"))
		overwrite(t, root, "a.md", "after")
		gate.Open("a.md")
		got := <-held
		require.NoError(t, got.err)
		require.Equal(t, "after", string(got.page.Raw))
	})
	t.Run("a read that is held late has read before", func(t *testing.T) {
		t.Parallel()
		inner, root := newRoot(t)
		faulty := sourcetest.NewFaulty(inner)
		gate := sourcetest.NewGate(faulty.Source())
		gate.HoldLate()
		held := fetchInBackground(t.Context(), gate.Source(), root, "a.md")
		require.Eventually(t, func() bool { return faulty.Calls(sourcetest.OpFetch, "a.md") == 1 }, 5*time.Second, time.Millisecond)
		gate.Open()
		require.NoError(t, (<-held).err)
		require.NoError(t, gate.AwaitFinished(t.Context(), "a.md", 1))
	})
	t.Run("a held read ends with its context unless it is told to ignore it", func(t *testing.T) {
		t.Parallel()
		inner, root := newRoot(t)
		gate := sourcetest.NewGate(inner)
		gate.Hold()
		ctx, cancel := context.WithCancel(t.Context())
		held := fetchInBackground(ctx, gate.Source(), root, "a.md")
		require.NoError(t, gate.AwaitBegun(t.Context(), "", 1))
		cancel()
		require.ErrorIs(t, (<-held).err, context.Canceled)
		gate.IgnoreCancel(true)
		held = fetchInBackground(ctx, gate.Source(), root, "a.md")
		require.NoError(t, gate.AwaitBegun(t.Context(), "a.md", 2))
		require.Equal(t, 1, gate.Finished("a.md"))
		gate.Open()
		require.ErrorIs(t, (<-held).err, context.Canceled, "the source itself still looks")
	})
}

func TestWrappersKeepTheAbilitiesOfTheSource(t *testing.T) {
	t.Parallel()
	inner, root := newRoot(t)
	plain := struct{ source.Source }{inner}
	for _, wrap := range []func(source.Source) source.Source{
		func(s source.Source) source.Source { return sourcetest.NewGate(s).Source() },
		func(s source.Source) source.Source { return sourcetest.NewFaulty(s).Source() },
	} {
		fp, ok := wrap(inner).(source.Fingerprinter)
		require.True(t, ok)
		sum, err := fp.Fingerprint(t.Context(), root, "a.md")
		require.NoError(t, err)
		require.NotEmpty(t, sum)
		_, ok = wrap(inner).(source.ChangeFeed)
		require.False(t, ok)
		_, ok = wrap(plain).(source.Fingerprinter)
		require.False(t, ok)
	}
}

func TestFaulty(t *testing.T) {
	t.Parallel()
	boom := errors.New("boom")
	t.Run("fails as often as it is told to, for the page it is told to", func(t *testing.T) {
		t.Parallel()
		inner, root := newRoot(t)
		faulty := sourcetest.NewFaulty(inner)
		s := faulty.Source()
		faulty.Fail(sourcetest.OpFetch, "a.md", 2, boom)
		for _, want := range []error{boom, boom, nil} {
			_, err := s.Fetch(t.Context(), root, "b.md")
			require.NoError(t, err)
			_, err = s.Fetch(t.Context(), root, "a.md")
			require.Equal(t, want, err)
		}
		require.Equal(t, 3, faulty.Calls(sourcetest.OpFetch, "a.md"))
		require.Equal(t, 6, faulty.Calls(sourcetest.OpFetch, ""))
	})
	t.Run("fails every kind of call until it is healed", func(t *testing.T) {
		t.Parallel()
		inner, root := newRoot(t)
		faulty := sourcetest.NewFaulty(inner)
		calls := map[sourcetest.Op]func(source.Source) error{
			sourcetest.OpCheck: func(s source.Source) error { return s.Check(t.Context(), root) },
			sourcetest.OpList: func(s source.Source) error {
				_, err := s.List(t.Context(), root, "", func(source.Batch) error { return nil })
				return err
			},
			sourcetest.OpFetch: func(s source.Source) error {
				_, err := s.Fetch(t.Context(), root, "a.md")
				return err
			},
			sourcetest.OpPresence: func(s source.Source) error {
				_, err := s.Presence(t.Context(), root, "a.md")
				return err
			},
			sourcetest.OpFingerprint: func(s source.Source) error {
				fp, ok := s.(source.Fingerprinter)
				require.True(t, ok)
				_, err := fp.Fingerprint(t.Context(), root, "a.md")
				return err
			},
		}
		for op, call := range calls {
			faulty.Fail(op, "", sourcetest.Always, boom)
			require.Equal(t, boom, call(faulty.Source()), op)
		}
		faulty.Heal()
		for op, call := range calls {
			require.NoError(t, call(faulty.Source()), op)
		}
	})
	t.Run("ends a listing with another verdict", func(t *testing.T) {
		t.Parallel()
		inner, root := newRoot(t)
		faulty := sourcetest.NewFaulty(inner)
		faulty.EndListings(1, source.Listed{Verdict: source.VerdictCapped, Sentence: "enough"})
		for _, want := range []source.Verdict{source.VerdictCapped, source.VerdictComplete} {
			seen := 0
			listed, err := faulty.Source().List(t.Context(), root, "", func(b source.Batch) error {
				seen += len(b.Entries)
				return nil
			})
			require.NoError(t, err)
			require.Equal(t, want, listed.Verdict)
			require.Equal(t, 2, seen)
		}
	})
}
