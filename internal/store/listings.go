package store

import (
	"cmp"
	"context"
	"encoding/json"
	"time"

	"github.com/loresync/loresync/internal/ids"
	"github.com/loresync/loresync/internal/knowledge"
)

// Claim is the answer to a request for a folder sync: claimed, joined, or why it was refused (folder_unknown,
// folder_deleted, paused, maintenance).
type Claim struct {
	Outcome    string
	WorkflowID *string
}

const claimFolderRun = `SELECT * FROM claim_folder_run($1, $2, $3, $4, $5)`

// ClaimFolderRun records a run that is about to be started under workflowID, or finds the one that waits to list.
func (s *Store) ClaimFolderRun(ctx context.Context, folder, workflowID string, mode knowledge.Mode, trigger, actor string) (Claim, error) {
	return one[Claim](ctx, s, "claim a folder run", claimFolderRun, folder, workflowID, string(mode), trigger, actor)
}

const abandonFolderRun = `DELETE FROM sync_runs WHERE workflow_id = $1 AND status = 'running' AND run_id IS NULL`

// AbandonFolderRun takes back a claim whose workflow could not be started. Should a joiner have started it, the workflow
// records itself again.
func (s *Store) AbandonFolderRun(ctx context.Context, workflowID string) error {
	_, err := exec(ctx, s, "take back a run", abandonFolderRun, workflowID)
	return err
}

type listingRow struct {
	Outcome    string
	ListingID  *int64
	Mode       *string
	Source     *string
	Connection *string
	Root       *string
	Limits     json.RawMessage
	NextBatch  *int
	Cursor     *string
	Completed  *bool
	Checkpoint *string
}

const beginListing = `SELECT * FROM begin_listing($1, $2, $3)`

// BeginListing begins a run's listing, or finds the one that an earlier attempt began, with the place to go on from.
func (s *Store) BeginListing(ctx context.Context, workflowID, folder, firstRunID string) (knowledge.Listing, error) {
	row, err := one[listingRow](ctx, s, "begin a listing", beginListing, workflowID, folder, firstRunID)
	if err != nil || row.Outcome != "begun" {
		return knowledge.Listing{Outcome: row.Outcome}, err
	}
	return knowledge.Listing{
		Outcome: row.Outcome, ListingID: *row.ListingID, Mode: knowledge.Mode(*row.Mode), Source: *row.Source, Connection: *row.Connection,
		Root: *row.Root, Limits: row.Limits, NextBatch: *row.NextBatch, Cursor: *row.Cursor, Completed: *row.Completed, Checkpoint: *row.Checkpoint,
	}, nil
}

const makeListingFull = `
WITH whole AS (UPDATE listings SET full_listing = true WHERE listing_id = $1 RETURNING workflow_id)
UPDATE sync_runs s SET mode = 'full' FROM whole w WHERE s.workflow_id = w.workflow_id AND s.mode = 'incremental'`

// MakeListingFull notes that a listing asked for as incremental sees everything: its source has no checkpoint to go on from.
func (s *Store) MakeListingFull(ctx context.Context, listingID int64) error {
	_, err := exec(ctx, s, "make a listing full", makeListingFull, listingID)
	return err
}

const stageListingBatch = `SELECT stage_listing_batch($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17)`

