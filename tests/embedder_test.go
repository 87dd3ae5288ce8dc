package tests

import (
	"context"
	"sync/atomic"

	"github.com/loresync/loresync/internal/content/embed"
)

// countingEmbedder counts the texts that an embedder was asked for.
type countingEmbedder struct {
	embed.Embedder
	texts atomic.Int64
}

func (e *countingEmbedder) Embed(ctx context.Context, texts []string) ([][]float32, error) {
	e.texts.Add(int64(len(texts)))
	return e.Embedder.Embed(ctx, texts)
}
