package embed_test

import (
	"context"
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/loresync/loresync/internal/content/embed"
)

var (
	_ embed.Embedder = embed.Lexical{}
	_ embed.Embedder = (*embed.OpenAI)(nil)
)

func lexical(t require.TestingT, texts ...string) [][]float32 {
	vectors, err := embed.Lexical{}.Embed(context.Background(), texts)
	require.NoError(t, err)
	require.Len(t, vectors, len(texts))
	return vectors
}

func cosine(a, b []float32) float64 {
	var dot float64
	for i := range a {
		dot += float64(a[i]) * float64(b[i])
	}
	return dot
}

func TestLexical_finds_the_text_that_shares_words(t *testing.T) {
	t.Parallel()
	v := lexical(t,
		"How do I apply for paid leave?",
		"Employees apply for paid leaves in the portal, two weeks before the leave begins.",
		"The kitchen is cleaned on Fridays by the office team.",
		"有給休暇の申請方法",
		"有給休暇はポータルから申請します。",
		"台所は金曜日に掃除します。",
	)
	assert.Greater(t, cosine(v[0], v[1]), cosine(v[0], v[2])+0.2)
	assert.Greater(t, cosine(v[3], v[4]), cosine(v[3], v[5])+0.2)
	assert.InDelta(t, 0, cosine(v[0], v[3]), 0.35, "languages don't meet")
}

func TestLexical_gives_every_text_a_unit_vector_and_the_same_each_time(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.OneOf(rapid.String(), rapid.SampledFrom([]string{"", " ", "---", "\xff", "a", "税"})).Draw(t, "text")
		v := lexical(t, text, text)
		require.Len(t, v[0], embed.Lexical{}.Dimensions())
		require.Equal(t, v[0], v[1])
		require.InDelta(t, 1, math.Sqrt(cosine(v[0], v[0])), 1e-5)
	})
}

// TestLexical_vectors_stay_what_they_are guards stored vectors: another value means
// that the model needs another name.
func TestLexical_vectors_stay_what_they_are(t *testing.T) {
	t.Parallel()
	v := lexical(t, "Paid leave policy 有給休暇")[0]
	got := map[int]float32{}
	for i, x := range v {
		if x != 0 {
			got[i] = float32(math.Round(float64(x)*1e4) / 1e4)
		}
	}
	assert.Equal(t, map[int]float32{
		59: -0.4082, 109: -0.4082, 112: 0.4082, 200: 0.4082, 219: 0.4082, 241: 0.4082,
	}, got)
}

func TestLexical_stops_when_its_context_has_ended(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_, err := embed.Lexical{}.Embed(ctx, []string{"a"})
	require.ErrorIs(t, err, context.Canceled)
}

func BenchmarkLexical(b *testing.B) {
	chunk := strings.Repeat("Employees apply for paid leave in the portal, weeks before. ", 14)
	chunks := []string{chunk, chunk, chunk, chunk, chunk}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := (embed.Lexical{}).Embed(context.Background(), chunks); err != nil {
			b.Fatal(err)
		}
	}
}
