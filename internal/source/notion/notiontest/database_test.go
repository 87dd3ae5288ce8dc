package notiontest_test

import (
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/loresync/loresync/internal/source/notion/notiontest"
)

func TestVersionsOfDatabases(t *testing.T) {
	t.Parallel()

	t.Run("the oldest sees the schema in the database, the others in the data source", func(t *testing.T) {
		t.Parallel()
		s := newStand(t, notiontest.ServerOptions{})
		db := s.database(s.page("Page"), "Database", notiontest.Column{Name: "Number", Type: "number"})
		row := s.row(db.Source, "Row", nil)
		old := s.as(oldest, "GET", "/v1/databases/"+db.ID, nil).body
		assert.Contains(t, old["properties"], "Number")
		assert.NotContains(t, old, "data_sources")
		assert.Equal(t, []string{row}, s.as(oldest, "POST", "/v1/databases/"+db.ID+"/query", nil).ids())
		now := s.get("/v1/databases/" + db.ID).body
		assert.NotContains(t, now, "properties")
		assert.Equal(t, []any{object{"id": db.Source, "name": "Database"}}, now["data_sources"])
		assert.Contains(t, s.get("/v1/data_sources/" + db.Source).body["properties"], "Number")
		assert.Equal(t, []string{row}, s.post("/v1/data_sources/"+db.Source+"/query", nil).ids())
	})

	t.Run("archived is gone from the newest", func(t *testing.T) {
		t.Parallel()
		s := newStand(t, notiontest.ServerOptions{})
		page := s.page("Page", paragraphs(1)...)
		db := s.database(page, "Database")
		for _, path := range []string{"/v1/pages/" + page, "/v1/blocks/" + page, "/v1/databases/" + db.ID, "/v1/data_sources/" + db.Source} {
			assert.Contains(t, s.as(middle, "GET", path, nil).body, "archived", path)
			assert.NotContains(t, s.get(path).body, "archived", path)
		}
	})

	t.Run("several data sources are refused to the oldest, which is told why", func(t *testing.T) {
		t.Parallel()
		s := newStand(t, notiontest.ServerOptions{})
		db := s.database(s.page("Page"), "Database")
		second := notiontest.Must(s.AddDataSource(db.ID, "Second"))
		row := s.row(second, "Row", nil)
		for method, path := range map[string]string{"GET": "/v1/databases/" + db.ID, "POST": "/v1/databases/" + db.ID + "/query"} {
			got := s.as(oldest, method, path, nil)
			assert.Equal(t, 400, got.status)
			assert.Equal(t, "validation_error", got.code())
			assert.Equal(t, object{
				"error_type": "multiple_data_sources_for_database", "database_id": db.ID,
				"child_data_source_ids": []any{db.Source, second}, "minimum_api_version": middle,
			}, got.body["additional_data"])
		}
		assert.Len(t, s.get("/v1/databases/" + db.ID).body["data_sources"], 2)
		assert.Equal(t, []string{row}, s.post("/v1/data_sources/"+second+"/query", nil).ids())
		assert.Empty(t, s.post("/v1/data_sources/"+db.Source+"/query", nil).ids())
	})

	t.Run("rows of a wiki may be databases", func(t *testing.T) {
		t.Parallel()
		s := newStand(t, notiontest.ServerOptions{})
		wiki := s.database("", "Wiki")
		page := s.row(wiki.Source, "Row", nil)
		inner := s.database(wiki.Source, "Inner")
		now := s.post("/v1/data_sources/"+wiki.Source+"/query", nil)
		assert.Equal(t, []string{page, inner.Source}, now.ids())
		assert.Equal(t, "data_source", now.results()[1]["object"])
		old := s.as(oldest, "POST", "/v1/databases/"+wiki.ID+"/query", nil)
		assert.Equal(t, []string{page, inner.ID}, old.ids())
		assert.Equal(t, "database", old.results()[1]["object"])
		only := object{"result_type": "page"}
		assert.Equal(t, []string{page}, s.post("/v1/data_sources/"+wiki.Source+"/query", only).ids())
	})
}

