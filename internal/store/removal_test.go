package store_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestRule7ARemovalThatWasTakenBackCountsAndIsNamed(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	listing := d.listed(doc("a.md", "1"), doc("b.md", "1"))
	for _, page := range []string{"a.md", "b.md"} {
		d.publish(d.pageID(page), page)
	}
	d.exec(`UPDATE pages SET strikes = 2`)
	gone, err := d.RemoveLostPages(t.Context(), folder, []string{d.pageID("a.md"), d.pageID("b.md")}, undo)
	require.NoError(t, err)
	require.Len(t, gone, 2)
	d.publish(d.pageID("a.md"), "a.md")
	facts, err := d.RemovalFacts(t.Context(), folder, listing, 1)
	require.NoError(t, err)
	assert.EqualValues(t, 2, facts.Recent, "what the source lost and gave back was lost all the same")
	assert.EqualValues(t, 1, facts.Returned)
	assert.EqualValues(t, 1, facts.Live)
}
