package control_test

import (
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/client"

	"github.com/loresync/loresync/internal/config"
	"github.com/loresync/loresync/internal/control"
	"github.com/loresync/loresync/internal/knowledge"
	"github.com/loresync/loresync/internal/store"
	"github.com/loresync/loresync/internal/testenv"
)

// mika is who asks.
var mika = control.Actor{Name: "mika", Trigger: "cli"}

// room is a control on a database of its own, with a directory to sync and no Temporal unless the test brings one.
type room struct {
	*control.Control
	t     *testing.T
	store *store.Store
	sql   *pgx.Conn
	root  string
}

func newRoom(t *testing.T, temporal client.Client, namespace string) *room {
	t.Helper()
	url := testenv.Database(t)
	st, err := store.Open(t.Context(), url, store.Options{})
	require.NoError(t, err)
	t.Cleanup(st.Close)
	conn, err := pgx.Connect(t.Context(), url)
	require.NoError(t, err)
	t.Cleanup(func() { _ = conn.Close(context.Background()) })
	r := &room{t: t, store: st, sql: conn, root: t.TempDir()}
	r.Control = control.New(st, temporal, config.NewSources(config.Config{}, nil), slog.New(slog.DiscardHandler), control.Options{Namespace: namespace})
	return r
}

// withFolder is a room with the folder hr on its directory.
func withFolder(t *testing.T) *room {
	t.Helper()
	r := newRoom(t, nil, "")
	r.addFolder()
	return r
}

func withTemporal(t *testing.T) *room {
	t.Helper()
	namespace := testenv.Namespace(t)
	r := newRoom(t, testenv.Client(t, namespace), namespace)
	r.addFolder()
	return r
}

func (r *room) addFolder() {
	r.t.Helper()
	_, err := r.AddFolder(r.t.Context(), control.FolderSpec{ID: "hr", Source: "files", Root: r.root}, mika)
	require.NoError(r.t, err)
}

func (r *room) file(name, text string) {
	r.t.Helper()
	path := filepath.Join(r.root, name)
	require.NoError(r.t, os.MkdirAll(filepath.Dir(path), 0o750))
	require.NoError(r.t, os.WriteFile(path, []byte(text), 0o600))
}

// page registers a file as a request would, and gives its page id.
func (r *room) page(name string) string {
	r.t.Helper()
	r.file(name, "# "+name+"\n\nText.\n")
	ref, err := r.ResolvePage(r.t.Context(), "hr", name, true)
	require.NoError(r.t, err)
	return ref.PageID
}

func (r *room) exec(query string, args ...any) {
	r.t.Helper()
	_, err := r.sql.Exec(r.t.Context(), query, args...)
	require.NoError(r.t, err)
}

func (r *room) delete(page string, subtree, now bool) {
	r.t.Helper()
	accepted, err := r.store.AcceptPageDelete(r.t.Context(), store.DeleteRequest{
		Folder: "hr", Page: page, Subtree: subtree, Now: now, Who: "mika", WorkflowID: "folder/hr/page/" + page + "/delete", Undo: 7 * 24 * 3600e9,
	})
	require.NoError(r.t, err)
	require.Equal(r.t, "accepted", accepted.Outcome)
}

// requireKind checks what an entry point makes of an error: its kind, its code, and a sentence on one line.
func requireKind(t *testing.T, err error, kind control.Kind, code string) {
	t.Helper()
	require.Error(t, err)
	require.Equal(t, kind, control.KindOf(err), err.Error())
	var known *control.Error
	require.ErrorAs(t, err, &known)
	require.Equal(t, code, known.Code)
	require.NotContains(t, known.Sentence, "\n")
}

func stateOf(pages []knowledge.Page) map[string]knowledge.PageState {
	states := map[string]knowledge.PageState{}
	for _, p := range pages {
		states[p.SourceID] = p.State
	}
	return states
}
