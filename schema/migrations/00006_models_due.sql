-- A page that is published without its models is due for them in the same transaction.

-- +goose Up

DROP FUNCTION publish_staged(text, text, uuid, bigint);
DROP FUNCTION publish_page(text, text, uuid, bigint, text, text, text, text, text, text, timestamptz, bytea, interval);

-- +goose StatementBegin
-- Publish: moves the page's pointer to the staged revision (or, with none, records that the source is unchanged) and
-- removes the in-flight row, in one transaction. A read that has to follow is noted in it too, so that no death in between can
-- lose it: recheck_after when the source was read within a tick of its edit, models_after when the models failed.
CREATE FUNCTION publish_page(f text, p text, t uuid, rev bigint, ttl text, link text, pth text, parent text, listed text, version text,
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

-- +goose StatementBegin
-- Publishes what an attempt staged.
CREATE FUNCTION publish_staged(f text, p text, t uuid, rev bigint, models_after interval) RETURNS TABLE (outcome text, revived boolean) LANGUAGE plpgsql AS $$
DECLARE r revisions;
BEGIN
    SELECT * INTO r FROM revisions WHERE revision_id = rev;
    IF NOT FOUND THEN outcome := 'fenced'; revived := false; RETURN NEXT; RETURN; END IF;
    RETURN QUERY SELECT * FROM publish_page(f, p, t, rev, r.title, r.place ->> 'url', r.place ->> 'path', r.place ->> 'parent', r.place ->> 'listed_title',
        r.source_version, r.source_edited_at, r.fingerprint, r.recheck_after, models_after);
END $$;
-- +goose StatementEnd
