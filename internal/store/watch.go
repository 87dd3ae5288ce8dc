package store

import (
	"context"
	"time"

	"github.com/loresync/loresync/internal/knowledge"
)

// Folders that are paused or deleted need no log, nor do those that were never listed.
const watchedFolders = `
SELECT f.folder_id, f.source, f.connection, l.checkpoint
FROM folders f JOIN connections c ON c.name = f.connection JOIN folder_listings l ON l.folder_id = f.folder_id
WHERE f.state = 'active' AND c.paused_at IS NULL AND l.checkpoint <> '' ORDER BY f.connection, f.folder_id`

// WatchedFolders gives the active folders that have a checkpoint.
func (s *Store) WatchedFolders(ctx context.Context) ([]knowledge.WatchedFolder, error) {
	return list[knowledge.WatchedFolder](ctx, s, "read the folders with a checkpoint", watchedFolders)
}

const maintenance = `SELECT maintenance FROM deployment`

// Maintenance tells whether every start is stopped.
func (s *Store) Maintenance(ctx context.Context) (bool, error) {
	return scalar[bool](ctx, s, "look for maintenance", maintenance)
}

// All that decides stands in the row that is locked, so of two claims at once the second sees what the first has made of it.
const claimWatch = `
WITH claimed AS (
    INSERT INTO watched_logs AS w (connection, log, claim, claimed_until) VALUES ($1, $2, $3::uuid, now() + $6::interval)
    ON CONFLICT (connection, log) DO UPDATE SET claim = excluded.claim, claimed_until = excluded.claimed_until
    WHERE (w.claimed_until IS NULL OR w.claimed_until <= now()) AND w.next_try_at <= now()
      AND (w.renew_at IS NULL OR w.renew_at <= now() OR w.address <> $5)
    RETURNING connection, log
), added AS (
    INSERT INTO watch_channels (channel_id, connection, log, token_hash, address, expires_at)
    SELECT $3::uuid, connection, log, $4, $5, now() + $7::interval FROM claimed RETURNING 1
)
SELECT count(*) > 0 FROM added`

// ClaimWatch makes the caller the only one, over all processes, that opens a channel on a log, and records the channel before
// the source is asked: its first call may come before the source's answer. False when the log has a channel at that address that
// isn't due for renewal, when another is at it, or before it is time for the next try.
func (s *Store) ClaimWatch(ctx context.Context, c knowledge.WatchClaim) (bool, error) {
	return scalar[bool](ctx, s, "claim the opening of a channel", claimWatch, c.Connection, c.Log, c.ChannelID, c.TokenHash, c.Address, c.Lasting, c.Life)
}

const openWatch = `SELECT open_watch_channel($1::uuid, $2, coalesce($3, now() + $4::interval))`

// untoldLife is how long a channel is taken to be open whose source doesn't say: Drive's default.
const untoldLife = time.Hour

// OpenWatch makes an open channel the one that counts, and retires the one before. Zero expires means that the source didn't tell.
// The outcome is next, first (there was none that was open until now) or late: another has taken the claim over, and it is this one
// that is retired.
func (s *Store) OpenWatch(ctx context.Context, channelID, resourceID string, expires time.Time) (outcome string, err error) {
	var ends *time.Time
	if !expires.IsZero() {
		ends = &expires
	}
	return scalar[string](ctx, s, "keep an open channel", openWatch, channelID, resourceID, ends, untoldLife)
}

// The wait doubles from a minute to an hour. A channel that may be open all the same is kept, to be stopped once its first call
// tells how the source names it.
const failWatch = `
WITH failed AS (
    UPDATE watched_logs w SET claim = NULL, claimed_until = NULL, failures = w.failures + 1, failed_at = now(), sentence = $2,
        next_try_at = now() + greatest(least(interval '1 minute' * power(2, least(w.failures, 10)), interval '1 hour'), $4::interval)
    WHERE w.claim = $1::uuid RETURNING 1
), kept AS (
    UPDATE watch_channels SET retired_at = now() WHERE channel_id = $1::uuid AND NOT $3 AND retired_at IS NULL RETURNING 1
)
DELETE FROM watch_channels WHERE channel_id = $1::uuid AND $3`

