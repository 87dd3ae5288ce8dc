package main

import (
	"context"
	"flag"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
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
	// uiFlag hands the gateway the address of Temporal's own pages.
	uiFlag = "temporal-ui"
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
	flags := flag.NewFlagSet(childArgument, flag.ContinueOnError)
	ui := flags.String(uiFlag, "", "")
	if err := flags.Parse(args); err != nil {
		return fmt.Errorf("read the command line: %w", err)
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, os.Interrupt)
	defer stop()
	cfg, err := service.Settings()
	if err != nil {
		return err
	}
	log := telemetry.NewLogger(os.Stderr, telemetry.FormatText, slog.LevelInfo)
	if flags.Arg(0) == roleGateway {
		return service.Gateway(ctx, cfg, log, *ui)
	}
	return service.Worker(ctx, cfg, log)
}
