package notion_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/loresync/loresync/internal/source/notion/notiontest"
)

// targets makes n pages to refer to.
func (s *space) targets(n int) []string {
	s.t.Helper()
	ids := make([]string, n)
	for i := range ids {
		ids[i] = s.page("", fmt.Sprintf("Target %d", i))
	}
	return ids
}

func TestR005_MoreThan25RelationsArriveWhole(t *testing.T) {
	t.Parallel()
	s := plainSpace(t)
	ids := s.targets(140)
	db := s.database("", "Tasks", notiontest.Column{Name: "Refs", Type: "relation"})
	row := s.row(db.Source, "Row", map[string]notiontest.Value{"Refs": notiontest.RelationValue(ids...)})
	page := s.fetch(row)
	assert.Contains(t, page.Markdown, "Refs: 140 pages\n")
	assert.Zero(t, reportOf(t, page).Truncated)
	assert.Equal(t, 2, s.server.Count(notiontest.KindProperty))
}

func TestR005_MoreThan25PeopleArriveWhole(t *testing.T) {
	t.Parallel()
	s := plainSpace(t)
	users := make([]string, 0, 40)
	for i := range 40 {
		users = append(users, s.AddUser(fmt.Sprintf("Person %02d", i), fmt.Sprintf("p%d@example.org", i)))
	}
	db := s.database("", "Tasks", notiontest.Column{Name: "Crew", Type: "people"})
	row := s.row(db.Source, "Row", map[string]notiontest.Value{"Crew": notiontest.PeopleValue(users...)})
	markdown := s.fetch(row).Markdown
	for i := range users {
		require.Contains(t, markdown, fmt.Sprintf("Person %02d", i))
	}
}

// withoutMore takes the word that there is more from a page's properties, and leaves the first 25 values of each.
func withoutMore(body notiontest.Object) {
	properties, _ := body["properties"].(notiontest.Object)
	for _, value := range properties {
		property, _ := value.(notiontest.Object)
		delete(property, "has_more")
		typ, _ := property["type"].(string)
		switch list := property[typ].(type) {
		case []any:
			property[typ] = list[:min(len(list), 25)]
		case notiontest.Object:
			if array, ok := list["array"].([]any); ok {
				list["array"] = array[:min(len(array), 25)]
			}
		}
	}
}

func TestR005_ExactlyTwentyFiveItemsAreAskedForWithoutBeingTold(t *testing.T) {
	t.Parallel()
	s := plainSpace(t)
	ids := s.targets(40)
	segments, rolled := make([]notiontest.Span, 0, 30), make([]notiontest.Value, 0, 30)
	for i := range 30 {
		segments = append(segments, notiontest.Span{Text: fmt.Sprintf("part%02d ", i), Bold: i%2 == 0})
		rolled = append(rolled, notiontest.NumberValue(float64(7000+i)))
	}
	db := s.database("", "Tasks",
		notiontest.Column{Name: "Refs", Type: "relation"}, notiontest.Column{Name: "Words", Type: "rich_text"},
		notiontest.Column{Name: "Sums", Type: "rollup"})
	row := s.row(db.Source, "Row", map[string]notiontest.Value{
		"Refs": notiontest.RelationValue(ids...), "Words": notiontest.WordsValue(segments...), "Sums": notiontest.RollupValue(rolled...),
	})
	s.server.Fail(notiontest.OfKind(notiontest.KindPage), 0, notiontest.Rewrite(withoutMore))
	page := s.fetch(row)
	assert.Contains(t, page.Markdown, "Refs: 40 pages\n", "a relation")
	assert.Contains(t, page.Markdown, "part29", "a text in many pieces")
	assert.Contains(t, page.Markdown, "7029", "a rollup")
	assert.Equal(t, 3, s.server.Count(notiontest.KindProperty))
	assert.Zero(t, reportOf(t, page).Unreadable)
}

