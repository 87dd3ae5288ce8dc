package storm

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"syscall"

	"github.com/loresync/loresync/tests/storm/order"
)

// The processes of a storm, in the order in which steps number them: the entry points first, since orders name one of two.
var processNames = []string{"entry-1", "entry-2", "worker-1", "worker-2"}

// child is a process of a compiled program, between it and its servers a proxy each. Killed, it is started again.
type child struct {
	name, program, log string
	env                []string
	postgres, temporal *proxy
	// heard takes the replies of an entry point, lost the numbers of orders that its death left open.
	heard func(order.Reply)
	lost  func(n int)
	// gaveUp is told when the process ended by itself.
	gaveUp func()

	// life is held while the process is killed and started again.
	life  sync.Mutex
	mu    sync.Mutex
	cmd   *exec.Cmd
	stdin io.WriteCloser
	open  map[int]bool
	ended chan struct{}
	// killed is set while its end is wanted: one that ends by itself is started again, as a supervisor does.
	killed bool
}

// environment are the settings of a process: every timeout from 1 to 5 seconds.
func (c *child) environment(databaseURL string) ([]string, error) {
	address, err := url.Parse(databaseURL)
	if err != nil {
		return nil, err
	}
	address.Host = c.postgres.address()
	return []string{
		"PATH=/usr/bin:/bin", "HOME=/nonexistent", "TMPDIR=" + os.TempDir(), "LORESYNC_DATA_DIR=/nonexistent",
		"TEMPORAL_CONFIG_FILE=" + os.DevNull,
		"LORESYNC_DATABASE_URL=" + address.String(), "TEMPORAL_ADDRESS=" + c.temporal.address(),
		"LORESYNC_TEMPORAL_TIMEOUT=3s", "LORESYNC_DATABASE_CONNECT_TIMEOUT=2s", "LORESYNC_LOCK_TIMEOUT=1s",
		"LORESYNC_IDLE_IN_TRANSACTION_TIMEOUT=2s", "LORESYNC_CANCEL_LADDER=3s", "LORESYNC_ABANDONED_AFTER=5s",
		"LORESYNC_ASK_AGAIN_AFTER=1s", "LORESYNC_UNDO_WINDOW=" + undoWindow.String(),
	}, nil
}

// start runs the program. On Linux it dies with the test, however that ends.
func (c *child) start(ctx context.Context) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	log, err := os.OpenFile(c.log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	cmd := exec.CommandContext(context.WithoutCancel(ctx), c.program)
	cmd.Env, cmd.Dir, cmd.Stderr, cmd.SysProcAttr = c.env, "/", log, childAttributes()
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if c.stdin, err = cmd.StdinPipe(); err != nil {
		return err
	}
	c.cmd, c.open, c.ended, c.killed = cmd, map[int]bool{}, make(chan struct{}), false
	started := make(chan error)
	go c.run(log, stdout, started)
	return <-started
}

// run starts the process and waits for it on one thread, whose end the kernel takes for the parent's.
func (c *child) run(log io.Closer, stdout io.Reader, started chan<- error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	defer func() { _ = log.Close() }()
	cmd, ended := c.cmd, c.ended
	err := cmd.Start()
	started <- err
	if err == nil {
		c.listen(stdout)
		_ = cmd.Wait()
	}
	c.mu.Lock()
	open, killed := c.open, c.killed
	c.open = nil
	c.mu.Unlock()
	for n := range open {
		c.lost(n)
	}
	close(ended)
	if err == nil && !killed {
		c.gaveUp()
	}
}

func (c *child) listen(stdout io.Reader) {
	lines := bufio.NewReader(stdout)
	for {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			return
		}
		var reply order.Reply
		if json.Unmarshal(line, &reply) != nil {
			continue
		}
		c.mu.Lock()
		delete(c.open, reply.N)
		c.mu.Unlock()
		c.heard(reply)
	}
}

var errDead = errors.New("the process is dead")

// send gives an entry point an order.
func (c *child) send(o order.Order) error {
	line, err := json.Marshal(o)
	if err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.open == nil {
		return errDead
	}
	c.open[o.N] = true
	if _, err := c.stdin.Write(append(line, '\n')); err != nil {
		delete(c.open, o.N)
		return err
	}
	return nil
}

func (c *child) signal(s syscall.Signal) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.cmd != nil && c.cmd.Process != nil {
		_ = c.cmd.Process.Signal(s)
	}
}

// kill ends the process without any chance to tidy up, and waits for its end. A stopped one ends too.
func (c *child) kill() {
	c.mu.Lock()
	ended := c.ended
	c.killed = true
	c.mu.Unlock()
	if ended == nil {
		return
	}
	c.signal(syscall.SIGKILL)
	<-ended
}

// restart kills the process and starts it again.
func (c *child) restart(ctx context.Context) error {
	c.life.Lock()
	defer c.life.Unlock()
	c.kill()
	return c.start(ctx)
}

// lastWords are the last lines of the process's log.
func (c *child) lastWords(n int) string {
	text, err := os.ReadFile(c.log)
	if err != nil {
		return err.Error()
	}
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	return fmt.Sprintf("%s (%s):\n%s", c.name, filepath.Base(c.program), strings.Join(lines[max(0, len(lines)-n):], "\n"))
}
