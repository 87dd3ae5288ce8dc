package embed

import (
	"context"
	"math"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/openai/openai-go/v3"

	"github.com/loresync/loresync/internal/content/model"
)

const (
	defaultModel      = "text-embedding-3-small"
	defaultDimensions = 1536
	defaultBatchItems = 64
	// defaultBatchRunes keeps a batch far below the 300,000 tokens that OpenAI
	// accepts, Japanese with more than a token a character included.
	defaultBatchRunes = 100_000
)

// OpenAIConfig describes a remote model.
type OpenAIConfig struct {
	// BaseURL, with /v1; empty means OpenAI.
	BaseURL string
	// APIKey is sent as a bearer token; empty sends none.
	APIKey string
	// Model is the model's name; empty means text-embedding-3-small.
	Model string
	// Dimensions is the length that vectors must have, and is asked for. 0 asks for
	// nothing, as some servers refuse the field, and expects the 1536 of the
	// default model.
	Dimensions int
	// BatchItems bounds the texts of one request; 0 means 64.
	BatchItems int
	// BatchRunes bounds their sum in runes; 0 means 100,000. One text alone may be
	// longer.
	BatchRunes int
	// Timeout bounds one request; 0 means a minute.
	Timeout time.Duration
}

// OpenAI is a model behind an OpenAI-compatible endpoint. It never retries; its
// errors say whether that makes sense.
type OpenAI struct {
	service    openai.EmbeddingService
	cfg        OpenAIConfig
	dimensions int
}

// NewOpenAI returns the client for cfg. Nothing is sent yet.
func NewOpenAI(cfg OpenAIConfig) *OpenAI {
	endpoint := model.Endpoint{BaseURL: cfg.BaseURL, APIKey: cfg.APIKey, Timeout: cfg.Timeout}
	if cfg.Model == "" {
		cfg.Model = defaultModel
	}
	if cfg.BatchItems <= 0 {
		cfg.BatchItems = defaultBatchItems
	}
	if cfg.BatchRunes <= 0 {
		cfg.BatchRunes = defaultBatchRunes
	}
	dimensions := cfg.Dimensions
	if dimensions <= 0 {
		dimensions = defaultDimensions
	}
	return &OpenAI{service: openai.NewEmbeddingService(endpoint.Options()...), cfg: cfg, dimensions: dimensions}
}

// Model returns the model's name.
func (o *OpenAI) Model() string { return o.cfg.Model }

// Dimensions returns the length that every vector has.
func (o *OpenAI) Dimensions() int { return o.dimensions }

// Remote returns true.
func (o *OpenAI) Remote() bool { return true }

// Embed asks batch by batch. A blank text is refused before anything is sent: an
// endpoint would refuse the whole batch because of it.
func (o *OpenAI) Embed(ctx context.Context, texts []string) ([][]float32, error) {
	for _, text := range texts {
		if strings.TrimSpace(text) == "" {
			return nil, &Error{Sentence: "A blank text can't be embedded.", Err: model.ErrBadRequest}
		}
	}
	vectors := make([][]float32, 0, len(texts))
	for len(texts) > 0 {
		n := o.batch(texts)
		batch, err := o.ask(ctx, texts[:n])
		if err != nil {
			return nil, err
		}
		vectors = append(vectors, batch...)
		texts = texts[n:]
	}
	return vectors, nil
}

// batch returns how many of texts go into one request.
func (o *OpenAI) batch(texts []string) int {
	runes := 0
	for i, text := range texts {
		runes += utf8.RuneCountInString(text)
		if i > 0 && (i == o.cfg.BatchItems || runes > o.cfg.BatchRunes) {
			return i
		}
	}
	return len(texts)
}

func (o *OpenAI) ask(ctx context.Context, texts []string) ([][]float32, error) {
	params := openai.EmbeddingNewParams{
		Model:          o.cfg.Model,
		Input:          openai.EmbeddingNewParamsInputUnion{OfArrayOfStrings: texts},
		EncodingFormat: openai.EmbeddingNewParamsEncodingFormatFloat,
	}
	if o.cfg.Dimensions > 0 {
		params.Dimensions = openai.Int(int64(o.cfg.Dimensions))
	}
	answer, err := o.service.New(ctx, params)
	if err != nil {
		return nil, model.Translate(ctx, err)
	}
	vectors, unusable := o.inOrder(answer.Data, len(texts))
	if unusable != nil {
		return nil, unusable
	}
	return vectors, nil
}

// inOrder puts the vectors in the order of the texts, which is not always that of
// the answer, and refuses an answer with one missing or given twice.
func (o *OpenAI) inOrder(data []openai.Embedding, count int) ([][]float32, *Error) {
	if len(data) != count {
		return nil, model.Unusable(true, "The model returned fewer or more vectors than it was asked for.")
	}
	vectors := make([][]float32, count)
	for _, item := range data {
		if item.Index < 0 || item.Index >= int64(count) || vectors[item.Index] != nil {
			return nil, model.Unusable(true, "The model returned vectors that can't be assigned.")
		}
		vector, err := o.convert(item)
		if err != nil {
			return nil, err
		}
		vectors[item.Index] = vector
	}
	return vectors, nil
}

// convert checks one vector. A wrong length stays wrong however often one asks; a
// broken number may be a broken answer.
func (o *OpenAI) convert(item openai.Embedding) ([]float32, *Error) {
	if len(item.Embedding) != o.dimensions {
		return nil, model.Unusable(false, "The model's vectors don't have the configured number of dimensions.")
	}
	vector := make([]float32, len(item.Embedding))
	zero := true
	for i, x := range item.Embedding {
		vector[i] = float32(x)
		if math.IsNaN(x) || math.IsInf(float64(vector[i]), 0) {
			return nil, model.Unusable(true, "The model returned a vector that is no vector.")
		}
		zero = zero && vector[i] == 0
	}
	if zero || strings.Contains(item.JSON.Embedding.Raw(), "null") {
		return nil, model.Unusable(true, "The model returned a vector that is no vector.")
	}
	return vector, nil
}
