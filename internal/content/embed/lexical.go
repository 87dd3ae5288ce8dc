package embed

import (
	"context"
	"math"

	"github.com/loresync/loresync/internal/content/terms"
)

const (
	lexicalModel = "lexical-v1"
	// lexicalDimensions is large enough that the hundred or so different words of
	// a chunk seldom meet in one dimension, and small enough for exact search.
	lexicalDimensions = 256
)

// Lexical is the built-in model: each term of a text is hashed to a dimension and
// a sign, weighted by the logarithm of how often it occurs, and the sum is brought
// to length 1. Texts that share words are near each other; what words mean it
// doesn't know. The signs make terms that meet in a dimension cancel out rather
// than add up. Its vectors are part of the stored data: whoever changes them gives
// it a new name.
type Lexical struct{}

// Model returns "lexical-v1".
func (Lexical) Model() string { return lexicalModel }

// Dimensions returns 256.
func (Lexical) Dimensions() int { return lexicalDimensions }

// Remote returns false.
func (Lexical) Remote() bool { return false }

// Embed never fails, except when ctx has ended.
func (Lexical) Embed(ctx context.Context, texts []string) ([][]float32, error) {
	vectors := make([][]float32, len(texts))
	counts := map[uint64]int{}
	for i, text := range texts {
		if err := ctx.Err(); err != nil {
			return nil, err //nolint:wrapcheck // the caller's own context
		}
		clear(counts)
		count(text, counts)
		vectors[i] = vector(counts)
	}
	return vectors, nil
}

// count counts the terms of text by their hashes. A text without terms, such as a
// row of dots, counts as one term of its own: every text gets a direction.
func count(text string, counts map[uint64]int) {
	for term, kind := range terms.All(text) {
		if kind == terms.Word || kind == terms.Pair {
			counts[hash(term)]++
		}
	}
	if len(counts) == 0 {
		counts[hash(text)] = 1
	}
}

// vector adds in whole numbers: the order in which a map is walked must not show
// in the last bits of a vector.
func vector(counts map[uint64]int) []float32 {
	var sums [lexicalDimensions]int64
	for h, n := range counts {
		weight := int64((1 + math.Log(float64(n))) * (1 << 20))
		if h>>63 == 1 {
			weight = -weight
		}
		sums[h%lexicalDimensions] += weight
	}
	var square float64
	for _, sum := range &sums {
		square += float64(sum) * float64(sum)
	}
	out := make([]float32, lexicalDimensions)
	if square == 0 { // every term has met its opposite
		out[0] = 1
		return out
	}
	norm := math.Sqrt(square)
	for i, sum := range &sums {
		out[i] = float32(float64(sum) / norm)
	}
	return out
}

// hash is FNV-1a with its bits mixed, so that both the low ones (the dimension)
// and the highest (the sign) depend on the whole term.
func hash(s string) uint64 {
	h := uint64(0xcbf29ce484222325)
	for i := range len(s) {
		h = (h ^ uint64(s[i])) * 0x100000001b3
	}
	h ^= h >> 33
	h *= 0xff51afd7ed558ccd
	h ^= h >> 33
	h *= 0xc4ceb9fe1a85ec53
	return h ^ h>>33
}
