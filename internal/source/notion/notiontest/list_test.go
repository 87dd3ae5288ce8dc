package notiontest_test

import (
	"net/http"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/loresync/loresync/internal/source/notion/notiontest"
)

// all reads a list that is asked for by POST to its end.
func (s stand) all(version, path string, body object) (ids []string, last answer) {
	s.t.Helper()
	for {
		last = s.as(version, http.MethodPost, path, body)
		require.Equal(s.t, http.StatusOK, last.status, string(last.raw))
		ids = append(ids, last.ids()...)
		if last.body["has_more"] != true {
			return ids, last
		}
		body["start_cursor"] = last.body["next_cursor"]
	}
}

func TestCursors(t *testing.T) {
	t.Parallel()

	t.Run("a list of 250 comes in three parts", func(t *testing.T) {
		t.Parallel()
		s := newStand(t, notiontest.ServerOptions{})
		page := s.page("Page", paragraphs(250)...)
		var sizes []int
		path := "/v1/blocks/" + page + "/children"
		for cursor := ""; ; {
			got := s.get(path + cursor)
			sizes = append(sizes, len(got.results()))
			next, ok := got.body["next_cursor"].(string)
			assert.Equal(t, ok, got.body["has_more"])
			if !ok {
				break
			}
			cursor = "?start_cursor=" + next
		}
		assert.Equal(t, []int{100, 100, 50}, sizes)
	})

	t.Run("a cursor of another list, or of the same one filtered otherwise, is refused", func(t *testing.T) {
		t.Parallel()
		s := newStand(t, notiontest.ServerOptions{})
		one, other := s.page("One", paragraphs(2)...), s.page("Other", paragraphs(2)...)
		cursor, _ := s.get("/v1/blocks/" + one + "/children?page_size=1").body["next_cursor"].(string)
		assert.Equal(t, 200, s.get("/v1/blocks/"+one+"/children?start_cursor="+cursor).status)
		assert.Equal(t, 400, s.get("/v1/blocks/"+other+"/children?start_cursor="+cursor).status)
		found := s.post("/v1/search", object{"page_size": 1})
		refused := s.post("/v1/search", object{"query": "o", "start_cursor": found.body["next_cursor"]})
		assert.Equal(t, "validation_error", refused.code())
		s.ForgetCursors()
		assert.Equal(t, 400, s.get("/v1/blocks/"+one+"/children?start_cursor="+cursor).status)
	})

	t.Run("a list goes on when the next item has gone meanwhile", func(t *testing.T) {
		t.Parallel()
		s := newStand(t, notiontest.ServerOptions{})
		page := s.page("Page", paragraphs(4)...)
		path := "/v1/blocks/" + page + "/children"
		want := s.get(path).ids()
		cursor, _ := s.get(path + "?page_size=2").body["next_cursor"].(string)
		require.NoError(t, s.Delete(want[2]))
		assert.Equal(t, want[3:], s.get(path+"?start_cursor="+cursor).ids())
	})

	t.Run("a search that is edited while it is read misses and repeats as the real one may", func(t *testing.T) {
		t.Parallel()
		s := newStand(t, notiontest.ServerOptions{})
		oldestPage := s.page("first")
		s.page("second")
		s.page("third")
		first := s.post("/v1/search", object{"page_size": 1})
		require.NoError(t, s.Rename(oldestPage, "first again"))
		rest := s.post("/v1/search", object{"start_cursor": first.body["next_cursor"]})
		assert.NotContains(t, rest.ids(), oldestPage)
	})
}

