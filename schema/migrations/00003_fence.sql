-- The fence: Begin, Stage, Publish and Finish of a page sync, each one round trip. A sync's Begin and a delete's accept meet
-- at the row lock of the page (or, for folders and subtrees, at the folder's gate), so one of them sees the other.
--
-- Lock order, everywhere: the folder's gate, the folder row, pages in page_id order, then all else.

-- +goose Up

-- +goose StatementBegin
-- The gate of a folder: shared for syncs, exclusive for the accept of a folder or subtree delete. A row lock alone would
-- let publishers without pause overtake a waiting delete for ever; a lock queue doesn't.
CREATE FUNCTION fence_key(f text) RETURNS bigint LANGUAGE sql IMMUTABLE AS $$ SELECT hashtextextended('loresync fence ' || f, 0) $$;
-- +goose StatementEnd

-- +goose StatementBegin
-- The source id of the exclusion that covers a page, its own or that of an excluded subtree above it; null without one.
CREATE FUNCTION covering_exclusion(f text, own text, parent text) RETURNS text LANGUAGE plpgsql STABLE AS $$
DECLARE found_id text;
BEGIN
    SELECT source_id INTO found_id FROM exclusions WHERE folder_id = f AND source_id = own;
    IF FOUND THEN RETURN found_id; END IF;
    IF NOT EXISTS (SELECT 1 FROM exclusions WHERE folder_id = f AND subtree) THEN RETURN NULL; END IF;
    WITH RECURSIVE up (source_id) AS (
        SELECT parent
        UNION
        SELECT p.parent_source_id FROM up JOIN pages p ON p.folder_id = f AND p.source_id = up.source_id
    )
    SELECT e.source_id INTO found_id FROM up JOIN exclusions e ON e.folder_id = f AND e.source_id = up.source_id AND e.subtree LIMIT 1;
    RETURN found_id;
END $$;
-- +goose StatementEnd

-- +goose StatementBegin
-- Inserts or selects the row of a page by its source id, before any workflow of it starts. A taken id gets a suffix.
CREATE FUNCTION register_page(f text, sid text, candidate text, parent text, k text, t text, u text, pth text, how text)
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
        IF FOUND THEN RETURN page; END IF;
        n := n + 1;
        id := left(candidate, 120) || '-' || n;
    END LOOP;
END $$;
-- +goose StatementEnd

-- +goose StatementBegin
-- Begin: refuses, or takes the page's in-flight row with a new token, which fences any former holder. A refusal is a result.
CREATE FUNCTION begin_page_sync(f text, p text, wf text, first_run text, run text, asked_lane smallint)
RETURNS TABLE (outcome text, token uuid, read_seq bigint, page_no bigint, source_id text, source text, connection text, root text,
               limits jsonb, content_hash bytea, title text, source_version text, models_pending boolean)
LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
    folder folders;
    page pages;
    paused boolean;
    new_token uuid := gen_random_uuid();
    seq bigint;
BEGIN
    PERFORM set_config('synchronous_commit', 'off', true); -- losing this row in a crash only fences the sync
    PERFORM pg_advisory_xact_lock_shared(fence_key(f));
    SELECT * INTO folder FROM folders WHERE folders.folder_id = f FOR SHARE;
    IF NOT FOUND THEN outcome := 'folder_unknown'; RETURN NEXT; RETURN; END IF;
    IF folder.deleted_at IS NOT NULL THEN outcome := 'folder_deleted'; RETURN NEXT; RETURN; END IF;
    SELECT folder.paused_at IS NOT NULL OR c.paused_at IS NOT NULL INTO paused FROM connections c WHERE c.name = folder.connection;
    IF paused THEN outcome := 'paused'; RETURN NEXT; RETURN; END IF;
    SELECT * INTO page FROM pages WHERE pages.folder_id = f AND pages.page_id = p FOR NO KEY UPDATE;
    IF NOT FOUND OR page.kind <> 'document' THEN outcome := 'page_unknown'; RETURN NEXT; RETURN; END IF;
    IF page.purging_at IS NOT NULL OR page.tombstone_reason = 'person'
       OR covering_exclusion(f, page.source_id, page.parent_source_id) IS NOT NULL THEN
        outcome := 'excluded'; RETURN NEXT; RETURN;
    END IF;
    DELETE FROM revisions r WHERE r.folder_id = f AND r.page_id = p AND r.state = 'staged';
    seq := nextval('moments');
    INSERT INTO in_flight AS i (folder_id, page_id, token, workflow_id, first_run_id, run_id, folder_generation, page_generation,
                           incarnation, read_seq, lane)
    SELECT f, p, new_token, wf, first_run, run, folder.generation, page.generation, d.incarnation, seq, asked_lane FROM deployment d
    ON CONFLICT (folder_id, page_id) DO UPDATE SET token = excluded.token, workflow_id = excluded.workflow_id,
        first_run_id = excluded.first_run_id, run_id = excluded.run_id, folder_generation = excluded.folder_generation,
        page_generation = excluded.page_generation, incarnation = excluded.incarnation, read_seq = excluded.read_seq,
        lane = excluded.lane, cancel_requested = false, began_at = now();
    outcome := 'begun'; token := new_token; read_seq := seq; page_no := page.page_no; source_id := page.source_id;
    source := folder.source; connection := folder.connection; root := folder.root; limits := folder.limits;
    title := page.title; source_version := page.source_version;
    SELECT r.content_hash, r.summary IS NULL OR EXISTS (SELECT 1 FROM chunks c WHERE c.revision_id = r.revision_id AND c.model IS NULL)
    INTO content_hash, models_pending
    FROM revisions r WHERE r.revision_id = page.published_revision_id;
    models_pending := coalesce(models_pending, false);
    RETURN NEXT;
END $$;
-- +goose StatementEnd

-- +goose StatementBegin
-- Stage: writes a revision and its chunks for the holder of the token. Chunks whose text is embedded already point to that
-- embedding at once, so that it can't be collected; the others come back to be embedded.
CREATE FUNCTION stage_revision(f text, p text, t uuid, raw_bytes bytea, fmt text, hash bytea, md text, ttl text, meta_doc jsonb,
    sum_text text, sum_model text, version text, edited timestamptz, chunk_headings jsonb, chunk_bodies text[], chunk_hashes bytea[],
    chunk_terms text[], emb_model text, emb_dimensions integer, where_it_hangs jsonb, print bytea, recheck interval)
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
                           source_version, source_edited_at, place, fingerprint, recheck_after)
    VALUES (f, p, t, holder.read_seq, raw_bytes, fmt, hash, md, ttl, meta_doc, sum_text, sum_model, version, edited, where_it_hangs, print, recheck)
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
-- Adds embeddings (and, when given, a summary) to the revision that a page sync holds: its staged one, or the published one
-- that still lacks them.
CREATE FUNCTION enrich_revision(f text, p text, t uuid, rev bigint, emb_model text, emb_dimensions integer, hashes bytea[], vectors real[],
    sum_text text, sum_model text)
