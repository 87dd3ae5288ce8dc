package terms_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/loresync/loresync/internal/content/terms"
)

func TestDocument(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		text string
		want []string
	}{
		"words_are_lower_cased_and_stemmed":         {"Paid leaves, Policies!", []string{"paid", "leav", "polic"}},
		"digits_stay":                               {"ISO 9001:2015 v2", []string{"iso", "9001", "2015", "v2"}},
		"full_width_forms_are_folded":               {"ＡＢＣ１２ ﾃｽﾄ", []string{"abc12", "テス", "スト"}},
		"a_run_gives_pairs_and_its_han_characters":  {"東京都", []string{"東", "東京", "京", "京都", "都"}},
		"kana_alone_gives_pairs_only":               {"サーバー", []string{"サー", "ーバ", "バー"}},
		"a_run_of_one_gives_that_one":               {"第 3 章", []string{"第", "3", "章"}},
		"scripts_are_parted":                        {"Go言語", []string{"go", "言", "言語", "語"}},
		"hangul_gives_pairs":                        {"한국어", []string{"한국", "국어"}},
		"possessives_and_contractions_lose_a_tail":  {"Anna’s book isn't", []string{"anna", "book", "isn"}},
		"accents_composed_or_not_are_the_same":      {"café cafe\u0301", []string{"café", "café"}},
		"invalid_bytes_and_NUL_separate":            {"a\xffb\x00c", []string{"a", "b", "c"}},
		"nothing_gives_nothing":                     {" --- \n 。", []string{}},
		"a_combining_mark_stays_with_its_character": {"नमस्ते", []string{"नमस्ते"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			assert.Equal(t, c.want, terms.Document(c.text))
		})
	}
}

func TestDocument_bounds_a_token_to_64_runes(t *testing.T) {
	t.Parallel()
	long := terms.Document(strings.Repeat("ä", 300))
	require.Len(t, long, 1)
	assert.Equal(t, 64, utf8.RuneCountInString(long[0]))
}

func TestStem_gives_forms_of_one_word_the_same_token(t *testing.T) {
	t.Parallel()
	for _, forms := range []string{
		"page pages paged", "policy policies", "apply applies applied applying", "share shares shared sharing",
		"plan plans planned planning", "box boxes", "cache caches cached caching", "class classes",
		"travel travels travelled travelling", "make makes making", "status", "meeting meetings", "process processes processed",
	} {
		words := strings.Fields(forms)
		first := terms.Document(words[0])
		for _, word := range words[1:] {
			assert.Equal(t, first, terms.Document(word), word)
		}
	}
	for _, apart := range []string{"string strung", "used us", "analysis anal", "need ned", "thing th"} {
		words := strings.Fields(apart)
		assert.NotEqual(t, terms.Document(words[0]), terms.Document(words[1]), apart)
	}
}

func TestQuery(t *testing.T) {
	t.Parallel()
	assert.Equal(t, []string{"appl", "leav"}, terms.Query("How do I apply for the leave?"))
	assert.Equal(t, []string{"who", "are", "you"}, terms.Query("who are you, who?"))
	assert.Equal(t, []string{"有給", "給休", "休暇"}, terms.Query("有給休暇"))
	assert.Equal(t, []string{"税"}, terms.Query("税"))
	assert.Empty(t, terms.Query("?!"))
	assert.Len(t, terms.Query(manyWords(500)), 64)
}

func TestQuery_of_one_character_is_found_inside_a_sentence(t *testing.T) {
	t.Parallel()
	assert.Subset(t, terms.Document("所得税を納める。"), terms.Query("税"))
}

// TestQuery_asks_only_for_tokens_of_a_document_that_holds_it is the agreement of
// both sides, for whole words and for every CJK substring.
func TestQuery_asks_only_for_tokens_of_a_document_that_holds_it(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		words := rapid.SliceOfN(word(), 1, 30).Draw(t, "words")
		from := rapid.IntRange(0, len(words)-1).Draw(t, "from")
		to := rapid.IntRange(from+1, len(words)).Draw(t, "to")
		document := terms.Document(strings.Join(words, " "))
		for _, token := range terms.Query(strings.Join(words[from:to], " ")) {
			if !slices.Contains(document, token) {
				t.Fatalf("%q not in %q", token, document)
			}
		}
	})
	rapid.Check(t, func(t *rapid.T) {
		run := []rune(rapid.StringOfN(rapid.RuneFrom([]rune("東京都の税金を払う人")), 2, 30, -1).Draw(t, "run"))
		from := rapid.IntRange(0, len(run)-2).Draw(t, "from")
		to := rapid.IntRange(from+2, len(run)).Draw(t, "to")
		for _, token := range terms.Query(string(run[from:to])) {
			if !slices.Contains(terms.Document(string(run)), token) {
				t.Fatalf("%q", token)
			}
		}
	})
}

func word() *rapid.Generator[string] {
	return rapid.OneOf(
		rapid.StringMatching(`[A-Za-z]{1,12}('s)?`), rapid.StringMatching(`[0-9]{1,4}`),
		rapid.StringMatching(`[ぁ-ん一-十]{1,5}`), rapid.String().Filter(utf8.ValidString),
	)
}

func FuzzDocument(f *testing.F) {
	for _, seed := range []string{"Paid leave", "有給休暇\x00", "\xff\xfe", "İstanbul", "e\u0301\u0301", "ﾊﾟ"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, s string) {
		for _, token := range terms.Document(s) {
			if token == "" || !utf8.ValidString(token) || utf8.RuneCountInString(token) > 64 {
				t.Fatalf("bad token %q", token)
			}
			for _, r := range token {
				if !unicode.IsLetter(r) && !unicode.IsNumber(r) && !unicode.Is(unicode.M, r) {
					t.Fatalf("token %q holds %U", token, r)
				}
			}
		}
	})
}

func manyWords(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "word%d ", i)
	}
	return b.String()
}

func BenchmarkDocument(b *testing.B) {
	for name, page := range map[string]string{
		"english":  strings.Repeat("Employees apply for paid leave through the portal. ", 80),
		"japanese": strings.Repeat("従業員はポータルから有給休暇を申請します。", 65),
	} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(page)))
			b.ReportAllocs()
			for b.Loop() {
				terms.Document(page)
			}
		})
	}
}
