package store

import (
	"context"
	"time"

	"github.com/loresync/loresync/internal/knowledge"
)

// Accepted is the answer to a delete's accept: accepted, joined, or why it was refused (folder_unknown, folder_deleted,
// page_unknown, needs_subtree).
type Accepted struct {
	Outcome    string
	DeleteID   *int64
	AcceptedAt *time.Time
	PurgeAt    *time.Time
	Pages      *int64
}

// DeleteRequest is what a person asks for.
type DeleteRequest struct {
	Folder, Page string
	Subtree, Now bool
	Who          string
	WorkflowID   string
	Undo         time.Duration
}

const acceptPageDelete = `SELECT * FROM accept_page_delete($1, $2, $3, $4, $5, $6, $7)`

// AcceptPageDelete hides a page (with Subtree, and all below it) from its commit on.
func (s *Store) AcceptPageDelete(ctx context.Context, r DeleteRequest) (Accepted, error) {
	return insist(func() (Accepted, error) {
		return one[Accepted](ctx, s, "accept a delete", acceptPageDelete, r.Folder, r.Page, r.Subtree, r.Now, r.Who, r.WorkflowID, r.Undo)
	})
}

// Readers saw what is published; the record counts skipped and unread pages too.
const (
	readBefore         = `(SELECT count(*) FROM pages p WHERE p.folder_id = d.folder_id AND p.published_revision_id IS NOT NULL AND p.tombstoned_at IS NULL)`
	acceptFolderDelete = `
SELECT a.outcome, a.delete_id, a.accepted_at, a.purge_at, CASE WHEN a.delete_id IS NOT NULL THEN ` + readBefore + ` END AS pages
FROM accept_folder_delete($1, $2, $3, $4, $5) a CROSS JOIN (SELECT $1::text AS folder_id) d`
	pagesOfDelete = `CASE WHEN d.page_id IS NULL THEN ` + readBefore + ` ELSE d.pages END AS pages`
)

// AcceptFolderDelete hides a whole folder in one row write.
func (s *Store) AcceptFolderDelete(ctx context.Context, r DeleteRequest) (Accepted, error) {
	return insist(func() (Accepted, error) {
		return one[Accepted](ctx, s, "accept a folder delete", acceptFolderDelete, r.Folder, r.Now, r.Who, r.WorkflowID, r.Undo)
	})
}

const markDeleteStarted = `UPDATE deletes SET started_at = coalesce(started_at, now()) WHERE delete_id = $1`

// MarkDeleteStarted notes that the delete's workflow was started.
func (s *Store) MarkDeleteStarted(ctx context.Context, deleteID int64) error {
	_, err := exec(ctx, s, "note a started delete", markDeleteStarted, deleteID)
	return err
}

const openDeleteColumns = `SELECT delete_id, folder_id, page_id, source_id, subtree, now, workflow_id, accepted_at, accepted_seq, finished_at FROM deletes `

const openPageDelete = openDeleteColumns + `
WHERE folder_id = $1 AND page_id IS NOT DISTINCT FROM nullif($2, '') AND restored_at IS NULL AND purged_at IS NULL AND (finished_at IS NULL OR now)`

// OpenDeleteOf gives the delete of a page (of the whole folder when page is empty) that still has work to do; false without one.
func (s *Store) OpenDeleteOf(ctx context.Context, folder, page string) (knowledge.OpenDelete, bool, error) {
	rows, err := list[knowledge.OpenDelete](ctx, s, "read an open delete", openPageDelete, folder, page)
	if err != nil || len(rows) == 0 {
		return knowledge.OpenDelete{}, false, err
	}
	return rows[0], true, nil
}

const unfinishedDeletes = openDeleteColumns + `
WHERE finished_at IS NULL AND restored_at IS NULL AND purged_at IS NULL AND accepted_at < now() - $1::interval ORDER BY accepted_at LIMIT 500`

// UnfinishedDeletes gives accepted deletes whose workflow has not ended, older than a while.
func (s *Store) UnfinishedDeletes(ctx context.Context, olderThan time.Duration) ([]knowledge.OpenDelete, error) {
	return list[knowledge.OpenDelete](ctx, s, "read unfinished deletes", unfinishedDeletes, olderThan)
}

const sweepSubtree = `SELECT sweep_subtree($1, $2)`

