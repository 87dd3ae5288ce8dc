package store

import (
	"context"

	"github.com/loresync/loresync/internal/knowledge"
)

const runs = runColumns + `WHERE $1 = '' OR folder_id = $1 ORDER BY requested_at DESC, workflow_id LIMIT nullif($2, 0)`

// Runs gives the sync runs of a folder, or of all with "", newest first; limit 0 means no bound.
func (s *Store) Runs(ctx context.Context, folder string, limit int) ([]knowledge.Run, error) {
	return listRuns(ctx, s, "read sync runs", runs, folder, limit)
}

// Only a folder run has a segment of its own to be named by.
const runsByRef = runColumns + `
WHERE run_id = $1 OR workflow_id = $1 OR (kind = 'folder' AND split_part(workflow_id, '/', 4) = $1)
ORDER BY (run_id = $1 OR workflow_id = $1) IS TRUE DESC, requested_at DESC LIMIT 1`

// FindRun finds a run by its run id, its Workflow ID, or the last segment of that; ErrNotFound without one.
func (s *Store) FindRun(ctx context.Context, ref string) (knowledge.Run, error) {
	found, err := listRuns(ctx, s, "read a sync run", runsByRef, ref)
	if err == nil && (ref == "" || len(found) == 0) {
		err = ErrNotFound
	}
	if err != nil {
		return knowledge.Run{}, err
	}
	return found[0], nil
}

const failuresOfRun = pageColumns + `
JOIN listings l ON l.folder_id = s.folder_id
JOIN listing_entries e ON e.listing_id = l.listing_id AND e.page_id = s.page_id
WHERE l.workflow_id = $1 AND e.state IN ('failed', 'not_settled') ORDER BY s.path, s.page_id LIMIT $2`

// RunFailures gives the pages that a run listed and whose sync failed or did not settle.
func (s *Store) RunFailures(ctx context.Context, workflowID string, limit int) ([]knowledge.Page, error) {
	return s.readPages(ctx, "read a run's failures", failuresOfRun, workflowID, limit)
}

// What a later whole listing saw or missed is its own to tell: then there is no answer any more.
const unseenByRun = `
SELECT (SELECT count(*) FROM pages p
    WHERE p.folder_id = l.folder_id AND p.kind = 'document' AND p.tombstoned_at IS NULL AND p.unseen_since <= l.began_at AND NOT p.removal_rejected
      AND NOT EXISTS (SELECT 1 FROM hold_pages hp JOIN holds h ON h.hold_id = hp.hold_id AND h.state = 'open'
                      WHERE hp.folder_id = p.folder_id AND hp.page_id = p.page_id)) AS unseen
FROM listings l
WHERE l.workflow_id = $1 AND l.full_listing AND NOT l.dry_run AND l.reconciled_at IS NOT NULL
  AND NOT EXISTS (SELECT 1 FROM listings x WHERE x.folder_id = l.folder_id AND x.began_seq > l.began_seq AND x.reconciled_at IS NOT NULL)`

// UnseenByRun counts the pages that a run's whole listing did not see and that stay for now; nil when the run had none, or is
// no longer the last that had.
func (s *Store) UnseenByRun(ctx context.Context, workflowID string) (*int64, error) {
	rows, err := list[struct{ Unseen int64 }](ctx, s, "count unseen pages", unseenByRun, workflowID)
	if err != nil || len(rows) == 0 {
		return nil, err
	}
	return &rows[0].Unseen, nil
}

const unseenByDryRun = `
SELECT p.page_id, p.source_id, p.title FROM listings l
JOIN pages p ON p.folder_id = l.folder_id AND p.kind = 'document' AND p.tombstoned_at IS NULL AND p.created_seq < l.began_seq
WHERE l.workflow_id = $1 AND l.dry_run AND l.verdict = 'complete'
  AND NOT EXISTS (SELECT 1 FROM listed_pages(l.listing_id) s WHERE s.page_no = p.page_no)
ORDER BY p.path, p.page_id LIMIT $2`

// UnseenByDryRun names the pages that a dry run did not see, which two full runs in a row would remove.
func (s *Store) UnseenByDryRun(ctx context.Context, workflowID string, limit int) ([]knowledge.HoldPage, error) {
	return list[knowledge.HoldPage](ctx, s, "read what a dry run did not see", unseenByDryRun, workflowID, limit)
}

const noteRunCancelled = `
INSERT INTO sync_events (kind, folder_id, actor, data) VALUES ('run_cancelled', nullif($1, ''), $2, jsonb_build_object('workflow_id', $3::text))`

// NoteRunCancelled records who cancelled a run.
func (s *Store) NoteRunCancelled(ctx context.Context, folder, workflowID, actor string) error {
	_, err := exec(ctx, s, "note a cancel", noteRunCancelled, folder, actor, workflowID)
	return err
}

// The due read is a net: should the process end before it has asked for all pages, the minute Schedule asks for the rest.
const retryFailures = `
WITH again AS (
    UPDATE page_failures x SET attempts = 0, retry_at = now(), quarantined_at = NULL FROM pages p
    WHERE x.folder_id = $1 AND ($2 = '' OR x.class = $2) AND p.folder_id = x.folder_id AND p.page_id = x.page_id AND p.tombstoned_at IS NULL
    RETURNING x.folder_id, x.page_id
), due AS (
    INSERT INTO due_reads AS d (folder_id, page_id, due_at, reason) SELECT folder_id, page_id, now() + interval '1 minute', 'retry' FROM again
    ON CONFLICT (folder_id, page_id) DO UPDATE SET due_at = least(d.due_at, excluded.due_at), attempts = 0
), noted AS (
    INSERT INTO sync_events (kind, folder_id, actor, data)
    SELECT 'retried', $1, $3, jsonb_build_object('class', $2::text, 'pages', count(*)) FROM again HAVING count(*) > 0
)
SELECT page_id FROM again ORDER BY page_id`

// RetryFailures ends the waiting and the quarantine of a folder's failing pages, of one class or of all with "", and gives
// their ids.
func (s *Store) RetryFailures(ctx context.Context, folder, class, actor string) ([]string, error) {
	rows, err := list[struct{ PageID string }](ctx, s, "let failed pages try again", retryFailures, folder, class, actor)
	pages := make([]string, len(rows))
	for i, row := range rows {
		pages[i] = row.PageID
	}
	return pages, err
}

const failureClasses = `SELECT DISTINCT class FROM page_failures WHERE folder_id = $1 ORDER BY class`

// FailureClasses gives the classes of a folder's failures.
func (s *Store) FailureClasses(ctx context.Context, folder string) ([]string, error) {
	rows, err := list[struct{ Class string }](ctx, s, "read the classes of failures", failureClasses, folder)
	classes := make([]string, len(rows))
	for i, row := range rows {
		classes[i] = row.Class
	}
	return classes, err
}
