-- The tree keeps its shape when rows go. A page's place was known by its row alone: below a page that had been purged nothing was
-- below anything any more, so that a deleted subtree didn't cover it, and a page that had been moved out of a deleted subtree was
-- purged without a trace, and came back. What a person deleted stays deleted wherever it is moved, and is restored by itself once it
-- lies outside of the deleted subtree. Besides: what an approved hold came to, and whose credentials are in use.

-- +goose Up

-- Where purged pages hung: all that a person had deleted, and those of the rest that something hung under.
CREATE TABLE purged_places (
    folder_id        text NOT NULL REFERENCES folders (folder_id) ON DELETE CASCADE,
    source_id        text NOT NULL,
    parent_source_id text NOT NULL,
    PRIMARY KEY (folder_id, source_id)
);
-- Walks a tree downwards, as pages_children.
CREATE INDEX purged_places_children ON purged_places (folder_id, parent_source_id);

-- The pages of a hold when it was approved, and what became of them: null until all were looked at.
ALTER TABLE holds ADD COLUMN approved_pages text[] NOT NULL DEFAULT '{}';
ALTER TABLE holds ADD COLUMN removed bigint;
ALTER TABLE holds ADD COLUMN kept bigint;

-- Whose credentials are in use: a digest tells two keys apart, and the identity is the vendor's public name of the account.
CREATE TABLE connection_keys (
    connection text NOT NULL REFERENCES connections (name) ON DELETE CASCADE,
    -- The first digits of the SHA-256 of the secret, which has too many random bits to be guessed from it.
    key_digest text NOT NULL CONSTRAINT connection_keys_digest_form CHECK (key_digest ~ '^[0-9a-f]{8}$'),
    -- Where the secret came from: a variable, a file, a person's consent.
    origin     text NOT NULL DEFAULT '',
    -- Empty until the source was asked.
    identity   text NOT NULL DEFAULT '',
    -- When a worker took it up last; null for keys that only a check has seen.
    used_since timestamptz,
    seen_at    timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (connection, key_digest)
);

-- Pages below a subtree delete that was accepted and whose pages have not all been tombstoned yet.
CREATE OR REPLACE VIEW swept_pages AS
WITH RECURSIVE below (folder_id, source_id, page_id) AS (
    SELECT p.folder_id, p.source_id, p.page_id
    FROM exclusions e JOIN pages p ON p.folder_id = e.folder_id AND p.source_id = e.source_id
    WHERE e.sweeping
    UNION
    SELECT b.folder_id, c.source_id, c.page_id FROM below b, LATERAL (
        SELECT p.source_id, p.page_id FROM pages p WHERE p.folder_id = b.folder_id AND p.parent_source_id = b.source_id
        UNION ALL
        SELECT g.source_id, NULL FROM purged_places g WHERE g.folder_id = b.folder_id AND g.parent_source_id = b.source_id) c
)
SELECT folder_id, source_id, page_id FROM below WHERE page_id IS NOT NULL;

-- +goose StatementBegin
-- The source id of the exclusion that covers a page, its own or that of an excluded subtree above it; null without one.
CREATE OR REPLACE FUNCTION covering_exclusion(f text, own text, parent text) RETURNS text LANGUAGE plpgsql STABLE AS $$
DECLARE found_id text;
BEGIN
    SELECT source_id INTO found_id FROM exclusions WHERE folder_id = f AND source_id = own;
    IF FOUND THEN RETURN found_id; END IF;
    IF NOT EXISTS (SELECT 1 FROM exclusions WHERE folder_id = f AND subtree) THEN RETURN NULL; END IF;
    WITH RECURSIVE up (source_id) AS (
        SELECT parent
        UNION
        SELECT above.parent_source_id FROM up, LATERAL (
            SELECT p.parent_source_id FROM pages p WHERE p.folder_id = f AND p.source_id = up.source_id
            UNION ALL
            SELECT g.parent_source_id FROM purged_places g WHERE g.folder_id = f AND g.source_id = up.source_id) above
    )
    SELECT e.source_id INTO found_id FROM up JOIN exclusions e ON e.folder_id = f AND e.source_id = up.source_id AND e.subtree LIMIT 1;
    RETURN found_id;
