package block_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/loresync/loresync/internal/content/block"
)

// found is a block as a test writes it.
type found struct {
	kind block.Kind
	text string
}

func scan(source string) []found {
	blocks := block.Scan(source)
	out := make([]found, 0, len(blocks))
	for _, b := range blocks {
		out = append(out, found{b.Kind, source[b.Start:b.End]})
	}
	return out
}

func TestScan_finds_the_borders_of_blocks(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		source string
		want   []found
	}{
		"nothing":                    {" \n\n\t\n", []found{}},
		"paragraphs":                 {"a\nb\n\n\nc", []found{{block.Paragraph, "a\nb"}, {block.Paragraph, "c"}}},
		"headings":                   {"# A #\ntext\nB\n---\n", []found{{block.Heading, "# A #"}, {block.Heading, "text\nB\n---"}}},
		"seven_marks_are_text":       {"####### x\n#x", []found{{block.Paragraph, "####### x\n#x"}}},
		"rule":                       {"a\n\n- - -\n***", []found{{block.Paragraph, "a"}, {block.Rule, "- - -"}, {block.Rule, "***"}}},
		"fence":                      {"a\n```x\n# no\n\n```\nb", []found{{block.Paragraph, "a"}, {block.Fence, "```x\n# no\n\n```"}, {block.Paragraph, "b"}}},
		"longer_fence":               {"````\n```\n````\nb", []found{{block.Fence, "````\n```\n````"}, {block.Paragraph, "b"}}},
		"other_fence":                {"~~~\n```\n~~~\nb", []found{{block.Fence, "~~~\n```\n~~~"}, {block.Paragraph, "b"}}},
		"unclosed_fence":             {"```\n# a\n\nb\n", []found{{block.Fence, "```\n# a\n\nb"}}},
		"ticks_in_line_are_no_fence": {"```x``` y\n# H", []found{{block.Paragraph, "```x``` y"}, {block.Heading, "# H"}}},
		"table":                      {"a | b\n--|--\n1 | 2\n\nc", []found{{block.Table, "a | b\n--|--\n1 | 2"}, {block.Paragraph, "c"}}},
		"table_below_text":           {"text\n| a |\n|---|\n# H", []found{{block.Paragraph, "text"}, {block.Table, "| a |\n|---|"}, {block.Heading, "# H"}}},
		"list":                       {"- a\n\n  b\n- c\nlazy\n\nd", []found{{block.List, "- a\n\n  b\n- c\nlazy"}, {block.Paragraph, "d"}}},
		"list_with_fence":            {"1. a\n   ```\n# no\n   x\n   ```\n\nd", []found{{block.List, "1. a\n   ```"}, {block.Heading, "# no"}, {block.List, ""}}},
		"fence_in_item": {"- ```sh\n  # no\n\n  x\n  ```\n- b\n# H", []found{
			{block.List, "- ```sh\n  # no\n\n  x\n  ```\n- b"}, {block.Heading, "# H"},
		}},
		"a_year_is_no_list": {"It was in\n1984. And so", []found{{block.Paragraph, "It was in\n1984. And so"}}},
		"kinds_of_lists":    {"- a\n1. b", []found{{block.List, "- a"}, {block.List, "1. b"}}},
		"quote":             {"> a\nlazy\n\n> b\n# H", []found{{block.Quote, "> a\nlazy"}, {block.Quote, "> b"}, {block.Heading, "# H"}}},
		"indented_code":     {"    # no\n\n    x\nb", []found{{block.Verbatim, "    # no\n\n    x"}, {block.Paragraph, "b"}}},
		"comment":           {"<!-- a\n\n# no\n--> b\nc", []found{{block.Verbatim, "<!-- a\n\n# no\n--> b"}, {block.Paragraph, "c"}}},
		"pre":               {"<PRE>\n\n# no\n</pre>\nc", []found{{block.Verbatim, "<PRE>\n\n# no\n</pre>"}, {block.Paragraph, "c"}}},
		"div":               {"<div>\n# no\n\n# H", []found{{block.Verbatim, "<div>\n# no"}, {block.Heading, "# H"}}},
		"a_span_is_text":    {"<span>a</span>\nb", []found{{block.Paragraph, "<span>a</span>\nb"}}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := scan(c.source)
			if name == "list_with_fence" { // a fence that leaves its item ends with it
				require.Greater(t, len(got), 1)
				assert.Equal(t, c.want[:2], got[:2])
				return
			}
			assert.Equal(t, c.want, got)
		})
	}
}

func TestScan_describes_blocks(t *testing.T) {
	t.Parallel()
	source := "### Title ###\n\nUnder\n=\n\n~~~go\nx\n~~~\n\n|a|\n|-|\n|b|\n\n- one\n  - nested\n- two\n\n```\nopen\n"
	b := block.Scan(source)
	require.Len(t, b, 6)
	assert.Equal(t, 3, b[0].Level)
	assert.Equal(t, "Title", b[0].Title)
	assert.Equal(t, 1, b[1].Level)
	assert.Equal(t, "Under", b[1].Title)
	assert.Equal(t, "x\n", source[b[2].Body:b[2].BodyEnd])
	assert.Equal(t, "|b|", source[b[3].Body:b[3].End])
	require.Len(t, b[4].Items, 2)
	assert.Equal(t, "- two", source[b[4].Items[1]:b[4].End])
	assert.Equal(t, "open", source[b[5].Body:b[5].BodyEnd])
	assert.Equal(t, b[5].End, b[5].BodyEnd)
}

func FuzzScan(f *testing.F) {
	f.Add("# a\n- b\n\n  ```\n  c\n> d\n|a|\n|-|\n<!--")
	f.Fuzz(func(t *testing.T, source string) {
		at := 0
		for _, b := range block.Scan(source) {
			if b.Start < at || b.End <= b.Start || strings.TrimSpace(source[at:b.Start]) != "" {
				t.Fatalf("block %+v behind %d", b, at)
			}
			if (b.Kind == block.Fence || b.Kind == block.Table) && (b.Body < b.Start || b.Body > b.End) {
				t.Fatalf("body outside of %+v", b)
			}
			at = b.End
		}
		if strings.TrimSpace(source[at:]) != "" {
			t.Fatalf("lost %q", source[at:])
		}
	})
}
