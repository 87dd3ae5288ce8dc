package local

import (
	"context"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func testOptions(t *testing.T, dir string) PostgresOptions {
	t.Helper()
	return PostgresOptions{BinDir: postgresBin(t), DataDir: dir, SharedBuffersMB: 16, MaxConnections: 20, MinimalWAL: true}
}

func startPostgres(t *testing.T, dir string) *Postgres {
	t.Helper()
	server, err := StartPostgres(t.Context(), testOptions(t, dir))
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, server.Stop()) })
	return server
}

func query(t *testing.T, address, sql string) string {
	t.Helper()
	connection, err := pgx.Connect(t.Context(), address)
	require.NoError(t, err)
	defer func() { _ = connection.Close(context.WithoutCancel(t.Context())) }()
	rows, err := connection.Query(t.Context(), sql)
	require.NoError(t, err)
	values, err := pgx.CollectRows(rows, pgx.RowTo[string])
	require.NoError(t, err)
	return strings.Join(values, ",")
}

func TestPostgres(t *testing.T) { //nolint:tparallel // the steps use one cluster in turn
	t.Parallel()
	dir := openDir(t)
	server := startPostgres(t, dir)

	// One cluster serves these in turn, since making one takes seconds.
	t.Run("speaks UTF-8 and sorts by C.UTF-8", func(t *testing.T) {
		assert.Equal(t, "UTF8", query(t, server.URL("postgres"), "SHOW server_encoding"))
		assert.Contains(t, query(t, server.URL("postgres"), "SELECT datcollate FROM pg_database WHERE datname = 'postgres'"), "C")
	})
	t.Run("lies below the data directory when its account can go there", func(t *testing.T) {
		assert.Equal(t, filepath.Join(dir, "postgres", "data"), server.DataDir())
		assert.NoFileExists(t, pathFile(dir))
	})
	t.Run("makes a database once, however many ask", func(t *testing.T) {
		var group sync.WaitGroup
		for range 4 {
			group.Go(func() { assert.NoError(t, server.CreateDatabase(t.Context(), `lore "sync"`)) })
		}
		group.Wait()
		assert.Equal(t, `lore "sync"`, query(t, server.URL(`lore "sync"`), "SELECT current_database()::text"))
	})
	t.Run("refuses a wrong password", func(t *testing.T) {
		address, err := url.Parse(server.URL("postgres"))
		require.NoError(t, err)
		address.User = url.UserPassword(superuser, "guess")
		_, err = pgx.Connect(t.Context(), address.String())
		require.ErrorContains(t, err, "password authentication failed")
	})
	t.Run("refuses a data directory that is in use and names its owner", func(t *testing.T) {
		_, err := StartPostgres(t.Context(), testOptions(t, dir))
		var inUse *InUseError
		require.ErrorAs(t, err, &inUse)
		assert.Equal(t, os.Getpid(), inUse.PID)
		require.ErrorAs(t, EndLeftovers(t.Context(), dir), &inUse)
	})
	t.Run("comes back on its port after a crash with sessions open", func(t *testing.T) {
		query(t, server.URL("postgres"), "CREATE TABLE kept AS SELECT 'yes' AS answer")
		session, err := pgx.Connect(t.Context(), server.URL("postgres"))
		require.NoError(t, err)
		defer func() { _ = session.Close(context.WithoutCancel(t.Context())) }()
		address, killed := server.URL("postgres"), server.Done()
		require.NoError(t, server.Kill())
		requireClosed(t, killed)
		require.NoError(t, server.Restart(t.Context()))
		assert.Equal(t, address, server.URL("postgres"))
	})
	t.Run("starts although a stranger has the number of a crashed server", func(t *testing.T) {
		require.NoError(t, server.Kill())
		entry := filepath.Join(server.DataDir(), "postmaster.pid")
		text, err := os.ReadFile(entry)
		require.NoError(t, err)
		_, rest, _ := strings.Cut(string(text), "\n")
		require.NoError(t, os.WriteFile(entry, []byte(strconv.Itoa(os.Getppid())+"\n"+rest), 0o600))
		require.NoError(t, server.Stop())
		server = startPostgres(t, dir)
	})
	t.Run("ends the server that a dead owner left", func(t *testing.T) {
		server.release() // as the kernel does when an owner dies
		second := startPostgres(t, dir)
		requireClosed(t, server.Done())
		assert.True(t, alive(second.Pid()))
		assert.Equal(t, `lore "sync"`, query(t, second.URL(`lore "sync"`), "SELECT current_database()::text"))
		server = second
	})
	t.Run("refuses a cluster of another major version", func(t *testing.T) {
		require.NoError(t, server.Stop())
		version := filepath.Join(server.DataDir(), "PG_VERSION")
		require.NoError(t, os.WriteFile(version, []byte("9\n"), 0o600))
		_, err := StartPostgres(t.Context(), testOptions(t, dir))
		require.ErrorIs(t, err, errOtherVersion)
	})
}

func TestPostgresBelowClosedFolders(t *testing.T) {
	t.Parallel()
	closed := t.TempDir()
	require.NoError(t, os.Chmod(closed, 0o700))
	dir := filepath.Join(closed, "checkout", "data")
	first := startPostgres(t, dir)
	place := filepath.Dir(first.DataDir())
	t.Cleanup(func() {
		assert.NoError(t, RemoveDataDir(context.WithoutCancel(t.Context()), dir))
		assert.NoDirExists(t, dir)
		assert.NoDirExists(t, place)
	})
	if os.Geteuid() == 0 {
		assert.NotContains(t, first.DataDir(), closed, "the account of the cluster can't go there")
		assert.Contains(t, filepath.Base(place), "loresync-")
	} else {
		assert.Contains(t, first.DataDir(), closed)
	}
	require.NoError(t, first.CreateDatabase(t.Context(), "kept"))
	require.NoError(t, first.Stop())
	second := startPostgres(t, dir)
	var inUse *InUseError
	require.ErrorAs(t, RemoveDataDir(t.Context(), dir), &inUse)
	assert.Equal(t, first.DataDir(), second.DataDir(), "a second start finds the place again")
	assert.Equal(t, "kept", query(t, second.URL("kept"), "SELECT current_database()::text"))
}

func TestPostgresMakesAnInterruptedClusterAgain(t *testing.T) {
	t.Parallel()
	dir := openDir(t)
	half := filepath.Join(dir, "postgres", "data.new", "base")
	require.NoError(t, os.MkdirAll(half, 0o711))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := StartPostgres(ctx, testOptions(t, dir))
	require.ErrorIs(t, err, context.Canceled)
	server := startPostgres(t, dir)
	assert.NoDirExists(t, half)
	assert.True(t, alive(server.Pid()))
}