func TestSearch(t *testing.T) {
	t.Parallel()

	t.Run("it looks at titles only, and at both kinds of objects", func(t *testing.T) {
		t.Parallel()
		s := newStand(t, notiontest.ServerOptions{})
		page := s.page("The Handbook", notiontest.Paragraph(notiontest.Text("elephant")))
		db := s.database(page, "Handbook tasks")
		assert.ElementsMatch(t, []string{page, db.Source}, s.post("/v1/search", object{"query": "handbook"}).ids())
		assert.Empty(t, s.post("/v1/search", object{"query": "elephant"}).results())
		pages := object{"filter": object{"property": "object", "value": "page"}}
		assert.Equal(t, []string{page}, s.post("/v1/search", pages).ids())
		sources := object{"filter": object{"property": "object", "value": "data_source"}}
		assert.Equal(t, []string{db.Source}, s.post("/v1/search", sources).ids())
		databases := object{"filter": object{"property": "object", "value": "database"}}
		assert.Equal(t, []string{db.ID}, s.as(oldest, "POST", "/v1/search", databases).ids())
		assert.Equal(t, "page_or_database", s.as(oldest, "POST", "/v1/search", databases).body["type"])
	})

	t.Run("new pages are found late, hidden and unshared ones never", func(t *testing.T) {
		t.Parallel()
		s := newStand(t, notiontest.ServerOptions{SearchLag: 30 * time.Second})
		late, hidden, private := s.page("late"), s.page("hidden"), s.page("private")
		require.NoError(t, s.Hide(hidden))
		require.NoError(t, s.Unshare(private))
		assert.Empty(t, s.post("/v1/search", nil).ids())
		s.Clock().Advance(30 * time.Second)
		assert.Equal(t, []string{late}, s.post("/v1/search", nil).ids())
		assert.Equal(t, 200, s.get("/v1/pages/"+hidden).status)
		require.NoError(t, s.Show(hidden))
		assert.ElementsMatch(t, []string{late, hidden}, s.post("/v1/search", nil).ids())
	})

	t.Run("it is sorted by the time of the last edit", func(t *testing.T) {
		t.Parallel()
		s := newStand(t, notiontest.ServerOptions{})
		a, b, c := s.page("a"), s.page("b"), s.page("c")
		require.NoError(t, s.Rename(a, "a again"))
		assert.Equal(t, []string{a, c, b}, s.post("/v1/search", nil).ids())
		ascending := object{"sort": object{"timestamp": "last_edited_time", "direction": "ascending"}}
		assert.Equal(t, []string{b, c, a}, s.post("/v1/search", ascending).ids())
	})

	t.Run("what lies in the trash is found only there", func(t *testing.T) {
		t.Parallel()
		s := newStand(t, notiontest.ServerOptions{})
		page := s.page("page")
		child := notiontest.Must(s.AddPage(page, "child"))
		alive := s.page("alive")
		require.NoError(t, s.Trash(page))
		assert.Equal(t, []string{alive}, s.post("/v1/search", nil).ids())
		assert.ElementsMatch(t, []string{page, child}, s.post("/v1/search", object{"in_trash": true}).ids())
	})

	t.Run("it ends at the cap and says so", func(t *testing.T) {
		t.Parallel()
		s := newStand(t, notiontest.ServerOptions{ResultCap: 5})
		for i := range 7 {
			s.page("page " + strconv.Itoa(i))
		}
		ids, last := s.all(newest, "/v1/search", object{"page_size": 2})
		assert.Len(t, ids, 5)
		assert.Equal(t, false, last.body["has_more"])
		want := object{"type": "incomplete", "incomplete_reason": "query_result_limit_reached"}
		assert.Equal(t, want, last.body["request_status"])
		assert.NotContains(t, s.post("/v1/search", object{"page_size": 2}).body, "request_status")
	})
}