// FailWatch ends a claim without a channel, and notes why.
func (s *Store) FailWatch(ctx context.Context, f knowledge.WatchFailure) error {
	_, err := exec(ctx, s, "note that a channel did not open", failWatch, f.ChannelID, f.Sentence, f.Refused, f.RetryAfter)
	return err
}

// A log that somebody is opening a channel on is left for the next time.
const retireWatches = `
WITH unneeded AS (
    DELETE FROM watched_logs w
    WHERE (w.claimed_until IS NULL OR w.claimed_until <= now()) AND w.connection <> ALL ($3)
      AND NOT EXISTS (SELECT 1 FROM unnest($1::text[], $2::text[]) AS needed (connection, log) WHERE needed.connection = w.connection AND needed.log = w.log)
    RETURNING w.connection, w.log
)
UPDATE watch_channels c SET retired_at = now() FROM unneeded u WHERE c.connection = u.connection AND c.log = u.log AND c.retired_at IS NULL`

// RetireWatches retires the channels of all logs but those that are needed, given as pairs. Connections whose needs aren't known
// now keep what they have.
func (s *Store) RetireWatches(ctx context.Context, connections, logs, unknown []string) error {
	_, err := exec(ctx, s, "retire channels", retireWatches, nonNil(connections), nonNil(logs), nonNil(unknown))
	return err
}

// Among them are channels whose opening nobody ended, once a call has told how the source names them.
const takeIdleChannels = `
UPDATE watch_channels c SET stop_tries = c.stop_tries + 1,
    stop_after = now() + least(interval '1 minute' * power(2, least(c.stop_tries, 10)), interval '6 hours')
FROM (SELECT x.channel_id, n.source FROM watch_channels x JOIN connections n ON n.name = x.connection
      WHERE x.stopped_at IS NULL AND x.expires_at > now() AND x.stop_after <= now() AND x.resource_id <> ''
        AND (x.retired_at IS NOT NULL OR x.opened_at IS NULL
             AND NOT EXISTS (SELECT 1 FROM watched_logs w WHERE w.claim = x.channel_id AND w.claimed_until > now()))
      ORDER BY x.stop_after LIMIT $1 FOR UPDATE OF x SKIP LOCKED) idle
WHERE c.channel_id = idle.channel_id
RETURNING c.channel_id::text AS channel_id, c.connection, idle.source, c.resource_id`

// TakeIdleChannels gives up to bound channels that are to be stopped, and makes them due again later, in case that fails.
func (s *Store) TakeIdleChannels(ctx context.Context, bound int) ([]knowledge.IdleChannel, error) {
	return list[knowledge.IdleChannel](ctx, s, "take idle channels", takeIdleChannels, bound)
}

const stopChannel = `UPDATE watch_channels SET stopped_at = now() WHERE channel_id = $1::uuid`

// StopChannel notes that the source has closed a channel. Its calls that are under way are still taken.
func (s *Store) StopChannel(ctx context.Context, channelID string) error {
	_, err := exec(ctx, s, "note that a channel is stopped", stopChannel, channelID)
	return err
}

// The channel that counts stays until another takes its place: people are told that it has ended.
const dropEndedChannels = `
DELETE FROM watch_channels c WHERE c.expires_at < now() - interval '1 day'
  AND NOT EXISTS (SELECT 1 FROM watched_logs w WHERE w.connection = c.connection AND w.log = c.log AND w.channel_id = c.channel_id)`

// DropEndedChannels removes channels that the source closed by itself long ago.
func (s *Store) DropEndedChannels(ctx context.Context) (int64, error) {
	return exec(ctx, s, "drop ended channels", dropEndedChannels)
}

const watchChannel = `
SELECT c.channel_id::text AS channel_id, c.connection, n.source, c.log, c.token_hash, c.resource_id, c.expires_at <= now() AS expired, now() AS now
FROM watch_channels c JOIN connections n ON n.name = c.connection WHERE c.channel_id = $1::uuid`