END $$;
-- +goose StatementEnd

-- +goose StatementBegin
-- The source id of the exclusion that is to be lifted for a page to be seen again: the outermost subtree above it, else its own.
-- Where a page hung that was purged by an older version isn't known; what it was covered by stands for that. Null where nothing
-- is to be lifted, as for a page that was moved out of a deleted subtree: its own row says that it is deleted.
CREATE FUNCTION excluding(f text, sid text) RETURNS text LANGUAGE plpgsql STABLE AS $$
DECLARE
    place text;
    own exclusions;
    top text;
BEGIN
    SELECT * INTO own FROM exclusions WHERE folder_id = f AND source_id = sid;
    SELECT p.parent_source_id INTO place FROM pages p WHERE p.folder_id = f AND p.source_id = sid;
    IF NOT FOUND THEN
        SELECT g.parent_source_id INTO place FROM purged_places g WHERE g.folder_id = f AND g.source_id = sid;
        IF NOT FOUND THEN
            RETURN coalesce((SELECT e.source_id FROM exclusions e WHERE e.folder_id = f AND e.source_id = own.covered_by), own.source_id);
        END IF;
    END IF;
    WITH RECURSIVE up (source_id, depth) AS (
        SELECT place, 1
        UNION
        SELECT above.parent_source_id, up.depth + 1 FROM up, LATERAL (
            SELECT p.parent_source_id FROM pages p WHERE p.folder_id = f AND p.source_id = up.source_id
            UNION ALL
            SELECT g.parent_source_id FROM purged_places g WHERE g.folder_id = f AND g.source_id = up.source_id) above
        WHERE up.depth < 200
    )
    SELECT CASE WHEN e.covered_by = '' OR EXISTS (SELECT 1 FROM pages p WHERE p.folder_id = f AND p.source_id = e.source_id)
                     OR EXISTS (SELECT 1 FROM purged_places g WHERE g.folder_id = f AND g.source_id = e.source_id)
                THEN e.source_id ELSE e.covered_by END INTO top
    FROM up JOIN exclusions e ON e.folder_id = f AND e.source_id = up.source_id AND e.subtree ORDER BY up.depth DESC LIMIT 1;
    RETURN coalesce(top, own.source_id);
END $$;
-- +goose StatementEnd

-- +goose StatementBegin
-- Everything below a page, in the source's tree. Purged pages are no part of it, what hangs under them is.
CREATE OR REPLACE FUNCTION pages_below(f text, sid text) RETURNS SETOF pages LANGUAGE sql STABLE AS $$
    WITH RECURSIVE below (source_id) AS (
        SELECT sid
        UNION
        SELECT c.source_id FROM below b, LATERAL (
            SELECT p.source_id FROM pages p WHERE p.folder_id = f AND p.parent_source_id = b.source_id
            UNION ALL
            SELECT g.source_id FROM purged_places g WHERE g.folder_id = f AND g.parent_source_id = b.source_id) c
    )
    SELECT p.* FROM below b JOIN pages p ON p.folder_id = f AND p.source_id = b.source_id WHERE p.source_id <> sid
$$;
-- +goose StatementEnd

-- +goose StatementBegin
-- In-flight rows that a delete has to see ended: below what it deletes, or hidden by it and moved since, and older than its accept.
CREATE OR REPLACE FUNCTION in_flight_below(d bigint) RETURNS SETOF in_flight LANGUAGE sql STABLE AS $$
    SELECT i.* FROM deletes x JOIN in_flight i ON i.folder_id = x.folder_id
    WHERE x.delete_id = d AND i.read_seq < x.accepted_seq AND (
        x.page_id IS NULL OR i.page_id = x.page_id
        OR (x.subtree AND i.page_id IN (SELECT b.page_id FROM pages_below(x.folder_id, x.source_id) b
                                        UNION ALL SELECT p.page_id FROM pages p WHERE p.delete_id = x.delete_id)))
$$;
-- +goose StatementEnd

-- +goose StatementBegin
-- Inserts or selects the row of a page by its source id, before any workflow of it starts. A taken id gets a suffix.
CREATE OR REPLACE FUNCTION register_page(f text, sid text, candidate text, parent text, k text, t text, u text, pth text, how text)
RETURNS pages LANGUAGE plpgsql AS $$
DECLARE
    page pages;
    id text := candidate;
    n integer := 1;
