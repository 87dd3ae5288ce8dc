package main

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"time"

	"github.com/jackc/pgx/v5"
	"go.temporal.io/sdk/client"

	"github.com/loresync/loresync/bench/internal/corpus"
	"github.com/loresync/loresync/internal/config"
	"github.com/loresync/loresync/internal/local"
	"github.com/loresync/loresync/schema"
)

const (
	database = "loresync"
	// callPatience bounds one call of Temporal: a server that a load keeps busy is not one that is down.
	callPatience = time.Minute
)

// lab is the servers of one run, and loresync's door to them. Workers run in processes of their own.
type lab struct {
	*config.Wiring
	options options
	out     io.Writer
	begun   time.Time
	// dataDir is empty until it is ours.
	dataDir  string
	postgres *local.Postgres
	temporal *local.Temporal
	// sql looks behind loresync's back. Its writes are in no table that is counted.
	sql    *pgx.Conn
	corpus *corpus.Corpus
	// added and filled are set once the folder that most measures share is registered, and synced.
	added, filled bool
	// children counts the child processes, so that their profiles differ.
	children int
	// notion is the stand-in that the next workers read; empty for none.
	notion config.Notion
	// floors counts the runs of the floor, so that their Workflow IDs differ.
	floors int
}

// openLab starts the servers on an empty data directory, with the settings of `make dev`.
func openLab(ctx context.Context, o options, out io.Writer) (*lab, error) {
	l := &lab{options: o, out: out, begun: time.Now(), corpus: corpus.New(o.seed)}
	if err := l.open(ctx); err != nil {
		l.close(context.WithoutCancel(ctx))
		return nil, err
	}
	return l, nil
}

func (l *lab) open(ctx context.Context) error {
	var err error
	if l.dataDir, err = makeDataDir(ctx, l.options.dataDir); err != nil {
		return err
	}
	l.say("Starting Postgres and Temporal …")
	if err := l.startServers(ctx); err != nil {
		return err
	}
	if _, err := schema.Migrate(ctx, l.postgres.URL(database)); err != nil {
		return err
	}
	if l.sql, err = pgx.Connect(ctx, l.postgres.URL(database)+"&application_name=bench"); err != nil {
		return fmt.Errorf("connect to the database: %w", err)
	}
	return l.connect(ctx)
}

// connect opens loresync's door to the servers.
func (l *lab) connect(ctx context.Context) error {
	var err error
	l.Wiring, err = config.Connect(ctx, config.Config{
		DatabaseURL: l.postgres.URL(database),
		Temporal:    client.Options{HostPort: l.temporal.Address(), Namespace: client.DefaultNamespace},
		Timeouts:    config.Timeouts{Temporal: callPatience},
	}, slog.New(slog.DiscardHandler))
	return err
}

func (l *lab) startServers(ctx context.Context) error {
	programs, err := local.FindPostgres(ctx, local.PostgresSearch{BinDir: l.options.binDir, Progress: l.out})
	if err != nil {
		return err
	}
	cli, err := local.FindTemporal(ctx, local.TemporalSearch{BinDir: l.options.binDir, Progress: l.out})
	if err != nil {
		return err
	}
	if l.postgres, err = local.StartPostgres(ctx, local.PostgresOptions{BinDir: programs, DataDir: l.dataDir, Durable: true}); err != nil {
		return err
	}
	if err := l.postgres.CreateDatabase(ctx, database); err != nil {
		return err
	}
	l.temporal, err = local.StartTemporal(ctx, local.TemporalOptions{CLI: cli, DataDir: l.dataDir})
	return err
}

// close ends what was started and removes its data. What can't be ended or removed is said; the next run tries again.
func (l *lab) close(ctx context.Context) {
	if l.Wiring != nil {
		l.Close()
	}
	if l.sql != nil {
		_ = l.sql.Close(ctx)
	}
	if l.temporal != nil {
		l.complain(l.temporal.Stop())
	}
	if l.postgres != nil {
		l.complain(l.postgres.Stop())
	}
	if l.dataDir != "" {
		l.complain(local.RemoveDataDir(ctx, l.dataDir))
	}
}

func (l *lab) complain(err error) {
	if err != nil {
		l.say("%v", err)
	}
}

// say writes a line of progress, with the time since the start.
func (l *lab) say(format string, args ...any) {
	fmt.Fprintf(l.out, "%6s  %s\n", time.Since(l.begun).Round(time.Second), fmt.Sprintf(format, args...))
}

// pause waits, and returns early with the context's error.
func pause(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-timer.C:
		return nil
	}
}
