package activities

import (
	"context"

	"go.temporal.io/sdk/activity"

	"github.com/loresync/loresync/internal/knowledge"
)

// NoteStore keeps what first listings told of pages.
type NoteStore interface {
	KeepNotes(ctx context.Context, listingID int64, notes map[string][]byte) error
	DropNotes(ctx context.Context, folder string, sourceIDs []string) error
}

// notes are a listing's source.Notes.
type notes struct {
	store     NoteStore
	folder    string
	listingID int64
}

// Keep keeps notes. That they can't be kept is logged, since the reads go on without.
func (n notes) Keep(ctx context.Context, notes map[string][]byte) error {
	err := n.store.KeepNotes(ctx, n.listingID, notes)
	if err != nil && ctx.Err() == nil {
		activity.GetLogger(ctx).Warn("the notes of a listing can't be kept; its pages cost more requests", "folder_id", n.folder, "error", err)
	}
	return err
}

// Drop drops the notes on some pages.
func (n notes) Drop(ctx context.Context, sourceIDs []string) error {
	return n.store.DropNotes(ctx, n.folder, sourceIDs)
}

// noteFor gives a holder the note on its page. That it can't be looked for is logged, since the read goes on without.
func (a *PageActivities) noteFor(holder knowledge.Holder) func(context.Context, string) ([]byte, bool, error) {
	return func(ctx context.Context, sourceID string) ([]byte, bool, error) {
		note, found, err := a.Store.TakeNote(ctx, holder, sourceID)
		if err != nil && ctx.Err() == nil {
			activity.GetLogger(ctx).Warn("the note on a page can't be looked for; the source is asked",
				"folder_id", holder.Folder, "page_id", holder.Page, "error", err)
		}
		return note, found, err
	}
}
