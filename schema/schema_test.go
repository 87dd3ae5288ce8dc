package schema_test

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"path"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/pressly/goose/v3"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/loresync/loresync/internal/testenv"
	"github.com/loresync/loresync/schema"
)

// migrations are the files, in the order of their numbers.
func migrations(t *testing.T) []string {
	t.Helper()
	names, err := fs.Glob(schema.Files(), "migrations/*")
	require.NoError(t, err)
	require.NotEmpty(t, names)
	return names
}

func TestMigrationFiles(t *testing.T) {
	t.Parallel()
	for i, name := range migrations(t) {
		number, title, numbered := strings.Cut(path.Base(name), "_")
		require.True(t, numbered, name)
		n, err := strconv.Atoi(number)
		require.NoError(t, err, name)
		assert.Equal(t, i+1, n, "%s leaves a gap", name)
		assert.Len(t, number, 5, name)
		assert.Regexp(t, `^[a-z0-9_]+\.sql$`, title)
		text, err := fs.ReadFile(schema.Files(), name)
		require.NoError(t, err)
		assert.True(t, bytes.HasPrefix(text, []byte("-- ")), "%s opens with what it is for", name)
		assert.Contains(t, string(text), "-- +goose Up", name)
		assert.NotContains(t, string(text), "-- +goose Down", "%s: there is no way back", name)
	}
}

func TestMigrate(t *testing.T) {
	t.Parallel()

	t.Run("applies all to an empty database, and nothing the second time", func(t *testing.T) {
		t.Parallel()
		url := testenv.EmptyDatabase(t)
		for range 2 {
			version, err := schema.Migrate(t.Context(), url)
			require.NoError(t, err)
			assert.EqualValues(t, len(migrations(t)), version)
			require.NoError(t, schema.Check(t.Context(), url))
		}
		assert.Equal(t, 1, number(t, url, "SELECT count(*) FROM deployment"), "what it inserts is there once")
	})

	t.Run("goes on from every older version", func(t *testing.T) {
		t.Parallel()
		for older := range int64(len(migrations(t))) {
			url := testenv.EmptyDatabase(t)
			migrateTo(t, url, older)
			require.ErrorIs(t, schema.Check(t.Context(), url), schema.ErrOutdated)
			_, err := schema.Migrate(t.Context(), url)
			require.NoError(t, err)
			require.NoError(t, schema.Check(t.Context(), url))
		}
	})

	t.Run("lets several processes try at once", func(t *testing.T) {
		t.Parallel()
		url := testenv.EmptyDatabase(t)
		var group sync.WaitGroup
		for range 3 {
			group.Go(func() {
				_, err := schema.Migrate(context.WithoutCancel(t.Context()), url)
				assert.NoError(t, err)
			})
		}
		group.Wait()
		require.NoError(t, schema.Check(t.Context(), url))
	})
}

func TestCheck(t *testing.T) {
	t.Parallel()

	t.Run("refuses a database that was never migrated, and leaves it empty of ours", func(t *testing.T) {
		t.Parallel()
		url := testenv.EmptyDatabase(t)
		require.ErrorIs(t, schema.Check(t.Context(), url), schema.ErrOutdated)
		assert.Zero(t, number(t, url, "SELECT count(*) FROM information_schema.tables WHERE table_name = 'pages'"))
	})

	t.Run("refuses a database of a newer loresync, which a migration leaves as it is", func(t *testing.T) {
		t.Parallel()
		url := testenv.EmptyDatabase(t)
		_, err := schema.Migrate(t.Context(), url)
		require.NoError(t, err)
		newer := len(migrations(t)) + 1
		exec(t, url, fmt.Sprintf("INSERT INTO goose_db_version (version_id, is_applied) VALUES (%d, true)", newer))
		require.ErrorIs(t, schema.Check(t.Context(), url), schema.ErrNewer)
	})

	t.Run("says which setting is wrong", func(t *testing.T) {
		t.Parallel()
		require.ErrorContains(t, schema.Check(t.Context(), "postgres://%zz"), "LORESYNC_DATABASE_URL")
		_, err := schema.Migrate(t.Context(), "postgres://%zz")
		require.ErrorContains(t, err, "LORESYNC_DATABASE_URL")
	})
}

// migrateTo brings an empty database to an older version.
func migrateTo(t *testing.T, url string, version int64) {
	t.Helper()
	config, err := pgx.ParseConfig(url)
	require.NoError(t, err)
	db := stdlib.OpenDB(*config)
	t.Cleanup(func() { assert.NoError(t, db.Close()) })
	files, err := fs.Sub(schema.Files(), "migrations")
	require.NoError(t, err)
	provider, err := goose.NewProvider(goose.DialectPostgres, db, files)
	require.NoError(t, err)
	if version > 0 {
		_, err = provider.UpTo(t.Context(), version)
		require.NoError(t, err)
	}
}

func connect(t *testing.T, url string) *pgx.Conn {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), url)
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, conn.Close(context.WithoutCancel(t.Context()))) })
	return conn
}

func number(t *testing.T, url, query string) int {
	t.Helper()
	var n int
	require.NoError(t, connect(t, url).QueryRow(t.Context(), query).Scan(&n))
	return n
}

func exec(t *testing.T, url, statement string) {
	t.Helper()
	_, err := connect(t, url).Exec(t.Context(), statement)
	require.NoError(t, err)
}
