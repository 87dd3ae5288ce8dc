package tests

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/loresync/loresync/internal/search"
	"github.com/loresync/loresync/internal/source/notion"
	"github.com/loresync/loresync/internal/source/notion/notiontest"
)

func TestAPageWithoutATitleThatCanBeSeenIsUntitledForReaders(t *testing.T) {
	t.Parallel()
	var blank, below string
	w := newWiki(t, notiontest.ServerOptions{}, notion.Workspace, func(space *notiontest.Workspace) {
		blank = notiontest.Must(space.AddPage("", "\n \u200b", paragraph("The zebra has no title.")))
		below = notiontest.Must(space.AddPage(blank, "", paragraph("Neither has the okapi.")))
		require.NoError(t, space.Hide(below))
	})
	w.synced()
	untitled := func() int { return w.count(`SELECT count(*) FROM live_pages WHERE title = 'Untitled'`) }
	assert.Equal(t, 2, untitled())
	answer, err := w.search.Answer(t.Context(), search.Query{Text: "zebra", Limit: 5})
	require.NoError(t, err)
	require.NotEmpty(t, answer.Hits)
	assert.Equal(t, "Untitled", answer.Hits[0].Title)

	counts := w.synced()
	assert.Zero(t, counts.Moved+counts.Changed, "the name is the same in listings and reads")
	w.exec(`UPDATE pages SET title = '', listed_title = '' WHERE page_id = $1`, blank)
	w.synced()
	assert.Equal(t, 2, untitled(), "what was stored before gets its name with the next full sync")
}
