package local

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// ownerDir makes a run of the test binary an owner of both servers in that directory, for tests that kill it.
const ownerDir = "LORESYNC_LOCAL_TEST_OWNER"

func TestMain(m *testing.M) {
	dir := os.Getenv(ownerDir)
	if dir == "" {
		m.Run()
		return
	}
	if err := runOwner(dir); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// runOwner starts both servers, says their process ids and lives until it is interrupted.
func runOwner(dir string) error {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	postgres, err := StartPostgres(ctx, PostgresOptions{BinDir: os.Getenv("OWNER_POSTGRES"), DataDir: dir, SharedBuffersMB: 16})
	if err != nil {
		return err
	}
	temporal, err := StartTemporal(ctx, TemporalOptions{CLI: os.Getenv("OWNER_TEMPORAL"), DataDir: dir})
	if err != nil {
		return err
	}
	fmt.Fprintln(os.Stdout, postgres.Pid(), temporal.Pid())
	<-ctx.Done()
	return nil
}

// temporalCLI finds the CLI as the tests of all packages do, so that it is built once per checkout.
func temporalCLI(t *testing.T) string {
	t.Helper()
	bin, err := filepath.Abs("../../.loresync/bin")
	require.NoError(t, err)
	path, err := FindTemporal(t.Context(), TemporalSearch{CLI: os.Getenv("LORESYNC_TEMPORAL_CLI"), BinDir: bin, Progress: os.Stderr})
	require.NoError(t, err)
	return path
}

func postgresBin(t *testing.T) string {
	t.Helper()
	bin, err := filepath.Abs("../../.loresync/bin")
	require.NoError(t, err)
	path, err := FindPostgres(t.Context(), PostgresSearch{BinDir: bin, Progress: os.Stderr})
	require.NoError(t, err)
	return path
}

// openDir is a temporary directory that any account may pass through, unlike t.TempDir alone.
func openDir(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	require.NoError(t, os.Chmod(filepath.Dir(dir), 0o711))
	return dir
}

// requireClosed waits for the news of a process's end, which comes a moment after the end.
func requireClosed(t *testing.T, done <-chan struct{}) {
	t.Helper()
	select {
	case <-done:
	case <-time.After(30 * time.Second):
		t.Fatal("the end of the process was not told")
	}
}

func alive(pid int) bool {
	return commandLine(pid) != "" && syscall.Kill(pid, 0) == nil
}

// eventually is long enough for a busy machine.
const eventually, soon = 20 * time.Second, 20 * time.Millisecond
