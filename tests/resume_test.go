package tests

import (
	"context"
	"fmt"
	"os/exec"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/loresync/loresync/internal/control"
	"github.com/loresync/loresync/internal/knowledge"
	"github.com/loresync/loresync/internal/source"
	"github.com/loresync/loresync/internal/source/notion"
	"github.com/loresync/loresync/internal/source/notion/notiontest"
	"github.com/loresync/loresync/internal/testenv"
)

// parallelReads is how many requests one read of a Notion page has under way at once.
const parallelReads = 4

// workerProcess starts a worker that knows the wiki as a process of its own.
func (w *wiki) workerProcess() *exec.Cmd {
	w.t.Helper()
	return w.startWorker(w.settings()...)
}

// settings are what another process needs to reach the wiki.
func (w *wiki) settings() []string {
	return []string{"LORESYNC_NOTION_BASE_URL=" + w.server.URL(), "LORESYNC_NOTION_TOKEN=" + w.server.Token(), "LORESYNC_NOTION_RATE=1000"}
}

// longPage is a wiki of one page, whose blocks take toggles + toggles/100 requests or one more.
func longPage(t *testing.T, toggles int, more ...rigOption) (w *wiki, page string, requests int) {
	t.Helper()
	w = newWikiAt(t, 1000, notiontest.ServerOptions{}, notion.Workspace, func(space *notiontest.Workspace) {
		blocks := make([]notiontest.Block, toggles)
		for i := range blocks {
			inside := make([]notiontest.Block, 99)
			for j := range inside {
				inside[j] = paragraph(fmt.Sprintf("Paragraph %d of part %d.", j, i))
			}
			blocks[i] = notiontest.Toggle(notiontest.Text(fmt.Sprintf("Part %d", i))).With(inside...)
		}
		page = notiontest.Must(space.AddPage("", "Long", blocks...))
	}, more...)
	return w, page, toggles + (toggles+99)/100
}

// holdAfter answers so many requests for blocks and holds the others; it returns once a read waits for as many as it sends at once.
func (w *wiki) holdAfter(n int, begin func()) *notiontest.Held {
	w.t.Helper()
	var came atomic.Int64
	held := w.server.Hold(notiontest.Both(notiontest.OfKind(notiontest.KindChildren), func(notiontest.Request) bool { return came.Add(1) > int64(n) }))
	begin()
	w.await(held, parallelReads)
	return held
}

func (w *wiki) await(held *notiontest.Held, requests int) {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(w.t.Context(), patience)
	defer cancel()
	require.NoError(w.t, held.Await(ctx, requests))
}

// readAtOnce is what the page says when it is read without a break.
func (w *wiki) readAtOnce(page string) string {
	w.t.Helper()
	src := notion.New(notion.Options{BaseURL: w.server.URL(), Token: func(context.Context) (string, error) { return w.server.Token(), nil }})
	read, err := src.Fetch(w.t.Context(), source.Root{FolderID: folderID, Ref: notion.Workspace}, page)
	require.NoError(w.t, err)
	return read.Markdown
}

func TestRule12AReadOfALargePageSurvivesItsWorker(t *testing.T) {
	t.Parallel()
	toggles := 200 // 20,000 blocks
	if testing.Short() {
		toggles = 60
	}
	w, page, requests := longPage(t, toggles, withoutWorker)
	whole := w.readAtOnce(page)
	w.server.ResetLog()
	first := w.workerProcess()
	before := requests * 6 / 10
	var running control.Answer
	held := w.holdAfter(before, func() {
		var err error
		running, err = w.SyncFolder(t.Context(), folderID, knowledge.ModeFull, person)
		require.NoError(t, err)
	})
	require.NoError(t, first.Process.Kill())
	testenv.Eventually(t, patience, func() bool { return held.Waiting() == 0 }, "what the worker waited for is cut off")
	held.Release()
	w.server.ResetLog()
	w.workerProcess()

	ended := w.wait(running, nil)
	assert.Equal(t, "completed", ended.Status, ended.Reason)
	assert.Equal(t, requests-before, w.server.Count(notiontest.KindChildren), "it costs the rest")
	same := whole == w.markdown(page)
	assert.True(t, same, "it reads as if nothing had happened")
	assert.Zero(t, w.count(`SELECT count(*) FROM read_progress`))
	w.clean()
}

