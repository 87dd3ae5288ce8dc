package store

import (
	"context"
	"encoding/json"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/loresync/loresync/internal/knowledge"
)

type folderRow struct {
	ID, Source, Root, Connection, Title, State, Owner                        string
	SyncInterval                                                             time.Duration
	Limits, Readers                                                          json.RawMessage
	CreatedAt                                                                time.Time
	DeletedAt, PurgeAt, LastSyncAt                                           *time.Time
	Live, Pending, Skipped, Excluded, Tombstoned, Failed, HeldPages, Syncing int64
}

func (r folderRow) folder() knowledge.Folder {
	return knowledge.Folder{
		ID: r.ID, Source: r.Source, Root: r.Root, Connection: r.Connection, Title: r.Title, State: r.State, Owner: r.Owner,
		SyncInterval: r.SyncInterval, Interval: shortDuration(r.SyncInterval), Limits: r.Limits, Readers: r.Readers,
		CreatedAt: r.CreatedAt, DeletedAt: r.DeletedAt, PurgeAt: r.PurgeAt, LastSyncAt: r.LastSyncAt,
		Pages: knowledge.PageCounts{
			Live: r.Live, Pending: r.Pending, Skipped: r.Skipped, Excluded: r.Excluded, Tombstoned: r.Tombstoned, Failed: r.Failed,
			Held: r.HeldPages, Syncing: r.Syncing,
		},
	}
}

// A folder whose connection is paused acts as a paused one, so that is what people see. Runs outlive their folder: those of
// an earlier folder of the same id don't count.
const folders = `
SELECT f.folder_id AS id, f.source, f.root, f.connection, f.title, f.owner, f.sync_interval, f.limits, f.readers, f.created_at,
    f.deleted_at, f.purge_at, CASE WHEN f.state = 'active' AND c.paused_at IS NOT NULL THEN 'paused' ELSE f.state END AS state,
    (SELECT max(r.ended_at) FROM sync_runs r WHERE r.folder_id = f.folder_id AND r.kind = 'folder' AND r.mode <> 'dry_run'
       AND r.status IN ('completed', 'partial') AND r.requested_at >= f.created_at) AS last_sync_at,
    n.live, n.pending, n.skipped, n.excluded, n.tombstoned, n.failed, n.syncing,
    (SELECT count(*) FROM hold_pages hp JOIN holds h ON h.hold_id = hp.hold_id
     WHERE h.folder_id = f.folder_id AND h.state = 'open' AND f.deleted_at IS NULL) AS held_pages
FROM folders f
JOIN connections c ON c.name = f.connection
CROSS JOIN LATERAL (
    SELECT count(*) FILTER (WHERE s.state = 'live' AND f.deleted_at IS NULL) AS live,
        count(*) FILTER (WHERE s.state = 'pending' AND f.deleted_at IS NULL) AS pending,
        count(*) FILTER (WHERE s.state = 'skipped' AND f.deleted_at IS NULL) AS skipped,
        count(*) FILTER (WHERE s.state = 'excluded' OR f.deleted_at IS NOT NULL) AS excluded,
        count(*) FILTER (WHERE s.state = 'tombstoned' AND f.deleted_at IS NULL) AS tombstoned,
        count(*) FILTER (WHERE s.failure_class IS NOT NULL AND s.state NOT IN ('excluded', 'tombstoned') AND f.deleted_at IS NULL) AS failed,
        count(*) FILTER (WHERE s.running) AS syncing
    FROM page_states s WHERE s.folder_id = f.folder_id AND s.kind = 'document') n
WHERE $1 = '' OR f.folder_id = $1
ORDER BY f.folder_id`

// Folders gives all folders, deleted ones that are not purged yet included.
func (s *Store) Folders(ctx context.Context) ([]knowledge.Folder, error) {
	return s.readFolders(ctx, "read the folders", "")
}

// Folder gives one folder; ErrNotFound without one.
func (s *Store) Folder(ctx context.Context, id string) (knowledge.Folder, error) {
	const doing = "read a folder"
	found, err := s.readFolders(ctx, doing, id)
	switch {
	case err != nil:
		return knowledge.Folder{}, err
	case id == "" || len(found) == 0:
		return knowledge.Folder{}, wrap(doing, pgx.ErrNoRows)
	}
	return found[0], nil
}

