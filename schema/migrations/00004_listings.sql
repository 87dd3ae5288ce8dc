-- Listings: what a source returned, batch by batch, compared with what is known. A page that did not change costs eight
-- bytes in an array and no row. Nothing is removed here but by reconcile, which has all the guards.

-- +goose Up

-- +goose StatementBegin
-- Finds the run of a folder that has not begun to list, or records a new one. At most one waits.
CREATE FUNCTION claim_folder_run(f text, wf text, m text, why text, who text)
RETURNS TABLE (outcome text, workflow_id text) LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
    folder folders;
    paused boolean;
    stopped boolean;
BEGIN
    PERFORM pg_advisory_xact_lock_shared(fence_key(f));
    SELECT * INTO folder FROM folders WHERE folders.folder_id = f FOR SHARE;
    IF NOT FOUND THEN outcome := 'folder_unknown'; RETURN NEXT; RETURN; END IF;
    IF folder.deleted_at IS NOT NULL THEN outcome := 'folder_deleted'; RETURN NEXT; RETURN; END IF;
    SELECT folder.paused_at IS NOT NULL OR c.paused_at IS NOT NULL INTO paused FROM connections c WHERE c.name = folder.connection;
    IF paused THEN outcome := 'paused'; RETURN NEXT; RETURN; END IF;
    SELECT maintenance INTO stopped FROM deployment;
    IF stopped THEN outcome := 'maintenance'; RETURN NEXT; RETURN; END IF;
    PERFORM pg_advisory_xact_lock(hashtextextended('loresync run ' || f, 0));
    UPDATE sync_runs s SET mode = CASE WHEN m = 'full' THEN m ELSE s.mode END
    WHERE s.folder_id = f AND s.kind = 'folder' AND s.status = 'running' AND s.listing_began_at IS NULL
      AND (s.mode = 'dry_run') = (m = 'dry_run')
    RETURNING s.workflow_id INTO workflow_id;
    IF FOUND THEN outcome := 'joined'; RETURN NEXT; RETURN; END IF;
    INSERT INTO sync_runs (workflow_id, folder_id, kind, mode, trigger, actor) VALUES (wf, f, 'folder', m, why, who);
    outcome := 'claimed'; workflow_id := wf;
    RETURN NEXT;
END $$;
-- +goose StatementEnd

-- +goose StatementBegin
-- Begins the listing of a run, or finds the one that an earlier attempt began. Refuses unless the folder is active.
CREATE FUNCTION begin_listing(wf text, f text, first_run text)
RETURNS TABLE (outcome text, listing_id bigint, mode text, source text, connection text, root text, limits jsonb, next_batch integer,
               cursor text, completed boolean, checkpoint text) LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
    folder folders;
    paused boolean;
    run_mode text;
    l listings;
BEGIN
    PERFORM pg_advisory_xact_lock_shared(fence_key(f));
    SELECT * INTO folder FROM folders WHERE folders.folder_id = f FOR SHARE;
    IF NOT FOUND THEN outcome := 'folder_unknown'; RETURN NEXT; RETURN; END IF;
    IF folder.deleted_at IS NOT NULL THEN outcome := 'folder_deleted'; RETURN NEXT; RETURN; END IF;
    SELECT folder.paused_at IS NOT NULL OR c.paused_at IS NOT NULL INTO paused FROM connections c WHERE c.name = folder.connection;
    IF paused THEN outcome := 'paused'; RETURN NEXT; RETURN; END IF;
    INSERT INTO sync_runs AS s (workflow_id, run_id, folder_id, kind, mode, trigger, started_at, listing_began_at)
    VALUES (wf, first_run, f, 'folder', 'incremental', 'unknown', now(), now())
    ON CONFLICT (workflow_id) DO UPDATE SET run_id = first_run, started_at = coalesce(s.started_at, now()),
        listing_began_at = coalesce(s.listing_began_at, now())
    RETURNING s.mode INTO run_mode;
    INSERT INTO listings AS x (folder_id, workflow_id, full_listing, dry_run, folder_generation)
    VALUES (f, wf, run_mode <> 'incremental', run_mode = 'dry_run', folder.generation)
    ON CONFLICT (workflow_id) DO UPDATE SET folder_id = f
    RETURNING x.* INTO l;
    outcome := 'begun'; listing_id := l.listing_id; mode := run_mode; source := folder.source; connection := folder.connection;
    root := folder.root; limits := folder.limits; completed := l.completed_at IS NOT NULL;
    SELECT b.batch_no + 1, b.cursor INTO next_batch, cursor FROM listing_batches b WHERE b.listing_id = l.listing_id ORDER BY b.batch_no DESC LIMIT 1;
    next_batch := coalesce(next_batch, 0); cursor := coalesce(cursor, '');
    SELECT fl.checkpoint INTO checkpoint FROM folder_listings fl WHERE fl.folder_id = f;
    checkpoint := coalesce(checkpoint, '');
    RETURN NEXT;
