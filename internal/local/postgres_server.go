package local

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// postgresPatience is how long a server may take to accept connections: a second, or minutes of recovery after a crash.
const postgresPatience = 3 * time.Minute

// arguments are the command line of the server. Settings are given here rather than written into postgresql.conf, so
// that every start has exactly those of its options.
func (p *Postgres) arguments() []string {
	o := p.options
	args := []string{
		"-D", p.cluster.dir(),
		"-c", "listen_addresses=" + p.host(),
		"-c", "port=" + strconv.Itoa(o.Port),
		// No socket in the file system: its path may have 107 bytes at most, and data directories lie deep.
		"-c", "unix_socket_directories=",
		"-c", fmt.Sprintf("shared_buffers=%dMB", orDefault(o.SharedBuffersMB, 256)),
		"-c", fmt.Sprintf("max_connections=%d", orDefault(o.MaxConnections, 200)),
		"-c", "logging_collector=off",
		// Compiling plans costs more than it saves for queries as short as ours.
		"-c", "jit=off",
	}
	if !o.Durable {
		args = append(args, "-c", "fsync=off", "-c", "synchronous_commit=off", "-c", "full_page_writes=off")
	}
	if o.MinimalWAL {
		args = append(args, "-c", "wal_level=minimal", "-c", "max_wal_senders=0")
	}
	return args
}

// awaitPostgres waits until the server takes connections, or has ended.
func awaitPostgres(ctx context.Context, server *process, url string) error {
	ctx, cancel := context.WithTimeoutCause(ctx, postgresPatience, errNotReady)
	defer cancel()
	return awaitProcess(ctx, server, func(ctx context.Context) error {
		connection, err := pgx.Connect(ctx, url)
		if err != nil {
			return err
		}
		return errors.Join(connection.Ping(ctx), connection.Close(ctx))
	})
}

// CreateDatabase makes a database unless it exists, whoever else is making it at the same time.
func (p *Postgres) CreateDatabase(ctx context.Context, name string) error {
	connection, err := pgx.Connect(ctx, p.URL("postgres"))
	if err != nil {
		return fmt.Errorf("create database %s: %w", name, err)
	}
	defer func() { _ = connection.Close(context.WithoutCancel(ctx)) }()
	var there bool
	const known = `SELECT EXISTS (SELECT FROM pg_database WHERE datname = $1)`
	if err := connection.QueryRow(ctx, known, name).Scan(&there); err != nil {
		return fmt.Errorf("create database %s: %w", name, err)
	}
	if there {
		return nil
	}
	_, err = connection.Exec(ctx, "CREATE DATABASE "+pgx.Identifier{name}.Sanitize())
	if err != nil && !isDuplicate(err) {
		return fmt.Errorf("create database %s: %w", name, err)
	}
	return nil
}

// isDuplicate recognises a database that another session has just made: duplicate_database, or unique_violation when the
// two overlapped.
func isDuplicate(err error) bool {
	var answer *pgconn.PgError
	return errors.As(err, &answer) && (answer.Code == "42P04" || answer.Code == "23505")
}

// endPostgresLeftover ends the server of a dead owner on a cluster. Postgres writes its process id down itself. The caller
// holds the cluster's lock.
func endPostgresLeftover(ctx context.Context, dir string) error {
	entry := filepath.Join(dir, "postmaster.pid")
	find := func() int {
		if pid := readPID(entry); pid != 0 && isPostmaster(pid, dir) {
			return pid
		}
		return 0
	}
	if err := endLeftover(ctx, find, postgresLadder); err != nil {
		return err
	}
	return disarm(entry)
}

// disarm mends the entry of a server that is gone whose process id a stranger has now, as happens in containers: a new
// server would take the stranger for a rival and refuse to start. The entry isn't removed, because it also names the
// shared memory that tells orphaned sessions of the dead server; our own number goes in, which a new server accepts as
// its parent's.
func disarm(entry string) error {
	pid := readPID(entry)
	if pid == 0 || commandLine(pid) == "" {
		return nil
	}
	text, err := os.ReadFile(entry) //nolint:gosec // our own cluster
	if err != nil {
		return fmt.Errorf("mend a stale entry: %w", err)
	}
	_, rest, _ := strings.Cut(string(text), "\n")
	file, err := os.OpenFile(entry, os.O_WRONLY|os.O_TRUNC, 0) //nolint:gosec // in place, so that its owner stays
	if err != nil {
		return fmt.Errorf("mend a stale entry: %w", err)
	}
	_, err = file.WriteString(strconv.Itoa(os.Getpid()) + "\n" + rest)
	if err := errors.Join(err, file.Close()); err != nil {
		return fmt.Errorf("mend a stale entry: %w", err)
	}
	return nil
}

// isPostmaster reports whether a process is a Postgres server on exactly this cluster.
func isPostmaster(pid int, dir string) bool {
	program, rest, _ := strings.Cut(commandLine(pid), " -D ")
	return filepath.Base(program) == "postgres" && (rest == dir || strings.HasPrefix(rest, dir+" "))
}

func orDefault[T comparable](value, fallback T) T {
	var none T
	if value == none {
		return fallback
	}
	return value
}
