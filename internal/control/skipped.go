package control

import (
	"context"
	"errors"
	"slices"

	"github.com/loresync/loresync/internal/knowledge"
	"github.com/loresync/loresync/internal/store"
)

// SkippedFolder is a folder that a sync of all folders leaves out.
type SkippedFolder struct {
	FolderID string `json:"folder_id"`
	// Reason is a word for programs: paused.
	Reason string `json:"reason"`
	// Sentence says what is paused, since when, why, and what to do.
	Sentence string `json:"sentence"`
}

// skippedFolders finds what a batch that starts now would leave out, and tells whether that is all there is. Maintenance, in which
// nothing starts, is an error.
func (c *Control) skippedFolders(ctx context.Context) (skipped []SkippedFolder, all bool, err error) {
	places, err := c.store.FolderPlaces(ctx, "")
	if err != nil {
		return nil, false, err
	}
	active, err := c.store.ActiveFolders(ctx)
	if err != nil {
		return nil, false, err
	}
	for _, place := range places {
		if place.DeletedAt != nil || slices.Contains(active, place.FolderID) {
			continue
		}
		left, err := c.whySkipped(ctx, place.FolderID)
		if err != nil {
			return nil, false, err
		}
		if left != nil {
			skipped = append(skipped, *left)
		}
	}
	return skipped, len(active) == 0 && len(skipped) > 0, nil
}

// whySkipped says why a folder isn't active; nil for one that became so, or went, in between.
func (c *Control) whySkipped(ctx context.Context, folder string) (*SkippedFolder, error) {
	facts, err := c.store.FolderFacts(ctx, folder)
	switch {
	case errors.Is(err, store.ErrNotFound):
		return nil, nil //nolint:nilnil // there is nothing to say
	case err != nil:
		return nil, err
	case facts.Maintenance:
		return nil, refusal("maintenance", folder, "")
	}
	if paused, is := errors.AsType[*Error](pausedBy(folder, facts)); is {
		return &SkippedFolder{FolderID: folder, Reason: paused.Code, Sentence: paused.Sentence}, nil
	}
	return nil, nil //nolint:nilnil // it was resumed in between
}

// nothingActive refuses a request for all folders when each of them is paused. The answer beside the error names them.
func nothingActive(skipped []SkippedFolder) (Answer, error) {
	err := refuse("paused", "every folder is paused, so there is nothing to sync: %s", skipped[0].Sentence)
	if len(skipped) > 1 {
		err = refuse("paused", "all %d folders are paused, so there is nothing to sync: `starter folder list` shows them", len(skipped))
	}
	return Answer{
		Status: string(knowledge.RunRefused), Reason: err.Sentence, Counts: &knowledge.Counts{}, SkippedFolders: skipped,
	}, err
}
