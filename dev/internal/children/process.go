package children

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"syscall"
	"time"
)

const (
	// maxLog is the size at which a log is set aside when its child starts.
	maxLog = 16 << 20
	// stopPatience is a little more than a worker gives to what is under way.
	stopPatience = 15 * time.Second
	// lastWords is how much of a log is looked at for its last line.
	lastWords = 4 << 10
)

// Spec describes a child.
type Spec struct {
	// Name is what people read: "worker 1".
	Name string
	// Program and Args are the command; the environment is this process's own.
	Program string
	Args    []string
	// Log takes the child's output, appended.
	Log string
}

// process is one run of a child.
type process struct {
	pid  int
	done chan struct{}
	// err is how it ended; it may be read once done is closed.
	err error
}

// start runs the child in a process group of its own, so that Ctrl-C reaches the parent alone.
func start(ctx context.Context, spec Spec) (*process, error) {
	log, err := openLog(spec.Log)
	if err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(context.WithoutCancel(ctx), spec.Program, spec.Args...) //nolint:gosec // our own program
	cmd.Stdout, cmd.Stderr = log, log
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	setDeathSignal(cmd.SysProcAttr)
	// The lifeline: held open, never written to, closed by Wait.
	if _, err := cmd.StdinPipe(); err != nil {
		return nil, errors.Join(fmt.Errorf("start %s: %w", spec.Name, err), log.Close())
	}
	p := &process{done: make(chan struct{})}
	started := make(chan error)
	go p.run(cmd, log, started)
	if err := <-started; err != nil {
		return nil, fmt.Errorf("start %s: %w", spec.Name, err)
	}
	return p, nil
}

// run starts and awaits the child on one locked thread: the death signal comes when the thread that started the child ends, so
// that thread has to live as long as the child.
func (p *process) run(cmd *exec.Cmd, log io.Closer, started chan<- error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	defer func() { _ = log.Close() }()
	if err := cmd.Start(); err != nil {
		started <- err
		return
	}
	p.pid = cmd.Process.Pid
	started <- nil
	p.err = cmd.Wait()
	close(p.done)
}

// stop asks the child to end, and ends it when it takes too long or there is a hurry.
func (p *process) stop(hurry <-chan struct{}) {
	select {
	case <-p.done: // its number may be another's by now
		return
	default:
	}
	_ = syscall.Kill(p.pid, syscall.SIGTERM)
	select {
	case <-p.done:
		return
	case <-hurry:
	case <-time.After(stopPatience):
	}
	_ = syscall.Kill(-p.pid, syscall.SIGKILL)
	<-p.done
}

// wasSignalled tells whether the child was ended from outside.
func (p *process) wasSignalled() bool {
	var exit *exec.ExitError
	if !errors.As(p.err, &exit) {
		return false
	}
	status, ok := exit.Sys().(syscall.WaitStatus)
	return ok && status.Signaled()
}

// how says in a few words how the child ended.
func (p *process) how() string {
	if p.err == nil {
		return "exit status 0"
	}
	return p.err.Error()
}

func openLog(path string) (*os.File, error) {
	if info, err := os.Stat(path); err == nil && info.Size() > maxLog {
		if err := os.Rename(path, path+".1"); err != nil {
			return nil, fmt.Errorf("set aside a log: %w", err)
		}
	}
	file, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600) //nolint:gosec // our own data directory
	if err != nil {
		return nil, fmt.Errorf("open a log: %w", err)
	}
	return file, nil
}

// lastLine is the last thing that a log says.
func lastLine(path string) string {
	file, err := os.Open(path) //nolint:gosec // our own data directory
	if err != nil {
		return ""
	}
	defer func() { _ = file.Close() }()
	info, err := file.Stat()
	if err != nil {
		return ""
	}
	text, err := io.ReadAll(io.NewSectionReader(file, max(0, info.Size()-lastWords), lastWords))
	if err != nil {
		return ""
	}
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	return lines[len(lines)-1]
}
