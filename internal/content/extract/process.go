package extract

import (
	"bufio"
	"context"
	"encoding/json"
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

// keepWords is how much is kept of what a process says on its way out.
const keepWords = 8 << 10

var (
	errPatience = errors.New("it took too long")
	// errNested protects from processes that start each other for ever, when a program's main parses a file although it
	// was started to be a child.
	errNested = errors.New("a child process doesn't start another: main must begin with extract.ServeChildIfAsked")
)

// process is one running child.
type process struct {
	handle *os.Process
	in     io.WriteCloser
	out    *bufio.Reader
	words  *opening
	done   chan struct{}
	// begun is set once it has told that it parses the present file: what goes wrong from then on is about the file.
	begun bool
	// state is how it ended; it may be read once done is closed.
	state *os.ProcessState
}

// start runs this program again as a child and waits for its greeting. The child gets none of this process's environment,
// which holds passwords and tokens that a file has no business with.
func start(ctx context.Context, c charge) (*process, error) {
	if isChild() {
		return nil, errNested
	}
	program, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("find this program: %w", err)
	}
	// The child works in another directory, so that it holds none that somebody may want to remove.
	if c.CacheDir, err = absolute(c.CacheDir); err != nil {
		return nil, fmt.Errorf("find the cache: %w", err)
	}
	value, err := json.Marshal(c)
	if err != nil {
		return nil, fmt.Errorf("encode the charge: %w", err)
	}
	cmd := exec.CommandContext(context.WithoutCancel(ctx), program) //nolint:gosec // our own program
	cmd.Env = []string{childVariable + "=" + string(value)}
	cmd.Dir = os.TempDir()
	// In a process group of its own, so that Ctrl-C reaches the parent alone, which lets its work end.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	setDeathSignal(cmd.SysProcAttr)
	p := &process{done: make(chan struct{}), words: &opening{}}
	cmd.Stderr = p.words
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, fmt.Errorf("start the child process: %w", err)
	}
	p.out = bufio.NewReader(out)
	if p.in, err = cmd.StdinPipe(); err != nil {
		return nil, fmt.Errorf("start the child process: %w", err)
	}
	started := make(chan error)
	go p.run(cmd, started)
	if err := <-started; err != nil {
		return nil, fmt.Errorf("start the child process: %w", err)
	}
	err = p.greet(ctx)
	return p, err
}

func absolute(dir string) (string, error) {
	if dir == "" {
		return "", nil
	}
	return filepath.Abs(dir)
}

// run starts and awaits the process on one locked thread: the death signal comes when the thread that started the process
// ends, so that thread has to live as long.
func (p *process) run(cmd *exec.Cmd, started chan<- error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if err := cmd.Start(); err != nil {
		started <- err
		return
	}
	p.handle = cmd.Process
	started <- nil
	_ = cmd.Wait() // how it ended is in the state
	p.state = cmd.ProcessState
	close(p.done)
}

// greet waits until the process has shown that it is a child.
func (p *process) greet(ctx context.Context) error {
	stop := context.AfterFunc(ctx, p.kill)
	defer stop()
	err := p.within(startPatience, func() error {
		words, err := readFrame(p.out, len(greeting))
		if err == nil && string(words) != greeting {
			return errFrame
		}
		return err
	})
	if err == nil {
		return nil
	}
	p.kill()
	<-p.done
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return fmt.Errorf("start the child process: %w (%s); main must begin with extract.ServeChildIfAsked", err, p.how())
}

// within runs a step that waits for the process, and kills the process if the step takes too long.
func (p *process) within(limit time.Duration, step func() error) error {
	timer := time.AfterFunc(limit, p.kill)
	err := step()
	if !timer.Stop() && err != nil {
		return errPatience
	}
	return err
}

func (p *process) kill() {
	_ = p.handle.Kill() // that it is gone already is what was wanted
}

func (p *process) ended() bool {
	select {
	case <-p.done:
		return true
	default:
		return false
	}
}

// opening keeps the beginning of what is written to it: Go's runtime says first what went wrong.
type opening struct{ strings.Builder }

// Write keeps what still fits and takes the rest.
func (o *opening) Write(words []byte) (int, error) {
	_, _ = o.Builder.Write(words[:min(len(words), max(0, keepWords-o.Len()))])
	return len(words), nil
}

// ranOutOfMemory tells whether an ended process met its memory bound: Go's runtime says so and exits.
func (p *process) ranOutOfMemory() bool {
	words := p.words.String()
	return strings.Contains(words, "out of memory") || strings.Contains(words, "cannot allocate memory")
}

// crashed tells whether an ended process ended by itself.
func (p *process) crashed() bool { return p.state.Exited() }

// how says in a few words how an ended process ended.
func (p *process) how() string {
	first, _, _ := strings.Cut(strings.TrimSpace(p.words.String()), "\n")
	if first == "" {
		return p.state.String()
	}
	return p.state.String() + ": " + first
}
