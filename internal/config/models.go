package config

import (
	"github.com/loresync/loresync/internal/content/embed"
	"github.com/loresync/loresync/internal/content/summary"
)

// Models gives the embedder and the summariser that the settings name, each of them built-in where they name none. Nothing
// is asked of a remote model yet.
func Models(c Config) (embed.Embedder, summary.Summarizer, error) {
	if err := c.checkModels(); err != nil {
		return nil, nil, err
	}
	var embedder embed.Embedder = embed.Lexical{}
	if c.OpenAI.EmbeddingModel != "" {
		embedder = embed.NewOpenAI(embed.OpenAIConfig{
			BaseURL: c.OpenAI.BaseURL, APIKey: c.OpenAI.APIKey, Model: c.OpenAI.EmbeddingModel, Dimensions: c.OpenAI.EmbeddingDimensions,
			Timeout: c.Timeouts.Model,
		})
	}
	var summarizer summary.Summarizer = summary.Extractive{}
	if c.OpenAI.SummaryModel != "" {
		summarizer = summary.NewOpenAI(summary.OpenAIConfig{
			BaseURL: c.OpenAI.BaseURL, APIKey: c.OpenAI.APIKey, Model: c.OpenAI.SummaryModel, Timeout: c.Timeouts.Model,
		})
	}
	return embedder, summarizer, nil
}
