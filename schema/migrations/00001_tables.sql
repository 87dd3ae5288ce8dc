-- The tables of loresync: what is registered, what was read, what is in flight, what was deleted, and what happened.
-- Constraints make wrong states impossible; the functions of the next migrations are the only writers of the fence.

-- +goose Up

-- One sequence orders reads, listings and accepts against each other. Gaps have no meaning.
CREATE SEQUENCE moments;

-- What this database is. A restored backup gets a new incarnation, which fences every run that began before it.
CREATE TABLE deployment (
    only_row     boolean PRIMARY KEY DEFAULT true CONSTRAINT deployment_has_one_row CHECK (only_row),
    incarnation  uuid NOT NULL DEFAULT gen_random_uuid(),
    maintenance  boolean NOT NULL DEFAULT false,
    -- When the next list of running workflows may be made: the Visibility API is limited for the whole namespace.
    next_list_at timestamptz NOT NULL DEFAULT now(),
    created_at   timestamptz NOT NULL DEFAULT now()
);
INSERT INTO deployment DEFAULT VALUES;

-- Credentials by reference for one vendor account, or a local root.
CREATE TABLE connections (
    name       text PRIMARY KEY CONSTRAINT connections_name_in_alphabet CHECK (name ~ '^[a-z0-9_-]{1,64}$'),
    source     text NOT NULL,
    secret_ref text NOT NULL DEFAULT '',
    -- Set while the connection is paused, by a person or by a refused token.
    paused_at  timestamptz,
    pause_reason text NOT NULL DEFAULT '',
    created_at timestamptz NOT NULL DEFAULT now()
);
INSERT INTO connections (name, source) VALUES ('files', 'files'), ('notion', 'notion'), ('gdrive', 'gdrive');

-- One root that an admin registered. No counter lives here: the row is locked by every Begin and Publish.
CREATE TABLE folders (
    folder_id     text PRIMARY KEY CONSTRAINT folders_id_in_alphabet CHECK (folder_id ~ '^[a-z0-9_-]{1,64}$'),
    source        text NOT NULL,
    connection    text NOT NULL REFERENCES connections (name),
    root          text NOT NULL CONSTRAINT folders_root_given CHECK (root <> ''),
    title         text NOT NULL,
    owner         text NOT NULL DEFAULT '',
    -- Renewed at every delete, restore, re-add and re-scope; compared for equality only.
    generation    uuid NOT NULL DEFAULT gen_random_uuid(),
    sync_interval interval NOT NULL DEFAULT '15 minutes' CONSTRAINT folders_interval_positive CHECK (sync_interval > '0'),
    readers       jsonb NOT NULL DEFAULT '[]',
    limits        jsonb NOT NULL DEFAULT '{}',
    paused_at     timestamptz,
    deleted_at    timestamptz,
    purge_at      timestamptz,
    purging_at    timestamptz,
    created_at    timestamptz NOT NULL DEFAULT now(),
    state         text NOT NULL GENERATED ALWAYS AS (
        CASE WHEN purging_at IS NOT NULL THEN 'purging' WHEN deleted_at IS NOT NULL THEN 'deleted'
             WHEN paused_at IS NOT NULL THEN 'paused' ELSE 'active' END) STORED,
    CONSTRAINT folders_purge_only_after_delete CHECK (purging_at IS NULL OR deleted_at IS NOT NULL),
    CONSTRAINT folders_deleted_has_purge_time CHECK ((deleted_at IS NULL) = (purge_at IS NULL))
);

