package main

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"os"
	"os/user"
	"time"

	"golang.org/x/term"

	"github.com/loresync/loresync/internal/config"
	"github.com/loresync/loresync/internal/control"
	"github.com/loresync/loresync/internal/store"
	"github.com/loresync/loresync/schema"
	"github.com/loresync/loresync/starter/internal/out"
)

// deps is the world as the commands see it.
type deps struct {
	in       io.Reader
	out, err io.Writer
	// terminals says where a person sits.
	terminals out.Terminals
	now       func() time.Time
	// actor is who asks.
	actor control.Actor
	// connect opens what most commands need; a command that needs nothing (help, version) never calls it.
	connect func(ctx context.Context) (*session, error)
	// migrate brings the configured database to this program's schema, and tells the version.
	migrate func(ctx context.Context) (int64, error)
}

// session is one connection to the deployment.
type session struct {
	door     door
	searcher searcher
	close    func()
}

func realDeps() deps {
	return deps{
		in: os.Stdin, out: os.Stdout, err: os.Stderr,
		terminals: terminals(),
		now:       time.Now,
		actor:     control.Actor{Name: userAtHost(), Trigger: "cli"},
		connect:   connect,
		migrate:   migrate,
	}
}

func connect(ctx context.Context) (*session, error) {
	cfg, err := config.Load()
	if err != nil {
		return nil, &endedError{code: exitUsage, sentence: err.Error()}
	}
	// The libraries below would log beside our own messages; what matters comes back as an error.
	wiring, err := config.Connect(ctx, cfg, slog.New(slog.DiscardHandler))
	var known *control.Error
	switch {
	case errors.As(err, &known):
		return nil, err
	case err != nil: // a setting that only its user found wrong
		return nil, &endedError{code: exitUsage, sentence: err.Error()}
	}
	return &session{door: wiring.Control, searcher: wiring.Searcher, close: wiring.Close}, nil
}

// migrate needs no more than the database's address: it works on a schema that every other command refuses.
func migrate(ctx context.Context) (int64, error) {
	cfg, err := config.Load()
	if err != nil {
		return 0, &endedError{code: exitUsage, sentence: err.Error()}
	}
	// Asked first, so that a server that is away is told from a migration that went wrong.
	st, err := store.Open(ctx, cfg.DatabaseURL, store.Options{SkipSchemaCheck: true, ConnectTimeout: cfg.Timeouts.DatabaseConnect})
	if errors.Is(err, store.ErrUnreachable) {
		return 0, &control.Error{
			Kind: control.KindUnreachable, Code: "postgres_unreachable", Err: err,
			Sentence: "Postgres could not be reached: start it, or check LORESYNC_DATABASE_URL.",
		}
	}
	if err != nil {
		return 0, err
	}
	st.Close()
	return schema.Migrate(ctx, cfg.DatabaseURL)
}

func terminals() out.Terminals {
	streams := out.Terminals{In: isTerminal(os.Stdin), Out: isTerminal(os.Stdout), Err: isTerminal(os.Stderr)}
	for _, stream := range []*os.File{os.Stdout, os.Stderr} {
		if width, _, err := term.GetSize(int(stream.Fd())); err == nil {
			streams.Width = width
			break
		}
	}
	return streams
}

func isTerminal(file *os.File) bool { return term.IsTerminal(int(file.Fd())) }

// userAtHost is how deletes and runs name who asked for them.
func userAtHost() string {
	name := "unknown"
	if current, err := user.Current(); err == nil && current.Username != "" {
		name = current.Username
	}
	if host, err := os.Hostname(); err == nil && host != "" {
		return name + "@" + host
	}
	return name
}
