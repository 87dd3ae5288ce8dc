package pause_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/loresync/loresync/internal/pause"
)

func TestFor(t *testing.T) {
	t.Parallel()
	t.Run("waits as long as it was told", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			begun := time.Now()
			require.NoError(t, pause.For(t.Context(), time.Hour))
			assert.Equal(t, time.Hour, time.Since(begun))
		})
	})
	t.Run("ends with its context", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			begun := time.Now()
			require.ErrorIs(t, pause.For(ctx, time.Hour), context.DeadlineExceeded)
			assert.Equal(t, time.Minute, time.Since(begun))
		})
	})
	t.Run("with nothing to wait for looks at the context", func(t *testing.T) {
		t.Parallel()
		ctx, cancel := context.WithCancel(t.Context())
		require.NoError(t, pause.For(ctx, 0))
		cancel()
		require.ErrorIs(t, pause.For(ctx, -time.Second), context.Canceled)
	})
}
