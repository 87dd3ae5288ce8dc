// Package embed turns texts into vectors: with a remote model behind an
// OpenAI-compatible endpoint, or with a built-in one that needs nothing and finds
// texts by the words they share.
package embed

import (
	"context"

	"github.com/loresync/loresync/internal/content/model"
)

// Embedder turns texts into vectors.
type Embedder interface {
	// Model names what makes the vectors. Together with Dimensions it says which
	// vectors can be compared.
	Model() string
	// Dimensions is the length of every vector.
	Dimensions() int
	// Remote says whether Embed leaves the machine: such a call takes seconds, may
	// fail and costs money.
	Remote() bool
	// Embed returns one vector for each text, in their order. Every vector is
	// finite and not all zeros, so that a cosine distance to it exists. An error
	// means that no vector is returned; a remote model's is an *Error.
	Embed(ctx context.Context, texts []string) ([][]float32, error)
}

// Error is what a remote model returns.
type Error = model.Error
