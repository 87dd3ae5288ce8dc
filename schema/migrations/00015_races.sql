-- What races found: a restored page is read again whatever its delete had cancelled, nothing is published below a subtree that a
-- person deleted, and no vector is collected from under a page that starts to use it.

-- +goose Up

-- Set while a page is hidden: a read of it was under way or due, or the page was deleted itself. Its restore makes it due again.
ALTER TABLE pages ADD COLUMN read_again boolean NOT NULL DEFAULT false;
ALTER TABLE due_reads DROP CONSTRAINT due_reads_reason_known;
ALTER TABLE due_reads ADD CONSTRAINT due_reads_reason_known
    CHECK (reason IN ('recent_edit', 'retry', 'models', 'webhook', 'found', 'restored'));

-- +goose StatementBegin
-- Hides a page and fences whatever reads it. The caller holds the page's row lock, or is the only one who could. A page that is
-- hidden because it lies below a deleted subtree belongs to that delete, so that its restore brings the page back too.
CREATE OR REPLACE FUNCTION tombstone_page(f text, p text, why text, d bigint) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
    page pages;
    above text;
BEGIN
    SELECT * INTO page FROM pages WHERE folder_id = f AND page_id = p AND tombstone_reason IS DISTINCT FROM 'person';
    IF NOT FOUND THEN RETURN false; END IF;
    IF d IS NULL AND why = 'person' THEN
        above := covering_exclusion(f, page.source_id, page.parent_source_id);
        SELECT x.delete_id INTO d FROM deletes x
        WHERE x.folder_id = f AND x.source_id = above AND x.subtree AND x.restored_at IS NULL AND x.purged_at IS NULL;
    END IF;
    UPDATE pages SET tombstoned_at = coalesce(tombstoned_at, now()), tombstone_reason = why, generation = gen_random_uuid(),
        delete_id = coalesce(d, delete_id),
        purge_at = coalesce((SELECT x.purge_at FROM deletes x WHERE x.delete_id = d), now() + interval '7 days'),
        read_again = read_again
            OR EXISTS (SELECT 1 FROM deletes x WHERE x.delete_id = d AND x.page_id = p)
            OR EXISTS (SELECT 1 FROM in_flight i WHERE i.folder_id = f AND i.page_id = p)
            OR EXISTS (SELECT 1 FROM due_reads u WHERE u.folder_id = f AND u.page_id = p)
    WHERE folder_id = f AND page_id = p;
    UPDATE in_flight SET cancel_requested = true WHERE folder_id = f AND page_id = p;
    DELETE FROM due_reads WHERE folder_id = f AND page_id = p;
    DELETE FROM hold_pages WHERE folder_id = f AND page_id = p;
    RETURN true;
END $$;
-- +goose StatementEnd

-- +goose StatementBegin
-- Shows a page again. The read that is due a minute later is the one that a restore asks for at once, should that one meet a sync
-- which the delete has cancelled, or never be sent.
CREATE OR REPLACE FUNCTION untombstone_page(f text, p text) RETURNS void LANGUAGE sql AS $$
    INSERT INTO due_reads (folder_id, page_id, due_at, reason)
    SELECT f, p, now() + interval '1 minute', 'restored' FROM pages
    WHERE folder_id = f AND page_id = p AND purging_at IS NULL AND read_again AND kind = 'document'
    ON CONFLICT DO NOTHING;
    UPDATE pages SET tombstoned_at = NULL, tombstone_reason = NULL, purge_at = NULL, delete_id = NULL, generation = gen_random_uuid(),
        unseen_since = NULL, strikes = 0, read_again = false
    WHERE folder_id = f AND page_id = p AND purging_at IS NULL
$$;
-- +goose StatementEnd

-- +goose StatementBegin
-- Publish: moves the page's pointer to the staged revision (or, with none, records that the source is unchanged) and
-- removes the in-flight row, in one transaction. A read that has to follow is noted in it too, so that no death in between can
-- lose it: recheck_after when the source was read within a tick of its edit, models_after when the models failed.
CREATE OR REPLACE FUNCTION publish_page(f text, p text, t uuid, rev bigint, ttl text, link text, pth text, parent text, listed text, version text,
    edited timestamptz, print bytea, recheck_after interval, models_after interval)
RETURNS TABLE (outcome text, revived boolean) LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
    page pages;
    seq bigint;
