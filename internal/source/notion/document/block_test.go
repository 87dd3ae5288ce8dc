package document_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/loresync/loresync/internal/source/notion/document"
)

func TestDecodeBlock(t *testing.T) {
	t.Parallel()
	t.Run("keeps what a future type says of itself", func(t *testing.T) {
		t.Parallel()
		b, err := document.DecodeBlock(json.RawMessage(`{"object":"block","id":"x","type":"brand_new","has_children":true,
			"archived":true,"last_edited_time":"2026-07-04T09:08:00.000Z","brand_new":{"a":1}}`))
		require.NoError(t, err)
		assert.Equal(t, document.Block{
			ID: "x", Type: "brand_new", HasChildren: true, InTrash: true, LastEdited: time.Date(2026, 7, 4, 9, 8, 0, 0, time.UTC),
			Payload: json.RawMessage(`{"a":1}`),
		}, b)
	})
	t.Run("tells what an unsupported block is", func(t *testing.T) {
		t.Parallel()
		b, err := document.DecodeBlock(json.RawMessage(`{"id":"x","type":"unsupported","unsupported":{"block_type":"form"}}`))
		require.NoError(t, err)
		assert.Equal(t, "form", b.BlockType)
	})
	t.Run("R062: a list with strange items loses none of the others", func(t *testing.T) {
		t.Parallel()
		blocks := document.DecodeBlocks([]json.RawMessage{
			encode(t, object{"id": "a", "type": "paragraph", "paragraph": object{"rich_text": []any{run("before")}}}),
			json.RawMessage(`null`), json.RawMessage(`"x"`), json.RawMessage(`[1]`), json.RawMessage(`{"object":"block","id":"c0"}`),
			json.RawMessage(`{"object":"block","id":"c1","type":null}`), json.RawMessage(`{"id":5,"type":"unsupported","unsupported":[]}`),
			json.RawMessage(`{"id":"d","type":"brand_new","brand_new":{"body":{"rich_text":[{"plain_text":"inside"}]}}}`),
			json.RawMessage(`{"id":"e","type":"paragraph","paragraph":{"rich_text":[{"plain_text":7},{"plain_text":"half"},null]}}`),
			encode(t, object{"id": "f", "type": "paragraph", "paragraph": object{"rich_text": []any{run("after")}}}),
		})
		require.Len(t, blocks, 10)
		markdown, report := document.Markdown(document.Document{Blocks: blocks})
		assert.Equal(t, strings.Join([]string{
			"before", "[unreadable block]", "[unreadable block]", "[unreadable block]", "[unreadable block]", "[unreadable block]",
			"[unsupported block: unsupported]", "[unsupported block: brand_new]", "inside", "half", "after\n",
		}, "\n\n"), markdown)
		assert.Equal(t, 6, report.Unreadable, "five items and a number in the place of a text")
		assert.Equal(t, map[string]int{"unsupported": 1, "brand_new": 1}, report.Unsupported)
		assert.InDelta(t, 4.0/11, report.Searchable, 1e-9)
	})
}

func item(tb testing.TB, content string, children ...*document.Block) *document.Block {
	tb.Helper()
	return text(tb, "numbered_list_item", content, children...)
}

