// Package store is where the truth lives: every query of loresync, and nothing of pgx leaves it. What touches the fence is one
// SQL function and one round trip (package schema), so that no Go code runs between a lock and its commit.
package store

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/loresync/loresync/internal/knowledge"
	"github.com/loresync/loresync/schema"
)

// ErrUnreachable says that Postgres could not be reached, or went away in the middle.
var ErrUnreachable = knowledge.ErrUnreachable

// ErrNotFound says that a row that was asked for by its key isn't there.
var ErrNotFound = knowledge.ErrNotFound

// ErrDiskFull says that Postgres could not write because its disk is full.
var ErrDiskFull = knowledge.ErrDiskFull

// Options are the pool's settings; zero values mean the defaults.
type Options struct {
	// MaxConns bounds the pool: 20 by default.
	MaxConns int32
	// LockTimeout is how long a statement waits for a lock before it is tried again: 3 s by default.
	LockTimeout time.Duration
	// IdleInTransaction is how long a stopped process can hold a lock: 5 s by default.
	IdleInTransaction time.Duration
	// ConnectTimeout bounds a new connection: 4 s by default, so that a caller has an answer within 5.
	ConnectTimeout time.Duration
	// SkipSchemaCheck leaves out the comparison of the database's schema with the program's.
	SkipSchemaCheck bool
}

// Store is a pool of connections to one loresync database. It is safe for concurrent use.
type Store struct {
	pool *pgxpool.Pool
}

// Open connects, and refuses a database whose schema isn't this program's.
func Open(ctx context.Context, databaseURL string, options Options) (*Store, error) {
	config, err := poolConfig(databaseURL, options)
	if err != nil {
		return nil, err
	}
	pool, err := pgxpool.NewWithConfig(ctx, config)
	if err != nil {
		return nil, wrap("open the database", err)
	}
	if err := pool.Ping(ctx); err != nil {
		pool.Close()
		return nil, wrap("connect to the database", err)
	}
	if !options.SkipSchemaCheck {
		if err := schema.Check(ctx, databaseURL); err != nil {
			pool.Close()
			return nil, wrap("check the database schema", err)
		}
	}
	return &Store{pool: pool}, nil
}

func poolConfig(databaseURL string, options Options) (*pgxpool.Config, error) {
	config, err := pgxpool.ParseConfig(databaseURL)
	if err != nil {
		return nil, fmt.Errorf("read LORESYNC_DATABASE_URL: %w", err)
	}
	config.MaxConns = 20
	if options.MaxConns > 0 {
		config.MaxConns = options.MaxConns
	}
	config.ConnConfig.ConnectTimeout = orDefault(options.ConnectTimeout, 4*time.Second)
	params := config.ConnConfig.RuntimeParams
	params["application_name"] = "loresync"
	params["timezone"] = "UTC"
	// Every statement here is planned once per connection: planning again for each of a page's thirty statements would cost
	// more than running them, and compiling them far more.
	params["plan_cache_mode"] = "force_generic_plan"
	params["jit"] = "off"
	params["lock_timeout"] = milliseconds(orDefault(options.LockTimeout, 3*time.Second))
	params["idle_in_transaction_session_timeout"] = milliseconds(orDefault(options.IdleInTransaction, 5*time.Second))
	return config, nil
}

// Close ends all connections.
func (s *Store) Close() { s.pool.Close() }

// Ping tells whether Postgres answers.
func (s *Store) Ping(ctx context.Context) error { return wrap("ask postgres", s.pool.Ping(ctx)) }

func orDefault(d, fallback time.Duration) time.Duration {
	if d == 0 {
		return fallback
	}
	return d
}

func milliseconds(d time.Duration) string { return strconv.FormatInt(d.Milliseconds(), 10) }

// wrap says what was being done, and gives the errors that callers act on a name of their own.
func wrap(doing string, err error) error {
	if err == nil {
		return nil
	}
	if errors.Is(err, pgx.ErrNoRows) {
		return fmt.Errorf("%s: %w", doing, ErrNotFound)
	}
	if refused, ok := errors.AsType[*pgconn.PgError](err); ok {
		return wrapRefusal(doing, refused, err)
	}
	if cutOff(err) {
		return fmt.Errorf("%s: %w: %w", doing, ErrUnreachable, err)
	}
	return fmt.Errorf("%s: %w", doing, err)
}

// cutOff tells that no connection came about, or that one broke: before the statement was sent, under way, or in the middle of
// its answer, which shows as an end of the stream.
func cutOff(err error) bool {
	var network net.Error
	var connect *pgconn.ConnectError
	return errors.As(err, &network) || errors.As(err, &connect) || pgconn.SafeToRetry(err) ||
		errors.Is(err, net.ErrClosed) || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF)
}

// The refusals of Postgres that have a meaning of their own here.
const (
	diskFull           = "53100"
	tooManyConnections = "53300"
	lockNotAvailable   = "55P03"
	queryCanceled      = "57014"
)

func wrapRefusal(doing string, refused *pgconn.PgError, err error) error {
	switch class := refused.Code[:min(2, len(refused.Code))]; {
	case refused.Code == diskFull:
		return fmt.Errorf("%s: %w: %w", doing, ErrDiskFull, err)
	case class == "08", class == "57" && refused.Code != queryCanceled, refused.Code == tooManyConnections:
		return fmt.Errorf("%s: %w: %w", doing, ErrUnreachable, err)
	}
	return fmt.Errorf("%s: %w", doing, err)
}

// one reads exactly one row into T by column name.
func one[T any](ctx context.Context, s *Store, doing, query string, args ...any) (T, error) {
	rows, err := s.pool.Query(ctx, query, args...)
	if err != nil {
		var zero T
		return zero, wrap(doing, err)
	}
	row, err := pgx.CollectExactlyOneRow(rows, pgx.RowToStructByNameLax[T])
	return row, wrap(doing, err)
}

// list reads rows into T by column name; an empty result is an empty slice, never nil.
func list[T any](ctx context.Context, s *Store, doing, query string, args ...any) ([]T, error) {
	rows, err := s.pool.Query(ctx, query, args...)
	if err != nil {
		return nil, wrap(doing, err)
	}
	found, err := pgx.CollectRows(rows, pgx.RowToStructByNameLax[T])
	if found == nil {
		found = []T{}
	}
	return found, wrap(doing, err)
}

// scalar reads one value.
func scalar[T any](ctx context.Context, s *Store, doing, query string, args ...any) (T, error) {
	var value T
	err := s.pool.QueryRow(ctx, query, args...).Scan(&value)
	return value, wrap(doing, err)
}

// Now is the time by Postgres' clock, the only one that all processes share.
func (s *Store) Now(ctx context.Context) (time.Time, error) {
	return scalar[time.Time](ctx, s, "look at the clock", `SELECT now()`)
}

// exec runs a statement and tells how many rows it touched.
func exec(ctx context.Context, s *Store, doing, query string, args ...any) (int64, error) {
	tag, err := s.pool.Exec(ctx, query, args...)
	return tag.RowsAffected(), wrap(doing, err)
}