func TestQuery(t *testing.T) {
	t.Parallel()
	columns := []notiontest.Column{
		{Name: "Number", Type: "number"},
		{Name: "Words", Type: "rich_text"},
		{Name: "Done", Type: "checkbox"},
		{Name: "Day", Type: "date"},
		{Name: "Choice", Type: "select"},
		{Name: "Tags", Type: "multi_select"},
		{Name: "Edited", Type: "last_edited_time"},
	}
	type values = map[string]notiontest.Value
	open := func(t *testing.T) (s stand, path string, rows []string) {
		t.Helper()
		s = newStand(t, notiontest.ServerOptions{})
		db := s.database(s.page("Page"), "Database", columns...)
		for i, v := range []values{
			{"Number": notiontest.NumberValue(3), "Words": notiontest.WordsValue(words("Apple pie")...), "Done": notiontest.CheckboxValue(true)},
			{"Number": notiontest.NumberValue(0), "Day": notiontest.DateValue("2026-01-02", ""), "Choice": notiontest.SelectValue("Red")},
			{"Tags": notiontest.MultiSelectValue("x", "y"), "Day": notiontest.DateValue("2026-02-03T10:00:00.000+09:00", "")},
		} {
			rows = append(rows, s.row(db.Source, "Row "+strconv.Itoa(i), v))
			s.Clock().Advance(time.Hour)
		}
		return s, "/v1/data_sources/" + db.Source + "/query", rows
	}
	on := func(property, typ, operator string, operand any) object {
		return object{"property": property, typ: object{operator: operand}}
	}
	created := func(operator, at string) object {
		return object{"timestamp": "created_time", "created_time": object{operator: at}}
	}
	cases := []struct {
		name   string
		filter object
		want   []int
	}{
		{"a number", on("Number", "number", "greater_than", 1), []int{0}},
		{"0 is a number and null isn't", on("Number", "number", "less_than_or_equal_to", 0), []int{1}},
		{"no number", on("Choice", "select", "is_empty", true), []int{0, 2}},
		{"words", on("Words", "rich_text", "contains", "PIE"), []int{0}},
		{"not these words", on("Words", "rich_text", "does_not_contain", "pie"), []int{1, 2}},
		{"the title", on("Name", "title", "ends_with", "2"), []int{2}},
		{"a ticked box", on("Done", "checkbox", "equals", true), []int{0}},
		{"a box that isn't", on("Done", "checkbox", "does_not_equal", true), []int{1, 2}},
		{"a day", on("Day", "date", "before", "2026-02-01"), []int{1}},
		{"a day at all", on("Day", "date", "is_not_empty", true), []int{1, 2}},
		{"a choice", on("Choice", "select", "equals", "Red"), []int{1}},
		{"one of several", on("Tags", "multi_select", "contains", "y"), []int{2}},
		{"since a minute, seconds aside", created("on_or_after", "2026-07-04T10:08:00.000Z"), []int{1, 2}},
		{"after a minute", created("after", "2026-07-04T10:08:00Z"), []int{2}},
		{"in a window", object{"and": []any{created("on_or_after", "2026-07-04T10:00:00Z"), created("before", "2026-07-04T11:00:00Z")}}, []int{1}},
		{"one or the other", object{"or": []any{on("Done", "checkbox", "equals", true), on("Choice", "select", "equals", "red")}}, []int{0, 1}},
		{"the time of the edit as a column", on("Edited", "last_edited_time", "on_or_before", "2026-07-04T09:08:00Z"), []int{0}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s, path, rows := open(t)
			want := []string{}
			for _, i := range c.want {
				want = append(want, rows[i])
			}
			got := s.post(path, object{"filter": c.filter})
			require.Equal(t, 200, got.status, string(got.raw))
			assert.Equal(t, want, got.ids())
		})
	}

	t.Run("it is sorted by columns and times", func(t *testing.T) {
		t.Parallel()
		s, path, rows := open(t)
		by := func(sort object) []string { return s.post(path, object{"sorts": []any{sort}}).ids() }
		assert.Equal(t, []string{rows[2], rows[1], rows[0]}, by(object{"timestamp": "created_time", "direction": "descending"}))
		assert.Equal(t, []string{rows[2], rows[1], rows[0]}, by(object{"property": "Name", "direction": "descending"}))
	})

	t.Run("trashed and archived rows come only when they are asked for", func(t *testing.T) {
		t.Parallel()
		s, path, rows := open(t)
		require.NoError(t, s.Trash(rows[0]))
		require.NoError(t, s.Archive(rows[1], true))
		assert.Equal(t, []string{rows[2]}, s.post(path, nil).ids())
		assert.Equal(t, []string{rows[0]}, s.post(path, object{"in_trash": true}).ids())
		assert.Equal(t, []string{rows[1]}, s.post(path, object{"is_archived": true}).ids())
		archived := s.get("/v1/pages/" + rows[1]).body
		assert.Equal(t, true, archived["is_archived"])
		assert.Equal(t, false, archived["in_trash"])
	})

	t.Run("columns can be left out", func(t *testing.T) {
		t.Parallel()
		s, path, _ := open(t)
		properties, _ := s.post(path+"?filter_properties=title", nil).results()[0]["properties"].(object)
		assert.Len(t, properties, 1)
		assert.Contains(t, properties, "Name")
	})

	t.Run("it ends at the cap, and windows of time give everything", func(t *testing.T) {
		t.Parallel()
		s := newStand(t, notiontest.ServerOptions{ResultCap: 3})
		db := s.database(s.page("Page"), "Database")
		for i := range 5 {
			s.row(db.Source, strconv.Itoa(i), nil)
			s.Clock().Advance(time.Minute)
		}
		path := "/v1/data_sources/" + db.Source + "/query"
		ids, last := s.all(newest, path, object{"page_size": 2})
		assert.Len(t, ids, 3)
		assert.Contains(t, last.body, "request_status")
		ids, last = s.all(newest, path, object{"filter": created("on_or_after", "2026-07-04T09:11:00Z")})
		assert.Len(t, ids, 2)
		assert.NotContains(t, last.body, "request_status")
	})
}
