-- What readers see. Liveness is asked at the time of the answer: nothing here is materialised.

-- +goose Up

-- Pages below a subtree delete that was accepted and whose pages have not all been tombstoned yet.
CREATE VIEW swept_pages AS
WITH RECURSIVE below (folder_id, source_id, page_id) AS (
    SELECT p.folder_id, p.source_id, p.page_id
    FROM exclusions e JOIN pages p ON p.folder_id = e.folder_id AND p.source_id = e.source_id
    WHERE e.sweeping
    UNION
    SELECT c.folder_id, c.source_id, c.page_id
    FROM below b JOIN pages c ON c.folder_id = b.folder_id AND c.parent_source_id = b.source_id
)
SELECT folder_id, source_id, page_id FROM below;

CREATE VIEW live_pages AS
SELECT p.folder_id, p.page_id, p.source_id, p.title, p.url, p.path, r.revision_id, r.markdown, coalesce(r.summary, '') AS summary,
       p.synced_at,
       greatest(p.read_at, CASE WHEN p.unseen_since IS NULL AND p.created_seq < l.began_seq THEN l.completed_at END) AS verified_at,
       p.source_edited_at
FROM pages p
JOIN folders f ON f.folder_id = p.folder_id AND f.deleted_at IS NULL
JOIN revisions r ON r.revision_id = p.published_revision_id
LEFT JOIN folder_listings l ON l.folder_id = p.folder_id
WHERE p.tombstoned_at IS NULL
  AND NOT EXISTS (SELECT 1 FROM swept_pages s WHERE s.folder_id = p.folder_id AND s.page_id = p.page_id);

CREATE VIEW live_chunks AS
SELECT p.folder_id, p.page_id, p.source_id, p.title, p.url, p.path, p.revision_id, c.chunk_no, c.heading_path, c.body AS text, c.text_hash,
       c.terms, c.model, c.dimensions, e.embedding, p.summary, p.synced_at, p.verified_at, p.source_edited_at
FROM live_pages p
JOIN chunks c ON c.revision_id = p.revision_id
LEFT JOIN embeddings e ON e.model = c.model AND e.dimensions = c.dimensions AND e.text_hash = c.text_hash;

-- +goose StatementBegin
-- The nearest ancestor that readers can see as the page's place in the tree; null directly below the root.
CREATE FUNCTION live_parent(f text, parent text) RETURNS text LANGUAGE sql STABLE AS $$
    WITH RECURSIVE up (source_id, parent_source_id, page_id, hidden, depth) AS (
        SELECT p.source_id, p.parent_source_id, p.page_id, p.tombstoned_at IS NOT NULL, 1
        FROM pages p WHERE p.folder_id = f AND p.source_id = parent
        UNION ALL
        SELECT p.source_id, p.parent_source_id, p.page_id, p.tombstoned_at IS NOT NULL, up.depth + 1
        FROM up JOIN pages p ON p.folder_id = f AND p.source_id = up.parent_source_id
        WHERE up.hidden AND up.depth < 200
    )
    SELECT page_id FROM up WHERE NOT hidden ORDER BY depth LIMIT 1
$$;
-- +goose StatementEnd

-- Every page with its state as people see it.
CREATE VIEW page_states AS
SELECT p.folder_id, p.page_id, p.page_no, p.source_id, p.parent_source_id, live_parent(p.folder_id, p.parent_source_id) AS parent_page_id,
       p.kind, p.title, p.url, p.path,
       CASE WHEN p.tombstone_reason = 'person' OR s.page_id IS NOT NULL THEN 'excluded'
            WHEN p.tombstone_reason = 'source' THEN 'tombstoned'
            WHEN p.published_revision_id IS NOT NULL THEN 'live'
            WHEN p.skip_class IS NOT NULL THEN 'skipped'
            ELSE 'pending' END AS state,
       CASE WHEN p.tombstone_reason = 'person' OR s.page_id IS NOT NULL THEN 'deleted by a person'
            WHEN p.tombstone_reason = 'source' THEN 'the source no longer has it'
            WHEN p.skip_class IS NOT NULL THEN p.skip_class || ': ' || p.skip_sentence
            ELSE '' END AS reason,
       pf.class AS failure_class, pf.sentence AS failure_sentence, pf.since AS failure_since, pf.attempts AS failure_attempts,
       pf.quarantined_at,
       i.page_id IS NOT NULL AS running,
       (SELECT hp.hold_id FROM hold_pages hp JOIN holds h ON h.hold_id = hp.hold_id AND h.state = 'open'
        WHERE hp.folder_id = p.folder_id AND hp.page_id = p.page_id) AS hold_id,
       p.synced_at,
       greatest(p.read_at, CASE WHEN p.unseen_since IS NULL AND p.created_seq < l.began_seq THEN l.completed_at END) AS verified_at,
       p.source_edited_at, p.found_by, p.purge_at, p.tombstoned_at, p.published_revision_id, p.unseen_since, p.strikes
FROM pages p
LEFT JOIN swept_pages s ON s.folder_id = p.folder_id AND s.page_id = p.page_id
LEFT JOIN page_failures pf ON pf.folder_id = p.folder_id AND pf.page_id = p.page_id
LEFT JOIN in_flight i ON i.folder_id = p.folder_id AND i.page_id = p.page_id
LEFT JOIN folder_listings l ON l.folder_id = p.folder_id;
