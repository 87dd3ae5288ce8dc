package notion_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/loresync/loresync/internal/source/notion/notiontest"
)

func TestSyncedCopyShowsItsOriginal(t *testing.T) {
	t.Parallel()
	s := plainSpace(t)
	home := s.page("", "Home")
	original := s.append(home, notiontest.Synced(paragraph("shared words"), notiontest.Toggle(words("opens")...).With(paragraph("deep words"))))[0]
	elsewhere := s.page("", "Elsewhere", paragraph("before"), notiontest.SyncedCopy(original), paragraph("after"))
	assert.Contains(t, s.fetch(home).Markdown, "shared words")
	markdown := s.fetch(elsewhere).Markdown
	for _, want := range []string{"before", "shared words", "deep words", "after"} {
		assert.Equal(t, 1, strings.Count(markdown, want), want)
	}
}

func TestSyncedCopyOfAnUnsharedOriginalIsAPlaceholder(t *testing.T) {
	t.Parallel()
	s := plainSpace(t)
	private := s.page("", "Private")
	original := s.append(private, notiontest.Synced(paragraph("secret words")))[0]
	id := s.page("", "Page", paragraph("before"), notiontest.SyncedCopy(original), paragraph("after"))
	require.NoError(t, s.Unshare(private))
	page := s.fetch(id)
	assert.Contains(t, page.Markdown, "before")
	assert.Contains(t, page.Markdown, "not shared]")
	assert.Contains(t, page.Markdown, "after")
	assert.Equal(t, 1, reportOf(t, page).Unreadable)
}

func TestSyncedCopyInsideOfItsOriginalEnds(t *testing.T) {
	t.Parallel()
	s := plainSpace(t)
	id := s.page("", "Page")
	original := s.append(id, notiontest.Synced(paragraph("once")))[0]
	s.append(original, notiontest.Toggle(words("opens")...).With(notiontest.SyncedCopy(original)))
	page := s.fetch(id)
	assert.Equal(t, 1, strings.Count(page.Markdown, "once"), page.Markdown)
	assert.Positive(t, reportOf(t, page).Truncated)
	assert.LessOrEqual(t, s.server.Count(notiontest.KindChildren), 3)
}

func TestTwoOriginalsThatShowEachOtherEnd(t *testing.T) {
	t.Parallel()
	s := plainSpace(t)
	id := s.page("", "Page")
	both := s.append(id, notiontest.Synced(paragraph("one")), notiontest.Synced(paragraph("two")))
	s.append(both[0], notiontest.SyncedCopy(both[1]))
	s.append(both[1], notiontest.SyncedCopy(both[0]))
	page := s.fetch(id)
	assert.Equal(t, 2, strings.Count(page.Markdown, "one"), "as the original and as the copy in the other")
	assert.LessOrEqual(t, s.server.Count(notiontest.KindChildren), 5)
	assert.Equal(t, page.Identity, s.fetch(id).Identity)
}

func TestContainersInContainersAreReadInTheirOrder(t *testing.T) {
	t.Parallel()
	s := plainSpace(t)
	table := notiontest.Table([][]notiontest.Span{words("head")}, [][]notiontest.Span{words("cell")})
	id := s.page("", "Page", paragraph("first"), notiontest.Columns(
		[]notiontest.Block{notiontest.Toggle(words("second")...).With(notiontest.Callout("💡", words("third")...).With(table))},
		[]notiontest.Block{notiontest.Quote(words("fourth")...).With(notiontest.Bullet(words("fifth")...).With(paragraph("sixth")))},
	), paragraph("last"))
	markdown := s.fetch(id).Markdown
	at := -1
	for _, want := range []string{"first", "second", "third", "head", "cell", "fourth", "fifth", "sixth", "last"} {
		next := strings.Index(markdown, want)
		assert.Greater(t, next, at, "%s in %s", want, markdown)
		at = next
	}
}

