-- Deletes inside deletes. A purge waits for the sweep of a deleted subtree: the rows that it would remove are how the sweep, and the
-- live views until it is over, find what lies below. No restore shows a page below a subtree that is still deleted, and the restore
-- of a page that was renamed since ends its delete too.

-- +goose Up

-- +goose StatementBegin
-- Purges up to a bound of pages whose undo window is over (of one delete, or of any): revisions, chunks, embeddings that
-- nothing else uses, failures, the row itself. What lies below an excluded subtree leaves an exclusion of its own behind,
-- so that it can't come back through a tree whose top is gone. A subtree that is still being swept is left for later, its top
-- included. Returns how many pages went.
CREATE OR REPLACE FUNCTION purge_pages(d bigint, bound integer) RETURNS integer LANGUAGE plpgsql AS $$
DECLARE
    victim record;
    taken integer := 0;
    above text;
BEGIN
    FOR victim IN
        SELECT p.folder_id, p.page_id, p.source_id, p.parent_source_id, p.fingerprint, p.tombstone_reason FROM pages p
        WHERE p.purge_at <= now() AND p.tombstoned_at IS NOT NULL AND (d IS NULL OR p.delete_id = d)
          AND NOT EXISTS (SELECT 1 FROM in_flight i WHERE i.folder_id = p.folder_id AND i.page_id = p.page_id)
          AND NOT EXISTS (SELECT 1 FROM swept_pages s WHERE s.folder_id = p.folder_id AND s.page_id = p.page_id)
        ORDER BY p.folder_id, p.page_id LIMIT bound FOR NO KEY UPDATE SKIP LOCKED
    LOOP
        taken := taken + 1;
        IF victim.tombstone_reason = 'person' THEN
            above := covering_exclusion(victim.folder_id, victim.source_id, victim.parent_source_id);
            IF above IS NOT NULL AND above <> victim.source_id THEN
                INSERT INTO exclusions (folder_id, source_id, page_id, fingerprint, subtree, covered_by, who)
                SELECT victim.folder_id, victim.source_id, victim.page_id, victim.fingerprint, true,
                       CASE WHEN e.covered_by = '' THEN e.source_id ELSE e.covered_by END, e.who FROM exclusions e
                WHERE e.folder_id = victim.folder_id AND e.source_id = above ON CONFLICT DO NOTHING;
            END IF;
        END IF;
        PERFORM erase_page(victim.folder_id, victim.page_id);
    END LOOP;
    UPDATE deletes x SET purged_at = now(), finished_at = coalesce(x.finished_at, now())
    WHERE x.page_id IS NOT NULL AND x.restored_at IS NULL AND x.purged_at IS NULL AND x.purge_at <= now() AND (d IS NULL OR x.delete_id = d)
      AND NOT EXISTS (SELECT 1 FROM pages p WHERE p.delete_id = x.delete_id)
      AND NOT EXISTS (SELECT 1 FROM exclusions e WHERE e.folder_id = x.folder_id AND e.source_id = x.source_id AND e.sweeping);
    RETURN taken;
END $$;
-- +goose StatementEnd

-- +goose StatementBegin
-- Restores a page that a person deleted: its last published revision is visible again at once. Pages below come back in
-- batches of restore_swept. After a purge only the exclusion is lifted, so that the next sync reads the page again. Below a
-- deleted subtree nothing is restored.
CREATE OR REPLACE FUNCTION restore_page(f text, sid text, who_asks text) RETURNS TABLE (outcome text, page_id text, delete_id bigint, subtree boolean)
LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
    page pages;
    folder folders;
    above text;
    ex exclusions;
BEGIN
    PERFORM pg_advisory_xact_lock(fence_key(f));
    SELECT * INTO folder FROM folders WHERE folders.folder_id = f FOR SHARE;
    IF NOT FOUND THEN outcome := 'folder_unknown'; RETURN NEXT; RETURN; END IF;
    IF folder.deleted_at IS NOT NULL THEN outcome := 'folder_deleted'; RETURN NEXT; RETURN; END IF;
    SELECT * INTO page FROM pages WHERE pages.folder_id = f AND pages.source_id = sid FOR NO KEY UPDATE;
    SELECT * INTO ex FROM exclusions e WHERE e.folder_id = f AND e.source_id = sid;
    IF page.page_id IS NULL THEN -- named by what it was called before it was renamed
        SELECT * INTO page FROM pages WHERE pages.folder_id = f AND pages.page_id = ex.page_id FOR NO KEY UPDATE;
    END IF;
    IF page.page_id IS NULL AND ex.source_id IS NULL THEN outcome := 'page_unknown'; RETURN NEXT; RETURN; END IF;
    -- The subtree above it comes first, though a person deleted the page itself too: shown, it would be excluded all the same.
    above := CASE WHEN ex.covered_by <> '' THEN ex.covered_by ELSE covering_exclusion(f, '', page.parent_source_id) END;
    IF above IS NOT NULL THEN
        outcome := 'covered'; page_id := (SELECT e.page_id FROM exclusions e WHERE e.folder_id = f AND e.source_id = above); RETURN NEXT; RETURN;
    END IF;
    IF ex.source_id IS NULL THEN outcome := 'not_deleted'; page_id := page.page_id; RETURN NEXT; RETURN; END IF;
    IF page.purging_at IS NOT NULL THEN outcome := 'purging'; page_id := page.page_id; RETURN NEXT; RETURN; END IF;
    outcome := CASE WHEN page.page_id IS NULL THEN 'lifted' ELSE 'restored' END;
    page_id := coalesce(page.page_id, ex.page_id); subtree := ex.subtree;
    -- By the page, which may have been renamed since: its delete knows the old name, and each name that it had is excluded.
    DELETE FROM exclusions e WHERE e.folder_id = f AND (e.source_id = sid OR e.covered_by = sid OR e.page_id = ex.page_id AND e.covered_by = '');
    UPDATE deletes x SET restored_at = now(), finished_at = coalesce(x.finished_at, now())
    WHERE x.folder_id = f AND x.page_id = ex.page_id AND x.restored_at IS NULL AND x.purged_at IS NULL RETURNING x.delete_id INTO delete_id;
    IF page.page_id IS NOT NULL THEN PERFORM untombstone_page(f, page.page_id); END IF;
    INSERT INTO sync_events (kind, folder_id, page_id, actor) VALUES ('restored', f, page_id, who_asks);
    RETURN NEXT;
END $$;
-- +goose StatementEnd
