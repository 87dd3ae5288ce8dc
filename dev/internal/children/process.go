package children

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"syscall"
	"time"

	"github.com/loresync/loresync/internal/subprocess"
)

// stopPatience is a little more than a worker gives to what is under way.
const stopPatience = 15 * time.Second

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
type process struct{ *subprocess.Process }

// start runs the child. A killed parent takes the servers with it, so there is nothing left that a child could tidy up with,
// and it is killed too.
func start(ctx context.Context, spec Spec) (*process, error) {
	cmd := exec.CommandContext(context.WithoutCancel(ctx), spec.Program, spec.Args...) //nolint:gosec // our own program
	// The lifeline: held open, never written to, closed by Wait.
	if _, err := cmd.StdinPipe(); err != nil {
		return nil, fmt.Errorf("start %s: %w", spec.Name, err)
	}
	started, err := subprocess.Start(cmd, spec.Log, syscall.SIGKILL)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", spec.Name, err)
	}
	return &process{started}, nil
}

// stop asks the child to end, and ends it when it takes too long or there is a hurry.
func (p *process) stop(hurry <-chan struct{}) {
	if p.Ended() { // its number may be another's by now
		return
	}
	subprocess.Send(p.Pid, syscall.SIGTERM)
	select {
	case <-p.Done:
		return
	case <-hurry:
	case <-time.After(stopPatience):
	}
	subprocess.Send(p.Pid, syscall.SIGKILL)
	<-p.Done
}

// wasSignalled tells whether the child was ended from outside.
func (p *process) wasSignalled() bool {
	var exit *exec.ExitError
	if !errors.As(p.Err(), &exit) {
		return false
	}
	status, ok := exit.Sys().(syscall.WaitStatus)
	return ok && status.Signaled()
}

// how says in a few words how the child ended.
func (p *process) how() string {
	if err := p.Err(); err != nil {
		return err.Error()
	}
	return "exit status 0"
}

// lastLine is the last thing that the child said.
func (p *process) lastLine() string {
	lines := strings.Split(strings.TrimSpace(p.Output()), "\n")
	return lines[len(lines)-1]
}