BEGIN
    LOOP
        SELECT * INTO page FROM pages WHERE folder_id = f AND source_id = sid;
        IF FOUND THEN RETURN page; END IF;
        INSERT INTO pages (folder_id, page_id, source_id, parent_source_id, kind, title, listed_title, url, path, found_by)
        VALUES (f, id, sid, parent, k, t, t, u, pth, how)
        ON CONFLICT DO NOTHING RETURNING * INTO page;
        IF FOUND THEN
            DELETE FROM purged_places WHERE folder_id = f AND source_id = sid;
            RETURN page;
        END IF;
        n := n + 1;
        id := left(candidate, 120) || '-' || n;
    END LOOP;
END $$;
-- +goose StatementEnd

-- +goose StatementBegin
-- Whether a listed entry lies below an excluded subtree, going up through what this listing saw and what is known.
CREATE OR REPLACE FUNCTION covering_listed(l bigint, f text, own text, parent text) RETURNS boolean LANGUAGE plpgsql STABLE AS $$
BEGIN
    IF EXISTS (SELECT 1 FROM exclusions WHERE folder_id = f AND source_id = own) THEN RETURN true; END IF;
    IF NOT EXISTS (SELECT 1 FROM exclusions WHERE folder_id = f AND subtree) THEN RETURN false; END IF;
    RETURN EXISTS (
        WITH RECURSIVE up (source_id) AS (
            SELECT parent
            UNION
            SELECT coalesce(e.parent_source_id, p.parent_source_id, g.parent_source_id) FROM up
            LEFT JOIN listing_entries e ON e.listing_id = l AND e.source_id = up.source_id
            LEFT JOIN pages p ON p.folder_id = f AND p.source_id = up.source_id
            LEFT JOIN purged_places g ON g.folder_id = f AND g.source_id = up.source_id
            WHERE up.source_id <> '' AND (e.source_id IS NOT NULL OR p.source_id IS NOT NULL OR g.source_id IS NOT NULL)
        )
        SELECT 1 FROM up JOIN exclusions x ON x.folder_id = f AND x.source_id = up.source_id AND x.subtree);
END $$;
-- +goose StatementEnd

-- +goose StatementBegin
-- Compares a batch with what is known. Unchanged pages are packed; the others get a row in listing_entries. So do deleted ones that
-- were moved: a restore goes by where a page is now. Of purged ones the place is kept in step.
CREATE OR REPLACE FUNCTION stage_listing_batch(l bigint, n integer, returned_items integer, next_cursor text, sids text[], candidates text[], parents text[],
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
                -- A container above it was renamed. Sources without paths tell none.
                OR i.path <> '' AND p.path <> i.path
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
            CASE WHEN change = 'known_container' THEN 'container' WHEN change = 'known_skipped' THEN 'skipped' WHEN change = 'excluded' THEN 'same'
                 ELSE change END, moved, seq, found_by
        FROM seen
        WHERE change IN ('new', 'changed', 'retry', 'revived', 'skipped', 'container') OR moved AND change = 'excluded'
           OR ((moved OR refound) AND change IN ('same', 'known_container', 'known_skipped'))
        ON CONFLICT (listing_id, source_id) DO UPDATE SET parent_source_id = excluded.parent_source_id, title = excluded.title, url = excluded.url,
            path = excluded.path, version = excluded.version, edited_at = excluded.edited_at, seen_seq = excluded.seen_seq
        RETURNING 1
    )
    INSERT INTO listing_batches (listing_id, batch_no, returned, stored, unchanged, skipped, excluded, failed, gone, containers, cursor)
    SELECT l, n, returned_items, cardinality(sids),
        coalesce(array_agg(page_no) FILTER (WHERE change = 'same' AND NOT moved AND NOT refound), '{}'),
        coalesce(array_agg(page_no) FILTER (WHERE change = 'known_skipped' AND NOT moved AND NOT refound), '{}'),
        coalesce(array_agg(page_no) FILTER (WHERE change = 'excluded' AND page_no IS NOT NULL AND NOT moved), '{}'),
        coalesce(array_agg(page_no) FILTER (WHERE change = 'quarantined'), '{}'),
        count(*) FILTER (WHERE change = 'excluded' AND page_no IS NULL),
        coalesce(array_agg(page_no) FILTER (WHERE change = 'known_container' AND NOT moved AND NOT refound), '{}'),
        next_cursor
    FROM seen
    ON CONFLICT (listing_id, batch_no) DO NOTHING;
    UPDATE purged_places g SET parent_source_id = u.parent FROM unnest(sids, parents) AS u (sid, parent)
    WHERE g.folder_id = listing.folder_id AND g.source_id = u.sid AND u.parent IS NOT NULL AND g.parent_source_id <> u.parent AND NOT listing.dry_run;
    INSERT INTO listing_told (listing_id, source_id) SELECT DISTINCT l, u FROM unnest(told) AS u ON CONFLICT DO NOTHING;
    RETURN 'staged';