// WatchChannel finds the channel that a call names; ErrNotFound without one.
func (s *Store) WatchChannel(ctx context.Context, channelID string) (knowledge.WatchChannel, error) {
	return one[knowledge.WatchChannel](ctx, s, "find a channel", watchChannel, channelID)
}

// Of many calls in a second one writes.
const noteCall = `
UPDATE watch_channels SET heard_at = now(), confirmed_at = coalesce(confirmed_at, now()),
    resource_id = CASE WHEN resource_id = '' THEN $2 ELSE resource_id END
WHERE channel_id = $1::uuid AND (heard_at IS NULL OR heard_at < now() - interval '1 second')`

// NoteCall notes that a call came that was proved by the channel's token, and how the source names what is watched.
func (s *Store) NoteCall(ctx context.Context, channelID, resourceID string) error {
	_, err := exec(ctx, s, "note a call", noteCall, channelID, resourceID)
	return err
}

const watches = `
SELECT w.log, coalesce(w.address, '') AS address, c.opened_at, w.renew_at, c.expires_at, c.confirmed_at,
    (SELECT max(x.heard_at) FROM watch_channels x WHERE x.connection = w.connection AND x.log = w.log) AS heard_at,
    w.failures, w.failed_at, w.sentence, CASE WHEN w.failures > 0 THEN w.next_try_at END AS next_try_at,
    CASE WHEN c.expires_at <= now() THEN 'expired' WHEN c.confirmed_at IS NOT NULL THEN 'active' WHEN c.channel_id IS NOT NULL THEN 'waiting'
         WHEN w.failures > 0 THEN 'failed' ELSE 'opening' END AS state
FROM watched_logs w LEFT JOIN watch_channels c ON c.channel_id = w.channel_id
WHERE w.connection = $1 ORDER BY w.log`

// Watches tells how far the logs of a connection are watched.
func (s *Store) Watches(ctx context.Context, connection string) ([]knowledge.Watch, error) {
	return list[knowledge.Watch](ctx, s, "read the channels", watches, connection)
}

// A full listing counts as well as an incremental one: both see what the log has. A dry run reads nothing.
const logTargets = `
SELECT f.folder_id, f.source, f.connection, l.checkpoint, now() AS at,
    EXISTS (SELECT 1 FROM sync_runs s WHERE s.folder_id = f.folder_id AND s.kind = 'folder' AND s.mode <> 'dry_run'
            AND s.status IN ('running', 'completed', 'partial') AND s.listing_began_at >= $3) AS listed,
    EXISTS (SELECT 1 FROM sync_runs s JOIN listings x ON x.workflow_id = s.workflow_id
            WHERE s.folder_id = f.folder_id AND s.kind = 'folder' AND s.mode <> 'dry_run' AND s.status = 'running' AND x.completed_at IS NULL) AS listing,
    EXISTS (SELECT 1 FROM sync_runs s WHERE s.folder_id = f.folder_id AND s.kind = 'folder' AND s.trigger = 'webhook'
            AND s.listing_began_at > now() - $4::interval) AS asked
FROM folders f JOIN connections c ON c.name = f.connection JOIN folder_listings l ON l.folder_id = f.folder_id
WHERE f.connection = $1 AND f.state = 'active' AND c.paused_at IS NULL AND NOT (SELECT maintenance FROM deployment) AND l.checkpoint <> ''
  AND (cardinality($2::text[]) = 0 OR f.folder_id = ANY ($2))
ORDER BY f.folder_id`

// LogTargets gives the active folders of a connection that have a checkpoint, some of them or, with none named, all, and what
// became of their listings since a moment (nil: none counts) and within the last while.
func (s *Store) LogTargets(
	ctx context.Context, connection string, folders []string, since *time.Time, lately time.Duration,
) ([]knowledge.LogTarget, error) {
	return list[knowledge.LogTarget](ctx, s, "look who needs a log", logTargets, connection, nonNil(folders), since, lately)
}
