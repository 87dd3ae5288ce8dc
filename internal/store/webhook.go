package store

import (
	"context"
	"time"

	"github.com/loresync/loresync/internal/knowledge"
)

const webhookState = `
SELECT c.name AS connection, c.source, coalesce(w.secret, '') AS secret, w.received_at, w.shown_at, w.confirmed_at
FROM connections c LEFT JOIN webhook_secrets w ON w.connection = c.name WHERE c.name = $1`

// WebhookSecret reads a connection's secret, to check a signature; ErrNotFound without such a connection.
func (s *Store) WebhookSecret(ctx context.Context, connection string) (knowledge.WebhookSecret, error) {
	return one[knowledge.WebhookSecret](ctx, s, "read a webhook's secret", webhookState, connection)
}

const keepWebhook = `SELECT accept_webhook_verification($1, $2, $3)`

// KeepWebhookSecret keeps the secret of a verification; false when the connection has another one and the sender did not sign
// with it.
func (s *Store) KeepWebhookSecret(ctx context.Context, connection, secret string, signed bool) (bool, error) {
	return scalar[bool](ctx, s, "keep a webhook's secret", keepWebhook, connection, secret, signed)
}

const showWebhook = `
WITH shown AS (
    UPDATE webhook_secrets SET shown_at = now() WHERE connection = $1 AND shown_at IS NULL RETURNING connection, secret
), noted AS (
    INSERT INTO sync_events (kind, actor, data) SELECT 'webhook_secret_shown', $2, jsonb_build_object('connection', connection) FROM shown
)
SELECT coalesce((SELECT secret FROM shown), '')`

// ShowWebhookSecret gives a secret that nobody has been shown yet, and notes who was; "" without one.
func (s *Store) ShowWebhookSecret(ctx context.Context, connection, actor string) (string, error) {
	return scalar[string](ctx, s, "show a webhook's secret", showWebhook, connection, actor)
}

const confirmWebhook = `UPDATE webhook_secrets SET confirmed_at = now() WHERE connection = $1 AND secret = $2 AND confirmed_at IS NULL`

// ConfirmWebhook notes that an event came that was signed with the connection's secret.
func (s *Store) ConfirmWebhook(ctx context.Context, connection, secret string) error {
	_, err := exec(ctx, s, "confirm a webhook", confirmWebhook, connection, secret)
	return err
}

const forgetWebhook = `
WITH gone AS (DELETE FROM webhook_secrets WHERE connection = $1 RETURNING connection),
noted AS (INSERT INTO sync_events (kind, actor, data) SELECT 'webhook_secret_forgotten', $2, jsonb_build_object('connection', connection) FROM gone)
SELECT count(*) > 0 FROM gone`

// ForgetWebhookSecret drops a connection's secret, so that the next verification is accepted; false when there was none.
func (s *Store) ForgetWebhookSecret(ctx context.Context, connection, actor string) (bool, error) {
	return scalar[bool](ctx, s, "forget a webhook's secret", forgetWebhook, connection, actor)
}

// A folder may know the object, know where it is said to hang, or neither; what only gives the tree its shape can't be read, and
// counts as unknown. Folders that are paused or deleted have no notices.
const noticeTargets = `
SELECT f.folder_id, f.generation::text AS generation, now() AS at, CASE WHEN p.kind = 'document' THEN p.page_id ELSE '' END AS page_id,
    f.root = $2 AS is_root,
    coalesce(p.tombstone_reason = 'source', false) AS hidden,
    coalesce(p.tombstone_reason = 'person' OR p.purging_at IS NOT NULL, false)
        OR covering_exclusion(f.folder_id, $2, coalesce(p.parent_source_id, $3)) IS NOT NULL AS excluded,
    coalesce(p.removal_rejected, false) AS removal_rejected, f.limits @> '{"comments": true}' AS comments,
    coalesce(up.page_id, '') AS parent_page_id,
    EXISTS (SELECT 1 FROM sync_runs s WHERE s.folder_id = f.folder_id AND s.kind = 'folder' AND s.mode <> 'dry_run'
            AND s.status IN ('running', 'completed', 'partial') AND s.listing_began_at >= $5) AS listed,
    EXISTS (SELECT 1 FROM sync_runs s WHERE s.folder_id = f.folder_id AND s.kind = 'folder' AND s.trigger = 'webhook'
            AND s.requested_at > now() - interval '1 minute' AND s.listing_began_at IS NOT NULL) AS asked
FROM folders f JOIN connections c ON c.name = f.connection
LEFT JOIN pages p ON p.folder_id = f.folder_id AND p.source_id = $2
LEFT JOIN pages up ON up.folder_id = f.folder_id AND up.source_id = $3 AND up.kind = 'document' AND up.tombstoned_at IS NULL
WHERE f.connection = $1 AND f.state = 'active' AND c.paused_at IS NULL AND NOT (SELECT maintenance FROM deployment)
  AND (cardinality($4::text[]) = 0 OR f.folder_id = ANY ($4))
ORDER BY f.folder_id`

// NoticeTargets tells what the active folders of a connection know about the object of a notice, for some of them or, with
// none named, all. Since is when the notice came, nil at the first look.
func (s *Store) NoticeTargets(
	ctx context.Context, connection string, n knowledge.Notice, folders []string, since *time.Time,
) ([]knowledge.NoticeTarget, error) {
	return list[knowledge.NoticeTarget](ctx, s, "look who knows an object", noticeTargets, connection, n.SourceID, n.ParentSourceID, nonNil(folders), since)
}

const livePagesBelow = `
WITH RECURSIVE below AS (
    SELECT p.page_id, p.source_id, p.tombstoned_at, p.removal_rejected FROM pages p WHERE p.folder_id = $1 AND p.parent_source_id = $2
    UNION
    SELECT p.page_id, p.source_id, p.tombstoned_at, p.removal_rejected
    FROM below b JOIN pages p ON p.folder_id = $1 AND p.parent_source_id = b.source_id
)
SELECT page_id, source_id FROM below WHERE source_id <> $2 AND tombstoned_at IS NULL AND NOT removal_rejected ORDER BY page_id LIMIT $3`

// PagesBelow gives up to bound visible pages below an object, at any depth, whose removal nobody has rejected.
func (s *Store) PagesBelow(ctx context.Context, folder, sourceID string, bound int) ([]knowledge.Lost, error) {
	return list[knowledge.Lost](ctx, s, "read the pages below", livePagesBelow, folder, sourceID, bound)
}

const removeToldPages = `SELECT outcome, gone FROM remove_told_pages($1, $2, $3, $4, $5, $6, $7)`

// RemoveToldPages hides pages that the source said are gone, and confirmed, at most 500 at once. Pages that were read since the
// source was asked stay.
func (s *Store) RemoveToldPages(ctx context.Context, r knowledge.ToldRemoval) (knowledge.ToldRemoved, error) {
	return one[knowledge.ToldRemoved](ctx, s, "remove pages that were told gone", removeToldPages, r.FolderID, r.PageIDs, r.Generation, r.Since, r.Undo,
		r.Recent, r.Approved)
}
