package tests

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/loresync/loresync/internal/config"
	"github.com/loresync/loresync/internal/control"
	"github.com/loresync/loresync/internal/knowledge"
	"github.com/loresync/loresync/internal/source/gdrive"
	"github.com/loresync/loresync/internal/source/gdrive/drivetest"
	"github.com/loresync/loresync/internal/store"
	"github.com/loresync/loresync/internal/testenv"
)

// cabinet is a Google Drive behind a stand-in server, and a folder of loresync's that syncs one of its folders.
type cabinet struct {
	*rig
	server *drivetest.Server
	// root is what is synced, outside another folder of the same person.
	root, outside string
	// settings are what another process needs to reach the Drive.
	settings []string
}

// newCabinet makes a Drive, fills the folder in it and registers it.
func newCabinet(t testing.TB, rate float64, options drivetest.Options, fill func(c *cabinet), more ...rigOption) *cabinet {
	t.Helper()
	options.Seed = 7
	c := &cabinet{server: drivetest.Start(t, options)}
	mine := c.server.Root(c.server.Owner())
	c.root = drivetest.Must(c.server.AddFolder(mine, "Company"))
	c.outside = drivetest.Must(c.server.AddFolder(mine, "Elsewhere"))
	// Drive tells who may read a file to those only who may change it.
	require.NoError(t, c.server.Share(c.root, c.server.ServiceAccount(), drivetest.RoleWriter))
	fill(c)
	key := filepath.Join(t.TempDir(), "key.json")
	require.NoError(t, os.WriteFile(key, c.server.CredentialsJSON(), 0o600))
	c.settings = []string{
		"LORESYNC_GDRIVE_CREDENTIALS_FILE=" + key, "LORESYNC_GDRIVE_ENDPOINT=" + c.server.Endpoint(), fmt.Sprint("LORESYNC_GDRIVE_RATE=", rate),
	}
	c.rig = newRig(t, append(more, func(r *rig) {
		r.spec = control.FolderSpec{ID: folderID, Source: gdrive.Name, Root: c.root, Title: "Drive"}
		r.makeSources = func(st *store.Store) control.Sources {
			sources := config.NewSources(config.Config{GDrive: config.GDrive{
				CredentialsFile: key, Endpoint: c.server.Endpoint(), Rate: rate,
			}}, st)
			t.Cleanup(sources.Close)
			return sources
		}
	})...)
	c.server.ResetLog()
	return c
}

// changed runs an incremental sync and demands that it completed.
func (c *cabinet) changed() knowledge.Counts {
	c.t.Helper()
	answer := c.wait(c.SyncFolder(c.t.Context(), folderID, knowledge.ModeIncremental, person))
	require.Equal(c.t, "completed", answer.Status, answer.Reason)
	return *answer.Counts
}

func (c *cabinet) markdown(id string) string {
	c.t.Helper()
	text, err := c.Markdown(c.t.Context(), folderID, id)
	require.NoError(c.t, err)
	return text
}

func (c *cabinet) state(id string) string {
	c.t.Helper()
	return string(c.page(id).State)
}

