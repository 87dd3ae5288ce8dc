package notion_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/loresync/loresync/internal/source"
	"github.com/loresync/loresync/internal/source/notion"
	"github.com/loresync/loresync/internal/source/notion/notiontest"
)

func TestR011_LongTextsAreCutBetweenCharacters(t *testing.T) {
	t.Parallel()
	s := plainSpace(t)
	for what, long := range map[string]string{
		"an ideograph at the border": strings.Repeat("a", 299) + "世界", "all of them": strings.Repeat("世", 2000), "emoji": strings.Repeat("⚠️", 400),
	} {
		t.Run(what, func(t *testing.T) {
			id := s.page("", long, paragraph(long))
			page := s.fetch(id)
			assert.Equal(t, long, page.Entry.Title)
			assert.Contains(t, page.Markdown, long)

			heal := s.server.Fail(notiontest.OfKind(notiontest.KindPage), 1, notiontest.Invalid(long))
			defer heal()
			s.server.Fail(notiontest.OfKind(notiontest.KindDatabase), 1, notiontest.Invalid(long))
			failure := s.refused(id)
			assert.True(t, utf8.ValidString(failure.Sentence))
			assert.Less(t, utf8.RuneCountInString(failure.Sentence), 400)
		})
	}
}

func TestR021_NULAndLoneSurrogatesNeverLeaveTheSource(t *testing.T) {
	t.Parallel()
	s := plainSpace(t)
	db := s.database("", "Tasks", notiontest.Column{Name: "Kind", Type: "select"})
	row := s.row(db.Source, "Row zero\x00end", map[string]notiontest.Value{"Kind": notiontest.SelectValue("a\x00b")},
		notiontest.Code("go", "code\x00block"), paragraph("half-MARK-character"))
	s.server.Fail(nil, 0, spelled("MARK", `\ud83d`))
	page := s.fetch(row)
	fields := map[string]string{
		"title": page.Entry.Title, "Markdown": page.Markdown, "Identity": string(page.Identity), "Fidelity": string(page.Fidelity),
	}
	for name, text := range fields {
		assert.True(t, utf8.ValidString(text), name)
		assert.NotContains(t, text, "\x00", name)
		assert.NotContains(t, text, `\u0000`, name)
	}
	assert.Contains(t, page.Markdown, "half-")
	assert.Contains(t, page.Markdown, "-character")
	assert.True(t, json.Valid(page.Raw))
}

func TestR037_NULInACodeBlockIsNoText(t *testing.T) {
	t.Parallel()
	s := plainSpace(t)
	page := s.fetch(s.page("", "Page", notiontest.Code("plain text", "a\x00b")))
	assert.NotContains(t, page.Markdown, "\x00")
	assert.Regexp(t, "a.?b", page.Markdown)
}

func TestR051_PageWhoseSecondPartCannotBeReadIsAFailureAndNotHalfAPage(t *testing.T) {
	t.Parallel()
	s := plainSpace(t)
	id := s.page("", "Page", paragraphs("p", 150)...)
	s.server.Break(notiontest.Fault{
		Match: notiontest.OfKind(notiontest.KindChildren), After: 1, Effects: []notiontest.Effect{notiontest.GatewayTimeout()},
	})
	page, err := s.src.Fetch(t.Context(), s.root, id)
	assert.Equal(t, source.ClassUnavailable, failureOf(t, err).Class)
	assert.Equal(t, source.Page{}, page)
	s.server.Heal()
	assert.Contains(t, s.fetch(id).Markdown, "p 149\n", "it comes whole later")
}

func TestR067_PageOf20000BlocksIsReadWhole(t *testing.T) {
	t.Parallel()
	s := plainSpace(t)
	blocks := make([]notiontest.Block, 0, 200)
	for i := range 200 {
		blocks = append(blocks, notiontest.Toggle(words(fmt.Sprintf("toggle %d", i))...).With(paragraphs(fmt.Sprintf("inner %d of", i), 99)...))
	}
	page := s.fetch(s.page("", "Long", blocks...))
	report := reportOf(t, page)
	assert.Equal(t, 20_000, report.Blocks)
	assert.Zero(t, report.Truncated)
	assert.Contains(t, page.Markdown, "inner 199 of 98\n")
	assert.Equal(t, 202, s.server.Count(notiontest.KindChildren))
}

