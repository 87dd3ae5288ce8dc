package render_test

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/text/unicode/norm"

	"github.com/loresync/loresync/internal/content/render"
)

func markdown(t *testing.T, source string) render.Document {
	t.Helper()
	doc, err := render.Markdown([]byte(source))
	require.NoError(t, err)
	return doc
}

func TestMarkdown_gives_every_page_one_normal_form(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ in, want string }{
		"nothing":                       {"", ""},
		"only_white_space":              {" \n\t\n\u3000\n", ""},
		"byte_order_mark":               {"\uFEFF# A\n", "# A\n"},
		"line_breaks":                   {"a\r\nb\rc", "a\nb\nc\n"},
		"NUL":                           {"a\x00b\n", "ab\n"},
		"NFC":                           {"cafe\u0301\n", "caf\u00e9\n"},
		"trailing_space":                {"a \nb\t\n", "a\nb\n"},
		"hard_breaks_stay":              {"a   \nb  \n\nc  \n", "a  \nb\n\nc\n"},
		"a_heading_has_no_hard_break":   {"# a  \nb\n", "# a\nb\n"},
		"blank_lines_are_collapsed":     {"\n\n\na\n\n\n\n\n\nb\n\n\n", "a\n\n\nb\n"},
		"a_fence_stays_as_it_is":        {"```\na  \n\n\n\n\nb\n```\nc \n", "```\na  \n\n\n\n\nb\n```\nc\n"},
		"a_longer_fence_holds_a_short":  {"````\n```\n\n\n\n\n````\n", "````\n```\n\n\n\n\n````\n"},
		"UTF-16_with_a_byte_order_mark": {"\xff\xfeA\x00\x2a\x4e", "A个\n"},
		"UTF-16_the_other_way_round":    {"\xfe\xff\x00A", "A\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := markdown(t, c.in).Markdown
			assert.Equal(t, c.want, got)
			assert.Equal(t, got, markdown(t, got).Markdown, "a second time changes nothing")
		})
	}
}

func TestMarkdown_refuses_what_is_not_UTF_8(t *testing.T) {
	t.Parallel()
	for _, raw := range []string{"\xff\xfe\xfa", "caf\xe9", "\xff\xfe\x00\xd8", "\x83\x65\x83\x58"} {
		_, err := render.Markdown([]byte(raw))
		require.ErrorIs(t, err, render.ErrInvalidUTF8, "%q", raw)
		_, err = render.Text([]byte(raw))
		require.ErrorIs(t, err, render.ErrInvalidUTF8)
		_, err = render.HTML([]byte(raw))
		require.ErrorIs(t, err, render.ErrInvalidUTF8)
	}
}

func TestMarkdown_reads_front_matter(t *testing.T) {
	t.Parallel()
	doc := markdown(t, "---\ntitle: \"The  title\"\ntags: [a, b]\ndate: 2024-05-01\nn: .nan\n1: one\n---\n\n# Other\n")
	assert.Equal(t, "The title", doc.Title)
	assert.Equal(t, "# Other\n", doc.Markdown)
	assert.Equal(t, map[string]any{
		"title": "The  title", "tags": []any{"a", "b"}, "date": "2024-05-01", "n": "NaN", "1": "one",
	}, doc.Meta)
	_, err := json.Marshal(doc.Meta)
	require.NoError(t, err)

	assert.Equal(t, "2024", markdown(t, "---\r\ntitle: 2024\r\n...\r\nx\r\n").Title)
	assert.Equal(t, "x\n", markdown(t, "---\n---\nx\n").Markdown, "an empty one is one")
}

func TestMarkdown_keeps_a_broken_front_matter_as_text(t *testing.T) {
	t.Parallel()
	var bomb strings.Builder
	bomb.WriteString("a: &a [x,x,x,x,x,x,x,x,x]\n")
	for c := 'b'; c < 'k'; c++ {
		fmt.Fprintf(&bomb, "%c: &%c [%s]\n", c, c, strings.TrimSuffix(strings.Repeat("*"+string(c-1)+",", 9), ","))
	}
	for name, header := range map[string]string{
		"not_YAML": "title: [", "a_sentence": "Just a line.", "a_list": "- a\n- b", "twice": "a: 1\na: 2",
		"aliases": bomb.String(), "a_loop": "a: &a\n  b: *a", "deep": "a: " + strings.Repeat("[", 100) + strings.Repeat("]", 100),
		"too_long": "a: " + strings.Repeat("x", 70<<10), "a_tag": "a: !!int x",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			source := "---\n" + header + "\n---\nbody\n"
			doc := markdown(t, source)
			assert.Equal(t, source, doc.Markdown)
			assert.Empty(t, doc.Meta)
			assert.NotNil(t, doc.Meta)
		})
	}
	assert.Equal(t, "---\ntitle: a\n", markdown(t, "---\ntitle: a\n").Markdown, "nothing ends it")
}

