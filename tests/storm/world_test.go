package storm

import (
	"context"
	"log/slog"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/client"
	sdklog "go.temporal.io/sdk/log"

	"github.com/jackc/pgx/v5"

	"github.com/loresync/loresync/internal/content/embed"
	"github.com/loresync/loresync/internal/control"
	"github.com/loresync/loresync/internal/local"
	"github.com/loresync/loresync/internal/search"
	"github.com/loresync/loresync/internal/source"
	"github.com/loresync/loresync/internal/source/files"
	"github.com/loresync/loresync/internal/store"
	"github.com/loresync/loresync/schema"
	"github.com/loresync/loresync/tests/clock"
)

// undoWindow is short enough that purges happen in a storm, and long enough that restores do.
const undoWindow = 40 * time.Second

// world is a whole deployment on one machine: its own Postgres and Temporal, two entry points and two workers, each a process
// whose connections run through proxies. The storm itself looks at the servers directly.
type world struct {
	t        *testing.T
	dir      string
	postgres *local.Postgres
	temporal *local.Temporal
	// room is what Postgres' tables can be deprived of; nil where nothing can. limited takes it by a limit on files, even where a
	// file system could be mounted.
	room     room
	limited  bool
	disk     *disk
	children []*child
	// clocks are by how much the clocks of processes are wrong, by their names.
	clocks map[string]time.Duration

	databaseURL string
	client      client.Client
	store       *store.Store
	control     *control.Control
	search      *search.Searcher
}

// newWorld starts everything; it ends with the test.
func newWorld(t *testing.T) *world {
	t.Helper()
	dir, err := os.MkdirTemp("", "loresync-storm-") //nolint:usetesting // processes of other users can't enter TempDir's parent
	require.NoError(t, err)
	require.NoError(t, openDir(dir))
	w := &world{t: t, dir: dir, limited: *limitFlag}
	t.Cleanup(func() { assert.NoError(t, local.RemoveDataDir(context.Background(), dir)) })
	w.disk, err = newDisk(filepath.Join(dir, "roots"))
	require.NoError(t, err)
	w.startPostgres()
	w.startTemporal()
	w.connect()
	return w
}

func (w *world) startPostgres() {
	w.t.Helper()
	ctx := w.t.Context()
	bin, err := local.FindPostgres(ctx, local.PostgresSearch{BinDir: programDir(w.t)})
	require.NoError(w.t, err)
	// What a crash of the process may lose must not depend on the operating system here: it is killed on purpose.
	options := local.PostgresOptions{DataDir: filepath.Join(w.dir, "postgres"), BinDir: bin, Durable: true, SharedBuffersMB: 64}
	small, err := newSmallDisk(filepath.Join(w.dir, "small"))
	require.NoError(w.t, err)
	if w.limited || !small.mount() {
		small, options.WALSegmentMB = nil, largestFileMB
	} else {
		w.room = small
		w.t.Cleanup(func() { assert.NoError(w.t, small.close()) })
	}
	w.postgres, err = local.StartPostgres(ctx, options)
	require.NoError(w.t, err)
	w.t.Cleanup(func() { assert.NoError(w.t, w.postgres.Stop()) })
	w.makeDatabase(small)
}

// makeDatabase puts the database on the small disk, where there is one, and migrates it. Without one its files are limited.
func (w *world) makeDatabase(small *smallDisk) {
	w.t.Helper()
	ctx := w.t.Context()
	admin, err := pgx.Connect(ctx, w.postgres.URL("postgres"))
	require.NoError(w.t, err)
	defer func() { _ = admin.Close(ctx) }()
	create := "CREATE DATABASE storm"
	if small != nil {
		require.NoError(w.t, small.give(w.postgres.DataDir()))
		_, err = admin.Exec(ctx, "CREATE TABLESPACE small LOCATION '"+small.dir+"'")
		require.NoError(w.t, err)
		create += " TABLESPACE small"
	}
	_, err = admin.Exec(ctx, create)
	require.NoError(w.t, err)
	w.databaseURL = w.postgres.URL("storm")
	_, err = schema.Migrate(ctx, w.databaseURL)
	require.NoError(w.t, err)
	if small == nil {
		w.room, err = newFileLimit(ctx, w.postgres, w.databaseURL)
		require.NoError(w.t, err)
	}
}

