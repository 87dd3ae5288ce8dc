package tests

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/loresync/loresync/internal/config"
	"github.com/loresync/loresync/internal/control"
	"github.com/loresync/loresync/internal/knowledge"
	"github.com/loresync/loresync/internal/source/notion"
	"github.com/loresync/loresync/internal/source/notion/notiontest"
	"github.com/loresync/loresync/internal/store"
	"github.com/loresync/loresync/internal/testenv"
)

// wiki is a Notion workspace behind a stand-in server, and a folder that syncs it.
type wiki struct {
	*rig
	space  *notiontest.Workspace
	server *notiontest.Server
	clock  *notiontest.Clock
}

// newWiki makes a workspace whose clock stands hours ago, so that no page counts as just edited, fills it and registers it.
func newWiki(t testing.TB, options notiontest.ServerOptions, root string, fill func(*notiontest.Workspace)) *wiki {
	t.Helper()
	return newWikiAt(t, 2000, options, root, fill)
}

// newWikiAt is newWiki with a budget of rate requests a second, and more options of the rig.
func newWikiAt(
	t testing.TB, rate float64, options notiontest.ServerOptions, root string, fill func(*notiontest.Workspace), more ...rigOption,
) *wiki {
	t.Helper()
	w := &wiki{clock: notiontest.NewClock(time.Now().Add(-24 * time.Hour))}
	w.space = notiontest.New(notiontest.Options{Seed: 7, Clock: w.clock})
	w.server = notiontest.NewServer(w.space, options)
	url, err := w.server.Start()
	require.NoError(t, err)
	t.Cleanup(func() { _ = w.server.Close() })
	fill(w.space)
	w.clock.Advance(time.Hour)
	w.rig = newRig(t, append([]rigOption{func(r *rig) {
		r.spec = control.FolderSpec{ID: folderID, Source: notion.Name, Root: root, Title: "Wiki"}
		r.makeSources = func(st *store.Store) control.Sources {
			return config.NewSources(config.Config{Notion: config.Notion{Token: w.server.Token(), BaseURL: url, Rate: rate}}, st)
		}
	}}, more...)...)
	w.server.ResetLog()
	return w
}

func (w *wiki) markdown(id string) string {
	w.t.Helper()
	text, err := w.Markdown(w.t.Context(), folderID, id)
	require.NoError(w.t, err)
	return text
}

func paragraph(text string) notiontest.Block { return notiontest.Paragraph(notiontest.Text(text)) }