// StageBatch compares a batch with what is known and stores the difference. It returns false when the folder is no longer to
// be listed (deleted, paused, re-scoped). A batch that was stored before is left as it is.
func (s *Store) StageBatch(ctx context.Context, listingID int64, batchNo int, batch knowledge.Batch, stableIDs bool) (bool, error) {
	n := len(batch.Entries)
	sids, candidates, kinds, parents := make([]string, n), make([]string, n), make([]string, n), make([]*string, n)
	titles, urls, paths, versions := make([]string, n), make([]string, n), make([]string, n), make([]string, n)
	edits, skipClasses, skipSentences, found := make([]*time.Time, n), make([]*string, n), make([]*string, n), make([]string, n)
	for i, e := range batch.Entries {
		sids[i], kinds[i], candidates[i] = e.SourceID, string(e.Kind), candidateID(e.SourceID, stableIDs)
		if !e.ParentUnknown {
			parents[i] = &batch.Entries[i].ParentSourceID
		}
		titles[i], urls[i], paths[i], versions[i] = knowledge.Title(e.Title), e.URL, e.Path, e.Version
		found[i] = cmp.Or(e.FoundBy, knowledge.FoundByListing)
		if !e.EditedAt.IsZero() {
			edits[i] = &batch.Entries[i].EditedAt
		}
		if e.Skip != nil {
			skipClasses[i], skipSentences[i] = &e.Skip.Class, &e.Skip.Sentence
		}
	}
	outcome, err := scalar[string](ctx, s, "stage a listing batch", stageListingBatch, listingID, batchNo, batch.Returned, batch.Cursor, sids, candidates,
		parents, kinds, titles, urls, paths, versions, edits, skipClasses, skipSentences, found, nonNil(batch.Gone))
	return outcome == "staged", err
}

func candidateID(sourceID string, stableIDs bool) string {
	if stableIDs {
		return ids.PageIDForVendor(sourceID)
	}
	return ids.PageIDForPath(sourceID, 0)
}

const completeListing = `SELECT complete_listing($1, $2, $3)`

// CompleteListing ends a listing with the source's verdict and returns the verdict that counts; an empty verdict only asks.
func (s *Store) CompleteListing(ctx context.Context, listingID int64, verdict knowledge.Verdict, sentence string) (knowledge.Verdict, error) {
	final, err := scalar[string](ctx, s, "complete a listing", completeListing, listingID, string(verdict), sentence)
	return knowledge.Verdict(final), err
}

const registerEntries = `SELECT register_entries($1, $2)`

// RegisterEntries gives rows to up to bound listed entries. It returns how many it took, -1 when the folder is no longer the
// one that was listed.
func (s *Store) RegisterEntries(ctx context.Context, listingID int64, bound int) (int, error) {
	return scalar[int](ctx, s, "register listed pages", registerEntries, listingID, bound)
}

const vanishedFingerprints = `SELECT * FROM vanished_fingerprints($1)`

// VanishedFingerprints gives what a rename may have left behind.
func (s *Store) VanishedFingerprints(ctx context.Context, listingID int64) ([]knowledge.Vanished, error) {
	return list[knowledge.Vanished](ctx, s, "look for renamed pages", vanishedFingerprints, listingID)
}

const newSourceIDs = `
SELECT source_id FROM listing_entries
WHERE listing_id = $1 AND change = 'new' AND page_id IS NULL AND state = 'listed' AND kind = 'document' ORDER BY source_id`

// NewSourceIDs gives the documents that a listing saw for the first time.
func (s *Store) NewSourceIDs(ctx context.Context, listingID int64) ([]string, error) {
	rows, err := list[struct{ SourceID string }](ctx, s, "read new entries", newSourceIDs, listingID)
	found := make([]string, len(rows))
	for i, r := range rows {
		found[i] = r.SourceID
	}
	return found, err
}

const applyRename = `SELECT apply_rename($1, $2, $3, $4)`

// ApplyRename gives a page its new name, by the fingerprint that both have; dropped when a newer listing has been applied already, or
// when the page has other content by now.
func (s *Store) ApplyRename(ctx context.Context, listingID int64, oldSourceID, newSourceID string, fingerprint []byte) (string, error) {
	return scalar[string](ctx, s, "apply a rename", applyRename, listingID, oldSourceID, newSourceID, fingerprint)
}

const settleEntries = `SELECT open_left, waiting, listed_left FROM settle_entries($1)`

// SettleEntries ends the entries whose pages were read after the listing saw them, and counts the rest.
func (s *Store) SettleEntries(ctx context.Context, listingID int64) (knowledge.Window, error) {
	return one[knowledge.Window](ctx, s, "settle listed pages", settleEntries, listingID)
}

