package store

import (
	"context"
	"time"

	"github.com/loresync/loresync/internal/knowledge"
)

// The answer is in the claim's own words; a claim without an answer yet has the status 0. One that was given up, since its
// process died, is taken over by the same request.
const claimKey = `
INSERT INTO idempotency_keys AS k (scope, key, answer)
VALUES ($1, $2, jsonb_build_object('claim', $3::text, 'fingerprint', $4::text, 'status', 0, 'body', ''))
ON CONFLICT (scope, key) DO UPDATE SET answer = excluded.answer, created_at = now()
WHERE k.answer ->> 'status' = '0' AND k.answer ->> 'fingerprint' = $4 AND k.created_at < now() - $5::interval`

const keptAnswer = `
SELECT answer ->> 'fingerprint' AS fingerprint, (answer ->> 'status')::int AS status, answer ->> 'body' AS body,
    coalesce(answer ->> 'location', '') AS location
FROM idempotency_keys WHERE scope = $1 AND key = $2`

// ClaimKey claims an idempotency key for a request, or gives what is known of the request that has it: its answer, or a status 0
// while it is being carried out. A claim counts for a while only.
func (s *Store) ClaimKey(ctx context.Context, k knowledge.IdempotencyKey, lease time.Duration) (knowledge.KeptAnswer, bool, error) {
	const doing = "claim an idempotency key"
	for {
		n, err := exec(ctx, s, doing, claimKey, k.Scope, k.Key, k.Claim, k.Fingerprint, lease)
		if err != nil || n > 0 {
			return knowledge.KeptAnswer{}, n > 0, err
		}
		// Between the two statements the key may have been given back: then it is to be had.
		found, err := list[knowledge.KeptAnswer](ctx, s, doing, keptAnswer, k.Scope, k.Key)
		if err != nil || len(found) > 0 {
			return first(found), false, err
		}
	}
}

func first[T any](items []T) (item T) {
	if len(items) > 0 {
		item = items[0]
	}
	return item
}

const keepAnswer = `
UPDATE idempotency_keys SET answer = answer || jsonb_build_object('status', $4::int, 'body', $5::text, 'location', $6::text)
WHERE scope = $1 AND key = $2 AND answer ->> 'claim' = $3`

// KeepAnswer keeps the answer of the request that claimed a key, for whoever repeats it.
func (s *Store) KeepAnswer(ctx context.Context, k knowledge.IdempotencyKey, answer knowledge.KeptAnswer) error {
	_, err := exec(ctx, s, "keep an answer", keepAnswer, k.Scope, k.Key, k.Claim, answer.Status, answer.Body, answer.Location)
	return err
}

const releaseKey = `DELETE FROM idempotency_keys WHERE scope = $1 AND key = $2 AND answer ->> 'claim' = $3`

// ReleaseKey gives a claimed key back: what it was claimed for changed nothing, and may be tried again.
func (s *Store) ReleaseKey(ctx context.Context, k knowledge.IdempotencyKey) error {
	_, err := exec(ctx, s, "give an idempotency key back", releaseKey, k.Scope, k.Key, k.Claim)
	return err
}