// SweepSubtree tombstones up to bound pages below a subtree delete and returns how many it took.
func (s *Store) SweepSubtree(ctx context.Context, deleteID int64, bound int) (int, error) {
	return scalar[int](ctx, s, "tombstone a subtree", sweepSubtree, deleteID, bound)
}

const finishSweep = `SELECT finish_sweep($1)`

// FinishSweep ends a sweep; false when a page has slipped in.
func (s *Store) FinishSweep(ctx context.Context, deleteID int64) (bool, error) {
	return scalar[bool](ctx, s, "finish a sweep", finishSweep, deleteID)
}

const flightsBelow = `SELECT folder_id, page_id, token, workflow_id, run_id, began_at FROM in_flight_below($1) ORDER BY page_id LIMIT 1000`

// FlightsBelow gives the syncs that a delete has to see ended.
func (s *Store) FlightsBelow(ctx context.Context, deleteID int64) ([]knowledge.Flight, error) {
	return list[knowledge.Flight](ctx, s, "read in-flight syncs below a delete", flightsBelow, deleteID)
}

const dropAttempt = `SELECT drop_attempt($1, $2, $3)`

// DropAttempt removes the in-flight row and the staged revision of a sync whose workflow is closed; false when another has
// taken over.
func (s *Store) DropAttempt(ctx context.Context, h knowledge.Holder) (bool, error) {
	return scalar[bool](ctx, s, "drop an attempt", dropAttempt, h.Folder, h.Page, h.Token)
}

const finishDelete = `SELECT finish_delete($1)`

// FinishDelete marks a delete finished: finished, restored, or in_flight while a sync that is older than it goes on.
func (s *Store) FinishDelete(ctx context.Context, deleteID int64) (string, error) {
	return scalar[string](ctx, s, "finish a delete", finishDelete, deleteID)
}

const listSlot = `
UPDATE deployment SET next_list_at = greatest(next_list_at, clock_timestamp()) + interval '500 milliseconds'
RETURNING greatest(extract(epoch FROM next_list_at - interval '500 milliseconds' - clock_timestamp()), 0)::float8`

// TakeListSlot gives the time to wait before the next list of running workflows: two a second for the whole deployment.
func (s *Store) TakeListSlot(ctx context.Context) (time.Duration, error) {
	seconds, err := scalar[float64](ctx, s, "take a list slot", listSlot)
	return time.Duration(seconds * float64(time.Second)), err
}

const purgePages = `SELECT purge_pages($1, $2)`

// PurgePages erases up to bound pages whose undo window is over; deleteID 0 means of any delete.
func (s *Store) PurgePages(ctx context.Context, deleteID int64, bound int) (int, error) {
	var id *int64
	if deleteID != 0 {
		id = &deleteID
	}
	return scalar[int](ctx, s, "purge pages", purgePages, id, bound)
}

const purgeFolder = `SELECT purge_folder($1, $2)`

// PurgeFolder erases up to bound pages of a deleted folder, and the folder when none is left. It returns -1 when there is
// nothing to do any more.
func (s *Store) PurgeFolder(ctx context.Context, folder string, bound int) (int, error) {
	return scalar[int](ctx, s, "purge a folder", purgeFolder, folder, bound)
}

const foldersToPurge = `SELECT folder_id FROM folders WHERE deleted_at IS NOT NULL AND purge_at <= now() ORDER BY folder_id`

// FoldersToPurge gives the deleted folders whose undo window is over.
func (s *Store) FoldersToPurge(ctx context.Context) ([]string, error) {
	rows, err := list[struct{ FolderID string }](ctx, s, "read folders to purge", foldersToPurge)
	found := make([]string, len(rows))
	for i, r := range rows {
		found[i] = r.FolderID
	}
	return found, err
}

// Restored is the answer to a restore: restored, lifted (only the exclusion was left), or why not: folder_unknown,
// folder_deleted, page_unknown, not_deleted, covered (then PageID is the page that is to be restored instead), purging.
type Restored struct {
	Outcome  string
	PageID   *string
	DeleteID *int64
	Subtree  *bool
}

const restorePage = `SELECT * FROM restore_page($1, $2, $3)`

// RestorePage undoes a person's delete of a page.
func (s *Store) RestorePage(ctx context.Context, folder, sourceID, who string) (Restored, error) {
	return insist(func() (Restored, error) {
		return one[Restored](ctx, s, "restore a page", restorePage, folder, sourceID, who)
	})
}

