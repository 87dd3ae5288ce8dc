package clock_test

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/loresync/loresync/tests/clock"
)

func TestAProgramWhoseClockIsOff(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	require.NoError(t, clock.Build(t.Context(), dir, "./testdata/tell"))
	for _, by := range []time.Duration{0, time.Hour, -time.Hour} {
		tell := exec.CommandContext(t.Context(), filepath.Join(dir, "tell"))
		tell.Env = []string{clock.Off(by)}
		said, err := tell.Output()
		require.NoError(t, err)
		var at, took int64
		_, err = fmt.Sscan(string(said), &at, &took)
		require.NoError(t, err)
		assert.WithinDuration(t, time.Now().Add(by), time.Unix(at, 0), time.Minute)
		assert.Less(t, took, int64(time.Minute/time.Millisecond), "its timers are right")
		assert.GreaterOrEqual(t, took, int64(100))
	}
}
