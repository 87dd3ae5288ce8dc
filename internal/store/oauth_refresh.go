package store

import (
	"context"
	"time"
)

// A claim that ran out belonged to a process that died or hangs: whoever takes over learns that the tokens may be gone.
const claimOAuthRefresh = `
UPDATE oauth_tokens SET claim = $3::uuid, claimed_until = now() + $4::interval, in_doubt = in_doubt OR claimed_until IS NOT NULL
WHERE connection = $1 AND generation = $2::uuid AND refused_at IS NULL AND (claimed_until IS NULL OR claimed_until <= now())
RETURNING in_doubt`

// ClaimOAuthRefresh makes the caller the only one, over all processes, that renews this pair of tokens, for a while. claim is a
// UUID of its own. False when another is at it, when the pair was replaced, or when it was refused. inDoubt says that an earlier
// renewal of the same pair never came to its end.
func (s *Store) ClaimOAuthRefresh(
	ctx context.Context, connection, generation, claim string, lasting time.Duration,
) (claimed, inDoubt bool, err error) {
	rows, err := list[struct{ InDoubt bool }](ctx, s, "claim a renewal", claimOAuthRefresh, connection, generation, claim, lasting)
	if err != nil || len(rows) == 0 {
		return false, false, err
	}
	return true, rows[0].InDoubt, nil
}

const releaseOAuthRefresh = `
UPDATE oauth_tokens SET claim = NULL, claimed_until = NULL, in_doubt = in_doubt OR $3 WHERE connection = $1 AND claim = $2::uuid`

// ReleaseOAuthRefresh ends a claim without new tokens, so that the next one may try. inDoubt says that the source may have replaced
// the tokens all the same. A claim that another took over is left alone.
func (s *Store) ReleaseOAuthRefresh(ctx context.Context, connection, claim string, inDoubt bool) error {
	_, err := exec(ctx, s, "release a renewal", releaseOAuthRefresh, connection, claim, inDoubt)
	return err
}

const refuseOAuthRefresh = `
WITH refused AS (
    UPDATE oauth_tokens SET refused_at = now(), claim = NULL, claimed_until = NULL WHERE connection = $1 AND claim = $2::uuid RETURNING connection
), noted AS (
    INSERT INTO sync_events (kind, actor, data) SELECT 'connection_grant_refused', 'loresync', jsonb_build_object('connection', connection) FROM refused
)
SELECT count(*) > 0 FROM refused`

// RefuseOAuthRefresh ends a claim with the source's word that the refresh token is dead, so that nobody sends it again. False when
// the claim isn't the caller's any more: another replaced the tokens, or is at it.
func (s *Store) RefuseOAuthRefresh(ctx context.Context, connection, claim string) (bool, error) {
	return scalar[bool](ctx, s, "note a refused renewal", refuseOAuthRefresh, connection, claim)
}

// The generation alone decides, not the claim: tokens that come late, after another has taken the claim over, are the good ones
// as long as nobody stored others. The second look is for a caller whose first try was committed without its learning so.
const keepOAuthRefresh = `
WITH kept AS (
    UPDATE oauth_tokens SET generation = $3::uuid, access_sealed = $4, refresh_sealed = $5, expires_at = now() + $6::interval,
        refreshed_at = now(), claim = NULL, claimed_until = NULL, in_doubt = false, refused_at = NULL
    WHERE connection = $1 AND generation = $2::uuid RETURNING connection
), noted AS (
    INSERT INTO sync_events (kind, actor, data) SELECT 'connection_tokens_renewed', 'loresync', jsonb_build_object('connection', connection) FROM kept
)
SELECT EXISTS (SELECT 1 FROM kept) OR EXISTS (SELECT 1 FROM oauth_tokens WHERE connection = $1 AND generation = $3::uuid)`

// KeepOAuthRefresh replaces one pair of tokens by another, both at once. False, and nothing is stored, when the pair of that
// generation isn't the stored one any more. It may be repeated.
func (s *Store) KeepOAuthRefresh(ctx context.Context, connection, generation string, sealed OAuthSealed) (bool, error) {
	return scalar[bool](ctx, s, "keep renewed tokens", keepOAuthRefresh, connection, generation,
		sealed.Generation, sealed.Access, sealed.Refresh, told(sealed.ExpiresIn))
}
