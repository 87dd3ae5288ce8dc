package testenv

import (
	"context"
	"fmt"
	"hash/fnv"
	"net/url"
	"os"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// dropPatience bounds the removal of one database after its test.
const dropPatience = 30 * time.Second

// databases hands out databases of one Postgres.
type databases struct {
	pool *pgxpool.Pool
	// server is the address of some database on it.
	server url.URL
	// prefix keeps this test binary's databases apart from those of others on the same server.
	prefix string
	count  atomic.Int64
}

// The state of one test binary: its server, its migrations and the database that has them applied.
var (
	theDatabases = sync.OnceValues(openDatabases)
	theTemplate  = sync.OnceValues(makeTemplate)
	migrate      atomic.Pointer[func(ctx context.Context, url string) error]
)

// SetMigrate says how an empty database becomes one for Database: usually the schema's migrations. It is called before
// the tests run, from TestMain or init.
func SetMigrate(apply func(ctx context.Context, url string) error) {
	migrate.Store(&apply)
}

// Database returns the URL of a fresh, migrated database that belongs to the test alone. It is a copy of a template that
// is migrated once, so it costs a tenth of a second. Sessions that the test left open are cut when the database is
// dropped after it.
func Database(t testing.TB) string {
	t.Helper()
	template, err := theTemplate()
	if err != nil {
		t.Fatalf("testenv: %v", err)
	}
	return newDatabase(t, "TEMPLATE "+quote(template))
}

// EmptyDatabase returns the URL of a fresh database without any migrations, for tests of the migrations.
func EmptyDatabase(t testing.TB) string {
	t.Helper()
	return newDatabase(t, "TEMPLATE template0")
}

func newDatabase(t testing.TB, options string) string {
	t.Helper()
	all, err := theDatabases()
	if err != nil {
		t.Fatalf("testenv: %v", err)
	}
	name := all.nextName()
	if err := all.create(t.Context(), name, options); err != nil {
		t.Fatalf("testenv: %v", err)
	}
	t.Cleanup(func() {
		if err := all.drop(name); err != nil {
			t.Errorf("testenv: %v", err)
		}
	})
	return all.url(name)
}

// openDatabases connects to the shared Postgres, or starts one for this test binary.
func openDatabases() (*databases, error) {
	ctx, cancel := startContext()
	defer cancel()
	address := os.Getenv(DatabaseVariable)
	if address == "" {
		var err error
		if address, err = startPostgres(ctx, &atEnd); err != nil {
			return nil, err
		}
	}
	server, err := url.Parse(address)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", DatabaseVariable, err)
	}
	config, err := pgxpool.ParseConfig(address)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", DatabaseVariable, err)
	}
	config.MaxConns = 4
	pool, err := pgxpool.NewWithConfig(context.WithoutCancel(ctx), config)
	if err != nil {
		return nil, fmt.Errorf("connect to the Postgres for tests: %w", err)
	}
	all := &databases{pool: pool, server: *server, prefix: prefix()}
	atEnd.add(func() error { pool.Close(); return nil })
	return all, nil
}

// prefix is made of the package under test and the process, since packages are tested side by side.
func prefix() string {
	dir, _ := os.Getwd()
	hash := fnv.New32a()
	_, _ = hash.Write([]byte(dir))
	return fmt.Sprintf("test_%08x_%d", hash.Sum32(), os.Getpid())
}

// makeTemplate makes and migrates the database that the others are copied from. Nobody may connect to it afterwards,
// not even the server's own housekeeping: a database with a session can't be copied.
func makeTemplate() (string, error) {
	all, err := theDatabases()
	if err != nil {
		return "", err
	}
	ctx, cancel := startContext()
	defer cancel()
	name := all.prefix + "_template"
	if err := all.create(ctx, name, "TEMPLATE template0"); err != nil {
		return "", err
	}
	atEnd.add(func() error { return all.drop(name) })
	if apply := migrate.Load(); apply != nil {
		if err := (*apply)(ctx, all.url(name)); err != nil {
			return "", fmt.Errorf("migrate the template of the test databases: %w", err)
		}
	}
	if _, err := all.pool.Exec(ctx, "ALTER DATABASE "+quote(name)+" ALLOW_CONNECTIONS false"); err != nil {
		return "", fmt.Errorf("close the template of the test databases: %w", err)
	}
	return name, nil
}

func (d *databases) nextName() string {
	return fmt.Sprintf("%s_%d", d.prefix, d.count.Add(1))
}

func (d *databases) create(ctx context.Context, name, options string) error {
	if _, err := d.pool.Exec(ctx, "CREATE DATABASE "+quote(name)+" "+options); err != nil {
		return fmt.Errorf("create database %s: %w", name, err)
	}
	return nil
}

// drop removes a database with a context of its own, since the test's has ended by then.
func (d *databases) drop(name string) error {
	ctx, cancel := context.WithTimeout(context.Background(), dropPatience)
	defer cancel()
	if _, err := d.pool.Exec(ctx, "DROP DATABASE IF EXISTS "+quote(name)+" WITH (FORCE)"); err != nil {
		return fmt.Errorf("drop database %s: %w", name, err)
	}
	return nil
}

// url is the address of another database on the same server.
func (d *databases) url(name string) string {
	address := d.server
	address.Path = "/" + name
	return address.String()
}

func quote(name string) string {
	return pgx.Identifier{name}.Sanitize()
}
