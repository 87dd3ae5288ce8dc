package document_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"pgregory.net/rapid"

	"github.com/loresync/loresync/internal/source/notion/document"
)

func TestRichText(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		runs []any
		want string
	}{
		{
			"R001: spaces at the edge of bold stay outside of the delimiters",
			[]any{run("This is a "), run("bold ", "bold"), run("word")},
			"This is a **bold** word",
		},
		{"R001: a bold space gets no delimiters", []any{run("a"), run(" ", "bold"), run("b")}, "a b"},
		{"R001: bold and italic neighbours that touch are told apart", []any{run("a", "bold"), run("b", "italic")}, "**a***b*"},
		{"bold that becomes bold and italic nests", []any{run("a ", "bold"), run("b", "bold", "italic"), run(" c", "bold")}, "**a *b* c**"},
		{"italic around bold nests the other way", []any{run("a ", "italic"), run("b", "bold", "italic"), run(" c", "italic")}, "*a **b** c*"},
		{"equal neighbours are one", []any{run("a", "bold"), run("b", "bold")}, "**ab**"},
		{"colour and underline have no sign", []any{run("a", "underline"), run("b")}, "ab"},
		{"Japanese brackets stay outside of bold", []any{run("これは"), run("「大切」", "bold"), run("です")}, "これは「**大切**」です"},
		{"all annotations at once", []any{run("x", "bold", "italic", "strikethrough", "code")}, "~~***`x`***~~"},
		{
			"a link stands outside of its emphasis",
			[]any{object{"type": "text", "plain_text": "x", "href": "https://e.org/a b", "annotations": object{"bold": true}}},
			"[**x**](https://e.org/a%20b)",
		},
		{"an address that shows itself is an autolink", []any{linked("https://e.org/a", "https://e.org/a")}, "<https://e.org/a>"},
		{"an exclamation mark before a link makes no image", []any{run("Go!"), linked("there", "https://e.org")}, `Go\![there](https://e.org)`},
		{"an exclamation mark elsewhere stays as it is", []any{run("Go", "bold"), run("!")}, "**Go**!"},
		{"a script is no link", []any{linked("x", "javascript:alert(1)")}, "x"},
		{"a signature is cut off a link", []any{linked("x", "https://s3.example/f.pdf?X-Amz-Signature=abc")}, "[x](https://s3.example/f.pdf)"},
		{
			"a relative link leads to Notion",
			[]any{linked("x", "/0123456789abcdef0123456789abcdef")},
			"[x](https://www.notion.so/0123456789abcdef0123456789abcdef)",
		},
		{"an underscore within a word is left alone", []any{run("snake_case _x_")}, `snake_case \_x\_`},
		{"signs in the middle of a line are left alone", []any{run("a # b - c > d 1. e")}, "a # b - c > d 1. e"},
		{"a number sign at the start is text", []any{run("# x")}, `\# x`},
		{"a tag is text and a comparison needs no escape", []any{run("<b> 1 < 2")}, `\<b> 1 < 2`},
		{"a character reference is text", []any{run("&amp; AT&T")}, `\&amp; AT&T`},
		{"lines keep their breaks and their first signs", []any{run("a\n- b\n\n1. c")}, "a  \n\\- b  \n1\\. c"},
		{"code with backticks", []any{run("a`b", "code"), run(" "), run("`", "code")}, "``a`b`` `` ` ``"},
		{"an equation", []any{object{"type": "equation", "plain_text": "x^2", "equation": object{"expression": "x^2"}}}, "$x^2$"},
		{
			"a date with range and zone",
			[]any{mention("date", object{"start": "2026-02-01T10:00:00.000+09:00", "end": "2026-02-02", "time_zone": "Asia/Tokyo"}, "M")},
			"2026-02-01 10:00 UTC+09:00 → 2026-02-02 Asia/Tokyo",
		},
		{"a page", []any{mention("page", object{"id": "a-b"}, "Plan")}, "[Plan](https://www.notion.so/ab)"},
		{"a person", []any{mention("user", object{"id": "u"}, "@Ada")}, "@Ada"},
		{"a person without a text", []any{mention("user", object{"name": "Ada"}, "")}, "@Ada"},
		{"a link mention", []any{mention("link_mention", object{"href": "https://e.org", "title": "E"}, "")}, "[E](https://e.org)"},
		{"a custom emoji", []any{mention("custom_emoji", object{"name": "ok"}, "")}, ":ok:"},
		{"a template mention", []any{mention("template_mention", object{"type": "template_mention_date", "template_mention_date": "today"}, "")}, "today"},
		{"an unknown mention keeps its text", []any{mention("hologram", object{}, "@H")}, "@H"},
		{"an unknown type keeps its text", []any{object{"type": "custom", "annotations": nil, "plain_text": "P", "href": nil}}, "P"},
		{"R021 and R037: NUL and lone surrogates", []any{run("a\x00b\ufffd")}, "ab\ufffd"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			assert.Equal(t, c.want+"\n", render(block(t, "paragraph", object{"rich_text": c.runs})))
		})
	}
}

