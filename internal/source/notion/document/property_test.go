package document_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/loresync/loresync/internal/source/notion/document"
)

func page(tb testing.TB, properties object) document.Object {
	tb.Helper()
	o, err := document.DecodeObject(encode(tb, object{"object": "page", "id": "p", "properties": properties}))
	require.NoError(tb, err)
	return o
}

func property(kind string, value any) object { return object{"id": "x", "type": kind, kind: value} }

func TestPropertyValues(t *testing.T) {
	t.Parallel()
	user := object{"object": "user", "id": "u1"}
	for _, c := range []struct {
		name, kind string
		value      any
		want       string
	}{
		{"text with annotations", "rich_text", []any{run("a ", "bold"), run("b")}, "- P: **a** b\n"},
		{"zero is a value", "number", 0, "- P: 0\n"},
		{"null is none", "number", nil, "- Empty: P\n"},
		{"a number is written as it came", "number", json.Number("1.50"), "- P: 1.50\n"},
		{"R114: a null select is none", "select", nil, "- Empty: P\n"},
		{"an option", "select", object{"name": "In *progress*"}, "- P: In \\*progress\\*\n"},
		{"a status", "status", object{"name": "Done"}, "- P: Done\n"},
		{"options", "multi_select", []any{object{"name": "a"}, object{"name": "b"}}, "- P: a, b\n"},
		{"a date only", "date", object{"start": "2026-01-02"}, "- P: 2026-01-02\n"},
		{"R114: a range", "date", object{"start": "2026-01-02", "end": "2026-01-05"}, "- P: 2026-01-02 → 2026-01-05\n"},
		{"a time with offset and seconds", "date", object{"start": "2026-01-02T10:00:30.500+09:00"}, "- P: 2026-01-02 10:00:30.500 UTC+09:00\n"},
		{"a time on the hour", "date", object{"start": "2026-01-02T10:00:00.000Z"}, "- P: 2026-01-02 10:00 UTC\n"},
		{
			"a time without offset and its zone", "date",
			object{"start": "2026-01-02T09:00:00.000", "time_zone": "Asia/Tokyo"},
			"- P: 2026-01-02 09:00 Asia/Tokyo\n",
		},
		{
			"R094: people, an id without a name, a group", "people",
			[]any{object{"name": "Ada"}, user, object{"object": "group", "id": "g1"}},
			"- P: Ada, user u1, group g1\n",
		},
		{"files by name", "files", []any{
			object{"name": "a.pdf", "type": "file", "file": object{"url": "https://s3/a.pdf?X-Amz-Signature=1", "expiry_time": "2026"}},
			object{"name": "b", "type": "external", "external": object{"url": "https://e.org/b"}},
			object{"name": "c", "file_upload": object{"id": "z"}},
		}, "- P: a.pdf, [b](https://e.org/b), c\n"},
		{"yes", "checkbox", true, "- P: yes\n"},
		{"no is a value", "checkbox", false, "- P: no\n"},
		{"an address", "url", "https://e.org/a_b?x=1", "- P: <https://e.org/a_b?x=1>\n"},
		{"a mail address", "email", "a_b@e.org", "- P: a_b@e.org\n"},
		{"a phone number", "phone_number", "+81 3", "- P: +81 3\n"},
		{"a formula's text", "formula", object{"type": "string", "string": "x"}, "- P: x\n"},
		{"a formula without a text", "formula", object{"type": "string", "string": nil}, "- Empty: P\n"},
		{"a formula's no", "formula", object{"type": "boolean", "boolean": false}, "- P: no\n"},
		{"a formula's number", "formula", object{"type": "number", "number": 0}, "- P: 0\n"},
		{"a formula's date", "formula", object{"type": "date", "date": object{"start": "2026-01-02"}}, "- P: 2026-01-02\n"},
		{"a formula that isn't given out", "formula", object{"type": "unsupported", "unsupported": object{}}, "- P: (not supported)\n"},
		{
			"a relation to what is known and what isn't", "relation",
			[]any{object{"id": "known"}, object{"id": "a"}, object{"id": "b"}},
			"- P: [Known](https://kb/known), 2 more pages\n",
		},
		{"an empty relation", "relation", []any{}, "- Empty: P\n"},
		{
			"a rollup of values", "rollup",
			object{"type": "array", "array": []any{property("title", []any{run("T1")}), property("number", 4), property("relation", []any{})}},
			"- P: T1, 4\n",
		},
		{"R114: an empty rollup", "rollup", object{"type": "array", "array": []any{}}, "- Empty: P\n"},
		{"a rollup's number", "rollup", object{"type": "number", "number": 2}, "- P: 2\n"},
		{"a rollup that isn't finished", "rollup", object{"type": "incomplete", "incomplete": object{}}, "- P: (incomplete)\n"},
		{"a rollup that isn't given out", "rollup", object{"type": "unsupported"}, "- P: (not supported)\n"},
		{"who made it", "created_by", user, "- P: user u1\n"},
		{"when it was made", "created_time", "2026-01-02T10:00:00.000Z", "- P: 2026-01-02 10:00 UTC\n"},
		{"a number with its prefix", "unique_id", object{"prefix": "T", "number": 7}, "- P: T-7\n"},
		{"a number that is none", "unique_id", object{"prefix": "A", "number": 1.5}, "- P: A-1.5\n"},
		{
			"a verification", "verification",
			object{"state": "verified", "verified_by": object{"name": "Ada"}, "date": object{"start": "2026-01-02"}},
			"- P: verified (2026-01-02) by Ada\n",
		},
		{"no verification", "verification", nil, "- Empty: P\n"},
		{"a place", "place", object{"lat": 1.5, "lon": 2.5, "name": "x", "address": nil}, "- P: x, (1.5, 2.5)\n"},
		{"a button is an action", "button", object{}, ""},
		{"the last visit isn't content", "last_visited_time", "2026-01-02T10:00:00.000Z", ""},
		{
			"an unknown type keeps its name and what it says", "hologram",
			object{"depth": 3, "expiry_time": "2026", "note": "a", "url": "https://s3/x?X-Amz-Date=1"},
			"- P: depth 3, note a, url https://s3/x\n",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			markdown, _ := document.Markdown(document.Document{
				Object: page(t, object{"P": property(c.kind, c.value)}),
				Links:  func(id string) (string, string, bool) { return "Known", "https://kb/known", id == "known" },
			})
			assert.Equal(t, c.want, markdown)
		})
	}
}

