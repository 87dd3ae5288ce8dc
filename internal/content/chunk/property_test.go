package chunk_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/loresync/loresync/internal/content/chunk"
)

// mess draws a page made of every kind of block, broken ones included.
func mess() *rapid.Generator[string] {
	line := rapid.OneOf(
		rapid.StringMatching(`[A-Za-z ,.!?]{0,120}`), rapid.StringMatching(`[ぁ-ん一-龥。？、]{0,90}`),
		rapid.StringMatching(`(#{1,7}|>|-|\*|1\.|  -|    |\|) ?[a-z |]{0,40}`), rapid.String(),
		rapid.SampledFrom([]string{
			"", "", "", "```", "```go", "~~~", "````", "  ```", "> ```", "- ```", "---", "===", "| a | b |", "|---|---|",
			"<!--", "-->", "<div>", "<pre>", "</pre>", "\t", "* * *", strings.Repeat("x", 500), strings.Repeat("語", 500),
			strings.Repeat("a b ", 200), strings.Repeat("👩‍👩‍👧", 60), "[a]: <b>", "\u3000",
		}),
	)
	return rapid.Custom(func(t *rapid.T) string {
		lines := rapid.SliceOfN(line, 0, 40).Draw(t, "lines")
		repeat := rapid.IntRange(1, 4).Draw(t, "repeat")
		return strings.Repeat(strings.Join(lines, "\n")+"\n", repeat)
	})
}

func TestSplit_covers_all_text_within_the_bounds_of_size(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		page := mess().Draw(t, "page")
		limit := rapid.SampledFrom([]int{64, 100, 333, 2000}).Draw(t, "max")
		target := rapid.IntRange(1, limit).Draw(t, "target")
		chunks := chunk.Split(page, chunk.Options{TargetRunes: target, MaxRunes: limit})
		checkInvariants(t, page, chunks, limit)
	})
}

func FuzzSplit(f *testing.F) {
	for _, seed := range []string{
		"", "# T\n```sh\n# no\n```\n# Next", "- a\n\n  ```\n  b", "| a |\n|---|\n| b |\n", "> ```\n> x\n", "a\x00\xff\n===\n",
		"A" + strings.Repeat(" ", 300) + "B", strings.Repeat("語", 300), "<!-- a\n\n# b", "1. a\n2) b\n\n\n\tc",
	} {
		f.Add(seed, 64)
	}
	f.Fuzz(func(t *testing.T, page string, limit int) {
		limit = 64 + max(limit, 0)%1000
		checkInvariants(t, page, chunk.Split(page, chunk.Options{MaxRunes: limit}), limit)
	})
}

// page is a long page, paragraph by paragraph.
type page struct{ paragraphs []string }

func (p page) String() string { return strings.Join(p.paragraphs, "\n\n") }

func (p page) with(i int, paragraph string) page {
	edited := append([]string(nil), p.paragraphs...)
	edited[i] = paragraph
	return page{edited}
}

func words(r *rand.Rand, runes int) string {
	var b strings.Builder
	for b.Len() < runes {
		if b.Len() > 0 {
			b.WriteString(". ")
		}
		fmt.Fprintf(&b, "Sentence %d", r.IntN(1e6))
		for range 3 + r.IntN(12) {
			fmt.Fprintf(&b, " word%d", r.IntN(3000))
		}
	}
	return b.String() + "."
}

// long makes a page of about so many chunks with few headings, so that its sections
// are long. Kana stand for a language without spaces.
func long(r *rand.Rand, chunks, mean int, kana bool) page {
	var p page
	for size := 0; size < chunks*1000; {
		paragraph := words(r, mean/2+r.IntN(mean))
		if kana {
			paragraph = strings.NewReplacer(" ", "", ". ", "。", ".", "。", "word", "ことば", "Sentence", "文章").Replace(paragraph)
		}
		if r.IntN(400) == 0 {
			p.paragraphs = append(p.paragraphs, fmt.Sprintf("## Section %d", r.IntN(1e6)))
		}
		p.paragraphs = append(p.paragraphs, paragraph)
		size += utf8.RuneCountInString(paragraph)
	}
	return p
}

