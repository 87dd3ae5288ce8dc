package store

import (
	"context"
	"time"
)

// Token is an API token without its secret, which isn't kept.
type Token struct {
	TokenID, Name, Role string
	Folders             []string
	CreatedAt           time.Time
	CreatedBy           string
	LastUsedAt          *time.Time
	ExpiresAt           *time.Time
	RevokedAt           *time.Time
	RevokedBy           string
	// Expired is whether its time is over, by Postgres' clock.
	Expired bool
}

//nolint:gosec // names of columns, no secret
const tokenColumns = `token_id, name, role, folders, created_at, created_by, last_used_at, expires_at, revoked_at, revoked_by,
    coalesce(expires_at <= now(), false) AS expired`

// NewToken is an API token to be recorded.
type NewToken struct {
	TokenID, Name, Role string
	SecretHash          []byte
	Folders             []string
	// Life is how long it counts; nil means until it is revoked.
	Life *time.Duration
}

const addToken = `
WITH added AS (
    INSERT INTO api_tokens (token_id, name, secret_hash, role, folders, expires_at, created_by)
    VALUES ($1, $2, $3, $4, $5, now() + $6::interval, $7) ON CONFLICT (name) WHERE revoked_at IS NULL DO NOTHING RETURNING ` + tokenColumns + `
), noted AS (
    INSERT INTO sync_events (kind, actor, data)
    SELECT 'token_added', created_by, jsonb_build_object('token_id', token_id, 'name', name, 'role', role, 'folders', folders) FROM added
)
SELECT * FROM added`

// AddToken records an API token; ErrNotFound when its name is taken by one that isn't revoked.
func (s *Store) AddToken(ctx context.Context, t NewToken, actor string) (Token, error) {
	return one[Token](ctx, s, "record a token", addToken, t.TokenID, t.Name, t.SecretHash, t.Role, nonNil(t.Folders), t.Life, actor)
}

const tokens = `SELECT ` + tokenColumns + ` FROM api_tokens ORDER BY created_at, token_id`

// Tokens gives all API tokens, the revoked ones too, in the order in which they were made.
func (s *Store) Tokens(ctx context.Context) ([]Token, error) {
	return list[Token](ctx, s, "read the tokens", tokens)
}

// A name may have been used before; the one that still counts is meant.
const tokenByRef = `
SELECT ` + tokenColumns + ` FROM api_tokens WHERE token_id = $1 OR name = $1
ORDER BY token_id = $1 DESC, revoked_at DESC NULLS FIRST LIMIT 1`

// Token gives an API token by its id or name; ErrNotFound without one.
func (s *Store) Token(ctx context.Context, ref string) (Token, error) {
	return one[Token](ctx, s, "read a token", tokenByRef, ref)
}

const revokeToken = `
WITH revoked AS (
    UPDATE api_tokens SET revoked_at = now(), revoked_by = $2 WHERE token_id = $1 AND revoked_at IS NULL RETURNING token_id, name
)
INSERT INTO sync_events (kind, actor, data) SELECT 'token_revoked', $2, jsonb_build_object('token_id', token_id, 'name', name) FROM revoked`

// RevokeToken makes an API token count no more; false when it did so already.
func (s *Store) RevokeToken(ctx context.Context, tokenID, actor string) (bool, error) {
	n, err := exec(ctx, s, "revoke a token", revokeToken, tokenID, actor)
	return n > 0, err
}

// The use is noted once a minute, so that a busy client costs no write each time; and never waits for who holds the row.
const useToken = `
WITH found AS (
    SELECT ` + tokenColumns + ` FROM api_tokens
    WHERE secret_hash = $1 AND revoked_at IS NULL AND (expires_at IS NULL OR expires_at > now())
), used AS (
    UPDATE api_tokens t SET last_used_at = now()
    FROM (SELECT x.token_id FROM api_tokens x JOIN found f ON f.token_id = x.token_id
          WHERE x.last_used_at IS NULL OR x.last_used_at < now() - interval '1 minute' FOR NO KEY UPDATE OF x SKIP LOCKED) stale
    WHERE t.token_id = stale.token_id
)
SELECT * FROM found`

// UseToken finds the API token of a secret by its hash, and notes that it was used; false when there is none that still counts.
func (s *Store) UseToken(ctx context.Context, secretHash []byte) (Token, bool, error) {
	found, err := list[Token](ctx, s, "look for a token", useToken, secretHash)
	if err != nil || len(found) == 0 {
		return Token{}, false, err
	}
	return found[0], true, nil
}