func TestLists(t *testing.T) {
	t.Parallel()
	formatted := func(format string, start int) *document.Block {
		payload := object{"rich_text": []any{run("x")}, "list_format": format}
		if start > 0 {
			payload["list_start_index"] = start
		}
		return block(t, "numbered_list_item", payload)
	}
	bullet := func(content string, children ...*document.Block) *document.Block {
		return text(t, "bulleted_list_item", content, children...)
	}
	twelve := make([]*document.Block, 12)
	for i := range twelve {
		twelve[i] = item(t, "x")
	}
	twelve[11] = item(t, "x", item(t, "y"))
	for _, c := range []struct {
		name    string
		blocks  []*document.Block
		want    string
		outline string
	}{
		{
			"R043: numbers go on around nested items and restart behind text",
			[]*document.Block{item(t, "a"), item(t, "b"), item(t, "c", item(t, "i"), item(t, "ii")), item(t, "d"), text(t, "paragraph", "p"), item(t, "e")},
			"1. a\n2. b\n3. c\n   1. i\n   2. ii\n4. d\n\np\n\n1. e\n", "ol(li,li,li(ol(li,li)),li),p,ol(li)",
		},
		{
			"R043: nested items stand below the text of a wide number", twelve,
			strings.ReplaceAll("1. x|2. x|3. x|4. x|5. x|6. x|7. x|8. x|9. x|10. x|11. x|12. x|    1. y|", "|", "\n"),
			"ol(li,li,li,li,li,li,li,li,li,li,li,li(ol(li)))",
		},
		{
			"an empty paragraph ends a list, and another delimiter shows it",
			[]*document.Block{item(t, "a"), text(t, "paragraph", ""), item(t, "b")},
			"1. a\n\n1) b\n", "ol(li),ol(li)",
		},
		{"a list begins where it says", []*document.Block{formatted("numbers", 4), formatted("numbers", 0)}, "4. x\n5. x\n", "ol(li,li)"},
		{
			"letters and Roman numerals are spelled out",
			[]*document.Block{formatted("letters", 26), formatted("letters", 0), text(t, "divider", ""), formatted("roman", 9)},
			"- z. x\n- aa. x\n\n---\n\n- ix. x\n", "ul(li,li),hr,ul(li)",
		},
		{
			"bullets and numbers that touch are two lists",
			[]*document.Block{bullet("a"), item(t, "b"), item(t, "c"), bullet("d")},
			"- a\n\n1. b\n2. c\n\n- d\n", "ul(li),ol(li,li),ul(li)",
		},
		{
			"a nested list that doesn't begin at one is no text of its parent",
			[]*document.Block{bullet("a", formatted("numbers", 7))},
			"- a\n\n  7. x\n", "ul(li(p,ol(li)))",
		},
		{"an item without text keeps its children", []*document.Block{bullet("", bullet("x"))}, "- - x\n", "ul(li(ul(li)))"},
		{
			"an item's paragraphs, code and quotes stay in the item",
			[]*document.Block{
				bullet("a", text(t, "paragraph", "p"), block(t, "code", object{"rich_text": []any{run("x\n\n  y")}}), text(t, "quote", "q")), bullet("b"),
			},
			"- a\n\n  p\n\n  ```\n  x\n\n    y\n  ```\n\n  > q\n- b\n", "ul(li(p,p,pre(code),blockquote(p)),li(p))",
		},
		{
			"to-dos show whether they are done",
			[]*document.Block{block(t, "to_do", object{"rich_text": []any{run("[x] a")}, "checked": true}), text(t, "to_do", "b")},
			"- [x] \\[x] a\n- [ ] b\n", "ul(li(input),li(input))",
		},
		{"the old name of rich text is read", []*document.Block{block(t, "to_do", object{"text": []any{run("a")}})}, "- [ ] a\n", "ul(li(input))"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			markdown := render(c.blocks...)
			assert.Equal(t, c.want, markdown)
			assert.Equal(t, c.outline, outline(t, markdown))
		})
	}
}

func TestBlocks(t *testing.T) {
	t.Parallel()
	row := func(cells ...string) *document.Block {
		all := make([]any, len(cells))
		for i, c := range cells {
			all[i] = []any{run(c)}
		}
		return block(t, "table_row", object{"cells": all})
	}
	shared := func(why document.Missing) *document.Block {
		b := block(t, "synced_block", object{"synced_from": object{"type": "block_id", "block_id": "o"}})
		b.HasChildren, b.Missing = true, why
		return b
	}
	for _, c := range []struct {
		name string
		b    *document.Block
		want string
	}{
		{
			"R026: what is below a toggle heading isn't indented",
			block(t, "heading_2", object{"rich_text": []any{run("H")}, "is_toggleable": true}, text(t, "heading_3", "S"), text(t, "paragraph", "p")),
			"## H\n\n### S\n\np\n",
		},
		{"a heading that ends in a number sign keeps it", text(t, "heading_1", "C #"), "# C \\#\n"},
		{"a heading of level four", text(t, "heading_4", "a\nb"), "#### a b\n"},
		{"a toggle shows its summary in bold", text(t, "toggle", "1. More", text(t, "paragraph", "p")), "**1. More**\n\np\n"},
		{
			"a callout quotes all that is in it",
			block(t, "callout", object{"rich_text": []any{run("Mind")}, "icon": object{"type": "emoji", "emoji": "💡"}}, text(t, "bulleted_list_item", "x")),
			"> 💡 Mind\n>\n> - x\n",
		},
		{
			"a fence is longer than any in the code",
			block(t, "code", object{"rich_text": []any{run("````\n# x\n````")}, "language": "shell", "caption": []any{run("Cap")}}),
			"`````shell\n````\n# x\n````\n`````\n\nCap\n",
		},
		{"an equation keeps its lines where they are no list", block(t, "equation", object{"expression": "a\n= b\n- c"}), "$$\na\n= b - c\n$$\n"},
		{
			"R094: a table has all its cells",
			block(t, "table", object{"has_column_header": true, "has_row_header": true}, row("k", "a|b"), row("x", "1\n2"), row("y")),
			"| **k** | a\\|b |\n| --- | --- |\n| **x** | 1<br>2 |\n| **y** |  |\n",
		},
		{"a table without a header row has an empty one", block(t, "table", object{}, row("a", "b")), "|  |  |\n| --- | --- |\n| a | b |\n"},
		{
			"columns come in their order",
			block(t, "column_list", object{}, block(t, "column", object{}, text(t, "paragraph", "l")), block(t, "column", object{}, text(t, "paragraph", "r"))),
			"l\n\nr\n",
		},
		{"tabs show their labels", block(t, "tab", object{}, text(t, "paragraph", "One", text(t, "paragraph", "p"))), "**One**\n\np\n"},
		{"a copy whose original isn't shared says so", shared(document.MissingUnshared), "[synced block: its original is not shared]\n"},
		{"children beyond the limit are named", shared(document.MissingLimit), "[content beyond the limit of this page]\n"},
		{"R015: children that Notion refuses are named", shared(document.MissingError), "[content that could not be read]\n"},
		{
			"an external image has its address",
			block(t, "image", object{"type": "external", "external": object{"url": "https://e.org/a.png"}, "caption": []any{run("A [b]")}}),
			"![A \\[b\\]](https://e.org/a.png)\n",
		},
		{
			"a file of Notion's has no signed address",
			block(t, "pdf", object{"type": "file", "file": object{"url": "https://s3/x/My%20Plan.pdf?X-Amz-Signature=1", "expiry_time": "2026-11-30T21:00:00.000Z"}}),
			"[My Plan.pdf](notion://block/)\n",
		},
		{"a bookmark without a caption shows its address", block(t, "bookmark", object{"url": "https://e.org/a_b"}), "<https://e.org/a_b>\n"},
		{"an embed without an address is nothing", block(t, "embed", object{"url": nil, "caption": nil}), ""},
		{"what Notion builds itself is left out", block(t, "table_of_contents", object{}), ""},
		{
			"meeting notes name their parts",
			block(t, "meeting_notes", object{
				"title": []any{run("Weekly")}, "calendar_event": object{"start_time": "2026-02-01T10:00:00Z"},
			}, text(t, "paragraph", "n")),
			"**Weekly** (2026-02-01 10:00 UTC)\n\nn\n",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			assert.Equal(t, c.want, render(c.b))
		})
	}
}