const takeOpen = `
UPDATE listing_entries e SET state = 'requested', asked = e.asked + 1, asked_at = now()
FROM (SELECT source_id FROM listing_entries WHERE listing_id = $1 AND state = 'open' ORDER BY source_id LIMIT $2) next
WHERE e.listing_id = $1 AND e.source_id = next.source_id
RETURNING e.page_id, e.asked`

// TakeOpen marks up to n open pages as requested and returns them, to be asked for.
func (s *Store) TakeOpen(ctx context.Context, listingID int64, n int) ([]knowledge.Ask, error) {
	return list[knowledge.Ask](ctx, s, "take open pages", takeOpen, listingID, n)
}

const overdueAsks = `
SELECT e.page_id, e.asked FROM listing_entries e JOIN listings l ON l.listing_id = e.listing_id
WHERE e.listing_id = $1 AND e.state = 'requested' AND e.asked_at < now() - $2::interval
  AND NOT EXISTS (SELECT 1 FROM in_flight i WHERE i.folder_id = l.folder_id AND i.page_id = e.page_id AND i.began_at > now() - interval '15 seconds')
  AND NOT EXISTS (SELECT 1 FROM pages p WHERE p.folder_id = l.folder_id AND p.page_id = e.page_id AND p.attempt_seq > e.seen_seq)
ORDER BY e.asked_at LIMIT 200`

// OverdueAsks gives requested pages that have no in-flight row although they were asked for a while ago, or an old one: their
// workflow may not have begun yet, may have ended without an outcome, or may take its time.
func (s *Store) OverdueAsks(ctx context.Context, listingID int64, after time.Duration) ([]knowledge.Ask, error) {
	return list[knowledge.Ask](ctx, s, "look for unanswered requests", overdueAsks, listingID, after)
}

const reopenAsk = `
UPDATE listing_entries e SET state = CASE WHEN e.asked >= $3 THEN 'not_settled' ELSE 'open' END
FROM listings l
WHERE l.listing_id = $1 AND e.listing_id = l.listing_id AND e.page_id = $2 AND e.state = 'requested'
  AND NOT EXISTS (SELECT 1 FROM pages p WHERE p.folder_id = l.folder_id AND p.page_id = e.page_id AND p.attempt_seq > e.seen_seq)`

// ReopenAsk puts a page whose workflow ended without an outcome back into the window; after maxAsks requests it is
// recorded as not settled. A sync that wrote its outcome between two looks is left to the next look.
func (s *Store) ReopenAsk(ctx context.Context, listingID int64, page string, maxAsks int) error {
	_, err := exec(ctx, s, "ask again", reopenAsk, listingID, page, maxAsks)
	return err
}

const folderIsActive = `
SELECT f.state = 'active' AND f.generation = l.folder_generation AND c.paused_at IS NULL
FROM listings l JOIN folders f ON f.folder_id = l.folder_id JOIN connections c ON c.name = f.connection WHERE l.listing_id = $1`

// ListingMayGoOn tells whether the folder is still the active one that the listing began with.
func (s *Store) ListingMayGoOn(ctx context.Context, listingID int64) (bool, error) {
	rows, err := list[struct{ Active bool }](ctx, s, "look at the folder", `SELECT x.active FROM (`+folderIsActive+`) AS x (active)`, listingID)
	return len(rows) == 1 && rows[0].Active, err
}

const recordAbsence = `SELECT outcome, last_page, candidates FROM record_absence($1, $2, $3)`

// RecordAbsence gives strikes to pages that a complete full listing did not see, and takes them back from those it saw, for up
// to bound pages behind a page id; LastPage, when it isn't nil, is where to go on.
func (s *Store) RecordAbsence(ctx context.Context, listingID int64, behind string, bound int) (knowledge.Absence, error) {
	return one[knowledge.Absence](ctx, s, "record absence", recordAbsence, listingID, behind, bound)
}

