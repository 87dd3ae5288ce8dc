package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
)

const (
	quietTick     = 20 * time.Millisecond
	quietPatience = 30 * time.Second
)

var errNotQuiet = errors.New("sessions of loresync are still open")

// rows are the rows that were ever inserted, updated or deleted, by table.
type rows map[string]int64

const writtenRows = `SELECT relname AS name, n_tup_ins + n_tup_upd + n_tup_del AS n FROM pg_stat_user_tables`

// writtenRows reads Postgres' own counters. A session reports what it did with a delay, and at its end, so all sessions are
// ended first. No worker may run.
func (l *lab) writtenRows(ctx context.Context) (rows, error) {
	l.Close()
	if err := l.awaitQuiet(ctx); err != nil {
		return nil, err
	}
	if err := l.connect(ctx); err != nil {
		return nil, err
	}
	found, err := l.sql.Query(ctx, writtenRows)
	if err != nil {
		return nil, fmt.Errorf("read the counters of the tables: %w", err)
	}
	type counter struct {
		Name string
		N    int64
	}
	list, err := pgx.CollectRows(found, pgx.RowToStructByName[counter])
	if err != nil {
		return nil, fmt.Errorf("read the counters of the tables: %w", err)
	}
	counted := rows{}
	for _, c := range list {
		counted[c.Name] = c.N
	}
	return counted, nil
}

const openSessions = `SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'loresync'`

func (l *lab) awaitQuiet(ctx context.Context) error {
	ctx, cancel := context.WithTimeoutCause(ctx, quietPatience, errNotQuiet)
	defer cancel()
	for {
		open, err := l.number(ctx, openSessions)
		if err != nil || open == 0 {
			return err
		}
		if err := pause(ctx, quietTick); err != nil {
			return err
		}
	}
}

// since gives what was written between two readings, without tables in which nothing was.
func (r rows) since(before rows) rows {
	written := rows{}
	for name, n := range r {
		if n > before[name] {
			written[name] = n - before[name]
		}
	}
	return written
}

func (r rows) names() []string { return slices.Sorted(maps.Keys(r)) }

const written = `SELECT pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0')::bigint`

// logged is the position in Postgres' write-ahead log, in bytes.
func (l *lab) logged(ctx context.Context) (int64, error) { return l.number(ctx, written) }

// number runs a query that gives one.
func (l *lab) number(ctx context.Context, query string, args ...any) (int64, error) {
	var n int64
	if err := l.sql.QueryRow(ctx, query, args...).Scan(&n); err != nil {
		return 0, fmt.Errorf("look into the database: %w", err)
	}
	return n, nil
}