func TestBoundedTrees(t *testing.T) {
	t.Parallel()
	t.Run("R093: a block among its own descendants ends the branch", func(t *testing.T) {
		t.Parallel()
		a, b := text(t, "toggle", "a"), text(t, "toggle", "b")
		a.ID, b.ID = "a", "b"
		a.Children, b.Children = []*document.Block{b}, []*document.Block{a, text(t, "paragraph", "end")}
		markdown, report := document.Markdown(document.Document{Blocks: []*document.Block{a}})
		assert.Equal(t, "**a**\n\n**b**\n\n[a block that contains itself]\n\nend\n", markdown)
		assert.Equal(t, 1, report.Truncated)
	})
	t.Run("endless depth ends with a placeholder", func(t *testing.T) {
		t.Parallel()
		b := text(t, "bulleted_list_item", "leaf")
		for range 500 {
			b = text(t, "bulleted_list_item", "x", b)
		}
		markdown, report := document.Markdown(document.Document{Blocks: []*document.Block{b}})
		assert.Contains(t, markdown, "[content nested too deeply]")
		assert.Equal(t, 1, report.Truncated)
	})
	t.Run("blocks that share children a million times over end", func(t *testing.T) {
		t.Parallel()
		b := text(t, "column", "")
		for range 40 {
			b = block(t, "column", object{}, b, b)
		}
		_, report := document.Markdown(document.Document{Blocks: []*document.Block{b}})
		assert.Positive(t, report.Truncated)
		assert.LessOrEqual(t, report.Blocks, 100_000)
	})
	t.Run("blocks in the trash are left out and counted", func(t *testing.T) {
		t.Parallel()
		b := text(t, "paragraph", "gone")
		b.InTrash = true
		markdown, report := document.Markdown(document.Document{Blocks: []*document.Block{b}})
		assert.Empty(t, markdown)
		assert.Equal(t, 1, report.Skipped)
	})
}

func TestUnreadableDatabaseKeepsItsPage(t *testing.T) {
	t.Parallel()
	linkedView := block(t, "child_database", object{"title": "View"})
	linkedView.ID, linkedView.Missing = "d1", document.MissingUnshared
	markdown, report := document.Markdown(document.Document{
		Blocks: []*document.Block{text(t, "paragraph", "before"), linkedView, text(t, "paragraph", "after")},
	})
	assert.Equal(t, "before\n\n[View](https://www.notion.so/d1)\n\nafter\n", markdown, "R014")
	assert.Equal(t, 1, report.Unreadable)
	assert.Len(t, report.Notes, 1)
}