func (s *Store) readFolders(ctx context.Context, doing, id string) ([]knowledge.Folder, error) {
	rows, err := list[folderRow](ctx, s, doing, folders, id)
	found := make([]knowledge.Folder, len(rows))
	for i, row := range rows {
		found[i] = row.folder()
	}
	return found, err
}

// FolderPlace is what is needed to ask a folder's source about it.
type FolderPlace struct {
	FolderID, Source, Connection, Root, State string
	Limits                                    json.RawMessage
	DeletedAt, PurgeAt                        *time.Time
}

const folderPlaces = `
SELECT f.folder_id, f.source, f.connection, f.root, f.state, f.limits, f.deleted_at, f.purge_at FROM folders f
WHERE ($1 = '' OR f.folder_id = $1) AND ($2 = '' OR f.connection = $2) ORDER BY f.folder_id`

// FolderPlace reads where a folder's pages come from; ErrNotFound without one.
func (s *Store) FolderPlace(ctx context.Context, id string) (FolderPlace, error) {
	const doing = "read where a folder is"
	if id == "" {
		return FolderPlace{}, wrap(doing, pgx.ErrNoRows)
	}
	return one[FolderPlace](ctx, s, doing, folderPlaces, id, "")
}

// FolderPlaces reads where the pages of all folders of a connection come from; "" means every connection.
func (s *Store) FolderPlaces(ctx context.Context, connection string) ([]FolderPlace, error) {
	return list[FolderPlace](ctx, s, "read the folders' roots", folderPlaces, "", connection)
}

// What was synced from another root before, or restored, is known by no listing of the present root. A container is never
// tombstoned itself: it is there as long as a document is below it.
const knownRoots = `
SELECT w.folder_id, w.source_id FROM unnest($1::text[], $2::text[]) AS w (folder_id, source_id)
JOIN folders f ON f.folder_id = w.folder_id
JOIN pages p ON p.folder_id = w.folder_id AND p.source_id = w.source_id
WHERE EXISTS (SELECT 1 FROM listings l WHERE l.folder_id = f.folder_id AND l.folder_generation = f.generation AND NOT l.dry_run AND l.completed_at IS NOT NULL)
  AND CASE WHEN p.kind = 'document' THEN p.tombstoned_at IS NULL AND p.unseen_since IS NULL
           ELSE EXISTS (SELECT 1 FROM pages_below(p.folder_id, p.source_id) b
                        WHERE b.kind = 'document' AND b.tombstoned_at IS NULL AND b.unseen_since IS NULL) END`

// FolderRoot is a source id that is the root of one folder, looked for among the pages of another.
type FolderRoot struct{ FolderID, SourceID string }

// KnownRoots gives those of some source ids that a folder knows as a page or a container of its own, as of its last listing.
func (s *Store) KnownRoots(ctx context.Context, sought []FolderRoot) ([]FolderRoot, error) {
	if len(sought) == 0 {
		return nil, nil
	}
	folders, sources := make([]string, len(sought)), make([]string, len(sought))
	for i, r := range sought {
		folders[i], sources[i] = r.FolderID, r.SourceID
	}
	return list[FolderRoot](ctx, s, "look for roots below roots", knownRoots, folders, sources)
}

// NewFolder is a folder to be registered.
type NewFolder struct {
	ID, Source, Connection, Root, Title, Owner string
}

const addFolder = `
WITH added AS (
    INSERT INTO folders (folder_id, source, connection, root, title, owner) VALUES ($1, $2, $3, $4, $5, $6)
    ON CONFLICT (folder_id) DO NOTHING RETURNING folder_id
), noted AS (
    INSERT INTO sync_events (kind, folder_id, actor, data)
    SELECT 'folder_added', folder_id, $7, jsonb_build_object('source', $2::text) FROM added
)
SELECT count(*) > 0 FROM added`

// AddFolder registers a folder; false when its id is taken, by a deleted one too.
func (s *Store) AddFolder(ctx context.Context, f NewFolder, actor string) (bool, error) {
	return scalar[bool](ctx, s, "register a folder", addFolder, f.ID, f.Source, f.Connection, f.Root, f.Title, f.Owner, actor)
}

// FolderChange is what to change of a folder; nil keeps what is there.
type FolderChange struct {
	// Root re-scopes the folder: whatever is under way for the old root can't publish any more.
	Root            *string
	Title, Owner    *string
	Interval        *time.Duration
	Readers, Limits *json.RawMessage
}