END $$;
-- +goose StatementEnd

-- +goose StatementBegin
-- Compares a batch with what is known. Unchanged pages are packed; the others get a row in listing_entries.
CREATE FUNCTION stage_listing_batch(l bigint, n integer, returned_items integer, next_cursor text, sids text[], candidates text[], parents text[],
    kinds text[], titles text[], urls text[], paths text[], versions text[], edits timestamptz[], skip_classes text[], skip_sentences text[])
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
        SELECT DISTINCT ON (sid) * FROM unnest(sids, candidates, parents, kinds, titles, urls, paths, versions, edits, skip_classes, skip_sentences)
            WITH ORDINALITY AS u (sid, candidate, parent, kind, title, url, path, version, edited, skip_class, skip_sentence, pos)
        ORDER BY sid, pos DESC
    ), seen AS (
        SELECT i.*, p.page_no, p.page_id,
            p.page_no IS NOT NULL AND (p.parent_source_id <> i.parent OR p.listed_title <> i.title OR p.url <> i.url) AS moved,
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
            version, edited_at, skip_class, skip_sentence, change, moved, seen_seq)
        SELECT l, sid, page_id, page_no, candidate, parent, kind, title, url, path, version, edited, skip_class, skip_sentence,
            CASE WHEN change = 'known_container' THEN 'container' WHEN change = 'known_skipped' THEN 'skipped' ELSE change END, moved, seq
        FROM seen
        WHERE change IN ('new', 'changed', 'retry', 'revived', 'skipped', 'container') OR (moved AND change IN ('same', 'known_container', 'known_skipped'))
        ON CONFLICT (listing_id, source_id) DO UPDATE SET parent_source_id = excluded.parent_source_id, title = excluded.title, url = excluded.url,
            path = excluded.path, version = excluded.version, edited_at = excluded.edited_at, seen_seq = excluded.seen_seq
        RETURNING 1
    )
    INSERT INTO listing_batches (listing_id, batch_no, returned, stored, unchanged, skipped, excluded, failed, gone, containers, cursor)
    SELECT l, n, returned_items, cardinality(sids),
        coalesce(array_agg(page_no) FILTER (WHERE change = 'same' AND NOT moved), '{}'),
        coalesce(array_agg(page_no) FILTER (WHERE change = 'known_skipped' AND NOT moved), '{}'),
        coalesce(array_agg(page_no) FILTER (WHERE change = 'excluded' AND page_no IS NOT NULL), '{}'),
        coalesce(array_agg(page_no) FILTER (WHERE change = 'quarantined'), '{}'),
        count(*) FILTER (WHERE change = 'excluded' AND page_no IS NULL),
        coalesce(array_agg(page_no) FILTER (WHERE change = 'known_container' AND NOT moved), '{}'),
        next_cursor
    FROM seen
    ON CONFLICT (listing_id, batch_no) DO NOTHING;
    RETURN 'staged';
END $$;
-- +goose StatementEnd