const lostPages = `
SELECT page_id, source_id FROM pages
WHERE folder_id = $1 AND strikes >= 2 AND tombstoned_at IS NULL AND NOT removal_rejected ORDER BY page_id`

// LostPages gives the pages of a folder that two whole listings did not see.
func (s *Store) LostPages(ctx context.Context, folder string) ([]knowledge.Lost, error) {
	return list[knowledge.Lost](ctx, s, "read lost pages", lostPages, folder)
}

const holdPagesToConfirm = `
SELECT p.page_id, p.source_id FROM hold_pages h JOIN pages p ON p.folder_id = h.folder_id AND p.page_id = h.page_id
WHERE h.hold_id = $1 AND p.tombstoned_at IS NULL ORDER BY p.page_id`

// HoldPages gives the pages of a hold that are still there.
func (s *Store) HoldPages(ctx context.Context, holdID string) ([]knowledge.Lost, error) {
	return list[knowledge.Lost](ctx, s, "read the pages of a hold", holdPagesToConfirm, holdID)
}

const removalFacts = `
SELECT
  (SELECT count(*) FROM live_pages p WHERE p.folder_id = $1) AS live,
  r.recent, r.returned
FROM (
    SELECT count(*) AS recent, count(*) FILTER (WHERE EXISTS (SELECT 1 FROM sync_events b
        WHERE b.folder_id = $1 AND b.page_id = e.page_id AND b.event_id > e.event_id AND b.kind = 'revived')) AS returned
    FROM sync_events e WHERE e.folder_id = $1 AND e.kind = 'removed' AND e.at > now() - interval '24 hours' AND NOT (e.data ->> 'approved')::boolean) r`

const listedDocuments = `
SELECT EXISTS (SELECT 1 FROM listings l WHERE l.listing_id = $1 AND l.full_listing) AS full,
  coalesce(sum(cardinality(unchanged) + cardinality(skipped) + cardinality(excluded) + cardinality(failed) + gone), 0)::bigint
  + (SELECT count(*) FROM listing_entries e WHERE e.listing_id = $1 AND e.kind = 'document') AS documents
FROM listing_batches WHERE listing_id = $1`

// RemovalFacts reads what the guards want to know before planned pages of a folder go. Only a full listing tells how much the source
// still has; after an incremental one, or none, whatever is not planned to go counts as listed.
func (s *Store) RemovalFacts(ctx context.Context, folder string, listingID int64, planned int) (knowledge.Removal, error) {
	facts, err := one[knowledge.Removal](ctx, s, "read removal facts", removalFacts, folder)
	if err != nil {
		return facts, err
	}
	facts.Planned = int64(planned)
	listed, err := one[struct {
		Full      bool
		Documents int64
	}](ctx, s, "count listed documents", listedDocuments, listingID)
	if facts.Listed = listed.Documents; !listed.Full {
		facts.Listed = max(0, facts.Live-facts.Planned)
	}
	return facts, err
}

const removeLostPages = `SELECT remove_lost_pages($1, $2, (SELECT generation FROM folders WHERE folder_id = $1), $3, false, false)`

// RemoveLostPages hides pages that two listings didn't see, at most 500 at once, and returns those it hid. A page that was
// published since has no strikes any more, and stays.
func (s *Store) RemoveLostPages(ctx context.Context, folder string, pages []string, undo time.Duration) ([]string, error) {
	return scalar[[]string](ctx, s, "remove lost pages", removeLostPages, folder, pages, undo)
}

const forgetStrikes = `UPDATE pages SET strikes = 0, unseen_since = NULL WHERE folder_id = $1 AND page_id = ANY ($2)`

// ForgetStrikes takes back the strikes of pages that the source says are there.
func (s *Store) ForgetStrikes(ctx context.Context, folder string, pages []string) error {
	_, err := exec(ctx, s, "take back strikes", forgetStrikes, folder, pages)
	return err
}

const holdRemovals = `SELECT hold_removals($1, $2, $3, $4)`

