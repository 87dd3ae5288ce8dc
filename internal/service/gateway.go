package service

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"

	"go.temporal.io/sdk/client"

	"github.com/loresync/loresync/internal/access"
	"github.com/loresync/loresync/internal/api"
	"github.com/loresync/loresync/internal/config"
	"github.com/loresync/loresync/internal/telemetry"
	"github.com/loresync/loresync/internal/web"
	"github.com/loresync/loresync/schema"
)

// Gateway answers HTTP until the context ends, and then lets answers under way end. It needs Postgres to start, and Temporal
// only to be ready: what only reads, and deletes, work without.
func Gateway(ctx context.Context, cfg config.Config, log *slog.Logger) error {
	err := serve(ctx, cfg, log)
	if ctx.Err() != nil && errors.Is(err, context.Cause(ctx)) {
		return nil
	}
	return err
}

func serve(ctx context.Context, cfg config.Config, log *slog.Logger) error {
	// First of all, so that a port that is taken is told at once.
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", cfg.Listen)
	if err != nil {
		return &SettingsError{Err: fmt.Errorf("LORESYNC_LISTEN is %s, and nothing can listen there: %w", cfg.Listen, err)}
	}
	defer func() { _ = listener.Close() }()
	registry := telemetry.NewRegistry()
	cfg.Temporal.MetricsHandler = telemetry.NewTemporalHandler(registry)
	wiring, err := connect(ctx, cfg, log)
	if err != nil {
		return err
	}
	defer wiring.Close()
	door := access.NewDoor(cfg.AdminToken, wiring.Control, nil)
	rest, err := api.New(api.Options{
		Control: wiring.Control, Searcher: wiring.Searcher, Door: door, PublicURL: cfg.PublicURL, Stopping: ctx.Done(), Log: log,
	})
	if err != nil {
		return &SettingsError{Err: fmt.Errorf("LORESYNC_PUBLIC_URL can't be used: %w", err)}
	}
	handler := web.New(web.Options{
		Status: wiring.Control, Checks: checks(wiring, cfg), Registry: registry, Door: door, API: rest, PublicURL: cfg.PublicURL,
		TemporalUI: cfg.TemporalUIURL, Namespace: namespaceOf(cfg), Log: log, Webhooks: wiring.Control, NotionWebhookSecret: cfg.Notion.WebhookSecret,
	})
	log.InfoContext(ctx, "gateway is ready", "listen", listener.Addr().String())
	err = web.Serve(ctx, listener, handler, log)
	log.InfoContext(context.WithoutCancel(ctx), "gateway stops")
	return err
}

// checks are what a gateway needs to answer: its database, the schema it was made for, and Temporal.
func checks(wiring *config.Wiring, cfg config.Config) []web.Check {
	return []web.Check{
		{Name: "postgres", Advice: "not reachable: start it, or check LORESYNC_DATABASE_URL", Run: wiring.Store.Ping},
		{Name: "schema", Advice: "not the one of this program: run starter migrate", Run: func(ctx context.Context) error {
			return schema.Check(ctx, cfg.DatabaseURL)
		}},
		{Name: "temporal", Advice: "not reachable: start it, or check TEMPORAL_ADDRESS and TEMPORAL_NAMESPACE", Run: func(ctx context.Context) error {
			return askTemporal(ctx, wiring.Temporal, cfg)
		}},
	}
}

func namespaceOf(cfg config.Config) string {
	if cfg.Temporal.Namespace == "" {
		return client.DefaultNamespace
	}
	return cfg.Temporal.Namespace
}
