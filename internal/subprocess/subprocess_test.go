package subprocess_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/loresync/loresync/internal/subprocess"
)

const patience = 10 * time.Second

func start(t *testing.T, log, script string) *subprocess.Process {
	t.Helper()
	p, err := subprocess.Start(exec.CommandContext(t.Context(), "sh", "-c", script), log, syscall.SIGKILL)
	require.NoError(t, err)
	t.Cleanup(func() {
		if !p.Ended() {
			subprocess.Send(p.Pid, syscall.SIGKILL)
		}
		ended(t, p)
	})
	return p
}

func ended(t *testing.T, p *subprocess.Process) {
	t.Helper()
	select {
	case <-p.Done:
	case <-time.After(patience):
		t.Fatal("the process doesn't end")
	}
}

func TestOutputIsThatOfThisRun(t *testing.T) {
	t.Parallel()
	log := filepath.Join(t.TempDir(), "child.log")
	first := start(t, log, "echo one; echo two >&2; exit 3")
	ended(t, first)
	assert.True(t, first.Ended())
	require.Error(t, first.Err())
	assert.Equal(t, "one\ntwo\n", first.Output())
	second := start(t, log, "echo three")
	ended(t, second)
	require.NoError(t, second.Err())
	assert.Equal(t, "three\n", second.Output())
	whole, err := os.ReadFile(log)
	require.NoError(t, err)
	assert.Equal(t, "one\ntwo\nthree\n", string(whole), "a log is gone on with")
}

func TestOnlyTheLastWordsOfALongOutputAreKept(t *testing.T) {
	t.Parallel()
	p := start(t, filepath.Join(t.TempDir(), "child.log"), "head -c 100000 /dev/zero | tr '\\0' x; echo; echo last")
	ended(t, p)
	assert.Len(t, p.Output(), 16<<10)
	assert.True(t, strings.HasSuffix(p.Output(), "x\nlast\n"))
}

func TestALargeLogIsSetAside(t *testing.T) {
	t.Parallel()
	log := filepath.Join(t.TempDir(), "child.log")
	require.NoError(t, os.WriteFile(log, nil, 0o600))
	require.NoError(t, os.Truncate(log, 16<<20+1))
	ended(t, start(t, log, "echo fresh"))
	whole, err := os.ReadFile(log)
	require.NoError(t, err)
	assert.Equal(t, "fresh\n", string(whole))
	assert.FileExists(t, log+".1")
}

func TestAKillReachesTheWholeGroup(t *testing.T) {
	t.Parallel()
	pipe := filepath.Join(t.TempDir(), "pipe")
	require.NoError(t, syscall.Mkfifo(pipe, 0o600))
	// The grandchild holds the pipe open: that it is closed says that the grandchild is gone.
	p := start(t, filepath.Join(t.TempDir(), "child.log"), "sleep 600 > "+pipe+" & wait")
	reader, err := os.Open(pipe)
	require.NoError(t, err)
	defer func() { assert.NoError(t, reader.Close()) }()
	subprocess.Send(p.Pid, syscall.SIGKILL)
	require.NoError(t, reader.SetReadDeadline(time.Now().Add(patience)))
	n, err := reader.Read(make([]byte, 1))
	assert.Zero(t, n)
	require.Error(t, err)
	require.NotErrorIs(t, err, os.ErrDeadlineExceeded)
	subprocess.Send(p.Pid, syscall.SIGTERM) // of a process that is gone
}

func TestWhatCantBeStartedIsAnError(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	_, err := subprocess.Start(exec.CommandContext(t.Context(), filepath.Join(dir, "none")), filepath.Join(dir, "log"), syscall.SIGKILL)
	require.ErrorIs(t, err, os.ErrNotExist)
	_, err = subprocess.Start(exec.CommandContext(t.Context(), "true"), filepath.Join(dir, "no", "log"), syscall.SIGKILL)
	require.ErrorContains(t, err, "open a log")
}
