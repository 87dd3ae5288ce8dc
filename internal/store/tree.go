package store

import (
	"context"

	"github.com/loresync/loresync/internal/knowledge"
)

const reportChildren = `SELECT report_children($1, $2, $3, $4, $5, $6, $7, $8, $9)`

// ReportChildren records the pages that a sync saw below the page it holds: in the listings of the folder that are under way,
// or, with none, as due to be read. It returns how many were new to the folder. A holder that was overtaken reports nothing.
func (s *Store) ReportChildren(ctx context.Context, h knowledge.Holder, children []knowledge.Entry) (int, error) {
	n := len(children)
	sids, candidates, kinds := make([]string, n), make([]string, n), make([]string, n)
	titles, urls, versions := make([]string, n), make([]string, n), make([]string, n)
	for i, c := range children {
		sids[i], candidates[i], kinds[i] = c.SourceID, candidateID(c.SourceID, true), string(c.Kind)
		titles[i], urls[i], versions[i] = knowledge.Title(c.Title), c.URL, c.Version
	}
	return scalar[int](ctx, s, "report children", reportChildren, h.Folder, h.Page, h.Token, sids, candidates, kinds, titles, urls, versions)
}

const countKnownEdges = `SELECT count_known_edges($1)`

// CountKnownEdges counts pages as seen that hang under unchanged pages of a full listing and that only reading finds. It
// returns how many came to be read; called until there are none, it goes down the tree level by level.
func (s *Store) CountKnownEdges(ctx context.Context, listingID int64) (int, error) {
	return scalar[int](ctx, s, "count known edges", countKnownEdges, listingID)
}

const knownParents = `SELECT source_id, parent_source_id FROM pages WHERE folder_id = $1 AND purging_at IS NULL`

// KnownParents gives the parent of every known page of a folder, by source id; empty directly below the root.
func (s *Store) KnownParents(ctx context.Context, folder string) (map[string]string, error) {
	type row struct{ SourceID, ParentSourceID string }
	rows, err := list[row](ctx, s, "read the known tree", knownParents, folder)
	parents := make(map[string]string, len(rows))
	for _, r := range rows {
		parents[r.SourceID] = r.ParentSourceID
	}
	return parents, err
}

const toldPages = `
SELECT p.page_id, p.source_id FROM listing_told t JOIN listings l ON l.listing_id = t.listing_id
JOIN pages p ON p.folder_id = l.folder_id AND p.source_id = t.source_id
WHERE t.listing_id = $1 AND NOT l.dry_run AND p.kind = 'document' AND p.tombstoned_at IS NULL AND NOT p.removal_rejected
  AND EXISTS (SELECT 1 FROM folders f WHERE f.folder_id = l.folder_id AND f.generation = l.folder_generation AND f.deleted_at IS NULL)
ORDER BY p.page_id`

// ToldPages gives the visible pages of which the source said during a listing that they are gone.
func (s *Store) ToldPages(ctx context.Context, listingID int64) ([]knowledge.Lost, error) {
	return list[knowledge.Lost](ctx, s, "read what the source told gone", toldPages, listingID)
}

const leaveHolds = `
DELETE FROM hold_pages h USING listings l, holds o
WHERE l.listing_id = $1 AND NOT l.dry_run AND NOT l.full_listing AND o.hold_id = h.hold_id AND o.state = 'open' AND h.folder_id = l.folder_id
  AND EXISTS (SELECT 1 FROM pages p JOIN listed_pages(l.listing_id) s ON s.page_no = p.page_no
              WHERE p.folder_id = h.folder_id AND p.page_id = h.page_id
                AND NOT EXISTS (SELECT 1 FROM listing_told t WHERE t.listing_id = l.listing_id AND t.source_id = p.source_id))`

const closeEmptyHolds = `
UPDATE holds h SET state = 'closed', decided_at = now()
WHERE h.state = 'open' AND h.folder_id = (SELECT folder_id FROM listings WHERE listing_id = $1)
  AND NOT EXISTS (SELECT 1 FROM hold_pages x WHERE x.hold_id = h.hold_id)`

// LeaveHolds takes pages that an incremental listing saw again out of the holds that they wait in, and closes empty ones. Full
// listings do it where they record who was absent.
func (s *Store) LeaveHolds(ctx context.Context, listingID int64) error {
	left, err := exec(ctx, s, "take pages out of holds", leaveHolds, listingID)
	if err != nil || left == 0 {
		return err
	}
	_, err = exec(ctx, s, "close empty holds", closeEmptyHolds, listingID)
	return err
}

const forgetContainers = `
DELETE FROM pages p USING listing_told t, listings l, folders f
WHERE t.listing_id = $1 AND l.listing_id = t.listing_id AND NOT l.dry_run AND f.folder_id = l.folder_id AND f.generation = l.folder_generation
  AND p.folder_id = l.folder_id AND p.source_id = t.source_id AND p.kind = 'container' AND p.tombstoned_at IS NULL
  AND NOT EXISTS (SELECT 1 FROM listing_entries e WHERE e.listing_id = l.listing_id AND e.source_id = p.source_id)`

// ForgetContainers drops the containers of which the source said during a listing that they are gone. They hold nothing, but what
// moves below one that is out of the folder would seem to be in it. Wrongly dropped, one comes back with the next full listing.
func (s *Store) ForgetContainers(ctx context.Context, listingID int64) error {
	_, err := exec(ctx, s, "forget containers", forgetContainers, listingID)
	return err
}

const recordCoverage = `
UPDATE sync_runs s SET coverage = coalesce((
    SELECT jsonb_object_agg(found_by, n) FROM (
        SELECT p.found_by, count(*) AS n FROM listed_pages($2) x JOIN pages p ON p.page_no = x.page_no
        WHERE p.kind = 'document' GROUP BY p.found_by) c), '{}')
WHERE s.workflow_id = $1`

// RecordCoverage notes on a run how the pages that its listing saw were found.
func (s *Store) RecordCoverage(ctx context.Context, workflowID string, listingID int64) error {
	_, err := exec(ctx, s, "record the coverage", recordCoverage, workflowID, listingID)
	return err
}
