package chunk_test

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/loresync/loresync/internal/content/chunk"
)

// small makes chunks small enough for a test to be read.
var small = chunk.Options{TargetRunes: 80, MaxRunes: 160}

func TestSplit_of_a_page_without_text_has_no_chunks(t *testing.T) {
	t.Parallel()
	for _, page := range []string{"", "\n\n", " \t\n", "---\n", "***\n\n* * *\n"} {
		assert.Empty(t, chunk.Split(page, chunk.Options{}), "%q", page)
	}
}

func TestSplit_keeps_a_short_page_whole(t *testing.T) {
	t.Parallel()
	page := "# Leave\n\nAsk your lead.\n\n## Sick leave\n\nCall in.\n"
	chunks := chunk.Split(page, chunk.Options{})
	require.Len(t, chunks, 1)
	assert.Equal(t, strings.TrimSpace(page), chunks[0].Text)
	assert.Equal(t, []string{"Leave"}, chunks[0].HeadingPath, "what both paragraphs stand below")
}

func TestSplit_cuts_at_headings_and_knows_the_path(t *testing.T) {
	t.Parallel()
	filler := strings.Repeat("A sentence about this. ", 4)
	page := "Before any heading. " + filler + "\n\n# One\n\n" + filler + "\n\n## *Two* `x`\n\n" + filler +
		"\n\nThree\n=====\n\n" + filler
	chunks := chunk.Split(page, small)
	require.Len(t, chunks, 4)
	assert.Equal(t, []string{}, chunks[0].HeadingPath)
	assert.Equal(t, []string{"One"}, chunks[1].HeadingPath)
	assert.Equal(t, []string{"One", "Two x"}, chunks[2].HeadingPath)
	assert.Equal(t, []string{"Three"}, chunks[3].HeadingPath)
	for i, c := range chunks {
		assert.Equal(t, i, c.Index)
		assert.Equal(t, page[c.Start:c.End], c.Text)
	}
}

func TestSplit_takes_no_line_of_code_for_a_heading(t *testing.T) {
	t.Parallel()
	filler := strings.Repeat("x = 1\n", 20)
	for name, code := range map[string]string{
		"backticks":               "```sh\n# no\n" + filler + "```",
		"tildes":                  "~~~\n# no\n" + filler + "~~~",
		"four_around_three":       "````md\n```\n# no\n```\n# no\n" + filler + "````",
		"never_closed":            "```\n# no\n" + filler,
		"inside_a_list":           "- item\n\n  ```sh\n  # no\n" + filler2("  ") + "  ```",
		"inside_a_quote":          "> ```\n> # no\n" + filler2("> ") + "> ```",
		"indented":                "    # no\n" + filler2("    "),
		"closed_by_nothing_wrong": "```sh\n# no\n``` not closing\n~~~\n# no\n" + filler + "```",
		"comment":                 "<!--\n# no\n\n# no\n" + filler + "-->",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			page := "# T\n\n" + code
			if name != "never_closed" {
				page += "\n\n# Next\n\n" + strings.Repeat("The end of it. ", 6)
			}
			for _, c := range chunk.Split(page, small) {
				assert.NotContains(t, c.HeadingPath, "no")
			}
		})
	}
}

func filler2(prefix string) string { return strings.Repeat(prefix+"x = 1\n", 20) }

func TestSplit_keeps_a_fence_table_or_list_that_fits_whole(t *testing.T) {
	t.Parallel()
	filler := strings.Repeat("Some text in front of it. ", 20)
	for _, whole := range []string{
		"```go\n" + strings.Repeat("x := 1\n\n", 10) + "```",
		"| a | b |\n|---|---|\n" + strings.Repeat("| 1 | 2 |\n", 8) + "| 3 | 4 |",
		"- one\n- two\n\n  more of two\n- three\n  - nested\n- four is the last item",
	} {
		page := filler + "\n\n" + whole + "\n\n" + filler
		assert.Condition(t, func() bool {
			for _, c := range chunk.Split(page, small) {
				if strings.Contains(c.Text, whole) {
					return true
				}
			}
			return false
		}, whole)
	}
}

func TestSplit_opens_a_cut_fence_again(t *testing.T) {
	t.Parallel()
	code := strings.Repeat("fmt.Println(\"a line of code\")\n", 30)
	chunks := chunk.Split("~~~~go run\n"+code+"~~~~\n", small)
	require.Greater(t, len(chunks), 3)
	for _, c := range chunks {
		assert.True(t, strings.HasPrefix(c.Text, "~~~~go run\n"), c.Text)
		assert.True(t, strings.HasSuffix(c.Text, "\n~~~~"), c.Text)
		assert.Equal(t, 2, strings.Count(c.Text, "~~~~"))
	}
}

func TestSplit_opens_a_cut_fence_of_a_list_item_again(t *testing.T) {
	t.Parallel()
	page := "- Run this:\n\n  ```sh\n" + strings.Repeat("  make all && make install\n", 30) + "  ```\n\n  Then rest.\n- Done\n"
	for _, c := range chunk.Split(page, small) {
		assert.Zero(t, strings.Count(c.Text, "```")%2, c.Text)
	}
}

