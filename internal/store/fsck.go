package store

import "context"

// Drift is a difference that a query finds inside the database.
type Drift struct {
	Kind     string
	FolderID string
	PageID   string
	Detail   string
}

const drifts = `
SELECT 'staged_leftover' AS kind, r.folder_id, r.page_id, r.revision_id::text AS detail FROM revisions r
WHERE r.state = 'staged' AND r.staged_at < now() - interval '10 minutes'
  AND NOT EXISTS (SELECT 1 FROM in_flight i WHERE i.folder_id = r.folder_id AND i.page_id = r.page_id AND i.token = r.token)
UNION ALL
SELECT 'published_pointer_wrong', p.folder_id, p.page_id, p.published_revision_id::text FROM pages p
WHERE p.published_revision_id IS NOT NULL
  AND NOT EXISTS (SELECT 1 FROM revisions r
                  WHERE r.revision_id = p.published_revision_id AND r.folder_id = p.folder_id AND r.page_id = p.page_id AND r.state = 'published')
UNION ALL
SELECT 'published_without_pointer', r.folder_id, r.page_id, r.revision_id::text
FROM revisions r JOIN pages p ON p.folder_id = r.folder_id AND p.page_id = r.page_id
WHERE r.state = 'published' AND p.published_revision_id IS DISTINCT FROM r.revision_id
UNION ALL
SELECT 'excluded_but_visible', p.folder_id, p.page_id, '' FROM pages p JOIN exclusions e ON e.folder_id = p.folder_id AND e.source_id = p.source_id
WHERE p.tombstone_reason IS DISTINCT FROM 'person' AND NOT e.sweeping
UNION ALL
SELECT 'orphan_embeddings', '', '', count(*)::text FROM embeddings e
WHERE e.created_at < now() - interval '25 hours' AND NOT EXISTS (SELECT 1 FROM chunks c WHERE c.text_hash = e.text_hash) HAVING count(*) > 0
UNION ALL
SELECT 'purge_overdue', p.folder_id, p.page_id, p.purge_at::text FROM pages p WHERE p.purge_at < now() - interval '1 hour'
UNION ALL
SELECT 'models_missing', p.folder_id, p.page_id, '' FROM pages p JOIN revisions r ON r.revision_id = p.published_revision_id
WHERE r.published_at < now() - interval '1 hour' AND p.tombstoned_at IS NULL
  AND (r.summary IS NULL OR EXISTS (SELECT 1 FROM chunks c WHERE c.revision_id = r.revision_id AND c.model IS NULL))
  AND NOT EXISTS (SELECT 1 FROM due_reads d WHERE d.folder_id = p.folder_id AND d.page_id = p.page_id)
ORDER BY 1, 2, 3`

// Drifts gives what doesn't fit together inside the database.
func (s *Store) Drifts(ctx context.Context) ([]Drift, error) {
	return list[Drift](ctx, s, "look for drift", drifts)
}

const mendExcluded = `SELECT tombstone_page($1, $2, 'person', NULL)`

// MendExcluded hides a page whose exclusion says that a person deleted it.
func (s *Store) MendExcluded(ctx context.Context, folder, page string) error {
	_, err := scalar[bool](ctx, s, "hide an excluded page", mendExcluded, folder, page)
	return err
}

const mendPointer = `
UPDATE pages p SET published_revision_id = r.revision_id FROM revisions r
WHERE p.folder_id = $1 AND p.page_id = $2 AND r.folder_id = p.folder_id AND r.page_id = p.page_id AND r.state = 'published'`

// MendPointer points a page to its published revision.
func (s *Store) MendPointer(ctx context.Context, folder, page string) error {
	_, err := exec(ctx, s, "mend a page's pointer", mendPointer, folder, page)
	return err
}

const renewIncarnation = `
WITH gone AS (DELETE FROM in_flight RETURNING 1), renewed AS (UPDATE deployment SET incarnation = gen_random_uuid() RETURNING 1)
SELECT (SELECT count(*) FROM gone) FROM renewed`

// RenewIncarnation fences every run that began before the database was restored, and returns how many rows were in flight.
func (s *Store) RenewIncarnation(ctx context.Context) (int64, error) {
	return scalar[int64](ctx, s, "renew the incarnation", renewIncarnation)
}

// SourceDrift is a document that a dry listing saw otherwise than the store has it.
type SourceDrift struct {
	Change   string
	SourceID string
	PageID   string
}

const sourceDrifts = `
SELECT e.change, e.source_id, coalesce(e.page_id, '') AS page_id FROM listings l JOIN listing_entries e ON e.listing_id = l.listing_id
WHERE l.workflow_id = $1 AND e.kind = 'document' AND (e.change IN ('new', 'changed', 'revived') OR e.moved)
  AND NOT covering_listed(l.listing_id, l.folder_id, e.source_id, e.parent_source_id)
  AND NOT EXISTS (SELECT 1 FROM pages p WHERE p.folder_id = l.folder_id AND p.page_id = e.page_id AND p.tombstone_reason = 'person')
UNION ALL
SELECT 'vanished', p.source_id, p.page_id FROM listings l JOIN pages p ON p.folder_id = l.folder_id
WHERE l.workflow_id = $1 AND l.verdict = 'complete' AND p.kind = 'document' AND p.tombstoned_at IS NULL AND p.created_seq < l.began_seq
  AND NOT EXISTS (SELECT 1 FROM listed_pages(l.listing_id) s WHERE s.page_no = p.page_no)
  AND NOT EXISTS (SELECT 1 FROM hold_pages h JOIN holds x ON x.hold_id = h.hold_id AND x.state = 'open'
                  WHERE h.folder_id = p.folder_id AND h.page_id = p.page_id)
ORDER BY 1, 2`

// SourceDrifts gives what a dry run's listing saw otherwise than the store has it.
func (s *Store) SourceDrifts(ctx context.Context, workflowID string) ([]SourceDrift, error) {
	return list[SourceDrift](ctx, s, "compare with the source", sourceDrifts, workflowID)
}