func TestNotionFolder(t *testing.T) {
	t.Parallel()
	var ids map[string]string
	var hidden, linked, row string
	var projects notiontest.Database
	w := newWiki(t, notiontest.ServerOptions{}, notion.Workspace, func(space *notiontest.Workspace) {
		var err error
		ids, err = space.LoadMarkdown("", os.DirFS("../dev/sample"))
		require.NoError(t, err)
		top := notiontest.Must(space.AddPage("", "Projects and secrets", paragraph("What we build.")))
		projects, err = space.AddDatabase(top, "Projects", notiontest.Column{Name: "Stage", Type: "rich_text"})
		require.NoError(t, err)
		for i := range 5 {
			row = notiontest.Must(space.AddRow(projects.Source, fmt.Sprintf("Project %d", i), nil, paragraph(fmt.Sprintf("The plan of project %d.", i))))
		}
		hidden = notiontest.Must(space.AddPage(top, "Off the index", paragraph("Only the tree knows the zebra.")))
		require.NoError(t, space.Hide(hidden))
		linked = notiontest.Must(space.AddLinkedDatabase(top, "A view of elsewhere"))
	})
	counts := w.synced()
	live := w.live()
	assert.Equal(t, int64(live), counts.New, "everything that can be read is live")
	assert.GreaterOrEqual(t, live, len(ids)+1+1+5+1, "the handbook, the page, the database, its rows and what search doesn't know")
	assert.Contains(t, w.markdown(hidden), "zebra")
	assert.Contains(t, w.markdown(row), "The plan of project 4.")
	assert.Equal(t, "tree", w.page(hidden).FoundBy)
	assert.Equal(t, "search", w.page(row).FoundBy)
	assert.EqualValues(t, "skipped", w.page(linked).State, "a linked database can't be read, and says so")
	w.clean()

	t.Run("a second full sync changes nothing, and reads only what search doesn't know", func(t *testing.T) {
		w.server.ResetLog()
		counts := w.synced()
		assert.Zero(t, counts.New+counts.Changed+counts.Failed+counts.Removed, "%+v", counts)
		assert.LessOrEqual(t, w.server.Count(notiontest.KindSearch), live/100+4)
		w.clean()
	})

	t.Run("an edit, a rename and a move are seen by the next sync", func(t *testing.T) {
		w.clock.Advance(3 * time.Minute)
		require.NoError(t, w.space.Edit(row, paragraph("The new plan mentions an ocelot.")))
		target := notiontest.Must(w.space.AddPage("", "Archive"))
		require.NoError(t, w.space.Move(hidden, target))
		w.synced()
		assert.Contains(t, w.markdown(row), "ocelot")
		assert.Equal(t, target, *w.page(hidden).ParentPageID)
		w.clean()
	})

	t.Run("an incremental sync sees an edit and what is new", func(t *testing.T) {
		w.clock.Advance(3 * time.Minute)
		require.NoError(t, w.space.Edit(row, paragraph("The third plan mentions a lynx.")))
		fresh := notiontest.Must(w.space.AddPage("", "Fresh", paragraph("A fresh page.")))
		answer := w.wait(w.SyncFolder(t.Context(), folderID, knowledge.ModeIncremental, person))
		assert.Equal(t, "completed", answer.Status)
		assert.Less(t, answer.Counts.Listed, int64(live), "it lists only what was edited")
		assert.Contains(t, w.markdown(row), "lynx")
		assert.EqualValues(t, "live", w.page(fresh).State)
	})

	t.Run("what is in the trash goes, and comes back with a restore", func(t *testing.T) {
		require.NoError(t, w.space.Trash(row))
		w.synced()
		w.synced()
		assert.EqualValues(t, "tombstoned", w.page(row).State)
		w.clock.Advance(3 * time.Minute)
		require.NoError(t, w.space.Restore(row))
		w.synced()
		assert.EqualValues(t, "live", w.page(row).State)
		w.clean()
	})

	t.Run("a page that answers 404 goes after the second full sync", func(t *testing.T) {
		require.NoError(t, w.space.Unshare(ids["people/expenses.md"]))
		w.synced()
		assert.EqualValues(t, "live", w.page(ids["people/expenses.md"]).State)
		w.synced()
		assert.EqualValues(t, "tombstoned", w.page(ids["people/expenses.md"]).State)
		w.clean()
	})

	t.Run("a revoked token pauses the connection, deletes nothing, and goes on by itself", func(t *testing.T) {
		before := w.live()
		w.server.Revoke(w.server.Token())
		answer := w.sync()
		assert.Equal(t, "failed", answer.Status)
		assert.Equal(t, before, w.live())
		connections, err := w.Connections(t.Context())
		require.NoError(t, err)
		state := map[string]string{}
		for _, c := range connections {
			state[c.Name] = c.State + " " + c.Reason
		}
		assert.Contains(t, state["notion"], "paused the source refused the credentials")
		w.server.Allow(w.server.Token())
		testenv.Eventually(t, patience, func() bool {
			w.due()
			connections, err := w.Connections(t.Context())
			require.NoError(t, err)
			for _, c := range connections {
				if c.Name == "notion" {
					return c.State == "active"
				}
			}
			return false
		}, "the connection is checked and resumed")
		w.synced()
	})
}

