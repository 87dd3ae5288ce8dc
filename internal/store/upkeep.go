package store

import (
	"context"
	"time"

	"github.com/loresync/loresync/internal/knowledge"
)

const oldFlights = `
SELECT folder_id, page_id, token, workflow_id, run_id, began_at FROM in_flight WHERE began_at < now() - $1::interval ORDER BY began_at LIMIT 1000`

// OldFlights gives in-flight rows that are older than a while.
func (s *Store) OldFlights(ctx context.Context, olderThan time.Duration) ([]knowledge.Flight, error) {
	return list[knowledge.Flight](ctx, s, "read old in-flight rows", oldFlights, olderThan)
}

const dropLeftovers = `
WITH staged AS (
    DELETE FROM revisions r WHERE r.state = 'staged' AND r.staged_at < now() - interval '10 minutes'
      AND NOT EXISTS (SELECT 1 FROM in_flight i WHERE i.folder_id = r.folder_id AND i.page_id = r.page_id AND i.token = r.token) RETURNING 1
), listed AS (
    DELETE FROM listings l USING sync_runs s WHERE s.workflow_id = l.workflow_id AND s.status <> 'running' AND l.began_at < now() - interval '1 day'
      AND NOT EXISTS (SELECT 1 FROM folder_listings f WHERE f.listing_id = l.listing_id) RETURNING 1
), containers AS (
    DELETE FROM pages p WHERE p.kind = 'container' AND p.tombstoned_at IS NULL AND p.created_at < now() - interval '1 hour'
      AND NOT EXISTS (SELECT 1 FROM pages c WHERE c.folder_id = p.folder_id AND c.parent_source_id = p.source_id) RETURNING 1
), keys AS (
    DELETE FROM idempotency_keys WHERE created_at < now() - interval '1 day' RETURNING 1
), progress AS (
    DELETE FROM read_progress WHERE saved_at < now() - $1::interval RETURNING 1
), notes AS (
    DELETE FROM listing_notes WHERE saved_at < now() - $2::interval RETURNING 1
)
SELECT (SELECT count(*) FROM staged) + (SELECT count(*) FROM listed) + (SELECT count(*) FROM containers) + (SELECT count(*) FROM keys)
  + (SELECT count(*) FROM progress) + (SELECT count(*) FROM notes)`

// DropLeftovers removes staged revisions that nobody holds, listings of ended runs, containers without pages, used idempotency
// keys, the progress of reads that nobody went on with, and notes that no read took.
func (s *Store) DropLeftovers(ctx context.Context) (int64, error) {
	return scalar[int64](ctx, s, "drop leftovers", dropLeftovers, progressLife, noteLife)
}

const dropOrphanEmbeddings = `SELECT collect_embeddings($1)`

// DropOrphanEmbeddings collects up to bound embeddings that no chunk references and that are older than a day. One that a page
// is about to use is left alone.
func (s *Store) DropOrphanEmbeddings(ctx context.Context, bound int) (int64, error) {
	return scalar[int64](ctx, s, "collect embeddings", dropOrphanEmbeddings, bound)
}

// Retention is what the janitor keeps.
type Retention struct {
	Revisions     int `json:"revisions"`
	RevisionsDays int `json:"revisions_days"`
	RunsDays      int `json:"runs_days"`
	UndoDays      int `json:"undo_days"`
}

// KeptByDefault is what is kept: 10 revisions or 30 days of them, whichever is more, and runs of 90 days.
var KeptByDefault = Retention{Revisions: 10, RevisionsDays: 30, RunsDays: 90, UndoDays: 7}

const applyRetention = `
WITH old_revisions AS (
    DELETE FROM revisions r USING (
        SELECT revision_id FROM (
            SELECT revision_id, published_at, row_number() OVER (PARTITION BY folder_id, page_id ORDER BY revision_id DESC) AS rank
            FROM revisions WHERE state <> 'staged') ranked
        WHERE rank > $1 AND published_at < now() - make_interval(days => $2) LIMIT 5000) victim
    WHERE r.revision_id = victim.revision_id AND r.state = 'superseded' RETURNING 1
), old_runs AS (
    DELETE FROM sync_runs WHERE status <> 'running' AND ended_at < now() - make_interval(days => $3) RETURNING 1
)
SELECT (SELECT count(*) FROM old_revisions) + (SELECT count(*) FROM old_runs)`

// ApplyRetention removes superseded revisions and ended runs that are past their time.
func (s *Store) ApplyRetention(ctx context.Context) (int64, error) {
	k := KeptByDefault
	return scalar[int64](ctx, s, "apply retention", applyRetention, k.Revisions, k.RevisionsDays, k.RunsDays)
}

