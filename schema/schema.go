// Package schema holds loresync's numbered, forward-only SQL migrations, and applies and checks them.
package schema

import (
	"context"
	"database/sql"
	"embed"
	"errors"
	"fmt"
	"io/fs"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/pressly/goose/v3"
	"github.com/pressly/goose/v3/lock"
)

//go:embed migrations/*.sql
var embedded embed.FS

// ErrOutdated says that the database's schema is older than this program: run "starter migrate".
var ErrOutdated = errors.New("the database schema is older than this program: run `starter migrate`")

// ErrNewer says that the database's schema is newer than this program: use a newer loresync.
var ErrNewer = errors.New("the database schema is newer than this program: use the loresync that migrated it, or a newer one")

// Migrate applies all migrations that the database lacks, one process at a time, and returns the version it ended at.
func Migrate(ctx context.Context, databaseURL string) (int64, error) {
	db, provider, err := open(databaseURL)
	if err != nil {
		return 0, err
	}
	defer func() { _ = db.Close() }()
	if _, err := provider.Up(ctx); err != nil {
		return 0, fmt.Errorf("migrate the database: %w", err)
	}
	version, err := provider.GetDBVersion(ctx)
	if err != nil {
		return 0, fmt.Errorf("read the schema version: %w", err)
	}
	return version, nil
}

// Check compares the database's schema with the one this program needs; the error is ErrOutdated or ErrNewer.
func Check(ctx context.Context, databaseURL string) error {
	db, provider, err := open(databaseURL)
	if err != nil {
		return err
	}
	defer func() { _ = db.Close() }()
	current, wanted, err := provider.GetVersions(ctx)
	if err != nil {
		return fmt.Errorf("read the schema version: %w", err)
	}
	switch {
	case current < wanted:
		return ErrOutdated
	case current > wanted:
		return ErrNewer
	}
	return nil
}

// Files gives the migrations, for tests.
func Files() fs.FS { return embedded }

func open(databaseURL string) (*sql.DB, *goose.Provider, error) {
	config, err := pgx.ParseConfig(databaseURL)
	if err != nil {
		return nil, nil, fmt.Errorf("read LORESYNC_DATABASE_URL: %w", err)
	}
	db := stdlib.OpenDB(*config)
	migrations, err := fs.Sub(embedded, "migrations")
	if err != nil {
		return nil, nil, errors.Join(fmt.Errorf("open the migrations: %w", err), db.Close())
	}
	locker, err := lock.NewPostgresSessionLocker()
	if err != nil {
		return nil, nil, errors.Join(fmt.Errorf("prepare the migration lock: %w", err), db.Close())
	}
	provider, err := goose.NewProvider(goose.DialectPostgres, db, migrations, goose.WithSessionLocker(locker))
	if err != nil {
		return nil, nil, errors.Join(fmt.Errorf("prepare the migrations: %w", err), db.Close())
	}
	return db, provider, nil
}
