package testenv_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/loresync/loresync/internal/testenv"
)

// panicVariable makes a run of the test binary start servers of its own and panic.
const panicVariable = "LORESYNC_TESTENV_TEST_PANIC"

func leaveServersBehind() {
	servers, err := testenv.StartServers(context.Background())
	if err != nil {
		panic(err)
	}
	fmt.Fprintln(os.Stdout, servers.DatabaseURL)
	_ = os.Stdout.Sync()
	panic("as a test may")
}

func TestServersEndWithAPanic(t *testing.T) {
	t.Parallel()
	temp := openDir(t)
	panicking := exec.CommandContext(t.Context(), os.Args[0])
	panicking.Env = append(os.Environ(), panicVariable+"=1", "TMPDIR="+temp)
	output, err := panicking.Output()
	require.Error(t, err)
	url, _, _ := strings.Cut(string(output), "\n")
	require.Contains(t, url, "postgres://")
	if runtime.GOOS == "linux" {
		testenv.Eventually(t, 20*time.Second, func() bool {
			connection, err := pgx.Connect(t.Context(), url)
			if err == nil {
				_ = connection.Close(t.Context())
			}
			return err != nil
		}, "the Postgres ends with its test binary")
	}
}

// openDir is a temporary directory that any account may pass through.
func openDir(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	require.NoError(t, os.Chmod(filepath.Dir(dir), 0o711))
	return dir
}
