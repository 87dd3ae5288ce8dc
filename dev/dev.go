package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/loresync/loresync/dev/internal/children"
	"github.com/loresync/loresync/dev/internal/sandbox"
	"github.com/loresync/loresync/dev/internal/screen"
	"github.com/loresync/loresync/internal/config"
	"github.com/loresync/loresync/internal/control"
	"github.com/loresync/loresync/internal/store"
	"github.com/loresync/loresync/schema"
)

// dev is one run of everything.
type dev struct {
	options options
	screen  *screen.Screen
	// hurry is closed when a person doesn't want to wait for an orderly end.
	hurry <-chan struct{}
	// fail ends the run with a cause.
	fail context.CancelCauseFunc

	began time.Time
	// dir is the data directory, absolute.
	dir string
	// last is what the last run in this directory wrote for others.
	last     remembered
	servers  servers
	settings settings
	wiring   *config.Wiring
	sandbox  *sandbox.Sandbox
	workers  []*children.Child
	gateway  *children.Child
}

// run is the story of a run, up to the moment when everything is to end.
func (d *dev) run(ctx context.Context) error {
	d.began = time.Now()
	if err := d.prepare(); err != nil {
		return err
	}
	if err := d.startServers(ctx); err != nil {
		return cause(ctx, err)
	}
	if err := d.migrate(ctx); err != nil {
		return cause(ctx, err)
	}
	if err := d.startSandbox(); err != nil { //nolint:contextcheck // the stand-ins end by Close
		return err
	}
	if err := d.connect(ctx); err != nil {
		return cause(ctx, err)
	}
	if err := d.startProcesses(ctx); err != nil {
		return cause(ctx, err)
	}
	if err := d.subscribeSandbox(ctx); err != nil {
		return cause(ctx, err)
	}
	result, err := d.sync(ctx)
	if d.options.once || ctx.Err() != nil {
		d.report(result, err)
		return cause(ctx, err)
	}
	// A sync that failed is a reason to look, not to stop: the status and the logs are there to look at.
	d.welcome(result, err)
	<-ctx.Done()
	return context.Cause(ctx)
}

// cause prefers why everything ends to what that did to the step under way.
func cause(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}

// prepare makes the data directory and finds mistakes in the settings before anything is started.
func (d *dev) prepare() error {
	var err error
	if d.dir, err = filepath.Abs(d.options.dataDir); err != nil {
		return fmt.Errorf("find the data directory: %w", err)
	}
	mode := os.FileMode(0o700)
	if os.Geteuid() == 0 {
		// Root lends the cluster below it to an ordinary account, which has to pass through, and can't list it.
		mode = 0o711
	}
	if err := os.MkdirAll(d.dir, mode); err != nil {
		return fmt.Errorf("make the data directory: %w", err)
	}
	d.last = remember(d.dir)
	return d.checkSettings()
}

// migrate brings the database to this program's schema.
func (d *dev) migrate(ctx context.Context) error {
	stage := d.screen.Begin("Schema", "migrating the database")
	err := d.reachDatabase(ctx)
	var version int64
	if err == nil {
		version, err = schema.Migrate(ctx, d.servers.databaseURL)
	}
	if err != nil {
		stage.Fail()
		return fmt.Errorf("migrate: %w", err)
	}
	stage.Done(fmt.Sprintf("at version %d", version))
	return nil
}

// reachDatabase looks whether a database answers at all, to say so in one line: a flag may name any.
func (d *dev) reachDatabase(ctx context.Context) error {
	st, err := store.Open(ctx, d.servers.databaseURL, store.Options{SkipSchemaCheck: true})
	if err != nil {
		return &control.Error{
			Kind: control.KindOf(err), Code: "postgres_unreachable", Err: err,
			Sentence: withoutPassword(d.servers.databaseURL) + " can't be used: start it, or check --database-url (" + lastLine(err) + ")",
		}
	}
	st.Close()
	return nil
}

// lastLine is the part of the driver's several lines that says most.
func lastLine(err error) string {
	lines := strings.Split(strings.TrimSpace(err.Error()), "\n")
	return strings.TrimSpace(lines[len(lines)-1])
}

// connect writes down what other processes need to join, and joins as they would.
func (d *dev) connect(ctx context.Context) error {
	if err := d.publishSettings(); err != nil {
		return err
	}
	cfg, err := config.Load()
	if err != nil {
		return fmt.Errorf("read the settings: %w", err)
	}
	// What goes wrong comes back as an error; the libraries' own lines would only get between ours.
	if d.wiring, err = config.Connect(ctx, cfg, slog.New(slog.DiscardHandler)); err != nil {
		return fmt.Errorf("connect: %w", err)
	}
	if err := d.wiring.Control.EnsureSchedules(ctx); err != nil {
		return fmt.Errorf("make the schedules: %w", err)
	}
	return nil
}

// stop ends everything that was started, in order: who works, who answers, and then the servers that they need.
func (d *dev) stop() error {
	d.fail(errStopped) // keeps servers that end now from being started again
	if d.wiring != nil {
		d.wiring.Close()
	}
	if d.dir != "" && (len(d.workers) > 0 || d.gateway != nil) {
		d.screen.Line(d.screen.Faint("Stopping …"))
	}
	d.stopProcesses()
	if d.sandbox != nil {
		_ = d.sandbox.Close() // nothing is kept of it
	}
	err := d.servers.stop(d.hurry)
	if err != nil {
		return errors.Join(errors.New("not everything could be stopped"), err)
	}
	return nil
}
