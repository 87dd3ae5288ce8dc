package storm

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/stretchr/testify/require"

	"github.com/loresync/loresync/internal/content/render"
)

// restRow is a page at rest, with every reason for which it may differ from its file.
type restRow struct {
	PageID    string
	SourceID  string
	Live      bool
	Raw       []byte
	Markdown  *string
	Chunks    int
	Exclusion *string
	Tombstone *string
	Failure   *string
	Skip      *string
	Held      bool
	Rejected  bool
	Strikes   int
}

const allAtRest = `
SELECT p.page_id, p.source_id, l.page_id IS NOT NULL AS live, r.raw, r.markdown,
       (SELECT count(*) FROM live_chunks c WHERE c.folder_id = p.folder_id AND c.page_id = p.page_id AND c.embedding IS NOT NULL) AS chunks,
       covering_exclusion(p.folder_id, p.source_id, p.parent_source_id) AS exclusion, p.tombstone_reason AS tombstone,
       (SELECT x.class || ': ' || x.sentence FROM page_failures x WHERE x.folder_id = p.folder_id AND x.page_id = p.page_id) AS failure,
       p.skip_class AS skip,
       EXISTS (SELECT 1 FROM hold_pages h JOIN holds o USING (hold_id) WHERE h.folder_id = p.folder_id AND h.page_id = p.page_id AND o.state = 'open') AS held,
       p.removal_rejected AS rejected, p.strikes
FROM pages p LEFT JOIN revisions r ON r.revision_id = p.published_revision_id LEFT JOIN live_pages l ON l.folder_id = p.folder_id AND l.page_id = p.page_id
WHERE p.folder_id = $1 AND p.kind = 'document'`

// compare demands that the store equals the source, and that nothing is left of the storm.
func (s *storm) compare() {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(s.t.Context(), comparing)
	defer cancel()
	active := s.active(ctx)
	for _, folder := range active {
		s.equal(ctx, folder)
		s.excludedOnRequest(ctx, folder)
	}
	s.nothingOfOthers(ctx, active)
	s.clean(ctx)
}

// equal compares a folder's pages with its files, both ways.
func (s *storm) equal(ctx context.Context, folder string) {
	s.t.Helper()
	files, err := s.disk.files(folder)
	require.NoError(s.t, err)
	rows, err := rowsOf[restRow](ctx, s.checker.pool, allAtRest, folder)
	require.NoError(s.t, err)
	pages := map[string]restRow{}
	for _, row := range rows {
		pages[row.SourceID] = row
	}
	for _, path := range slices.Sorted(maps.Keys(files)) {
		page, known := pages[path]
		if wrong := differs(page, known, files[path]); wrong != "" && !s.purgedOnRequest(ctx, folder, path, known) {
			s.violate(ctx, violation{Rule: "at rest: the store is not the source", Folder: folder, Page: path, ID: page.PageID, Detail: wrong})
		}
	}
	for _, row := range rows {
		_, there := files[row.SourceID]
		if wrong := lingers(row, there); wrong != "" {
			s.violate(ctx, violation{Rule: "at rest: a page has no file", Folder: folder, Page: row.SourceID, ID: row.PageID, Detail: wrong})
		}
	}
}

// differs says how a page differs from its file without a reason; empty when it doesn't.
func differs(page restRow, known bool, raw []byte) string {
	rendered, err := render.Markdown(raw)
	switch {
	case !known:
		return "the page is not known"
	case page.Exclusion != nil && page.Live:
		return "it is excluded by " + *page.Exclusion + ", and seen"
	case page.Exclusion != nil:
		return ""
	case page.Failure != nil:
		return "it still fails: " + *page.Failure
	case page.Skip != nil:
		return "it is still skipped: " + *page.Skip
	case !page.Live && page.Tombstone != nil:
		return "it is hidden, and nothing excludes it: " + *page.Tombstone
	case !page.Live:
		return "it was never published"
	case !bytes.Equal(page.Raw, raw):
		return fmt.Sprintf("it holds %q, the file %q", page.Raw, raw)
	case err != nil || page.Markdown == nil || *page.Markdown != rendered.Markdown:
		return fmt.Sprintf("its Markdown is not what its raw payload renders to: %v", err)
	case page.Chunks == 0:
		return "it has no embedded chunk"
	}
	return ""
}

// lingers says why a page without a file should not be seen; empty when it may, or isn't.
func lingers(page restRow, there bool) string {
	if there || !page.Live || page.Held || page.Rejected {
		return ""
	}
	return fmt.Sprintf("the file is gone, and the page is seen, with %d strikes and no hold", page.Strikes)
}

// purgedOnRequest tells whether a page isn't known because a person deleted and purged it: the exclusion is all that is left.
func (s *storm) purgedOnRequest(ctx context.Context, folder, path string, known bool) bool {
	s.t.Helper()
	if known {
		return false
	}
	excluded := false
	const query = `SELECT EXISTS (SELECT 1 FROM exclusions WHERE folder_id = $1 AND (source_id = $2 OR subtree AND starts_with($2, source_id || '/')))`
	require.NoError(s.t, s.checker.pool.QueryRow(ctx, query, folder, path).Scan(&excluded))
	return excluded
}

// excludedOnRequest demands that every exclusion goes back to a delete that somebody asked for.
func (s *storm) excludedOnRequest(ctx context.Context, folder string) {
	s.t.Helper()
	rows, err := rowsOf[struct{ SourceID, PageID, CoveredBy string }](ctx, s.checker.pool,
		`SELECT source_id, page_id, covered_by FROM exclusions WHERE folder_id = $1`, folder)
	require.NoError(s.t, err)
	for _, row := range rows {
		if !s.ledger.mayBeExcluded(folder, row.SourceID, row.PageID) && !s.ledger.mayBeExcluded(folder, row.CoveredBy, row.PageID) {
			s.violate(ctx, violation{Rule: "at rest: an exclusion that nobody asked for", Folder: folder, Page: row.SourceID, ID: row.PageID})
		}
	}
}

// nothingOfOthers demands that folders which aren't active show nothing, unless they are paused.
func (s *storm) nothingOfOthers(ctx context.Context, active []string) {
	s.t.Helper()
	rows, err := rowsOf[struct{ FolderID, SourceID, PageID string }](ctx, s.checker.pool,
		`SELECT folder_id, source_id, page_id FROM live_pages WHERE folder_id <> ALL ($1)`, active)
	require.NoError(s.t, err)
	for _, row := range rows {
		s.violate(ctx, violation{Rule: "at rest: a page of a deleted folder is seen", Folder: row.FolderID, Page: row.SourceID, ID: row.PageID})
	}
}