const (
	closeGate = `SELECT pg_advisory_xact_lock(fence_key($1))`

	setFolder = `
UPDATE folders SET root = coalesce($2, root), generation = CASE WHEN $2 <> root THEN gen_random_uuid() ELSE generation END,
    title = coalesce($3, title), owner = coalesce($4, owner), sync_interval = coalesce($5, sync_interval),
    readers = coalesce($6, readers), limits = coalesce($7, limits)
WHERE folder_id = $1 AND deleted_at IS NULL`

	// What runs read another root, or was told to stop before: either way its generation is no longer the folder's.
	cancelOtherGenerations = `
UPDATE in_flight i SET cancel_requested = true FROM folders f
WHERE i.folder_id = $1 AND f.folder_id = $1 AND i.folder_generation <> f.generation`

	// The checkpoint, and when pages were last seen, belong to the root that was listed.
	forgetOtherListings = `
DELETE FROM folder_listings x USING folders f, listings l
WHERE x.folder_id = $1 AND f.folder_id = $1 AND l.listing_id = x.listing_id AND l.folder_generation <> f.generation`

	// Not having been seen below another root is no evidence.
	forgetAllStrikes = `UPDATE pages SET strikes = 0, unseen_since = NULL WHERE folder_id = $1 AND unseen_since IS NOT NULL`

	noteFolderSet = `
INSERT INTO sync_events (kind, folder_id, actor, data)
SELECT 'folder_set', f.folder_id, $2, jsonb_build_object('fields', $3::text[]) FROM folders f WHERE f.folder_id = $1 AND f.deleted_at IS NULL`
)

// SetFolder changes a folder; false when there is none, or when it is deleted. It is one batch, so one round trip and one
// transaction, behind the folder's gate: no sync begins or publishes in the middle.
func (s *Store) SetFolder(ctx context.Context, id string, c FolderChange, actor string) (bool, error) {
	batch := &pgx.Batch{}
	batch.Queue(closeGate, id)
	found := false
	batch.Queue(setFolder, id, c.Root, c.Title, c.Owner, c.Interval, c.Readers, c.Limits).Exec(func(tag pgconn.CommandTag) error {
		found = tag.RowsAffected() > 0
		return nil
	})
	if c.Root != nil {
		batch.Queue(cancelOtherGenerations, id)
		batch.Queue(forgetOtherListings, id)
		batch.Queue(forgetAllStrikes, id)
	}
	batch.Queue(noteFolderSet, id, actor, c.fields())
	return found, wrap("change a folder", s.pool.SendBatch(ctx, batch).Close())
}

// fields names what changes, without the values: events hold no content.
func (c FolderChange) fields() []string {
	names := []string{}
	for _, field := range []struct {
		name string
		set  bool
	}{
		{"root", c.Root != nil},
		{"title", c.Title != nil},
		{"owner", c.Owner != nil},
		{"interval", c.Interval != nil},
		{"readers", c.Readers != nil},
		{"limits", c.Limits != nil},
	} {
		if field.set {
			names = append(names, field.name)
		}
	}
	return names
}

const pauseFolder = `
WITH changed AS (
    UPDATE folders SET paused_at = CASE WHEN $2 THEN now() END
    WHERE folder_id = $1 AND deleted_at IS NULL AND (paused_at IS NULL) = $2 RETURNING folder_id
)
INSERT INTO sync_events (kind, folder_id, actor)
SELECT CASE WHEN $2 THEN 'folder_paused' ELSE 'folder_resumed' END, folder_id, $3 FROM changed`

// PauseFolder pauses a folder or lets it go on; false when it was so already, or when there is no such folder.
func (s *Store) PauseFolder(ctx context.Context, id string, paused bool, actor string) (bool, error) {
	n, err := exec(ctx, s, "pause or resume a folder", pauseFolder, id, paused, actor)
	return n > 0, err
}

// shortDuration writes 15m rather than 15m0s.
func shortDuration(d time.Duration) string {
	text := d.String()
	if strings.HasSuffix(text, "m0s") {
		text = strings.TrimSuffix(text, "0s")
	}
	if strings.HasSuffix(text, "h0m") {
		text = strings.TrimSuffix(text, "0m")
	}
	return text
}
