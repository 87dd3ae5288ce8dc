package children

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const soon = 10 * time.Second

// TestMain lets this test binary play the child, and the parent of one, by its first argument.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 {
		switch os.Args[1] {
		case "child":
			playChild()
		case "broken":
			fmt.Fprintln(os.Stdout, "the setting X is wrong")
			os.Exit(2)
		case "parent":
			playParent(os.Args[2])
		}
	}
	os.Exit(m.Run())
}

// playChild waits for a polite end.
func playChild() {
	HoldLifeline()
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGTERM)
	fmt.Fprintln(os.Stdout, "ready")
	<-signals
	fmt.Fprintln(os.Stdout, "goodbye")
	os.Exit(0)
}

// playParent starts a child and waits to be killed.
func playParent(log string) {
	child, err := Start(context.Background(), Spec{Name: "child", Program: os.Args[0], Args: []string{"child"}, Log: log}, func(string) {})
	if err != nil {
		os.Exit(1)
	}
	fmt.Fprintln(os.Stdout, child.Pid())
	select {}
}

func startChild(t *testing.T, role string) (child *Child, log string, said chan string) {
	t.Helper()
	log, said = filepath.Join(t.TempDir(), "child.log"), make(chan string, 100)
	child, err := Start(t.Context(), Spec{Name: "worker 1", Program: os.Args[0], Args: []string{role}, Log: log}, func(line string) { said <- line })
	require.NoError(t, err)
	return child, log, said
}

func eventuallySays(t *testing.T, log, text string) {
	t.Helper()
	require.Eventually(t, func() bool {
		content, err := os.ReadFile(log)
		return err == nil && strings.Contains(string(content), text)
	}, soon, 5*time.Millisecond, "the log says %q", text)
}

func isAlive(pid int) bool {
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return syscall.Kill(pid, 0) == nil && !os.IsNotExist(err)
	}
	return !strings.Contains(string(stat), ") Z ")
}

func TestChild(t *testing.T) {
	t.Parallel()
	t.Run("ends politely", func(t *testing.T) {
		t.Parallel()
		child, log, _ := startChild(t, "child")
		eventuallySays(t, log, "ready")
		child.Stop(nil)
		eventuallySays(t, log, "goodbye")
		assert.False(t, isAlive(child.Pid()))
	})
	t.Run("is started again however often it is killed", func(t *testing.T) {
		t.Parallel()
		child, log, said := startChild(t, "child")
		for range maxTries + 2 {
			eventuallySays(t, log, "ready")
			require.NoError(t, syscall.Kill(child.Pid(), syscall.SIGKILL))
			assert.Contains(t, <-said, "worker 1 ended by itself (signal: killed) and was started again as process "+strconv.Itoa(child.Pid()))
		}
		child.Stop(nil)
	})
	t.Run("is given up when it can't start, with what it said last", func(t *testing.T) {
		t.Parallel()
		child, _, _ := startChild(t, "broken")
		err := <-child.Failed()
		require.ErrorIs(t, err, ErrGaveUp)
		assert.Contains(t, err.Error(), "the setting X is wrong")
		child.Stop(nil)
	})
	t.Run("ends at once when there is a hurry", func(t *testing.T) {
		t.Parallel()
		child, log, _ := startChild(t, "child")
		eventuallySays(t, log, "ready")
		require.NoError(t, syscall.Kill(child.Pid(), syscall.SIGSTOP))
		hurry := make(chan struct{})
		close(hurry)
		began := time.Now()
		child.Stop(hurry)
		assert.Less(t, time.Since(began), stopPatience)
	})
	t.Run("ends with a parent that is killed", func(t *testing.T) {
		t.Parallel()
		log := filepath.Join(t.TempDir(), "child.log")
		parent := exec.CommandContext(t.Context(), os.Args[0], "parent", log)
		output, err := parent.StdoutPipe()
		require.NoError(t, err)
		require.NoError(t, parent.Start())
		var pid int
		_, err = fmt.Fscan(output, &pid)
		require.NoError(t, err)
		eventuallySays(t, log, "ready")
		require.NoError(t, parent.Process.Kill())
		_ = parent.Wait()
		require.Eventually(t, func() bool { return !isAlive(pid) }, soon, 5*time.Millisecond)
	})
}
