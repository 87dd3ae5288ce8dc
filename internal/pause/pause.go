// Package pause waits without outliving the work that it waits for.
package pause

import (
	"context"
	"time"
)

// For waits for d, and returns early with the context's error. With nothing to wait for it only looks at the context.
func For(ctx context.Context, d time.Duration) error {
	if d <= 0 {
		return ctx.Err()
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}
