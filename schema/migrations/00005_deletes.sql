-- Deletes: accepted in one transaction, hidden from readers at once, undone inside the window, purged in bounded batches.
-- And absence: strikes, removals and holds. Every step re-reads under the lock whether what it does is still wanted.

-- +goose Up

-- +goose StatementBegin
-- Hides a page and fences whatever reads it. The caller holds the page's row lock, or is the only one who could.
CREATE FUNCTION tombstone_page(f text, p text, why text, d bigint) RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
    UPDATE pages SET tombstoned_at = coalesce(tombstoned_at, now()), tombstone_reason = why, generation = gen_random_uuid(),
        delete_id = coalesce(d, delete_id),
        purge_at = coalesce((SELECT x.purge_at FROM deletes x WHERE x.delete_id = d), now() + interval '7 days')
    WHERE folder_id = f AND page_id = p AND tombstone_reason IS DISTINCT FROM 'person';
    IF NOT FOUND THEN RETURN false; END IF;
    UPDATE in_flight SET cancel_requested = true WHERE folder_id = f AND page_id = p;
    DELETE FROM due_reads WHERE folder_id = f AND page_id = p;
    DELETE FROM hold_pages WHERE folder_id = f AND page_id = p;
    RETURN true;
END $$;
-- +goose StatementEnd

-- +goose StatementBegin
-- Accepts the delete of a page, or of a page and all below it. From its commit on no reader sees them.
CREATE FUNCTION accept_page_delete(f text, p text, with_subtree boolean, at_once boolean, who_asks text, wf text, undo interval)
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
    ON CONFLICT (folder_id, source_id) DO UPDATE SET subtree = e.subtree OR with_subtree, sweeping = e.sweeping OR with_subtree,
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
-- Everything below a page, in the source's tree.
CREATE FUNCTION pages_below(f text, sid text) RETURNS SETOF pages LANGUAGE sql STABLE AS $$
    WITH RECURSIVE below (source_id) AS (
        SELECT p.source_id FROM pages p WHERE p.folder_id = f AND p.parent_source_id = sid
        UNION
        SELECT p.source_id FROM below b JOIN pages p ON p.folder_id = f AND p.parent_source_id = b.source_id
    )
    SELECT p.* FROM below b JOIN pages p ON p.folder_id = f AND p.source_id = b.source_id WHERE p.source_id <> sid
$$;
-- +goose StatementEnd

-- +goose StatementBegin
-- Tombstones up to a bound of the pages below an accepted subtree delete. When none is left it ends the sweep, under the
-- folder's gate, so that no page slips in between. Returns how many pages it took.
CREATE FUNCTION sweep_subtree(d bigint, bound integer) RETURNS integer LANGUAGE plpgsql AS $$
DECLARE
    del deletes;
    victim record;
    taken integer := 0;
    wanted boolean;
BEGIN
    SELECT * INTO del FROM deletes WHERE delete_id = d;
    PERFORM pg_advisory_xact_lock_shared(fence_key(del.folder_id));
    PERFORM 1 FROM folders WHERE folder_id = del.folder_id FOR SHARE;
    SELECT restored_at IS NULL AND purged_at IS NULL AND subtree INTO wanted FROM deletes WHERE delete_id = d FOR SHARE;
    IF NOT wanted THEN RETURN 0; END IF;
    FOR victim IN
        SELECT p.page_id FROM pages p
        WHERE p.folder_id = del.folder_id
          AND p.page_id IN (SELECT b.page_id FROM pages_below(del.folder_id, del.source_id) b WHERE b.tombstone_reason IS DISTINCT FROM 'person'
                            ORDER BY b.page_id LIMIT bound)
        ORDER BY p.page_id FOR NO KEY UPDATE
    LOOP
        PERFORM tombstone_page(del.folder_id, victim.page_id, 'person', d);
        taken := taken + 1;
    END LOOP;
    RETURN taken;
END $$;
-- +goose StatementEnd

