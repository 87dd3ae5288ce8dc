// Package tests holds what only the whole can show: the rules of the design on a real Temporal server, a real Postgres, real
// workers, and the files source on real files.
package tests

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/client"

	"github.com/loresync/loresync/activities"
	"github.com/loresync/loresync/internal/content/embed"
	"github.com/loresync/loresync/internal/content/extract"
	"github.com/loresync/loresync/internal/content/summary"
	"github.com/loresync/loresync/internal/control"
	"github.com/loresync/loresync/internal/knowledge"
	"github.com/loresync/loresync/internal/search"
	"github.com/loresync/loresync/internal/source"
	"github.com/loresync/loresync/internal/source/files"
	"github.com/loresync/loresync/internal/store"
	"github.com/loresync/loresync/internal/testenv"
	"github.com/loresync/loresync/internal/workers"
	"github.com/loresync/loresync/schema"
	"github.com/loresync/loresync/workflows"
)

func TestMain(m *testing.M) {
	extract.ServeChildIfAsked()
	testenv.SetMigrate(func(ctx context.Context, url string) error {
		_, err := schema.Migrate(ctx, url)
		return err
	})
	testenv.Main(m)
}

const (
	folderID = "hr"
	patience = 3 * time.Minute
)

var person = control.Actor{Name: "eve", Trigger: "cli"}

// rig is a whole loresync in one process: a database and a namespace of its own, a folder of files, and a worker.
type rig struct {
	*control.Control
	t        testing.TB
	store    *store.Store
	temporal client.Client
	search   *search.Searcher
	sql      *pgx.Conn
	root     string
	url      string
	name     string
	src      source.Source
	embedder *countingEmbedder
	// sources are the rig itself, which gives its one source to all, unless an option makes others over the rig's store.
	sources     control.Sources
	makeSources func(*store.Store) control.Sources
	spec        control.FolderSpec
	// timeout bounds one call of Temporal; zero means the default.
	timeout time.Duration
	// alone is set when the test starts workers as processes of their own.
	alone bool
}

type rigOption func(*rig)

// throughSource puts a wrapper around the files source: a gate, or faults.
func throughSource(wrap func(source.Source) source.Source) rigOption {
	return func(r *rig) { r.src = wrap(r.src) }
}

// patiently gives Temporal the time that a busy machine takes, where what a server that is down looks like is not the subject.
func patiently(r *rig) { r.timeout = 30 * time.Second }

// withoutWorker leaves the workers to the test.
func withoutWorker(r *rig) { r.alone = true }

func newRig(t testing.TB, options ...rigOption) *rig {
	t.Helper()
	r := &rig{
		t: t, root: t.TempDir(), url: testenv.Database(t), name: testenv.Namespace(t), src: files.New(files.Options{}),
		embedder: &countingEmbedder{Embedder: embed.Lexical{}},
	}
	r.sources, r.spec = r, control.FolderSpec{ID: folderID, Source: "files", Root: r.root, Title: "HR"}
	for _, option := range options {
		option(r)
	}
	var err error
	r.store, err = store.Open(t.Context(), r.url, store.Options{})
	require.NoError(t, err)
	t.Cleanup(r.store.Close)
	r.sql, err = pgx.Connect(t.Context(), r.url)
	require.NoError(t, err)
	t.Cleanup(func() { _ = r.sql.Close(context.Background()) })
	r.temporal = testenv.Client(t, r.name)
	if r.makeSources != nil {
		r.sources = r.makeSources(r.store)
	}
	r.Control = control.New(r.store, r.temporal, r.sources, slog.New(slog.DiscardHandler), control.Options{Namespace: r.name, TemporalTimeout: r.timeout})
	r.search = search.New(r.store, embed.Lexical{})
	if !r.alone {
		r.worker()
	}
	_, err = r.AddFolder(t.Context(), r.spec, person)
	require.NoError(t, err)
	return r
}

// Source gives every connection the rig's source.
func (r *rig) Source(context.Context, string, string) (source.Source, error) { return r.src, nil }

// worker starts another worker of the rig; it ends with the test.
func (r *rig) worker() {
	r.t.Helper()
	set, err := workers.Start(workers.Options{
		Store: r.store, Temporal: r.temporal, Control: r.Control, Sources: r.sources, Log: slog.New(slog.DiscardHandler),
		Models:   activities.Models{Embedder: r.embedder, Summarizer: summary.Extractive{}},
		Timeouts: activities.Timeouts{Ladder: 3 * time.Second, Abandoned: 2 * time.Second, AskAgain: time.Second},
	})
	require.NoError(r.t, err)
	r.t.Cleanup(set.Stop)
}