func TestDriveFolder(t *testing.T) {
	t.Parallel()
	var plan, sheet, notes, picture, guides string
	c := newCabinet(t, 500, drivetest.Options{}, func(c *cabinet) {
		guides = drivetest.Must(c.server.AddFolder(c.root, "Guides"))
		plan = drivetest.Must(c.server.AddDoc(guides, "Plan", "# Plan\n\nWe count the *zebras*.\n"))
		sheet = drivetest.Must(c.server.AddSheet(c.root, "Equipment", drivetest.Tab{Name: "Laptops", Rows: [][]any{{"Owner", "Model"}, {"Mika", "X13"}}}))
		notes = drivetest.Must(c.server.AddFile(guides, "Notes.md", "text/markdown", []byte("# Notes\n\nThe okapi is shy.\n")))
		picture = drivetest.Must(c.server.AddFile(c.root, "Logo.png", "image/png", []byte("no text")))
	})
	counts := c.synced()
	assert.EqualValues(t, 3, counts.New)
	assert.EqualValues(t, 1, counts.Skipped)
	assert.Contains(t, c.markdown(plan), "zebras")
	assert.Contains(t, c.markdown(sheet), "X13")
	assert.Contains(t, c.page(picture).Reason, "unsupported")
	assert.Equal(t, guides, *c.page(plan).ParentPageID)
	assert.Contains(t, string(c.page(plan).Access), `"role"`, "who may read is kept")
	c.clean()

	t.Run("nothing changed costs a request or two and reads nothing", func(t *testing.T) {
		c.server.ResetLog()
		counts := c.changed()
		assert.Zero(t, counts.New+counts.Changed+counts.Failed+counts.Removed, "%+v", counts)
		assert.LessOrEqual(t, len(c.server.Requests()), 3, "%v", c.server.Counts())
	})

	t.Run("an edit is seen", func(t *testing.T) {
		require.NoError(t, c.server.EditDoc(plan, "# Plan\n\nWe count the ocelots.\n"))
		counts := c.changed()
		assert.EqualValues(t, 1, counts.Changed)
		assert.Contains(t, c.markdown(plan), "ocelots")
	})

	t.Run("a renamed folder changes paths and embeds nothing", func(t *testing.T) {
		embedded := c.embedder.texts.Load()
		require.NoError(t, c.server.Rename(guides, "Handbooks"))
		c.changed()
		assert.Contains(t, c.page(plan).Path, "Handbooks/")
		assert.Equal(t, embedded, c.embedder.texts.Load())
	})

	t.Run("what is in the trash goes at once, and comes back with a restore", func(t *testing.T) {
		require.NoError(t, c.server.Trash(plan))
		c.changed()
		assert.Equal(t, "tombstoned", c.state(plan))
		require.NoError(t, c.server.Restore(plan))
		c.changed()
		assert.Equal(t, "live", c.state(plan))
	})

	t.Run("lost access is told by the log", func(t *testing.T) {
		require.NoError(t, c.server.LoseAccess(notes, c.server.ServiceAccount()))
		c.changed()
		assert.Equal(t, "tombstoned", c.state(notes))
		require.NoError(t, c.server.RegainAccess(notes, c.server.ServiceAccount()))
		c.synced()
		assert.Equal(t, "live", c.state(notes))
	})
	c.clean()
}

func TestDriveAsksForNoFileTwiceWithSeveralWorkers(t *testing.T) {
	t.Parallel()
	const workers = 2
	folders, files := 20, 400
	if testing.Short() {
		folders, files = 15, 300
	}
	var renamed string
	c := newCabinet(t, 500, drivetest.Options{}, func(c *cabinet) {
		for i := range folders {
			folder := drivetest.Must(c.server.AddFolder(c.root, fmt.Sprintf("Folder %d", i)))
			for j := range files / folders {
				renamed = drivetest.Must(c.server.AddDoc(folder, fmt.Sprintf("Page %d.%d", i, j), fmt.Sprintf("# Page\n\nText %d of %d.\n", j, i)))
			}
		}
	}, withoutWorker, patiently)
	for range workers {
		c.startWorker(c.settings...)
	}
	answer := c.syncWithin(10 * time.Minute)
	require.Equal(t, "completed", answer.Status, answer.Reason)
	assert.Equal(t, files, c.live())
	counts := c.server.Counts()
	t.Logf("%d requests for %d files in %d folders: %v", c.server.Count(), files, folders, counts)
	assert.GreaterOrEqual(t, counts[drivetest.KindToken], workers, "all of them read")
	// A request for what each file says, and one for what is in the root and in each folder.
	assert.LessOrEqual(t, float64(c.server.Count()), 1.02*float64(files+folders+1), "%v", counts)
	assert.Zero(t, c.count(`SELECT count(*) FROM listing_notes`), "each note was taken")
	assert.Equal(t, files, c.count(`SELECT count(*) FROM live_pages WHERE access IS NOT NULL`))

	require.NoError(t, c.server.Rename(renamed, "Another name"))
	c.changed()
	assert.Equal(t, "Another name", c.page(renamed).Title)
	c.clean()
}

func TestDriveFolderOfFiftyMovesOutAndIn(t *testing.T) {
	t.Parallel()
	const n, others = 50, 250
	var moving string
	c := newCabinet(t, 2000, drivetest.Options{}, func(c *cabinet) {
		moving = drivetest.Must(c.server.AddFolder(c.root, "Moving"))
		for i := range n {
			drivetest.Must(c.server.AddFile(moving, fmt.Sprintf("m%d.md", i), "text/markdown", fmt.Appendf(nil, "# M %d\n\nText %d.\n", i, i)))
		}
		for i := range others {
			drivetest.Must(c.server.AddFile(c.root, fmt.Sprintf("o%d.md", i), "text/markdown", fmt.Appendf(nil, "# O %d\n\nOther %d.\n", i, i)))
		}
	})
	c.synced()
	require.Equal(t, n+others, c.live())
	embedded := c.embedder.texts.Load()

	require.NoError(t, c.server.Move(moving, c.outside))
	counts := c.changed()
	assert.EqualValues(t, n, counts.Removed, "%+v", counts)
	assert.Equal(t, others, c.live())

	require.NoError(t, c.server.Move(moving, c.root))
	c.changed()
	assert.Equal(t, n+others, c.live(), "they are back")
	assert.Equal(t, embedded, c.embedder.texts.Load(), "and nothing was embedded again")
	c.clean()
}

