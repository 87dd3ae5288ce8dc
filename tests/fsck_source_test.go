package tests

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/loresync/loresync/internal/control"
	"github.com/loresync/loresync/internal/knowledge"
)

func TestFsckAgainstTheSourceSaysForEachDifferenceWhatMendsIt(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.put("stays.md", "# Stays\n\nText.\n")
	r.put("goes.md", "# Goes\n\nText.\n")
	r.synced()
	r.remove("goes.md")
	r.put("new.md", "# New\n\nText.\n")
	fsck := func(repair bool) map[string]control.Difference {
		t.Helper()
		found, err := r.Fsck(t.Context(), control.FsckOptions{AgainstSource: true, Repair: repair})
		require.NoError(t, err)
		kinds := map[string]control.Difference{}
		for _, d := range found {
			kinds[d.Kind] = d
		}
		return kinds
	}

	found := fsck(false)
	assert.Contains(t, found["source_new"].NextStep, "starter fsck --against-source --repair")
	assert.Contains(t, found["source_vanished"].NextStep, "starter sync folder hr --full --wait` twice")
	assert.NotContains(t, found["source_vanished"].NextStep, "--repair", "one full sync is no evidence")

	found = fsck(true)
	assert.True(t, found["source_new"].Repaired)
	assert.Empty(t, found["source_new"].NextStep)
	assert.False(t, found["source_vanished"].Repaired)
	assert.Contains(t, found["source_vanished"].NextStep, "the next full sync that doesn't see it removes it")

	found = fsck(true)
	assert.True(t, found["source_vanished"].Repaired, "this was the second full sync")
	assert.Equal(t, knowledge.StateTombstoned, r.page("goes.md").State)
	assert.Empty(t, fsck(false))
}
