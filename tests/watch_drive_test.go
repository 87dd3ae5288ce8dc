package tests

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/loresync/loresync/internal/config"
	"github.com/loresync/loresync/internal/control"
	"github.com/loresync/loresync/internal/source/gdrive"
	"github.com/loresync/loresync/internal/source/gdrive/drivetest"
	"github.com/loresync/loresync/internal/store"
	"github.com/loresync/loresync/internal/testenv"
)

// newWatchedDrive is newWatched with the real client of Drive, and a stand-in server that really calls.
func newWatchedDrive(t *testing.T) (w *watched, drive *drivetest.Server, handbook, plan string) {
	t.Helper()
	drive = drivetest.Start(t, drivetest.Options{Seed: 7})
	handbook = drivetest.Must(drive.AddFolder("", "Handbook"))
	plan = drivetest.Must(drive.AddDoc(handbook, "Plan", "The first plan.\n"))
	key := filepath.Join(t.TempDir(), "key.json")
	require.NoError(t, os.WriteFile(key, drive.CredentialsJSON(), 0o600))
	w = &watched{}
	w.rig = newRig(t, withoutWorker, patiently, func(r *rig) {
		r.spec = control.FolderSpec{ID: folderID, Source: gdrive.Name, Root: handbook, Title: "Handbook"}
		r.makeSources = func(st *store.Store) control.Sources {
			return config.NewSources(config.Config{GDrive: config.GDrive{CredentialsFile: key, Endpoint: drive.Endpoint(), Rate: 500}}, st)
		}
	})
	w.public = w.gatewayOf(w.Control)
	w.startWorker(w.public)
	w.synced()
	return w, drive, handbook, plan
}

// watchesConfirmed waits until the only log's channel was called.
func (w *watched) watchesConfirmed() {
	w.t.Helper()
	testenv.Eventually(w.t, patience, func() bool {
		return w.count(`SELECT count(*) FROM watched_logs JOIN watch_channels USING (channel_id) WHERE confirmed_at IS NOT NULL`) == 1
	}, "the channel is confirmed")
}

func TestDrivePushChannels(t *testing.T) {
	t.Parallel()
	w, drive, handbook, plan := newWatchedDrive(t)
	require.Equal(t, 1, w.upkeep().Watched)
	w.watchesConfirmed()
	require.Len(t, drive.Channels(), 1)

	t.Run("edits, new files and the trash are followed, told twice", func(t *testing.T) {
		drive.SetPush(drivetest.PushOptions{Copies: 2})
		require.NoError(t, drive.EditDoc(plan, "An ocelot.\n"))
		w.says(plan, "ocelot")
		fresh := drivetest.Must(drive.AddDoc(handbook, "Fresh", "A lynx.\n"))
		w.says(fresh, "lynx")
		require.NoError(t, drive.Trash(fresh))
		testenv.Eventually(t, soon, func() bool { return w.page(fresh).State == "tombstoned" }, "the file in the trash is gone")
	})

	t.Run("a renewed channel takes over, and the old one is stopped", func(t *testing.T) {
		old := drive.Channels()[0].ID
		w.exec(`UPDATE watched_logs SET renew_at = now()`)
		assert.Equal(t, 1, w.upkeep().Unwatched)
		w.watchesConfirmed()
		require.Len(t, drive.Channels(), 1)
		assert.NotEqual(t, old, drive.Channels()[0].ID)
		require.NoError(t, drive.EditDoc(plan, "A serval.\n"))
		w.says(plan, "serval")
	})

	t.Run("every call was taken, and followed for its connection", func(t *testing.T) {
		for _, delivery := range drive.Deliveries() {
			assert.Equal(t, 2, delivery.Status/100, "%+v", delivery)
		}
		for id := range w.executions() {
			assert.True(t, strings.HasPrefix(id, "connection/gdrive/webhook/"), id)
		}
	})

	t.Run("a paused folder closes it", func(t *testing.T) {
		_, err := w.PauseFolder(t.Context(), folderID, person)
		require.NoError(t, err)
		assert.Equal(t, 1, w.upkeep().Unwatched)
		assert.Empty(t, drive.Channels())
	})
	w.clean()
}

func TestFaultDriveRefusesAChannel(t *testing.T) {
	t.Parallel()
	w, drive, _, plan := newWatchedDrive(t)
	heal := drive.Fail(drivetest.OfKind(drivetest.KindWatch), 100, drivetest.Status(503))
	assert.Zero(t, w.upkeep().Watched)
	require.Len(t, w.watchesOf("gdrive"), 1)
	assert.Equal(t, 1, w.watchesOf("gdrive")[0].Failures)
	assert.NotEmpty(t, w.watchesOf("gdrive")[0].Sentence)
	connections, err := w.Connections(t.Context())
	require.NoError(t, err)
	for _, connection := range connections {
		assert.NotEqual(t, "paused", connection.State, "a refused channel pauses nothing")
	}
	require.NoError(t, drive.EditDoc(plan, "A margay.\n"))
	w.exec(`UPDATE sync_runs SET requested_at = requested_at - interval '1 hour' WHERE status <> 'running'`)
	assert.Equal(t, 1, w.upkeep().Folders, "the interval is the net")
	w.says(plan, "margay")
	heal()
	w.exec(`UPDATE watched_logs SET next_try_at = now()`)
	assert.Equal(t, 1, w.upkeep().Watched)
}
