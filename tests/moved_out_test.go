package tests

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/loresync/loresync/internal/control"
	"github.com/loresync/loresync/internal/source/notion"
	"github.com/loresync/loresync/internal/source/notion/notiontest"
)

// The refused sync and the refused restore of such a page named each other, and only the restore of all that was deleted helped.
func TestRule8APageThatWasMovedOutOfADeletedSubtreeIsRestoredByItself(t *testing.T) {
	t.Parallel()
	var top, leaf, below, elsewhere string
	w := newWiki(t, notiontest.ServerOptions{}, notion.Workspace, func(space *notiontest.Workspace) {
		top = notiontest.Must(space.AddPage("", "Top", paragraph("What is above.")))
		leaf = notiontest.Must(space.AddPage(top, "Leaf", paragraph("What is moved.")))
		below = notiontest.Must(space.AddPage(leaf, "Below", paragraph("What moves along.")))
		elsewhere = notiontest.Must(space.AddPage("", "Elsewhere", paragraph("Where it goes.")))
	})
	require.EqualValues(t, 4, w.synced().New)
	w.wait(w.DeletePage(t.Context(), folderID, top, control.DeleteOptions{Subtree: true}, person))
	require.Equal(t, 1, w.live())
	_, syncing := w.SyncPage(t.Context(), folderID, leaf, person)
	_, restoring := w.RestorePage(t.Context(), folderID, leaf, false, person)
	for _, err := range []error{syncing, restoring} {
		assert.Equal(t, control.KindRefused, control.KindOf(err))
		require.ErrorContains(t, err, "starter restore page hr "+top+" --subtree")
		require.ErrorContains(t, err, "starter sync folder hr --full --wait")
	}

	w.clock.Advance(time.Hour)
	require.NoError(t, w.space.Move(leaf, elsewhere))
	assert.EqualValues(t, 3, w.synced().Excluded, "a move is no restore")
	assert.Equal(t, 1, w.live())
	_, err := w.SyncPage(t.Context(), folderID, leaf, person)
	require.ErrorContains(t, err, "starter restore page hr "+leaf)
	require.NotContains(t, err.Error(), top)
	why, err := w.Why(t.Context(), leaf)
	require.NoError(t, err)
	assert.Contains(t, why[0].Sentence, "deleted by eve")
	assert.Contains(t, why[0].NextStep, "starter restore page hr ")

	restored := w.wait(w.RestorePage(t.Context(), folderID, leaf, false, person))
	assert.EqualValues(t, 1, *restored.Pages)
	assert.EqualValues(t, "live", w.page(leaf).State)
	assert.EqualValues(t, "excluded", w.page(below).State)
	w.wait(w.DeletePage(t.Context(), folderID, leaf, control.DeleteOptions{}, person))
	w.wait(w.RestorePage(t.Context(), folderID, below, false, person))
	assert.EqualValues(t, "live", w.page(below).State, "what moved along is restored by itself too")
	w.synced()
	assert.Equal(t, 2, w.live())
	assert.EqualValues(t, "excluded", w.page(top).State)
	w.clean()
}