// wide makes n pages with some nesting, half of them with blocks that have children.
func wide(t *testing.T, n int) func(*notiontest.Workspace) {
	t.Helper()
	return func(space *notiontest.Workspace) {
		parent := ""
		for i := range n {
			blocks := []notiontest.Block{paragraph(fmt.Sprintf("Text of page %d about subject%d.", i, i))}
			if i%2 == 0 {
				blocks = append(blocks, notiontest.Toggle(notiontest.Text("More")).With(paragraph("inside")))
			}
			id := notiontest.Must(space.AddPage(parent, fmt.Sprintf("Page %d", i), blocks...))
			if i%20 == 0 {
				parent = id
			}
		}
	}
}

func TestNotionRequests(t *testing.T) {
	t.Parallel()
	const n = 300
	w := newWiki(t, notiontest.ServerOptions{}, notion.Workspace, wide(t, n))
	counts := w.synced()
	require.EqualValues(t, n, counts.New)
	// One read of each page, its blocks, the blocks of half the pages' toggles, and the searches.
	least := n + n + n/2 + n/100
	first := len(w.server.Requests())
	assert.LessOrEqual(t, float64(first), 1.02*float64(least)+5, "%v", w.server.Counts())

	w.server.ResetLog()
	counts = w.synced()
	assert.EqualValues(t, n, counts.Unchanged)
	assert.LessOrEqual(t, len(w.server.Requests()), n/100+5, "%v", w.server.Counts())
	assert.Zero(t, w.count(`SELECT count(*) FROM due_reads`))
	w.clean()
}

func TestNotionSurvivesAWeatherOfFaults(t *testing.T) {
	t.Parallel()
	n := 2000
	if testing.Short() {
		n = 120
	}
	w := newWiki(t, notiontest.ServerOptions{Seed: 3}, notion.Workspace, wide(t, n))
	w.worker()
	heal := w.server.Break(notiontest.Fault{Share: 0.1, Effects: notiontest.Weather()})
	answer := w.syncWithin(20 * time.Minute)
	// A page may have failed three times in a row: its due read and the next sync bring it.
	for range 5 {
		if w.live() == n {
			break
		}
		assert.NotEqual(t, "cancelled", answer.Status)
		answer = w.syncWithin(20 * time.Minute)
	}
	heal()
	assert.Equal(t, n, w.live(), "complete, whatever the weather: %+v", answer.Counts)
	assert.Zero(t, w.count(`SELECT count(*) FROM pages WHERE tombstoned_at IS NOT NULL`), "none removed")
	assert.Greater(t, len(w.server.Statuses()), 3, "there was a weather: %v", w.server.Statuses())
	w.clean()
}

func TestNotionBudget(t *testing.T) {
	t.Parallel()
	const rate, burst, n = 40, 9, 150
	w := newWikiAt(t, rate, notiontest.ServerOptions{}, notion.Workspace, wide(t, n))
	w.worker()
	crawl, err := w.SyncFolder(t.Context(), folderID, knowledge.ModeFull, person)
	require.NoError(t, err)
	testenv.Eventually(t, patience, func() bool { return w.server.Count(notiontest.KindChildren) > n/10 }, "the crawl is under way")
	var fresh string
	require.NoError(t, w.sql.QueryRow(t.Context(), `SELECT page_id FROM pages WHERE published_revision_id IS NULL ORDER BY page_id DESC LIMIT 1`).Scan(&fresh))
	asked := time.Now()
	answer, err := w.SyncPage(t.Context(), folderID, fresh, person)
	require.NoError(t, err)
	w.wait(answer, nil)
	first := w.firstRequestFor(fresh)
	w.wait(crawl, nil)

	requests := w.server.Requests()
	require.NotEmpty(t, requests)
	for _, window := range []time.Duration{time.Second, 3 * time.Second} {
		most := w.server.MaxInWindow(window)
		assert.LessOrEqual(t, float64(most), rate*window.Seconds()+burst+1, "never more than the budget in any %s", window)
	}
	behind := 0
	for _, r := range requests {
		if r.Time.After(asked) && r.Time.Before(first) {
			behind++
		}
	}
	assert.LessOrEqual(t, behind, 2*rate, "a person's page goes before the crawl: at most two seconds of slots passed")
}

