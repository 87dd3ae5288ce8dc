package tests

import (
	"context"
	"net/http"
	"sync/atomic"

	"github.com/loresync/loresync/internal/content/embed"
	"github.com/loresync/loresync/internal/content/model"
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

// moodyEmbedder is a remote model that is down until it is mended.
type moodyEmbedder struct {
	embed.Lexical
	mended atomic.Bool
}

func (*moodyEmbedder) Remote() bool { return true }

func (e *moodyEmbedder) Embed(ctx context.Context, texts []string) ([][]float32, error) {
	if !e.mended.Load() {
		return nil, &model.Error{Status: http.StatusBadRequest, Sentence: "the model is not in the mood", Err: model.ErrRefused}
	}
	return e.Lexical.Embed(ctx, texts)
}