func (r *rig) put(path, text string) {
	r.t.Helper()
	full := filepath.Join(r.root, filepath.FromSlash(path))
	require.NoError(r.t, os.MkdirAll(filepath.Dir(full), 0o700))
	require.NoError(r.t, os.WriteFile(full, []byte(text), 0o600))
}

func (r *rig) remove(paths ...string) {
	r.t.Helper()
	for _, path := range paths {
		require.NoError(r.t, os.Remove(filepath.Join(r.root, filepath.FromSlash(path))))
	}
}

func (r *rig) fill(n int) []string {
	r.t.Helper()
	paths := make([]string, n)
	for i := range paths {
		paths[i] = fmt.Sprintf("dir%d/page%03d.md", i%3, i)
		r.put(paths[i], fmt.Sprintf("# Page %d\n\nText of page number %d about subject%d.\n", i, i, i))
	}
	return paths
}

// sync runs a full sync of the folder to its end.
func (r *rig) sync() control.Answer {
	r.t.Helper()
	ctx, cancel := context.WithTimeout(r.t.Context(), patience)
	defer cancel()
	answer, err := r.SyncFolder(ctx, folderID, knowledge.ModeFull, person)
	require.NoError(r.t, err)
	answer, err = r.Wait(ctx, answer, nil)
	require.NoError(r.t, err)
	return answer
}

// synced runs a full sync and demands that it completed.
func (r *rig) synced() knowledge.Counts {
	r.t.Helper()
	answer := r.sync()
	require.Equal(r.t, "completed", answer.Status, answer.Reason)
	return *answer.Counts
}

func (r *rig) wait(answer control.Answer, err error) control.Answer {
	r.t.Helper()
	require.NoError(r.t, err)
	ctx, cancel := context.WithTimeout(r.t.Context(), patience)
	defer cancel()
	answer, err = r.Wait(ctx, answer, nil)
	require.NoError(r.t, err)
	return answer
}

func (r *rig) count(query string, args ...any) int {
	r.t.Helper()
	var n int
	require.NoError(r.t, r.sql.QueryRow(r.t.Context(), query, args...).Scan(&n))
	return n
}

func (r *rig) exec(query string, args ...any) {
	r.t.Helper()
	_, err := r.sql.Exec(r.t.Context(), query, args...)
	require.NoError(r.t, err)
}

func (r *rig) live() int { return r.count(`SELECT count(*) FROM live_pages`) }

func (r *rig) page(ref string) knowledge.Page {
	r.t.Helper()
	page, err := r.Page(r.t.Context(), folderID, ref)
	require.NoError(r.t, err)
	return page
}

// clean demands that nothing is left under way or behind.
func (r *rig) clean() {
	r.t.Helper()
	testenv.Eventually(r.t, patience, func() bool { return r.count(`SELECT count(*) FROM in_flight`) == 0 }, "nothing is in flight")
	require.Zero(r.t, r.count(`SELECT count(*) FROM revisions WHERE state = 'staged'`))
	differences, err := r.Fsck(r.t.Context(), control.FsckOptions{})
	require.NoError(r.t, err)
	require.Empty(r.t, differences)
}

// due does what the due reads' schedule does every minute.
func (r *rig) due() {
	r.t.Helper()
	run, err := r.temporal.ExecuteWorkflow(r.t.Context(), client.StartWorkflowOptions{TaskQueue: workflows.QueueKnowledge}, "DueReadsWorkflow",
		workflows.DueReadsInput{})
	require.NoError(r.t, err)
	require.NoError(r.t, run.Get(r.t.Context(), nil))
}

// syncWithin runs a full sync to its end, which may take a while.
func (r *rig) syncWithin(patience time.Duration) control.Answer {
	r.t.Helper()
	ctx, cancel := context.WithTimeout(r.t.Context(), patience)
	defer cancel()
	answer, err := r.SyncFolder(ctx, folderID, knowledge.ModeFull, person)
	require.NoError(r.t, err)
	answer, err = r.Wait(ctx, answer, nil)
	require.NoError(r.t, err)
	return answer
}
