package service

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"syscall"

	"github.com/loresync/loresync/internal/config"
	"github.com/loresync/loresync/internal/telemetry"
)

// Main is a process from its settings to its exit code: Ctrl-C or SIGTERM lets what is under way end, a second one doesn't.
// serve is Worker or Gateway, and name stands in front of what goes wrong.
func Main(name string, serve func(ctx context.Context, cfg config.Config, log *slog.Logger) error) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop)
	cfg, err := Settings()
	if err == nil {
		err = serve(ctx, cfg, telemetry.NewLogger(os.Stderr, telemetry.FormatFor(os.Stderr), slog.LevelInfo))
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, name+":", err)
	}
	return ExitCode(err)
}
