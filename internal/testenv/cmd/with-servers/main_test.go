package main

import (
	"bufio"
	"context"
	"net"
	"net/url"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/loresync/loresync/internal/testenv"
)

// asCommand makes a run of the test binary the command itself.
const asCommand = "LORESYNC_WITH_SERVERS_TEST"

func TestMain(m *testing.M) {
	if os.Getenv(asCommand) == "" {
		m.Run()
		return
	}
	main()
}

func withServers(ctx context.Context, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, os.Args[0], args...)
	cmd.Env = append(os.Environ(), asCommand+"=1")
	cmd.Stderr = os.Stderr
	return cmd
}

func TestWithServers(t *testing.T) {
	t.Parallel()
	script := `echo "$` + testenv.DatabaseVariable + ` $` + testenv.TemporalVariable + `"
trap 'exit 7' TERM
while :; do sleep 0.1; done`
	cmd := withServers(t.Context(), "--", "sh", "-c", script)
	output, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	line, err := bufio.NewReader(output).ReadString('\n')
	require.NoError(t, err)
	database, temporal, _ := strings.Cut(strings.TrimSpace(line), " ")
	assert.True(t, answers(t, database, temporal), "both servers answer while the command runs")

	require.NoError(t, cmd.Process.Signal(syscall.SIGTERM))
	require.Error(t, cmd.Wait())
	assert.Equal(t, 7, cmd.ProcessState.ExitCode(), "the command got the signal, and its exit code comes back")
	assert.False(t, answers(t, database, temporal), "both servers are gone")
}

func answers(t *testing.T, database, temporal string) bool {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	address, err := url.Parse(database)
	require.NoError(t, err)
	connection, err := new(net.Dialer).DialContext(ctx, "tcp", temporal)
	if err != nil {
		_, err = new(net.Dialer).DialContext(ctx, "tcp", address.Host)
		assert.Error(t, err)
		return false
	}
	require.NoError(t, connection.Close())
	session, err := pgx.Connect(ctx, database)
	require.NoError(t, err)
	return session.Close(ctx) == nil
}

func TestUsage(t *testing.T) {
	t.Parallel()
	cmd := withServers(t.Context(), "--")
	require.Error(t, cmd.Run())
	assert.Equal(t, exitUsage, cmd.ProcessState.ExitCode())
}
