package text_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"pgregory.net/rapid"

	"github.com/loresync/loresync/internal/content/text"
)

func TestSentences_ends_where_a_reader_would_end_them(t *testing.T) {
	t.Parallel()
	for source, want := range map[string][]string{
		"One. Two! Three? Four":              {"One.", "Two!", "Three?", "Four"},
		"See e.g. this one. Use v1.2 of it.": {"See e.g. this one.", "Use v1.2 of it."},
		"J. Smith wrote it. \"Really?\" Yes": {"J. Smith wrote it.", "\"Really?\"", "Yes"},
		"3. Apply first. Then wait.":         {"3. Apply first.", "Then wait."},
		"It was in 1984. Then came 1985.":    {"It was in 1984.", "Then came 1985."},
		"一つ。二つ！三つ？四つ":                        {"一つ。", "二つ！", "三つ？", "四つ"},
		"「はい。」と言った。次の文。":                     {"「はい。」と言った。", "次の文。"},
		"「はい。」「いいえ。」":                        {"「はい。」", "「いいえ。」"},
		"Wait... what? No…  Yes.":            {"Wait... what?", "No…", "Yes."},
		"  \n ":                              nil,
		"a\n\nb. \n C":                       {"a\n\nb.", "C"},
	} {
		var got []string
		text.Sentences(source, func(start, end int) bool {
			got = append(got, source[start:end])
			return true
		})
		assert.Equal(t, want, got, source)
	}
}

func TestPlain_is_what_a_reader_sees(t *testing.T) {
	t.Parallel()
	for source, want := range map[string]string{
		"**bold** _it_ `code` ~~gone~~":            "bold it code gone",
		"snake_case and ~/path, a*b":               "snake_case and ~/path, ab",
		"[link *text*](http://x/(y)) ![pic](z)":    "link text pic",
		"[ref][1] and [x] in a[0] [^1]":            "ref and [x] in a[0] [^1]",
		"a <b>tag</b> 1 < 2 <https://x.org> <!--c": "a tag 1 < 2 https://x.org <!--c",
		"R&amp;D \\*star\\* \\n":                   "R&D *star* \\n",
		"日本\n語 and\nso\n한국\n어":                     "日本語 and so 한국 어",
		"[ ] open task":                            "open task",
		"gone <!-- a > b --> here":                 "gone here",
	} {
		assert.Equal(t, want, text.Plain(source), source)
	}
}

func TestPlain_takes_no_more_time_for_a_hostile_page(t *testing.T) {
	t.Parallel()
	for _, piece := range []string{"[", "<", "<!--", "](", "![", "**", "_", "\\", "<a"} {
		assert.NotPanics(t, func() { text.Plain(strings.Repeat(piece, 50_000)) })
	}
}

func TestClean_makes_any_string_storable_and_leaves_a_good_one_alone(t *testing.T) {
	t.Parallel()
	assert.Equal(t, "a\uFFFDb", text.Clean("a\xff\xfe\x00b"))
	rapid.Check(t, func(t *rapid.T) {
		raw := string(rapid.SliceOf(rapid.Byte()).Draw(t, "raw"))
		got := text.Clean(raw)
		if !utf8.ValidString(got) || strings.Contains(got, "\x00") || text.Clean(got) != got {
			t.Fatalf("%q", got)
		}
	})
}

func TestTruncate_keeps_whole_characters_within_the_limit(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		s := strings.Join(rapid.SliceOf(rapid.SampledFrom([]string{"a", "語", "e\u0301", "👩‍👩‍👧", "🇯🇵", "❤️", "\r\n", "\xff"})).Draw(t, "s"), "")
		n := rapid.IntRange(0, 40).Draw(t, "n")
		got := text.Truncate(s, n)
		if utf8.RuneCountInString(got) > n || !strings.HasPrefix(s, got) {
			t.Fatalf("%q", got)
		}
		if utf8.ValidString(s) && !utf8.ValidString(got) {
			t.Fatalf("%q", got)
		}
	})
	assert.Equal(t, "ab…", text.Ellipsize("ab cd", 4))
	assert.Equal(t, "ab", text.Ellipsize("ab", 2))
}
