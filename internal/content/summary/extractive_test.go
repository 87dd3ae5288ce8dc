package summary_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/loresync/loresync/internal/content/chunk"
	"github.com/loresync/loresync/internal/content/embed"
	"github.com/loresync/loresync/internal/content/render"
	"github.com/loresync/loresync/internal/content/summary"
	"github.com/loresync/loresync/internal/content/terms"
)

var (
	_ summary.Summarizer = summary.Extractive{}
	_ summary.Summarizer = (*summary.OpenAI)(nil)
)

func extract(t require.TestingT, title, markdown string) string {
	s, err := summary.Extractive{}.Summarize(context.Background(), title, markdown)
	require.NoError(t, err)
	return s
}

func TestExtractive_picks_plain_sentences_about_the_subject(t *testing.T) {
	t.Parallel()
	got := extract(t, "Paid leave", `# Paid leave

**Paid leave** is time off with [full pay](https://example.com/pay). Weather was fine.

`+"```sh\n# paid leave in code\n```"+`

Apply for paid leave in the portal at least two weeks before the leave begins. See also:

- item
`)
	assert.Equal(t, "Paid leave is time off with full pay. Weather was fine. "+
		"Apply for paid leave in the portal at least two weeks before the leave begins.", got)
}

func TestExtractive_leaves_the_least_telling_sentences_out(t *testing.T) {
	t.Parallel()
	got := extract(t, "Backups", `Backups run every night at two and are kept for thirty days in another region.
Lunch is served downstairs. The sky is blue today and the birds sing in the garden. Someone painted a wall.

A restore from backups is tested each month, so that backups can be trusted when they are needed.`)
	assert.Contains(t, got, "Backups run every night")
	assert.Contains(t, got, "A restore from backups")
	assert.NotContains(t, got, "painted")
}

func TestExtractive_reads_japanese(t *testing.T) {
	t.Parallel()
	got := extract(t, "有給休暇", "# 有給休暇\n\n有給休暇は年に20日付与されます。**申請**はポータルから行います。\n上長の承認が必要です。有給休暇の残日数はポータルで確認できます。天気は晴れです。\n")
	assert.Contains(t, got, "有給休暇は年に20日付与されます。")
	assert.NotContains(t, got, "天気")
	assert.NotContains(t, got, " ")
}

func TestExtractive_takes_what_there_is_when_there_is_no_prose(t *testing.T) {
	t.Parallel()
	assert.Empty(t, extract(t, "T", ""))
	assert.Empty(t, extract(t, "T", "---\n\n...\n"))
	assert.Equal(t, "First in 2024 second", extract(t, "", "1. First in 2024\n2. second\n"))
	assert.Equal(t, "A heading", extract(t, "", "## A heading\n"))
	assert.Equal(t, "Name Age Bob 42", extract(t, "", "| Name | Age |\n|---|---|\n| Bob | 42 |\n"))
}

func TestExtractive_shortens_a_sentence_that_is_too_long(t *testing.T) {
	t.Parallel()
	got := extract(t, "", strings.Repeat("とても長い文が続き", 100))
	assert.Equal(t, 300, utf8.RuneCountInString(got))
	assert.True(t, strings.HasSuffix(got, "…"))
}

func TestExtractive_stays_within_its_bounds_and_says_the_same_each_time(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		page := strings.Join(rapid.SliceOf(rapid.OneOf(
			rapid.String(), rapid.StringMatching(`([A-Z][a-z]{0,9}( [a-z]{1,9}){0,20}[.!?] ){0,3}`),
			rapid.StringMatching(`[ぁ-ん。]{0,200}`), rapid.SampledFrom([]string{"```", "\n\n", "# x", "- y", "| a | b |\n|---|---|"}),
		)).Draw(t, "parts"), "\n")
		got := extract(t, "Title", page)
		require.LessOrEqual(t, utf8.RuneCountInString(got), 300)
		require.NotContains(t, got, "\n")
		require.Equal(t, got, extract(t, "Title", page))
	})
}

// TestExtractive_says_something_about_every_page_of_the_handbooks runs where the
// real handbooks are.
func TestExtractive_says_something_about_every_page_of_the_handbooks(t *testing.T) {
	t.Parallel()
	root := filepath.Join("..", "..", "..", "..", "shared", "corpora")
	for _, folder := range []string{"handbook-en/*/*.md", "handbook-ja/*/*.md"} {
		pages, err := filepath.Glob(filepath.Join(root, folder))
		require.NoError(t, err)
		if len(pages) == 0 {
			t.Skip("the handbooks aren't here")
		}
		for _, page := range pages {
			raw, err := os.ReadFile(page)
			require.NoError(t, err)
			doc, err := render.Markdown(raw)
			require.NoError(t, err)
			if doc.Markdown != "" {
				assert.NotEmpty(t, extract(t, doc.Title, doc.Markdown), page)
			}
		}
	}
}

// BenchmarkPipeline is all that a page of 4 KB costs with the built-in models.
func BenchmarkPipeline(b *testing.B) {
	var page strings.Builder
	page.WriteString("---\ntitle: Leave\n---\n\n# Leave\n\n")
	for i := 0; page.Len() < 4096; i++ {
		page.WriteString("## Section\n\nEmployees apply for **paid leave** in the [portal](https://example.com), " +
			"two weeks before it begins. Their lead approves it within three days, or says why not.\n\n- one item\n- another\n\n")
	}
	raw := []byte(page.String())
	b.ReportAllocs()
	for b.Loop() {
		doc, err := render.Markdown(raw)
		if err != nil {
			b.Fatal(err)
		}
		chunks := chunk.Split(doc.Markdown, chunk.Options{})
		texts := make([]string, len(chunks))
		for i, c := range chunks {
			_ = chunk.TextHash(c)
			texts[i] = chunk.EmbeddingText(c)
			terms.Document(c.Text)
		}
		if _, err := (embed.Lexical{}).Embed(context.Background(), texts); err != nil {
			b.Fatal(err)
		}
		if _, err := (summary.Extractive{}).Summarize(context.Background(), doc.Title, doc.Markdown); err != nil {
			b.Fatal(err)
		}
	}
}