func TestSplit_repeats_the_header_of_a_cut_table(t *testing.T) {
	t.Parallel()
	head := "|Who|Age|\n|---|---|"
	rows := strings.Repeat("| somebody with a name | 42 |\n", 30)
	chunks := chunk.Split(head+"\n"+rows, small)
	require.Greater(t, len(chunks), 3)
	for _, c := range chunks {
		assert.True(t, strings.HasPrefix(c.Text, head+"\n| somebody"), c.Text)
		assert.Equal(t, 1, strings.Count(c.Text, "|---|"))
	}
}

func TestSplit_cuts_a_long_list_between_its_items(t *testing.T) {
	t.Parallel()
	page := strings.Repeat("- An item of some length, to be kept in one piece\n  that goes on here\n", 20)
	chunks := chunk.Split(page, small)
	require.Greater(t, len(chunks), 3)
	for _, c := range chunks {
		assert.True(t, strings.HasPrefix(c.Text, "- An item"), c.Text)
		assert.True(t, strings.HasSuffix(c.Text, "goes on here"), c.Text)
	}
}

func TestSplit_cuts_a_long_paragraph_at_sentence_ends(t *testing.T) {
	t.Parallel()
	for name, page := range map[string]string{
		"english":  numbered("This is sentence number %, see e.g. the last one! "),
		"japanese": numbered("これは%番目の文です。"),
		"quotes":   numbered("彼は「%番です。」と言った？"),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			chunks := chunk.Split(page, small)
			require.Greater(t, len(chunks), 3)
			for _, c := range chunks {
				last, _ := utf8.DecodeLastRuneInString(c.Text)
				assert.Contains(t, "!。？", string(last), c.Text)
			}
		})
	}
}

func numbered(format string) string {
	var b strings.Builder
	for i := range 40 {
		b.WriteString(strings.ReplaceAll(format, "%", strings.Repeat("i", i%7+1)))
	}
	return b.String()
}

func TestSplit_cuts_text_without_sentences_at_white_space_or_between_clusters(t *testing.T) {
	t.Parallel()
	words := strings.Repeat("lorem ipsum dolor ", 50)
	for _, c := range chunk.Split(words, small) {
		assert.Subset(t, []string{"lorem", "ipsum", "dolor"}, strings.Fields(c.Text))
	}
	family := "👩‍👩‍👧"
	for _, c := range chunk.Split(strings.Repeat(family, 200), small) {
		assert.Empty(t, strings.ReplaceAll(c.Text, family, ""), "no cluster is cut")
	}
}

func TestSplit_bounds_what_has_no_border_at_all(t *testing.T) {
	t.Parallel()
	for name, page := range map[string]string{
		"a_cluster_without_end":   "a" + strings.Repeat("\u0301", 10_000),
		"a_blank_run":             "A" + strings.Repeat(" ", 5000) + "B",
		"a_fence_of_blank_lines":  "```\n" + strings.Repeat("\n", 5000) + "```",
		"an_opening_line":         "```" + strings.Repeat("x", 5000) + "\na\n```",
		"a_closing_line":          "```\na\n" + strings.Repeat("`", 5000),
		"a_heading":               "# " + strings.Repeat("word ", 1000),
		"headings_only":           strings.Repeat("# word\n", 1000),
		"a_table_header":          "|" + strings.Repeat("a|", 2000) + "\n|" + strings.Repeat("-|", 2000) + "\n|1|",
		"one_line_again_and_over": strings.Repeat("same\n\n", 2000),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			chunks := chunk.Split(page, small)
			require.NotEmpty(t, chunks)
			checkInvariants(t, page, chunks, small.MaxRunes)
		})
	}
}

// checkInvariants is what holds for every page: order, cover, size, no blanks.
func checkInvariants(t require.TestingT, page string, chunks []chunk.Chunk, limit int) {
	at := 0
	for i, c := range chunks {
		require.Equal(t, i, c.Index)
		require.GreaterOrEqual(t, c.Start, at)
		require.True(t, droppable(page[at:c.Start]), "lost: %q", page[at:c.Start])
		require.NotEmpty(t, strings.TrimSpace(page[c.Start:c.End]))
		require.Contains(t, c.Text, page[c.Start:c.End])
		require.LessOrEqual(t, utf8.RuneCountInString(page[c.Start:c.End]), limit)
		require.LessOrEqual(t, utf8.RuneCountInString(c.Text), limit+limit/3)
		require.NotNil(t, c.HeadingPath)
		require.Equal(t, utf8.ValidString(page), utf8.ValidString(page) && utf8.ValidString(c.Text))
		at = c.End
	}
	require.True(t, droppable(page[at:]), "lost: %q", page[at:])
}

// droppable says whether s is white space and thematic breaks.
func droppable(s string) bool {
	for line := range strings.SplitSeq(s, "\n") {
		line = strings.TrimFunc(line, unicode.IsSpace)
		if line != "" && (len(line) < 3 || strings.Trim(line, "*-_ \t") != "") {
			return false
		}
	}
	return true
}

func TestTextHash_covers_path_and_text(t *testing.T) {
	t.Parallel()
	c := chunk.Chunk{HeadingPath: []string{"A", "B"}, Text: "text"}
	assert.Equal(t, "A > B\n\ntext", chunk.EmbeddingText(c))
	moved, below := c, c
	moved.Index, moved.Start, moved.End = 7, 100, 104
	below.HeadingPath = []string{"A"}
	assert.Equal(t, chunk.TextHash(c), chunk.TextHash(moved), "a chunk that only moved is embedded already")
	assert.NotEqual(t, chunk.TextHash(c), chunk.TextHash(below))
}
