package tests

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// An approval told how many pages the hold had, and the hold said afterwards of those that had come back that they are gone.
func TestRule7AnApprovalTellsWhatCameBack(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	paths := r.fill(9)
	r.synced()
	r.remove(paths[:7]...)
	r.synced()
	require.EqualValues(t, 7, r.synced().Held)
	holds, err := r.Holds(t.Context(), false)
	require.NoError(t, err)
	id := holds[0].HoldID
	for _, back := range paths[:2] {
		r.put(back, "# Back\n\nIt is there again.\n")
	}

	answer := r.wait(r.ApproveHold(t.Context(), id, person))
	require.NotNil(t, answer.Removed)
	assert.EqualValues(t, 5, *answer.Removed)
	assert.EqualValues(t, 2, *answer.Kept)
	assert.Equal(t, 4, r.live())

	hold, err := r.Hold(t.Context(), id)
	require.NoError(t, err)
	require.Len(t, hold.Pages, 2)
	assert.EqualValues(t, 5, *hold.Removed)
	assert.EqualValues(t, 2, *hold.Kept)
	for _, page := range hold.Pages {
		assert.Contains(t, page.Evidence, "it was left")
		assert.NotContains(t, page.Evidence, "gone")
	}
	r.remove(paths[0])
	r.wait(r.ApproveHold(t.Context(), id, person))
	hold, err = r.Hold(t.Context(), id)
	require.NoError(t, err)
	assert.EqualValues(t, 6, *hold.Removed, "whoever approves once more has the rest looked at again")
	r.clean()
}
