package tests

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/loresync/loresync/internal/control"
	"github.com/loresync/loresync/internal/knowledge"
	"github.com/loresync/loresync/internal/source/gdrive/drivetest"
	"github.com/loresync/loresync/internal/source/notion"
	"github.com/loresync/loresync/internal/source/notion/notiontest"
	"github.com/loresync/loresync/internal/testenv"
	"github.com/loresync/loresync/tests/clock"
)

// wrongWorkers builds the worker whose clock can be wrong once per test run.
var wrongWorkers = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "loresync-programs-")
	if err != nil {
		return "", err
	}
	return filepath.Join(dir, "worker"), clock.Build(context.Background(), dir, "../worker")
})

// wrongWorker starts a worker whose clock is wrong, as a process of its own.
func (r *rig) wrongWorker(by time.Duration, settings ...string) {
	r.t.Helper()
	worker, err := wrongWorkers()
	require.NoError(r.t, err)
	r.startProgram(exec.Command(worker), append(settings, clock.Off(by))...)
}

func TestRule12AWorkerWhoseClockIsAnHourOff(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("compiles a worker with a standard library of its own, which takes minutes: `make test-long` runs it")
	}
	for name, by := range map[string]time.Duration{"fast": time.Hour, "slow": -time.Hour} {
		t.Run(name+": syncs, deletes and restores", func(t *testing.T) {
			t.Parallel()
			r := newRig(t, patiently, withoutWorker)
			r.wrongWorker(by)
			r.wrongClockKeepsTheRules()
		})
		t.Run(name+": a read soon after an edit is due again", func(t *testing.T) {
			t.Parallel()
			r := newRig(t, patiently, withoutWorker)
			r.wrongWorker(by)
			r.wrongClockReadsAgain()
		})
		t.Run(name+": the budget that a vendor asks to rest", func(t *testing.T) {
			t.Parallel()
			wrongClockRests(t, by)
		})
		t.Run(name+": a channel, by a person's consent", func(t *testing.T) {
			t.Parallel()
			wrongClockWatches(t, by)
		})
		t.Run(name+": a key that the machine can't sign with pauses nothing", func(t *testing.T) {
			t.Parallel()
			wrongClockSigns(t, by)
		})
	}
}

// wrongClockKeepsTheRules takes pages through all that people do with them.
func (r *rig) wrongClockKeepsTheRules() {
	r.t.Helper()
	ctx, pages := r.t.Context(), r.fill(20)
	require.EqualValues(r.t, 20, r.synced().New)
	r.put(pages[0], "# Page 0\n\nAnother text.\n")
	require.EqualValues(r.t, 1, r.synced().Changed)

	deleted := r.wait(r.DeletePage(ctx, folderID, pages[0], control.DeleteOptions{}, person))
	require.Equal(r.t, "completed", deleted.Status)
	assert.Equal(r.t, 19, r.live())
	janitor := r.wait(r.Janitor(ctx, person))
	require.Equal(r.t, "completed", janitor.Status)
	assert.Equal(r.t, 1, r.count(`SELECT count(*) FROM pages WHERE tombstone_reason = 'person'`), "the undo window isn't over")
	r.wait(r.RestorePage(ctx, folderID, pages[0], false, person))
	testenv.Eventually(r.t, patience, func() bool { return r.live() == 20 }, "the page is back")

	r.remove(pages[1])
	require.Zero(r.t, r.synced().Removed, "once absent is not gone")
	require.EqualValues(r.t, 1, r.synced().Removed)

	require.Equal(r.t, "completed", r.wait(r.DeleteFolder(ctx, folderID, false, person)).Status)
	assert.Zero(r.t, r.live())
	require.Equal(r.t, "completed", r.wait(r.Janitor(ctx, person)).Status)
	_, err := r.RestoreFolder(ctx, folderID, person)
	require.NoError(r.t, err)
	assert.Equal(r.t, 19, r.live())
	require.EqualValues(r.t, 19, r.synced().Unchanged)
	r.clean()
}