func mention(kind string, value object, plain string) object {
	return object{"type": "mention", "plain_text": plain, "mention": object{"type": kind, kind: value}}
}

func TestUntitledPageIsNamedByTheResolver(t *testing.T) {
	t.Parallel()
	markdown, _ := document.Markdown(document.Document{
		Blocks: []*document.Block{block(t, "paragraph", object{"rich_text": []any{mention("page", object{"id": "p1"}, "Untitled")}})},
		Links:  func(id string) (string, string, bool) { return "Known [" + id + "]", "https://kb/p1", true },
	})
	assert.Equal(t, "[Known \\[p1\\]](https://kb/p1)\n", markdown)
}

// pieces are what is awkward in Markdown, beside what is usual.
var pieces = []string{
	"a", "word", " ", "  ", "\n", "*", "_", "`", "~", "~~", "[", "]", "(", ")", "<", ">", "!", "|", "\\", "#", "# ", "- ", "+ ",
	"1.", "2) ", "=", "===", "---", ":-", "&amp;", "&", "日本", "「", "」", "。", "é", "😀", "5", "~5", "a_b", "https://e.org", "$", ".", "\u3000", "\u00a0",
}

var annotationNames = []string{"bold", "italic", "strikethrough", "code", "underline"}

// TestRichTextReadsBack draws rich text and reads the Markdown by another parser: the text must be the same, whatever signs
// it holds, and stay in one paragraph.
func TestRichTextReadsBack(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		runs := make([]any, rapid.IntRange(1, 6).Draw(rt, "runs"))
		var all strings.Builder
		for i := range runs {
			content := strings.Join(rapid.SliceOfN(rapid.SampledFrom(pieces), 1, 4).Draw(rt, "pieces"), "")
			r := run(content, rapid.SliceOfNDistinct(rapid.SampledFrom(annotationNames), 0, 3, rapid.ID).Draw(rt, "annotations")...)
			if rapid.IntRange(0, 4).Draw(rt, "linked") == 0 {
				r["href"] = rapid.SampledFrom([]string{"https://e.org/(x)", "https://e.org/?a=1&b=2"}).Draw(rt, "href")
			}
			runs[i] = r
			all.WriteString(content)
		}
		want := all.String()
		for _, kind := range []string{"paragraph", "heading_2", "bulleted_list_item", "quote"} {
			markdown := render(block(t, kind, object{"rich_text": runs}))
			if got := shown(t, markdown); got != fold(want) {
				rt.Fatalf("%s: text changed\nwant %q\ngot  %q\nmarkdown %q", kind, fold(want), got, markdown)
			}
		}
		row := block(t, "table_row", object{"cells": []any{runs, []any{run("end")}}})
		markdown := render(block(t, "table", object{"has_column_header": true}, row))
		if got := shown(t, markdown); got != fold(want+" end") {
			rt.Fatalf("cell: text changed\nwant %q\ngot  %q\nmarkdown %q", fold(want+" end"), got, markdown)
		}
	})
}
