package search

import (
	"math"
	"strings"

	"github.com/loresync/loresync/internal/content/terms"
	"github.com/loresync/loresync/internal/store"
)

// The constants of BM25, as is usual: how soon another occurrence of a word adds little, and how much a long text is discounted.
const (
	saturation = 1.2
	discount   = 0.75
)

const (
	// headingTimes is how many occurrences in the text one in the headings above it is worth.
	headingTimes = 2
	// neighbourWeight is what two terms of the question that stand side by side add, against the mean of what each is worth.
	neighbourWeight = 0.5
	// neighbourDistance lets a small word stand between neighbours: "apply for leave".
	neighbourDistance = 3
)

// reading is a chunk with the places of the question's terms in it.
type reading struct {
	chunk  store.SearchChunk
	length int
	counts []float64
	places [][]int
}

func (l *lexical) read(chunk store.SearchChunk) reading {
	r := reading{chunk: chunk, counts: make([]float64, len(l.index)), places: make([][]int, len(l.index))}
	for token := range terms.All(strings.Join(chunk.HeadingPath, "\n")) {
		if i, asked := l.index[token]; asked {
			r.counts[i] += headingTimes
		}
	}
	for token, kind := range terms.All(chunk.Text) {
		if kind != terms.Char {
			r.length++
		}
		if i, asked := l.index[token]; asked {
			r.counts[i]++
			r.places[i] = append(r.places[i], r.length)
		}
	}
	return r
}

func usualLength(read []reading) float64 {
	sum := 0
	for i := range read {
		sum += read[i].length
	}
	return math.Max(1, float64(sum)/math.Max(1, float64(len(read))))
}

// textScore is BM25 over headings and text, and what neighbours add.
func (l *lexical) textScore(r reading, usual float64) float64 {
	score := 0.0
	norm := saturation * (1 - discount + discount*float64(r.length)/usual)
	for i, count := range r.counts {
		score += l.worth[i] * count * (saturation + 1) / (count + norm)
	}
	for i := 1; i < len(r.places); i++ {
		if neighbours(r.places[i-1], r.places[i]) {
			score += neighbourWeight * (l.worth[i-1] + l.worth[i]) / 2
		}
	}
	return score
}

// neighbours says whether a place of the second follows one of the first closely. Both are in order.
func neighbours(first, second []int) bool {
	for i, j := 0, 0; i < len(first) && j < len(second); {
		switch distance := second[j] - first[i]; {
		case distance <= 0:
			j++
		case distance <= neighbourDistance:
			return true
		default:
			i++
		}
	}
	return false
}