RETURNS text LANGUAGE plpgsql AS $$
DECLARE holder in_flight;
BEGIN
    PERFORM set_config('synchronous_commit', 'off', true);
    SELECT * INTO holder FROM in_flight i WHERE i.folder_id = f AND i.page_id = p AND i.token = t FOR NO KEY UPDATE;
    IF NOT FOUND THEN RETURN 'fenced'; END IF;
    IF holder.cancel_requested THEN RETURN 'cancel_requested'; END IF;
    INSERT INTO embeddings (model, dimensions, text_hash, embedding)
    SELECT emb_model, emb_dimensions, u.h, vectors[(u.n - 1) * emb_dimensions + 1 : u.n * emb_dimensions]
    FROM unnest(hashes) WITH ORDINALITY AS u (h, n)
    ORDER BY u.h
    ON CONFLICT DO NOTHING;
    UPDATE chunks c SET model = emb_model, dimensions = emb_dimensions
    WHERE c.revision_id = rev AND c.model IS NULL AND c.text_hash = ANY (hashes);
    IF sum_text IS NOT NULL THEN
        UPDATE revisions r SET summary = sum_text, summary_model = sum_model WHERE r.revision_id = rev AND r.summary IS NULL;
    END IF;
    RETURN 'enriched';
END $$;
-- +goose StatementEnd

-- +goose StatementBegin
-- Whether the holder of a token may still write what readers see: the row with its token, equal generations, the same
-- database, and a read that is newer than what is published. Locks the folder's gate, the folder and the page.
CREATE FUNCTION check_fence(f text, p text, t uuid) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    folder folders;
    page pages;
    holder in_flight;
BEGIN
    PERFORM pg_advisory_xact_lock_shared(fence_key(f));
    SELECT * INTO folder FROM folders WHERE folder_id = f FOR SHARE;
    SELECT * INTO page FROM pages WHERE folder_id = f AND page_id = p FOR NO KEY UPDATE;
    SELECT * INTO holder FROM in_flight WHERE folder_id = f AND page_id = p AND token = t FOR NO KEY UPDATE;
    IF NOT FOUND THEN RETURN 'fenced'; END IF;
    IF holder.cancel_requested THEN RETURN 'cancel_requested'; END IF;
    IF folder.deleted_at IS NOT NULL OR holder.folder_generation <> folder.generation OR holder.page_generation <> page.generation
       OR holder.incarnation <> (SELECT incarnation FROM deployment) OR holder.read_seq <= page.published_read_seq THEN
        RETURN 'fenced';
    END IF;
    IF EXISTS (SELECT 1 FROM exclusions WHERE folder_id = f AND sweeping)
       AND covering_exclusion(f, page.source_id, page.parent_source_id) IS NOT NULL THEN
        RETURN 'fenced';
    END IF;
    RETURN 'held';