-- One document (or container, which only gives the tree its shape) below a folder.
CREATE TABLE pages (
    -- Packs a page into eight bytes of a listing batch.
    page_no          bigint NOT NULL GENERATED ALWAYS AS IDENTITY CONSTRAINT pages_page_no_key UNIQUE,
    folder_id        text NOT NULL REFERENCES folders (folder_id),
    page_id          text NOT NULL CONSTRAINT pages_id_in_alphabet CHECK (page_id ~ '^[A-Za-z0-9_-]{1,128}$'),
    source_id        text NOT NULL CONSTRAINT pages_source_id_given CHECK (source_id <> ''),
    -- Empty directly below the root. The source's own tree; where a page hangs for people is worked out when it is read.
    parent_source_id text NOT NULL DEFAULT '',
    kind             text NOT NULL DEFAULT 'document' CONSTRAINT pages_kind_known CHECK (kind IN ('document', 'container')),
    title            text NOT NULL DEFAULT '',
    -- The title as the last listing gave it: told apart from title, which the document itself may give.
    listed_title     text NOT NULL DEFAULT '',
    url              text NOT NULL DEFAULT '',
    path             text NOT NULL DEFAULT '',
    generation       uuid NOT NULL DEFAULT gen_random_uuid(),
    created_seq      bigint NOT NULL DEFAULT nextval('moments'),
    created_at       timestamptz NOT NULL DEFAULT now(),
    found_by         text NOT NULL DEFAULT 'listing',
    -- The hint that came with the last read, and the source's own time of the last edit.
    source_version   text NOT NULL DEFAULT '',
    source_edited_at timestamptz,
    fingerprint      bytea,
    -- The last attempt that ended with an outcome: what a folder sync waits for.
    attempt_seq      bigint NOT NULL DEFAULT 0,
    attempt_outcome  text NOT NULL DEFAULT '' CONSTRAINT pages_outcome_known
        CHECK (attempt_outcome IN ('', 'published', 'unchanged', 'failed', 'skipped', 'not_found')),
    read_at          timestamptz,
    -- Readers see this revision, unless the page is tombstoned. Older reads lose against published_read_seq.
    published_revision_id bigint,
    published_read_seq    bigint NOT NULL DEFAULT 0,
    synced_at        timestamptz,
    -- Why the page can't be used as knowledge; skip_listed when the listing itself said so.
    skip_class       text,
    skip_sentence    text,
    skip_listed      boolean NOT NULL DEFAULT false,
    -- Hidden from readers, by a person or because the source lost it.
    tombstoned_at    timestamptz,
    tombstone_reason text CONSTRAINT pages_tombstone_reason_known CHECK (tombstone_reason IN ('person', 'source')),
    delete_id        bigint,
    purge_at         timestamptz,
    purging_at       timestamptz,
    -- Absence: since when no complete listing saw it, strikes, and the moment at which the last strike was committed.
    unseen_since     timestamptz,
    strikes          integer NOT NULL DEFAULT 0 CONSTRAINT pages_strikes_not_negative CHECK (strikes >= 0),
    strike_seq       bigint NOT NULL DEFAULT 0,
    -- A person rejected its removal: it isn't proposed again until it was seen.
    removal_rejected boolean NOT NULL DEFAULT false,
    PRIMARY KEY (folder_id, page_id),
    CONSTRAINT pages_source_id_once_a_folder UNIQUE (folder_id, source_id),
    CONSTRAINT pages_tombstone_whole CHECK ((tombstoned_at IS NULL) = (tombstone_reason IS NULL) AND (tombstoned_at IS NULL) = (purge_at IS NULL)),
    CONSTRAINT pages_purge_only_tombstones CHECK (purging_at IS NULL OR tombstoned_at IS NOT NULL),
    CONSTRAINT pages_containers_hold_nothing CHECK (kind = 'document' OR published_revision_id IS NULL),
    CONSTRAINT pages_skip_whole CHECK ((skip_class IS NULL) = (skip_sentence IS NULL)),
    CONSTRAINT pages_published_was_read CHECK (published_revision_id IS NULL OR published_read_seq > 0)
);
-- Walks a tree downwards: subtree deletes and restores.
CREATE INDEX pages_children ON pages (folder_id, parent_source_id);
-- The janitor's purge.
CREATE INDEX pages_to_purge ON pages (purge_at) WHERE purge_at IS NOT NULL;
-- Reconcile resets the strikes of what was seen again.
CREATE INDEX pages_unseen ON pages (folder_id) WHERE unseen_since IS NOT NULL;
-- A rename is recognised by content.
CREATE INDEX pages_by_fingerprint ON pages (folder_id, fingerprint) WHERE fingerprint IS NOT NULL;
-- A delete of a subtree, and its restore, find their pages.
CREATE INDEX pages_of_delete ON pages (delete_id) WHERE delete_id IS NOT NULL;

