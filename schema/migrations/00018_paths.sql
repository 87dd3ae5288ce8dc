-- Pages whose path changed, because a container above them was renamed or moved, get the new one without being read.

-- +goose Up

-- +goose StatementBegin
-- Compares a batch with what is known. Unchanged pages are packed; the others get a row in listing_entries.
CREATE OR REPLACE FUNCTION stage_listing_batch(l bigint, n integer, returned_items integer, next_cursor text, sids text[], candidates text[], parents text[],
    kinds text[], titles text[], urls text[], paths text[], versions text[], edits timestamptz[], skip_classes text[], skip_sentences text[],
    finders text[], told text[])
RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    listing listings;
    stopped boolean;
    seq bigint := nextval('moments');
BEGIN
    SELECT * INTO listing FROM listings WHERE listing_id = l;
    SELECT f.state <> 'active' OR f.generation <> listing.folder_generation OR c.paused_at IS NOT NULL INTO stopped
    FROM folders f JOIN connections c ON c.name = f.connection WHERE f.folder_id = listing.folder_id;
    IF stopped IS NULL OR stopped THEN RETURN 'stopped'; END IF;
    WITH item AS (
        SELECT DISTINCT ON (sid) * FROM unnest(sids, candidates, parents, kinds, titles, urls, paths, versions, edits, skip_classes, skip_sentences, finders)
            WITH ORDINALITY AS u (sid, candidate, parent, kind, title, url, path, version, edited, skip_class, skip_sentence, found_by, pos)
        ORDER BY sid, pos DESC
    ), seen AS (
        SELECT i.*, p.page_no, p.page_id, p.parent_source_id AS known_parent,
            p.page_no IS NOT NULL AND (p.listed_title <> i.title OR p.url <> i.url
                -- A container above it was renamed. Sources without paths tell none.
                OR i.path <> '' AND p.path <> i.path
                -- Null is a parent that the source can't tell: what is known of it stays.
                OR i.parent IS NOT NULL AND p.parent_source_id <> i.parent) AS moved,
            p.page_no IS NOT NULL AND p.found_by = 'tree' AND i.found_by = 'search' AS refound,
            CASE
                WHEN i.kind = 'container' THEN CASE WHEN p.page_no IS NULL THEN 'container' ELSE 'known_container' END
                WHEN e.source_id IS NOT NULL OR p.tombstone_reason = 'person' THEN 'excluded'
                WHEN i.skip_class IS NOT NULL THEN
                    CASE WHEN p.skip_class IS NOT DISTINCT FROM i.skip_class AND p.source_version = i.version AND p.tombstoned_at IS NULL
                         THEN 'known_skipped' ELSE 'skipped' END
                WHEN p.page_no IS NULL THEN 'new'
                WHEN x.quarantined_at IS NOT NULL AND x.version = i.version THEN 'quarantined'
                WHEN p.tombstoned_at IS NOT NULL THEN 'revived'
                WHEN p.source_version <> i.version OR p.skip_listed THEN CASE WHEN p.published_revision_id IS NULL THEN 'new' ELSE 'changed' END
                WHEN p.skip_class IS NOT NULL AND p.published_revision_id IS NULL THEN 'known_skipped'
                WHEN p.published_revision_id IS NULL THEN 'new'
                WHEN x.page_id IS NOT NULL THEN 'retry'
                ELSE 'same' END AS change
        FROM item i
        LEFT JOIN pages p ON p.folder_id = listing.folder_id AND p.source_id = i.sid
        LEFT JOIN exclusions e ON e.folder_id = listing.folder_id AND e.source_id = i.sid
        LEFT JOIN page_failures x ON x.folder_id = p.folder_id AND x.page_id = p.page_id
    ), rows AS (
        INSERT INTO listing_entries AS le (listing_id, source_id, page_id, page_no, candidate_id, parent_source_id, kind, title, url, path,
            version, edited_at, skip_class, skip_sentence, change, moved, seen_seq, found_by)
        SELECT l, sid, page_id, page_no, candidate, coalesce(parent, known_parent, ''), kind, title, url, path, version, edited, skip_class, skip_sentence,
            CASE WHEN change = 'known_container' THEN 'container' WHEN change = 'known_skipped' THEN 'skipped' ELSE change END, moved, seq, found_by
        FROM seen
        WHERE change IN ('new', 'changed', 'retry', 'revived', 'skipped', 'container') OR ((moved OR refound) AND change IN ('same', 'known_container', 'known_skipped'))
        ON CONFLICT (listing_id, source_id) DO UPDATE SET parent_source_id = excluded.parent_source_id, title = excluded.title, url = excluded.url,
            path = excluded.path, version = excluded.version, edited_at = excluded.edited_at, seen_seq = excluded.seen_seq
        RETURNING 1
    )
    INSERT INTO listing_batches (listing_id, batch_no, returned, stored, unchanged, skipped, excluded, failed, gone, containers, cursor)
    SELECT l, n, returned_items, cardinality(sids),
        coalesce(array_agg(page_no) FILTER (WHERE change = 'same' AND NOT moved AND NOT refound), '{}'),
        coalesce(array_agg(page_no) FILTER (WHERE change = 'known_skipped' AND NOT moved AND NOT refound), '{}'),
        coalesce(array_agg(page_no) FILTER (WHERE change = 'excluded' AND page_no IS NOT NULL), '{}'),
        coalesce(array_agg(page_no) FILTER (WHERE change = 'quarantined'), '{}'),
        count(*) FILTER (WHERE change = 'excluded' AND page_no IS NULL),
        coalesce(array_agg(page_no) FILTER (WHERE change = 'known_container' AND NOT moved AND NOT refound), '{}'),
        next_cursor
    FROM seen
    ON CONFLICT (listing_id, batch_no) DO NOTHING;
    INSERT INTO listing_told (listing_id, source_id) SELECT DISTINCT l, u FROM unnest(told) AS u ON CONFLICT DO NOTHING;
    RETURN 'staged';
END $$;
-- +goose StatementEnd
