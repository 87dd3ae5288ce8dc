package tests

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/loresync/loresync/internal/control"
	"github.com/loresync/loresync/internal/source/notion"
	"github.com/loresync/loresync/internal/source/notion/notiontest"
	"github.com/loresync/loresync/internal/testenv"
)

func (w *wiki) connection() control.Connection {
	w.t.Helper()
	connection, err := w.Connection(w.t.Context(), "notion")
	require.NoError(w.t, err)
	return connection
}

func TestAConnectionWhoseTokenIsRefusedIsNotResumed(t *testing.T) {
	t.Parallel()
	w := newWiki(t, notiontest.ServerOptions{}, notion.Workspace, func(space *notiontest.Workspace) {
		notiontest.Must(space.AddPage("", "Page", paragraph("Words.")))
	})
	w.synced()
	w.server.Revoke(w.server.Token())
	failed := w.sync()
	assert.Equal(t, "failed", failed.Status)
	assert.NotContains(t, failed.Reason, "start it again")
	assert.Contains(t, failed.Reason, "starter connection list")
	require.Equal(t, "paused", w.connection().State)
	assert.Contains(t, w.connection().Reason, "set LORESYNC_NOTION_TOKEN for all workers and gateways and restart them")

	w.server.ResetLog()
	_, err := w.ResumeConnection(t.Context(), "notion", person)
	assert.Equal(t, control.KindRefused, control.KindOf(err))
	require.ErrorContains(t, err, "stays paused")
	require.ErrorContains(t, err, "starter connection resume notion --force")
	assert.Equal(t, "paused", w.connection().State)
	assert.Equal(t, 1, w.server.Count(), "one request")

	forced, err := w.ForceConnection(t.Context(), "notion", person)
	require.NoError(t, err)
	assert.Equal(t, "active", forced.State)
	testenv.Eventually(t, patience, func() bool { return w.connection().State == "paused" }, "the sync that catches up finds it refused")
	w.server.Allow(w.server.Token())
	resumed, err := w.ResumeConnection(t.Context(), "notion", person)
	require.NoError(t, err)
	assert.Equal(t, "active", resumed.State)
}

func TestWhoseCredentialsTheWorkersUse(t *testing.T) {
	t.Parallel()
	w := newWikiAt(t, 2000, notiontest.ServerOptions{}, notion.Workspace, func(space *notiontest.Workspace) {
		notiontest.Must(space.AddPage("", "Page", paragraph("Words.")))
	}, withoutWorker, patiently)
	assert.Nil(t, w.connection().Credentials, "no worker has used any")
	w.notionWorker()
	w.synced()
	used := w.connection().Credentials
	require.NotNil(t, used)
	assert.Equal(t, "LORESYNC_NOTION_TOKEN", used.Origin)
	assert.Len(t, used.Key, 8)
	assert.NotNil(t, used.Since)
	assert.Empty(t, used.Identity, "nobody has asked")

	check, err := w.CheckCredentials(t.Context(), "notion")
	require.NoError(t, err)
	assert.Empty(t, check.Trouble)
	assert.Equal(t, used.Key, check.Here.Key, "the same token")
	require.NotEmpty(t, check.Here.Identity)
	assert.Equal(t, check.Here.Identity, w.connection().Credentials.Identity)
	assert.Equal(t, used.Since, w.connection().Credentials.Since, "a check changes nothing about what is used")
}

// notionWorker starts a worker process that reads the stand-in.
func (w *wiki) notionWorker(settings ...string) (kill func()) {
	w.t.Helper()
	process := w.startWorker(append([]string{
		"LORESYNC_NOTION_BASE_URL=" + w.server.URL(), "LORESYNC_NOTION_TOKEN=" + w.server.Token(), "LORESYNC_NOTION_RATE=1000",
	}, settings...)...)
	return func() { require.NoError(w.t, process.Process.Kill()) }
}
