-- What a folder's first listing told of its pages, for their first reads in whatever process, so that these ask the source for
-- nothing twice.

-- +goose Up

-- Notes by source id, since they are older than the pages' rows. Unlogged: after a crash of Postgres the reads ask the source, and
-- none of this is in its log.
CREATE UNLOGGED TABLE listing_notes (
    folder_id  text NOT NULL REFERENCES folders (folder_id) ON DELETE CASCADE,
    source_id  text NOT NULL,
    listing_id bigint NOT NULL,
    note       bytea NOT NULL,
    saved_at   timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (folder_id, source_id)
);

-- +goose StatementBegin
-- Keeps notes of a listing until it is completed. The locks have a delete of the folder, and the end of the listing, wait for the
-- commit: what begins afterwards finds the notes. What a person deleted gets none. Returns how many were kept.
CREATE FUNCTION keep_notes(l bigint, sids text[], notes bytea[]) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
    listing listings;
    kept bigint;
BEGIN
    PERFORM set_config('synchronous_commit', 'off', true); -- what a crash loses is asked for again
    SELECT * INTO listing FROM listings WHERE listing_id = l;
    PERFORM 1 FROM folders WHERE folder_id = listing.folder_id AND generation = listing.folder_generation AND deleted_at IS NULL FOR SHARE;
    IF NOT FOUND THEN RETURN 0; END IF;
    PERFORM 1 FROM listings WHERE listing_id = l AND completed_at IS NULL AND NOT dry_run FOR SHARE;
    IF NOT FOUND THEN RETURN 0; END IF;
    INSERT INTO listing_notes AS n (folder_id, source_id, listing_id, note)
    SELECT listing.folder_id, u.sid, l, u.note FROM unnest(sids, notes) AS u (sid, note)
    WHERE NOT EXISTS (SELECT 1 FROM exclusions e WHERE e.folder_id = listing.folder_id AND e.source_id = u.sid)
    ORDER BY u.sid
    ON CONFLICT (folder_id, source_id) DO UPDATE SET listing_id = excluded.listing_id, note = excluded.note, saved_at = now()
        WHERE n.listing_id <= excluded.listing_id;
    GET DIAGNOSTICS kept = ROW_COUNT;
    RETURN kept;
END $$;
-- +goose StatementEnd

-- +goose StatementBegin
-- Drops the notes on pages whose rows go: nothing is left of what is purged.
CREATE FUNCTION drop_notes_of_pages() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    DELETE FROM listing_notes n USING gone g WHERE n.folder_id = g.folder_id AND n.source_id = g.source_id;
    RETURN NULL;
END $$;
-- +goose StatementEnd

CREATE TRIGGER pages_take_their_notes_along AFTER DELETE ON pages REFERENCING OLD TABLE AS gone
    FOR EACH STATEMENT EXECUTE FUNCTION drop_notes_of_pages();
