package control

import (
	"context"
	"errors"
	"strings"

	"github.com/loresync/loresync/internal/knowledge"
	"github.com/loresync/loresync/internal/store"
)

// refusePaused refuses what a paused folder, or one of a paused connection, doesn't start.
func (c *Control) refusePaused(ctx context.Context, folder string) error {
	facts, err := c.store.FolderFacts(ctx, folder)
	switch {
	case errors.Is(err, store.ErrNotFound):
		return UnknownFolder(folder)
	case err != nil:
		return err
	}
	return pausedBy(folder, facts)
}

// pausedBy says what is paused, since when, why, and how to go on; nil when nothing is.
func pausedBy(folder string, facts store.FolderFacts) error {
	switch {
	case facts.ConnectionPausedAt != nil && facts.FolderPausedAt != nil:
		return refuse("paused", "folder %q and its connection %q are paused, %s: run `starter folder resume %s`, and for the connection %s", folder,
			facts.ConnectionName, pauseWords(facts), folder, resumeWords(facts))
	case facts.ConnectionPausedAt != nil:
		return refuse("paused", "folder %q waits for its connection %q, which is paused %s: %s", folder, facts.ConnectionName, pauseWords(facts),
			resumeWords(facts))
	case facts.FolderPausedAt != nil:
		return refuse("paused", "folder %q is paused since %s: run `starter folder resume %s` first", folder, clock(*facts.FolderPausedAt), folder)
	}
	return nil
}

func pauseWords(facts store.FolderFacts) string {
	return "since " + clock(*facts.ConnectionPausedAt) + reasonIn(facts.ConnectionReason)
}

// resumeWords tell how a connection goes on: by a person, or by itself once its credentials are taken again.
func resumeWords(facts store.FolderFacts) string {
	if strings.HasPrefix(facts.ConnectionReason, knowledge.PausedByToken) {
		return "mend its credentials; it is checked every minute and resumes by itself (`starter connection check " + facts.ConnectionName + "` looks now)"
	}
	return "run `starter connection resume " + facts.ConnectionName + "` first"
}

// refused is refusal with what the store's word for a pause can't say: what is paused, and why.
func (c *Control) refused(ctx context.Context, why, folder, page string) error {
	if why != "paused" {
		return refusal(why, folder, page)
	}
	if err := c.refusePaused(ctx, folder); err != nil {
		return err
	}
	return refusal(why, folder, page) // resumed in between
}