const takeDueReads = `
UPDATE due_reads d SET due_at = now() + interval '10 minutes'
FROM (SELECT x.folder_id, x.page_id FROM due_reads x JOIN folders f ON f.folder_id = x.folder_id AND f.state = 'active'
      JOIN connections c ON c.name = f.connection AND c.paused_at IS NULL
      WHERE x.due_at <= now() AND NOT (SELECT maintenance FROM deployment) ORDER BY x.due_at LIMIT $1 FOR UPDATE OF x SKIP LOCKED) due
WHERE d.folder_id = due.folder_id AND d.page_id = due.page_id
RETURNING d.folder_id, d.page_id, d.reason`

// TakeDueReads gives up to bound pages that are due, and makes them due again in ten minutes, in case the request is lost.
func (s *Store) TakeDueReads(ctx context.Context, bound int) ([]knowledge.DueRead, error) {
	return list[knowledge.DueRead](ctx, s, "take due reads", takeDueReads, bound)
}

const dueFolders = `
SELECT f.folder_id FROM folders f JOIN connections c ON c.name = f.connection
WHERE f.state = 'active' AND c.paused_at IS NULL AND NOT (SELECT maintenance FROM deployment)
  AND NOT EXISTS (SELECT 1 FROM sync_runs s WHERE s.folder_id = f.folder_id AND s.kind = 'folder' AND s.mode <> 'dry_run'
                  AND (s.status = 'running' OR s.requested_at > now() - f.sync_interval))
ORDER BY f.folder_id`

// DueFolders gives the active folders whose interval since the last sync is over and that aren't being synced.
func (s *Store) DueFolders(ctx context.Context) ([]string, error) {
	return folderIDs(list[struct{ FolderID string }](ctx, s, "read due folders", dueFolders))
}

const activeFolders = `
SELECT f.folder_id FROM folders f JOIN connections c ON c.name = f.connection
WHERE f.state = 'active' AND c.paused_at IS NULL AND NOT (SELECT maintenance FROM deployment) ORDER BY f.folder_id`

// ActiveFolders gives the folders that a batch syncs.
func (s *Store) ActiveFolders(ctx context.Context) ([]string, error) {
	return folderIDs(list[struct{ FolderID string }](ctx, s, "read active folders", activeFolders))
}

func folderIDs(rows []struct{ FolderID string }, err error) ([]string, error) {
	found := make([]string, len(rows))
	for i, r := range rows {
		found[i] = r.FolderID
	}
	return found, err
}

const beginAllRun = `
INSERT INTO sync_runs AS s (workflow_id, run_id, kind, mode, trigger, started_at, listing_began_at) VALUES ($1, $2, 'all', 'full', $3, now(), now())
ON CONFLICT (workflow_id) DO UPDATE SET run_id = excluded.run_id, trigger = excluded.trigger, status = 'running', reason = '', ended_at = NULL,
    requested_at = now(), started_at = now()
WHERE s.run_id IS DISTINCT FROM excluded.run_id`

// BeginAllRun records the run of a sync of all folders. Its Workflow ID is always the same, so it shows the latest one.
func (s *Store) BeginAllRun(ctx context.Context, workflowID, firstRunID, trigger string) error {
	_, err := exec(ctx, s, "begin a batch", beginAllRun, workflowID, firstRunID, trigger)
	return err
}

const runColumns = `
SELECT coalesce(run_id, '') AS run_id, workflow_id, coalesce(folder_id, '') AS folder_id, kind, mode, trigger, actor, status, reason, verdict,
       requested_at, started_at, ended_at, listed, new, changed, unchanged, skipped, excluded, failed, moved, removed, held, revived, coverage
FROM sync_runs `

type runRow struct {
	knowledge.Counts
	RunID, WorkflowID, FolderID, Kind, Mode, Trigger, Actor, Status, Reason, Verdict string
	RequestedAt                                                                      time.Time
	StartedAt, EndedAt                                                               *time.Time
	Coverage                                                                         map[string]int64
}

func (r runRow) run() knowledge.Run {
	return knowledge.Run{
		RunID: r.RunID, WorkflowID: r.WorkflowID, FolderID: r.FolderID, Kind: r.Kind, Mode: knowledge.Mode(r.Mode), Trigger: r.Trigger, Actor: r.Actor,
		Status: knowledge.RunStatus(r.Status), Reason: r.Reason, Verdict: r.Verdict, RequestedAt: r.RequestedAt, StartedAt: r.StartedAt,
		EndedAt: r.EndedAt, Counts: r.Counts, Coverage: r.Coverage,
	}
}

