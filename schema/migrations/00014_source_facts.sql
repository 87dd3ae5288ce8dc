-- Who may read a page at its source, and what else the source knows of it: for filters of the retrieval side, and for people.

-- +goose Up

-- As the last read found them. They belong to the page and not to a revision: rights change without the content.
ALTER TABLE pages
    ADD COLUMN access      jsonb NOT NULL DEFAULT '[]' CONSTRAINT pages_access_is_a_list CHECK (jsonb_typeof(access) = 'array'),
    ADD COLUMN source_meta jsonb NOT NULL DEFAULT '{}' CONSTRAINT pages_source_meta_is_an_object CHECK (jsonb_typeof(source_meta) = 'object');

-- +goose StatementBegin
-- Notes what the holder of the token read. A late one changes nothing.
CREATE FUNCTION note_source_facts(f text, p text, t uuid, who_may_read jsonb, facts jsonb) RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
    IF check_fence(f, p, t) <> 'held' THEN RETURN false; END IF;
    UPDATE pages x SET access = who_may_read, source_meta = facts
    WHERE x.folder_id = f AND x.page_id = p AND (x.access, x.source_meta) IS DISTINCT FROM (who_may_read, facts);
    RETURN true;
END $$;
-- +goose StatementEnd

CREATE OR REPLACE VIEW live_pages AS
SELECT p.folder_id, p.page_id, p.source_id, p.title, p.url, p.path, r.revision_id, r.markdown, coalesce(r.summary, '') AS summary,
       p.synced_at,
       greatest(p.read_at, CASE WHEN p.unseen_since IS NULL AND p.created_seq < l.began_seq THEN l.completed_at END) AS verified_at,
       p.source_edited_at, p.access, p.source_meta
FROM pages p
JOIN folders f ON f.folder_id = p.folder_id AND f.deleted_at IS NULL
JOIN revisions r ON r.revision_id = p.published_revision_id
LEFT JOIN folder_listings l ON l.folder_id = p.folder_id
WHERE p.tombstoned_at IS NULL
  AND NOT EXISTS (SELECT 1 FROM swept_pages s WHERE s.folder_id = p.folder_id AND s.page_id = p.page_id);

CREATE OR REPLACE VIEW live_chunks AS
SELECT p.folder_id, p.page_id, p.source_id, p.title, p.url, p.path, p.revision_id, c.chunk_no, c.heading_path, c.body AS text, c.text_hash,
       c.terms, c.model, c.dimensions, e.embedding, p.summary, p.synced_at, p.verified_at, p.source_edited_at, p.access
FROM live_pages p
JOIN chunks c ON c.revision_id = p.revision_id
LEFT JOIN embeddings e ON e.model = c.model AND e.dimensions = c.dimensions AND e.text_hash = c.text_hash;