END $$;
-- +goose StatementEnd

-- +goose StatementBegin
-- Whether a page lies below a subtree that is being hidden and isn't hidden itself yet, so that a move would show it again.
CREATE FUNCTION leaves_sweep(f text, page pages) RETURNS boolean LANGUAGE sql STABLE AS $$
    SELECT EXISTS (SELECT 1 FROM exclusions WHERE folder_id = f AND sweeping)
       AND page.tombstone_reason IS DISTINCT FROM 'person' AND covering_exclusion(f, page.source_id, page.parent_source_id) IS NOT NULL
$$;
-- +goose StatementEnd

-- +goose StatementBegin
-- Registers up to a bound of listed entries: rows for new pages, places and titles of moved ones, skips. Entries below an
-- excluded subtree get no row. A move out of a subtree that is just being hidden waits for the next listing: where they are is how its
-- pages are found. Returns how many entries it took.
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
        IF entry.moved AND NOT stale AND NOT leaves_sweep(listing.folder_id, page) THEN
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
            state = CASE WHEN covered OR page.tombstone_reason = 'person' THEN 'excluded' WHEN entry.change IN ('new', 'changed', 'retry', 'revived') THEN 'open' ELSE 'done' END
        WHERE e.listing_id = l AND e.source_id = entry.source_id;
    END LOOP;
    RETURN taken;
END $$;
-- +goose StatementEnd

-- +goose StatementBegin
-- Children that a page sync saw while it held its page: into each listing of the folder that is under way, or, with none, to
-- be read soon. Known ones get their place; an edge is known by the child's parent. Returns how many were new to the folder.
CREATE OR REPLACE FUNCTION report_children(f text, p text, t uuid, sids text[], candidates text[], kinds text[], titles text[], urls text[], versions text[])
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
            UPDATE purged_places g SET parent_source_id = own.source_id WHERE g.folder_id = f AND g.source_id = child.sid;
            CONTINUE WHEN covering_exclusion(f, child.sid, own.source_id) IS NOT NULL;
            fresh := fresh + 1;
            page := register_page(f, child.sid, child.candidate, own.source_id, child.kind, child.title, child.url, '', 'tree');
        ELSIF page.parent_source_id <> own.source_id AND NOT leaves_sweep(f, page) THEN
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

DROP FUNCTION apply_rename(bigint, text, text);