-- +goose StatementBegin
-- Ends the sweep of a subtree unless a page has slipped in. True when the subtree is wholly tombstoned.
CREATE FUNCTION finish_sweep(d bigint) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE del deletes;
BEGIN
    SELECT * INTO del FROM deletes WHERE delete_id = d;
    PERFORM pg_advisory_xact_lock(fence_key(del.folder_id));
    IF del.restored_at IS NULL AND EXISTS
        (SELECT 1 FROM pages_below(del.folder_id, del.source_id) b WHERE b.tombstone_reason IS DISTINCT FROM 'person') THEN
        RETURN false;
    END IF;
    UPDATE exclusions SET sweeping = false WHERE folder_id = del.folder_id AND source_id = del.source_id AND sweeping;
    RETURN true;
END $$;
-- +goose StatementEnd

-- +goose StatementBegin
-- Restores a page that a person deleted: its last published revision is visible again at once. Pages below come back in
-- batches of restore_swept. After a purge only the exclusion is lifted, so that the next sync reads the page again.
CREATE FUNCTION restore_page(f text, sid text, who_asks text) RETURNS TABLE (outcome text, page_id text, delete_id bigint, subtree boolean)
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
    IF page.page_id IS NULL AND ex.source_id IS NULL THEN outcome := 'page_unknown'; RETURN NEXT; RETURN; END IF;
    IF ex.source_id IS NULL OR ex.covered_by <> '' THEN
        above := CASE WHEN ex.covered_by <> '' THEN ex.covered_by ELSE covering_exclusion(f, sid, page.parent_source_id) END;
        IF above IS NOT NULL THEN outcome := 'covered'; page_id := (SELECT e.page_id FROM exclusions e WHERE e.folder_id = f AND e.source_id = above); RETURN NEXT; RETURN; END IF;
        outcome := 'not_deleted'; page_id := page.page_id; RETURN NEXT; RETURN;
    END IF;
    IF page.purging_at IS NOT NULL THEN outcome := 'purging'; page_id := page.page_id; RETURN NEXT; RETURN; END IF;
    DELETE FROM exclusions e WHERE e.folder_id = f AND (e.source_id = sid OR e.covered_by = sid);
    outcome := CASE WHEN page.page_id IS NULL THEN 'lifted' ELSE 'restored' END;
    page_id := coalesce(page.page_id, ex.page_id); subtree := ex.subtree;
    UPDATE deletes x SET restored_at = now(), finished_at = coalesce(x.finished_at, now())
    WHERE x.folder_id = f AND x.source_id = sid AND x.page_id IS NOT NULL AND x.restored_at IS NULL AND x.purged_at IS NULL RETURNING x.delete_id INTO delete_id;
    IF page.page_id IS NOT NULL THEN PERFORM untombstone_page(f, page.page_id); END IF;
    INSERT INTO sync_events (kind, folder_id, page_id, actor) VALUES ('restored', f, page_id, who_asks);
    RETURN NEXT;
END $$;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE FUNCTION untombstone_page(f text, p text) RETURNS void LANGUAGE sql AS $$
    UPDATE pages SET tombstoned_at = NULL, tombstone_reason = NULL, purge_at = NULL, delete_id = NULL, generation = gen_random_uuid(),
        unseen_since = NULL, strikes = 0
    WHERE folder_id = f AND page_id = p AND purging_at IS NULL
$$;
-- +goose StatementEnd

-- +goose StatementBegin
-- Brings back up to a bound of the pages that a restored subtree delete had tombstoned, except those that have an exclusion
-- of their own. Returns how many it took.
CREATE FUNCTION restore_swept(d bigint, bound integer) RETURNS integer LANGUAGE plpgsql AS $$
DECLARE
    del deletes;
    victim record;
    taken integer := 0;
BEGIN
    SELECT * INTO del FROM deletes WHERE delete_id = d AND restored_at IS NOT NULL;
    IF NOT FOUND THEN RETURN 0; END IF;
    PERFORM pg_advisory_xact_lock_shared(fence_key(del.folder_id));
    PERFORM 1 FROM folders WHERE folder_id = del.folder_id FOR SHARE;
    FOR victim IN SELECT * FROM pages p WHERE p.delete_id = d AND p.tombstone_reason = 'person' AND p.purging_at IS NULL
        ORDER BY p.page_id LIMIT bound FOR NO KEY UPDATE
    LOOP
        taken := taken + 1;
        IF covering_exclusion(victim.folder_id, victim.source_id, victim.parent_source_id) IS NOT NULL THEN
            UPDATE pages SET delete_id = NULL WHERE folder_id = victim.folder_id AND page_id = victim.page_id;
        ELSE
            PERFORM untombstone_page(victim.folder_id, victim.page_id);
        END IF;
    END LOOP;
    RETURN taken;
