// Command gateway answers HTTP: health, readiness, metrics, a status page and the webhooks of sources. Any number of them may
// run side by side; SIGTERM or Ctrl-C lets answers under way end, a second one doesn't.
package main

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"syscall"

	"github.com/loresync/loresync/internal/service"
	"github.com/loresync/loresync/internal/telemetry"
)

func main() {
	if err := run(context.Background()); err != nil {
		fmt.Fprintln(os.Stderr, "gateway:", err)
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
	return service.Gateway(ctx, cfg, log)
}
