package main

import (
	"context"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/loresync/loresync/internal/config"
	"github.com/loresync/loresync/internal/local"
	"github.com/loresync/loresync/internal/testenv"
)

// asDev in the environment makes this test binary the program itself, children included.
const asDev = "LORESYNC_TEST_AS_DEV"

// asLauncher in the environment makes this test binary `go run`: it starts the program that the variable names, ends as that
// does, and as failed when it was interrupted itself.
const asLauncher = "LORESYNC_TEST_AS_LAUNCHER"

func playLauncher(program string) {
	interrupts := make(chan os.Signal, 1)
	signal.Notify(interrupts, os.Interrupt)
	command := exec.Command(program, os.Args[1:]...)
	command.Env = append(os.Environ(), asDev+"=1")
	command.Stdin, command.Stdout, command.Stderr = os.Stdin, os.Stdout, os.Stderr
	failed := command.Run() != nil
	select {
	case <-interrupts:
		failed = true
	default:
	}
	if failed {
		os.Exit(1)
	}
	os.Exit(0)
}

// patience covers a first start on a busy machine.
const patience = 2 * time.Minute

func TestMain(m *testing.M) {
	if program := os.Getenv(asLauncher); program != "" && !slices.Contains(os.Environ(), asDev+"=1") {
		playLauncher(program)
	}
	if slices.Contains(os.Environ(), asDev+"=1") {
		main()
		os.Exit(0)
	}
	testenv.Main(m)
}

// running is a dev that a test started.
type running struct {
	command *exec.Cmd
	ended   chan struct{}

	mu     sync.Mutex
	output strings.Builder
}

// Write takes the program's output.
func (r *running) Write(content []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.output.Write(content)
}

func (r *running) said() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.output.String()
}

// startDev runs the program in the checkout, so that it uses the checkout's own copy of the Temporal CLI.
func startDev(t *testing.T, environ []string, args ...string) *running {
	t.Helper()
	r := &running{command: exec.CommandContext(context.WithoutCancel(t.Context()), os.Args[0], args...), ended: make(chan struct{})}
	r.command.Dir = ".."
	r.command.Env = append(append(os.Environ(), asDev+"=1"), environ...)
	r.command.Stdout, r.command.Stderr = r, r
	require.NoError(t, r.command.Start())
	go func() {
		_ = r.command.Wait()
		close(r.ended)
	}()
	t.Cleanup(func() {
		_ = r.command.Process.Kill()
		<-r.ended
		if t.Failed() {
			t.Log(r.said())
		}
	})
	return r
}

// awaitEnd waits for the program's end and gives its exit code.
func (r *running) awaitEnd(t *testing.T) int {
	t.Helper()
	select {
	case <-r.ended:
	case <-time.After(patience):
		t.Fatalf("it didn't end: %s", r.said())
	}
	return r.command.ProcessState.ExitCode()
}

func (r *running) awaitWords(t *testing.T, words string) {
	t.Helper()
	testenv.Eventually(t, patience, func() bool {
		select {
		case <-r.ended:
			require.Contains(t, r.said(), words)
		default:
		}
		return strings.Contains(r.said(), words)
	}, "it says "+words)
}

// dataDir is a directory whose servers, and whose cluster elsewhere, are gone after the test.
func dataDir(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "data dir")
	t.Cleanup(func() {
		// The servers of a killed program need a moment to notice.
		assert.NoError(t, local.RemoveDataDir(context.Background(), dir))
	})
	return dir
}

func settingsIn(t *testing.T, dir string) map[string]string {
	t.Helper()
	values, err := config.ReadEnvFile(filepath.Join(dir, config.EnvFile))
	require.NoError(t, err)
	return values
}

