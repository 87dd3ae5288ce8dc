package search

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/loresync/loresync/internal/store"
)

const (
	// similarityFloor keeps out what only happens to point the same way: unrelated texts reach about 0.1.
	similarityFloor = 0.15
	// builtinWeight is what a place in the ranking by a built-in model's vectors is worth, against 1 in the one by words.
	// Measured on two handbooks (200 and 64 pages): at 0.03 and above it puts fewer of the right pages first.
	builtinWeight = 0.01
	// embedPatience is how long a question waits for its vector. An answer by words is better than a late one.
	embedPatience = 5 * time.Second
)

var errNoVector = errors.New("the model gave no vector")

// near ranks pages by the nearness of their chunks to the question. A model that fails costs a warning, no error.
func (s *Searcher) near(ctx context.Context, q Query) (nearest []store.VectorMatch, warning string, err error) {
	if s.embedder == nil {
		return nil, "", nil
	}
	vector, err := s.embed(ctx, q.Text)
	if err != nil {
		if ctx.Err() != nil {
			return nil, "", fmt.Errorf("embed the query: %w", ctx.Err())
		}
		return nil, fmt.Sprintf("searched by words only: the embedding model %s did not answer (%v)", s.embedder.Model(), err), nil
	}
	if vector == nil {
		return nil, "", nil
	}
	nearest, err = s.store.SearchVectors(ctx, q.Folder, s.embedder.Model(), vector, similarityFloor, q.pool())
	return nearest, "", err
}

// embed gives the question's vector with length 1, or nil when it says nothing to the model.
func (s *Searcher) embed(ctx context.Context, question string) ([]float32, error) {
	ctx, cancel := context.WithTimeout(ctx, embedPatience)
	defer cancel()
	vectors, err := s.embedder.Embed(ctx, []string{question})
	switch {
	case err != nil:
		return nil, err
	case len(vectors) != 1:
		return nil, errNoVector
	case len(vectors[0]) != s.embedder.Dimensions():
		return nil, fmt.Errorf("it gave %d dimensions instead of %d", len(vectors[0]), s.embedder.Dimensions())
	}
	return unit(vectors[0]), nil
}

func unit(vector []float32) []float32 {
	var square float64
	for _, x := range vector {
		square += float64(x) * float64(x)
	}
	length := math.Sqrt(square)
	if length == 0 || math.IsNaN(length) || math.IsInf(length, 0) {
		return nil
	}
	out := make([]float32, len(vector))
	for i, x := range vector {
		out[i] = float32(float64(x) / length)
	}
	return out
}

// nearestRanking is the pages of the vector search in their order: the chunks whose references stand at from and behind. The
// vectors of a model on this machine are made of the words alone. They say again, and less exactly, what the ranking by words
// says: they only tell apart what it finds about equal, and a page that shares no word with the question is there by chance.
func (s *Searcher) nearestRanking(chunks []store.SearchChunk, from int, byWords []store.SearchChunk) ranking {
	at := slices.IndexFunc(chunks, func(c store.SearchChunk) bool { return c.Asked >= from })
	if at < 0 {
		return ranking{}
	}
	near := chunks[at:]
	if s.embedder.Remote() {
		return ranking{chunks: near, weight: 1}
	}
	sharing := map[pageKey]bool{}
	for _, c := range byWords {
		sharing[pageKey{c.FolderID, c.PageID}] = true
	}
	near = slices.DeleteFunc(slices.Clone(near), func(c store.SearchChunk) bool { return !sharing[pageKey{c.FolderID, c.PageID}] })
	return ranking{chunks: near, weight: builtinWeight}
}
