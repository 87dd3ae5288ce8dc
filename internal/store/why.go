package store

import (
	"context"
	"time"

	"github.com/loresync/loresync/internal/knowledge"
)

// Pages of deleted folders come last: the bound must not cut off what readers see.
const pagesByRef = `
SELECT x.* FROM (
SELECT folder_id, page_id, source_id, kind, title, false AS exclusion_only FROM pages p
WHERE p.page_id = $1 OR p.source_id = $1 OR p.path = $1 OR (p.url = $1 AND p.url <> '') OR lower(p.title) = lower($1)
UNION ALL
SELECT e.folder_id, e.page_id, e.source_id, 'document', '', true FROM exclusions e
WHERE (e.source_id = $1 OR e.page_id = $1) AND NOT EXISTS (SELECT 1 FROM pages p WHERE p.folder_id = e.folder_id AND p.source_id = e.source_id)
) x JOIN folders f ON f.folder_id = x.folder_id ORDER BY f.deleted_at IS NOT NULL, x.folder_id, x.source_id LIMIT $2`

// PagesByRef finds what a person may mean in any folder: a page id, a source id, a path, a URL or a whole title.
func (s *Store) PagesByRef(ctx context.Context, ref string, limit int) ([]PageKey, error) {
	return list[PageKey](ctx, s, "look for a page in all folders", pagesByRef, ref, limit)
}

// PageFacts is what is known about a page beyond its state, for the answer to "why?".
type PageFacts struct {
	FolderFacts
	ExclusionFacts
	// Page is nil when only an exclusion is left of it.
	Page *knowledge.Page
	// RetryAt is when a failed page is read again.
	RetryAt *time.Time
	Strikes int
	// UnseenSince is when the first complete listing began that did not see the page.
	UnseenSince     *time.Time
	RemovalRejected bool
	TombstonedAt    *time.Time
	RunningID       *string
	RunningSince    *time.Time
	CancelRequested *bool
	DueAt           *time.Time
	DueReason       *string
}

// DueRecentEdit is why a page is due that was read within its source's granularity of its edit: a further edit would look the
// same.
const DueRecentEdit = "recent_edit"

// FolderFacts is what a folder's state means for its pages.
type FolderFacts struct {
	FolderState, ConnectionName, ConnectionReason string
	FolderPausedAt, ConnectionPausedAt            *time.Time
	FolderDeletedAt, FolderPurgeAt                *time.Time
	FolderDeletedBy                               *string
	// FolderErasing is set once the folder's undo window is over.
	FolderErasing bool
	SyncInterval  time.Duration
	// ListedAt is when the last complete listing ended.
	ListedAt *time.Time
	// LastRun is how the last run of the folder ended.
	LastRunStatus, LastRunReason, LastRunVerdict *string
	LastRunEndedAt                               *time.Time
	Maintenance                                  bool
}

// ExclusionFacts is who deleted a page, itself or through an excluded page above it.
type ExclusionFacts struct {
	ExcludedBy                         *string
	ExcludedAt                         *time.Time
	ExcludedSubtree                    *bool
	ExclusionSourceID, ExclusionPageID *string
	ExclusionTitle                     *string
}

const folderFacts = `
SELECT f.state AS folder_state, f.connection AS connection_name, c.pause_reason AS connection_reason, f.paused_at AS folder_paused_at,
    c.paused_at AS connection_paused_at, f.deleted_at AS folder_deleted_at, f.purge_at AS folder_purge_at, f.sync_interval,
    coalesce(f.purge_at <= now(), false) AS folder_erasing,
    (SELECT d.who FROM deletes d
     WHERE d.folder_id = f.folder_id AND d.page_id IS NULL AND d.restored_at IS NULL AND d.purged_at IS NULL) AS folder_deleted_by,
    fl.completed_at AS listed_at, r.status AS last_run_status, r.reason AS last_run_reason, r.verdict AS last_run_verdict,
    r.ended_at AS last_run_ended_at, (SELECT maintenance FROM deployment) AS maintenance
FROM folders f JOIN connections c ON c.name = f.connection
LEFT JOIN folder_listings fl ON fl.folder_id = f.folder_id
LEFT JOIN LATERAL (SELECT x.status, x.reason, x.verdict, x.ended_at FROM sync_runs x
                   WHERE x.folder_id = f.folder_id AND x.ended_at IS NOT NULL AND x.mode <> 'dry_run'
                   AND x.requested_at >= f.created_at ORDER BY x.requested_at DESC LIMIT 1) r ON true
WHERE f.folder_id = $1`

// FolderFacts reads what a folder's state means for its pages; ErrNotFound without one.
func (s *Store) FolderFacts(ctx context.Context, folder string) (FolderFacts, error) {
	return one[FolderFacts](ctx, s, "read about a folder", folderFacts, folder)
}

// A page that was moved out of a deleted subtree has no exclusion that says so; its delete does.
const exclusionFacts = `
SELECT e.who AS excluded_by, e.created_at AS excluded_at, e.subtree AS excluded_subtree, e.source_id AS exclusion_source_id,
    e.page_id AS exclusion_page_id, coalesce(p.title, '') AS exclusion_title
FROM exclusions e LEFT JOIN pages p ON p.folder_id = e.folder_id AND p.source_id = e.source_id
WHERE e.folder_id = $1 AND e.source_id = excluding($1, $2)
UNION ALL
SELECT coalesce(d.who, ''), coalesce(d.accepted_at, p.tombstoned_at), false, p.source_id, p.page_id, p.title
FROM pages p LEFT JOIN deletes d ON d.delete_id = p.delete_id
WHERE p.folder_id = $1 AND p.source_id = $2 AND p.tombstone_reason = 'person' AND excluding($1, $2) IS NULL`

const rowFacts = `
SELECT pf.retry_at, p.strikes, p.unseen_since, p.removal_rejected, p.tombstoned_at, i.workflow_id AS running_id,
    i.began_at AS running_since, i.cancel_requested, d.due_at, d.reason AS due_reason
FROM pages p
LEFT JOIN page_failures pf ON pf.folder_id = p.folder_id AND pf.page_id = p.page_id
LEFT JOIN in_flight i ON i.folder_id = p.folder_id AND i.page_id = p.page_id
LEFT JOIN due_reads d ON d.folder_id = p.folder_id AND d.page_id = p.page_id
WHERE p.folder_id = $1 AND p.page_id = $2`

// PageFacts reads what is known about a page, or about what a purge left of it; ErrNotFound when it went in the meantime.
func (s *Store) PageFacts(ctx context.Context, key PageKey) (PageFacts, error) {
	var facts PageFacts
	var err error
	if !key.ExclusionOnly {
		if facts, err = one[PageFacts](ctx, s, "read about a page", rowFacts, key.FolderID, key.PageID); err != nil {
			return facts, err
		}
		page, err := s.Page(ctx, key.FolderID, key.PageID)
		if err != nil {
			return facts, err
		}
		facts.Page = &page
	}
	if facts.FolderFacts, err = s.FolderFacts(ctx, key.FolderID); err != nil {
		return facts, err
	}
	found, err := list[ExclusionFacts](ctx, s, "read about an exclusion", exclusionFacts, key.FolderID, key.SourceID)
	if len(found) > 0 {
		facts.ExclusionFacts = found[0]
	}
	return facts, err
}

// Running tells whether a sync of the page is under way.
func (f PageFacts) Running() bool { return f.RunningID != nil && f.RunningSince != nil }
