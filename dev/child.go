package main

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"slices"
	"syscall"

	"github.com/loresync/loresync/dev/internal/children"
	"github.com/loresync/loresync/internal/service"
	"github.com/loresync/loresync/internal/telemetry"
)

// childArgument begins the command line of this program's copies. It is no flag, and not for people.
const childArgument = "child"

const (
	roleWorker  = "worker"
	roleGateway = "gateway"
)

// playChild is the main of a copy: a worker or a gateway that ends with its parent.
func playChild(args []string) int {
	children.HoldLifeline()
	if err := runChild(args); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return service.ExitCode(err)
	}
	return 0
}

func runChild(args []string) error {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, os.Interrupt)
	defer stop()
	cfg, err := service.Settings()
	if err != nil {
		return err
	}
	log := telemetry.NewLogger(os.Stderr, telemetry.FormatText, slog.LevelInfo)
	if slices.Contains(args, roleGateway) {
		return service.Gateway(ctx, cfg, log)
	}
	return service.Worker(ctx, cfg, log)
}
