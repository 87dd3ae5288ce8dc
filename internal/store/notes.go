package store

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/loresync/loresync/internal/knowledge"
)

// noteLife is how long the word of a listing stands for what a read would ask.
const noteLife = 30 * time.Minute

const keepNotes = `SELECT keep_notes($1, $2, $3)`

// KeepNotes keeps what a listing under way told of pages, by source id, for their first reads. An ended listing, a dry run, and
// one whose folder was deleted or re-scoped keep nothing.
func (s *Store) KeepNotes(ctx context.Context, listingID int64, notes map[string][]byte) error {
	sids := slices.Sorted(maps.Keys(notes))
	values := make([][]byte, len(sids))
	for i, sid := range sids {
		values[i] = notes[sid]
	}
	_, err := scalar[int64](ctx, s, "keep the notes of a listing", keepNotes, listingID, sids, values)
	return err
}

// A note stands until another listing saw the page, or may have seen it: a later full one, and any that began before this one was
// over. Later incremental ones drop the notes on what they mention. A person who asks wants to know what is there now.
const takeNote = `
DELETE FROM listing_notes n USING listings l, folders f, in_flight i
WHERE n.folder_id = $1 AND n.source_id = $4 AND l.listing_id = n.listing_id AND f.folder_id = n.folder_id
  AND i.folder_id = $1 AND i.page_id = $2 AND i.token = $3
RETURNING n.note, n.saved_at > now() - $5::interval AND f.generation = l.folder_generation AND i.lane <> $6
  AND NOT EXISTS (SELECT 1 FROM listings o WHERE o.folder_id = n.folder_id AND o.began_seq > l.began_seq AND NOT o.dry_run
                  AND (o.full_listing OR l.completed_at IS NULL OR o.began_at < l.completed_at)) AS stands`

// TakeNote gives the holder the note on its page, and drops it; false when there is none that still stands.
func (s *Store) TakeNote(ctx context.Context, h knowledge.Holder, sourceID string) ([]byte, bool, error) {
	type row struct {
		Note   []byte
		Stands bool
	}
	rows, err := list[row](ctx, s, "take the note on a page", takeNote, h.Folder, h.Page, h.Token, sourceID, noteLife, int16(knowledge.LanePerson))
	if err != nil || len(rows) == 0 || !rows[0].Stands {
		return nil, false, err
	}
	return rows[0].Note, true, nil
}

const dropNotes = `DELETE FROM listing_notes WHERE folder_id = $1 AND source_id = ANY ($2)`

// DropNotes drops the notes on pages of which the source told something newer.
func (s *Store) DropNotes(ctx context.Context, folder string, sourceIDs []string) error {
	_, err := exec(ctx, s, "drop the notes on pages", dropNotes, folder, sourceIDs)
	return err
}