-- +goose StatementBegin
-- Applies one recognised rename before its new name is registered: the page keeps its id, its revisions and, when a person
-- deleted it, its exclusion. The ground of it is looked at again under the lock: the page, or what a purge left of it, still has the
-- content that was recognised (print). One that was read again under its old name since, with other content, is another page.
CREATE FUNCTION apply_rename(l bigint, old_sid text, new_sid text, print bytea) RETURNS text LANGUAGE plpgsql AS $$
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
    IF page.page_id IS NULL THEN
        PERFORM 1 FROM exclusions WHERE folder_id = listing.folder_id AND source_id = old_sid AND fingerprint = print FOR SHARE;
        IF NOT FOUND THEN RETURN 'dropped'; END IF;
    ELSIF page.fingerprint IS DISTINCT FROM print THEN
        RETURN 'dropped';
    END IF;
    IF leaves_sweep(listing.folder_id, page) THEN
        PERFORM tombstone_page(listing.folder_id, page.page_id, 'person', NULL);
        SELECT p.* INTO page FROM pages p WHERE p.folder_id = listing.folder_id AND p.source_id = old_sid;
    END IF;
    INSERT INTO exclusions (folder_id, source_id, page_id, fingerprint, subtree, who, covered_by)
    SELECT folder_id, new_sid, page_id, fingerprint, subtree, who, covered_by FROM exclusions
    WHERE folder_id = listing.folder_id AND source_id = old_sid ON CONFLICT DO NOTHING;
    DELETE FROM purged_places WHERE folder_id = listing.folder_id AND source_id = new_sid;
    IF page.page_id IS NULL THEN
        INSERT INTO purged_places (folder_id, source_id, parent_source_id) VALUES (listing.folder_id, new_sid, entry.parent_source_id);
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
    IF page.tombstone_reason IS DISTINCT FROM 'person' AND covering_listed(l, page.folder_id, new_sid, entry.parent_source_id) THEN
        -- Into a deleted subtree: nobody sees it there, not even until the listing is registered.
        PERFORM tombstone_page(page.folder_id, page.page_id, 'person', NULL);
        UPDATE listing_entries SET state = 'excluded' WHERE listing_id = l AND source_id = new_sid;
    END IF;
    INSERT INTO sync_events (kind, folder_id, page_id) VALUES ('moved', page.folder_id, page.page_id);
    RETURN 'moved';
END $$;
-- +goose StatementEnd

-- +goose StatementBegin
-- Purges up to a bound of pages whose undo window is over (of one delete, or of any): revisions, chunks, embeddings that
-- nothing else uses, failures, the row itself. What a person deleted leaves its place behind and an exclusion of its own, so that it
-- can't come back through a tree whose top is gone, nor from where it was moved to. A subtree that is still being swept is left for later, its top
-- included. A delete that was asked for --now afterwards takes the pages with it whose own window is still open. Returns how many pages went.
CREATE OR REPLACE FUNCTION purge_pages(d bigint, bound integer) RETURNS integer LANGUAGE plpgsql AS $$
DECLARE
    victim record;
    taken integer := 0;
    above text;
    del deletes;
    cover exclusions;
