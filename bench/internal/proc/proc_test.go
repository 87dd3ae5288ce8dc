package proc_test

import (
	"os"
	"os/exec"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/loresync/loresync/bench/internal/proc"
)

func TestProcessorTimeAndMemory(t *testing.T) {
	if runtime.GOOS != "linux" {
		_, err := proc.CPU(os.Getpid())
		require.Error(t, err, "there is no /proc, and reports leave the figures out")
		return
	}
	t.Run("of children that have ended counts", func(t *testing.T) {
		before, err := proc.CPU(os.Getpid())
		require.NoError(t, err)
		busy := `i=0; while [ $i -lt 300000 ]; do i=$((i+1)); done`
		require.NoError(t, exec.CommandContext(t.Context(), "/bin/sh", "-c", busy).Run())
		after, err := proc.CPU(os.Getpid())
		require.NoError(t, err)
		assert.Greater(t, after-before, 50*time.Millisecond)
	})
	t.Run("is known of this process and of the machine", func(t *testing.T) {
		peak, err := proc.PeakMemory(os.Getpid())
		require.NoError(t, err)
		total, err := proc.TotalMemory()
		require.NoError(t, err)
		assert.Greater(t, peak, int64(1<<20))
		assert.Greater(t, total, peak)
		machine, err := proc.Busy()
		require.NoError(t, err)
		own, err := proc.CPU(os.Getpid())
		require.NoError(t, err)
		assert.GreaterOrEqual(t, machine, own)
	})
	t.Run("of a process that is gone is an error", func(t *testing.T) {
		child := exec.CommandContext(t.Context(), "/bin/true")
		require.NoError(t, child.Run())
		_, err := proc.CPU(child.Process.Pid)
		require.Error(t, err)
		_, err = proc.PeakMemory(child.Process.Pid)
		require.Error(t, err)
	})
}
