package activities

import (
	"context"
	"encoding/json"

	"github.com/loresync/loresync/internal/content/chunk"
	"github.com/loresync/loresync/internal/content/render"
	"github.com/loresync/loresync/internal/content/terms"
	"github.com/loresync/loresync/internal/knowledge"
	"github.com/loresync/loresync/internal/source"
)

// convert makes a revision of what a source read.
func (a *PageActivities) convert(ctx context.Context, page source.Page, hash []byte) (knowledge.StagedRevision, error) {
	document, err := toMarkdown(page)
	if err != nil {
		return knowledge.StagedRevision{}, err
	}
	title := document.Title
	if title == "" {
		title = page.Entry.Title
	}
	meta, err := json.Marshal(render.CleanMeta(document.Meta))
	if err != nil {
		meta = json.RawMessage(`{}`)
	}
	revision := knowledge.StagedRevision{
		Raw: page.Raw, Format: string(page.Format), ContentHash: hash, Markdown: document.Markdown,
		Title: render.Truncate(render.CleanText(title), maxTitle), Meta: meta, Version: page.Entry.Version, EditedAt: editedAt(page.Entry),
		EmbeddingModel: a.Models.Embedder.Model(), EmbeddingDimensions: a.Models.Embedder.Dimensions(),
		Place: placeOf(page.Entry), Fingerprint: page.Fingerprint, Fidelity: page.Fidelity, Chunks: chunksOf(document.Markdown),
	}
	if !a.Models.Summarizer.Remote() {
		if text, err := a.Models.Summarizer.Summarize(ctx, revision.Title, revision.Markdown); err == nil {
			revision.Summary, revision.SummaryModel = &text, a.Models.Summarizer.Model()
		}
	}
	return revision, nil
}

const maxTitle = 300

func toMarkdown(page source.Page) (render.Document, error) {
	switch page.Format {
	case source.FormatHTML:
		return render.HTML(page.Raw)
	case source.FormatText:
		return render.Text(page.Raw)
	case source.FormatConverted:
		return render.Document{Markdown: page.Markdown}, nil
	case source.FormatMarkdown:
	}
	return render.Markdown(page.Raw)
}

func chunksOf(markdown string) []knowledge.StagedChunk {
	pieces := chunk.Split(markdown, chunk.Options{})
	chunks := make([]knowledge.StagedChunk, len(pieces))
	for i, piece := range pieces {
		hash := chunk.TextHash(piece)
		chunks[i] = knowledge.StagedChunk{
			HeadingPath: piece.HeadingPath, Body: piece.Text, TextHash: hash[:], Terms: terms.Document(chunk.EmbeddingText(piece)),
		}
	}
	return chunks
}
