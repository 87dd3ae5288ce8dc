package notion_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/loresync/loresync/internal/source"
	"github.com/loresync/loresync/internal/source/notion/notiontest"
)

// grove is a root with something of everything below it, and a page beside it.
type grove struct {
	*space
	below                                      source.Root
	root, page, inBlock, database, row, beside string
}

func newGrove(t *testing.T) grove {
	t.Helper()
	s := plainSpace(t)
	g := grove{space: s, root: s.page("", "Root"), beside: s.page("", "Beside")}
	g.below = s.below(g.root)
	g.page = s.page(g.root, "Page", paragraph("words"))
	g.inBlock = s.page(s.append(g.page, notiontest.Toggle(words("opens")...))[0], "In a block")
	db := s.database(g.page, "Tasks")
	g.database, g.row = db.ID, s.row(db.Source, "Row", nil)
	return g
}

func (g grove) presence(t *testing.T, id string) source.Presence {
	t.Helper()
	presence, err := g.src.Presence(t.Context(), g.below, id)
	require.NoError(t, err)
	return presence
}

func TestPresenceClimbsToTheRoot(t *testing.T) {
	t.Parallel()
	g := newGrove(t)
	for what, id := range map[string]string{
		"the root": g.root, "a page": g.page, "a page in a block": g.inBlock, "a database": g.database, "a row": g.row,
	} {
		assert.Equal(t, source.PresenceAlive, g.presence(t, id), what)
	}
	assert.Equal(t, source.PresenceMoved, g.presence(t, g.beside))
}

func TestPresenceTellsWhatBecameOfAPage(t *testing.T) {
	t.Parallel()
	for what, c := range map[string]struct {
		change func(g grove) error
		want   source.Presence
	}{
		"trashed":       {func(g grove) error { return g.Trash(g.page) }, source.PresenceTrashed},
		"unshared":      {func(g grove) error { return g.Unshare(g.page) }, source.PresenceGone},
		"deleted":       {func(g grove) error { return g.Delete(g.page) }, source.PresenceGone},
		"moved out":     {func(g grove) error { return g.Move(g.page, g.beside) }, source.PresenceMoved},
		"moved to top":  {func(g grove) error { return g.Move(g.page, "") }, source.PresenceMoved},
		"root unshared": {unsharedAbove, source.PresenceUnknown},
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			g := newGrove(t)
			require.NoError(t, c.change(g))
			assert.Equal(t, c.want, g.presence(t, g.page))
			for _, id := range []string{g.inBlock, g.database, g.row} {
				assert.Equal(t, c.want, g.presence(t, id), "what is below shares its fate")
			}
		})
	}
}

// unsharedAbove keeps the page shared while its root no longer is: nobody can tell where it hangs.
func unsharedAbove(g grove) error {
	if err := g.Unshare(g.root); err != nil {
		return err
	}
	return g.Share(g.page)
}

func TestPresenceIsUnknownWhileNotionHasTrouble(t *testing.T) {
	t.Parallel()
	for what, effect := range map[string]notiontest.Effect{
		"500": notiontest.Status(http.StatusInternalServerError), "502": notiontest.BadGateway(), "504": notiontest.GatewayTimeout(),
		"a reset": notiontest.Reset(), "404 of the edge": saying(http.StatusNotFound, "text/html", html), "409": notiontest.Conflict(),
		"200 in HTML": saying(http.StatusOK, "text/html", html),
	} {
		for about, ids := range map[string]func(grove) string{
			"the page": func(g grove) string { return g.page }, "the root": func(g grove) string { return g.root },
			"what is between": func(g grove) string { return g.database },
		} {
			t.Run(what+" about "+about, func(t *testing.T) {
				t.Parallel()
				g := newGrove(t)
				g.server.Fail(notiontest.About(ids(g)), 0, effect)
				id := g.page
				if about == "what is between" {
					id = g.row
				}
				assert.Contains(t, []source.Presence{source.PresenceUnknown, source.PresenceAlive}, g.presence(t, id))
				if about != "the root" {
					assert.Equal(t, source.PresenceUnknown, g.presence(t, id))
				}
			})
		}
	}
}

func TestPresenceBelowADataSourceLeavesOutTheRowsOfOthers(t *testing.T) {
	t.Parallel()
	s := plainSpace(t)
	db := s.database("", "Tasks")
	second, err := s.AddDataSource(db.ID, "Archive")
	require.NoError(t, err)
	mine, other := s.row(db.Source, "Mine", nil), s.row(second, "Other", nil)
	root := s.below(db.Source)
	for id, want := range map[string]source.Presence{mine: source.PresenceAlive, other: source.PresenceMoved, db.ID: source.PresenceAlive} {
		presence, err := s.src.Presence(t.Context(), root, id)
		require.NoError(t, err)
		assert.Equal(t, want, presence)
	}
}

func TestPageThatAlwaysAnswers500IsReadByItsBlocks(t *testing.T) {
	t.Parallel()
	g := newGrove(t)
	_, err := g.AddComment(g.page, notiontest.Text("a remark"))
	require.NoError(t, err)
	g.server.Fail(notiontest.Both(notiontest.OfKind(notiontest.KindPage), notiontest.About(g.page)), 0, notiontest.Status(http.StatusInternalServerError))
	root := g.below
	root.Limits.Comments = true
	page, err := g.src.Fetch(t.Context(), root, g.page)
	require.NoError(t, err)
	assert.Contains(t, page.Markdown, "words\n")
	assert.Contains(t, page.Markdown, "a remark", "the folder's wishes hold for it too")
	assert.Equal(t, "Page", page.Entry.Title)
	assert.True(t, page.Entry.ParentUnknown, "its place isn't told, and isn't guessed")
	assert.ElementsMatch(t, []string{g.inBlock, g.database}, idsOf(page.Children))
	assert.Positive(t, reportOf(t, page).Unreadable)

	g.server.Fail(notiontest.About(g.page), 0, notiontest.Status(http.StatusInternalServerError))
	_, err = g.src.Fetch(t.Context(), root, g.page)
	assert.Equal(t, source.ClassUnavailable, failureOf(t, err).Class, "with its blocks gone too it is tried later")
	entries, listed := g.list(g.below)
	assert.Contains(t, idsOf(entries), g.row, "it blocks nothing else")
	assert.Equal(t, source.VerdictComplete, listed.Verdict)
}
