package notion_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/loresync/loresync/internal/source"
	"github.com/loresync/loresync/internal/source/notion/notiontest"
)

// The tests of this file and of its neighbours bear the ids of faults that comparable systems were reported to have.

func TestR001_SpacesStayOutsideOfEmphasis(t *testing.T) {
	t.Parallel()
	s := plainSpace(t)
	both := notiontest.Span{Text: "both ", Bold: true, Italic: true}
	id := s.page("", "Page",
		notiontest.Paragraph(notiontest.Text("This is a "), notiontest.Bold("bold "), notiontest.Text("word")),
		notiontest.Paragraph(notiontest.Text("a"), notiontest.Bold(" "), notiontest.Text("b")),
		notiontest.Paragraph(both, notiontest.Bold("neighbour")),
	)
	markdown := s.fetch(id).Markdown
	assert.Contains(t, markdown, "This is a **bold** word\n")
	assert.Contains(t, markdown, "a b\n")
	assert.Contains(t, markdown, "both* neighbour**\n")
}

func TestR009_DatabaseWithSeveralDataSources(t *testing.T) {
	t.Parallel()
	s := plainSpace(t)
	db := s.database("", "Tasks")
	second, err := s.AddDataSource(db.ID, "Archive")
	require.NoError(t, err)
	first, other := s.row(db.Source, "In the first", nil), s.row(second, "In the second", nil)

	page := s.fetch(db.ID)
	assert.ElementsMatch(t, []string{first, other}, idsOf(page.Children))
	for _, child := range page.Children {
		assert.Equal(t, db.ID, child.ParentSourceID, "the rows of both hang below the database")
	}
	entries, listed := s.list(s.root)
	assert.Equal(t, source.VerdictComplete, listed.Verdict)
	assert.ElementsMatch(t, []string{db.ID, first, other}, idsOf(entries), "the database is listed once")
	assert.Equal(t, db.ID, entryOf(t, entries, other).ParentSourceID)
}

func TestR009_OneDataSourceThatTheAPIRefusesCostsOnlyItsOwnRows(t *testing.T) {
	t.Parallel()
	for name, kind := range map[string]notiontest.Kind{
		"its schema is refused": notiontest.KindDataSource, "its rows are refused": notiontest.KindQuery,
	} {
		for effect, refuse := range map[string]notiontest.Effect{
			"as unsupported": notiontest.Invalid("This data source is not supported."),
			"as not found":   saying(http.StatusNotFound, "application/json", `{"object":"error","status":404,"code":"object_not_found","message":"x"}`),
		} {
			t.Run(name+" "+effect, func(t *testing.T) {
				t.Parallel()
				s := plainSpace(t)
				db := s.database("", "Tasks")
				second, err := s.AddDataSource(db.ID, "External")
				require.NoError(t, err)
				row := s.row(db.Source, "Kept", nil)
				s.row(second, "Lost", nil)
				s.server.Fail(notiontest.Both(notiontest.OfKind(kind), notiontest.About(second)), 0, refuse)

				page := s.fetch(db.ID)
				assert.Equal(t, []string{row}, idsOf(page.Children))
				assert.Positive(t, reportOf(t, page).Unreadable)
				assert.Contains(t, string(page.Fidelity), "External", "the report names what is missing")
			})
		}
	}
}

func TestR014_LinkedDatabaseIsSkippedAndThePageAroundItStays(t *testing.T) {
	t.Parallel()
	s := plainSpace(t)
	id := s.page("", "Page", paragraph("before"))
	linked, err := s.AddLinkedDatabase(id, "A view")
	require.NoError(t, err)
	s.append(id, paragraph("after"))

	page := s.fetch(id)
	assert.Contains(t, page.Markdown, "before")
	assert.Contains(t, page.Markdown, "after")
	assert.Equal(t, []string{linked}, idsOf(page.Children))
	failure := s.refused(linked)
	require.NotNil(t, failure.Skip)
	assert.Equal(t, "not_shared", failure.Skip.Class)
	assert.Equal(t, source.ClassNotFound, failure.Class)
}