func (w *world) startTemporal() {
	w.t.Helper()
	cli, err := local.FindTemporal(w.t.Context(), local.TemporalSearch{BinDir: programDir(w.t)})
	require.NoError(w.t, err)
	w.temporal, err = local.StartTemporal(w.t.Context(), local.TemporalOptions{CLI: cli, DataDir: filepath.Join(w.dir, "temporal")})
	require.NoError(w.t, err)
	w.t.Cleanup(func() { assert.NoError(w.t, w.temporal.Stop()) })
}

// programDir is where a checkout keeps the programs that it built.
func programDir(t *testing.T) string {
	t.Helper()
	dir, err := filepath.Abs("../../.loresync/bin")
	require.NoError(t, err)
	return dir
}

// connect opens the storm's own ways to the servers.
func (w *world) connect() {
	w.t.Helper()
	var err error
	w.store, err = store.Open(w.t.Context(), w.databaseURL, store.Options{})
	require.NoError(w.t, err)
	w.t.Cleanup(w.store.Close)
	quiet := slog.New(slog.DiscardHandler)
	w.client, err = client.NewLazyClient(client.Options{HostPort: w.temporal.Address(), Logger: sdklog.NewStructuredLogger(quiet)})
	require.NoError(w.t, err)
	w.t.Cleanup(w.client.Close)
	w.control = control.New(w.store, w.client, onlyFiles{}, quiet, control.Options{TemporalTimeout: 20 * time.Second, UndoWindow: undoWindow})
	w.search = search.New(w.store, embed.Lexical{})
}

// onlyFiles gives every connection the files source.
type onlyFiles struct{}

func (onlyFiles) Source(context.Context, string, string) (source.Source, error) {
	return files.New(files.Options{}), nil
}

// build compiles programs into a folder, for clocks that are wrong if there is one.
func (w *world) build(bin string, packages ...string) {
	w.t.Helper()
	if len(w.clocks) > 0 {
		require.NoError(w.t, clock.Build(w.t.Context(), bin, packages...))
		return
	}
	said, err := exec.CommandContext(w.t.Context(), "go", append([]string{"build", "-o", bin + string(filepath.Separator)}, packages...)...).CombinedOutput()
	require.NoError(w.t, err, "%s", said)
}

// startProcesses builds the programs and starts all processes.
func (w *world) startProcesses(s *storm) {
	w.t.Helper()
	bin := filepath.Join(w.dir, "bin")
	require.NoError(w.t, openDir(bin))
	w.build(bin, "../../worker", "./cmd/entry")
	for _, name := range processNames {
		w.children = append(w.children, w.newChild(name, bin, s))
	}
	for _, c := range w.children {
		require.NoError(w.t, c.start(w.t.Context()))
		w.t.Cleanup(func() { w.end(c) })
	}
}

func (w *world) newChild(name, bin string, s *storm) *child {
	w.t.Helper()
	c := &child{
		name: name, program: filepath.Join(bin, "entry"), log: filepath.Join(w.dir, name+".log"), heard: s.ledger.heard, lost: s.ledger.lost,
	}
	c.gaveUp = func() { s.supervise(c) }
	if name[0] == 'w' {
		c.program = filepath.Join(bin, "worker")
	}
	target, err := url.Parse(w.databaseURL)
	require.NoError(w.t, err)
	c.postgres, err = newProxy(w.t.Context(), target.Host)
	require.NoError(w.t, err)
	c.temporal, err = newProxy(w.t.Context(), w.temporal.Address())
	require.NoError(w.t, err)
	c.postgres.slow(c.usualDelay(postgresLine))
	c.env, err = c.environment(w.databaseURL)
	require.NoError(w.t, err)
	c.env = append(c.env, clock.Off(w.clocks[name]))
	return c
}

func (w *world) end(c *child) {
	c.kill()
	c.postgres.close()
	c.temporal.close()
	if w.t.Failed() {
		w.t.Log(c.lastWords(15))
	}
}