func TestRule3ANewAttemptGoesOnWhereATerminatedOneStopped(t *testing.T) {
	t.Parallel()
	w, page, requests := longPage(t, 60)
	before := requests * 6 / 10
	w.synced()
	w.clock.Advance(3 * time.Minute)
	require.NoError(t, w.space.Rename(page, "Longer"))
	whole := w.readAtOnce(page)
	w.server.ResetLog()

	var stopped control.Answer
	held := w.holdAfter(before, func() {
		var err error
		stopped, err = w.SyncPage(t.Context(), folderID, page, person)
		require.NoError(t, err)
	})
	token := w.token(page)
	require.NoError(t, w.temporal.TerminateWorkflow(t.Context(), stopped.WorkflowID, "", "the test ends it"))
	again, err := w.SyncPage(t.Context(), folderID, page, person)
	require.NoError(t, err)
	testenv.Eventually(t, patience, func() bool { return w.token(page) != token }, "the next attempt has taken the page")
	held.Release()
	w.wait(again, nil)
	// What the terminated attempt had asked for already was asked for twice.
	assert.LessOrEqual(t, w.server.Count(notiontest.KindChildren), requests+parallelReads)
	same := whole == w.markdown(page)
	assert.True(t, same, "it reads as if nothing had happened")
	assert.Zero(t, w.count(`SELECT count(*) FROM read_progress`))
	w.clean()
}

// token is that of the attempt which holds a page.
func (w *wiki) token(page string) (token string) {
	w.t.Helper()
	const held = `SELECT coalesce((SELECT token::text FROM in_flight WHERE page_id = $1), '')`
	require.NoError(w.t, w.sql.QueryRow(w.t.Context(), held, w.page(page).PageID).Scan(&token))
	return token
}

func TestRule12AWorkerKilledBetweenItsReportAndItsPublishLosesNothing(t *testing.T) {
	t.Parallel()
	const children = 3
	var parent string
	w := newWikiAt(t, 1000, notiontest.ServerOptions{}, notion.Workspace, func(space *notiontest.Workspace) {
		parent = notiontest.Must(space.AddPage("", "Parent", paragraph("What holds the others.")))
		for i := range children {
			child := notiontest.Must(space.AddPage(parent, fmt.Sprintf("Child %d", i), paragraph(fmt.Sprintf("Text of child %d.", i))))
			require.NoError(t, space.Hide(child), "only a read of its parent tells of it")
		}
	}, withoutWorker)
	first := w.workerProcess()
	held := w.server.Hold(notiontest.Both(notiontest.OfKind(notiontest.KindChildren), notiontest.About(parent)))
	running, err := w.SyncFolder(t.Context(), folderID, knowledge.ModeFull, person)
	require.NoError(t, err)
	w.await(held, 1)

	unlock := w.lockChunks()
	held.Release()
	const stages = `SELECT count(*) FROM pg_locks l JOIN pg_database d ON d.oid = l.database
		WHERE d.datname = current_database() AND NOT l.granted AND l.relation = 'chunks'::regclass`
	testenv.Eventually(t, patience, func() bool { return w.count(stages) > 0 }, "the read is about to be staged")
	require.NoError(t, first.Process.Kill())
	assert.Equal(t, children, w.count(`SELECT count(*) FROM pages WHERE found_by = 'tree'`), "its children were reported")
	assert.Zero(t, w.live(), "and nothing of it was published")
	unlock()
	w.workerProcess()

	ended := w.wait(running, nil)
	assert.Equal(t, "completed", ended.Status, ended.Reason)
	assert.Equal(t, knowledge.Counts{Listed: 1 + children, New: 1 + children}, *ended.Counts)
	assert.Equal(t, 1+children, w.live(), "nothing is lost")
	for _, query := range []string{
		`SELECT count(*) FROM pages`, `SELECT count(*) FROM revisions`, `SELECT count(*) FROM sync_events WHERE kind = 'published'`,
	} {
		assert.Equal(t, 1+children, w.count(query), "nothing is doubled: %s", query)
	}
	w.clean()
}

// lockChunks keeps everybody from writing chunks.
func (w *wiki) lockChunks() (unlock func()) {
	w.t.Helper()
	conn, err := pgx.Connect(w.t.Context(), w.url)
	require.NoError(w.t, err)
	w.t.Cleanup(func() { _ = conn.Close(context.Background()) })
	_, err = conn.Exec(w.t.Context(), `BEGIN; LOCK TABLE chunks IN SHARE MODE`)
	require.NoError(w.t, err)
	return func() {
		_, err := conn.Exec(w.t.Context(), `ROLLBACK`)
		require.NoError(w.t, err)
	}
}
