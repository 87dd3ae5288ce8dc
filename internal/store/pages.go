package store

import (
	"context"
	"strings"
	"time"

	"github.com/loresync/loresync/internal/knowledge"
)

// PageQuery says which pages of a folder to read.
type PageQuery struct {
	// State is a page state, or failed, syncing or held; "" means all.
	State string
	// Containers includes what only gives the tree its shape.
	Containers bool
	// Limit bounds the answer; 0 means no bound.
	Limit int
	// After is the page id that the answer starts behind, in the order in which pages were registered.
	After string
	// AfterNo is the same as a page number, which still means the same when that page is purged.
	AfterNo int64
	// Match is part of the title, the path or the URL, in any case; "" means all.
	Match string
}

type pageRow struct {
	PageNo                                              int64
	PageID, SourceID, FolderID, Kind, Title, URL, Path  string
	State, Reason, FoundBy                              string
	ParentPageID, HoldID, FailureClass, FailureSentence *string
	FailureSince, QuarantinedAt                         *time.Time
	FailureAttempts                                     *int
	Running                                             bool
	SyncedAt, VerifiedAt, SourceEditedAt, PurgeAt       *time.Time
}

func (r pageRow) page() knowledge.Page {
	page := knowledge.Page{
		PageID: r.PageID, SourceID: r.SourceID, FolderID: r.FolderID, ParentPageID: r.ParentPageID, Kind: r.Kind, Title: r.Title,
		URL: r.URL, Path: r.Path, State: knowledge.PageState(r.State), Reason: r.Reason, Running: r.Running, HoldID: r.HoldID,
		SyncedAt: r.SyncedAt, VerifiedAt: r.VerifiedAt, SourceEditedAt: r.SourceEditedAt, FoundBy: r.FoundBy, PurgeAt: r.PurgeAt,
	}
	if r.FailureClass != nil {
		page.Failure = &knowledge.PageFailure{
			Class: *r.FailureClass, Sentence: *r.FailureSentence, Since: *r.FailureSince, Attempts: *r.FailureAttempts, Quarantined: r.QuarantinedAt,
		}
	}
	return page
}

// The pages of a deleted folder are hidden by the folder's own row; no row of theirs says so. The parent is looked up by a
// join, and by the walk up the tree only where the parent itself is hidden: a hundred thousand walks take ten seconds.
const pageColumns = `
SELECT s.page_no, s.page_id, s.source_id, s.folder_id, s.kind, s.title, s.url, s.path,
    CASE WHEN up.tombstoned_at IS NULL THEN up.page_id ELSE live_parent(s.folder_id, s.parent_source_id) END AS parent_page_id,
    CASE WHEN f.deleted_at IS NOT NULL THEN 'excluded' ELSE s.state END AS state,
    CASE WHEN f.deleted_at IS NOT NULL THEN 'its folder was deleted by a person' ELSE s.reason END AS reason,
    s.failure_class, s.failure_sentence, s.failure_since, s.failure_attempts, s.quarantined_at, s.running, s.hold_id, s.synced_at,
    s.verified_at, s.source_edited_at, s.found_by, coalesce(f.purge_at, s.purge_at) AS purge_at
FROM page_states s JOIN folders f ON f.folder_id = s.folder_id
LEFT JOIN pages up ON up.folder_id = s.folder_id AND up.source_id = s.parent_source_id`

const pagesOfFolder = pageColumns + `
WHERE s.folder_id = $1 AND ($2 OR s.kind = 'document')
  AND s.page_no > greatest($6, coalesce((SELECT a.page_no FROM pages a WHERE a.folder_id = $1 AND a.page_id = $4), 0))
  AND ($7 = '' OR s.title ILIKE $7 OR s.path ILIKE $7 OR s.url ILIKE $7)
  AND CASE $3
        WHEN '' THEN true
        WHEN 'failed' THEN s.failure_class IS NOT NULL AND s.state NOT IN ('excluded', 'tombstoned') AND f.deleted_at IS NULL
        WHEN 'syncing' THEN s.running
        WHEN 'held' THEN s.hold_id IS NOT NULL AND f.deleted_at IS NULL
        ELSE CASE WHEN f.deleted_at IS NOT NULL THEN 'excluded' ELSE s.state END = $3 END
ORDER BY s.page_no LIMIT nullif($5, 0)`

