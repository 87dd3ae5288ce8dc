package tests

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/loresync/loresync/internal/control"
	"github.com/loresync/loresync/internal/source/notion"
	"github.com/loresync/loresync/internal/source/notion/notiontest"
	"github.com/loresync/loresync/internal/testenv"
)

// Where pages hang is known only from reading them, here: no listing comes between.
func TestRule8APageThatIsFoundBelowADeletedSubtreeByReadingIt(t *testing.T) {
	t.Parallel()
	var top, elsewhere string
	w := newWiki(t, notiontest.ServerOptions{}, notion.Workspace, func(space *notiontest.Workspace) {
		top = notiontest.Must(space.AddPage("", "Top", paragraph("What is above.")))
		elsewhere = notiontest.Must(space.AddPage("", "Elsewhere", paragraph("The zebra lives elsewhere.")))
	})
	require.EqualValues(t, 2, w.synced().New)
	w.wait(w.DeletePage(t.Context(), folderID, top, control.DeleteOptions{Subtree: true}, person))
	require.Equal(t, 1, w.live())

	w.clock.Advance(time.Hour)
	fresh := notiontest.Must(w.space.AddPage(top, "Fresh", paragraph("The ocelot is new.")))
	require.NoError(t, w.space.Move(elsewhere, top))
	require.NoError(t, w.space.Edit(elsewhere, paragraph("The zebra has moved.")))
	for _, page := range []string{fresh, elsewhere} {
		answer, err := w.SyncPage(t.Context(), folderID, page, person)
		require.NoError(t, err)
		w.wait(answer, nil)
	}
	assert.Zero(t, w.live(), "whatever is below, and whatever comes to be below")
	for _, page := range []string{fresh, elsewhere} {
		_, err := w.SyncPage(t.Context(), folderID, page, person)
		assert.Equal(t, control.KindRefused, control.KindOf(err))
	}
	w.clean()

	_, err := w.RestorePage(t.Context(), folderID, top, true, person)
	require.NoError(t, err)
	w.exec(`UPDATE due_reads SET due_at = now()`)
	testenv.Eventually(t, patience, func() bool {
		w.due()
		return w.live() == 3 && w.count(`SELECT count(*) FROM live_pages WHERE markdown LIKE '%has moved%'`) == 1
	}, "the restore brings back what the delete had hidden, read anew")
	w.clean()
}
