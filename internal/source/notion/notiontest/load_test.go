package notiontest_test

import (
	"os"
	"path"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/loresync/loresync/internal/source/notion/notiontest"
)

// outline writes the blocks below a page as lines: the type, the text, and marks for what makes spans special.
func (s stand) outline(id, indent string) (lines []string) {
	s.t.Helper()
	for _, block := range s.get("/v1/blocks/" + id + "/children").results() {
		typ, _ := block["type"].(string)
		payload, _ := block[typ].(object)
		line := indent + typ + " " + marked(payload["rich_text"])
		cells, _ := payload["cells"].([]any)
		var lineSb25 strings.Builder
		for _, cell := range cells {
			lineSb25.WriteString("|" + marked(cell))
		}
		line += lineSb25.String()
		var lineSb28 strings.Builder
		for _, field := range []string{"checked", "language"} {
			if value, ok := payload[field]; ok {
				lineSb28.WriteString(" " + map[any]string{true: "[x]", false: "[ ]"}[value])
				if text, ok := value.(string); ok {
					lineSb28.WriteString(text)
				}
			}
		}
		line += lineSb28.String()
		lines = append(lines, strings.TrimRight(line, " "))
		if block["has_children"] == true {
			child, _ := block["id"].(string)
			lines = append(lines, s.outline(child, indent+"  ")...)
		}
	}
	return lines
}

func marked(rich any) string {
	var b strings.Builder
	spans, _ := rich.([]any)
	for _, span := range spans {
		o, _ := span.(object)
		annotations, _ := o["annotations"].(object)
		text, _ := o["plain_text"].(string)
		for _, mark := range []struct{ mark, name string }{{"`", "code"}, {"~", "strikethrough"}, {"/", "italic"}, {"^", "bold"}} {
			if annotations[mark.name] == true {
				text = mark.mark + text + mark.mark
			}
		}
		if href, ok := o["href"].(string); ok {
			text = "[" + text + "](" + href + ")"
		}
		b.WriteString(text)
	}
	return b.String()
}