-- +goose StatementBegin
-- Ends a listing, or (with an empty word) tells how it ended. A listing that stored fewer items than the source returned is not whole, whatever the source says.
CREATE FUNCTION complete_listing(l bigint, word text, words text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    missing bigint;
    final text := word;
    said text := words;
BEGIN
    IF word = '' THEN
        SELECT verdict INTO final FROM listings WHERE listing_id = l;
        RETURN final;
    END IF;
    SELECT coalesce(sum(returned - stored), 0) INTO missing FROM listing_batches WHERE listing_id = l;
    IF missing <> 0 AND word = 'complete' THEN
        final := 'incomplete_count';
        said := format('the source returned %s items more than were stored: the next sync lists again', missing);
    END IF;
    UPDATE listings SET verdict = final, sentence = said, completed_at = now() WHERE listing_id = l AND completed_at IS NULL;
    SELECT verdict INTO final FROM listings WHERE listing_id = l;
    RETURN final;
END $$;
-- +goose StatementEnd

-- +goose StatementBegin
-- Everything that a listing saw, as page numbers.
CREATE FUNCTION listed_pages(l bigint) RETURNS TABLE (page_no bigint) LANGUAGE sql STABLE AS $$
    SELECT unnest(unchanged || skipped || excluded || failed || containers) FROM listing_batches WHERE listing_id = l
    UNION
    SELECT e.page_no FROM listing_entries e WHERE e.listing_id = l AND e.page_no IS NOT NULL
$$;
-- +goose StatementEnd

-- +goose StatementBegin
-- Whether a listing that began later has applied its moves and removals already; takes the lock under which that is decided.
CREATE FUNCTION listing_is_stale(l bigint) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE listing listings;
BEGIN
    SELECT * INTO listing FROM listings WHERE listing_id = l;
    PERFORM pg_advisory_xact_lock(hashtextextended('loresync reconcile ' || listing.folder_id, 0));
    RETURN EXISTS (SELECT 1 FROM listings x WHERE x.folder_id = listing.folder_id AND x.began_seq > listing.began_seq AND x.applied_at IS NOT NULL)
        OR NOT EXISTS (SELECT 1 FROM folders f WHERE f.folder_id = listing.folder_id AND f.generation = listing.folder_generation);
END $$;
-- +goose StatementEnd

-- +goose StatementBegin
-- Registers up to a bound of listed entries: rows for new pages, places and titles of moved ones, skips. Entries below an
-- excluded subtree get no row. Returns how many entries it took.
CREATE FUNCTION register_entries(l bigint, bound integer) RETURNS integer LANGUAGE plpgsql AS $$
DECLARE
    listing listings;
    entry listing_entries;
    page pages;
    stale boolean;
    taken integer := 0;
    covered boolean;
BEGIN
    SELECT * INTO listing FROM listings WHERE listing_id = l;
    PERFORM pg_advisory_xact_lock_shared(fence_key(listing.folder_id));
    PERFORM 1 FROM folders WHERE folder_id = listing.folder_id AND generation = listing.folder_generation AND deleted_at IS NULL FOR SHARE;
    IF NOT FOUND THEN RETURN -1; END IF;
    stale := listing_is_stale(l);
    PERFORM 1 FROM pages p WHERE p.folder_id = listing.folder_id AND p.page_no IN
        (SELECT e.page_no FROM listing_entries e WHERE e.listing_id = l AND e.state = 'listed' ORDER BY e.kind, e.path LIMIT bound)
        ORDER BY p.page_id FOR NO KEY UPDATE;
    FOR entry IN SELECT * FROM listing_entries e WHERE e.listing_id = l AND e.state = 'listed' ORDER BY e.kind, e.path LIMIT bound LOOP
        taken := taken + 1;
        covered := covering_listed(l, listing.folder_id, entry.source_id, entry.parent_source_id);
        IF covered AND entry.page_no IS NULL THEN
            UPDATE listing_entries e SET state = 'excluded' WHERE e.listing_id = l AND e.source_id = entry.source_id;
            CONTINUE;
        END IF;
        page := register_page(listing.folder_id, entry.source_id, entry.candidate_id, entry.parent_source_id, entry.kind, entry.title, entry.url,
            entry.path, 'listing');
        IF entry.moved AND NOT stale THEN
            UPDATE pages p SET parent_source_id = entry.parent_source_id, listed_title = entry.title, url = entry.url, path = entry.path,
                title = CASE WHEN p.title = p.listed_title THEN entry.title ELSE p.title END
            WHERE p.folder_id = listing.folder_id AND p.page_id = page.page_id;
        END IF;
        IF covered AND page.tombstone_reason IS DISTINCT FROM 'person' THEN
            PERFORM tombstone_page(listing.folder_id, page.page_id, 'person', NULL);
        END IF;
        IF entry.change = 'skipped' AND NOT covered THEN
            UPDATE pages p SET skip_class = entry.skip_class, skip_sentence = entry.skip_sentence, skip_listed = true, source_version = entry.version,
                source_edited_at = entry.edited_at, read_at = now(), attempt_seq = nextval('moments'), attempt_outcome = 'skipped',
                tombstoned_at = CASE WHEN tombstone_reason = 'source' THEN NULL ELSE tombstoned_at END,
                purge_at = CASE WHEN tombstone_reason = 'source' THEN NULL ELSE purge_at END,
                tombstone_reason = CASE WHEN tombstone_reason = 'source' THEN NULL ELSE tombstone_reason END
            WHERE p.folder_id = listing.folder_id AND p.page_id = page.page_id;
        END IF;
        UPDATE listing_entries e SET page_id = page.page_id, page_no = page.page_no,
            state = CASE WHEN covered THEN 'excluded' WHEN entry.change IN ('new', 'changed', 'retry', 'revived') THEN 'open' ELSE 'done' END
        WHERE e.listing_id = l AND e.source_id = entry.source_id;
    END LOOP;
    RETURN taken;
END $$;
-- +goose StatementEnd

-- +goose StatementBegin
-- Whether a listed entry lies below an excluded subtree, going up through what this listing saw and what is known.
CREATE FUNCTION covering_listed(l bigint, f text, own text, parent text) RETURNS boolean LANGUAGE plpgsql STABLE AS $$
BEGIN
    IF EXISTS (SELECT 1 FROM exclusions WHERE folder_id = f AND source_id = own) THEN RETURN true; END IF;
    IF NOT EXISTS (SELECT 1 FROM exclusions WHERE folder_id = f AND subtree) THEN RETURN false; END IF;
    RETURN EXISTS (
        WITH RECURSIVE up (source_id) AS (
            SELECT parent
            UNION
            SELECT coalesce(e.parent_source_id, p.parent_source_id) FROM up
            LEFT JOIN listing_entries e ON e.listing_id = l AND e.source_id = up.source_id
            LEFT JOIN pages p ON p.folder_id = f AND p.source_id = up.source_id
            WHERE up.source_id <> '' AND (e.source_id IS NOT NULL OR p.source_id IS NOT NULL)
        )
        SELECT 1 FROM up JOIN exclusions x ON x.folder_id = f AND x.source_id = up.source_id AND x.subtree);
END $$;
-- +goose StatementEnd

-- +goose StatementBegin
-- What a rename may have left: pages that the listing did not see, and exclusions of names that it did not see. Only these
-- are worth a fingerprint of the new entries.
CREATE FUNCTION vanished_fingerprints(l bigint) RETURNS TABLE (source_id text, page_id text, fingerprint bytea, excluded boolean)
LANGUAGE sql STABLE AS $$
    SELECT p.source_id, p.page_id, p.fingerprint, p.tombstone_reason IS NOT DISTINCT FROM 'person'
    FROM listings x JOIN pages p ON p.folder_id = x.folder_id
    WHERE x.listing_id = l AND x.verdict = 'complete' AND p.kind = 'document' AND p.fingerprint IS NOT NULL
      AND (p.tombstoned_at IS NULL OR p.tombstone_reason = 'person')
      AND p.created_seq < x.began_seq AND NOT EXISTS (SELECT 1 FROM listed_pages(l) s WHERE s.page_no = p.page_no)
    UNION ALL
    SELECT e.source_id, e.page_id, e.fingerprint, true
    FROM listings x JOIN exclusions e ON e.folder_id = x.folder_id
    WHERE x.listing_id = l AND x.verdict = 'complete' AND e.fingerprint IS NOT NULL
      AND NOT EXISTS (SELECT 1 FROM pages p WHERE p.folder_id = e.folder_id AND p.source_id = e.source_id)
      AND NOT EXISTS (SELECT 1 FROM listing_entries n WHERE n.listing_id = l AND n.source_id = e.source_id)
$$;
-- +goose StatementEnd

-- +goose StatementBegin
-- Applies one recognised rename before its new name is registered: the page keeps its id, its revisions and, when a person
-- deleted it, its exclusion.
CREATE FUNCTION apply_rename(l bigint, old_sid text, new_sid text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    listing listings;
    entry listing_entries;
    page pages;
BEGIN
    SELECT * INTO listing FROM listings WHERE listing_id = l;
    PERFORM pg_advisory_xact_lock_shared(fence_key(listing.folder_id));
    PERFORM 1 FROM folders WHERE folder_id = listing.folder_id AND generation = listing.folder_generation AND deleted_at IS NULL FOR SHARE;
    IF NOT FOUND OR listing_is_stale(l) THEN RETURN 'dropped'; END IF;
    SELECT * INTO entry FROM listing_entries WHERE listing_id = l AND source_id = new_sid AND page_id IS NULL AND state = 'listed';
    IF NOT FOUND THEN RETURN 'dropped'; END IF;
    SELECT * INTO page FROM pages WHERE folder_id = listing.folder_id AND source_id = old_sid FOR NO KEY UPDATE;
    IF EXISTS (SELECT 1 FROM pages WHERE folder_id = listing.folder_id AND source_id = new_sid) THEN RETURN 'dropped'; END IF;
    INSERT INTO exclusions (folder_id, source_id, page_id, fingerprint, subtree, who, covered_by)
    SELECT folder_id, new_sid, page_id, fingerprint, subtree, who, covered_by FROM exclusions
    WHERE folder_id = listing.folder_id AND source_id = old_sid ON CONFLICT DO NOTHING;
    IF page.page_id IS NULL THEN
        UPDATE listing_entries SET state = 'excluded' WHERE listing_id = l AND source_id = new_sid;
        RETURN 'excluded';
    END IF;
    UPDATE pages p SET source_id = new_sid, parent_source_id = entry.parent_source_id, url = entry.url, path = entry.path, listed_title = entry.title,
        title = CASE WHEN p.title = p.listed_title THEN entry.title ELSE p.title END, unseen_since = NULL, strikes = 0
    WHERE p.folder_id = page.folder_id AND p.page_id = page.page_id;
    UPDATE listing_entries SET page_id = page.page_id, page_no = page.page_no, moved = true,
        change = CASE WHEN page.tombstoned_at IS NULL THEN 'changed' ELSE change END,
        state = CASE WHEN page.tombstone_reason = 'person' THEN 'excluded' ELSE 'listed' END
    WHERE listing_id = l AND source_id = new_sid;
    INSERT INTO sync_events (kind, folder_id, page_id) VALUES ('moved', page.folder_id, page.page_id);
    RETURN 'moved';
END $$;
-- +goose StatementEnd

-- +goose StatementBegin
-- Settles the requested pages that were read after the listing saw them, and tells whether open ones are left and how many are
-- still waited for.
CREATE FUNCTION settle_entries(l bigint) RETURNS TABLE (open_left boolean, waiting bigint) LANGUAGE plpgsql AS $$
DECLARE f text;
BEGIN
    SELECT folder_id INTO f FROM listings WHERE listing_id = l;
    UPDATE listing_entries e SET
        state = CASE WHEN p.page_id IS NULL OR p.tombstone_reason = 'person' THEN 'excluded'
                     WHEN p.attempt_outcome IN ('failed') THEN 'failed' ELSE 'done' END,
        outcome = coalesce(p.attempt_outcome, '')
    FROM listing_entries x LEFT JOIN pages p ON p.folder_id = f AND p.page_id = x.page_id
    WHERE e.listing_id = l AND x.listing_id = l AND x.source_id = e.source_id AND e.state = 'requested'
      AND (p.page_id IS NULL OR p.tombstone_reason = 'person' OR (p.attempt_seq > e.seen_seq AND p.attempt_outcome <> ''));
    RETURN QUERY SELECT EXISTS (SELECT 1 FROM listing_entries e WHERE e.listing_id = l AND e.state = 'open'),
        (SELECT count(*) FROM listing_entries e WHERE e.listing_id = l AND e.state = 'requested');
END $$;
-- +goose StatementEnd