BEGIN
    FOR victim IN
        SELECT p.folder_id, p.page_id, p.source_id, p.parent_source_id, p.fingerprint, p.tombstone_reason, p.delete_id FROM pages p
        WHERE (p.purge_at <= now() OR EXISTS (SELECT 1 FROM deletes x WHERE x.delete_id = d AND x.now AND x.purge_at <= now()))
          AND p.tombstoned_at IS NOT NULL AND (d IS NULL OR p.delete_id = d)
          AND NOT EXISTS (SELECT 1 FROM in_flight i WHERE i.folder_id = p.folder_id AND i.page_id = p.page_id)
          AND NOT EXISTS (SELECT 1 FROM swept_pages s WHERE s.folder_id = p.folder_id AND s.page_id = p.page_id)
        ORDER BY p.folder_id, p.page_id LIMIT bound FOR NO KEY UPDATE SKIP LOCKED
    LOOP
        taken := taken + 1;
        IF victim.tombstone_reason = 'person' THEN
            above := covering_exclusion(victim.folder_id, victim.source_id, victim.parent_source_id);
            IF above IS DISTINCT FROM victim.source_id THEN
                -- Moved out of the subtree that it was deleted with, it is covered by nothing: its delete tells who wanted it gone.
                SELECT x.* INTO del FROM deletes x WHERE x.delete_id = victim.delete_id;
                SELECT e.* INTO cover FROM exclusions e WHERE e.folder_id = victim.folder_id AND e.source_id = coalesce(above, del.source_id);
                INSERT INTO exclusions (folder_id, source_id, page_id, fingerprint, subtree, covered_by, who)
                SELECT victim.folder_id, victim.source_id, victim.page_id, victim.fingerprint, true,
                       coalesce(nullif(cover.covered_by, ''), cover.source_id, ''), coalesce(cover.who, del.who, 'a person')
                WHERE above IS NOT NULL OR del.restored_at IS NULL ON CONFLICT DO NOTHING;
            END IF;
        END IF;
        IF victim.tombstone_reason = 'person'
           OR EXISTS (SELECT 1 FROM pages c WHERE c.folder_id = victim.folder_id AND c.parent_source_id = victim.source_id)
           OR EXISTS (SELECT 1 FROM purged_places c WHERE c.folder_id = victim.folder_id AND c.parent_source_id = victim.source_id) THEN
            INSERT INTO purged_places AS g (folder_id, source_id, parent_source_id) VALUES (victim.folder_id, victim.source_id, victim.parent_source_id)
            ON CONFLICT (folder_id, source_id) DO UPDATE SET parent_source_id = excluded.parent_source_id;
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
-- batches of restore_swept and restore_below. After a purge only the exclusion is lifted, so that the next sync reads the page again.
-- Below a deleted subtree nothing is restored: then the page is what is to be restored instead. A page that was moved out of one is
-- restored by itself.
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
    above := excluding(f, coalesce(page.source_id, sid));
    IF above NOT IN (sid, coalesce(page.source_id, sid)) THEN
        outcome := 'covered'; page_id := coalesce((SELECT e.page_id FROM exclusions e WHERE e.folder_id = f AND e.source_id = above), above);
        RETURN NEXT; RETURN;
    END IF;
    IF ex.source_id IS NULL AND page.tombstone_reason IS DISTINCT FROM 'person' THEN
        outcome := 'not_deleted'; page_id := page.page_id; RETURN NEXT; RETURN;
    END IF;
    IF page.purging_at IS NOT NULL THEN outcome := 'purging'; page_id := page.page_id; RETURN NEXT; RETURN; END IF;
    outcome := CASE WHEN page.page_id IS NULL THEN 'lifted' ELSE 'restored' END;
    page_id := coalesce(page.page_id, ex.page_id); subtree := coalesce(ex.subtree, false);
    -- By the page, which may have been renamed since: its delete knows the old name, and each name that it had is excluded.
    DELETE FROM exclusions e WHERE e.folder_id = f AND (e.source_id = sid OR e.covered_by = sid OR e.page_id = ex.page_id AND e.covered_by = '');
    UPDATE deletes x SET restored_at = now(), finished_at = coalesce(x.finished_at, now())
    WHERE x.folder_id = f AND x.page_id = ex.page_id AND x.restored_at IS NULL AND x.purged_at IS NULL RETURNING x.delete_id INTO delete_id;
    IF page.page_id IS NOT NULL THEN PERFORM untombstone_page(f, page.page_id); END IF;
    INSERT INTO sync_events (kind, folder_id, page_id, actor) VALUES ('restored', f, page_id, who_asks);
    RETURN NEXT;
END $$;
-- +goose StatementEnd

-- +goose StatementBegin
-- Brings back up to a bound of the pages below one that nothing covers any more and that a given delete had hidden: those that were moved
-- out of its subtree along with the page. With none, those that no delete is known of: hidden because they came to lie below a deleted
-- subtree whose delete was over, or below two. Returns how many it took.
CREATE FUNCTION restore_below(f text, sid text, d bigint, bound integer) RETURNS integer LANGUAGE plpgsql AS $$
DECLARE
    victim record;
    taken integer := 0;
BEGIN
    PERFORM pg_advisory_xact_lock(fence_key(f));
    PERFORM 1 FROM folders WHERE folder_id = f AND deleted_at IS NULL FOR SHARE;
    IF NOT FOUND THEN RETURN 0; END IF;
    FOR victim IN
        SELECT p.page_id FROM pages p
        WHERE p.folder_id = f AND p.page_id IN (
            SELECT b.page_id FROM pages_below(f, sid) b
            WHERE b.tombstone_reason = 'person' AND b.purging_at IS NULL AND b.delete_id IS NOT DISTINCT FROM d AND covering_exclusion(f, b.source_id, b.parent_source_id) IS NULL
            ORDER BY b.page_id LIMIT bound)
        ORDER BY p.page_id FOR NO KEY UPDATE
    LOOP
        PERFORM untombstone_page(f, victim.page_id);
        taken := taken + 1;
    END LOOP;
    RETURN taken;
END $$;
-- +goose StatementEnd