func TestR015_BlockWhoseChildrenAreRefusedCostsOnlyThem(t *testing.T) {
	t.Parallel()
	s := plainSpace(t)
	id := s.page("", "Page")
	blocks := s.append(id, paragraph("before"), notiontest.Of("ai_block", nil, paragraph("hidden")), paragraph("after"))
	s.server.Fail(notiontest.Both(notiontest.OfKind(notiontest.KindChildren), notiontest.About(blocks[1])), 0,
		notiontest.Invalid("Block type ai_block is not supported via the API."))

	page := s.fetch(id)
	assert.Contains(t, page.Markdown, "before")
	assert.Contains(t, page.Markdown, "after")
	assert.NotContains(t, page.Markdown, "hidden")
	assert.Positive(t, reportOf(t, page).Unreadable, "what is missing is counted")
}

func TestR026_ChildrenOfToggleableHeadingFollowItUnindented(t *testing.T) {
	t.Parallel()
	s := plainSpace(t)
	id := s.page("", "Page", notiontest.ToggleHeading(2, words("Opens")...).With(
		notiontest.Heading(3, words("Inner")...), paragraph("inside"),
		notiontest.Table([][]notiontest.Span{words("Name")}, [][]notiontest.Span{words("cell")}),
	))
	markdown := s.fetch(id).Markdown
	assert.Contains(t, markdown, "## Opens\n")
	assert.Contains(t, markdown, "\n### Inner\n")
	assert.Contains(t, markdown, "\ninside\n")
	assert.Contains(t, markdown, "\n| cell |\n")
}

func TestR043_OrderedListKeepsItsNumbersAroundNesting(t *testing.T) {
	t.Parallel()
	s := plainSpace(t)
	item := func(text string) notiontest.Block { return notiontest.Numbered(words(text)...) }
	id := s.page("", "Page",
		item("one"), item("two"), item("three").With(item("inner one"), item("inner two")), item("four"), paragraph("between"), item("again"))
	assert.Equal(t,
		"1. one\n2. two\n3. three\n   1. inner one\n   2. inner two\n4. four\n\nbetween\n\n1. again\n", s.fetch(id).Markdown)
}

func TestR062_UnknownBlockIsAPlaceholderAndItsNeighboursStay(t *testing.T) {
	t.Parallel()
	s := plainSpace(t)
	id := s.page("", "Page", paragraph("before"), notiontest.Of("unsupported", notiontest.Object{}),
		notiontest.Of("brand_new", notiontest.Object{}, paragraph("inside the new")), paragraph("after"))
	page := s.fetch(id)
	assert.Contains(t, page.Markdown, "before")
	assert.Contains(t, page.Markdown, "inside the new")
	assert.Contains(t, page.Markdown, "after")
	report := reportOf(t, page)
	assert.Equal(t, map[string]int{"unsupported": 1, "brand_new": 1}, report.Unsupported)
}

func TestR093_BlockAmongItsOwnDescendantsEnds(t *testing.T) {
	t.Parallel()
	s := plainSpace(t)
	id := s.page("", "Page")
	a := s.append(id, notiontest.Toggle(words("A")...).With(notiontest.Toggle(words("B")...).With(paragraph("C"))))[0]
	parent := notiontest.Both(notiontest.OfKind(notiontest.KindChildren), func(r notiontest.Request) bool { return r.ID != id && r.ID != a })
	s.server.Fail(parent, 0, notiontest.Rewrite(func(body notiontest.Object) {
		results, _ := body["results"].([]any)
		body["results"] = append(results, notiontest.Object{
			"object": "block", "id": a, "type": "toggle", "has_children": true, "toggle": notiontest.Object{"rich_text": []any{}},
		})
	}))
	page := s.fetch(id)
	assert.Equal(t, 1, strings.Count(page.Markdown, "C"), page.Markdown)
	assert.Positive(t, reportOf(t, page).Truncated)
	assert.LessOrEqual(t, s.server.Count(notiontest.KindChildren), 3, "no block is read again below itself")
}
