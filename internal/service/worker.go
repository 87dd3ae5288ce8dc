package service

import (
	"context"
	"errors"
	"log/slog"

	"github.com/loresync/loresync/activities"
	"github.com/loresync/loresync/internal/config"
	"github.com/loresync/loresync/internal/workers"
)

// Worker runs the workers of one process until the context ends, and then lets what is under way end. That it was stopped
// while it still waited for a server is no error.
func Worker(ctx context.Context, cfg config.Config, log *slog.Logger) error {
	err := work(ctx, cfg, log)
	if ctx.Err() != nil && errors.Is(err, context.Cause(ctx)) {
		return nil
	}
	return err
}

func work(ctx context.Context, cfg config.Config, log *slog.Logger) error {
	wiring, err := connect(ctx, cfg, log)
	if err != nil {
		return err
	}
	defer wiring.Close()
	if err := awaitTemporal(ctx, wiring.Temporal, cfg, log); err != nil {
		return err
	}
	wiring.Sources.KeepKeys()
	return workers.Run(ctx, workers.Options{
		Store: wiring.Store, Temporal: wiring.Temporal, Control: wiring.Control, Sources: wiring.Sources,
		Models: activities.Models{Embedder: wiring.Embedder, Summarizer: wiring.Summarizer},
		Timeouts: activities.Timeouts{
			Ladder: cfg.Timeouts.Ladder, Abandoned: cfg.Timeouts.Abandoned, AskAgain: cfg.Timeouts.AskAgain, Undo: cfg.Timeouts.Undo,
		},
		PublicURL: cfg.PublicURL, Log: log,
	})
}
