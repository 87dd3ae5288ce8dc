-- What was read so far of a large page, so that a read that breaks off isn't paid for twice; and removals by a person's approval
-- that leave alone what was read since the source was asked.

-- +goose Up

-- Parts of reads under way, by a key of the source's own. Unlogged: after a crash of Postgres the read starts over, and none of
-- this is in its log. The page's purge takes it along.
CREATE UNLOGGED TABLE read_progress (
    folder_id text NOT NULL,
    page_id   text NOT NULL,
    key_hash  bytea NOT NULL,
    value     bytea NOT NULL,
    saved_at  timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (folder_id, page_id, key_hash),
    FOREIGN KEY (folder_id, page_id) REFERENCES pages (folder_id, page_id) ON DELETE CASCADE
);

-- +goose StatementBegin
-- Keeps a part of a read for the holder of the token; the next holder finds it too. The answer is saved, full when the page has
-- its bound of bytes already, fenced, or cancel_requested.
CREATE FUNCTION save_progress(f text, p text, t uuid, k bytea, part bytea, bound bigint) RETURNS text LANGUAGE plpgsql AS $$
DECLARE holder in_flight;
BEGIN
    PERFORM set_config('synchronous_commit', 'off', true); -- what a crash loses is read again
    -- The lock has those who write for one page do so one after the other, so that together they stay within the bound.
    SELECT * INTO holder FROM in_flight i WHERE i.folder_id = f AND i.page_id = p AND i.token = t FOR NO KEY UPDATE;
    IF NOT FOUND THEN RETURN 'fenced'; END IF;
    IF holder.cancel_requested THEN RETURN 'cancel_requested'; END IF;
    IF (SELECT coalesce(sum(octet_length(r.value)), 0) FROM read_progress r WHERE r.folder_id = f AND r.page_id = p) + octet_length(part) > bound THEN
        RETURN 'full';
    END IF;
    INSERT INTO read_progress (folder_id, page_id, key_hash, value) VALUES (f, p, k, part)
    ON CONFLICT (folder_id, page_id, key_hash) DO UPDATE SET value = excluded.value, saved_at = now();
    RETURN 'saved';
END $$;
-- +goose StatementEnd

-- +goose StatementBegin
-- Drops what an attempt staged, the progress of its read, and its in-flight row. Does nothing for a token that no longer holds
-- the page: what it read so far is its successor's.
CREATE OR REPLACE FUNCTION forget_attempt(f text, p text, t uuid) RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
    DELETE FROM in_flight WHERE folder_id = f AND page_id = p AND token = t;
    IF NOT FOUND THEN RETURN false; END IF;
    DELETE FROM revisions WHERE folder_id = f AND page_id = p AND state = 'staged';
    DELETE FROM read_progress WHERE folder_id = f AND page_id = p;
    RETURN true;
END $$;
-- +goose StatementEnd

DROP FUNCTION remove_told_pages(text, text[], uuid, timestamptz, interval, bigint);

-- +goose StatementBegin
-- Removes pages that the source told gone and then confirmed, as remove_lost_pages does. Removals of a folder are made one after
-- the other here, and one whose decision was made before another removal (recent_seen is what it counted) is to be decided anew;
-- a person who approved decided for good. Pages that were read since the source was asked are left alone: they were there.
CREATE FUNCTION remove_told_pages(f text, page_ids text[], gen uuid, since timestamptz, undo interval, recent_seen bigint, approved boolean)
RETURNS TABLE (outcome text, gone text[]) LANGUAGE plpgsql AS $$
DECLARE
    still text[];
BEGIN
    PERFORM pg_advisory_xact_lock_shared(fence_key(f));
    PERFORM 1 FROM folders WHERE folder_id = f FOR SHARE;
    PERFORM pg_advisory_xact_lock(hashtextextended('loresync reconcile ' || f, 0));
    gone := '{}';
    IF NOT approved AND (SELECT count(*) FROM sync_events e WHERE e.folder_id = f AND e.kind = 'removed' AND e.at > now() - interval '24 hours'
        AND NOT (e.data ->> 'approved')::boolean) > recent_seen THEN
        outcome := 'recount'; RETURN NEXT; RETURN;
    END IF;
    SELECT coalesce(array_agg(p.page_id), '{}') INTO still FROM (
        SELECT x.page_id, x.read_at, x.attempt_outcome FROM pages x WHERE x.folder_id = f AND x.page_id = ANY (page_ids)
        ORDER BY x.page_id FOR NO KEY UPDATE) p
    WHERE p.read_at IS NULL OR p.read_at < since OR p.attempt_outcome = 'not_found';
    outcome := 'removed';
    gone := remove_lost_pages(f, still, gen, undo, approved, true);
    RETURN NEXT;
END $$;
-- +goose StatementEnd