// Pages gives the pages of a folder in the order in which they were registered.
func (s *Store) Pages(ctx context.Context, folder string, q PageQuery) ([]knowledge.Page, error) {
	return s.readPages(ctx, "read pages", pagesOfFolder, q.args(folder)...)
}

// PagesBehind gives up to q.Limit pages, and the number of the last one while more follow; 0 at the end.
func (s *Store) PagesBehind(ctx context.Context, folder string, q PageQuery) (pages []knowledge.Page, next int64, err error) {
	more := q
	more.Limit++
	rows, err := list[pageRow](ctx, s, "read some pages", pagesOfFolder, more.args(folder)...)
	if len(rows) > q.Limit {
		rows = rows[:q.Limit]
		next = rows[q.Limit-1].PageNo
	}
	return pagesOf(rows), next, err
}

func (q PageQuery) args(folder string) []any {
	match := q.Match
	if match != "" {
		match = "%" + strings.NewReplacer(`\`, `\\`, "%", `\%`, "_", `\_`).Replace(match) + "%"
	}
	return []any{folder, q.Containers, q.State, q.After, q.Limit, q.AfterNo, match}
}

const pageByID = pageColumns + ` WHERE s.folder_id = $1 AND s.page_id = $2`

// Page gives one page; ErrNotFound without one.
func (s *Store) Page(ctx context.Context, folder, page string) (knowledge.Page, error) {
	row, err := one[pageRow](ctx, s, "read a page", pageByID, folder, page)
	if err != nil {
		return knowledge.Page{}, err
	}
	found := row.page()
	if found.Fidelity, err = s.fidelity(ctx, folder, page); err != nil {
		return knowledge.Page{}, err
	}
	found.Facts, err = s.sourceFacts(ctx, folder, page)
	return found, err
}

const factsOfPage = `
SELECT nullif(access, '[]') AS access, nullif(source_meta, '{}') AS meta FROM pages WHERE folder_id = $1 AND page_id = $2`

func (s *Store) sourceFacts(ctx context.Context, folder, page string) (knowledge.Facts, error) {
	return one[knowledge.Facts](ctx, s, "read what the source said of a page", factsOfPage, folder, page)
}

const fidelityOfPage = `
SELECT r.fidelity FROM pages p JOIN revisions r ON r.revision_id = p.published_revision_id
WHERE p.folder_id = $1 AND p.page_id = $2 AND r.fidelity <> '{}'`

// fidelity is what the source said about the published revision; nil when it said nothing.
func (s *Store) fidelity(ctx context.Context, folder, page string) (*knowledge.Fidelity, error) {
	rows, err := list[struct{ Fidelity knowledge.Fidelity }](ctx, s, "read a page's fidelity", fidelityOfPage, folder, page)
	if err != nil || len(rows) == 0 {
		return nil, err
	}
	return &rows[0].Fidelity, nil
}

func (s *Store) readPages(ctx context.Context, doing, query string, args ...any) ([]knowledge.Page, error) {
	rows, err := list[pageRow](ctx, s, doing, query, args...)
	return pagesOf(rows), err
}

func pagesOf(rows []pageRow) []knowledge.Page {
	pages := make([]knowledge.Page, len(rows))
	for i, row := range rows {
		pages[i] = row.page()
	}
	return pages
}

// PageKey names a page, or what is left of it.
type PageKey struct {
	FolderID, PageID, SourceID, Kind, Title string
	// ExclusionOnly is true when the page was purged and only the exclusion remembers it.
	ExclusionOnly bool
}

const pageKeyByIDs = `
SELECT folder_id, page_id, source_id, kind, title, false AS exclusion_only FROM pages
WHERE folder_id = $1 AND (page_id = $2 OR source_id = $2) ORDER BY page_id = $2 DESC LIMIT 1`

// A vendor may show two pages under one address, such as a moved page and its tombstone: the one that readers see counts.
const pageKeyByURL = `
SELECT folder_id, page_id, source_id, kind, title, false AS exclusion_only FROM pages
WHERE folder_id = $1 AND url = $2 AND url <> '' ORDER BY tombstoned_at IS NOT NULL, page_no LIMIT 1`

const pageKeyByExclusion = `
SELECT folder_id, page_id, source_id, 'document' AS kind, '' AS title, true AS exclusion_only FROM exclusions
WHERE folder_id = $1 AND (source_id = $2 OR page_id = $2) ORDER BY source_id = $2 DESC LIMIT 1`

// FindPage finds a page by its id, its source id, its exact URL, or what a purge left of it, in this order; ErrNotFound
// without one.
func (s *Store) FindPage(ctx context.Context, folder, ref string) (PageKey, error) {
	const doing = "look for a page"
	for _, query := range []string{pageKeyByIDs, pageKeyByURL, pageKeyByExclusion} {
		found, err := list[PageKey](ctx, s, doing, query, folder, ref)
		if err != nil {
			return PageKey{}, err
		}
		if len(found) > 0 {
			return found[0], nil
		}
	}
	return PageKey{}, ErrNotFound
}

// NewPage is a page that a person named before any listing saw it.
type NewPage struct {
	FolderID, SourceID, ParentSourceID, CandidateID, Kind, Title, URL, Path string
}

const registerPage = `
SELECT folder_id, page_id, source_id, kind, title, false AS exclusion_only
FROM register_page($1, $2, $3, $4, $5, $6, $7, $8, 'request')`

// RegisterPage inserts or selects the row of a page by its source id.
func (s *Store) RegisterPage(ctx context.Context, p NewPage) (PageKey, error) {
	return one[PageKey](ctx, s, "register a page", registerPage, p.FolderID, p.SourceID, p.CandidateID, p.ParentSourceID, p.Kind,
		knowledge.Title(p.Title), p.URL, p.Path)
}

const excludedAmong = `
SELECT source_id FROM exclusions WHERE folder_id = $1 AND subtree AND source_id = ANY ($2)
ORDER BY array_position($2, source_id) LIMIT 1`

// ExcludedAmong gives the first of some source ids, ordered from near to far, that is the top of an excluded subtree;
// "" when none is.
func (s *Store) ExcludedAmong(ctx context.Context, folder string, sourceIDs []string) (string, error) {
	type row struct{ SourceID string }
	found, err := list[row](ctx, s, "look for excluded subtrees", excludedAmong, folder, nonNil(sourceIDs))
	if err != nil || len(found) == 0 {
		return "", err
	}
	return found[0].SourceID, nil
}

const publishedMarkdown = `
SELECT coalesce((SELECT r.markdown FROM revisions r WHERE r.revision_id = p.published_revision_id), '') AS markdown,
    p.published_revision_id IS NOT NULL AS published
FROM pages p WHERE p.folder_id = $1 AND p.page_id = $2`

// Markdown gives the Markdown of a page's published revision; false when it has none.
func (s *Store) Markdown(ctx context.Context, folder, page string) (string, bool, error) {
	row, err := one[struct {
		Markdown  string
		Published bool
	}](ctx, s, "read a page's Markdown", publishedMarkdown, folder, page)
	return row.Markdown, row.Published, err
}

const publishedChunks = `
SELECT c.chunk_no, c.heading_path, c.body AS text, c.model IS NOT NULL AS embedded
FROM pages p JOIN chunks c ON c.revision_id = p.published_revision_id
WHERE p.folder_id = $1 AND p.page_id = $2 ORDER BY c.chunk_no`

// Chunks gives the chunks of a page's published revision.
func (s *Store) Chunks(ctx context.Context, folder, page string) ([]knowledge.Chunk, error) {
	return list[knowledge.Chunk](ctx, s, "read a page's chunks", publishedChunks, folder, page)
}

const revisionsOfPage = `
SELECT r.revision_id, r.state, r.title, (SELECT count(*) FROM chunks c WHERE c.revision_id = r.revision_id) AS chunks,
    octet_length(r.raw) AS bytes, coalesce(r.summary, '') AS summary, r.source_edited_at, r.published_at
FROM revisions r WHERE r.folder_id = $1 AND r.page_id = $2 ORDER BY r.revision_id DESC`

// Revisions gives what is kept of a page's history, newest first.
func (s *Store) Revisions(ctx context.Context, folder, page string) ([]knowledge.Revision, error) {
	return list[knowledge.Revision](ctx, s, "read a page's revisions", revisionsOfPage, folder, page)
}