func TestMarkdown_takes_the_title_from_the_first_heading_of_level_one(t *testing.T) {
	t.Parallel()
	for source, want := range map[string]string{
		"## Two\n\n# **One** `x` [link](u) #\n\n# Three\n": "One x link",
		"```sh\n# no\n```\nYes\n===\n":                     "Yes",
		"~~~\n# no\n":                                      "",
		"## Two\n":                                         "",
		"#\n\n# Second\n":                                  "Second",
		"---\ntitle: ''\n---\n# H\n":                       "H",
		"# " + strings.Repeat("語", 400):                    strings.Repeat("語", 300),
	} {
		assert.Equal(t, want, markdown(t, source).Title, source)
	}
}

func TestMarkdown_replaces_data_URIs(t *testing.T) {
	t.Parallel()
	data := strings.Repeat("iVBORw0KGgo+/", 200) + "=="
	for in, want := range map[string]string{
		"![a](data:image/png;base64," + data + ")\n":                     "![a](embedded:image/png)\n",
		"![][i]\n\n[i]: <data:image/png;base64," + data + ">\n":          "![][i]\n\n[i]: <embedded:image/png>\n",
		"[i]: data:image/jpeg;name=x;base64," + data + " \"t\"\n":        "[i]: embedded:image/jpeg \"t\"\n",
		"<img src='DATA:image/gif;base64," + data + "' alt=x>\n":         "<img src='embedded:image/gif' alt=x>\n",
		"![](data:image/svg+xml," + strings.Repeat("%3Csvg", 50) + ")\n": "![](embedded:image/svg+xml)\n",
		"a data:text/plain;base64, example, metadata:x and data: y, z\n": "a data:text/plain;base64, example, metadata:x and data: y, z\n",
		"data:データ、" + data + "\n":                                        "data:データ、" + data + "\n",
	} {
		assert.Equal(t, want, markdown(t, in).Markdown)
	}
	big := markdown(t, "![a](data:image/png;base64,"+strings.Repeat("A", 2<<20)+") and ![b](data:image/png;base64,"+data+")")
	assert.Equal(t, "![a](embedded:image/png) and ![b](embedded:image/png)\n", big.Markdown)
}

func TestText_escapes_what_markdown_would_read_as_structure(t *testing.T) {
	t.Parallel()
	doc, err := render.Text([]byte("\uFEFF# not a heading\r\n> nor a quote\n```\n---\ntitle: x\n"))
	require.NoError(t, err)
	assert.Equal(t, "\\# not a heading\n\\> nor a quote\n\\```\n---\ntitle: x\n", doc.Markdown)
	assert.Empty(t, doc.Title)
	assert.NotNil(t, doc.Meta)
}

func TestHTML_becomes_markdown(t *testing.T) {
	t.Parallel()
	doc, err := render.HTML([]byte(`<!doctype html><html><head><title> The &amp; page </title><style>p{}</style>
<script>alert(1)</script></head><body><h2>Two</h2><p>Some <b>bold </b>text<script>x</script></p>
<table><tr><th>A</th><th>B</th></tr><tr><td>1</td><td>2</td></tr></table>
<svg><title>no</title><text>drawn</text></svg><img alt="pic" src="data:image/svg+xml;utf8,<svg a='b c'>"></body></html>`))
	require.NoError(t, err)
	assert.Equal(t, "The & page", doc.Title)
	assert.Contains(t, doc.Markdown, "## Two\n\nSome **bold** text\n")
	assert.Regexp(t, `\| A +\| B +\|\n\|-+\|-+\|\n\| 1 +\| 2 +\|`, doc.Markdown)
	assert.Contains(t, doc.Markdown, "![pic](embedded:image/svg+xml)")
	for _, dropped := range []string{"alert", "p{}", "drawn", "svg a"} {
		assert.NotContains(t, doc.Markdown, dropped)
	}
	heading, err := render.HTML([]byte("<title>T</title><h1>H <i>one</i></h1>"))
	require.NoError(t, err)
	assert.Equal(t, "H one", heading.Title)
}

func TestHTML_refuses_endless_nesting(t *testing.T) {
	t.Parallel()
	_, err := render.HTML([]byte(strings.Repeat("<div><b>", 50_000) + "x"))
	require.ErrorContains(t, err, "parse HTML")
	doc, err := render.HTML([]byte(strings.Repeat("<div><ul><li>", 150) + "x"))
	require.NoError(t, err)
	assert.Contains(t, doc.Markdown, "x")
}

