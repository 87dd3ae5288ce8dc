-- Trees that are known only by reading: pages report the children they saw, each page remembers how it was found, and sources
-- tell what is gone.

-- +goose Up

ALTER TABLE listing_entries ADD COLUMN found_by text NOT NULL DEFAULT 'listing';
-- How much of a page could be kept, as its source saw it.
ALTER TABLE revisions ADD COLUMN fidelity jsonb NOT NULL DEFAULT '{}';
-- Pages of a run by how they were found.
ALTER TABLE sync_runs ADD COLUMN coverage jsonb NOT NULL DEFAULT '{}';
-- The place that an incremental listing may start from, once its data is stored; and the listing that it came from.
ALTER TABLE listings ADD COLUMN checkpoint text NOT NULL DEFAULT '';
ALTER TABLE folder_listings ADD COLUMN checkpoint_seq bigint NOT NULL DEFAULT 0;
-- A child that a page sync saw outside of any folder sync.
ALTER TABLE due_reads DROP CONSTRAINT due_reads_reason_known;
ALTER TABLE due_reads ADD CONSTRAINT due_reads_reason_known CHECK (reason IN ('recent_edit', 'retry', 'models', 'webhook', 'found'));

-- What a source said is gone: in the trash, or removed. Each is confirmed by a direct read before anything is removed.
CREATE TABLE listing_told (
    listing_id bigint NOT NULL REFERENCES listings (listing_id) ON DELETE CASCADE,
    source_id  text NOT NULL,
    PRIMARY KEY (listing_id, source_id)
);

DROP FUNCTION stage_listing_batch(bigint, integer, integer, text, text[], text[], text[], text[], text[], text[], text[], text[], timestamptz[], text[], text[]);
DROP FUNCTION settle_entries(bigint);
DROP FUNCTION stage_revision(text, text, uuid, bytea, text, bytea, text, text, jsonb, text, text, text, timestamptz, jsonb, text[], bytea[], text[], text, integer, jsonb, bytea, interval);
DROP FUNCTION remove_lost_pages(text, text[], uuid, interval, boolean);

-- +goose StatementBegin
-- Compares a batch with what is known. Unchanged pages are packed; the others get a row in listing_entries.
CREATE FUNCTION stage_listing_batch(l bigint, n integer, returned_items integer, next_cursor text, sids text[], candidates text[], parents text[],
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

-- +goose StatementBegin
-- Registers up to a bound of listed entries: rows for new pages, places and titles of moved ones, skips. Entries below an
-- excluded subtree get no row. Returns how many entries it took.
CREATE OR REPLACE FUNCTION register_entries(l bigint, bound integer) RETURNS integer LANGUAGE plpgsql AS $$
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
            entry.path, entry.found_by);
        IF entry.found_by = 'search' AND page.found_by = 'tree' THEN
            UPDATE pages p SET found_by = 'search' WHERE p.folder_id = listing.folder_id AND p.page_id = page.page_id;
        END IF;
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
-- Settles the requested pages that were read after the listing saw them, and tells whether open ones are left, how many are
-- still waited for, and whether page syncs reported children that have no row yet.
CREATE FUNCTION settle_entries(l bigint) RETURNS TABLE (open_left boolean, waiting bigint, listed_left boolean) LANGUAGE plpgsql AS $$
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
        (SELECT count(*) FROM listing_entries e WHERE e.listing_id = l AND e.state = 'requested'),
        EXISTS (SELECT 1 FROM listing_entries e WHERE e.listing_id = l AND e.state = 'listed');
END $$;
-- +goose StatementEnd

-- +goose StatementBegin
-- Stage: writes a revision and its chunks for the holder of the token. Chunks whose text is embedded already point to that
-- embedding at once, so that it can't be collected; the others come back to be embedded.
CREATE FUNCTION stage_revision(f text, p text, t uuid, raw_bytes bytea, fmt text, hash bytea, md text, ttl text, meta_doc jsonb,
    sum_text text, sum_model text, version text, edited timestamptz, chunk_headings jsonb, chunk_bodies text[], chunk_hashes bytea[],
    chunk_terms text[], emb_model text, emb_dimensions integer, where_it_hangs jsonb, print bytea, recheck interval, fidelity_doc jsonb)
RETURNS TABLE (outcome text, revision_id bigint, missing bytea[]) LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
    holder in_flight;
    rev bigint;
