package local

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/loresync/loresync/internal/subprocess"
)

// A leftover is a server whose owner died without ending it. Its process id is known from a file; because the system
// may have given that number to a stranger since, nothing is signalled whose command line isn't the server's own.

// pidFile is where a server's process is written down while it runs.
func pidFile(dir, server string) string {
	return filepath.Join(dir, server+".pid")
}

// record writes the child's process id and command line down, the latter as the system shows it.
func (p *process) record(ctx context.Context, path string) error {
	text := strconv.Itoa(p.Pid) + "\n" + settledCommandLine(ctx, p.Pid) + "\n"
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		return fmt.Errorf("record the process id: %w", err)
	}
	return nil
}

// settledCommandLine reads a new child's command line. For a moment after its start the system shows none, or its parent's,
// and a leftover recorded with that would never be recognised.
func settledCommandLine(ctx context.Context, pid int) string {
	own := commandLine(os.Getpid())
	for deadline := time.Now().Add(2 * time.Second); time.Now().Before(deadline); {
		if line := commandLine(pid); line != "" && line != own {
			return line
		}
		if sleep(ctx, time.Millisecond) != nil {
			break
		}
	}
	return commandLine(pid)
}

// recorded returns the process that a pid file names while exactly that command still runs, else 0.
func recorded(path string) int {
	text, err := os.ReadFile(path) //nolint:gosec // our own data directory
	if err != nil {
		return 0
	}
	first, line, _ := strings.Cut(string(text), "\n")
	pid, err := strconv.Atoi(first)
	line = strings.TrimSpace(line)
	if err != nil || pid <= 1 || line == "" || strings.TrimSpace(commandLine(pid)) != line {
		return 0
	}
	return pid
}

// endLeftover signals a process that isn't our child until find no longer finds it.
func endLeftover(ctx context.Context, find func() int, ladder []grace) error {
	pid := find()
	for _, rung := range ladder {
		if pid == 0 {
			return nil
		}
		subprocess.Send(pid, rung.signal)
		gone, err := waitGone(ctx, find, rung.patience)
		if err != nil || gone {
			return err
		}
	}
	return fmt.Errorf("end process %d of an earlier run: %w", pid, errSurvived)
}

// waitGone waits until find finds nothing.
func waitGone(ctx context.Context, find func() int, patience time.Duration) (bool, error) {
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); {
		if find() == 0 {
			return true, nil
		}
		if err := sleep(ctx, 20*time.Millisecond); err != nil {
			return false, fmt.Errorf("wait for an earlier run to end: %w", err)
		}
	}
	return false, nil
}

// EndLeftovers ends the servers that a dead owner left behind on a data directory, without starting new ones. It is an
// InUseError while the owner lives. Starting a server does the same for its own kind.
func EndLeftovers(ctx context.Context, dataDir string) error {
	temporal, err := lockServer(dataDir, temporalServer)
	if err != nil {
		return err
	}
	defer temporal.release()
	postgres, err := lockServer(dataDir, postgresServer)
	if err != nil {
		return err
	}
	defer postgres.release()
	if err := endTemporalLeftover(ctx, dataDir); err != nil {
		return err
	}
	return endPostgresLeftover(ctx, filepath.Join(rememberedPlace(dataDir), clusterDir))
}