func TestDriveSurvivesAWeatherOfFaults(t *testing.T) {
	t.Parallel()
	n := 2000
	if testing.Short() {
		n = 120
	}
	c := newCabinet(t, 2000, drivetest.Options{}, func(c *cabinet) {
		folder := c.root
		for i := range n {
			if i%25 == 0 {
				folder = drivetest.Must(c.server.AddFolder(c.root, fmt.Sprintf("Folder %d", i)))
			}
			drivetest.Must(c.server.AddFile(folder, fmt.Sprintf("f%d.md", i), "text/markdown", fmt.Appendf(nil, "# F %d\n\nText of file %d.\n", i, i)))
		}
	}, patiently)
	c.worker()
	heal := c.server.Break(drivetest.Fault{Share: 0.1, Effects: drivetest.Weather()})
	var answer control.Answer
	// A file may have failed three times in a row: its due read and the next sync bring it.
	for range 6 {
		if answer = c.syncWithin(20 * time.Minute); c.live() == n {
			break
		}
	}
	heal()
	assert.Equal(t, n, c.live(), "complete, whatever the weather: %+v", answer.Counts)
	assert.Zero(t, c.count(`SELECT count(*) FROM pages WHERE tombstoned_at IS NOT NULL`), "none removed")
	assert.Greater(t, len(c.server.Statuses()), 3, "there was a weather: %v", c.server.Statuses())
	c.clean()
}

func TestDriveRefusedCredentialsPauseTheConnection(t *testing.T) {
	t.Parallel()
	c := newCabinet(t, 500, drivetest.Options{}, func(c *cabinet) {
		drivetest.Must(c.server.AddFile(c.root, "a.md", "text/markdown", []byte("# A\n\ntext\n")))
	})
	c.synced()
	c.server.Revoke(c.server.ServiceAccount())
	answer := c.sync()
	assert.Equal(t, "failed", answer.Status)
	assert.Equal(t, 1, c.live(), "nothing is removed")
	assert.Equal(t, 1, c.count(`SELECT count(*) FROM connections WHERE name = 'gdrive' AND paused_at IS NOT NULL`))
	fresh := drivetest.Must(c.server.AddFile(c.root, "b.md", "text/markdown", []byte("# B\n\ntext\n")))
	c.server.Allow(c.server.ServiceAccount())
	c.due()
	assert.Zero(t, c.count(`SELECT count(*) FROM connections WHERE paused_at IS NOT NULL`), "it is checked and resumed")
	testenv.Eventually(t, patience, func() bool { return c.count(`SELECT count(*) FROM live_pages WHERE source_id = $1`, fresh) == 1 },
		"what happened meanwhile is synced without waiting for the interval")
}

func TestRule7AHoldIsLeftByWhatComesBack(t *testing.T) {
	t.Parallel()
	var folder string
	c := newCabinet(t, 500, drivetest.Options{}, func(c *cabinet) {
		folder = drivetest.Must(c.server.AddFolder(c.root, "Tables"))
		for i := range 7 {
			drivetest.Must(c.server.AddFile(folder, fmt.Sprintf("t%d.md", i), "text/markdown", fmt.Appendf(nil, "# T %d\n\nText %d.\n", i, i)))
		}
		drivetest.Must(c.server.AddFile(c.root, "a.md", "text/markdown", []byte("# A\n\ntext\n")))
	})
	c.synced()
	require.NoError(t, c.server.Trash(folder))
	assert.EqualValues(t, 7, c.changed().Held)
	assert.Equal(t, 8, c.live())
	require.NoError(t, c.server.Restore(folder))
	c.changed()
	assert.Zero(t, c.count(`SELECT count(*) FROM holds WHERE state = 'open'`))
	assert.Equal(t, 8, c.live())
	c.clean()
}
