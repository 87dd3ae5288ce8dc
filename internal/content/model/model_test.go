package model_test

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/openai/openai-go/v3"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/loresync/loresync/internal/content/model"
)

func TestOptions_cut_an_endless_answer_off(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"data":[{"embedding":[`)
		for r.Context().Err() == nil {
			if _, err := io.WriteString(w, strings.Repeat("0.1,", 1<<18)); err != nil {
				return
			}
		}
	}))
	t.Cleanup(server.Close)
	service := openai.NewEmbeddingService(model.Endpoint{BaseURL: server.URL}.Options()...)
	_, err := service.New(context.Background(), openai.EmbeddingNewParams{})
	require.Error(t, err)
	e := model.Translate(context.Background(), err)
	require.ErrorIs(t, e, model.ErrBadAnswer)
	assert.True(t, e.Retryable)
}

// TestOptions_take_nothing_from_the_environment can't be parallel: it sets it.
func TestOptions_take_nothing_from_the_environment(t *testing.T) {
	t.Setenv("OPENAI_API_KEY", "sk-of-somebody")
	t.Setenv("OPENAI_BASE_URL", "http://127.0.0.1:1/")
	t.Setenv("OPENAI_ORG_ID", "org")
	var header http.Header
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { header = r.Header }))
	t.Cleanup(server.Close)
	service := openai.NewEmbeddingService(model.Endpoint{BaseURL: server.URL}.Options()...)
	_, _ = service.New(context.Background(), openai.EmbeddingNewParams{})
	require.NotNil(t, header)
	assert.Empty(t, header.Get("Authorization"))
	assert.Empty(t, header.Get("Openai-Organization"))
}