BEGIN
    PERFORM set_config('synchronous_commit', 'off', true); -- Publish is the commit that counts, and it waits for this one
    SELECT * INTO holder FROM in_flight i WHERE i.folder_id = f AND i.page_id = p AND i.token = t FOR NO KEY UPDATE;
    IF NOT FOUND THEN outcome := 'fenced'; RETURN NEXT; RETURN; END IF;
    IF holder.cancel_requested THEN outcome := 'cancel_requested'; RETURN NEXT; RETURN; END IF;
    DELETE FROM revisions r WHERE r.folder_id = f AND r.page_id = p AND r.state = 'staged';
    INSERT INTO revisions AS r (folder_id, page_id, token, read_seq, raw, format, content_hash, markdown, title, meta, summary, summary_model,
                           source_version, source_edited_at, place, fingerprint, recheck_after, fidelity)
    VALUES (f, p, t, holder.read_seq, raw_bytes, fmt, hash, md, ttl, meta_doc, sum_text, sum_model, version, edited, where_it_hangs, print, recheck, fidelity_doc)
    RETURNING r.revision_id INTO rev;
    WITH piece AS (
        SELECT n, body, text_hash, term, ARRAY(SELECT jsonb_array_elements_text(chunk_headings -> (n - 1)::int)) AS headings
        FROM unnest(chunk_bodies, chunk_hashes, chunk_terms) WITH ORDINALITY AS u (body, text_hash, term, n)
    ), known AS (
        SELECT e.text_hash FROM embeddings e
        WHERE e.model = emb_model AND e.dimensions = emb_dimensions AND e.text_hash = ANY (chunk_hashes)
        ORDER BY e.text_hash FOR KEY SHARE
    )
    INSERT INTO chunks (revision_id, chunk_no, heading_path, body, text_hash, terms, model, dimensions)
    SELECT rev, n - 1, headings, body, piece.text_hash, term::tsvector,
           CASE WHEN k.text_hash IS NOT NULL THEN emb_model END, CASE WHEN k.text_hash IS NOT NULL THEN emb_dimensions END
    FROM piece LEFT JOIN known k ON k.text_hash = piece.text_hash;
    outcome := 'staged'; revision_id := rev;
    SELECT coalesce(array_agg(DISTINCT c.text_hash), '{}') INTO missing FROM chunks c WHERE c.revision_id = rev AND c.model IS NULL;
    RETURN NEXT;
END $$;
-- +goose StatementEnd

-- +goose StatementBegin
-- Removes pages that the source lost, up to 500 at once: hidden, and purged after the undo window unless the source brings
-- them back. Pages need two strikes, unless the source told that they are gone. A page that was read or is being read since its strikes is left alone. Returns the pages it removed.
CREATE FUNCTION remove_lost_pages(f text, page_ids text[], gen uuid, undo interval, approved boolean, told boolean) RETURNS text[] LANGUAGE plpgsql AS $$
DECLARE
    victim record;
    gone text[] := '{}';
BEGIN
    PERFORM pg_advisory_xact_lock_shared(fence_key(f));
    PERFORM 1 FROM folders WHERE folder_id = f AND generation = gen AND deleted_at IS NULL FOR SHARE;
    IF NOT FOUND THEN RETURN gone; END IF;
    FOR victim IN SELECT * FROM pages p WHERE p.folder_id = f AND p.page_id = ANY (page_ids) ORDER BY p.page_id FOR NO KEY UPDATE LOOP
        CONTINUE WHEN victim.tombstoned_at IS NOT NULL OR (victim.strikes < 2 AND NOT told)
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
-- Children that a page sync saw while it held its page: into each listing of the folder that is under way, or, with none, to
-- be read soon. Known ones get their place; an edge is known by the child's parent. Returns how many were new to the folder.
CREATE FUNCTION report_children(f text, p text, t uuid, sids text[], candidates text[], kinds text[], titles text[], urls text[], versions text[])
RETURNS integer LANGUAGE plpgsql AS $$
DECLARE
    holder in_flight;
    own pages;
    child record;
    page pages;
    listed bigint;
    fresh integer := 0;