BEGIN
    outcome := check_fence(f, p, t);
    revived := false;
    IF outcome <> 'held' THEN RETURN NEXT; RETURN; END IF;
    SELECT * INTO page FROM pages WHERE pages.folder_id = f AND pages.page_id = p;
    IF parent IS DISTINCT FROM page.parent_source_id AND covering_exclusion(f, page.source_id, parent) IS NOT NULL THEN
        -- Found, or moved, below a subtree that a person deleted: only this read has seen it.
        UPDATE pages SET parent_source_id = parent WHERE pages.folder_id = f AND pages.page_id = p;
        PERFORM tombstone_page(f, p, 'person', NULL);
        PERFORM forget_attempt(f, p, t);
        outcome := 'fenced';
        RETURN NEXT; RETURN;
    END IF;
    SELECT i.read_seq INTO seq FROM in_flight i WHERE i.folder_id = f AND i.page_id = p;
    IF rev IS NOT NULL THEN
        UPDATE revisions r SET state = 'superseded' WHERE r.revision_id = page.published_revision_id;
        UPDATE revisions r SET state = 'published', published_at = now()
        WHERE r.revision_id = rev AND r.folder_id = f AND r.page_id = p AND r.token = t AND r.state = 'staged';
        IF NOT FOUND THEN
            RAISE EXCEPTION 'staged revision % of page %/% is gone', rev, f, p USING ERRCODE = 'serialization_failure';
        END IF;
    END IF;
    revived := page.tombstoned_at IS NOT NULL;
    UPDATE pages SET published_revision_id = coalesce(rev, published_revision_id), published_read_seq = seq,
        attempt_seq = seq, attempt_outcome = CASE WHEN rev IS NULL THEN 'unchanged' ELSE 'published' END,
        read_at = now(), synced_at = CASE WHEN rev IS NULL THEN coalesce(synced_at, now()) ELSE now() END,
        title = ttl, url = link, path = pth, parent_source_id = parent, listed_title = listed,
        source_version = version, source_edited_at = edited,
        fingerprint = print, skip_class = NULL, skip_sentence = NULL, skip_listed = false,
        tombstoned_at = NULL, tombstone_reason = NULL, purge_at = NULL,
        unseen_since = NULL, strikes = 0, removal_rejected = false
    WHERE pages.folder_id = f AND pages.page_id = p;
    PERFORM forget_attempt(f, p, t);
    IF EXISTS (SELECT 1 FROM page_failures x WHERE x.folder_id = f AND x.page_id = p) THEN
        DELETE FROM page_failures x WHERE x.folder_id = f AND x.page_id = p;
    END IF;
    DELETE FROM due_reads d WHERE d.folder_id = f AND d.page_id = p;
    IF coalesce(recheck_after, models_after) IS NOT NULL THEN
        INSERT INTO due_reads (folder_id, page_id, due_at, reason)
        VALUES (f, p, now() + least(recheck_after, models_after), CASE WHEN recheck_after IS NULL THEN 'models' ELSE 'recent_edit' END);
    END IF;
    IF rev IS NOT NULL OR revived THEN
        INSERT INTO sync_events (kind, folder_id, page_id, data)
        VALUES (CASE WHEN revived THEN 'revived' ELSE 'published' END, f, p, jsonb_build_object('revision_id', coalesce(rev, page.published_revision_id)));
    END IF;
    outcome := CASE WHEN rev IS NULL THEN 'unchanged' ELSE 'published' END;
    RETURN NEXT;
END $$;
-- +goose StatementEnd

-- A purge finds the vectors of a page's texts, of whatever model.
CREATE INDEX embeddings_of_text ON embeddings (text_hash);

-- +goose StatementBegin
-- Drops an embedding whose row the caller has locked, if no chunk refers to it. The caller's look was before its lock: only a
-- statement of its own sees a chunk that was stored in between.
CREATE FUNCTION drop_embedding(m text, d integer, h bytea) RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
    DELETE FROM embeddings e WHERE e.model = m AND e.dimensions = d AND e.text_hash = h
      AND NOT EXISTS (SELECT 1 FROM chunks c WHERE c.text_hash = h);
    RETURN FOUND;
END $$;
-- +goose StatementEnd

-- +goose StatementBegin
-- Collects up to a bound of the embeddings that no chunk refers to and that are older than a day. Whoever is about to use one holds
-- its row, and is left alone; whoever comes later waits, and then finds it gone. Returns how many went.
CREATE FUNCTION collect_embeddings(bound integer) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
    victim record;
    gone bigint := 0;
BEGIN
    FOR victim IN
        SELECT e.model, e.dimensions, e.text_hash FROM embeddings e
        WHERE e.created_at < now() - interval '1 day' AND NOT EXISTS (SELECT 1 FROM chunks c WHERE c.text_hash = e.text_hash)
        LIMIT bound FOR UPDATE SKIP LOCKED
    LOOP
        IF drop_embedding(victim.model, victim.dimensions, victim.text_hash) THEN gone := gone + 1; END IF;
    END LOOP;
    RETURN gone;
END $$;
-- +goose StatementEnd

-- +goose StatementBegin
-- Removes a page and all that refers to it. The caller holds its row lock. The embeddings of its texts go too, but for those that
-- another page uses or is about to use: two purges that share a text each see the other's chunk, and leave it to the janitor.
CREATE OR REPLACE FUNCTION erase_page(f text, p text) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    hashes bytea[];
    victim record;
BEGIN
    SELECT array_agg(DISTINCT c.text_hash) INTO hashes
    FROM chunks c JOIN revisions r ON r.revision_id = c.revision_id WHERE r.folder_id = f AND r.page_id = p;
    UPDATE pages SET published_revision_id = NULL WHERE folder_id = f AND page_id = p;
    DELETE FROM in_flight WHERE folder_id = f AND page_id = p;
    DELETE FROM revisions WHERE folder_id = f AND page_id = p;
    DELETE FROM listing_entries e USING listings l WHERE l.folder_id = f AND e.listing_id = l.listing_id AND e.page_id = p AND l.completed_at IS NOT NULL;
    DELETE FROM pages WHERE folder_id = f AND page_id = p;
    FOR victim IN
        SELECT e.model, e.dimensions, e.text_hash FROM embeddings e WHERE e.text_hash = ANY (hashes) FOR UPDATE SKIP LOCKED
    LOOP
        PERFORM drop_embedding(victim.model, victim.dimensions, victim.text_hash);
    END LOOP;
END $$;
-- +goose StatementEnd