func fresh(old map[[32]byte]bool, chunks []chunk.Chunk) int {
	count := 0
	for _, c := range chunks {
		if !old[chunk.TextHash(c)] {
			count++
		}
	}
	return count
}

func hashes(chunks []chunk.Chunk) map[[32]byte]bool {
	set := make(map[[32]byte]bool, len(chunks))
	for _, c := range chunks {
		set[chunk.TextHash(c)] = true
	}
	return set
}

// TestSplit_changes_at_most_three_chunks_when_a_paragraph_is_edited edits
// paragraphs of 200-chunk pages in every usual way: a word more, a sentence more,
// written anew, emptied but for a word.
func TestSplit_changes_at_most_three_chunks_when_a_paragraph_is_edited(t *testing.T) {
	t.Parallel()
	for _, mean := range []int{60, 150, 300, 700, 3000} {
		for _, kana := range []bool{false, true} {
			t.Run(fmt.Sprintf("mean_%d_kana_%t", mean, kana), func(t *testing.T) {
				t.Parallel()
				r := rand.New(rand.NewPCG(uint64(mean), 1))
				p := long(r, 200, mean, kana)
				chunks := chunk.Split(p.String(), chunk.Options{})
				require.InDelta(t, 200, len(chunks), 70)
				old := hashes(chunks)
				for range 12 {
					editOnce(t, r, p, old, mean)
				}
			})
		}
	}
}

func editOnce(t *testing.T, r *rand.Rand, p page, old map[[32]byte]bool, mean int) {
	t.Helper()
	i := r.IntN(len(p.paragraphs))
	if strings.HasPrefix(p.paragraphs[i], "#") {
		return
	}
	edits := []string{
		"Edited " + p.paragraphs[i], p.paragraphs[i] + " One sentence more.",
		strings.Replace(p.paragraphs[i], "1", "one", 1), "Gone.",
	}
	if mean <= 700 {
		edits = append(edits, words(r, mean/2+r.IntN(mean)))
	}
	for _, edit := range edits {
		count := fresh(old, chunk.Split(p.with(i, edit).String(), chunk.Options{}))
		require.LessOrEqual(t, count, 3, "paragraph %d", i)
	}
}

func TestSplit_changes_at_most_three_chunks_for_any_edit_that_rapid_finds(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		seed := rapid.Uint64().Draw(t, "seed")
		mean := rapid.IntRange(40, 800).Draw(t, "mean")
		r := rand.New(rand.NewPCG(seed, 2))
		p := long(r, 40, mean, false)
		i := rapid.IntRange(0, len(p.paragraphs)-1).Draw(t, "paragraph")
		if strings.HasPrefix(p.paragraphs[i], "#") {
			return
		}
		old := hashes(chunk.Split(p.String(), chunk.Options{}))
		edit := rapid.StringMatching(`[a-z]{1,8}( [a-z]{1,8}){0,60}`).Draw(t, "edit")
		if count := fresh(old, chunk.Split(p.with(i, edit).String(), chunk.Options{})); count > 3 {
			t.Fatalf("%d new chunks", count)
		}
	})
}

func TestSplit_of_a_4_KB_page_gives_about_five_chunks(t *testing.T) {
	t.Parallel()
	total, pages := 0, 200
	for seed := range pages {
		r := rand.New(rand.NewPCG(uint64(seed), 3))
		var b strings.Builder
		for section := 0; b.Len() < 4000; section++ {
			fmt.Fprintf(&b, "## Section %d\n\n", section)
			for range 1 + r.IntN(4) {
				b.WriteString(words(r, 100+r.IntN(400)) + "\n\n")
			}
		}
		total += len(chunk.Split(b.String(), chunk.Options{}))
	}
	require.InDelta(t, 5, float64(total)/float64(pages), 1)
}

func BenchmarkSplit(b *testing.B) {
	r := rand.New(rand.NewPCG(4, 4))
	small := long(r, 200, 200, false).String()[:4096]
	for name, text := range map[string]string{"4KB": small, "180KB": long(r, 200, 200, false).String()} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			b.ReportAllocs()
			for b.Loop() {
				chunk.Split(text, chunk.Options{})
			}
		})
	}
}
