package store

import (
	"context"
	"time"

	"github.com/loresync/loresync/internal/knowledge"
)

const holds = `
SELECT h.hold_id, h.folder_id, h.reason, h.state, h.created_at, h.decided_at, h.decided_by, h.removed, h.kept FROM holds h
JOIN folders f ON f.folder_id = h.folder_id
WHERE ($1 = '' OR h.hold_id = $1) AND ($2 OR (h.state = 'open' AND f.deleted_at IS NULL)) ORDER BY h.created_at, h.hold_id`

const pagesOfHolds = `
SELECT hp.hold_id, p.page_id, p.source_id, p.title FROM hold_pages hp
JOIN pages p ON p.folder_id = hp.folder_id AND p.page_id = hp.page_id
WHERE hp.hold_id = ANY ($1) ORDER BY hp.hold_id, p.path, p.page_id`

// Holds gives the open holds, or all of them, oldest first.
func (s *Store) Holds(ctx context.Context, all bool) ([]knowledge.Hold, error) {
	return s.readHolds(ctx, "", all)
}

// Hold gives one hold, decided or not; ErrNotFound without one.
func (s *Store) Hold(ctx context.Context, id string) (knowledge.Hold, error) {
	found, err := s.readHolds(ctx, id, true)
	if err == nil && (id == "" || len(found) == 0) {
		err = ErrNotFound
	}
	if err != nil {
		return knowledge.Hold{}, err
	}
	return found[0], nil
}

func (s *Store) readHolds(ctx context.Context, id string, all bool) ([]knowledge.Hold, error) {
	found, err := list[knowledge.Hold](ctx, s, "read holds", holds, id, all)
	if err != nil {
		return nil, err
	}
	keys, index := make([]string, len(found)), make(map[string]int, len(found))
	for i := range found {
		found[i].Pages = []knowledge.HoldPage{}
		keys[i], index[found[i].HoldID] = found[i].HoldID, i
	}
	type row struct{ HoldID, PageID, SourceID, Title string }
	pages, err := list[row](ctx, s, "read the pages of holds", pagesOfHolds, keys)
	for _, p := range pages {
		hold := &found[index[p.HoldID]]
		hold.Pages = append(hold.Pages, knowledge.HoldPage{PageID: p.PageID, SourceID: p.SourceID, Title: p.Title})
	}
	return found, err
}

// HeldPage is a page of a hold, and what speaks for its being gone.
type HeldPage struct {
	PageID   string `json:"page_id"`
	SourceID string `json:"source_id"`
	Title    string `json:"title"`
	URL      string `json:"url"`
	// UnseenSince is when the first complete listing began that did not see it; nil when its source said itself that it is gone.
	UnseenSince *time.Time `json:"unseen_since"`
	// Strikes are the complete listings in a row that did not see it.
	Strikes         int  `json:"strikes"`
	RemovalRejected bool `json:"removal_rejected"`
}

const heldPages = `
SELECT p.page_id, p.source_id, p.title, p.url, p.unseen_since, p.strikes, p.removal_rejected
FROM hold_pages hp JOIN pages p ON p.folder_id = hp.folder_id AND p.page_id = hp.page_id
WHERE hp.hold_id = $1 ORDER BY p.path, p.page_id`

// HeldPages gives the pages of a hold with what speaks for their being gone.
func (s *Store) HeldPages(ctx context.Context, holdID string) ([]HeldPage, error) {
	return list[HeldPage](ctx, s, "read the pages of a hold", heldPages, holdID)
}

const decideHold = `
WITH decided AS (
    UPDATE holds h SET state = $2, decided_at = now(), decided_by = $3, approved_pages = CASE WHEN $2 = 'approved' THEN
        ARRAY(SELECT x.page_id FROM hold_pages x WHERE x.hold_id = h.hold_id ORDER BY x.page_id) ELSE '{}' END
    WHERE hold_id = $1 AND state = 'open' RETURNING hold_id, folder_id
)
INSERT INTO sync_events (kind, folder_id, actor, data)
SELECT 'hold_' || $2, folder_id, $3, jsonb_build_object('hold_id', hold_id) FROM decided`

// DecideHold makes an open hold approved or rejected; false when it isn't open any more.
func (s *Store) DecideHold(ctx context.Context, id, state, actor string) (bool, error) {
	n, err := exec(ctx, s, "decide a hold", decideHold, id, state, actor)
	return n > 0, err
}

// Whoever approves once more may have more of them removed; what came back since counts no less as removed.
const settleHold = `
WITH now AS (
    SELECT h.hold_id, count(*) FILTER (WHERE p.page_id IS NULL OR p.tombstoned_at IS NOT NULL) AS removed,
           count(*) FILTER (WHERE p.page_id IS NOT NULL AND p.tombstoned_at IS NULL) AS kept
    FROM holds h CROSS JOIN unnest(h.approved_pages) AS a (page_id)
    LEFT JOIN pages p ON p.folder_id = h.folder_id AND p.page_id = a.page_id
    WHERE h.hold_id = $1 AND h.state = 'approved' GROUP BY h.hold_id
)
UPDATE holds h SET removed = now.removed, kept = now.kept FROM now
WHERE h.hold_id = now.hold_id AND (h.removed IS NULL OR h.removed < now.removed)`

// SettleHold notes what became of the pages of an approved hold, once all were looked at.
func (s *Store) SettleHold(ctx context.Context, id string) error {
	_, err := exec(ctx, s, "note what became of a hold", settleHold, id)
	return err
}

const keepHeldPages = `
UPDATE pages p SET removal_rejected = true FROM (
    SELECT x.folder_id, x.page_id FROM hold_pages hp JOIN pages x ON x.folder_id = hp.folder_id AND x.page_id = hp.page_id
    WHERE hp.hold_id = $1 AND x.unseen_since IS NOT NULL AND NOT x.removal_rejected
    ORDER BY x.page_id LIMIT 500 FOR NO KEY UPDATE OF x) held
WHERE p.folder_id = held.folder_id AND p.page_id = held.page_id`

// KeepHeldPages notes on the pages of a rejected hold that their removal isn't to be proposed again until they were seen.
// It goes in batches, and a second call goes on where a crash ended the first.
func (s *Store) KeepHeldPages(ctx context.Context, id string) (int64, error) {
	var kept int64
	for {
		n, err := exec(ctx, s, "keep the pages of a hold", keepHeldPages, id)
		kept += n
		if err != nil || n == 0 {
			return kept, err
		}
	}
}