func TestR067_PageBeyondTheLimitIsCutWithANoteAndAlwaysInTheSamePlace(t *testing.T) {
	t.Parallel()
	toggles := make([]notiontest.Block, 12)
	for i := range toggles {
		toggles[i] = notiontest.Toggle(words(fmt.Sprintf("toggle %d", i))...).With(paragraphs(fmt.Sprintf("inner %d of", i), 10)...)
	}
	for what, c := range map[string]struct {
		blocks     []notiontest.Block
		last, next string
	}{
		"directly on the page": {paragraphs("p", 250), "p 49\n", "p 50\n"},
		"inside of its blocks": {toggles, "inner 3 of 7\n", "inner 3 of 8\n"},
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			s := plainSpace(t)
			small := s.with(func(o *notion.Options) { o.MaxBlocks = 50 })
			id := s.page("", "Page", c.blocks...)
			first, err := small.Fetch(t.Context(), s.root, id)
			require.NoError(t, err)
			assert.Contains(t, first.Markdown, c.last)
			assert.NotContains(t, first.Markdown, c.next)
			assert.Contains(t, first.Markdown, "content beyond the limit of this page", "a reader sees it")
			report := reportOf(t, first)
			assert.Equal(t, 50, report.Blocks)
			assert.Positive(t, report.Truncated)
			assert.Contains(t, report.Notes, "the page has more than 50 blocks")

			// Answers that come in another order make no other page.
			s.server.Break(notiontest.Fault{
				Match: notiontest.OfKind(notiontest.KindChildren), After: 1, Times: 1, Effects: []notiontest.Effect{notiontest.Delay(50 * time.Millisecond)},
			})
			second, err := small.Fetch(t.Context(), s.root, id)
			require.NoError(t, err)
			assert.Equal(t, string(first.Identity), string(second.Identity))
			assert.Less(t, s.server.Count(notiontest.KindChildren), 2*14, "what is beyond isn't read")
		})
	}
}

func TestR074_PagesAreToldApartByTheirIDsWhateverTheirTitles(t *testing.T) {
	t.Parallel()
	s := plainSpace(t)
	titles := []string{"Notes", "Notes", "notes", "\U0001F600", "\U0001F3A9", "a/b", "Cafe\u0301", "Caf\u00e9", strings.Repeat("x", 300), ""}
	ids := make([]string, 0, len(titles))
	for _, title := range titles {
		ids = append(ids, s.page("", title))
	}
	entries, _ := s.list(s.root)
	assert.ElementsMatch(t, ids, idsOf(entries))
	for i, id := range ids {
		assert.Equal(t, titles[i], entryOf(t, entries, id).Title)
		assert.Equal(t, titles[i], s.fetch(id).Entry.Title)
	}
}

func TestR075_WordsOfARefusalCanBeStored(t *testing.T) {
	t.Parallel()
	s := plainSpace(t)
	id := s.page("", "Page")
	body := `{"object":"error","status":400,"code":"validation_error","message":"bad \u0000 value \ud83d` + "\xff" + `"}`
	for _, kind := range []notiontest.Kind{notiontest.KindPage, notiontest.KindDatabase} {
		s.server.Fail(notiontest.OfKind(kind), 0, saying(http.StatusBadRequest, "application/json", body))
	}
	failure := s.refused(id)
	assert.Equal(t, source.ClassInvalid, failure.Class)
	for _, text := range []string{failure.Sentence, failure.Error()} {
		assert.True(t, utf8.ValidString(text))
		assert.NotContains(t, text, "\x00")
	}
	assert.Contains(t, failure.Sentence, "bad")
}

func TestR111_LongAndNestedPagesAreReadToTheirEnds(t *testing.T) {
	t.Parallel()
	s := plainSpace(t)
	rows := make([][][]notiontest.Span, 150)
	for i := range rows {
		rows[i] = [][]notiontest.Span{words(fmt.Sprintf("row %d", i))}
	}
	nested := notiontest.Columns(
		[]notiontest.Block{notiontest.Toggle(words("opens")...).With(notiontest.Table(rows...))},
		[]notiontest.Block{paragraph("right")},
	)
	id := s.page("", "Page", append(paragraphs("p", 249), nested)...)
	page := s.fetch(id)
	assert.Contains(t, page.Markdown, "p 248\n")
	assert.Contains(t, page.Markdown, "| row 149 |\n")
	assert.Contains(t, page.Markdown, "right")
	assert.Equal(t, 3+1+2+1+2, s.server.Count(notiontest.KindChildren), "the page, the columns, each column, the toggle, the table")
}