-- 'A person deleted this.' Outlives the purge of the page.
CREATE TABLE exclusions (
    folder_id   text NOT NULL REFERENCES folders (folder_id),
    source_id   text NOT NULL,
    page_id     text NOT NULL,
    fingerprint bytea,
    subtree     boolean NOT NULL DEFAULT false,
    -- A subtree whose pages have not all been tombstoned yet: the live views look below it.
    sweeping    boolean NOT NULL DEFAULT false,
    -- The excluded page above, for what a purged subtree leaves behind; empty for what a person named.
    covered_by  text NOT NULL DEFAULT '',
    who         text NOT NULL,
    created_at  timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (folder_id, source_id),
    CONSTRAINT exclusions_sweep_subtrees CHECK (subtree OR NOT sweeping)
);
-- The live views: nearly always empty.
CREATE INDEX exclusions_sweeping ON exclusions (folder_id, source_id) WHERE sweeping;
-- Begin asks first whether a folder has any excluded subtree at all.
CREATE INDEX exclusions_subtrees ON exclusions (folder_id, source_id) WHERE subtree;

-- One accepted delete. Steps of its workflow re-read it under the lock.
CREATE TABLE deletes (
    delete_id    bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    folder_id    text NOT NULL,
    -- Null for the delete of a whole folder.
    page_id      text,
    source_id    text NOT NULL DEFAULT '',
    subtree      boolean NOT NULL DEFAULT false,
    now          boolean NOT NULL DEFAULT false,
    who          text NOT NULL,
    pages        bigint NOT NULL DEFAULT 0,
    workflow_id  text NOT NULL,
    accepted_at  timestamptz NOT NULL DEFAULT now(),
    accepted_seq bigint NOT NULL DEFAULT nextval('moments'),
    -- The workflow was started, found everything closed, and the rows went for good.
    started_at   timestamptz,
    finished_at  timestamptz,
    purge_at     timestamptz NOT NULL,
    purged_at    timestamptz,
    restored_at  timestamptz,
    CONSTRAINT deletes_restored_or_purged CHECK (restored_at IS NULL OR purged_at IS NULL)
);
-- At most one delete of a page, or of a folder, is open.
CREATE UNIQUE INDEX deletes_open ON deletes (folder_id, coalesce(page_id, '')) WHERE restored_at IS NULL AND purged_at IS NULL;
-- The janitor starts what was accepted and not finished.
CREATE INDEX deletes_unfinished ON deletes (accepted_at) WHERE finished_at IS NULL;

-- One fetched state of a page. Published and superseded ones never change.
CREATE TABLE revisions (
    revision_id  bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    folder_id    text NOT NULL,
    page_id      text NOT NULL,
    token        uuid NOT NULL,
    state        text NOT NULL DEFAULT 'staged' CONSTRAINT revisions_state_known CHECK (state IN ('staged', 'published', 'superseded')),
    read_seq     bigint NOT NULL,
    raw          bytea NOT NULL,
    format       text NOT NULL,
    content_hash bytea NOT NULL,
    markdown     text NOT NULL,
    title        text NOT NULL,
    meta         jsonb NOT NULL DEFAULT '{}',
    -- Null until a summariser has answered.
    summary      text,
    summary_model text NOT NULL DEFAULT '',
    source_version   text NOT NULL DEFAULT '',
    source_edited_at timestamptz,
    -- What Publish writes on the page: its place, its content's fingerprint, and when it must be read again because a second
    -- edit within the source's granularity would look the same.
    place        jsonb NOT NULL DEFAULT '{}',
    fingerprint  bytea,
    recheck_after interval,
    staged_at    timestamptz NOT NULL DEFAULT now(),
    published_at timestamptz,
    CONSTRAINT revisions_published_has_time CHECK ((state = 'staged') = (published_at IS NULL)),
    FOREIGN KEY (folder_id, page_id) REFERENCES pages (folder_id, page_id)
);
ALTER TABLE pages ADD CONSTRAINT pages_published_revision FOREIGN KEY (published_revision_id) REFERENCES revisions (revision_id);
-- History of a page, retention, and the purge.
CREATE INDEX revisions_of_page ON revisions (folder_id, page_id, revision_id);
-- What attempts left behind.
CREATE INDEX revisions_staged ON revisions (folder_id, page_id) WHERE state = 'staged';
-- A page has one published revision.
CREATE UNIQUE INDEX revisions_published_once ON revisions (folder_id, page_id) WHERE state = 'published';

