package store

import "context"

const rememberListing = `
INSERT INTO folder_listings AS f (folder_id, listing_id, began_seq, completed_at, checkpoint)
SELECT folder_id, listing_id, began_seq, completed_at, coalesce(nullif($2, ''), checkpoint) FROM listings
WHERE listing_id = $1 AND verdict = 'complete' AND NOT dry_run AND full_listing
ON CONFLICT (folder_id) DO UPDATE SET listing_id = excluded.listing_id, began_seq = excluded.began_seq, completed_at = excluded.completed_at
WHERE f.began_seq < excluded.began_seq`

// A checkpoint moves forward by the order in which the listings began, whatever the order in which they end.
const moveCheckpoint = `
UPDATE folder_listings f SET checkpoint = coalesce(nullif($2, ''), l.checkpoint), checkpoint_seq = l.began_seq
FROM listings l
WHERE l.listing_id = $1 AND f.folder_id = l.folder_id AND l.verdict = 'complete' AND NOT l.dry_run AND f.checkpoint_seq < l.began_seq
  AND coalesce(nullif($2, ''), l.checkpoint) <> ''`

// RememberListing makes a complete full listing the folder's last one, and keeps the checkpoint of any complete listing,
// unless a later one is there.
func (s *Store) RememberListing(ctx context.Context, listingID int64, checkpoint string) error {
	if _, err := exec(ctx, s, "remember a listing", rememberListing, listingID, checkpoint); err != nil {
		return err
	}
	_, err := exec(ctx, s, "move a checkpoint", moveCheckpoint, listingID, checkpoint)
	return err
}

const noteCheckpoint = `UPDATE listings SET checkpoint = $2 WHERE listing_id = $1 AND completed_at IS NULL`

// NoteCheckpoint keeps where the next incremental listing may start with the listing itself, until its data is stored.
func (s *Store) NoteCheckpoint(ctx context.Context, listingID int64, checkpoint string) error {
	_, err := exec(ctx, s, "note a checkpoint", noteCheckpoint, listingID, checkpoint)
	return err
}