END $$;
-- +goose StatementEnd

-- +goose StatementBegin
-- Accepts the delete of a folder: one row write hides all of it.
CREATE FUNCTION accept_folder_delete(f text, at_once boolean, who_asks text, wf text, undo interval)
RETURNS TABLE (outcome text, delete_id bigint, accepted_at timestamptz, purge_at timestamptz, pages bigint) LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
    folder folders;
    d deletes;
BEGIN
    PERFORM pg_advisory_xact_lock(fence_key(f));
    SELECT * INTO folder FROM folders WHERE folders.folder_id = f FOR NO KEY UPDATE;
    IF NOT FOUND THEN outcome := 'folder_unknown'; RETURN NEXT; RETURN; END IF;
    SELECT * INTO d FROM deletes x WHERE x.folder_id = f AND x.page_id IS NULL AND x.restored_at IS NULL AND x.purged_at IS NULL FOR NO KEY UPDATE;
    IF FOUND THEN
        outcome := 'joined';
        UPDATE deletes x SET now = x.now OR at_once, purge_at = CASE WHEN at_once THEN least(x.purge_at, now()) ELSE x.purge_at END,
            finished_at = CASE WHEN at_once AND NOT x.now THEN NULL ELSE x.finished_at END
        WHERE x.delete_id = d.delete_id RETURNING * INTO d;
    ELSE
        outcome := 'accepted';
        INSERT INTO deletes AS x (folder_id, now, who, workflow_id, purge_at, pages)
        VALUES (f, at_once, who_asks, wf, CASE WHEN at_once THEN now() ELSE now() + undo END,
                (SELECT count(*) FROM pages p WHERE p.folder_id = f AND p.kind = 'document' AND p.tombstoned_at IS NULL))
        RETURNING * INTO d;
        INSERT INTO sync_events (kind, folder_id, actor, data) VALUES ('folder_deleted', f, who_asks, jsonb_build_object('now', at_once));
    END IF;
    UPDATE folders SET deleted_at = coalesce(deleted_at, now()), purge_at = d.purge_at,
        generation = CASE WHEN outcome = 'accepted' THEN gen_random_uuid() ELSE generation END
    WHERE folders.folder_id = f;
    UPDATE in_flight SET cancel_requested = true WHERE in_flight.folder_id = f;
    delete_id := d.delete_id; accepted_at := d.accepted_at; purge_at := d.purge_at; pages := d.pages;
    RETURN NEXT;
END $$;
-- +goose StatementEnd