-- A vector of a text. Shared by all revisions, pages and folders that hold the text.
CREATE TABLE embeddings (
    model      text NOT NULL,
    dimensions integer NOT NULL CONSTRAINT embeddings_dimensions_positive CHECK (dimensions > 0),
    text_hash  bytea NOT NULL,
    embedding  real[] NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (model, dimensions, text_hash),
    CONSTRAINT embeddings_has_its_dimensions CHECK (cardinality(embedding) = dimensions)
);

-- A piece of a revision. The foreign key keeps an embedding from being collected while it is referenced.
CREATE TABLE chunks (
    revision_id  bigint NOT NULL REFERENCES revisions (revision_id) ON DELETE CASCADE,
    chunk_no     integer NOT NULL,
    heading_path text[] NOT NULL DEFAULT '{}',
    body         text NOT NULL CONSTRAINT chunks_not_blank CHECK (body <> ''),
    text_hash    bytea NOT NULL,
    terms        tsvector NOT NULL,
    -- Null until the text has been embedded by the model in use.
    model        text,
    dimensions   integer,
    PRIMARY KEY (revision_id, chunk_no),
    CONSTRAINT chunks_embedding_whole CHECK ((model IS NULL) = (dimensions IS NULL)),
    CONSTRAINT chunks_embedding FOREIGN KEY (model, dimensions, text_hash) REFERENCES embeddings (model, dimensions, text_hash)
);
-- Full-text search.
CREATE INDEX chunks_terms ON chunks USING gin (terms);
-- Collection of embeddings, and the foreign key's own check.
CREATE INDEX chunks_of_embedding ON chunks (text_hash);

-- The fence: at most one running sync of a page, and what it may write.
CREATE TABLE in_flight (
    folder_id         text NOT NULL,
    page_id           text NOT NULL,
    token             uuid NOT NULL,
    workflow_id       text NOT NULL,
    first_run_id      text NOT NULL,
    run_id            text NOT NULL,
    folder_generation uuid NOT NULL,
    page_generation   uuid NOT NULL,
    incarnation       uuid NOT NULL,
    read_seq          bigint NOT NULL,
    lane              smallint NOT NULL CONSTRAINT in_flight_lane_known CHECK (lane BETWEEN 0 AND 3),
    cancel_requested  boolean NOT NULL DEFAULT false,
    began_at          timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (folder_id, page_id),
    FOREIGN KEY (folder_id, page_id) REFERENCES pages (folder_id, page_id)
);

-- What is wrong with a page, until a sync of it succeeds.
CREATE TABLE page_failures (
    folder_id      text NOT NULL,
    page_id        text NOT NULL,
    class          text NOT NULL CONSTRAINT page_failures_class_given CHECK (class <> ''),
    sentence       text NOT NULL,
    attempts       integer NOT NULL DEFAULT 1,
    since          timestamptz NOT NULL DEFAULT now(),
    last_at        timestamptz NOT NULL DEFAULT now(),
    -- Null once quarantined: then only another version or a person makes it try again.
    retry_at       timestamptz,
    quarantined_at timestamptz,
    version        text NOT NULL DEFAULT '',
    PRIMARY KEY (folder_id, page_id),
    FOREIGN KEY (folder_id, page_id) REFERENCES pages (folder_id, page_id) ON DELETE CASCADE,
    CONSTRAINT page_failures_way_on CHECK ((retry_at IS NULL) = (quarantined_at IS NOT NULL))
);