// wrongClockReadsAgain reads a file whose last edit is, by its own clock, later than the read began.
func (r *rig) wrongClockReadsAgain() {
	r.t.Helper()
	r.put("a.md", "# A\n\ntext\n")
	path := filepath.Join(r.root, "a.md")
	soon := time.Now().Add(time.Minute)
	require.NoError(r.t, os.Chtimes(path, soon, soon))
	r.synced()
	const due = `SELECT count(*) FROM due_reads WHERE reason = 'recent_edit' AND due_at <= now() + interval '10 seconds'`
	require.Equal(r.t, 1, r.count(due), "a second edit in the same tick would carry the same version")
	long := time.Now().Add(-24 * time.Hour)
	require.NoError(r.t, os.Chtimes(path, long, long))
	r.exec(`UPDATE due_reads SET due_at = now()`)
	r.due()
	testenv.Eventually(r.t, patience, func() bool { return r.count(`SELECT count(*) FROM due_reads`) == 0 }, "the read that was due is done")
	r.clean()
}

// wrongClockRests lets a vendor ask for half a minute's rest, which all processes keep by the clock of Postgres.
func wrongClockRests(t *testing.T, by time.Duration) {
	t.Helper()
	w := newWikiAt(t, 1000, notiontest.ServerOptions{}, notion.Workspace, func(space *notiontest.Workspace) {
		notiontest.Must(space.AddPage("", "Page", paragraph("The zebra.")))
	}, withoutWorker, patiently)
	w.wrongWorker(by, w.settings()...)
	w.server.Break(notiontest.Fault{Match: notiontest.OfKind(notiontest.KindChildren), Times: 1, Effects: []notiontest.Effect{notiontest.TooManyRequests("30")}})
	running, err := w.SyncFolder(t.Context(), folderID, knowledge.ModeFull, person)
	require.NoError(t, err)
	testenv.Eventually(t, patience, func() bool {
		return w.count(`SELECT count(*) FROM rate_budgets WHERE blocked_until > now()`) == 1
	}, "the budget rests")
	assert.Equal(t, 1, w.count(`SELECT count(*) FROM rate_budgets WHERE blocked_until <= now() + interval '30 seconds'`))
	ended := w.wait(running, nil)
	require.Equal(t, "completed", ended.Status, ended.Reason)
	assert.Equal(t, 1, w.live())
	w.clean()
}

// wrongClockWatches opens a channel on a Drive's log with tokens that a person's consent gives.
func wrongClockWatches(t *testing.T, by time.Duration) {
	t.Helper()
	c := newCabinet(t, 500, drivetest.Options{}, func(c *cabinet) {
		drivetest.Must(c.server.AddDoc(c.root, "Plan", "# Plan\n"))
	}, withoutWorker, patiently)
	consent := filepath.Join(t.TempDir(), "consent.json")
	require.NoError(t, os.WriteFile(consent, c.server.UserCredentialsJSON(c.server.Owner()), 0o600))
	c.wrongWorker(by, append(c.settings, "LORESYNC_GDRIVE_CREDENTIALS_FILE="+consent, "LORESYNC_PUBLIC_URL=http://127.0.0.1:9")...)
	require.EqualValues(t, 1, c.synced().New)
	c.due()
	const open = `SELECT count(*) FROM watched_logs w JOIN watch_channels c USING (channel_id)
		WHERE c.opened_at IS NOT NULL AND c.expires_at BETWEEN now() + interval '6 days 22 hours' AND now() + interval '7 days'
			AND w.renew_at BETWEEN now() + interval '5 days' AND now() + interval '6 days'`
	testenv.Eventually(t, patience, func() bool { return c.count(open) == 1 }, "a channel is open, until Drive closes it")
	c.due()
	assert.Len(t, c.server.Channels(), 1, "nobody thinks that it has ended")
	assert.Equal(t, 1, c.count(open))
	c.clean()
}

// wrongClockSigns lets the machine sign with a service account's key, which Google refuses for the time that stands in it.
func wrongClockSigns(t *testing.T, by time.Duration) {
	t.Helper()
	c := newCabinet(t, 500, drivetest.Options{}, func(c *cabinet) {
		drivetest.Must(c.server.AddDoc(c.root, "Plan", "# Plan\n"))
	}, withoutWorker, patiently)
	c.wrongWorker(by, c.settings...)
	running, err := c.SyncFolder(t.Context(), folderID, knowledge.ModeFull, person)
	require.NoError(t, err)
	testenv.Eventually(t, patience, func() bool { return c.server.Count(drivetest.KindToken) > 0 }, "it has asked for a token")
	c.startWorker(c.settings...)
	ended := c.wait(running, nil)
	require.Equal(t, "completed", ended.Status, ended.Reason)
	assert.Zero(t, c.count(`SELECT count(*) FROM connections WHERE paused_at IS NOT NULL`))
	assert.Zero(t, c.count(`SELECT count(*) FROM sync_events WHERE kind = 'connection_paused'`))
	c.clean()
}
