package sourcetest

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// hostileTitles are titles that break what builds paths, URLs, patterns, queries or ids by hand.
var hostileTitles = []string{
	`it's "quoted"`, "100% sure", "100%25 sure", "%~marked", "%00", "%2e%2e", "a + b & c = d", "#hash?query=1",
	"  spaces around  ", "semi;colon, comma", "back\\slash", "[brackets] {braces} (round)", "tilde~ and `ticks`", "$HOME",
	"* and ?", "<b>bold<b>", "日本語のページ", "絵文字 🦉👩‍👩‍👧", "Привет", "עברית", "dots...in..middle",
	"ordinary", "Ordinary", "-rf", "--help", "NULL", "con", strings.Repeat("長", 60), "zero\u200bwidth", "\u202ereversed",
}

// twins look alike: the second is the first in another Unicode normal form, or in another case.
var twins = [][2]string{{"Caf\u00e9 twin", "Cafe\u0301 twin"}, {"が", "か\u3099"}, {"\u212b", "\u00c5"}, {"TWIN", "twin"}}

func testHostileTitles(t *testing.T, f Fixture) {
	put := make(map[string]string)
	add := func(path string) {
		if namer, ok := f.(Namer); ok && !namer.Allows(path) {
			return
		}
		body := "this is the page " + path
		id := f.Put(path, body)
		require.Empty(t, put[id], "%q got the id of another page", path)
		put[id] = body
	}
	for _, title := range hostileTitles {
		add(title)
		add("in " + title + "/" + title)
	}
	for _, pair := range twins {
		add(pair[0])
		add(pair[1])
	}
	require.Greater(t, len(put), len(hostileTitles), "a source must be able to hold most of the hostile titles")
	requireSurvivors(t, f, put)
}

// requireSurvivors checks that pages can be listed, read, found again and resolved by their ids.
func requireSurvivors(t *testing.T, f Fixture, put map[string]string) {
	t.Helper()
	documents := listAll(t, f).documents()
	require.Len(t, documents, len(put))
	for id, body := range put {
		requireListed(t, documents, id)
		require.Contains(t, text(fetch(t, f, id)), body)
		requireResolved(t, f, id, id)
		if url := documents[id].URL; url != "" {
			requireResolved(t, f, url, id)
		}
	}
}

func testResolve(t *testing.T, f Fixture) {
	fill(f)
	for _, e := range listAll(t, f).entries {
		requireResolved(t, f, e.SourceID, e.SourceID)
		if e.URL != "" {
			requireResolved(t, f, e.URL, e.SourceID)
		}
	}
	for _, ref := range []string{"", "https://example.com/some/page", "ftp://example.com/x"} {
		_, ok := f.Source().Resolve(f.Root(), ref)
		require.False(t, ok, "%q must not be taken for a page", ref)
	}
}

func requireResolved(t *testing.T, f Fixture, ref, want string) {
	t.Helper()
	id, ok := f.Source().Resolve(f.Root(), ref)
	require.True(t, ok, "%q must resolve", ref)
	require.Equal(t, want, id)
}
