package store

import (
	"context"
	"time"
)

// KeyNote is a secret that a process has seen, by a digest that tells it from others.
type KeyNote struct {
	Connection, Digest string
	// Origin is where the secret was found, for people.
	Origin string
	// Identity is the vendor's public name of the account; empty when nobody has asked.
	Identity string
	// Used is set by workers, whose requests bear the secret.
	Used bool
}

// A worker that starts anew with the same key uses it as long as the others did; one that goes back to an older key begins anew.
const noteKey = `
INSERT INTO connection_keys AS k (connection, key_digest, origin, identity, used_since)
VALUES ($1, $2, $3, $4, CASE WHEN $5 THEN now() END)
ON CONFLICT (connection, key_digest) DO UPDATE SET origin = excluded.origin, seen_at = now(),
    identity = CASE WHEN excluded.identity = '' THEN k.identity ELSE excluded.identity END,
    used_since = CASE WHEN NOT $5 THEN k.used_since
                      WHEN k.used_since IS NOT NULL AND NOT EXISTS
                          (SELECT 1 FROM connection_keys o WHERE o.connection = k.connection AND o.used_since > k.used_since) THEN k.used_since
                      ELSE now() END`

// NoteKey notes which secret is used for a connection, or whose it is.
func (s *Store) NoteKey(ctx context.Context, n KeyNote) error {
	_, err := exec(ctx, s, "note a key", noteKey, n.Connection, n.Digest, n.Origin, n.Identity, n.Used)
	return err
}

// KeyInUse is the secret that the workers took up last, or a person's consent.
type KeyInUse struct {
	// KeyDigest is empty for a consent, and where no worker has used a secret yet.
	KeyDigest, KeyOrigin, Identity string
	KeySince                       *time.Time
}