func TestPagesAndDatabasesInContainersAreChildrenOfThePage(t *testing.T) {
	t.Parallel()
	s := plainSpace(t)
	id := s.page("", "Page")
	top := s.append(id, notiontest.Toggle(words("opens")...), notiontest.Columns([]notiontest.Block{paragraph("left")}, []notiontest.Block{paragraph("right")}))
	deep := s.append(top[0], notiontest.Toggle(words("deeper")...))[0]
	inToggle, inDeep := s.page(top[0], "In the toggle", paragraph("its own words")), s.page(deep, "Deeper")
	s.fetch(id)
	column := s.lastRead(id, top[0], top[1], deep)
	inColumn := s.database(column, "In the column").ID

	page := s.fetch(id)
	assert.ElementsMatch(t, []string{inToggle, inDeep, inColumn}, idsOf(page.Children))
	for _, child := range page.Children {
		assert.Equal(t, id, child.ParentSourceID, child.Title)
		assert.False(t, child.ParentUnknown)
	}
	assert.Equal(t, "In the toggle", entryOf(t, page.Children, inToggle).Title)
	assert.NotContains(t, page.Markdown, "its own words", "a child page is a document of its own")

	// Search tells only that they lie in some block: their place is what reading told.
	read := s.fetch(inToggle).Entry
	assert.True(t, read.ParentUnknown)
	entries, _ := s.list(s.below(id))
	assert.NotContains(t, idsOf(entries), inToggle, "before a sync has read where it hangs")
	root := s.below(id)
	root.Known = known(map[string]string{inToggle: id, inDeep: id, inColumn: id})
	entries, _ = s.list(root)
	assert.ElementsMatch(t, []string{id, inToggle, inDeep, inColumn}, idsOf(entries))
	assert.Equal(t, id, entryOf(t, entries, inDeep).ParentSourceID)
}

// lastRead is the block whose children were asked for last, some left aside.
func (s *space) lastRead(aside ...string) string {
	s.t.Helper()
	for _, asked := range slices.Backward(s.server.Requests(notiontest.KindChildren)) {
		if !slices.Contains(aside, asked.ID) {
			return asked.ID
		}
	}
	require.Fail(s.t, "no other block was read")
	return ""
}

func TestPagesBelowACopyHangWhereTheOriginalIs(t *testing.T) {
	t.Parallel()
	s := plainSpace(t)
	home := s.page("", "Home")
	original := s.append(home, notiontest.Synced(paragraph("words")))[0]
	child := s.page(original, "Child")
	elsewhere := s.page("", "Elsewhere", notiontest.SyncedCopy(original))
	assert.Equal(t, []string{child}, idsOf(s.fetch(home).Children))
	page := s.fetch(elsewhere)
	assert.Contains(t, page.Markdown, "Child", "the copy links to it")
	assert.Empty(t, page.Children, "two parents for one page would move it at each sync")
}

func TestBlocksThatAreOnlyAnIDAreCounted(t *testing.T) {
	t.Parallel()
	s := plainSpace(t)
	id := s.page("", "Page", paragraph("a"), notiontest.Block{}, paragraph("b"))
	page := s.fetch(id)
	assert.Contains(t, page.Markdown, "a\n")
	assert.Contains(t, page.Markdown, "b\n")
	assert.Equal(t, 1, reportOf(t, page).Unreadable)
}

func TestEveryBlockTypeIsReadThroughTheServer(t *testing.T) {
	t.Parallel()
	s := plainSpace(t)
	other := s.page("", "Other")
	original := s.append(other, notiontest.Synced(paragraph("from elsewhere")))[0]
	db := s.database("", "Tasks")
	file := s.AddFile("a.bin", "application/octet-stream", []byte("x"))
	user := s.AddUser("Somebody", "somebody@example.org")
	id := s.page("", "Page", notiontest.EveryBlock(notiontest.References{Page: other, Database: db.ID, User: user, Original: original, File: file})...)
	page := s.fetch(id)
	for _, want := range []string{
		"Inside the toggle", "Inside the heading", "Inside the callout", "Inside the tab", "Inside the template", "Inside the unsupported",
		"Inside the unknown", "from elsewhere", "What was said", "Nested number", "Heading four", "A bookmark", "Somebody",
	} {
		assert.Contains(t, page.Markdown, want)
	}
	assert.NotContains(t, page.Markdown, "not read")
	assert.Equal(t, map[string]int{"form": 1, "button": 1, "hologram": 1}, reportOf(t, page).Unsupported)
	assert.Equal(t, page.Identity, s.fetch(id).Identity)
}
