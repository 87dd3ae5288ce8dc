package notiontest_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/loresync/loresync/internal/source/notion/notiontest"
)

// fixtures is where recorded answers of the real API lie beside a checkout.
var fixtures = filepath.Join("..", "..", "..", "..", "..", "shared", "fixtures", "notion")

// recording is a request with its real answer.
type recording struct {
	Request struct {
		Version string `json:"notion_version"`
		Body    any    `json:"body"`
	} `json:"request"`
	Response struct {
		Status int               `json:"status"`
		Body   notiontest.Object `json:"body"`
	} `json:"response"`
}

func recorded(t *testing.T, name string) recording {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join(fixtures, "notion-sdk-py", "responses", name+".json"))
	if os.IsNotExist(err) {
		t.Skip("the recorded answers lie in ../shared/fixtures, which this machine doesn't have")
	}
	require.NoError(t, err)
	var r recording
	require.NoError(t, json.Unmarshal(raw, &r))
	return r
}

// TestShapes compares keys and JSON types with recorded answers of the real API.
func TestShapes(t *testing.T) {
	t.Parallel()
	s := newStand(t, notiontest.ServerOptions{})
	page := s.page("Test", paragraphs(3)...)
	empty := s.page("Empty")
	database := s.database(page, "Test Database")
	inner := notiontest.Must(s.AddPage(page, "Inner"))
	require.NoError(t, s.As(s.Bot()))
	_, err := s.AddComment(page, words("This is a test comment.")...)
	require.NoError(t, err)
	blocks := s.get("/v1/blocks/" + page + "/children").ids()
	person := s.as(middle, http.MethodGet, "/v1/users", nil).ids()[0]
	gone := s.page("Trashed", paragraphs(1)...)
	inTrash := s.get("/v1/blocks/" + gone + "/children").ids()[0]
	require.NoError(t, s.Trash(gone))
	bot := "/v1/users/" + s.Bot()
	require.NotEqual(t, person, s.Bot())

	cases := []struct {
		recording, method, path string
	}{
		{"GET-pages-ID__01", http.MethodGet, "/v1/pages/" + inner},
		{"GET-databases-ID__01", http.MethodGet, "/v1/databases/" + database.ID},
		{"GET-data-sources-ID__01", http.MethodGet, "/v1/data_sources/" + database.Source},
		{"GET-blocks-ID__01", http.MethodGet, "/v1/blocks/" + blocks[0]},
		{"GET-blocks-ID__02", http.MethodGet, "/v1/blocks/" + inTrash},
		{"DELETE-blocks-ID__02", http.MethodGet, "/v1/blocks/" + inner},
		{"DELETE-blocks-ID__03", http.MethodGet, "/v1/blocks/" + database.ID},
		{"GET-blocks-ID-children__01", http.MethodGet, "/v1/blocks/" + page + "/children?page_size=2"},
		{"GET-blocks-ID-children__03", http.MethodGet, "/v1/blocks/" + empty + "/children?page_size=2"},
		{"GET-pages-ID-properties-PROP__01", http.MethodGet, "/v1/pages/" + inner + "/properties/title"},
		{"GET-comments__01", http.MethodGet, "/v1/comments?block_id=" + page},
		{"GET-users__01", http.MethodGet, "/v1/users"},
		{"GET-users-me__01", http.MethodGet, "/v1/users/me"},
		{"GET-users-ID__01", http.MethodGet, bot},
		{"POST-search__01", http.MethodPost, "/v1/search"},
		{"POST-search__02", http.MethodPost, "/v1/search"},
		{"POST-data-sources-ID-query__01", http.MethodPost, "/v1/data_sources/" + database.Source + "/query"},
		{"ERROR__01", http.MethodGet, "/v1/pages/00000000-0000-0000-0000-000000000000"},
		{"ERROR__02", http.MethodGet, "/v1/invalid"},
	}
	for _, c := range cases {
		t.Run(c.recording, func(t *testing.T) {
			t.Parallel()
			want := recorded(t, c.recording)
			got := s.as(want.Request.Version, c.method, c.path, want.Request.Body)
			assert.Equal(t, want.Response.Status, got.status)
			assert.Empty(t, differences("", want.Response.Body, got.body))
			if want.Response.Status != http.StatusOK {
				assert.Equal(t, want.Response.Body["code"], got.code())
			}
		})
	}
	t.Run("ERROR__03", func(t *testing.T) {
		t.Parallel()
		want := recorded(t, "ERROR__03")
		r := s.request(want.Request.Version, http.MethodGet, "/v1/users", nil)
		r.Header.Set("Authorization", "Bearer wrong")
		got := s.send(r)
		assert.Equal(t, want.Response.Status, got.status)
		assert.Empty(t, differences("", want.Response.Body, got.body))
		assert.Equal(t, want.Response.Body["message"], got.body["message"])
	})
}

