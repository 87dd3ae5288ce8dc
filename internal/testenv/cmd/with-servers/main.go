// Command with-servers runs a command, usually `go test ./...`, with a Postgres and a Temporal that all its processes
// share:
//
//	go run ./internal/testenv/cmd/with-servers -- go test ./...
//
// It starts both on free ports with data in a temporary folder, names them in LORESYNC_TEST_DATABASE_URL and
// LORESYNC_TEST_TEMPORAL_ADDRESS, passes signals on to the command, ends both servers after it, and exits as it did.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"syscall"

	"github.com/loresync/loresync/internal/testenv"
)

const (
	exitFailed = 1
	exitUsage  = 2
	// exitSignal is added to a signal's number, as shells do.
	exitSignal = 128
)

func main() {
	args := os.Args[1:]
	if len(args) > 0 && args[0] == "--" {
		args = args[1:]
	}
	if len(args) == 0 {
		fmt.Fprintln(os.Stderr, "usage: with-servers -- command [arguments]")
		os.Exit(exitUsage)
	}
	code, err := run(args)
	if err != nil {
		fmt.Fprintln(os.Stderr, "with-servers:", err)
		code = max(code, exitFailed)
	}
	os.Exit(code)
}

// run starts the servers, runs the command and ends the servers.
func run(args []string) (code int, err error) {
	signals := make(chan os.Signal, 4)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer signal.Stop(signals)
	servers, err := start(signals)
	defer func() { err = errors.Join(err, servers.Stop()) }()
	if err != nil {
		return exitFailed, err
	}
	return execute(args, servers, signals)
}

// start starts the servers; a signal calls it off.
func start(signals <-chan os.Signal) (*testenv.Servers, error) {
	ctx, cancel := context.WithCancelCause(context.Background())
	defer cancel(nil)
	go func() {
		select {
		case s := <-signals:
			cancel(fmt.Errorf("%w: %s", context.Canceled, s))
		case <-ctx.Done():
		}
	}()
	servers, err := testenv.StartServers(ctx)
	if err != nil {
		return servers, fmt.Errorf("start the servers: %w", err)
	}
	return servers, nil
}

// execute runs the command to its end, passing signals on, and returns its exit code.
func execute(args []string, servers *testenv.Servers, signals <-chan os.Signal) (int, error) {
	cmd := exec.CommandContext(context.Background(), args[0], args[1:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	cmd.Env = append(os.Environ(),
		testenv.DatabaseVariable+"="+servers.DatabaseURL, testenv.TemporalVariable+"="+servers.TemporalAddress)
	if err := cmd.Start(); err != nil {
		return exitFailed, fmt.Errorf("run %s: %w", args[0], err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	for {
		select {
		case s := <-signals:
			_ = cmd.Process.Signal(s)
		case err := <-ended:
			return exitCode(err)
		}
	}
}

// exitCode turns the end of the command into ours.
func exitCode(err error) (int, error) {
	var ended *exec.ExitError
	if !errors.As(err, &ended) {
		return 0, err
	}
	if status, ok := ended.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		return exitSignal + int(status.Signal()), nil
	}
	return ended.ExitCode(), nil
}