func TestR005_TitleOfManyPiecesIsWhole(t *testing.T) {
	t.Parallel()
	s := plainSpace(t)
	db := s.database("", "Tasks")
	row := s.row(db.Source, "replaced below", nil)
	piece := func(i int) any {
		return notiontest.Object{
			"type": "text", "plain_text": fmt.Sprintf("t%02d ", i), "annotations": notiontest.Object{}, "href": nil,
			"text": notiontest.Object{"content": fmt.Sprintf("t%02d ", i), "link": nil},
		}
	}
	s.server.Fail(notiontest.OfKind(notiontest.KindPage), 0, notiontest.Rewrite(func(body notiontest.Object) {
		pieces := make([]any, 0, 25)
		for i := range 25 {
			pieces = append(pieces, piece(i))
		}
		properties, _ := body["properties"].(notiontest.Object)
		properties["Name"] = notiontest.Object{"id": "title", "type": "title", "title": pieces}
	}))
	s.server.Fail(notiontest.OfKind(notiontest.KindProperty), 0, notiontest.Rewrite(func(body notiontest.Object) {
		items := make([]any, 0, 30)
		for i := range 30 {
			items = append(items, notiontest.Object{"object": "property_item", "id": "title", "type": "title", "title": piece(i)})
		}
		body["results"] = items
	}))
	page := s.fetch(row)
	assert.True(t, strings.HasSuffix(page.Entry.Title, "t29"), page.Entry.Title)
}

func TestR094_TablesAndPeopleAreIndexed(t *testing.T) {
	t.Parallel()
	s := plainSpace(t)
	owner := s.AddUser("Ada Owner", "ada@example.org")
	db := s.database("", "Tasks", notiontest.Column{Name: "Owner", Type: "people"}, notiontest.Column{Name: "Made by", Type: "created_by"})
	table := notiontest.Table([][]notiontest.Span{words("Key"), words("Value")}, [][]notiontest.Span{words("port"), words("8080")})
	table = table.Set("has_row_header", true)
	row := s.row(db.Source, "Row", map[string]notiontest.Value{"Owner": notiontest.PeopleValue(owner)}, table)
	markdown := s.fetch(row).Markdown
	assert.Contains(t, markdown, "Ada Owner")
	assert.Contains(t, markdown, "Sandbox Owner", "who made it is kept")
	assert.Contains(t, markdown, "8080")

	s.server.SetCapabilities(notiontest.Capabilities{Content: true})
	markdown = s.fetch(row).Markdown
	assert.Contains(t, markdown, owner, "without the capability a person is an id, and not nothing")
}

func TestR107_TitleIsFoundByItsTypeAndWhole(t *testing.T) {
	t.Parallel()
	s := plainSpace(t)
	db := s.database("", "Aufgaben", notiontest.Column{Name: "Aufgabe", Type: "title"})
	row, bare := s.row(db.Source, "Die Aufgabe", nil), s.row(db.Source, "", nil)
	assert.Equal(t, "Die Aufgabe", s.fetch(row).Entry.Title)
	assert.Empty(t, s.fetch(bare).Entry.Title, "what stands for a missing title is the reader's to choose")
	entries, _ := s.list(s.root)
	assert.Equal(t, "Die Aufgabe", entryOf(t, entries, row).Title)
	assert.Equal(t, "Die Aufgabe", entryOf(t, s.fetch(db.ID).Children, row).Title)
}

func TestR114_EveryPropertyTypeHasATextAndNullIsNotZero(t *testing.T) {
	t.Parallel()
	s := plainSpace(t)
	types := []string{"select", "status", "date", "number", "checkbox", "email", "unique_id", "formula", "place", "brand_new"}
	columns := make([]notiontest.Column, 0, len(types))
	for _, typ := range types {
		columns = append(columns, notiontest.Column{Name: "p " + typ, Type: typ})
	}
	db := s.database("", "Everything", columns...)
	empty := s.row(db.Source, "Empty", nil)
	full := s.row(db.Source, "Full", map[string]notiontest.Value{
		"p number": notiontest.NumberValue(0), "p checkbox": notiontest.CheckboxValue(false), "p email": notiontest.EmailValue("a@example.org"),
		"p date": notiontest.DateValue("2026-01-02", "2026-01-05"), "p unique_id": notiontest.UniqueIDValue("T", 7),
		"p formula":   notiontest.FormulaValue("string", nil),
		"p brand_new": {Type: "brand_new", Payload: notiontest.Object{"future": "kept by name"}},
	})
	filled, page := s.fetch(full).Markdown, s.fetch(empty)
	for _, want := range []string{"p number: 0", "2026-01-02 → 2026-01-05", "T-7", "a@example.org", "p brand_new: future kept by name"} {
		assert.Contains(t, filled, want)
	}
	assert.NotContains(t, page.Markdown, "p number: 0", "null isn't zero")
}
