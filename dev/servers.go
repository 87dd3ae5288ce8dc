package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/loresync/loresync/internal/local"
)

const (
	databaseName = "loresync"
	// ownerPatience is how long a data directory may still belong to a run that is ending.
	ownerPatience = 15 * time.Second
	// maxRestarts of a server within restartSpan mean that something is wrong with it.
	maxRestarts = 3
	restartSpan = 5 * time.Minute
)

// errServer says that a server can't be kept running.
var errServer = errors.New("a server ended and could not be kept running")

// servers are Temporal and Postgres: our own, or those that the flags name.
type servers struct {
	temporal *local.Temporal
	postgres *local.Postgres
	watchers sync.WaitGroup

	temporalAddress, temporalUI, databaseURL string
}

// startServers starts both at once and watches over them.
func (d *dev) startServers(ctx context.Context) error {
	d.servers.temporalAddress, d.servers.databaseURL = d.options.temporalAddress, d.options.databaseURL
	if err := d.claim(ctx); err != nil {
		return err
	}
	both, starting := errgroup.WithContext(ctx)
	if d.options.temporalAddress == "" {
		both.Go(func() error { return d.startTemporal(starting) })
	}
	if d.options.databaseURL == "" {
		both.Go(func() error { return d.startPostgres(starting) })
	}
	if err := both.Wait(); err != nil {
		return err
	}
	if t := d.servers.temporal; t != nil {
		d.servers.watchers.Go(func() { d.watch(ctx, "Temporal", t) })
	}
	if p := d.servers.postgres; p != nil {
		d.servers.watchers.Go(func() { d.watch(ctx, "Postgres", p) })
	}
	return nil
}

// claim ends what a killed run left in the data directory, and waits a moment for a run that is just ending. It comes before
// the ports are chosen, since a leftover holds the ones that we want back.
func (d *dev) claim(ctx context.Context) error {
	began := time.Now()
	for {
		err := local.EndLeftovers(ctx, d.dir)
		var inUse *local.InUseError
		if err == nil || !errors.As(err, &inUse) || time.Since(began) > ownerPatience {
			return err
		}
		if time.Since(began) < time.Second {
			d.screen.Line(fmt.Sprintf("%s is in use by process %d; waiting %s for it to end …", d.options.dataDir, inUse.PID, ownerPatience))
			began = began.Add(-time.Second)
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(200 * time.Millisecond):
		}
	}
}

func (d *dev) startTemporal(ctx context.Context) error {
	stage := d.screen.Begin("Temporal", "looking for the Temporal CLI")
	cli, err := local.FindTemporal(ctx, local.TemporalSearch{BinDir: d.binDir(), Progress: d.screen})
	if err != nil {
		stage.Fail()
		return err
	}
	stage.Doing("starting")
	d.servers.temporal, err = local.StartTemporal(ctx, local.TemporalOptions{
		CLI: cli, DataDir: d.dir, UI: true, Port: d.last.port(temporalVariable), UIPort: d.last.port(uiVariable),
	})
	if err != nil {
		stage.Fail()
		return err
	}
	d.servers.temporalAddress, d.servers.temporalUI = d.servers.temporal.Address(), d.servers.temporal.UIURL()
	stage.Done("ready at " + d.servers.temporalAddress)
	return nil
}

func (d *dev) startPostgres(ctx context.Context) error {
	stage := d.screen.Begin("Postgres", "looking for a Postgres server")
	programs, err := local.FindPostgres(ctx, local.PostgresSearch{BinDir: d.binDir(), Progress: d.screen})
	if err != nil {
		stage.Fail()
		return err
	}
	stage.Doing("starting")
	if d.last == nil {
		stage.Doing("making a new cluster")
	}
	p, err := local.StartPostgres(ctx, local.PostgresOptions{
		BinDir: programs, DataDir: d.dir, Port: d.last.port(databaseVariable), Durable: true, MinimalWAL: true,
	})
	if err != nil {
		stage.Fail()
		return err
	}
	d.servers.postgres = p
	if err := p.CreateDatabase(ctx, databaseName); err != nil {
		stage.Fail()
		return err
	}
	d.servers.databaseURL = p.URL(databaseName)
	stage.Done("ready at " + withoutPassword(d.servers.databaseURL))
	if d.isElsewhere() {
		d.screen.Line("  " + d.screen.Faint("its data is in "+p.DataDir()+": the account that runs it can't enter "+d.dir))
	}
	return nil
}

// isElsewhere tells whether the cluster's files lie outside the data directory.
func (d *dev) isElsewhere() bool {
	p := d.servers.postgres
	if p == nil {
		return false
	}
	dir, err := filepath.EvalSymlinks(d.dir)
	return err == nil && !strings.HasPrefix(p.DataDir(), dir+string(filepath.Separator))
}

// binDir keeps built and downloaded programs: once for a checkout, whatever data directories are used in it.
func (d *dev) binDir() string {
	if _, err := os.Stat("go.mod"); err == nil {
		if here, err := filepath.Abs(filepath.Join(".loresync", "bin")); err == nil {
			return here
		}
	}
	return filepath.Join(d.dir, "bin")
}

// server is what a Temporal and a Postgres have in common.
type server interface {
	Done() <-chan struct{}
	Restart(ctx context.Context) error
	Stop() error
	Kill() error
}

// watch starts a server again when it ends by itself, on the same port and data, and ends everything when that doesn't help.
func (d *dev) watch(ctx context.Context, name string, s server) {
	for restarts, began := 0, time.Now(); ; {
		select {
		case <-ctx.Done():
			return
		case <-s.Done():
		}
		if ctx.Err() != nil {
			return
		}
		if time.Since(began) > restartSpan {
			restarts, began = 0, time.Now()
		}
		restarts++
		if restarts > maxRestarts {
			d.fail(fmt.Errorf("%w: %s ended %d times, see the logs in %s", errServer, name, restarts, d.dir))
			return
		}
		d.screen.Trouble(name + " ended by itself and is being started again")
		if err := s.Restart(ctx); err != nil {
			d.fail(fmt.Errorf("%w: %w", errServer, err))
			return
		}
		d.screen.Line("  " + name + " is back")
	}
}

// stop ends Temporal, and then Postgres. Whoever doesn't want to wait has them killed: both are made for that.
func (s *servers) stop(hurry <-chan struct{}) error {
	s.watchers.Wait()
	var err error
	if s.temporal != nil {
		err = stopServer(s.temporal, hurry)
	}
	if s.postgres != nil {
		err = errors.Join(err, stopServer(s.postgres, hurry))
	}
	return err
}

func stopServer(s server, hurry <-chan struct{}) error {
	stopped := make(chan error, 1)
	go func() { stopped <- s.Stop() }()
	select {
	case err := <-stopped:
		return err
	case <-hurry:
		return errors.Join(s.Kill(), <-stopped)
	}
}
