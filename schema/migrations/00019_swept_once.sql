-- A subtree is swept once. A second delete of one that was swept already marked it as being swept again, and no workflow came to
-- end that: its pages were never purged. And a delete that is asked for at once afterwards purges all that it hid, not the top alone.

-- +goose Up

-- +goose StatementBegin
-- Accepts the delete of a page, or of a page and all below it. From its commit on no reader sees them.
CREATE OR REPLACE FUNCTION accept_page_delete(f text, p text, with_subtree boolean, at_once boolean, who_asks text, wf text, undo interval)
RETURNS TABLE (outcome text, delete_id bigint, accepted_at timestamptz, purge_at timestamptz, pages bigint) LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
    page pages;
    folder folders;
    d deletes;
BEGIN
    IF with_subtree THEN
        PERFORM pg_advisory_xact_lock(fence_key(f));
    ELSE
        PERFORM pg_advisory_xact_lock_shared(fence_key(f));
    END IF;
    SELECT * INTO folder FROM folders WHERE folders.folder_id = f FOR SHARE;
    IF NOT FOUND THEN outcome := 'folder_unknown'; RETURN NEXT; RETURN; END IF;
    IF folder.deleted_at IS NOT NULL THEN outcome := 'folder_deleted'; RETURN NEXT; RETURN; END IF;
    SELECT * INTO page FROM pages WHERE pages.folder_id = f AND pages.page_id = p FOR NO KEY UPDATE;
    IF NOT FOUND THEN outcome := 'page_unknown'; RETURN NEXT; RETURN; END IF;
    IF page.kind = 'container' AND NOT with_subtree THEN outcome := 'needs_subtree'; RETURN NEXT; RETURN; END IF;
    SELECT * INTO d FROM deletes x WHERE x.folder_id = f AND x.page_id = p AND x.restored_at IS NULL AND x.purged_at IS NULL FOR NO KEY UPDATE;
    IF FOUND THEN
        outcome := 'joined';
        UPDATE deletes x SET subtree = x.subtree OR with_subtree, now = x.now OR at_once,
            finished_at = CASE WHEN (at_once AND NOT x.now) OR (with_subtree AND NOT x.subtree) THEN NULL ELSE x.finished_at END,
            purge_at = CASE WHEN at_once THEN least(x.purge_at, now()) ELSE x.purge_at END
        WHERE x.delete_id = d.delete_id RETURNING * INTO d;
    ELSE
        outcome := 'accepted';
        INSERT INTO deletes AS x (folder_id, page_id, source_id, subtree, now, who, workflow_id, purge_at)
        VALUES (f, p, page.source_id, with_subtree, at_once, who_asks, wf, CASE WHEN at_once THEN now() ELSE now() + undo END)
        RETURNING * INTO d;
    END IF;
    INSERT INTO exclusions AS e (folder_id, source_id, page_id, fingerprint, subtree, sweeping, who)
    VALUES (f, page.source_id, p, page.fingerprint, with_subtree, with_subtree, who_asks)
    ON CONFLICT (folder_id, source_id) DO UPDATE SET subtree = e.subtree OR with_subtree, sweeping = e.sweeping OR with_subtree AND NOT e.subtree,
        covered_by = CASE WHEN e.covered_by = '' THEN '' ELSE e.covered_by END;
    PERFORM tombstone_page(f, p, 'person', d.delete_id);
    UPDATE pages x SET purge_at = d.purge_at WHERE x.folder_id = f AND x.page_id = p;
    IF outcome = 'accepted' THEN
        UPDATE deletes x SET pages = CASE WHEN page.kind = 'document' THEN 1 ELSE 0 END + CASE WHEN with_subtree THEN
            (SELECT count(*) FROM pages_below(f, page.source_id) b WHERE b.tombstone_reason IS DISTINCT FROM 'person' AND b.kind = 'document') ELSE 0 END
        WHERE x.delete_id = d.delete_id RETURNING * INTO d;
        INSERT INTO sync_events (kind, folder_id, page_id, actor, data) VALUES ('deleted', f, p, who_asks, jsonb_build_object('subtree', with_subtree, 'now', at_once));
    END IF;
    delete_id := d.delete_id; accepted_at := d.accepted_at; purge_at := d.purge_at; pages := d.pages;
    RETURN NEXT;
END $$;
-- +goose StatementEnd

-- +goose StatementBegin
-- Marks a finished delete whose cancels are done. Not while in-flight rows that are older than the accept are still there, and not
-- when the delete was widened to the subtree since it swept: whoever widened it has sent a signal, and it looks once more.
CREATE OR REPLACE FUNCTION finish_delete(d bigint) RETURNS text LANGUAGE plpgsql AS $$
DECLARE del deletes;
BEGIN
    SELECT * INTO del FROM deletes WHERE delete_id = d FOR NO KEY UPDATE;
    IF del.restored_at IS NOT NULL THEN RETURN 'restored'; END IF;
    IF EXISTS (SELECT 1 FROM in_flight_below(d)) THEN RETURN 'in_flight'; END IF;
    IF EXISTS (SELECT 1 FROM exclusions e WHERE e.folder_id = del.folder_id AND e.page_id = del.page_id AND e.sweeping) THEN RETURN 'sweeping'; END IF;
    UPDATE deletes SET finished_at = now() WHERE delete_id = d;
    RETURN 'finished';
END $$;
-- +goose StatementEnd

-- +goose StatementBegin
-- Purges up to a bound of pages whose undo window is over (of one delete, or of any): revisions, chunks, embeddings that
-- nothing else uses, failures, the row itself. What lies below an excluded subtree leaves an exclusion of its own behind,
-- so that it can't come back through a tree whose top is gone. A subtree that is still being swept is left for later, its top
-- included. A delete that was asked for --now afterwards takes the pages with it whose own window is still open. Returns how many pages went.
CREATE OR REPLACE FUNCTION purge_pages(d bigint, bound integer) RETURNS integer LANGUAGE plpgsql AS $$
DECLARE
    victim record;
    taken integer := 0;
    above text;
BEGIN
    FOR victim IN
        SELECT p.folder_id, p.page_id, p.source_id, p.parent_source_id, p.fingerprint, p.tombstone_reason FROM pages p
        WHERE (p.purge_at <= now() OR EXISTS (SELECT 1 FROM deletes x WHERE x.delete_id = d AND x.now AND x.purge_at <= now()))
          AND p.tombstoned_at IS NOT NULL AND (d IS NULL OR p.delete_id = d)
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
