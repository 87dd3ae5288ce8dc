package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/loresync/loresync/internal/testenv"
)

// openTerminal gives both ends of a new terminal: what a person sees and types, and what programs get.
func openTerminal(t *testing.T) (person, programs *os.File) {
	t.Helper()
	person, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	require.NoError(t, err)
	t.Cleanup(func() { _ = person.Close() })
	number, err := unix.IoctlGetInt(int(person.Fd()), unix.TIOCGPTN)
	require.NoError(t, err)
	require.NoError(t, unix.IoctlSetPointerInt(int(person.Fd()), unix.TIOCSPTLCK, 0))
	programs, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|unix.O_NOCTTY, 0)
	require.NoError(t, err)
	t.Cleanup(func() { _ = programs.Close() })
	return person, programs
}

// makeAtTerminal runs `make dev` at a terminal, with this test binary as `go run`.
func makeAtTerminal(t *testing.T, environ []string, args ...string) (dev *running, person *os.File) {
	t.Helper()
	dir := t.TempDir()
	launcher, makefile := filepath.Join(dir, "go"), filepath.Join(dir, "Makefile")
	program, err := filepath.Abs(os.Args[0])
	require.NoError(t, err)
	require.NoError(t, os.Symlink(program, launcher))
	require.NoError(t, os.WriteFile(makefile, []byte(".PHONY: dev\ndev:\n\t"+launcher+" "+strings.Join(args, " ")+"\n"), 0o600))
	person, programs := openTerminal(t)
	dev = &running{command: exec.CommandContext(t.Context(), "make", "-f", makefile, "dev"), ended: make(chan struct{})}
	dev.command.Dir = ".."
	dev.command.Env = append(append(os.Environ(), asLauncher+"="+program), environ...)
	dev.command.Stdin, dev.command.Stdout, dev.command.Stderr = programs, dev, dev
	dev.command.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	require.NoError(t, dev.command.Start())
	go func() {
		_ = dev.command.Wait()
		close(dev.ended)
	}()
	return dev, person
}

func TestCtrlCAtATerminalIsNoFailureOfMake(t *testing.T) {
	t.Parallel()
	dev, person := makeAtTerminal(t, []string{"TEMPORAL_NAMESPACE=" + testenv.Namespace(t)}, "--no-sample", "--data-dir", filepath.Join(t.TempDir(), "data"),
		"--temporal-address", testenv.Temporal(t), "--database-url", "'"+testenv.EmptyDatabase(t)+"'")
	dev.awaitWords(t, "Ctrl-C stops all of this")
	_, err := person.WriteString("\x03")
	require.NoError(t, err)
	assert.Zero(t, dev.awaitEnd(t), dev.said())
	assert.Contains(t, dev.said(), "Stopping")
	assert.NotContains(t, dev.said(), "***", "make reports no error")
}