-- Reads that fall due at a time: recent edits, retries, missing embeddings.
CREATE TABLE due_reads (
    folder_id text NOT NULL,
    page_id   text NOT NULL,
    due_at    timestamptz NOT NULL,
    reason    text NOT NULL CONSTRAINT due_reads_reason_known CHECK (reason IN ('recent_edit', 'retry', 'models', 'webhook')),
    attempts  integer NOT NULL DEFAULT 0,
    PRIMARY KEY (folder_id, page_id),
    FOREIGN KEY (folder_id, page_id) REFERENCES pages (folder_id, page_id) ON DELETE CASCADE
);
-- The minute Schedule.
CREATE INDEX due_reads_by_time ON due_reads (due_at);

-- One execution of a folder sync, or of a sync of all folders, as people see it. Outlives the folder.
CREATE TABLE sync_runs (
    workflow_id      text PRIMARY KEY,
    -- The first run id of the chain; null until the workflow has begun.
    run_id           text CONSTRAINT sync_runs_run_id_key UNIQUE,
    folder_id        text,
    kind             text NOT NULL CONSTRAINT sync_runs_kind_known CHECK (kind IN ('folder', 'all')),
    mode             text NOT NULL CONSTRAINT sync_runs_mode_known CHECK (mode IN ('full', 'incremental', 'dry_run')),
    trigger          text NOT NULL,
    actor            text NOT NULL DEFAULT '',
    status           text NOT NULL DEFAULT 'running' CONSTRAINT sync_runs_status_known
        CHECK (status IN ('running', 'completed', 'partial', 'failed', 'cancelled', 'refused')),
    reason           text NOT NULL DEFAULT '',
    verdict          text NOT NULL DEFAULT '',
    requested_at     timestamptz NOT NULL DEFAULT now(),
    started_at       timestamptz,
    listing_began_at timestamptz,
    ended_at         timestamptz,
    listed bigint NOT NULL DEFAULT 0, new bigint NOT NULL DEFAULT 0, changed bigint NOT NULL DEFAULT 0,
    unchanged bigint NOT NULL DEFAULT 0, skipped bigint NOT NULL DEFAULT 0, excluded bigint NOT NULL DEFAULT 0,
    failed bigint NOT NULL DEFAULT 0, moved bigint NOT NULL DEFAULT 0, removed bigint NOT NULL DEFAULT 0,
    held bigint NOT NULL DEFAULT 0, revived bigint NOT NULL DEFAULT 0,
    CONSTRAINT sync_runs_counts_add_up CHECK (status NOT IN ('completed', 'partial')
        OR listed = new + changed + unchanged + skipped + excluded + failed),
    CONSTRAINT sync_runs_ended CHECK ((status = 'running') = (ended_at IS NULL)),
    CONSTRAINT sync_runs_folder_given CHECK ((kind = 'folder') = (folder_id IS NOT NULL))
);
-- At most one run of a folder waits to list; a request that finds it joins it.
CREATE UNIQUE INDEX sync_runs_waiting ON sync_runs (folder_id, (mode = 'dry_run'))
    WHERE status = 'running' AND listing_began_at IS NULL AND kind = 'folder';
-- Run history of a folder.
CREATE INDEX sync_runs_of_folder ON sync_runs (folder_id, requested_at DESC);
-- The janitor's look at runs without a workflow.
CREATE INDEX sync_runs_running ON sync_runs (requested_at) WHERE status = 'running';

