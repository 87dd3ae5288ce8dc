package activities

import (
	"context"
	"time"

	"github.com/loresync/loresync/internal/content/chunk"
	"github.com/loresync/loresync/internal/content/render"
	"github.com/loresync/loresync/internal/knowledge"
)

// EnrichPage asks remote models for what a revision lacks: embeddings of texts that are new, and a summary. It runs again
// harmlessly, since it asks only for what is still missing. A model that stays down fails it, and the page is published all
// the same: found by its words, and due again for its vectors.
func (a *PageActivities) EnrichPage(ctx context.Context, in HeldPageInput) (ReadPageResult, error) {
	holder := in.holder()
	asking, stop := a.watch(ctx, holder)
	outcome, err := a.enrich(asking, holder, in.RevisionID)
	if stop() {
		return ReadPageResult{Token: in.Token, Outcome: knowledge.OutcomeCancelled}, nil
	}
	result := ReadPageResult{Token: in.Token, RevisionID: in.RevisionID}
	if err == nil && outcome != "enriched" {
		result.Outcome = outcomeOf(outcome)
	}
	return result, err
}

func (a *PageActivities) enrich(ctx context.Context, h knowledge.Holder, revisionID int64) (string, error) {
	texts, err := a.Store.TextsToEnrich(ctx, revisionID)
	if err != nil {
		return "", err
	}
	var words *string
	if texts.NeedsWords {
		answer, err := a.Models.Summarizer.Summarize(ctx, texts.Title, texts.Markdown)
		if err != nil {
			return "", err
		}
		answer = render.CleanText(answer)
		words = &answer
	}
	return a.embed(ctx, h, revisionID, texts.Chunks, words, a.Models.Summarizer.Model())
}

// embed asks the embedder for texts and stores the vectors, with a summary when there is one.
func (a *PageActivities) embed(
	ctx context.Context, h knowledge.Holder, revisionID int64, chunks []knowledge.StagedChunk, words *string, wordsModel string,
) (string, error) {
	texts, hashes := make([]string, len(chunks)), make([][]byte, len(chunks))
	for i, c := range chunks {
		texts[i] = chunk.EmbeddingText(chunk.Chunk{HeadingPath: c.HeadingPath, Text: c.Body})
		hashes[i] = c.TextHash
	}
	vectors, err := a.Models.Embedder.Embed(ctx, texts)
	if err != nil {
		return "", err
	}
	return a.Store.EnrichRevision(ctx, h, knowledge.Enrichment{
		RevisionID: revisionID, Model: a.Models.Embedder.Model(), Dimensions: a.Models.Embedder.Dimensions(), Hashes: hashes, Vectors: vectors,
		Summary: words, SummaryModel: wordsModel,
	})
}

// PublishPageInput names what is to be published.
type PublishPageInput struct {
	FolderID   string
	PageID     string
	Token      string
	RevisionID int64
	// ModelsFailed makes the page due again for its embeddings and summary.
	ModelsFailed bool
}

// modelsDelay is how long a page without vectors waits before its models are asked again.
const modelsDelay = 10 * time.Minute

// PublishPage moves the page's pointer to the staged revision, if the token still holds the page. A second run finds the
// token gone and looks whether the first one published.
func (a *PageActivities) PublishPage(ctx context.Context, in PublishPageInput) (ReadPageResult, error) {
	holder := HeldPageInput{FolderID: in.FolderID, PageID: in.PageID, Token: in.Token}.holder()
	var modelsAfter *time.Duration
	if in.ModelsFailed {
		modelsAfter = new(modelsDelay)
	}
	published, err := a.Store.PublishStaged(ctx, holder, in.RevisionID, modelsAfter)
	if err != nil {
		return ReadPageResult{}, err
	}
	if published.Outcome == "fenced" {
		current, err := a.Store.PublishedRevision(ctx, in.FolderID, in.PageID)
		if err == nil && current == in.RevisionID {
			published.Outcome = string(knowledge.OutcomePublished)
		}
	}
	return ReadPageResult{Outcome: outcomeOf(published.Outcome), Token: in.Token, RevisionID: in.RevisionID}, err
}

// FinishPage ends an attempt without publishing, as cleanup after whatever went wrong. A token that holds nothing any more
// makes it do nothing.
func (a *PageActivities) FinishPage(ctx context.Context, in HeldPageInput) (ReadPageResult, error) {
	holder := in.holder()
	sentence := ""
	if in.Outcome == knowledge.OutcomeFailed {
		sentence = sentenceFor(in.Reason)
	}
	return a.end(ctx, holder, ReadPageResult{Token: in.Token}, in.Outcome, in.Reason, sentence, "")
}

// sentenceFor gives the words for failures of which nothing but the class is known any more.
func sentenceFor(class string) string {
	switch class {
	case FailureUnavailable:
		return "something that the sync needs could not be reached: it is tried again by itself"
	case FailureUnauthorized:
		return "the source refused the credentials: check the connection"
	}
	return "the sync failed: it is tried again by itself; see the worker's log for the cause"
}