const hiddenBy = `
SELECT coalesce((SELECT p.delete_id FROM pages p WHERE p.folder_id = $1 AND p.source_id = $2 AND p.tombstone_reason = 'person'
                 AND excluding($1, $2) IS NULL), 0)`

// HiddenBy gives the delete of a subtree that a page was moved out of since, 0 for every other page.
func (s *Store) HiddenBy(ctx context.Context, folder, sourceID string) (int64, error) {
	return scalar[int64](ctx, s, "look what hid a page", hiddenBy, folder, sourceID)
}

const restoreBelow = `SELECT restore_below($1, $2, nullif($3::bigint, 0), $4)`

// RestoreBelow brings back up to bound pages below one that no exclusion covers any more and that a delete had hidden; deleteID 0
// means those that no delete is known of. It returns how many it took.
func (s *Store) RestoreBelow(ctx context.Context, folder, sourceID string, deleteID int64, bound int) (int, error) {
	return scalar[int](ctx, s, "restore what is below a page", restoreBelow, folder, sourceID, deleteID, bound)
}

const excluding = `SELECT coalesce(excluding($1, $2), '')`

// Excluding gives the source id of what is to be restored for a page to be seen again: the outermost deleted subtree above it, or the
// page; "" where no exclusion is to be lifted.
func (s *Store) Excluding(ctx context.Context, folder, sourceID string) (string, error) {
	return scalar[string](ctx, s, "look what excludes a page", excluding, folder, sourceID)
}

const restoreSwept = `SELECT restore_swept($1, $2)`

// RestoreSwept brings back up to bound pages of a restored subtree delete and returns how many it took.
func (s *Store) RestoreSwept(ctx context.Context, deleteID int64, bound int) (int, error) {
	return scalar[int](ctx, s, "restore a subtree", restoreSwept, deleteID, bound)
}

const halfRestored = `
SELECT DISTINCT d.delete_id, d.folder_id, d.page_id, d.source_id, d.subtree, d.now, d.workflow_id, d.accepted_at, d.accepted_seq, d.finished_at
FROM pages p JOIN deletes d ON d.delete_id = p.delete_id WHERE d.restored_at IS NOT NULL AND p.tombstone_reason = 'person'`

// HalfRestored gives restored subtree deletes of which pages are still hidden.
func (s *Store) HalfRestored(ctx context.Context) ([]knowledge.OpenDelete, error) {
	return list[knowledge.OpenDelete](ctx, s, "read half-restored deletes", halfRestored)
}

const restoreFolder = `SELECT restore_folder($1, $2)`

// RestoreFolder undoes a folder delete: restored, folder_unknown, not_deleted or purging.
func (s *Store) RestoreFolder(ctx context.Context, folder, who string) (string, error) {
	return insist(func() (string, error) {
		return scalar[string](ctx, s, "restore a folder", restoreFolder, folder, who)
	})
}

const undoableDeletes = `
SELECT delete_id, folder_id, coalesce(page_id, '') AS page_id, source_id, subtree, now, who, ` + pagesOfDelete + `, workflow_id, accepted_at, finished_at,
       purge_at, greatest(extract(epoch FROM purge_at - now()), 0)::bigint AS undo_seconds
FROM deletes d WHERE restored_at IS NULL AND purged_at IS NULL ORDER BY accepted_at DESC, delete_id DESC`

// UndoableDeletes gives the deletes that have been neither restored nor purged, the latest first.
func (s *Store) UndoableDeletes(ctx context.Context) ([]knowledge.Delete, error) {
	return list[knowledge.Delete](ctx, s, "read deletes", undoableDeletes)
}

const deleteByID = `
SELECT delete_id, folder_id, coalesce(page_id, '') AS page_id, source_id, subtree, now, who, ` + pagesOfDelete + `, workflow_id, accepted_at, finished_at,
       purge_at, greatest(extract(epoch FROM purge_at - now()), 0)::bigint AS undo_seconds, restored_at, purged_at
FROM deletes d WHERE folder_id = $1 AND coalesce(page_id, '') = $2 ORDER BY delete_id DESC LIMIT 1`

// DeleteState is how far the last delete of a page (of the folder when page is empty) has come.
type DeleteState struct {
	knowledge.Delete
	RestoredAt *time.Time
	PurgedAt   *time.Time
}

// LastDelete reads the last delete of a page, or of a folder.
func (s *Store) LastDelete(ctx context.Context, folder, page string) (DeleteState, error) {
	return one[DeleteState](ctx, s, "read a delete", deleteByID, folder, page)
}
