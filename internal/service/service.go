// Package service runs loresync's long-lived processes, the worker and the gateway, from their settings to their end. The
// mains call it, and so do the children of `dev`: whatever runs a worker runs the same one.
package service

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"

	"github.com/loresync/loresync/internal/config"
	"github.com/loresync/loresync/internal/control"
)

const (
	// patience is how long a starting process waits for its servers: they are often started at the same time.
	patience = time.Minute
	// pause lies between two tries, and sayEvery between two lines about them.
	pause    = 500 * time.Millisecond
	sayEvery = 10 * time.Second
	// tryPatience bounds one try.
	tryPatience = 5 * time.Second
)

// The exit codes of a process, those of the command line.
const (
	exitFailed      = 1
	exitUsage       = 2
	exitUnreachable = 5
)

// SettingsError is a setting that is missing or wrong, in one line that names it.
type SettingsError struct{ Err error }

// Error gives the line.
func (e *SettingsError) Error() string { return e.Err.Error() }

// Unwrap gives the cause.
func (e *SettingsError) Unwrap() error { return e.Err }

// Settings reads the settings of a process from its environment; the error is a SettingsError.
func Settings() (config.Config, error) {
	cfg, err := config.Load()
	if err != nil {
		return cfg, &SettingsError{Err: err}
	}
	return cfg, nil
}

// ExitCode is what a process ends with after an error.
func ExitCode(err error) int {
	var settings *SettingsError
	switch {
	case err == nil:
		return 0
	case errors.As(err, &settings):
		return exitUsage
	case control.KindOf(err) == control.KindUnreachable:
		return exitUnreachable
	}
	return exitFailed
}

// connect wires a process. It waits for a Postgres that isn't there yet, but not for an older schema: that needs a person.
func connect(ctx context.Context, cfg config.Config, log *slog.Logger) (*config.Wiring, error) {
	var wiring *config.Wiring
	err := await(ctx, log, "postgres", func(ctx context.Context) error {
		var err error
		wiring, err = config.Connect(ctx, cfg, log)
		return err
	})
	return wiring, err
}

// awaitTemporal waits until Temporal answers for the namespace.
func awaitTemporal(ctx context.Context, temporal client.Client, cfg config.Config, log *slog.Logger) error {
	return await(ctx, log, "temporal", func(ctx context.Context) error {
		return askTemporal(ctx, temporal, cfg)
	})
}

// askTemporal asks for the namespace rather than for the server's health: without it nothing works either.
func askTemporal(ctx context.Context, temporal client.Client, cfg config.Config) error {
	namespace := namespaceOf(cfg)
	_, err := temporal.WorkflowService().DescribeNamespace(ctx, &workflowservice.DescribeNamespaceRequest{Namespace: namespace})
	if err == nil {
		return nil
	}
	address := cfg.Temporal.HostPort
	if address == "" {
		address = client.DefaultHostPort
	}
	return &control.Error{
		Kind: control.KindUnreachable, Code: "temporal_unreachable", Err: err,
		Sentence: fmt.Sprintf("Temporal does not answer for the namespace %q at %s (%v): start it, or check TEMPORAL_ADDRESS and TEMPORAL_NAMESPACE.",
			namespace, address, err),
	}
}

// await tries until it works, until it fails for another reason than that a server isn't there, or until patience ends.
func await(ctx context.Context, log *slog.Logger, server string, try func(context.Context) error) error {
	began, said := time.Now(), time.Time{}
	for {
		attempt, cancel := context.WithTimeout(ctx, tryPatience)
		err := try(attempt)
		cancel()
		switch {
		case err == nil:
			return nil
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case !isAbsence(err) || time.Since(began) > patience:
			return err
		}
		if time.Since(said) >= sayEvery {
			said = time.Now()
			log.WarnContext(ctx, "waiting for a server", "server", server, "gives_up_in", (patience - time.Since(began)).Round(time.Second).String(), "error", err)
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(pause):
		}
	}
}

// isAbsence tells whether a server isn't there, or is too busy starting to answer.
func isAbsence(err error) bool {
	return control.KindOf(err) == control.KindUnreachable || errors.Is(err, context.DeadlineExceeded)
}