BEGIN
    PERFORM pg_advisory_xact_lock_shared(fence_key(f));
    -- A paused folder's pages may still be published, so what they hold is kept too.
    PERFORM 1 FROM folders WHERE folder_id = f AND deleted_at IS NULL FOR SHARE;
    IF NOT FOUND THEN RETURN 0; END IF;
    PERFORM 1 FROM pages x WHERE x.folder_id = f AND x.source_id = ANY (sids) ORDER BY x.page_id FOR NO KEY UPDATE;
    SELECT * INTO holder FROM in_flight i WHERE i.folder_id = f AND i.page_id = p AND i.token = t;
    IF NOT FOUND OR holder.cancel_requested THEN RETURN 0; END IF;
    SELECT * INTO own FROM pages x WHERE x.folder_id = f AND x.page_id = p;
    SELECT max(l.listing_id) INTO listed FROM listings l JOIN sync_runs s ON s.workflow_id = l.workflow_id
    WHERE l.folder_id = f AND s.status = 'running' AND NOT l.dry_run AND l.reconciled_at IS NULL;
    FOR child IN SELECT DISTINCT ON (u.sid) * FROM unnest(sids, candidates, kinds, titles, urls, versions)
            AS u (sid, candidate, kind, title, url, version) ORDER BY u.sid LOOP
        SELECT * INTO page FROM pages x WHERE x.folder_id = f AND x.source_id = child.sid;
        IF NOT FOUND THEN
            CONTINUE WHEN covering_exclusion(f, child.sid, own.source_id) IS NOT NULL;
            fresh := fresh + 1;
            page := register_page(f, child.sid, child.candidate, own.source_id, child.kind, child.title, child.url, '', 'tree');
        ELSIF page.parent_source_id <> own.source_id THEN
            UPDATE pages x SET parent_source_id = own.source_id WHERE x.folder_id = f AND x.page_id = page.page_id;
        END IF;
        CONTINUE WHEN page.tombstone_reason = 'person';
        -- Every listing under way has seen it. The latest asks for it, when there is something to read.
        INSERT INTO listing_entries (listing_id, source_id, page_id, page_no, candidate_id, parent_source_id, kind, title, url, path, version, change,
            seen_seq, state, found_by)
        SELECT l.listing_id, child.sid, page.page_id, page.page_no, child.candidate, own.source_id, child.kind, child.title, child.url, page.path, child.version,
            c.change, nextval('moments'), CASE WHEN c.change = 'same' THEN 'done' ELSE 'open' END, 'tree'
        FROM listings l JOIN sync_runs s ON s.workflow_id = l.workflow_id, LATERAL (SELECT CASE
                WHEN page.skip_class IS NOT NULL AND page.published_revision_id IS NULL THEN 'same'
                WHEN page.tombstoned_at IS NOT NULL THEN 'revived'
                WHEN page.published_revision_id IS NULL THEN 'new'
                WHEN child.version <> '' AND child.version <> page.source_version THEN 'changed'
                ELSE 'same' END AS change) c
        WHERE l.folder_id = f AND s.status = 'running' AND NOT l.dry_run AND l.reconciled_at IS NULL
          AND NOT EXISTS (SELECT 1 FROM listing_batches b WHERE b.listing_id = l.listing_id
                          AND page.page_no = ANY (b.unchanged || b.skipped || b.excluded || b.failed))
        ON CONFLICT (listing_id, source_id) DO NOTHING;
        IF listed IS NULL AND (page.published_revision_id IS NULL AND page.skip_class IS NULL OR page.tombstoned_at IS NOT NULL
                               OR child.version <> '' AND child.version <> page.source_version) THEN
            INSERT INTO due_reads (folder_id, page_id, due_at, reason) VALUES (f, page.page_id, now(), 'found') ON CONFLICT DO NOTHING;
        END IF;
    END LOOP;
    RETURN fresh;
END $$;
-- +goose StatementEnd

-- +goose StatementBegin
-- Counts pages as seen that hang under a page which this full listing saw and did not read again: a known edge of an unchanged
-- page. Those that only the tree knows are read, since nothing else tells whether they changed. Only pages that were found by
-- the tree: what search once knew and no longer returns is absent until it is confirmed. Returns how many are to be read.
CREATE FUNCTION count_known_edges(l bigint) RETURNS integer LANGUAGE plpgsql AS $$
DECLARE
    listing listings;
    added integer;
BEGIN
    SELECT * INTO listing FROM listings WHERE listing_id = l;
    IF NOT listing.full_listing OR listing.dry_run OR listing.verdict <> 'complete' THEN RETURN 0; END IF;
    INSERT INTO listing_entries (listing_id, source_id, page_id, page_no, candidate_id, parent_source_id, kind, title, url, path, version, change,
        seen_seq, state, found_by)
    SELECT l, p.source_id, p.page_id, p.page_no, p.page_id, p.parent_source_id, p.kind, p.listed_title, p.url, p.path, p.source_version,
        CASE WHEN p.skip_class IS NOT NULL AND p.published_revision_id IS NULL THEN 'skipped' ELSE 'changed' END, nextval('moments'),
        CASE WHEN p.skip_class IS NOT NULL AND p.published_revision_id IS NULL THEN 'done' ELSE 'open' END, 'tree'
    FROM pages p JOIN pages q ON q.folder_id = p.folder_id AND q.source_id = p.parent_source_id
    JOIN listed_pages(l) s ON s.page_no = q.page_no
    WHERE p.folder_id = listing.folder_id AND p.found_by = 'tree' AND p.kind = 'document' AND p.tombstoned_at IS NULL
      AND NOT EXISTS (SELECT 1 FROM listed_pages(l) x WHERE x.page_no = p.page_no)
      -- A parent that this run read has reported its children itself.
      AND NOT EXISTS (SELECT 1 FROM listing_entries e WHERE e.listing_id = l AND e.page_no = q.page_no AND e.outcome IN ('published', 'unchanged'))
    ON CONFLICT DO NOTHING;
    GET DIAGNOSTICS added = ROW_COUNT;
    RETURN added;
END $$;
-- +goose StatementEnd
