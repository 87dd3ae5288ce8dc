package testenv

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/loresync/loresync/internal/local"
)

// dirPrefix begins the names of the temporary data directories, so that those of dead runs can be found.
const dirPrefix = "loresync-testenv-"

// staleAfter is when a directory that nobody holds counts as left behind. A younger one may be about to be locked.
const staleAfter = 10 * time.Minute

var errNoModule = errors.New("no go.mod in this folder or above")

// Servers are a Postgres and a Temporal with data that is thrown away.
type Servers struct {
	// DatabaseURL is a database of the Postgres, as a superuser.
	DatabaseURL string
	// TemporalAddress is host and port of the Temporal.
	TemporalAddress string

	ends closers
}

// StartServers starts both at once. What was started is ended by Stop, also after an error.
func StartServers(ctx context.Context) (*Servers, error) {
	servers := &Servers{}
	var group sync.WaitGroup
	var postgresErr, temporalErr error
	group.Go(func() { servers.DatabaseURL, postgresErr = startPostgres(ctx, &servers.ends) })
	group.Go(func() { servers.TemporalAddress, temporalErr = startTemporal(ctx, &servers.ends) })
	group.Wait()
	return servers, errors.Join(postgresErr, temporalErr)
}

// Stop ends the servers and removes their data.
func (s *Servers) Stop() error {
	return s.ends.close()
}

// startPostgres starts a Postgres tuned for throwing its data away and returns the URL of a database in it.
func startPostgres(ctx context.Context, ends *closers) (string, error) {
	bin, err := programDir()
	if err != nil {
		return "", err
	}
	programs, err := local.FindPostgres(ctx, local.PostgresSearch{BinDir: bin, Progress: os.Stderr})
	if err != nil {
		return "", fmt.Errorf("start a Postgres for tests: %w", err)
	}
	dir, err := newDir(ctx, ends)
	if err != nil {
		return "", err
	}
	server, err := local.StartPostgres(ctx, local.PostgresOptions{BinDir: programs, DataDir: dir, MinimalWAL: true, SharedBuffersMB: 128, MaxConnections: 400})
	if err != nil {
		return "", fmt.Errorf("start a Postgres for tests: %w", err)
	}
	ends.add(server.Stop)
	return server.URL("postgres"), nil
}

// startTemporal starts a Temporal that keeps all in memory and returns its address.
func startTemporal(ctx context.Context, ends *closers) (string, error) {
	bin, err := programDir()
	if err != nil {
		return "", err
	}
	cli, err := local.FindTemporal(ctx, local.TemporalSearch{CLI: os.Getenv(cliVariable), BinDir: bin, Progress: os.Stderr})
	if err != nil {
		return "", fmt.Errorf("start a Temporal for tests: %w", err)
	}
	dir, err := newDir(ctx, ends)
	if err != nil {
		return "", err
	}
	server, err := local.StartTemporal(ctx, local.TemporalOptions{CLI: cli, DataDir: dir, InMemory: true})
	if err != nil {
		return "", fmt.Errorf("start a Temporal for tests: %w", err)
	}
	ends.add(server.Stop)
	return server.Address(), nil
}

// programDir is where built and downloaded programs are kept for all of a checkout: the same folder that `dev` uses.
func programDir() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", fmt.Errorf("find the checkout: %w", err)
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return filepath.Join(dir, ".loresync", "bin"), nil
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return "", fmt.Errorf("find the checkout: %w", errNoModule)
		}
		dir = parent
	}
}

// newDir makes a data directory that is removed at the end, and removes those that dead runs left.
func newDir(ctx context.Context, ends *closers) (string, error) {
	sweep(ctx)
	dir, err := os.MkdirTemp("", dirPrefix)
	if err != nil {
		return "", fmt.Errorf("make a data directory for tests: %w", err)
	}
	ends.add(func() error { return local.RemoveDataDir(context.WithoutCancel(ctx), dir) })
	// Root lends its cluster to another account, which has to get there.
	if err := os.Chmod(dir, 0o711); err != nil {
		return "", fmt.Errorf("make a data directory for tests: %w", err)
	}
	return dir, nil
}

// sweep removes the data directories of runs that didn't reach their end. One that can't be removed is somebody else's,
// or still in use.
func sweep(ctx context.Context) {
	dirs, _ := filepath.Glob(filepath.Join(os.TempDir(), dirPrefix+"*"))
	for _, dir := range dirs {
		if info, err := os.Lstat(dir); err == nil && info.IsDir() && time.Since(info.ModTime()) > staleAfter {
			_ = local.RemoveDataDir(ctx, dir)
		}
	}
}
