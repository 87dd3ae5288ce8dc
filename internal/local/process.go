package local

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"time"
)

// maxLog is the size at which a log file is set aside for a new one when its server starts.
const maxLog = 16 << 20

// ErrDied says that a server's process ended before it was ready, or while something waited for it.
var ErrDied = errors.New("the process ended by itself")

// errNoReason stands for an exit status of zero.
var errNoReason = errors.New("exit status 0")

// errSurvived says that a process was still there after the last and hardest signal.
var errSurvived = errors.New("still running after every signal")

// command describes a child process before it runs.
type command struct {
	path string
	args []string
	env  []string
	dir  string
	// log takes the child's output; it is opened by the owner, so the child's account needs no right to it.
	log string
	// account is who runs the child; nil means the owner's own account.
	account *account
	// deathSignal is what the kernel sends to the child when its owner is killed, where it can.
	deathSignal syscall.Signal
}

// process is a running child.
type process struct {
	command command
	pid     int
	// logStart is where this run's output begins in the log file.
	logStart int64
	done     chan struct{}
	// err is how the child ended. It may be read once done is closed.
	err error
}

// start runs the command and returns once the child exists. The context is for values only: a child ends by a signal or
// with its owner, not with the request that happened to start it.
func (c command) start(ctx context.Context) (*process, error) {
	log, offset, err := openLog(c.log)
	if err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(context.WithoutCancel(ctx), c.path, c.args...) //nolint:gosec // the paths are found or given by the operator
	cmd.Env, cmd.Dir, cmd.Stdout, cmd.Stderr = c.env, c.dir, log, log
	cmd.SysProcAttr = c.attributes()
	p := &process{command: c, logStart: offset, done: make(chan struct{})}
	started := make(chan error)
	go p.run(cmd, log, started)
	if err := <-started; err != nil {
		return nil, fmt.Errorf("start %s: %w", filepath.Base(c.path), err)
	}
	return p, nil
}

// run starts and awaits the child on one locked thread: the kernel's parent-death signal is sent when the thread that
// forked ends, not when the process does, so that thread has to live as long as the child.
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

// attributes puts the child in a process group of its own, so that Ctrl-C in a terminal reaches the owner alone and the
// owner ends its children in order.
func (c command) attributes() *syscall.SysProcAttr {
	attributes := &syscall.SysProcAttr{Setpgid: true}
	if c.account != nil {
		attributes.Credential = c.account.credential()
	}
	setDeathSignal(attributes, c.deathSignal)
	return attributes
}

// ended reports whether the child has ended.
func (p *process) ended() bool {
	select {
	case <-p.done:
		return true
	default:
		return false
	}
}

// finish waits for a child that has an end of its own, calling lives every now and then with the time since the start.
// When the context ends first, the child is killed.
func (p *process) finish(ctx context.Context, every time.Duration, lives func(time.Duration)) error {
	ticker := time.NewTicker(every)
	defer ticker.Stop()
	for started := time.Now(); ; {
		select {
		case <-p.done:
			return p.err
		case <-ctx.Done():
			return errors.Join(context.Cause(ctx), p.kill())
		case <-ticker.C:
			lives(time.Since(started))
		}
	}
}

// grace is one rung of the ladder that ends a process: a signal, and how long it may take to work.
type grace struct {
	signal   syscall.Signal
	patience time.Duration
}

// stop climbs the ladder until the child has ended and been waited for.
func (p *process) stop(ladder []grace) error {
	for _, rung := range ladder {
		if p.ended() {
			return nil
		}
		sendSignal(p.pid, rung.signal)
		select {
		case <-p.done:
			return nil
		case <-time.After(rung.patience):
		}
	}
	return fmt.Errorf("end %s (process %d): %w", filepath.Base(p.command.path), p.pid, errSurvived)
}

// kill ends the child without any chance to tidy up, and waits for it.
func (p *process) kill() error {
	return p.stop([]grace{{syscall.SIGKILL, 10 * time.Second}})
}

// sendSignal delivers a signal; the kill goes to the whole group. That the process is gone already is no news.
func sendSignal(pid int, signal syscall.Signal) {
	if signal == syscall.SIGKILL {
		_ = syscall.Kill(-pid, signal)
	}
	_ = syscall.Kill(pid, signal)
}

// died builds the error of a child that ended on its own: how, and the last lines of what it said.
func (p *process) died() error {
	name := filepath.Base(p.command.path)
	how := p.err
	if how == nil {
		how = errNoReason
	}
	output := strings.TrimSpace(p.output())
	if output == "" {
		return fmt.Errorf("run %s: %w: %w", name, ErrDied, how)
	}
	return fmt.Errorf("run %s: %w: %w: %s (more in %s)", name, ErrDied, how, lastLines(output, 3), p.command.log)
}

// output is what this run of the child has written so far, its last 16 KB at most.
func (p *process) output() string {
	file, err := os.Open(p.command.log)
	if err != nil {
		return ""
	}
	defer func() { _ = file.Close() }()
	start := p.logStart
	if info, err := file.Stat(); err == nil {
		start = max(start, info.Size()-16<<10)
	}
	text, _ := io.ReadAll(io.NewSectionReader(file, start, 16<<10))
	return string(text)
}

// lastLines joins the last n lines of a text into one.
func lastLines(text string, n int) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	return strings.Join(lines[max(0, len(lines)-n):], " | ")
}

// openLog opens a log for appending and says how long it is; one that has grown large is set aside first.
func openLog(path string) (*os.File, int64, error) {
	if info, err := os.Stat(path); err == nil && info.Size() > maxLog {
		if err := os.Rename(path, path+".1"); err != nil {
			return nil, 0, fmt.Errorf("set aside the log: %w", err)
		}
	}
	file, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600) //nolint:gosec // our own data directory
	if err != nil {
		return nil, 0, fmt.Errorf("open the log: %w", err)
	}
	info, err := file.Stat()
	if err != nil {
		return nil, 0, errors.Join(fmt.Errorf("open the log: %w", err), file.Close())
	}
	return file, info.Size(), nil
}