END $$;
-- +goose StatementEnd

-- +goose StatementBegin
-- Publish: moves the page's pointer to the staged revision (or, with none, records that the source is unchanged) and
-- removes the in-flight row, in one transaction.
CREATE FUNCTION publish_page(f text, p text, t uuid, rev bigint, ttl text, link text, pth text, parent text, listed text, version text,
    edited timestamptz, print bytea, recheck_after interval)
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
    DELETE FROM due_reads d WHERE d.folder_id = f AND d.page_id = p; -- models that failed are noted after this
    IF recheck_after IS NOT NULL THEN
        INSERT INTO due_reads (folder_id, page_id, due_at, reason) VALUES (f, p, now() + recheck_after, 'recent_edit') ON CONFLICT DO NOTHING;
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
CREATE FUNCTION publish_staged(f text, p text, t uuid, rev bigint) RETURNS TABLE (outcome text, revived boolean) LANGUAGE plpgsql AS $$
DECLARE r revisions;
BEGIN
    SELECT * INTO r FROM revisions WHERE revision_id = rev;
    IF NOT FOUND THEN outcome := 'fenced'; revived := false; RETURN NEXT; RETURN; END IF;
    RETURN QUERY SELECT * FROM publish_page(f, p, t, rev, r.title, r.place ->> 'url', r.place ->> 'path', r.place ->> 'parent', r.place ->> 'listed_title',
        r.source_version, r.source_edited_at, r.fingerprint, r.recheck_after);
END $$;
-- +goose StatementEnd

-- +goose StatementBegin
-- Drops what an attempt staged and its in-flight row. Does nothing for a token that no longer holds the page.
CREATE FUNCTION forget_attempt(f text, p text, t uuid) RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
    DELETE FROM in_flight WHERE folder_id = f AND page_id = p AND token = t;
    IF NOT FOUND THEN RETURN false; END IF;
    DELETE FROM revisions WHERE folder_id = f AND page_id = p AND state = 'staged';
    RETURN true;
END $$;
-- +goose StatementEnd

-- +goose StatementBegin
-- Finish without publishing: failed, skipped, not_found or cancelled. The published revision stays. A failure gets growing
-- delays, then quarantine.
CREATE FUNCTION finish_page_sync(f text, p text, t uuid, how text, cls text, words text, version text)
RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    seq bigint;
    tries integer;
    delays interval[] := ARRAY['1 minute', '5 minutes', '20 minutes', '1 hour', '4 hours', '12 hours', '1 day']::interval[];
    held text;
    failed_version text;
BEGIN
    held := check_fence(f, p, t);
    IF held <> 'held' THEN
        PERFORM forget_attempt(f, p, t);
        RETURN held;
    END IF;
    SELECT read_seq INTO seq FROM in_flight WHERE folder_id = f AND page_id = p;
    PERFORM forget_attempt(f, p, t);
    IF how = 'cancelled' THEN RETURN how; END IF;
    UPDATE pages SET attempt_seq = seq, attempt_outcome = how, read_at = CASE WHEN how = 'failed' THEN read_at ELSE now() END
    WHERE folder_id = f AND page_id = p;
    IF how = 'skipped' THEN
        UPDATE pages SET skip_class = cls, skip_sentence = words, skip_listed = false, source_version = version
        WHERE folder_id = f AND page_id = p;
        DELETE FROM page_failures WHERE folder_id = f AND page_id = p;
        DELETE FROM due_reads WHERE folder_id = f AND page_id = p;
    ELSIF how = 'failed' THEN
        -- A quarantined page is tried again when it is listed with another version than the one that failed.
        failed_version := coalesce((SELECT e.version FROM listing_entries e JOIN listings l ON l.listing_id = e.listing_id
                                    WHERE e.page_id = p AND l.folder_id = f ORDER BY e.listing_id DESC LIMIT 1), version);
        INSERT INTO page_failures AS x (folder_id, page_id, class, sentence, retry_at, version) VALUES (f, p, cls, words, now() + delays[1], failed_version)
        ON CONFLICT (folder_id, page_id) DO UPDATE SET class = cls, sentence = words, attempts = x.attempts + 1, last_at = now(),
            retry_at = now() + delays[x.attempts + 1],
            quarantined_at = CASE WHEN x.attempts >= cardinality(delays) THEN coalesce(x.quarantined_at, now()) END,
            version = excluded.version
        RETURNING attempts INTO tries;
        DELETE FROM due_reads WHERE folder_id = f AND page_id = p;
        IF tries <= cardinality(delays) THEN
            INSERT INTO due_reads (folder_id, page_id, due_at, reason, attempts) VALUES (f, p, now() + delays[tries], 'retry', tries);
        END IF;
        INSERT INTO sync_events (kind, folder_id, page_id, data) VALUES ('failed', f, p, jsonb_build_object('class', cls, 'attempts', tries));
    END IF;
    RETURN how;
END $$;
-- +goose StatementEnd
