package testenv

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestSweepRemovesWhatDeadRunsLeftAndNothingElse(t *testing.T) {
	temp := t.TempDir()
	t.Setenv("TMPDIR", temp)
	long := time.Now().Add(-2 * staleAfter)
	age := func(name string) string {
		dir := filepath.Join(temp, name)
		require.NoError(t, os.MkdirAll(dir, 0o700))
		require.NoError(t, os.Chtimes(dir, long, long))
		return dir
	}
	dead, strange := age(dirPrefix+"dead"), age("other-dead")
	young := filepath.Join(temp, dirPrefix+"young")
	require.NoError(t, os.Mkdir(young, 0o700))
	living := age(dirPrefix + "living")
	hold(t, filepath.Join(living, "temporal.lock"))
	require.NoError(t, os.Chtimes(living, long, long))

	sweep(t.Context())

	assert.NoDirExists(t, dead)
	assert.DirExists(t, strange)
	assert.DirExists(t, young)
	assert.DirExists(t, living)
}

// hold locks a file as the owner of a server does.
func hold(t *testing.T, path string) {
	t.Helper()
	file, err := os.Create(path)
	require.NoError(t, err)
	require.NoError(t, syscall.Flock(int(file.Fd()), syscall.LOCK_EX))
	t.Cleanup(func() { _ = file.Close() })
}
