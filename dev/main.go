// Command dev runs all of loresync on one machine: Temporal, Postgres, workers and the gateway, with a sample handbook synced.
//
//	go run ./dev
//
// It keeps its data in .loresync and goes on with it at the next start. Workers and gateway are copies of this program under a
// hidden argument, so that a crash of one of them is as real here as in production.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/loresync/loresync/dev/internal/screen"
	"github.com/loresync/loresync/internal/content/extract"
	"github.com/loresync/loresync/internal/service"
)

func main() {
	extract.ServeChildIfAsked()
	if len(os.Args) > 1 && os.Args[1] == childArgument {
		os.Exit(playChild(os.Args[2:]))
	}
	options, err := parseFlags(os.Args[1:], os.Stdout)
	if errors.Is(err, errHelp) {
		return
	}
	if err == nil {
		err = run(context.Background(), options)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "dev:", err)
		os.Exit(exitCode(err))
	}
}

// run starts everything and ends it in order: at the first signal, or after the sync with --once. The second signal hurries.
func run(ctx context.Context, options options) error {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	// Whoever reads our output may go away before us; what was started is ended in order all the same.
	signal.Ignore(syscall.SIGPIPE)
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer signal.Stop(signals)
	hurry := make(chan struct{})
	go func() {
		<-signals
		stop(errStopped)
		<-signals
		close(hurry)
	}()
	defer takeTerminal(ctx)()
	go watchLauncher(ctx, stop)
	d := &dev{options: options, screen: screen.New(os.Stderr), hurry: hurry, fail: stop}
	err := d.run(ctx)
	if errors.Is(err, errStopped) && !options.once {
		err = nil
	}
	return errors.Join(err, d.stop())
}

// errStopped is why everything ends when a person says so.
var errStopped = errors.New("stopped by a signal")

func exitCode(err error) int {
	if _, wrong := errors.AsType[*usageError](err); wrong {
		return exitUsage
	}
	return service.ExitCode(err)
}