-- One enumeration of a folder by its source.
CREATE TABLE listings (
    listing_id   bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    folder_id    text NOT NULL REFERENCES folders (folder_id),
    workflow_id  text NOT NULL CONSTRAINT listings_workflow_id_key UNIQUE,
    full_listing boolean NOT NULL,
    dry_run      boolean NOT NULL DEFAULT false,
    began_seq    bigint NOT NULL DEFAULT nextval('moments'),
    began_at     timestamptz NOT NULL DEFAULT now(),
    folder_generation uuid NOT NULL,
    verdict      text NOT NULL DEFAULT '',
    sentence     text NOT NULL DEFAULT '',
    completed_at timestamptz,
    -- Set when its moves and removals were applied: an older listing's are then dropped.
    applied_at   timestamptz,
    reconciled_at timestamptz,
    removed      bigint NOT NULL DEFAULT 0,
    held         bigint NOT NULL DEFAULT 0,
    CONSTRAINT listings_complete_has_verdict CHECK ((completed_at IS NULL) = (verdict = ''))
);
CREATE INDEX listings_of_folder ON listings (folder_id, began_seq DESC);

-- A batch of a listing: eight bytes for each page that has not changed.
CREATE TABLE listing_batches (
    listing_id bigint NOT NULL REFERENCES listings (listing_id) ON DELETE CASCADE,
    batch_no   integer NOT NULL,
    returned   integer NOT NULL,
    stored     integer NOT NULL,
    unchanged  bigint[] NOT NULL,
    skipped    bigint[] NOT NULL,
    excluded   bigint[] NOT NULL,
    -- Quarantined pages in the version that failed: not asked for, and counted as failed.
    failed     bigint[] NOT NULL,
    -- Listed source ids that have no row because a person deleted them and they were purged.
    gone       integer NOT NULL,
    containers bigint[] NOT NULL,
    cursor     text NOT NULL,
    PRIMARY KEY (listing_id, batch_no)
);

-- What a listing found new, changed, moved, or worth another try.
CREATE TABLE listing_entries (
    listing_id       bigint NOT NULL REFERENCES listings (listing_id) ON DELETE CASCADE,
    source_id        text NOT NULL,
    -- Null until the page is registered.
    page_id          text,
    page_no          bigint,
    candidate_id     text NOT NULL,
    parent_source_id text NOT NULL,
    kind             text NOT NULL,
    title            text NOT NULL,
    url              text NOT NULL,
    path             text NOT NULL,
    version          text NOT NULL,
    edited_at        timestamptz,
    skip_class       text,
    skip_sentence    text,
    change           text NOT NULL CONSTRAINT listing_entries_change_known
        CHECK (change IN ('new', 'changed', 'same', 'retry', 'revived', 'skipped', 'container')),
    moved            boolean NOT NULL DEFAULT false,
    seen_seq         bigint NOT NULL,
    state            text NOT NULL DEFAULT 'listed' CONSTRAINT listing_entries_state_known
        CHECK (state IN ('listed', 'open', 'requested', 'done', 'failed', 'excluded', 'not_settled')),
    asked            integer NOT NULL DEFAULT 0,
    asked_at         timestamptz,
    outcome          text NOT NULL DEFAULT '',
    PRIMARY KEY (listing_id, source_id)
);
-- The version that a page was listed with last; the purge.
CREATE INDEX listing_entries_of_page ON listing_entries (page_id, listing_id) WHERE page_id IS NOT NULL;
-- The window of a folder sync: what to ask for next, what to wait for.
CREATE INDEX listing_entries_open ON listing_entries (listing_id, state, source_id) WHERE state IN ('listed', 'open', 'requested');

-- The folder's last complete listing: pages that it saw were verified then.
CREATE TABLE folder_listings (
    folder_id    text PRIMARY KEY REFERENCES folders (folder_id),
    listing_id   bigint NOT NULL,
    began_seq    bigint NOT NULL,
    completed_at timestamptz NOT NULL,
    checkpoint   text NOT NULL DEFAULT ''
);

-- A planned removal that waits for a person.
CREATE TABLE holds (
    hold_id    text PRIMARY KEY,
    folder_id  text NOT NULL REFERENCES folders (folder_id),
    reason     text NOT NULL,
    state      text NOT NULL DEFAULT 'open' CONSTRAINT holds_state_known CHECK (state IN ('open', 'approved', 'rejected', 'closed')),
    created_at timestamptz NOT NULL DEFAULT now(),
    decided_at timestamptz,
    decided_by text NOT NULL DEFAULT ''
);
-- A folder has at most one open hold: new candidates join it.
CREATE UNIQUE INDEX holds_open ON holds (folder_id) WHERE state = 'open';

