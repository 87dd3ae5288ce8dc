package local

import (
	"bufio"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// startOwner runs the test binary as another process that owns both servers, and returns it with their process ids.
func startOwner(t *testing.T, dir string) (owner *exec.Cmd, servers []int) {
	t.Helper()
	owner = exec.CommandContext(t.Context(), os.Args[0])
	owner.Env = append(os.Environ(), ownerDir+"="+dir, "OWNER_POSTGRES="+postgresBin(t), "OWNER_TEMPORAL="+temporalCLI(t))
	owner.Stderr = os.Stderr
	output, err := owner.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, owner.Start())
	line, err := bufio.NewReader(output).ReadString('\n')
	require.NoError(t, err)
	for word := range strings.FieldsSeq(line) {
		pid, err := strconv.Atoi(word)
		require.NoError(t, err)
		servers = append(servers, pid)
	}
	require.Len(t, servers, 2)
	return owner, servers
}

func TestOwnerKilled(t *testing.T) {
	t.Parallel()
	dir := openDir(t)
	owner, servers := startOwner(t, dir)
	var inUse *InUseError
	require.ErrorAs(t, EndLeftovers(t.Context(), dir), &inUse)
	assert.Equal(t, owner.Process.Pid, inUse.PID, "a living owner is named")

	require.NoError(t, owner.Process.Kill())
	require.Error(t, owner.Wait())
	if runtime.GOOS == "linux" {
		for _, pid := range servers {
			assert.Eventually(t, func() bool { return !alive(pid) }, eventually, soon, "the kernel ends the servers of a killed owner")
		}
	}
	require.NoError(t, EndLeftovers(t.Context(), dir))
	for _, pid := range servers {
		assert.False(t, alive(pid))
	}

	postgres := startPostgres(t, dir)
	temporal := startTemporal(t, TemporalOptions{DataDir: dir})
	assert.True(t, alive(postgres.Pid()))
	assert.True(t, alive(temporal.Pid()))
}

func TestRecordedLeavesStrangersAlone(t *testing.T) {
	t.Parallel()
	path := pidFile(t.TempDir(), temporalServer)
	stranger := strconv.Itoa(os.Getpid())
	require.NoError(t, os.WriteFile(path, []byte(stranger+"\n/usr/bin/temporal server start-dev\n"), 0o600))
	assert.Zero(t, recorded(path), "the number belongs to another program now")
	require.NoError(t, os.WriteFile(path, []byte(stranger+"\n"), 0o600))
	assert.Zero(t, recorded(path), "an empty command line proves nothing")
	assert.Zero(t, recorded(path+".missing"))
}
