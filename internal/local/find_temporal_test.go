package local

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestCheckServerVersion(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		output string
		want   error
	}{
		"takes a release":                {"temporal version 1.5.1 (Server 1.29.1, UI 2.42.1)\n", nil},
		"takes one built from source":    {"temporal version 0.0.0-DEV (Server 1.29.1, UI 2.42.1)", nil},
		"takes the oldest that is fine":  {"temporal version 1.3.0 (Server 1.27.0, UI 2.36.0)", nil},
		"takes the next major":           {"temporal version 9.0.0 (Server 2.0.0, UI 3.0.0)", nil},
		"refuses an older server":        {"temporal version 1.1.0 (Server 1.25.0, UI 2.30.3)", errOldTemporal},
		"refuses one without any server": {"tctl version 1.18.0", errNoServerVersion},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			assert.ErrorIs(t, checkServerVersion(test.output), test.want)
		})
	}
}

// machine is a computer that has just the given programs on its PATH.
type machine struct {
	dir string
}

func newMachine(t *testing.T, programs map[string]string) machine {
	t.Helper()
	m := machine{dir: t.TempDir()}
	for name, script := range programs {
		program(t, filepath.Join(m.dir, name), script)
	}
	return m
}

func (m machine) lookPath(name string) (string, error) {
	path := filepath.Join(m.dir, filepath.Base(name))
	if filepath.IsAbs(name) {
		path = name
	}
	if _, err := os.Stat(path); err != nil {
		return "", fmt.Errorf("%s: %w", name, exec.ErrNotFound)
	}
	return path, nil
}

func program(t *testing.T, path, script string) {
	t.Helper()
	require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
	require.NoError(t, os.WriteFile(path, []byte("#!/bin/sh\n"+script+"\n"), 0o755))
}

func printing(text string) string {
	return "echo '" + text + "'"
}

// goodCLI and oldCLI answer --version like a real one.
var (
	goodCLI = printing("temporal version 1.5.1 (Server 1.29.1, UI 2.42.1)")
	oldCLI  = printing("temporal version 1.1.0 (Server 1.25.0, UI 2.30.3)")
)

// fakeGo builds a CLI that works, slowly enough for others to meet it, and counts its runs.
const fakeGo = `echo run >> "$(dirname "$0")/runs"
test -z "$(echo "$GOFLAGS" | grep -e -mod)" || exit 3
sleep 0.3
printf '#!/bin/sh\necho "temporal version 1.5.1 (Server 1.29.1, UI 2.42.1)"\n' > "$GOBIN/temporal"
chmod +x "$GOBIN/temporal"`

func (m machine) temporalFinder(search TemporalSearch) *temporalFinder {
	return &temporalFinder{TemporalSearch: search, lookPath: m.lookPath, every: 50 * time.Millisecond}
}

func TestFindTemporal(t *testing.T) {
	t.Parallel()
	t.Run("takes the one on PATH", func(t *testing.T) {
		t.Parallel()
		m := newMachine(t, map[string]string{"temporal": goodCLI})
		path, err := m.temporalFinder(TemporalSearch{BinDir: t.TempDir()}).find(t.Context())
		require.NoError(t, err)
		assert.Equal(t, filepath.Join(m.dir, "temporal"), path)
	})
	t.Run("leaves an old one on PATH alone and takes the one built before", func(t *testing.T) {
		t.Parallel()
		m := newMachine(t, map[string]string{"temporal": oldCLI})
		bin := t.TempDir()
		program(t, filepath.Join(bin, "temporal"), goodCLI)
		var progress bytes.Buffer
		path, err := m.temporalFinder(TemporalSearch{BinDir: bin, Progress: &progress}).find(t.Context())
		require.NoError(t, err)
		assert.Equal(t, filepath.Join(bin, "temporal"), path)
		assert.Contains(t, progress.String(), "left alone")
	})
	t.Run("refuses a named one that is too old", func(t *testing.T) {
		t.Parallel()
		m := newMachine(t, map[string]string{"temporal": goodCLI, "mine": oldCLI})
		_, err := m.temporalFinder(TemporalSearch{CLI: filepath.Join(m.dir, "mine")}).find(t.Context())
		assert.ErrorIs(t, err, errOldTemporal)
	})
	t.Run("says what to install when there is neither a CLI nor Go", func(t *testing.T) {
		t.Parallel()
		_, err := newMachine(t, nil).temporalFinder(TemporalSearch{BinDir: t.TempDir()}).find(t.Context())
		require.ErrorIs(t, err, ErrNoTemporal)
		assert.Contains(t, err.Error(), "install it")
	})
}

