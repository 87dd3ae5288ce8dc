package store

import (
	"context"
	"time"

	"github.com/loresync/loresync/internal/knowledge"
)

// OAuthToken is a connection's pair of tokens, encrypted, and what Postgres' clock says of it.
type OAuthToken struct {
	// Generation names this pair; every renewal draws another.
	Generation string
	// Access is encrypted; so is Refresh, which is nil when the source gave none.
	Access, Refresh []byte
	// Stale is true when the access token ends within a minute, as far as the source told when it ends.
	Stale bool
	// Young is true when the pair came from a renewal less than a minute ago.
	Young bool
	// Refused is true when the source said that the refresh token is dead.
	Refused bool
	// InDoubt is true when a renewal of this pair went out and its end was never seen.
	InDoubt bool
}

// OAuthSealed is a new pair of tokens, encrypted.
type OAuthSealed struct {
	// Generation is a new UUID.
	Generation string
	// Access is never empty; Refresh is nil when there is none.
	Access, Refresh []byte
	// ExpiresIn is how long the access token is good from now; 0 when the source didn't tell.
	ExpiresIn time.Duration
	// Account is what the source calls the account, for people.
	Account string
}

const oauthToken = `
SELECT generation::text AS generation, access_sealed AS access, refresh_sealed AS refresh,
       coalesce(expires_at < now() + interval '1 minute', false) AS stale,
       coalesce(refreshed_at > now() - interval '1 minute', false) AS young,
       refused_at IS NOT NULL AS refused, in_doubt OR coalesce(claimed_until <= now(), false) AS in_doubt
FROM oauth_tokens WHERE connection = $1`

// OAuthToken gives a connection's tokens; ErrNotFound when it was never authorized.
func (s *Store) OAuthToken(ctx context.Context, connection string) (OAuthToken, error) {
	return one[OAuthToken](ctx, s, "read a connection's tokens", oauthToken, connection)
}

// A state is swept an hour after its end: an exchange that began in time may take longer.
const beginAuthorization = `
WITH swept AS (DELETE FROM oauth_states WHERE expires_at < now() - interval '1 hour')
INSERT INTO oauth_states (state_hash, connection, expires_at) VALUES ($2, $1, now() + $3::interval) RETURNING expires_at`

// BeginAuthorization notes that a person was sent to the source, and gives the time at which the state stops being good.
func (s *Store) BeginAuthorization(ctx context.Context, connection string, stateHash []byte, lasting time.Duration) (time.Time, error) {
	return scalar[time.Time](ctx, s, "begin an authorization", beginAuthorization, connection, stateHash, lasting)
}

// PendingAuthorization is one that a person has begun and that is still good.
type PendingAuthorization struct {
	Connection string
	StateHash  []byte
}

const authorizationByState = `SELECT connection, state_hash FROM oauth_states WHERE state_hash = $1 AND expires_at > now()`

// AuthorizationByState finds the authorization that a state belongs to; ErrNotFound when it was used, has expired or never was.
func (s *Store) AuthorizationByState(ctx context.Context, stateHash []byte) (PendingAuthorization, error) {
	return one[PendingAuthorization](ctx, s, "find an authorization", authorizationByState, stateHash)
}

const newestAuthorization = `
SELECT connection, state_hash FROM oauth_states WHERE connection = $1 AND expires_at > now() ORDER BY expires_at DESC LIMIT 1`

// NewestAuthorization gives the authorization of a connection that was begun last; ErrNotFound when none is good.
func (s *Store) NewestAuthorization(ctx context.Context, connection string) (PendingAuthorization, error) {
	return one[PendingAuthorization](ctx, s, "find an authorization", newestAuthorization, connection)
}

// The connection goes on by itself only if the refused credentials are what paused it. A connection that got a secret reference
// meanwhile keeps that.
const keepAuthorization = `
WITH asked AS (
    DELETE FROM oauth_states s USING connections c
    WHERE s.state_hash = $2 AND s.connection = $1 AND c.name = s.connection AND c.secret_ref = '' RETURNING s.connection
), kept AS (
    INSERT INTO oauth_tokens AS t (connection, generation, access_sealed, refresh_sealed, expires_at, account, authorized_by)
    SELECT connection, $3::uuid, $4, $5, now() + $6::interval, $7, $8 FROM asked
    ON CONFLICT (connection) DO UPDATE SET generation = excluded.generation, access_sealed = excluded.access_sealed,
        refresh_sealed = excluded.refresh_sealed, expires_at = excluded.expires_at, account = excluded.account, authorized_at = now(),
        authorized_by = excluded.authorized_by, refreshed_at = NULL, claim = NULL, claimed_until = NULL, in_doubt = false, refused_at = NULL
    RETURNING connection
), resumed AS (
    UPDATE connections c SET paused_at = NULL, pause_reason = '' FROM kept
    WHERE c.name = kept.connection AND c.paused_at IS NOT NULL AND starts_with(c.pause_reason, $9) RETURNING c.name
), noted AS (
    INSERT INTO sync_events (kind, actor, data)
    SELECT 'connection_authorized', $8, jsonb_build_object('connection', connection) FROM kept
    UNION ALL SELECT 'connection_resumed', $8, jsonb_build_object('connection', name) FROM resumed
)
SELECT count(*) > 0 FROM kept`

// KeepAuthorization stores the tokens of a consent in the place of older ones, uses its state up, and lets a connection go on that
// was paused because its credentials were refused. False, and nothing is stored, when the state was used meanwhile or the
// connection was given a secret of its own.
func (s *Store) KeepAuthorization(ctx context.Context, pending PendingAuthorization, sealed OAuthSealed, actor string) (bool, error) {
	return scalar[bool](ctx, s, "keep an authorization", keepAuthorization, pending.Connection, pending.StateHash,
		sealed.Generation, sealed.Access, sealed.Refresh, told(sealed.ExpiresIn), sealed.Account, actor, knowledge.PausedByToken)
}

// told is nil for a time that the source didn't tell.
func told(d time.Duration) *time.Duration {
	if d <= 0 {
		return nil
	}
	return &d
}