func TestCleanMeta_cleans_keys_and_values_before_they_are_marshalled(t *testing.T) {
	t.Parallel()
	type name string
	meta := render.CleanMeta(map[string]any{
		"a\x00b": "x\x00y", "bad\xff": []string{"\xff"}, "deep": map[any]any{1: []any{"\x00", math.Inf(1), nil}},
		"named": name("n\x00"), "number": json.Number("12"), "nonsense": json.Number("1x"), "bytes": []byte("b\x00"),
		"time": time.Date(2024, 1, 2, 3, 4, 5, 0, time.UTC), "pointer": new(int), "float": 1.5,
	})
	encoded, err := json.Marshal(meta)
	require.NoError(t, err)
	assert.NotContains(t, string(encoded), `\u0000`)
	assert.True(t, utf8.Valid(encoded))
	assert.Equal(t, "xy", meta["ab"])
	assert.Equal(t, map[string]any{"1": []any{"", "+Inf", nil}}, meta["deep"])
	assert.Equal(t, "2024-01-02T03:04:05Z", meta["time"])
	assert.Equal(t, 0, meta["pointer"])
	assert.NotNil(t, render.CleanMeta(nil))

	endless := map[string]any{}
	endless["self"] = endless
	_, err = json.Marshal(render.CleanMeta(endless))
	require.NoError(t, err)
}

func TestTruncate_never_cuts_a_character(t *testing.T) {
	t.Parallel()
	flag := "👩‍👩‍👧"
	for _, c := range []struct {
		in   string
		n    int
		want string
	}{
		{"abc", 3, "abc"},
		{"abc", 2, "ab"},
		{"abc", 0, ""},
		{"aaaa丗", 4, "aaaa"},
		{"aaa丗丗", 4, "aaa丗"},
		{"ab" + flag, 3, "ab"},
		{"a❤️b", 2, "a"},
		{"e\u0301e\u0301", 3, "e\u0301"},
		{flag, 2, "👩\u200d"},
		{"\xff\xff", 1, "\xff"},
	} {
		assert.Equal(t, c.want, render.Truncate(c.in, c.n), "%q", c.in)
	}
}

func FuzzMarkdown(f *testing.F) {
	for _, seed := range []string{
		"---\na: &a [*a]\n---\n", "a  \n\n\n\nb", "```\n\x00", "![](data:image/png;base64,AAAAAAAAAAAA)", "\xff\xfea\x00", "# e\u0301",
		"---\n? [a]\n: b\n---\n", "---\n<<: {a: b}\n---\n",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		doc, err := render.Markdown(raw)
		if err != nil {
			require.ErrorIs(t, err, render.ErrInvalidUTF8)
			return
		}
		require.True(t, utf8.ValidString(doc.Markdown))
		require.NotContains(t, doc.Markdown, "\x00")
		require.True(t, norm.NFC.IsNormalString(doc.Markdown))
		require.LessOrEqual(t, utf8.RuneCountInString(doc.Title), 300)
		encoded, err := json.Marshal(doc.Meta)
		require.NoError(t, err)
		require.NotContains(t, string(encoded), `\u0000`)
		if doc.Markdown != "" {
			require.True(t, strings.HasSuffix(doc.Markdown, "\n"))
		}
	})
}

// TestMarkdown_reads_every_page_of_the_handbooks runs where the real handbooks are.
func TestMarkdown_reads_every_page_of_the_handbooks(t *testing.T) {
	t.Parallel()
	for _, page := range handbooks(t) {
		raw, err := os.ReadFile(page)
		require.NoError(t, err)
		doc, err := render.Markdown(raw)
		require.NoError(t, err, page)
		if strings.HasPrefix(string(raw), "---\n") {
			assert.NotEmpty(t, doc.Meta, page)
		}
	}
}

func handbooks(t *testing.T) []string {
	t.Helper()
	root := os.Getenv("LORESYNC_TEST_CORPORA")
	if root == "" {
		root = filepath.Join("..", "..", "..", "..", "shared", "corpora")
	}
	var pages []string
	for _, depth := range []string{"*", "*/*", "*/*/*", "*/*/*/*"} {
		found, err := filepath.Glob(filepath.Join(root, depth+".md"))
		require.NoError(t, err)
		pages = append(pages, found...)
	}
	if len(pages) == 0 {
		t.Skip("the handbooks aren't here")
	}
	return pages
}