// HoldRemovals puts pages into the folder's open hold, or opens one under holdID.
func (s *Store) HoldRemovals(ctx context.Context, folder, holdID, reason string, pages []string) (string, error) {
	return scalar[string](ctx, s, "hold removals", holdRemovals, folder, holdID, reason, pages)
}

const recordRemovals = `UPDATE listings SET removed = removed + $2, held = $3 WHERE listing_id = $1`

// RecordRemovals notes on a listing what its reconcile removed and held.
func (s *Store) RecordRemovals(ctx context.Context, listingID int64, removed, held int) error {
	_, err := exec(ctx, s, "record removals", recordRemovals, listingID, removed, held)
	return err
}

// Two overlapping runs both list a page that appeared before them, and one sync of it serves both: the run that listed first
// counts it as new, and to the other it is unchanged.
const countListing = `
WITH batch AS (
    SELECT b.* FROM listing_batches b WHERE b.listing_id = $1
), packed AS (
    SELECT count(DISTINCT u) FILTER (WHERE k = 'u') AS unchanged, count(DISTINCT u) FILTER (WHERE k = 's') AS skipped,
           count(DISTINCT u) FILTER (WHERE k = 'x') AS excluded, count(DISTINCT u) FILTER (WHERE k = 'f') AS failed
    FROM (SELECT unnest(unchanged) AS u, 'u' AS k FROM batch UNION ALL SELECT unnest(skipped), 's' FROM batch
          UNION ALL SELECT unnest(excluded), 'x' FROM batch UNION ALL SELECT unnest(failed), 'f' FROM batch) all_of_it
), rival AS (
    SELECT o.listing_id FROM listings l
    JOIN listings o ON o.folder_id = l.folder_id AND o.listing_id < l.listing_id AND NOT o.dry_run
    JOIN sync_runs r ON r.workflow_id = o.workflow_id AND (r.ended_at IS NULL OR r.ended_at > l.began_at)
    WHERE l.listing_id = $1
), entry AS (
    SELECT change, moved, state, outcome,
        CASE WHEN state IN ('failed', 'not_settled') THEN 'failed'
             WHEN state = 'excluded' THEN 'excluded'
             WHEN change = 'skipped' OR outcome IN ('skipped', 'not_found') THEN 'skipped'
             WHEN change = 'same' THEN 'unchanged'
             WHEN change = 'new' AND EXISTS (
                 SELECT 1 FROM rival r JOIN listing_entries o ON o.listing_id = r.listing_id AND o.source_id = e.source_id
                 WHERE o.change = 'new' AND o.state IN ('listed', 'open', 'requested', 'done')) THEN 'unchanged'
             WHEN change = 'new' THEN 'new'
             WHEN outcome = 'unchanged' THEN 'unchanged'
             ELSE 'changed' END AS class
    FROM listing_entries e WHERE listing_id = $1 AND kind = 'document'
), sums AS (
    SELECT count(*) FILTER (WHERE class = 'new') AS new, count(*) FILTER (WHERE class = 'changed') AS changed,
           count(*) FILTER (WHERE class = 'unchanged') AS unchanged, count(*) FILTER (WHERE class = 'skipped') AS skipped,
           count(*) FILTER (WHERE class = 'excluded') AS excluded, count(*) FILTER (WHERE class = 'failed') AS failed,
           count(*) FILTER (WHERE moved) AS moved,
           count(*) FILTER (WHERE change = 'revived' AND class IN ('changed', 'unchanged')) AS revived
    FROM entry
)
SELECT s.new, s.changed, p.unchanged + s.unchanged AS unchanged, p.skipped + s.skipped AS skipped,
       p.excluded + s.excluded + (SELECT coalesce(sum(gone), 0) FROM batch)::bigint AS excluded, p.failed + s.failed AS failed, s.moved, s.revived,
       l.removed, l.held, l.verdict, l.sentence
FROM packed p, sums s, listings l WHERE l.listing_id = $1`

