-- Webhooks: the secrets that sign them, and the removal of what a source told gone outside of any listing.

-- +goose Up

-- The secret with which a source signs a connection's webhooks, as it came with the verification of the subscription. A setting
-- of the deployment wins over it. Only the check of a signature reads it, and the one command that shows it to a person.
CREATE TABLE webhook_secrets (
    connection   text PRIMARY KEY REFERENCES connections (name) ON DELETE CASCADE,
    secret       text NOT NULL,
    received_at  timestamptz NOT NULL DEFAULT now(),
    -- Null until a person was shown it; it is shown once.
    shown_at     timestamptz,
    -- Null until an event came that was signed with it: the subscription works.
    confirmed_at timestamptz
);

-- +goose StatementBegin
-- Keeps the secret of a verification. It is kept while the connection has none, when the sender knows the one that is kept
-- (signed), and when it is the same one again, which may then be shown once more. False when it is refused.
CREATE FUNCTION accept_webhook_verification(conn text, given text, signed boolean) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE kept boolean;
BEGIN
    INSERT INTO webhook_secrets AS w (connection, secret) VALUES (conn, given)
    ON CONFLICT (connection) DO UPDATE SET secret = excluded.secret, received_at = now(), shown_at = NULL,
        confirmed_at = CASE WHEN w.secret = excluded.secret THEN w.confirmed_at END
    WHERE signed OR w.secret = excluded.secret
    RETURNING true INTO kept;
    IF kept THEN
        INSERT INTO sync_events (kind, data) VALUES ('webhook_verification', jsonb_build_object('connection', conn));
    END IF;
    RETURN coalesce(kept, false);
END $$;
-- +goose StatementEnd

-- +goose StatementBegin
-- Removes pages that the source told gone and then confirmed, as remove_lost_pages does. Many events may come at once, each with
-- a decision of its own: removals of a folder are made one after the other here, and one whose decision was made before
-- another removal (recent_seen is what it counted) is to be decided anew. Pages that were read since the source was asked are
-- left alone: they were there.
CREATE FUNCTION remove_told_pages(f text, page_ids text[], gen uuid, since timestamptz, undo interval, recent_seen bigint)
RETURNS TABLE (outcome text, gone text[]) LANGUAGE plpgsql AS $$
DECLARE
    still text[];
BEGIN
    PERFORM pg_advisory_xact_lock_shared(fence_key(f));
    PERFORM 1 FROM folders WHERE folder_id = f FOR SHARE;
    PERFORM pg_advisory_xact_lock(hashtextextended('loresync reconcile ' || f, 0));
    gone := '{}';
    IF (SELECT count(*) FROM sync_events e WHERE e.folder_id = f AND e.kind = 'removed' AND e.at > now() - interval '24 hours'
        AND NOT (e.data ->> 'approved')::boolean) > recent_seen THEN
        outcome := 'recount'; RETURN NEXT; RETURN;
    END IF;
    SELECT coalesce(array_agg(p.page_id), '{}') INTO still FROM (
        SELECT x.page_id, x.read_at, x.attempt_outcome FROM pages x WHERE x.folder_id = f AND x.page_id = ANY (page_ids)
        ORDER BY x.page_id FOR NO KEY UPDATE) p
    WHERE p.read_at IS NULL OR p.read_at < since OR p.attempt_outcome = 'not_found';
    outcome := 'removed';
    gone := remove_lost_pages(f, still, gen, undo, false, true);
    RETURN NEXT;
END $$;
-- +goose StatementEnd