-- +goose StatementBegin
-- Restores a deleted folder until its purge has begun.
CREATE FUNCTION restore_folder(f text, who_asks text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE folder folders;
BEGIN
    PERFORM pg_advisory_xact_lock(fence_key(f));
    SELECT * INTO folder FROM folders WHERE folder_id = f FOR NO KEY UPDATE;
    IF NOT FOUND THEN RETURN 'folder_unknown'; END IF;
    IF folder.purging_at IS NOT NULL THEN RETURN 'purging'; END IF;
    IF folder.deleted_at IS NULL THEN RETURN 'not_deleted'; END IF;
    UPDATE folders SET deleted_at = NULL, purge_at = NULL, generation = gen_random_uuid() WHERE folder_id = f;
    UPDATE deletes SET restored_at = now(), finished_at = coalesce(finished_at, now())
    WHERE folder_id = f AND page_id IS NULL AND restored_at IS NULL AND purged_at IS NULL;
    INSERT INTO sync_events (kind, folder_id, actor) VALUES ('folder_restored', f, who_asks);
    RETURN 'restored';
END $$;
-- +goose StatementEnd

-- +goose StatementBegin
-- Marks a finished delete whose cancels are done. False when the delete is not to be finished now: in-flight rows that are
-- older than the accept are still there.
CREATE FUNCTION finish_delete(d bigint) RETURNS text LANGUAGE plpgsql AS $$
DECLARE del deletes;
BEGIN
    SELECT * INTO del FROM deletes WHERE delete_id = d FOR NO KEY UPDATE;
    IF del.restored_at IS NOT NULL THEN RETURN 'restored'; END IF;
    IF EXISTS (SELECT 1 FROM in_flight_below(d)) THEN RETURN 'in_flight'; END IF;
    UPDATE deletes SET finished_at = now() WHERE delete_id = d;
    RETURN 'finished';
END $$;
-- +goose StatementEnd

-- +goose StatementBegin
-- In-flight rows that a delete has to see ended: below what it deletes, and older than its accept.
CREATE FUNCTION in_flight_below(d bigint) RETURNS SETOF in_flight LANGUAGE sql STABLE AS $$
    SELECT i.* FROM deletes x JOIN in_flight i ON i.folder_id = x.folder_id
    WHERE x.delete_id = d AND i.read_seq < x.accepted_seq AND (
        x.page_id IS NULL OR i.page_id = x.page_id
        OR (x.subtree AND i.page_id IN (SELECT b.page_id FROM pages_below(x.folder_id, x.source_id) b)))
$$;
-- +goose StatementEnd

-- +goose StatementBegin
-- Drops what a sync left behind that will not come back: the janitor and deletes call it for workflows that are closed.
CREATE FUNCTION drop_attempt(f text, p text, t uuid) RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
    PERFORM 1 FROM pages WHERE folder_id = f AND page_id = p FOR NO KEY UPDATE;
    RETURN forget_attempt(f, p, t);
END $$;
-- +goose StatementEnd

-- +goose StatementBegin
-- Purges up to a bound of pages whose undo window is over (of one delete, or of any): revisions, chunks, embeddings that
-- nothing else uses, failures, the row itself. What lies below an excluded subtree leaves an exclusion of its own behind,
-- so that it can't come back through a tree whose top is gone. Returns how many pages went.
CREATE FUNCTION purge_pages(d bigint, bound integer) RETURNS integer LANGUAGE plpgsql AS $$
DECLARE
    victim record;
    taken integer := 0;
    above text;
BEGIN
    FOR victim IN
        SELECT p.folder_id, p.page_id, p.source_id, p.parent_source_id, p.fingerprint, p.tombstone_reason FROM pages p
        WHERE p.purge_at <= now() AND p.tombstoned_at IS NOT NULL AND (d IS NULL OR p.delete_id = d)
          AND NOT EXISTS (SELECT 1 FROM in_flight i WHERE i.folder_id = p.folder_id AND i.page_id = p.page_id)
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
-- Removes a page and all that refers to it. The caller holds its row lock.
CREATE FUNCTION erase_page(f text, p text) RETURNS void LANGUAGE plpgsql AS $$
DECLARE hashes bytea[];
BEGIN
    SELECT array_agg(DISTINCT c.text_hash ORDER BY c.text_hash) INTO hashes
    FROM chunks c JOIN revisions r ON r.revision_id = c.revision_id WHERE r.folder_id = f AND r.page_id = p;
    UPDATE pages SET published_revision_id = NULL WHERE folder_id = f AND page_id = p;
    DELETE FROM in_flight WHERE folder_id = f AND page_id = p;
    DELETE FROM revisions WHERE folder_id = f AND page_id = p;
    DELETE FROM listing_entries e USING listings l WHERE l.folder_id = f AND e.listing_id = l.listing_id AND e.page_id = p AND l.completed_at IS NOT NULL;
    DELETE FROM pages WHERE folder_id = f AND page_id = p;
    IF hashes IS NOT NULL THEN
        -- Two purges that share a text each see the other's chunk, and leave its embedding to the janitor.
        DELETE FROM embeddings e WHERE e.text_hash = ANY (hashes) AND NOT EXISTS (SELECT 1 FROM chunks c WHERE c.text_hash = e.text_hash);
    END IF;
END $$;
-- +goose StatementEnd

-- +goose StatementBegin
-- Purges up to a bound of the pages of a deleted folder whose undo window is over; when none is left the folder's own rows go,
-- exclusions that persons made included. Returns how many pages went, -1 when the folder is gone or no longer to be purged.
CREATE FUNCTION purge_folder(f text, bound integer) RETURNS integer LANGUAGE plpgsql AS $$
DECLARE
    folder folders;
    victim record;
    taken integer := 0;
BEGIN
    SELECT * INTO folder FROM folders WHERE folder_id = f FOR NO KEY UPDATE;
    IF NOT FOUND OR folder.deleted_at IS NULL OR folder.purge_at > now() THEN RETURN -1; END IF;
    UPDATE folders SET purging_at = coalesce(purging_at, now()) WHERE folder_id = f;
    FOR victim IN SELECT page_id FROM pages WHERE folder_id = f ORDER BY page_id LIMIT bound FOR NO KEY UPDATE LOOP
        PERFORM erase_page(f, victim.page_id);
        taken := taken + 1;
    END LOOP;
    IF taken > 0 THEN RETURN taken; END IF;
    DELETE FROM exclusions WHERE folder_id = f;
    DELETE FROM holds WHERE folder_id = f;
    DELETE FROM folder_listings WHERE folder_id = f;
    DELETE FROM listings WHERE folder_id = f;
    DELETE FROM folders WHERE folder_id = f;
    UPDATE deletes SET purged_at = now(), finished_at = coalesce(finished_at, now())
    WHERE folder_id = f AND restored_at IS NULL AND purged_at IS NULL;
    RETURN -1;
END $$;
-- +goose StatementEnd

-- +goose StatementBegin
-- Records what a whole listing did not see, and takes back the strikes of what it saw, for up to a bound of pages behind a page
-- id. Pages in flight, or read since the listing began, get no strike; one listing gives a page one strike, however often this
-- runs. The last batch (last_page null) notes that the listing was applied, and says how many pages have their second strike,
-- the second listing having begun after the first one's reconcile was committed.
CREATE FUNCTION record_absence(l bigint, behind text, bound integer) RETURNS TABLE (outcome text, last_page text, candidates bigint) LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
    listing listings;
    batch text[];
    now_seq bigint;
BEGIN
    candidates := 0;
    SELECT * INTO listing FROM listings WHERE listings.listing_id = l;
    IF NOT listing.full_listing OR listing.dry_run OR listing.verdict <> 'complete' THEN outcome := 'no_evidence'; RETURN NEXT; RETURN; END IF;
    PERFORM pg_advisory_xact_lock_shared(fence_key(listing.folder_id));
    PERFORM 1 FROM folders WHERE folders.folder_id = listing.folder_id FOR SHARE;
    IF listing_is_stale(l) THEN outcome := 'stale'; RETURN NEXT; RETURN; END IF;
    outcome := 'recorded';
    batch := ARRAY(
        SELECT p.page_id FROM pages p LEFT JOIN listed_pages(l) s ON s.page_no = p.page_no
        WHERE p.folder_id = listing.folder_id AND p.page_id > behind AND p.kind = 'document' AND p.tombstoned_at IS NULL
          AND CASE WHEN s.page_no IS NULL THEN p.created_seq < listing.began_seq ELSE p.unseen_since IS NOT NULL OR p.removal_rejected END
        ORDER BY p.page_id LIMIT bound);
    PERFORM 1 FROM pages p WHERE p.folder_id = listing.folder_id AND p.page_id = ANY (batch) ORDER BY p.page_id FOR NO KEY UPDATE;
    now_seq := nextval('moments');
    UPDATE pages p SET
        unseen_since = CASE WHEN seen.is THEN NULL ELSE coalesce(p.unseen_since, listing.began_at) END,
        removal_rejected = p.removal_rejected AND NOT seen.is,
        strikes = CASE WHEN seen.is OR p.read_at > listing.began_at OR p.attempt_seq > listing.began_seq
                            OR EXISTS (SELECT 1 FROM in_flight i WHERE i.folder_id = p.folder_id AND i.page_id = p.page_id) THEN 0
                       WHEN p.strikes = 0 THEN 1
                       WHEN p.strike_seq < listing.began_seq THEN p.strikes + 1 ELSE p.strikes END,
        strike_seq = CASE WHEN p.strikes = 0 OR p.strike_seq < listing.began_seq THEN now_seq ELSE p.strike_seq END
    FROM (SELECT x.page_id, EXISTS (SELECT 1 FROM listed_pages(l) s WHERE s.page_no = x.page_no) AS is
          FROM pages x WHERE x.folder_id = listing.folder_id AND x.page_id = ANY (batch)) seen
    WHERE p.folder_id = listing.folder_id AND p.page_id = seen.page_id AND p.tombstoned_at IS NULL;
    DELETE FROM hold_pages h USING pages p
    WHERE h.folder_id = listing.folder_id AND h.page_id = ANY (batch) AND p.folder_id = h.folder_id AND p.page_id = h.page_id AND p.unseen_since IS NULL;
    IF cardinality(batch) = bound THEN last_page := batch[bound]; RETURN NEXT; RETURN; END IF;
    UPDATE holds h SET state = 'closed', decided_at = now()
    WHERE h.folder_id = listing.folder_id AND h.state = 'open' AND NOT EXISTS (SELECT 1 FROM hold_pages x WHERE x.hold_id = h.hold_id);
    UPDATE listings SET reconciled_at = coalesce(reconciled_at, now()), applied_at = coalesce(applied_at, now()) WHERE listings.listing_id = l;
    SELECT count(*) INTO candidates FROM pages p
    WHERE p.folder_id = listing.folder_id AND p.strikes >= 2 AND p.tombstoned_at IS NULL AND NOT p.removal_rejected;
    RETURN NEXT;
END $$;
-- +goose StatementEnd

-- +goose StatementBegin
-- Removes pages that the source lost, up to 500 at once: hidden, and purged after the undo window unless the source brings
-- them back. A page that was read or is being read since its strikes is left alone. Returns the pages it removed.
CREATE FUNCTION remove_lost_pages(f text, page_ids text[], gen uuid, undo interval, approved boolean) RETURNS text[] LANGUAGE plpgsql AS $$
DECLARE
    victim record;
    gone text[] := '{}';
BEGIN
    PERFORM pg_advisory_xact_lock_shared(fence_key(f));
    PERFORM 1 FROM folders WHERE folder_id = f AND generation = gen AND deleted_at IS NULL FOR SHARE;
    IF NOT FOUND THEN RETURN gone; END IF;
    FOR victim IN SELECT * FROM pages p WHERE p.folder_id = f AND p.page_id = ANY (page_ids) ORDER BY p.page_id FOR NO KEY UPDATE LOOP
        CONTINUE WHEN victim.tombstoned_at IS NOT NULL OR victim.strikes < 2
            OR EXISTS (SELECT 1 FROM in_flight i WHERE i.folder_id = f AND i.page_id = victim.page_id);
        PERFORM tombstone_page(f, victim.page_id, 'source', NULL);
        UPDATE pages SET purge_at = now() + undo WHERE folder_id = f AND page_id = victim.page_id;
        INSERT INTO sync_events (kind, folder_id, page_id, data) VALUES ('removed', f, victim.page_id, jsonb_build_object('approved', approved));
        gone := gone || victim.page_id;
    END LOOP;
    RETURN gone;
END $$;
-- +goose StatementEnd

-- +goose StatementBegin
-- Puts pages into the folder's open hold, or opens one. Returns the hold.
CREATE FUNCTION hold_removals(f text, id text, why text, page_ids text[]) RETURNS text LANGUAGE plpgsql AS $$
DECLARE open_id text;
BEGIN
    PERFORM pg_advisory_xact_lock(hashtextextended('loresync reconcile ' || f, 0));
    SELECT hold_id INTO open_id FROM holds WHERE folder_id = f AND state = 'open';
    IF open_id IS NULL THEN
        open_id := id;
        INSERT INTO holds (hold_id, folder_id, reason) VALUES (id, f, why);
        INSERT INTO sync_events (kind, folder_id, data) VALUES ('held', f, jsonb_build_object('hold_id', id, 'pages', cardinality(page_ids)));
    ELSE
        UPDATE holds SET reason = why WHERE hold_id = open_id;
    END IF;
    INSERT INTO hold_pages (hold_id, folder_id, page_id)
    SELECT open_id, f, p.page_id FROM pages p WHERE p.folder_id = f AND p.page_id = ANY (page_ids) AND p.tombstoned_at IS NULL ORDER BY p.page_id
    ON CONFLICT DO NOTHING;
    RETURN open_id;
END $$;
-- +goose StatementEnd