func TestProperties(t *testing.T) {
	t.Parallel()
	t.Run("strange properties are kept by name, counted, and spoil no other", func(t *testing.T) {
		t.Parallel()
		markdown, report := document.Markdown(document.Document{Object: page(t, object{
			"a": nil, "b": []any{1}, "c": object{"id": "x"}, "d": property("number", "seven"), "e | f\n*": property("checkbox", true),
			"z": property("hologram", "h"),
		})})
		assert.Equal(t, "- b: 1\n- c: id x\n- d: seven\n- e | f \\*: yes\n- z: h\n- Empty: a\n", markdown)
		assert.Equal(t, 3, report.Unreadable)
		assert.Equal(t, map[string]int{"property hologram": 1}, report.Unsupported)
	})
	t.Run("R107: the title is the property of that type whatever its name", func(t *testing.T) {
		t.Parallel()
		o := page(t, object{"Aufgabe": property("title", []any{run("A"), run("B")}), "Title": property("rich_text", []any{run("no")})})
		assert.Equal(t, "AB", o.Title)
		assert.Empty(t, page(t, object{"Aufgabe": property("title", []any{})}).Title)
	})
	t.Run("a value cut short says so until it is completed", func(t *testing.T) {
		t.Parallel()
		cut := property("relation", []any{object{"id": "a"}})
		cut["has_more"] = true
		o := page(t, object{"R": cut})
		markdown, report := document.Markdown(document.Document{Object: o})
		assert.Equal(t, "- R: at least 1 page\n", markdown)
		assert.Equal(t, 1, report.Truncated)

		require.NoError(t, o.Properties[0].Complete([]json.RawMessage{
			encode(t, object{"object": "property_item", "type": "relation", "relation": object{"id": "a"}}),
			encode(t, object{"object": "property_item", "type": "relation", "relation": object{"id": "b"}}),
		}))
		markdown, report = document.Markdown(document.Document{Object: o})
		assert.Equal(t, "- R: 2 pages\n", markdown)
		assert.Zero(t, report.Truncated)
	})
}

func TestDecodeObject(t *testing.T) {
	t.Parallel()
	t.Run("reads a data source below a database", func(t *testing.T) {
		t.Parallel()
		o, err := document.DecodeObject(json.RawMessage(`{"object":"data_source","id":"s","title":[{"plain_text":"Tasks"}],
			"parent":{"type":"database_id","database_id":"d"},"database_parent":{"type":"page_id","page_id":"p"},"in_trash":true}`))
		require.NoError(t, err)
		assert.Equal(t, document.Parent{Type: "database_id", ID: "d", DatabaseID: "d"}, o.Parent)
		assert.Equal(t, document.Parent{Type: "page_id", ID: "p"}, o.DatabaseParent)
		assert.Equal(t, "Tasks", o.Title)
		assert.True(t, o.InTrash)
	})
	t.Run("R009: reads every data source of a database", func(t *testing.T) {
		t.Parallel()
		o, err := document.DecodeObject(json.RawMessage("\uFEFF" + `{"object":"database","id":"d","is_inline":true,
			"parent":{"type":"workspace","workspace":true},"data_sources":[{"id":"a","name":"A"},null,{"id":"b"}],"archived":true}`))
		require.NoError(t, err)
		assert.Equal(t, []document.Source{{ID: "a", Name: "A"}, {ID: "b"}}, o.DataSources)
		assert.Equal(t, document.Parent{Type: "workspace"}, o.Parent)
		assert.True(t, o.IsInline)
		assert.True(t, o.InTrash)
	})
	t.Run("reads parents of kinds that are newer or older", func(t *testing.T) {
		t.Parallel()
		for raw, want := range map[string]document.Parent{
			`{"type":"data_source_id","data_source_id":"s","database_id":"d"}`: {Type: "data_source_id", ID: "s", DatabaseID: "d"},
			`{"type":"agent_id","agent_id":"x"}`:                               {Type: "agent_id", ID: "x"},
			`{"page_id":"p"}`:                                                  {Type: "page_id", ID: "p"},
			`7`:                                                                {},
		} {
			o, err := document.DecodeObject(json.RawMessage(`{"object":"page","parent":` + raw + `}`))
			require.NoError(t, err)
			assert.Equal(t, want, o.Parent)
		}
	})
	for _, raw := range []string{`null`, `[]`, `<html>`, ``, `{"object":"error","status":404}`, `{"object":"user","id":"u"}`} {
		t.Run("refuses "+raw, func(t *testing.T) {
			t.Parallel()
			_, err := document.DecodeObject(json.RawMessage(raw))
			assert.Error(t, err)
		})
	}
}