func TestLoadMarkdown(t *testing.T) {
	t.Parallel()
	load := func(t *testing.T, text string) []string {
		t.Helper()
		s := newStand(t, notiontest.ServerOptions{})
		ids, err := s.LoadMarkdown("", fstest.MapFS{"page.md": {Data: []byte(text)}})
		require.NoError(t, err)
		return s.outline(ids["page.md"], "")
	}
	cases := []struct {
		name, text string
		want       []string
	}{
		{"paragraphs are joined over lines and broken where they say so", "one\ntwo  \nthree\n\nfour", []string{"paragraph one two\nthree", "paragraph four"}},
		{"headings deeper than four are of level four", "## A\n### B\n##### C #", []string{"heading_2 A", "heading_3 B", "heading_4 C"}},
		{"lists nest and hold other blocks", "- a\n  - b\n    more\n- c\n\n  d\n1. e\n   - f", []string{
			"bulleted_list_item a", "  bulleted_list_item b more", "bulleted_list_item c", "  paragraph d", "numbered_list_item e",
			"  bulleted_list_item f",
		}},
		{"boxes are to-dos", "- [ ] a\n- [x] b\n- [c](d)", []string{"to_do a [ ]", "to_do b [x]", "bulleted_list_item [c](d)"}},
		{"tables", "| a | b |\n|---|---:|\n| `c` | d\\|e |\nafter", []string{"table", "  table_row |a|b", "  table_row |`c`|d|e", "paragraph after"}},
		{"code keeps its lines and marks", "````go\na ```\n\n*b*\n````\n~~~\nc", []string{"code a ```\n\n*b* go", "code c plain text"}},
		{"quotes hold paragraphs and other blocks", "> a\n> b\n>\n> - c", []string{"quote a b", "  bulleted_list_item c"}},
		{"a line across", "a\n\n---\n***", []string{"paragraph a", "divider", "divider"}},
		{"marks inside text", "**a *b* c** _d_ snake_case_name ~~e~~ `f*` 2 * 3 * 4 \\*g\\* **`h`.** i", []string{
			"paragraph ^a ^^/b/^^ c^ /d/ snake_case_name ~e~ `f*` 2 * 3 * 4 *g* ^`h`^^.^ i",
		}},
		{"links", "[a **b**](https://example.org \"c\") <https://example.org/d> ![e](f.png) [g]", []string{
			"paragraph [a ](https://example.org)[^b^](https://example.org) [https://example.org/d](https://example.org/d) [e](f.png) [g]",
		}},
		{"an image alone", "![a](https://example.org/b.png)", []string{"image"}},
		{"Japanese", "## 見出し\n\n**太字**です。", []string{"heading_2 見出し", "paragraph ^太字^です。"}},
		{"nothing", "\n\n", nil},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			assert.Equal(t, c.want, load(t, c.text))
		})
	}

	t.Run("folders are parents, titles come from where they are said, and links lead to pages", func(t *testing.T) {
		t.Parallel()
		s := newStand(t, notiontest.ServerOptions{})
		files := fstest.MapFS{
			"a.md":            {Data: []byte("---\ntitle: \"Front\"\n---\n# Heading\n\nText, see [b](team/b.md#x).")},
			"team/b.md":       {Data: []byte("# B\n\nBack to [a](../a.md), out to [x](https://example.org).")},
			"team/index.md":   {Data: []byte("# The team\n\nWelcome. [b](b.md)")},
			"team/c.md":       {Data: []byte("No title")},
			"team/.hidden.md": {Data: []byte("x")},
			"team/d.txt":      {Data: []byte("x")},
			".git/e.md":       {Data: []byte("x")},
		}
		ids, err := s.LoadMarkdown("", files)
		require.NoError(t, err)
		require.Len(t, ids, 5)
		title := func(name string) any {
			block := s.get("/v1/blocks/" + ids[name]).body
			child, _ := block["child_page"].(object)
			return child["title"]
		}
		assert.Equal(t, "Front", title("a.md"))
		assert.Equal(t, "The team", title("team"))
		assert.Equal(t, "B", title("team/b.md"))
		assert.Equal(t, "c", title("team/c.md"))
		link := func(name string) string { return "/" + strings.ReplaceAll(ids[name], "-", "") }
		assert.Equal(t, []string{"heading_1 Heading", "paragraph Text, see [b](" + link("team/b.md") + ")."}, s.outline(ids["a.md"], ""))
		assert.Contains(t, s.outline(ids["team"], ""), "paragraph Welcome. [b]("+link("team/b.md")+")")
		assert.Equal(t, []string{"paragraph Back to [a](" + link("a.md") + "), out to [x](https://example.org)."}, s.outline(ids["team/b.md"], ""))
		assert.Equal(t, object{"type": "page_id", "page_id": ids["team"]}, s.get("/v1/pages/" + ids["team/c.md"]).body["parent"])
	})
}

// TestLoadTheHandbook loads the sample of a first run.
func TestLoadTheHandbook(t *testing.T) {
	t.Parallel()
	s := newStand(t, notiontest.ServerOptions{})
	root := s.page("Handbook")
	ids, err := s.LoadMarkdown(root, os.DirFS(filepath.Join("..", "..", "..", "..", "dev", "sample")))
	require.NoError(t, err)
	pages := 0
	types := map[string]int{}
	for name, id := range ids {
		got := s.get("/v1/pages/" + id)
		require.Equal(t, 200, got.status)
		if path.Ext(name) != ".md" {
			continue
		}
		pages++
		for _, line := range s.outline(id, "") {
			typ, _, _ := strings.Cut(strings.TrimSpace(line), " ")
			types[typ]++
			assert.NotContains(t, line, "**", "%s: a mark that wasn't read", name)
		}
	}
	assert.GreaterOrEqual(t, pages, 15)
	for _, typ := range []string{"paragraph", "heading_2", "bulleted_list_item", "numbered_list_item", "table", "table_row"} {
		assert.Positive(t, types[typ], typ)
	}
	assert.Len(t, s.post("/v1/search", nil).results(), len(ids)+1)
}