// TestEveryBlockShape compares the blocks that both sides have in the payloads written for decoders.
func TestEveryBlockShape(t *testing.T) {
	t.Parallel()
	shapes := knownBlocks(t)
	s := newStand(t, notiontest.ServerOptions{})
	compared := 0
	for _, block := range everyBlock(t, s) {
		typ, _ := block["type"].(string)
		want, known := shapes[family(typ)]
		if !known || typ == "unsupported" {
			continue
		}
		compared++
		payload, _ := block[typ].(notiontest.Object)
		for key := range payload {
			assert.Contains(t, want, key, "%s.%s is in no recorded block", typ, key)
		}
	}
	assert.Greater(t, compared, 30)
}

// knownBlocks are the keys that payloads of blocks may have, by type, from all fixtures.
func knownBlocks(t *testing.T) map[string]map[string]bool {
	t.Helper()
	if _, err := os.Stat(fixtures); err != nil {
		t.Skip("the recorded answers lie in ../shared/fixtures, which this machine doesn't have")
	}
	shapes := map[string]map[string]bool{
		// Fields that the official client's types name and no fixture happens to hold.
		"text": {"list_start_index": true, "list_format": true}, "media": {"name": true, "file": true, "external": true},
	}
	files, err := filepath.Glob(filepath.Join(fixtures, "*", "*.json"))
	require.NoError(t, err)
	for _, file := range files {
		raw, err := os.ReadFile(file)
		require.NoError(t, err)
		var payload any
		if json.Unmarshal(raw, &payload) == nil {
			collect(payload, shapes)
		}
	}
	return shapes
}

// family is the types whose payloads have their fields in common: no fixture has every field of every type.
func family(typ string) string {
	switch typ {
	case "image", "video", "pdf", "file", "audio":
		return "media"
	case "paragraph", "bulleted_list_item", "numbered_list_item", "to_do", "toggle", "quote", "callout", "template":
		return "text"
	}
	if strings.HasPrefix(typ, "heading_") {
		return "text"
	}
	return typ
}

func collect(v any, shapes map[string]map[string]bool) {
	switch v := v.(type) {
	case []any:
		for _, item := range v {
			collect(item, shapes)
		}
	case notiontest.Object:
		typ, _ := v["type"].(string)
		if payload, ok := v[typ].(notiontest.Object); ok && v["object"] == "block" {
			if shapes[family(typ)] == nil {
				shapes[family(typ)] = map[string]bool{}
			}
			for key := range payload {
				shapes[family(typ)][key] = true
			}
		}
		for _, item := range v {
			collect(item, shapes)
		}
	}
}

// differences tells where two JSON values have other keys or types. Null stands for any type: a field that is null once may
// hold something another time. Lists are compared by their first items.
func differences(at string, want, got any) []string {
	if want == nil || got == nil {
		return nil
	}
	if kindOf(want) != kindOf(got) {
		return []string{fmt.Sprintf("%s: want %s, got %s", at, kindOf(want), kindOf(got))}
	}
	var found []string
	switch want := want.(type) {
	case notiontest.Object:
		have, _ := got.(notiontest.Object)
		for _, key := range slices.Sorted(maps.Keys(want)) {
			if _, ok := have[key]; !ok {
				found = append(found, at+"."+key+": missing")
			}
		}
		for _, key := range slices.Sorted(maps.Keys(have)) {
			if _, ok := want[key]; !ok {
				found = append(found, at+"."+key+": not in the recorded answer")
				continue
			}
			found = append(found, differences(at+"."+key, want[key], have[key])...)
		}
	case []any:
		have, _ := got.([]any)
		if len(want) > 0 && len(have) > 0 && sameType(want[0], have[0]) {
			found = differences(at+"[0]", want[0], have[0])
		}
	case string:
		have, _ := got.(string)
		if strings.HasSuffix(at, "_time") && shapeOf(want) != shapeOf(have) {
			found = []string{fmt.Sprintf("%s: want a time like %s, got %s", at, want, have)}
		}
	}
	return found
}

// sameType is whether two objects have the same word under "object" and "type", so that their shapes may be compared.
func sameType(a, b any) bool {
	x, _ := a.(notiontest.Object)
	y, _ := b.(notiontest.Object)
	return x["object"] == y["object"] && x["type"] == y["type"]
}

func kindOf(v any) string { return fmt.Sprintf("%T", v) }

// shapeOf is a time with every digit but those of its seconds and milliseconds made the same.
func shapeOf(at string) string {
	digits := strings.Map(func(r rune) rune {
		if r >= '0' && r <= '9' {
			return '9'
		}
		return r
	}, at)
	if strings.HasSuffix(at, ":00.000Z") {
		return digits[:len(digits)-len("99.999Z")] + "00.000Z"
	}
	return digits
}