func listRuns(ctx context.Context, s *Store, doing, query string, args ...any) ([]knowledge.Run, error) {
	rows, err := list[runRow](ctx, s, doing, query, args...)
	runs := make([]knowledge.Run, len(rows))
	for i, r := range rows {
		runs[i] = r.run()
	}
	return runs, err
}

// RunningRuns gives runs that are recorded as running, older than a while.
func (s *Store) RunningRuns(ctx context.Context, olderThan time.Duration) ([]knowledge.Run, error) {
	return listRuns(ctx, s, "read running runs", runColumns+`WHERE status = 'running' AND requested_at < now() - $1::interval ORDER BY requested_at LIMIT 1000`,
		olderThan)
}

// RunsByWorkflow gives the runs of Workflow IDs.
func (s *Store) RunsByWorkflow(ctx context.Context, workflowIDs []string) ([]knowledge.Run, error) {
	return listRuns(ctx, s, "read runs", runColumns+`WHERE workflow_id = ANY ($1) ORDER BY workflow_id`, workflowIDs)
}

const syncRefusal = `
SELECT CASE
    WHEN f.folder_id IS NULL THEN 'folder_unknown'
    WHEN f.deleted_at IS NOT NULL THEN 'folder_deleted'
    WHEN f.paused_at IS NOT NULL OR c.paused_at IS NOT NULL THEN 'paused'
    WHEN (SELECT maintenance FROM deployment) THEN 'maintenance'
    WHEN p.page_id IS NULL AND EXISTS (SELECT 1 FROM exclusions e WHERE e.folder_id = asked.f AND e.page_id = asked.p) THEN 'excluded'
    WHEN p.page_id IS NULL OR p.kind <> 'document' THEN 'page_unknown'
    WHEN p.tombstone_reason = 'person' OR covering_exclusion(f.folder_id, p.source_id, p.parent_source_id) IS NOT NULL THEN 'excluded'
    ELSE '' END
FROM (SELECT $1::text AS f, $2::text AS p) asked
LEFT JOIN folders f ON f.folder_id = asked.f
LEFT JOIN connections c ON c.name = f.connection
LEFT JOIN pages p ON p.folder_id = asked.f AND p.page_id = asked.p`

// SyncRefusal tells why a page sync would be refused, "" when it wouldn't. It only looks: Begin decides.
func (s *Store) SyncRefusal(ctx context.Context, folder, page string) (string, error) {
	return scalar[string](ctx, s, "look whether a page may be synced", syncRefusal, folder, page)
}

const runProgress = `
SELECT CASE WHEN s.status <> 'running' THEN 'ended' WHEN s.listing_began_at IS NULL THEN 'waiting' WHEN l.completed_at IS NULL THEN 'listing'
            WHEN e.open > 0 THEN 'syncing' ELSE 'reconciling' END AS phase,
    coalesce((SELECT sum(b.returned) FROM listing_batches b WHERE b.listing_id = l.listing_id), 0)::bigint AS listed,
    coalesce(e.done, 0)::bigint AS done, coalesce(e.failed, 0)::bigint AS failed, coalesce(e.total, 0)::bigint AS total
FROM sync_runs s LEFT JOIN listings l ON l.workflow_id = s.workflow_id
LEFT JOIN LATERAL (
    SELECT count(*) FILTER (WHERE x.state IN ('listed', 'open', 'requested')) AS open, count(*) FILTER (WHERE x.state IN ('done', 'excluded')) AS done,
           count(*) FILTER (WHERE x.state IN ('failed', 'not_settled')) AS failed, count(*) AS total
    FROM listing_entries x WHERE x.listing_id = l.listing_id AND x.kind = 'document' AND x.change IN ('new', 'changed', 'retry', 'revived')) e ON true
WHERE s.workflow_id = $1`

// RunProgress tells how far a run has come.
func (s *Store) RunProgress(ctx context.Context, workflowID string) (knowledge.RunProgress, error) {
	return one[knowledge.RunProgress](ctx, s, "read a run's progress", runProgress, workflowID)
}

const setMaintenance = `
WITH changed AS (UPDATE deployment SET maintenance = $1 WHERE maintenance <> $1 RETURNING 1)
INSERT INTO sync_events (kind, actor, data) SELECT 'maintenance', $2, jsonb_build_object('on', $1::boolean) FROM changed`

// SetMaintenance stops every start of a sync, or allows them again.
func (s *Store) SetMaintenance(ctx context.Context, on bool, actor string) error {
	_, err := exec(ctx, s, "set maintenance", setMaintenance, on, actor)
	return err
}
