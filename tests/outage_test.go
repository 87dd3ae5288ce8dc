package tests

import (
	"context"
	"log/slog"
	"os"
	"strconv"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/client"
	sdklog "go.temporal.io/sdk/log"

	"github.com/loresync/loresync/internal/control"
	"github.com/loresync/loresync/internal/knowledge"
	"github.com/loresync/loresync/internal/local"
	"github.com/loresync/loresync/internal/store"
	"github.com/loresync/loresync/internal/testenv"
	"github.com/loresync/loresync/schema"
)

// cutOff is an entry point that can reach Postgres and not Temporal.
func (r *rig) cutOff() *control.Control {
	r.t.Helper()
	port, err := local.FreePort()
	require.NoError(r.t, err)
	nowhere, err := client.NewLazyClient(client.Options{
		HostPort: "127.0.0.1:" + strconv.Itoa(port), Namespace: r.name, Logger: sdklog.NewStructuredLogger(slog.New(slog.DiscardHandler)),
	})
	require.NoError(r.t, err)
	r.t.Cleanup(nowhere.Close)
	return control.New(r.store, nowhere, r, slog.New(slog.DiscardHandler), control.Options{Namespace: r.name})
}

// ownPostgres starts a Postgres that the test may kill.
func ownPostgres(t *testing.T) *local.Postgres {
	t.Helper()
	bin, err := local.FindPostgres(t.Context(), local.PostgresSearch{})
	require.NoError(t, err)
	dir, err := os.MkdirTemp("", "loresync-outage-") //nolint:usetesting // Postgres' own user can't enter TempDir's parent
	require.NoError(t, err)
	pg, err := local.StartPostgres(t.Context(), local.PostgresOptions{DataDir: dir, BinDir: bin, Durable: true})
	require.NoError(t, err)
	t.Cleanup(func() {
		assert.NoError(t, pg.Stop())
		assert.NoError(t, local.RemoveDataDir(context.Background(), dir))
	})
	return pg
}

// reconnect opens the rig's own look behind the store again, once Postgres is back.
func (r *rig) reconnect(within time.Duration) {
	r.t.Helper()
	testenv.Eventually(r.t, within, func() bool {
		var err error
		r.sql, err = pgx.Connect(r.t.Context(), r.url)
		return err == nil
	}, "Postgres is back")
}

func TestTemporalIsDown(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.put("a.md", "# A\n\ntext\n")
	r.put("b.md", "# B\n\ntext of b\n")
	r.synced()
	alone := r.cutOff()

	t.Run("a sync request says so within 5 seconds and leaves nothing", func(t *testing.T) {
		runs := r.count(`SELECT count(*) FROM sync_runs`)
		begun := time.Now()
		_, err := alone.SyncFolder(t.Context(), folderID, knowledge.ModeFull, person)
		assert.Less(t, time.Since(begun), 5*time.Second)
		assert.Equal(t, control.KindUnreachable, control.KindOf(err))
		require.ErrorContains(t, err, "Temporal can't be reached")
		assert.Equal(t, runs, r.count(`SELECT count(*) FROM sync_runs`))
		_, err = alone.SyncPage(t.Context(), folderID, "a.md", person)
		assert.Equal(t, control.KindUnreachable, control.KindOf(err))
	})

	t.Run("a delete is accepted, hidden at once, and finishes later", func(t *testing.T) {
		answer, err := alone.DeletePage(t.Context(), folderID, "a.md", control.DeleteOptions{}, person)
		require.NoError(t, err)
		assert.NotEmpty(t, answer.Warnings)
		assert.Equal(t, 1, r.live())
		assert.Equal(t, 1, r.count(`SELECT count(*) FROM deletes WHERE finished_at IS NULL AND started_at IS NULL`))
		r.exec(`UPDATE deletes SET accepted_at = accepted_at - interval '1 minute'`)
		_, err = r.Janitor(t.Context(), person)
		require.NoError(t, err)
		assert.Equal(t, "completed", r.wait(answer, nil).Status)
	})

	t.Run("a crash between claim and start is healed by the next request", func(t *testing.T) {
		claim, err := r.store.ClaimFolderRun(t.Context(), folderID, "folder/hr/sync/died", knowledge.ModeIncremental, "cli", "eve")
		require.NoError(t, err)
		require.Equal(t, "claimed", claim.Outcome)
		answer := r.sync()
		assert.Equal(t, "folder/hr/sync/died", answer.WorkflowID)
		assert.Equal(t, "completed", answer.Status)
		assert.Equal(t, 1, r.count(`SELECT count(*) FROM sync_runs WHERE workflow_id = 'folder/hr/sync/died' AND mode = 'full'`), "the joiner raised its mode")
	})
	r.clean()
}

func TestPostgresGoesAwayInTheMiddle(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	pg := ownPostgres(t)
	r := newRig(t, func(r *rig) {
		require.NoError(t, pg.CreateDatabase(ctx, "lore"))
		r.url = pg.URL("lore")
		_, err := schema.Migrate(ctx, r.url)
		require.NoError(t, err)
	})
	r.fill(200)
	running, err := r.SyncFolder(ctx, folderID, knowledge.ModeFull, person)
	require.NoError(t, err)
	testenv.Eventually(t, patience, func() bool { return r.live() > 20 }, "pages are being published")
	require.NoError(t, pg.Kill())
	_, err = r.DeletePage(ctx, folderID, "dir0/page000.md", control.DeleteOptions{}, person)
	require.ErrorIs(t, err, store.ErrUnreachable)
	require.NoError(t, pg.Restart(ctx))
	r.reconnect(patience)
	ended := r.wait(running, nil)
	assert.Contains(t, []string{"completed", "partial"}, ended.Status)
	assert.EqualValues(t, 200, r.synced().Listed)
	assert.Equal(t, 200, r.live())
	r.clean()
}
