package workers

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/loresync/loresync/internal/pause"
)

// asking answers questions as a test says, and knows how many there were.
type asking struct {
	answer func(ctx context.Context, n int) error
	asked  int
}

func (a *asking) Ask(ctx context.Context) error {
	a.asked++
	return a.answer(context.WithoutCancel(ctx), a.asked)
}

var errAway = errors.New("away")

func TestAwaitLoss(t *testing.T) {
	t.Parallel()

	t.Run("a database that doesn't answer is lost after a while", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			began := time.Now()
			require.ErrorIs(t, awaitLoss(t.Context(), &asking{answer: func(context.Context, int) error { return errAway }}), errAway)
			assert.GreaterOrEqual(t, time.Since(began), lostAfter)
			assert.Less(t, time.Since(began), 2*lostAfter)
		})
	})

	t.Run("one that answers now and then is not", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
			defer cancel()
			assert.NoError(t, awaitLoss(ctx, &asking{answer: func(_ context.Context, n int) error {
				if n%5 == 0 {
					return nil
				}
				return errAway
			}}))
		})
	})

	t.Run("a process that was stopped hasn't lost it", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
			defer cancel()
			assert.NoError(t, awaitLoss(ctx, &asking{answer: func(ctx context.Context, n int) error {
				if n != 3 {
					return nil
				}
				// It stood still while it asked.
				return errors.Join(pause.For(ctx, time.Minute), context.DeadlineExceeded)
			}}))
		})
	})
}
