// Command worker runs loresync's workflows and activities. Any number of them may run side by side; SIGTERM or Ctrl-C lets
// what is under way end, a second one doesn't.
package main

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"syscall"

	"github.com/loresync/loresync/internal/content/extract"
	"github.com/loresync/loresync/internal/service"
	"github.com/loresync/loresync/internal/telemetry"
)

func main() {
	extract.ServeChildIfAsked()
	if err := run(context.Background()); err != nil {
		fmt.Fprintln(os.Stderr, "worker:", err)
		os.Exit(service.ExitCode(err))
	}
}

func run(ctx context.Context) error {
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop)
	cfg, err := service.Settings()
	if err != nil {
		return err
	}
	log := telemetry.NewLogger(os.Stderr, telemetry.FormatFor(os.Stderr), slog.LevelInfo)
	return service.Worker(ctx, cfg, log)
}
