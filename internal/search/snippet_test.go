package search

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/rivo/uniseg"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/loresync/loresync/internal/content/terms"
)

// asks weighs the terms of a question alike.
func asks(question string) func(string) float64 {
	asked := map[string]float64{}
	for _, term := range terms.Query(question) {
		asked[term] = 1
	}
	return func(token string) float64 { return asked[token] }
}

func TestSnippet_of_a_short_text_is_the_text(t *testing.T) {
	t.Parallel()
	assert.Equal(t, "Apply in the portal.", snippet("Apply in the portal.", asks("portal")))
	assert.Empty(t, snippet("", asks("portal")))
}

func TestSnippet_shows_what_was_asked_for(t *testing.T) {
	t.Parallel()
	english := strings.Repeat("Some other matter is told here. ", 20) + "The espresso machine is cleaned on Fridays. " + strings.Repeat("And this goes on. ", 30)
	cut := snippet(english, asks("espresso machine"))
	assert.Contains(t, cut, "The espresso machine is cleaned")
	assert.True(t, strings.HasPrefix(cut, "…") && strings.HasSuffix(cut, "…"), cut)

	japanese := strings.Repeat("ここには別の話が書いてあります。", 20) + "有給休暇はポータルから申請します。" + strings.Repeat("話はまだ続きます。", 30)
	cut = snippet(japanese, asks("有給休暇の申請"))
	assert.Contains(t, cut, "有給休暇はポータルから申請")

	last := strings.Repeat("filler ", 100) + "espresso"
	assert.Contains(t, snippet(last, asks("espresso")), "espresso")
}

func TestSnippet_without_a_match_is_the_beginning(t *testing.T) {
	t.Parallel()
	cut := snippet("The beginning. "+strings.Repeat("More of it. ", 50), asks("zeppelin"))
	assert.True(t, strings.HasPrefix(cut, "The beginning."), cut)
}

func TestSnippet_cuts_neither_words_nor_characters(t *testing.T) {
	t.Parallel()
	family := strings.Repeat("👩‍👩‍👧‍👦", 100)
	cut := strings.Trim(snippet(family, asks("x")), "…")
	assert.Zero(t, len(cut)%len("👩‍👩‍👧‍👦"))
	words := strings.Repeat("unbreakable ", 60)
	for word := range strings.FieldsSeq(strings.Trim(snippet(words, asks("x")), "…")) {
		assert.Equal(t, "unbreakable", word)
	}
}

func TestSnippet_of_any_text_is_short_and_made_of_whole_characters(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		s := strings.ToValidUTF8(strings.Join(rapid.SliceOfN(rapid.OneOf(
			rapid.String(), rapid.SampledFrom([]string{"有給休暇。", "espresso ", "👩‍👩‍👧‍👦", "e\u0301", "https://example.org/a/very/long/path?with=words"}),
		), 0, 60).Draw(t, "parts"), ""), "")
		cut := snippet(s, asks("espresso 有給"))
		if runes := utf8.RuneCountInString(cut); runes > snippetRunes+pieceRunes+2 {
			t.Fatalf("%d runes", runes)
		}
		if utf8.RuneCountInString(s) > snippetRunes && uniseg.GraphemeClusterCount(s) > 0 {
			body := strings.TrimSuffix(strings.TrimPrefix(cut, "…"), "…")
			if !strings.Contains(s, body) && !strings.Contains(s, cut) {
				t.Fatalf("%q is no part of %q", body, s)
			}
		}
	})
}

func TestPlain_takes_off_the_markup(t *testing.T) {
	t.Parallel()
	for markdown, want := range map[string]string{
		"# Title\n\nSome **bold** and `code`.":            "Title Some bold and code.",
		"- one\n- [two](https://example.org)\n  1. three": "one two three",
		"> quoted\n> text":                                "quoted text",
		"| a | b |\n|---|---|\n| 1 | 2 |":                 "a b 1 2",
		"```go\nfmt.Println()\n```\nafter":                "fmt.Println() after",
		"日本語の\n段落。\n\n---\n\n次。":                          "日本語の段落。 次。",
		"line one\nline two":                              "line one line two",
		"3 - 2 = 1\n* * *\n12) twelve":                    "3 - 2 = 1 twelve",
		"":                                                "",
		"Heading\n=======\n![picture](x.png) <b>text</b>": "Heading picture text",
		"not | a table":                                   "not | a table",
		"#nospace stays":                                  "#nospace stays",
		"\r\nwindows\r\nlines\r\n":                        "windows lines",
		strings.Repeat("> ", 50_000) + "deep":             "deep",
	} {
		assert.Equal(t, want, plain(markdown), "%.60q", markdown)
	}
}

func TestNeighbours(t *testing.T) {
	t.Parallel()
	assert.True(t, neighbours([]int{1, 9}, []int{10}))
	assert.True(t, neighbours([]int{5}, []int{2, 8}))
	assert.False(t, neighbours([]int{5}, []int{2, 9}))
	assert.False(t, neighbours([]int{5}, []int{5}))
	assert.False(t, neighbours(nil, []int{5}))
}

func TestBestWindow_prefers_weight_then_a_sentence_then_the_middle(t *testing.T) {
	t.Parallel()
	all := []window{{start: 0, weight: 1}, {start: 1, weight: 2}, {start: 2, weight: 2}, {start: 3, weight: 2}, {start: 4, weight: 0}}
	assert.Equal(t, 2, bestWindow(all).start)
	all[3].sentence = true
	assert.Equal(t, 3, bestWindow(all).start)
	require.Equal(t, 0, bestWindow(all[:1]).start)
}