func TestBuildTemporal(t *testing.T) {
	t.Parallel()
	t.Run("builds once for all who search at the same time and says that it lives", func(t *testing.T) {
		t.Parallel()
		m := newMachine(t, map[string]string{"go": fakeGo})
		bin := filepath.Join(t.TempDir(), "bin")
		var group sync.WaitGroup
		progress := make([]bytes.Buffer, 4)
		for i := range progress {
			group.Go(func() {
				path, err := m.temporalFinder(TemporalSearch{BinDir: bin, Progress: &progress[i]}).find(t.Context())
				if assert.NoError(t, err) {
					assert.Equal(t, filepath.Join(bin, "temporal"), path)
				}
			})
		}
		group.Wait()
		runs, err := os.ReadFile(filepath.Join(m.dir, "runs"))
		require.NoError(t, err)
		assert.Equal(t, "run\n", string(runs))
		var all strings.Builder
		for i := range progress {
			all.WriteString(progress[i].String())
		}
		assert.Contains(t, all.String(), "two to four minutes")
		assert.Contains(t, all.String(), "Still building")
		assert.Contains(t, all.String(), "Waiting for another process")
		left, err := filepath.Glob(filepath.Join(bin, ".temporal-build-*"))
		require.NoError(t, err)
		assert.Empty(t, left)
	})
	t.Run("names the reason when the build fails", func(t *testing.T) {
		t.Parallel()
		m := newMachine(t, map[string]string{"go": "echo 'no route to host' >&2; exit 1"})
		_, err := m.temporalFinder(TemporalSearch{BinDir: t.TempDir()}).find(t.Context())
		require.ErrorIs(t, err, errBuild)
		assert.Contains(t, err.Error(), "no route to host")
	})
	t.Run("ends the build when it is called off", func(t *testing.T) {
		t.Parallel()
		m := newMachine(t, map[string]string{"go": `echo $$ > "$(dirname "$0")/pid"; sleep 60`})
		ctx, cancel := context.WithCancel(t.Context())
		go func() {
			assert.Eventually(t, func() bool { return readPID(filepath.Join(m.dir, "pid")) != 0 }, eventually, soon)
			cancel()
		}()
		_, err := m.temporalFinder(TemporalSearch{BinDir: t.TempDir()}).find(ctx)
		require.ErrorIs(t, err, context.Canceled)
		assert.False(t, alive(readPID(filepath.Join(m.dir, "pid"))))
	})
}

func TestInstallEnv(t *testing.T) {
	t.Parallel()
	env := installEnv([]string{"HOME=/h", "GOFLAGS=-mod=vendor -buildvcs=false -modfile=x.mod", "GOBIN=/old", "GOOS=plan9"}, "/new")
	assert.Equal(t, []string{"HOME=/h", "GOFLAGS=-buildvcs=false", "GOBIN=/new", "GOWORK=off"}, env)
}

func TestSpareCompilers(t *testing.T) {
	t.Parallel()
	flags, env := spareCompilers(2)
	assert.Equal(t, []string{"-p", "3"}, flags, "one more compiler than cores, whatever GOMAXPROCS says")
	assert.Equal(t, []string{"GOGC=400", "GOMAXPROCS=1"}, env)
	flags, env = spareCompilers(16)
	assert.Equal(t, []string{"-p", "17"}, flags)
	assert.Equal(t, []string{"GOGC=400"}, env, "with many cores the large packages want several")
}