// firstRequestFor is when a page was first asked for.
func (w *wiki) firstRequestFor(page string) time.Time {
	w.t.Helper()
	for _, r := range w.server.Requests() {
		if strings.Contains(r.Path, page) {
			return r.Time
		}
	}
	require.Fail(w.t, "the page was never asked for")
	return time.Time{}
}

// TestRule7WhatMovedOutOfTheRootIsGoneAndStaysOut moves a page with pages below it out of a folder's root. Search tells
// of edits and a person asks for one of them, and nothing of them may come back.
func TestRule7WhatMovedOutOfTheRootIsGoneAndStaysOut(t *testing.T) {
	t.Parallel()
	var root, section, child, elsewhere string
	w := newWikiAt(t, 2000, notiontest.ServerOptions{}, "", func(space *notiontest.Workspace) {
		root = notiontest.Must(space.AddPage("", "Engineering", paragraph("The root.")))
		section = notiontest.Must(space.AddPage(root, "Operations", paragraph("A section.")))
		child = notiontest.Must(space.AddPage(section, "Incidents", paragraph("A page of the section.")))
		for i := range 8 {
			notiontest.Must(space.AddPage(root, fmt.Sprintf("Other %d", i), paragraph("Another page.")))
		}
		elsewhere = notiontest.Must(space.AddPage("", "Support", paragraph("Not ours.")))
	}, func(r *rig) { r.spec.Root = root })
	w.synced()
	require.EqualValues(t, "live", w.page(child).State)

	w.clock.Advance(3 * time.Minute)
	require.NoError(t, w.space.Move(section, elsewhere))
	require.NoError(t, w.space.Edit(section, paragraph("The section has moved.")))
	w.wait(w.SyncFolder(t.Context(), folderID, knowledge.ModeIncremental, person))
	assert.EqualValues(t, "tombstoned", w.page(section).State)
	assert.EqualValues(t, "tombstoned", w.page(child).State, "what is below goes along")

	w.clock.Advance(3 * time.Minute)
	require.NoError(t, w.space.Edit(child, paragraph("secretword")))
	w.wait(w.SyncFolder(t.Context(), folderID, knowledge.ModeIncremental, person))
	w.wait(w.SyncPage(t.Context(), folderID, child, person))
	assert.EqualValues(t, "tombstoned", w.page(child).State, "it can be read, and is none of the folder's")
	assert.Zero(t, w.count(`SELECT count(*) FROM live_chunks WHERE text LIKE '%secretword%'`))

	require.NoError(t, w.space.Move(section, root))
	w.synced()
	assert.EqualValues(t, "live", w.page(child).State, "back below the root they are back")
	assert.Contains(t, w.markdown(child), "secretword")
	w.clean()
}

func TestRule8ARestoreOfWhatTheSourceThrewAwayDoesNotStay(t *testing.T) {
	t.Parallel()
	var page string
	w := newWiki(t, notiontest.ServerOptions{}, notion.Workspace, func(space *notiontest.Workspace) {
		page = notiontest.Must(space.AddPage("", "Expenses", paragraph("Words.")))
		for i := range 8 {
			notiontest.Must(space.AddPage("", fmt.Sprintf("Other %d", i), paragraph("Another page.")))
		}
	})
	w.synced()
	w.wait(w.DeletePage(t.Context(), folderID, page, control.DeleteOptions{}, person))
	require.NoError(t, w.space.Trash(page))
	_, err := w.RestorePage(t.Context(), folderID, page, false, person)
	require.NoError(t, err)
	testenv.Eventually(t, patience, func() bool { return w.page(page).State == "tombstoned" }, "the source's own word hides it at once")
	w.clean()
}
