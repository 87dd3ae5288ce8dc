package children

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"
)

const (
	// A child that ends sooner than this by itself did not start properly, and is not tried more often than this in a row.
	properLife = 10 * time.Second
	maxTries   = 5
	// pauseStep is added before each further try in a row.
	pauseStep = 300 * time.Millisecond
)

// ErrGaveUp says that a child ended again and again just after its start.
var ErrGaveUp = errors.New("it ends again and again")

// Child is a process that is kept alive until Stop.
type Child struct {
	spec Spec
	say  func(line string)

	cancel context.CancelFunc
	ended  chan struct{}
	failed chan error

	mu      sync.Mutex
	process *process
}

// Start starts a child, which lives until Stop: the context is for values alone. say takes a line for people whenever it had to be started again.
func Start(ctx context.Context, spec Spec, say func(line string)) (*Child, error) {
	first, err := start(ctx, spec)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	c := &Child{spec: spec, say: say, cancel: cancel, ended: make(chan struct{}), failed: make(chan error, 1), process: first}
	go c.keep(ctx, first)
	return c, nil
}

// Pid is the process id of the current run.
func (c *Child) Pid() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.process.Pid
}

// Failed gives an error once the child has been given up.
func (c *Child) Failed() <-chan error { return c.failed }

// Stop asks the child to end and waits for it. Closing hurry ends it at once.
func (c *Child) Stop(hurry <-chan struct{}) {
	c.cancel()
	<-c.ended
	c.mu.Lock()
	defer c.mu.Unlock()
	c.process.stop(hurry)
}

// keep starts the child again whenever it ends.
func (c *Child) keep(ctx context.Context, current *process) {
	defer close(c.ended)
	began, tries := time.Now(), 0
	for {
		select {
		case <-ctx.Done():
			return
		case <-current.Done:
		}
		// A kill from outside says nothing about the child, and is survived any number of times.
		tries++
		if time.Since(began) > properLife || current.wasSignalled() {
			tries = 0
		}
		if tries == maxTries {
			c.failed <- fmt.Errorf("keep %s running: %w (%s): %s (more in %s)", c.spec.Name, ErrGaveUp, current.how(), current.lastLine(), c.spec.Log)
			return
		}
		next, err := c.again(ctx, current, time.Duration(tries)*pauseStep)
		if err != nil {
			c.failed <- err
			return
		}
		if next == nil {
			return
		}
		began, current = time.Now(), next
	}
}

// again starts the next run after a pause; nil when there is to be none.
func (c *Child) again(ctx context.Context, ended *process, pause time.Duration) (*process, error) {
	select {
	case <-ctx.Done():
		return nil, nil //nolint:nilnil // stopped meanwhile, which is no error
	case <-time.After(pause):
	}
	next, err := start(ctx, c.spec)
	if err != nil {
		return nil, err
	}
	c.mu.Lock()
	c.process = next
	c.mu.Unlock()
	c.say(fmt.Sprintf("%s ended by itself (%s) and was started again as process %d", c.spec.Name, ended.how(), next.Pid))
	return next, nil
}
