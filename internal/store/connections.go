package store

import (
	"context"
	"time"

	"github.com/loresync/loresync/internal/knowledge"
)

// Connection is one connection row.
type Connection struct {
	KeyInUse

	Name, Source, SecretRef, PauseReason string
	// Subject is as whom a service account with domain-wide delegation reads; empty for the account itself.
	Subject  string
	PausedAt *time.Time
}

const connections = `
SELECT c.name, c.source, c.secret_ref, c.subject, c.pause_reason, c.paused_at, coalesce(CASE WHEN t.connection IS NULL THEN k.key_digest END, '') AS key_digest,
    CASE WHEN t.connection IS NULL THEN coalesce(k.origin, '') ELSE 'the consent of ' || t.authorized_by END AS key_origin,
    coalesce(t.account, k.identity, '') AS identity, CASE WHEN t.connection IS NULL THEN k.used_since ELSE t.authorized_at END AS key_since
FROM connections c LEFT JOIN oauth_tokens t ON t.connection = c.name AND c.secret_ref = ''
LEFT JOIN LATERAL (SELECT x.key_digest, x.origin, x.identity, x.used_since FROM connection_keys x
                   WHERE x.connection = c.name AND x.used_since IS NOT NULL ORDER BY x.used_since DESC LIMIT 1) k ON true
WHERE $1 = '' OR c.name = $1 ORDER BY c.name`

// Connections gives all connections.
func (s *Store) Connections(ctx context.Context) ([]Connection, error) {
	return list[Connection](ctx, s, "read the connections", connections, "")
}

// Connection gives one connection; ErrNotFound without one.
func (s *Store) Connection(ctx context.Context, name string) (Connection, error) {
	return one[Connection](ctx, s, "read a connection", connections, name)
}

const addConnection = `
WITH added AS (
    INSERT INTO connections (name, source, secret_ref, subject) VALUES ($1, $2, $3, $4) ON CONFLICT (name) DO NOTHING RETURNING name
), noted AS (
    INSERT INTO sync_events (kind, actor, data) SELECT 'connection_added', $5, jsonb_build_object('connection', name) FROM added
)
SELECT count(*) > 0 FROM added`

// AddConnection records a connection by its name, source, secret reference and subject; false when its name is taken.
func (s *Store) AddConnection(ctx context.Context, c Connection, actor string) (bool, error) {
	return scalar[bool](ctx, s, "record a connection", addConnection, c.Name, c.Source, c.SecretRef, c.Subject, actor)
}

const pauseConnection = `
WITH changed AS (
    UPDATE connections SET paused_at = CASE WHEN $2 THEN now() END, pause_reason = CASE WHEN $2 THEN $3 ELSE '' END
    WHERE name = $1 AND (paused_at IS NULL) = $2 RETURNING name
)
INSERT INTO sync_events (kind, actor, data)
SELECT CASE WHEN $2 THEN 'connection_paused' ELSE 'connection_resumed' END, $4, jsonb_build_object('connection', name) FROM changed`

// PauseConnection pauses a connection, and so its folders, or lets it go on; false when it was so already, or when there is
// no such connection.
func (s *Store) PauseConnection(ctx context.Context, name string, paused bool, reason, actor string) (bool, error) {
	n, err := exec(ctx, s, "pause or resume a connection", pauseConnection, name, paused, reason, actor)
	return n > 0, err
}

const connectionFolders = `SELECT folder_id FROM folders WHERE connection = $1 AND state = 'active' ORDER BY folder_id`

// FoldersOf gives the folders of a connection that are neither paused nor deleted themselves.
func (s *Store) FoldersOf(ctx context.Context, connection string) ([]string, error) {
	return folderIDs(list[struct{ FolderID string }](ctx, s, "read a connection's folders", connectionFolders, connection))
}

const refusedConnections = `
SELECT DISTINCT ON (c.name) c.name, c.source, f.folder_id, f.root, f.limits
FROM connections c JOIN folders f ON f.connection = c.name AND f.deleted_at IS NULL
WHERE c.paused_at IS NOT NULL AND starts_with(c.pause_reason, $1) ORDER BY c.name, f.folder_id`

// RefusedConnections gives the connections that were paused because their source refused the credentials.
func (s *Store) RefusedConnections(ctx context.Context) ([]knowledge.RefusedConnection, error) {
	return list[knowledge.RefusedConnection](ctx, s, "read refused connections", refusedConnections, knowledge.PausedByToken)
}