// CountListing counts what a listing and the page syncs after it did.
func (s *Store) CountListing(ctx context.Context, listingID int64) (knowledge.Counted, error) {
	type row struct {
		New, Changed, Unchanged, Skipped, Excluded, Failed, Moved, Revived, Removed, Held int64
		Verdict, Sentence                                                                 string
	}
	r, err := one[row](ctx, s, "count a listing", countListing, listingID)
	counts := knowledge.Counts{
		New: r.New, Changed: r.Changed, Unchanged: r.Unchanged, Skipped: r.Skipped, Excluded: r.Excluded, Failed: r.Failed,
		Moved: r.Moved, Revived: r.Revived, Removed: r.Removed, Held: r.Held,
	}
	counts.Listed = r.New + r.Changed + r.Unchanged + r.Skipped + r.Excluded + r.Failed
	return knowledge.Counted{Counts: counts, Verdict: r.Verdict, Sentence: r.Sentence}, err
}

const dryRunCounts = `
SELECT
  (SELECT count(*) FROM listing_entries e WHERE e.listing_id = $1 AND e.kind = 'document' AND e.change = 'new') AS new,
  (SELECT count(*) FROM listing_entries e WHERE e.listing_id = $1 AND e.kind = 'document' AND e.change IN ('changed', 'retry', 'revived')) AS changed,
  (SELECT count(*) FROM listings l JOIN pages p ON p.folder_id = l.folder_id AND p.kind = 'document' AND p.tombstoned_at IS NULL
     WHERE l.listing_id = $1 AND l.verdict = 'complete' AND p.created_seq < l.began_seq
       AND NOT EXISTS (SELECT 1 FROM listed_pages($1) s WHERE s.page_no = p.page_no)) AS removed`

// WouldRemove counts the pages that a dry run did not see, which two full runs in a row would remove.
func (s *Store) WouldRemove(ctx context.Context, listingID int64) (int64, error) {
	type row struct{ New, Changed, Removed int64 }
	r, err := one[row](ctx, s, "count a dry run", dryRunCounts, listingID)
	return r.Removed, err
}

const folderRoot = `SELECT source, connection, root, limits, generation::text AS generation, now() AS at FROM folders WHERE folder_id = $1`

// FolderRoot reads where a folder's source is.
func (s *Store) FolderRoot(ctx context.Context, folder string) (knowledge.FolderRoot, error) {
	return one[knowledge.FolderRoot](ctx, s, "read a folder's root", folderRoot, folder)
}

const finishRun = `
INSERT INTO sync_runs AS s (workflow_id, run_id, folder_id, kind, mode, trigger, started_at, status, reason, verdict, ended_at,
    listed, new, changed, unchanged, skipped, excluded, failed, moved, removed, held, revived)
VALUES ($1, nullif($2, ''), nullif($3, ''), $4, 'incremental', 'unknown', now(), $5, $6, $7, now(), $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18)
ON CONFLICT (workflow_id) DO UPDATE SET run_id = coalesce(s.run_id, excluded.run_id), started_at = coalesce(s.started_at, now()),
    status = excluded.status, reason = excluded.reason, verdict = excluded.verdict, ended_at = now(),
    listed = excluded.listed, new = excluded.new, changed = excluded.changed, unchanged = excluded.unchanged, skipped = excluded.skipped,
    excluded = excluded.excluded, failed = excluded.failed, moved = excluded.moved, removed = excluded.removed, held = excluded.held,
    revived = excluded.revived
WHERE s.status = 'running'`

// FinishRun closes a run. A run that is closed already stays as it is.
func (s *Store) FinishRun(ctx context.Context, r knowledge.FinishedRun) error {
	c := r.Counts
	_, err := exec(ctx, s, "finish a run", finishRun, r.WorkflowID, r.FirstRunID, r.Folder, r.Kind, string(r.Status), r.Reason, r.Verdict,
		c.Listed, c.New, c.Changed, c.Unchanged, c.Skipped, c.Excluded, c.Failed, c.Moved, c.Removed, c.Held, c.Revived)
	return err
}