func TestOnceOnGivenServers(t *testing.T) {
	t.Parallel()
	dir, database := filepath.Join(t.TempDir(), "data"), testenv.EmptyDatabase(t)
	environ := []string{"TEMPORAL_NAMESPACE=" + testenv.Namespace(t), "LORESYNC_CANCEL_LADDER=30s"}
	args := []string{"--once", "--data-dir", dir, "--temporal-address", testenv.Temporal(t), "--database-url", database}
	first := startDev(t, environ, args...)
	require.Zero(t, first.awaitEnd(t), first.said())
	assert.Regexp(t, `Done in .*: 17 pages in \d+ chunks are live \(17 new\)`, first.said())
	values := settingsIn(t, dir)
	assert.Equal(t, database, values["LORESYNC_DATABASE_URL"])
	assert.Equal(t, testenv.Temporal(t), values["TEMPORAL_ADDRESS"])
	assert.Equal(t, "30s", values["LORESYNC_CANCEL_LADDER"])
	assert.NotContains(t, first.said(), password(t, database), "no password in the output")

	// What a person changed in the sample is kept and synced.
	require.NoError(t, os.WriteFile(filepath.Join(dir, "sample", "people", "expenses.md"), []byte("# Expenses\n\nAsk Maya."), 0o600))
	second := startDev(t, environ, args...)
	require.Zero(t, second.awaitEnd(t), second.said())
	assert.Contains(t, second.said(), "(1 changed, 16 unchanged)")
	assert.Equal(t, values["LORESYNC_ADMIN_TOKEN"], settingsIn(t, dir)["LORESYNC_ADMIN_TOKEN"], "the token is kept")

	// A root that is gone makes the sync incomplete, and the exit code says so.
	require.NoError(t, os.Rename(filepath.Join(dir, "sample"), filepath.Join(dir, "moved")))
	require.NoError(t, os.Symlink(filepath.Join(dir, "nowhere"), filepath.Join(dir, "sample")))
	third := startDev(t, environ, args...)
	assert.Equal(t, 1, third.awaitEnd(t), third.said())
	assert.Contains(t, third.said(), "the sync is not complete")
}

func password(t *testing.T, address string) string {
	t.Helper()
	parsed, err := url.Parse(address)
	require.NoError(t, err)
	secret, _ := parsed.User.Password()
	return secret
}

func TestAChildThatIsKilledIsStartedAgain(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "data")
	dev := startDev(t, []string{"TEMPORAL_NAMESPACE=" + testenv.Namespace(t)}, "--no-sample", "--workers", "2", "--data-dir", dir,
		"--temporal-address", testenv.Temporal(t), "--database-url", testenv.EmptyDatabase(t))
	dev.awaitWords(t, "Ctrl-C stops all of this")
	pids := regexp.MustCompile(`processes (\d+), (\d+)`).FindStringSubmatch(dev.said())
	require.Len(t, pids, 3)
	require.NoError(t, exec.CommandContext(t.Context(), "kill", "-9", pids[2]).Run())
	dev.awaitWords(t, "worker 2 ended by itself (signal: killed) and was started again")
	require.NoError(t, dev.command.Process.Signal(os.Interrupt))
	assert.Zero(t, dev.awaitEnd(t))
}

func TestStartsAgainAfterBeingKilled(t *testing.T) {
	if testing.Short() {
		t.Skip("starts servers of its own, three times")
	}
	t.Parallel()
	dir := dataDir(t)
	first := startDev(t, nil, "--data-dir", dir)
	first.awaitWords(t, "Ctrl-C stops all of this")
	values := settingsIn(t, dir)
	requireStatus(t, values["LORESYNC_PUBLIC_URL"]+"/readyz", http.StatusOK)
	requireStatus(t, values["LORESYNC_PUBLIC_URL"]+"/", http.StatusOK)
	requireStatus(t, values["LORESYNC_TEMPORAL_UI_URL"], http.StatusOK)
	require.NoError(t, first.command.Process.Signal(syscall.SIGKILL))
	first.awaitEnd(t)

	second := startDev(t, nil, "--data-dir", dir)
	second.awaitWords(t, "Ctrl-C stops all of this")
	assert.Contains(t, second.said(), "(17 unchanged)")
	assert.Equal(t, values, settingsIn(t, dir), "the same ports, the same token")
	second.requireRestartOf(t, "Temporal", filepath.Join(dir, "temporal.pid"))
	require.NoError(t, second.command.Process.Signal(os.Interrupt))
	require.Zero(t, second.awaitEnd(t), second.said())
	for _, address := range []string{values["LORESYNC_LISTEN"], values["TEMPORAL_ADDRESS"]} {
		connection, err := new(net.Dialer).DialContext(t.Context(), "tcp", address)
		if err == nil {
			_ = connection.Close()
		}
		require.Error(t, err, "nothing listens at %s any more", address)
	}

	third := startDev(t, nil, "--data-dir", dir, "--once")
	require.Zero(t, third.awaitEnd(t), third.said())
	assert.Contains(t, third.said(), "(17 unchanged)")
}

// requireRestartOf kills a server and waits until it is back.
func (r *running) requireRestartOf(t *testing.T, name, pidFile string) {
	t.Helper()
	text, err := os.ReadFile(pidFile)
	require.NoError(t, err)
	pid, _, _ := strings.Cut(string(text), "\n")
	require.NoError(t, exec.CommandContext(t.Context(), "kill", "-9", pid).Run())
	r.awaitWords(t, name+" is back")
}

func requireStatus(t *testing.T, address string, status int) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, address, http.NoBody)
	require.NoError(t, err)
	response, err := http.DefaultClient.Do(request)
	require.NoError(t, err)
	require.NoError(t, response.Body.Close())
	require.Equal(t, status, response.StatusCode, address)
}