CREATE TABLE hold_pages (
    hold_id   text NOT NULL REFERENCES holds (hold_id) ON DELETE CASCADE,
    folder_id text NOT NULL,
    page_id   text NOT NULL,
    PRIMARY KEY (hold_id, page_id),
    FOREIGN KEY (folder_id, page_id) REFERENCES pages (folder_id, page_id) ON DELETE CASCADE
);
-- Which hold a page is in.
CREATE INDEX hold_pages_of_page ON hold_pages (folder_id, page_id);

-- One budget per connection, shared by all processes: when the next request may be sent.
CREATE TABLE rate_budgets (
    connection    text PRIMARY KEY REFERENCES connections (name),
    per_second    double precision NOT NULL CONSTRAINT rate_budgets_positive CHECK (per_second > 0),
    burst         integer NOT NULL CONSTRAINT rate_budgets_burst_positive CHECK (burst > 0),
    next_at       timestamptz NOT NULL DEFAULT now(),
    blocked_until timestamptz
);

-- Answers of mutations that were already carried out.
CREATE TABLE idempotency_keys (
    key        text NOT NULL,
    scope      text NOT NULL,
    answer     jsonb NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (scope, key)
);

-- What happened, in order, without content. The change feed and the audit read it.
CREATE TABLE sync_events (
    event_id  bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    at        timestamptz NOT NULL DEFAULT now(),
    kind      text NOT NULL,
    folder_id text,
    page_id   text,
    actor     text NOT NULL DEFAULT '',
    data      jsonb NOT NULL DEFAULT '{}'
);
-- Removals of the last 24 hours, and the history of a page.
CREATE INDEX sync_events_of_folder ON sync_events (folder_id, kind, at);
CREATE INDEX sync_events_of_page ON sync_events (folder_id, page_id, event_id);

-- +goose StatementBegin
CREATE FUNCTION keep_published_revisions() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF OLD.state <> 'staged' AND (
        (NEW.folder_id, NEW.page_id, NEW.read_seq, NEW.raw, NEW.format, NEW.content_hash, NEW.markdown, NEW.title, NEW.meta,
         NEW.source_version, NEW.source_edited_at, NEW.published_at)
        IS DISTINCT FROM
        (OLD.folder_id, OLD.page_id, OLD.read_seq, OLD.raw, OLD.format, OLD.content_hash, OLD.markdown, OLD.title, OLD.meta,
         OLD.source_version, OLD.source_edited_at, OLD.published_at)
        OR NEW.state = 'staged'
        OR (OLD.summary IS NOT NULL AND NEW.summary IS DISTINCT FROM OLD.summary)) THEN
        RAISE EXCEPTION 'revision % is published and never changes', OLD.revision_id USING ERRCODE = 'integrity_constraint_violation';
    END IF;
    RETURN NEW;
END $$;
-- +goose StatementEnd
CREATE TRIGGER revisions_immutable BEFORE UPDATE ON revisions FOR EACH ROW EXECUTE FUNCTION keep_published_revisions();

-- +goose StatementBegin
CREATE FUNCTION keep_published_chunks() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF (NEW.revision_id, NEW.chunk_no, NEW.heading_path, NEW.body, NEW.text_hash)
       IS DISTINCT FROM (OLD.revision_id, OLD.chunk_no, OLD.heading_path, OLD.body, OLD.text_hash)
       AND EXISTS (SELECT 1 FROM revisions r WHERE r.revision_id = OLD.revision_id AND r.state <> 'staged') THEN
        RAISE EXCEPTION 'chunk % of revision % is published and never changes', OLD.chunk_no, OLD.revision_id
            USING ERRCODE = 'integrity_constraint_violation';
    END IF;
    RETURN NEW;
END $$;
-- +goose StatementEnd
CREATE TRIGGER chunks_immutable BEFORE UPDATE ON chunks FOR EACH ROW EXECUTE FUNCTION keep_published_chunks();
