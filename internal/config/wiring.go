package config

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/url"

	"go.temporal.io/sdk/client"
	sdklog "go.temporal.io/sdk/log"
	"google.golang.org/grpc"

	"github.com/loresync/loresync/internal/content/embed"
	"github.com/loresync/loresync/internal/content/summary"
	"github.com/loresync/loresync/internal/control"
	"github.com/loresync/loresync/internal/search"
	"github.com/loresync/loresync/internal/store"
	"github.com/loresync/loresync/schema"
)

// Wiring is what every process is made of.
type Wiring struct {
	Store    *store.Store
	Temporal client.Client
	Sources  *Sources
	Control  *control.Control
	Searcher *search.Searcher
	// Embedder and Summarizer are the models in use, remote or built-in.
	Embedder   embed.Embedder
	Summarizer summary.Summarizer
}

// Connect opens the store, whose schema must be this program's, and prepares the rest. Temporal is dialled with the first
// call that needs it: what only reads, and deletes, work while it is down.
func Connect(ctx context.Context, c Config, log *slog.Logger) (*Wiring, error) {
	embedder, summarizer, err := Models(c)
	if err != nil {
		return nil, err
	}
	st, err := store.Open(ctx, c.DatabaseURL, store.Options{
		LockTimeout: c.Timeouts.Lock, IdleInTransaction: c.Timeouts.IdleInTransaction, ConnectTimeout: c.Timeouts.DatabaseConnect,
	})
	if err != nil {
		return nil, databaseTrouble(c.DatabaseURL, err)
	}
	temporal, err := lazyTemporal(c, log)
	if err != nil {
		st.Close()
		return nil, err
	}
	sources := NewSources(c, st)
	return &Wiring{
		Store: st, Temporal: temporal, Sources: sources, Searcher: search.New(st, embedder), Embedder: embedder, Summarizer: summarizer,
		Control: control.New(st, temporal, sources, log, control.Options{
			Namespace: c.Temporal.Namespace, UndoWindow: c.Timeouts.Undo, TemporalTimeout: c.Timeouts.Temporal,
			PublicURL: c.PublicURL, NotionSecretIsSet: c.Notion.WebhookSecret != "",
		}),
	}, nil
}

// Close ends the connections. Workers on them must have stopped.
func (w *Wiring) Close() {
	w.Sources.Close()
	w.Temporal.Close()
	w.Store.Close()
}

func lazyTemporal(c Config, log *slog.Logger) (client.Client, error) {
	options := c.Temporal
	options.Logger = sdklog.NewStructuredLogger(log)
	// The first call asks the server what it can do; that must not take longer than the call itself may.
	options.ConnectionOptions.GetSystemInfoTimeout = c.Timeouts.Temporal
	options.ConnectionOptions.DialOptions = append(options.ConnectionOptions.DialOptions, grpc.WithChainUnaryInterceptor(byOwnClock))
	temporal, err := client.NewLazyClient(options)
	if err != nil {
		return nil, fmt.Errorf("the TEMPORAL_ settings can't be used: %s", oneLine(err))
	}
	return temporal, nil
}

// databaseTrouble tells people which database, and what to do, in one line and without its password.
func databaseTrouble(address string, err error) error {
	switch {
	case errors.Is(err, store.ErrUnreachable):
		return &control.Error{
			Kind: control.KindUnreachable, Code: "postgres_unreachable", Err: err,
			Sentence: "Postgres could not be reached" + at(address) + ": start it (`make dev` brings its own), or check LORESYNC_DATABASE_URL.",
		}
	case errors.Is(err, schema.ErrOutdated):
		return &control.Error{Kind: control.KindFailed, Code: "schema_outdated", Err: err, Sentence: sentence(schema.ErrOutdated)}
	case errors.Is(err, schema.ErrNewer):
		return &control.Error{Kind: control.KindFailed, Code: "schema_newer", Err: err, Sentence: sentence(schema.ErrNewer)}
	}
	return &control.Error{
		Kind: control.KindFailed, Code: "postgres_refused", Err: err,
		Sentence: "Postgres" + at(address) + " did not let us in: " + oneLine(err) + ". Check LORESYNC_DATABASE_URL.",
	}
}

func sentence(err error) string { return "T" + err.Error()[1:] + "." }

// at names the server and database of an address; nothing when it isn't a URL.
func at(address string) string {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" {
		return ""
	}
	return " at " + u.Host + u.Path
}
