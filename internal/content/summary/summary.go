// Package summary says in two or three sentences what a page is about: with a
// remote model behind an OpenAI-compatible endpoint, or by picking the page's own
// most telling sentences.
package summary

import (
	"context"

	"github.com/loresync/loresync/internal/content/model"
)

// Summarizer summarises pages.
type Summarizer interface {
	// Model names what makes the summaries.
	Model() string
	// Remote says whether Summarize leaves the machine: such a call takes seconds,
	// may fail and costs money.
	Remote() bool
	// Summarize returns plain text in the language of the page, "" for a page
	// without text. An error of a remote model is an *Error.
	Summarize(ctx context.Context, title, markdown string) (string, error)
}

// Error is what a remote model returns.
type Error = model.Error
