// Package subprocess starts the child processes of a machine of one's own: servers, workers, gateways. Each writes to a log of
// its own, is out of Ctrl-C's reach, so that its parent ends it in order, and is ended by the kernel, where it can, when the
// parent is killed.
package subprocess

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"syscall"
)

const (
	// maxLog is the size at which a log is set aside for a new one when its process starts.
	maxLog = 16 << 20
	// lastWords is how much of what a process said is kept in mind.
	lastWords = 16 << 10
)

// Process is a running child, or one that has ended.
type Process struct {
	// Pid is its process id and that of its group.
	Pid int
	// Done is closed when it has ended and been waited for.
	Done <-chan struct{}

	log string
	// began is where its output begins in the log.
	began int64
	err   error
}

// Start runs a command, with both its outputs appended to a log, and returns once the child exists. The log is opened by this
// process, so the child's account needs no right to it. deathSignal is what the kernel sends it when this process is killed.
func Start(cmd *exec.Cmd, logPath string, deathSignal syscall.Signal) (*Process, error) {
	log, began, err := openLog(logPath)
	if err != nil {
		return nil, err
	}
	cmd.Stdout, cmd.Stderr = log, log
	if cmd.SysProcAttr == nil {
		cmd.SysProcAttr = &syscall.SysProcAttr{}
	}
	cmd.SysProcAttr.Setpgid = true
	setDeathSignal(cmd.SysProcAttr, deathSignal)
	done, started := make(chan struct{}), make(chan error)
	p := &Process{Done: done, log: logPath, began: began}
	go p.run(cmd, started, done)
	err = <-started
	_ = log.Close() // the child has one of its own
	if err != nil {
		return nil, fmt.Errorf("start %s: %w", filepath.Base(cmd.Path), err)
	}
	return p, nil
}

// run starts and awaits the child on one locked thread: the death signal comes when the thread that started the child ends,
// not when the process does, so that thread has to live as long as the child.
func (p *Process) run(cmd *exec.Cmd, started chan<- error, done chan<- struct{}) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if err := cmd.Start(); err != nil {
		started <- err
		return
	}
	p.Pid = cmd.Process.Pid
	started <- nil
	p.err = cmd.Wait()
	close(done)
}

// Ended tells whether the child has ended.
func (p *Process) Ended() bool {
	select {
	case <-p.Done:
		return true
	default:
		return false
	}
}

// Err is how the child ended; it may be asked once Done is closed.
func (p *Process) Err() error { return p.err }

// Output is what the child has written so far, its last 16 KB at most.
func (p *Process) Output() string {
	file, err := os.Open(p.log)
	if err != nil {
		return ""
	}
	defer func() { _ = file.Close() }()
	from := p.began
	if info, err := file.Stat(); err == nil {
		from = max(from, info.Size()-lastWords)
	}
	text, _ := io.ReadAll(io.NewSectionReader(file, from, lastWords)) // what can't be read was not said
	return string(text)
}

// Send delivers a signal to a process; a kill goes to its whole group. That the process is gone already is no news.
func Send(pid int, signal syscall.Signal) {
	if signal == syscall.SIGKILL {
		_ = syscall.Kill(-pid, signal)
	}
	_ = syscall.Kill(pid, signal)
}

// openLog opens a log for appending and says how long it is; one that has grown large is set aside first.
func openLog(path string) (*os.File, int64, error) {
	if info, err := os.Stat(path); err == nil && info.Size() > maxLog {
		if err := os.Rename(path, path+".1"); err != nil {
			return nil, 0, fmt.Errorf("set aside a log: %w", err)
		}
	}
	file, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600) //nolint:gosec // a data directory of our own
	if err != nil {
		return nil, 0, fmt.Errorf("open a log: %w", err)
	}
	info, err := file.Stat()
	if err != nil {
		return nil, 0, errors.Join(fmt.Errorf("open a log: %w", err), file.Close())
	}
	return file, info.Size(), nil
}
