package control

import (
	"context"
	"time"

	"github.com/loresync/loresync/internal/knowledge"
)

// keyLease is how long a claimed idempotency key waits for the answer of the process that claimed it: longer than any request
// takes. After that the process has died, and the same request may be carried out again.
const keyLease = 90 * time.Second

// ClaimKey claims an idempotency key for a request; false when it is taken, with what is known of the request that has it.
func (c *Control) ClaimKey(ctx context.Context, key knowledge.IdempotencyKey) (knowledge.KeptAnswer, bool, error) {
	return c.store.ClaimKey(ctx, key, keyLease)
}

// KeepAnswer keeps the answer of the request that claimed a key, for a day.
func (c *Control) KeepAnswer(ctx context.Context, key knowledge.IdempotencyKey, answer knowledge.KeptAnswer) error {
	return c.store.KeepAnswer(ctx, key, answer)
}

// ReleaseKey gives a claimed key back.
func (c *Control) ReleaseKey(ctx context.Context, key knowledge.IdempotencyKey) error {
	return c.store.ReleaseKey(ctx, key)
}
