package local

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
)

const temporalServer = "temporal"

// portTries is how often another port is tried when the chosen one was taken in between.
const portTries = 5

// temporalLadder ends a server: a graceful end takes it 1.4 s.
var temporalLadder = []grace{{syscall.SIGTERM, 10 * time.Second}, {syscall.SIGKILL, 5 * time.Second}}

// TemporalOptions describe a development server.
type TemporalOptions struct {
	// CLI is the path that FindTemporal returned.
	CLI string
	// DataDir holds the database file, the log and the pid file. It is made when it doesn't exist.
	DataDir string
	// InMemory keeps all state in memory instead of in a file in DataDir: it is lost with the process.
	InMemory bool
	// Port is the port of the gRPC frontend; 0 means a free one.
	Port int
	// Host is the only address to listen on; empty means 127.0.0.1.
	Host string
	// UI starts Temporal's web interface beside the server.
	UI bool
	// UIPort is the port of the web interface; 0 means a free one.
	UIPort int
	// Namespaces are registered at the start beside "default".
	Namespaces []string
}

// Temporal is a running development server. All methods may be called from any goroutine.
type Temporal struct {
	options TemporalOptions
	lock    *fileLock

	mu      sync.Mutex
	process *process
}

// StartTemporal starts a development server and returns when it answers for its namespaces. The context bounds the
// start only.
func StartTemporal(ctx context.Context, options TemporalOptions) (*Temporal, error) {
	dir, err := makeDataDir(options.DataDir)
	if err != nil {
		return nil, fmt.Errorf("start Temporal: %w", err)
	}
	options.DataDir = dir
	lock, err := lockServer(dir, temporalServer)
	if err != nil {
		return nil, fmt.Errorf("start Temporal: %w", err)
	}
	t := &Temporal{options: options, lock: lock}
	if err := endTemporalLeftover(ctx, dir); err != nil {
		lock.release()
		return nil, fmt.Errorf("start Temporal: %w", err)
	}
	if err := t.startOnPort(ctx); err != nil {
		lock.release()
		return nil, fmt.Errorf("start Temporal: %w", err)
	}
	return t, nil
}

// startOnPort launches the server on the wanted ports, or on free ones, which it chooses anew when another process was
// quicker.
func (t *Temporal) startOnPort(ctx context.Context) error {
	anyPort, anyUIPort := t.options.Port == 0, t.options.UI && t.options.UIPort == 0
	for try := 1; ; try++ {
		if err := t.choosePorts(anyPort, anyUIPort); err != nil {
			return err
		}
		err := t.launch(ctx)
		if err == nil || !strings.Contains(err.Error(), "address already in use") {
			return err
		}
		if try == portTries || (!anyPort && !anyUIPort) {
			return err
		}
	}
}

func (t *Temporal) choosePorts(frontend, ui bool) error {
	var err error
	if frontend {
		if t.options.Port, err = FreePort(); err != nil {
			return err
		}
	}
	if ui {
		if t.options.UIPort, err = FreePort(); err != nil {
			return err
		}
	}
	return nil
}

// launch runs the server on the chosen ports and waits until it is ready. A server that isn't gets ended.
func (t *Temporal) launch(ctx context.Context) error {
	p, err := command{
		path: t.options.CLI, args: t.arguments(), env: os.Environ(), dir: t.options.DataDir,
		log: t.LogFile(), deathSignal: syscall.SIGTERM,
	}.start(ctx)
	if err != nil {
		return err
	}
	err = p.record(ctx, pidFile(t.options.DataDir, temporalServer))
	if err == nil {
		err = awaitTemporal(ctx, p, t.Address(), append([]string{"default"}, t.options.Namespaces...))
	}
	if err != nil {
		return errors.Join(err, p.stop(temporalLadder))
	}
	t.mu.Lock()
	t.process = p
	t.mu.Unlock()
	return nil
}

// arguments are the command line of the server. The queue polls are raised because the server has one shard and polls it
// 20 times a second otherwise, 50 ms for every hop of a workflow; WAL and NORMAL make the database file as fast as
// memory, and only a crash of the operating system can lose its last transactions.
func (t *Temporal) arguments() []string {
	args := []string{"server", "start-dev", "--ip", t.host(), "--port", strconv.Itoa(t.options.Port), "--log-level", "warn"}
	if t.options.UI {
		args = append(args, "--ui-port", strconv.Itoa(t.options.UIPort))
	} else {
		args = append(args, "--headless")
	}
	if !t.options.InMemory {
		args = append(args, "--db-filename", filepath.Join(t.options.DataDir, "temporal.db"),
			"--sqlite-pragma", "journal_mode=WAL", "--sqlite-pragma", "synchronous=NORMAL")
	}
	for _, queue := range []string{"transfer", "timer", "visibility"} {
		args = append(args, "--dynamic-config-value", "history."+queue+"ProcessorMaxPollRPS=5000")
	}
	for _, namespace := range slices.Compact(slices.Sorted(slices.Values(t.options.Namespaces))) {
		args = append(args, "--namespace", namespace)
	}
	return args
}

// Address is the host and port of the gRPC frontend.
func (t *Temporal) Address() string {
	return net.JoinHostPort(t.host(), strconv.Itoa(t.options.Port))
}

func (t *Temporal) host() string { return orDefault(t.options.Host, host) }

// UIURL is the address of the web interface, empty when there is none.
func (t *Temporal) UIURL() string {
	if !t.options.UI {
		return ""
	}
	return "http://" + net.JoinHostPort(t.host(), strconv.Itoa(t.options.UIPort))
}

// LogFile is where the server's output goes.
func (t *Temporal) LogFile() string {
	return filepath.Join(t.options.DataDir, "temporal.log")
}

// Pid is the process id of the server.
func (t *Temporal) Pid() int {
	return t.current().Pid
}

// Done is closed once the server's process has ended, by itself or by Stop or Kill. After a Restart there is a new one.
func (t *Temporal) Done() <-chan struct{} {
	return t.current().Done
}

// Stop ends the server gracefully, by force after 10 s, and gives the data directory back. It may be called again.
func (t *Temporal) Stop() error {
	if err := t.current().stop(temporalLadder); err != nil {
		return fmt.Errorf("stop Temporal: %w", err)
	}
	t.lock.release()
	return nil
}

// Kill ends the server as a crash would. The data directory stays ours, for a Restart or a Stop.
func (t *Temporal) Kill() error {
	if err := t.current().kill(); err != nil {
		return fmt.Errorf("kill Temporal: %w", err)
	}
	return nil
}

// Restart ends the server if it still runs and starts it again on the same ports and the same data.
func (t *Temporal) Restart(ctx context.Context) error {
	if err := t.current().stop(temporalLadder); err != nil {
		return fmt.Errorf("restart Temporal: %w", err)
	}
	if err := t.launch(ctx); err != nil {
		return fmt.Errorf("restart Temporal: %w", err)
	}
	return nil
}

func (t *Temporal) current() *process {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.process
}

// endTemporalLeftover ends the server of a dead owner. The caller holds the data directory's lock.
func endTemporalLeftover(ctx context.Context, dir string) error {
	find := func() int { return recorded(pidFile(dir, temporalServer)) }
	return endLeftover(ctx, find, temporalLadder)
}
