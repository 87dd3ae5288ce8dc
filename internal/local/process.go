package local

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/loresync/loresync/internal/subprocess"
)

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
	*subprocess.Process
	command command
}

// start runs the command and returns once the child exists. The context is for values only: a child ends by a signal or
// with its owner, not with the request that happened to start it.
func (c command) start(ctx context.Context) (*process, error) {
	cmd := exec.CommandContext(context.WithoutCancel(ctx), c.path, c.args...) //nolint:gosec // the paths are found or given by the operator
	cmd.Env, cmd.Dir = c.env, c.dir
	if c.account != nil {
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: c.account.credential()}
	}
	started, err := subprocess.Start(cmd, c.log, c.deathSignal)
	if err != nil {
		return nil, err
	}
	return &process{Process: started, command: c}, nil
}

// finish waits for a child that has an end of its own, calling lives every now and then with the time since the start.
// When the context ends first, the child is killed.
func (p *process) finish(ctx context.Context, every time.Duration, lives func(time.Duration)) error {
	ticker := time.NewTicker(every)
	defer ticker.Stop()
	for started := time.Now(); ; {
		select {
		case <-p.Done:
			return p.Err()
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
		if p.Ended() {
			return nil
		}
		subprocess.Send(p.Pid, rung.signal)
		select {
		case <-p.Done:
			return nil
		case <-time.After(rung.patience):
		}
	}
	return fmt.Errorf("end %s (process %d): %w", filepath.Base(p.command.path), p.Pid, errSurvived)
}

// kill ends the child without any chance to tidy up, and waits for it.
func (p *process) kill() error {
	return p.stop([]grace{{syscall.SIGKILL, 10 * time.Second}})
}

// died builds the error of a child that ended on its own: how, and the last lines of what it said.
func (p *process) died() error {
	name := filepath.Base(p.command.path)
	how := p.Err()
	if how == nil {
		how = errNoReason
	}
	output := strings.TrimSpace(p.Output())
	if output == "" {
		return fmt.Errorf("run %s: %w: %w", name, ErrDied, how)
	}
	return fmt.Errorf("run %s: %w: %w: %s (more in %s)", name, ErrDied, how, lastLines(output, 3), p.command.log)
}

// lastLines joins the last n lines of a text into one.
func lastLines(text string, n int) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	return strings.Join(lines[max(0, len(lines)-n):], " | ")
}