func TestProperties(t *testing.T) {
	t.Parallel()

	t.Run("each type has its shape, and nothing isn't 0", func(t *testing.T) {
		t.Parallel()
		s := newStand(t, notiontest.ServerOptions{})
		types := []string{
			"rich_text", "number", "select", "multi_select", "status", "date", "people", "files", "checkbox", "url", "email",
			"phone_number", "formula", "relation", "rollup", "created_time", "created_by", "last_edited_time", "last_edited_by",
			"unique_id", "verification", "button", "place", "hologram",
		}
		columns := make([]notiontest.Column, len(types))
		for i, typ := range types {
			columns[i] = notiontest.Column{Name: typ, Type: typ}
		}
		db := s.database(s.page("Page"), "Database", columns...)
		empty := s.row(db.Source, "Empty", nil)
		full := s.row(db.Source, "Full", map[string]notiontest.Value{
			"number": notiontest.NumberValue(0), "select": notiontest.SelectValue("Red"), "status": notiontest.StatusValue("Done"),
			"multi_select": notiontest.MultiSelectValue("a", "b"), "date": notiontest.DateValue("2026-01-02", "2026-01-03"),
			"url": notiontest.URLValue("https://example.org"), "email": notiontest.EmailValue("a@example.org"),
			"phone_number": notiontest.PhoneValue("1"), "formula": notiontest.FormulaValue("number", 4.5),
			"rollup":    notiontest.RollupValue(notiontest.NumberValue(1), notiontest.NumberValue(2)),
			"unique_id": notiontest.UniqueIDValue("LORE", 12), "people": notiontest.PeopleValue(s.Bot()),
			"place":    {Type: "place", Payload: object{"lat": 34.7, "lon": 135.2, "name": "Kobe"}},
			"hologram": {Type: "hologram", Payload: object{"depth": 3}},
			"files":    notiontest.FilesValue(notiontest.NamedFile{ID: s.AddFile("a.txt", "text/plain", nil), Name: "a.txt"}),
		})
		for _, id := range []string{empty, full} {
			properties, _ := s.get("/v1/pages/" + id).body["properties"].(object)
			require.Len(t, properties, len(types)+1)
			for _, typ := range types {
				property, _ := properties[typ].(object)
				assert.Equal(t, typ, property["type"])
				assert.Contains(t, property, typ)
			}
			number, _ := properties["number"].(object)
			if id == empty {
				assert.Nil(t, number["number"])
			} else {
				assert.InDelta(t, 0.0, number["number"], 0)
			}
		}
	})

	t.Run("references beyond 25 are cut on the page and whole on the property", func(t *testing.T) {
		t.Parallel()
		s := newStand(t, notiontest.ServerOptions{})
		root := s.page("Root")
		db := s.database(root, "Database", notiontest.Column{Name: "Pages", Type: "relation"}, notiontest.Column{Name: "Who", Type: "people"})
		pages, people := make([]string, 0, 130), make([]string, 0, 30)
		for range 130 {
			pages = append(pages, notiontest.Must(s.AddPage(root, "Page")))
		}
		for range 30 {
			people = append(people, s.AddUser("Somebody", "somebody@example.org"))
		}
		row := s.row(db.Source, "Row", map[string]notiontest.Value{
			"Pages": notiontest.RelationValue(pages...), "Who": notiontest.PeopleValue(people...),
		})
		properties, _ := s.get("/v1/pages/" + row).body["properties"].(object)
		for name, want := range map[string][]string{"Pages": pages, "Who": people} {
			property, _ := properties[name].(object)
			typ, _ := property["type"].(string)
			assert.Len(t, property[typ], 25)
			assert.Equal(t, true, property["has_more"])
			id, _ := property["id"].(string)
			assert.Equal(t, want, s.items(row, id, typ))
		}
		require.NoError(t, s.SetProperty(row, "Pages", notiontest.RelationValue(pages[:25]...)))
		properties, _ = s.get("/v1/pages/" + row).body["properties"].(object)
		property, _ := properties["Pages"].(object)
		assert.Equal(t, false, property["has_more"])
	})

	t.Run("a simple property is one object, a rollup's array a list", func(t *testing.T) {
		t.Parallel()
		s := newStand(t, notiontest.ServerOptions{})
		db := s.database(
			s.page("Page"), "Database",
			notiontest.Column{Name: "Number", Type: "number", ID: "n%3AB"}, notiontest.Column{Name: "Sum", Type: "rollup", ID: "sum"},
		)
		row := s.row(db.Source, "Row", map[string]notiontest.Value{
			"Number": notiontest.NumberValue(5), "Sum": notiontest.RollupValue(notiontest.NumberValue(1), notiontest.NumberValue(2)),
		})
		number := s.get("/v1/pages/" + row + "/properties/n%3AB").body
		delete(number, "request_id")
		assert.Equal(t, object{"object": "property_item", "id": "n%3AB", "type": "number", "number": 5.0}, number)
		sum := s.get("/v1/pages/" + row + "/properties/sum")
		require.Len(t, sum.results(), 2)
		assert.Equal(t, object{"object": "property_item", "id": "sum", "type": "number", "number": 2.0}, sum.results()[1])
	})
}

// items reads a property of references to its end, and the ids in it.
func (s stand) items(page, property, typ string) (ids []string) {
	s.t.Helper()
	path := "/v1/pages/" + page + "/properties/" + property
	for {
		got := s.get(path)
		require.Equal(s.t, 200, got.status, string(got.raw))
		for _, item := range got.results() {
			ref, _ := item[typ].(object)
			id, _ := ref["id"].(string)
			ids = append(ids, id)
		}
		about, _ := got.body["property_item"].(object)
		next, ok := about["next_url"].(string)
		if !ok {
			return ids
		}
		address, err := url.Parse(next)
		require.NoError(s.t, err)
		path = strings.TrimPrefix(next, "https://"+address.Host)
	}
}

func TestComments(t *testing.T) {
	t.Parallel()
	s := newStand(t, notiontest.ServerOptions{})
	page := s.page("Page", paragraphs(1)...)
	block := s.get("/v1/blocks/" + page + "/children").ids()[0]
	first := notiontest.Must(s.AddComment(page, words("On the page")...))
	reply := notiontest.Must(s.Reply(first, words("A reply")...))
	inside := notiontest.Must(s.AddComment(block, words("On the block")...))
	assert.Equal(t, []string{first, reply}, s.get("/v1/comments?block_id="+page).ids())
	onBlock := s.get("/v1/comments?block_id=" + block)
	assert.Equal(t, []string{inside}, onBlock.ids())
	assert.Equal(t, object{"type": "block_id", "block_id": block}, onBlock.results()[0]["parent"])
	require.NoError(t, s.Resolve(first))
	assert.Empty(t, s.get("/v1/comments?block_id="+page).ids(), "a resolved discussion isn't listed")
	require.Error(t, s.Resolve(page))
	_, err := s.Reply(page)
	require.Error(t, err)
}
