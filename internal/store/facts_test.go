package store_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/loresync/loresync/internal/knowledge"
)

var everybody = knowledge.Facts{
	Access: json.RawMessage(`[{"role": "reader", "type": "anyone"}]`), Meta: json.RawMessage(`{"owner": "Mika"}`),
}

func TestWhoMayReadIsKeptWithThePage(t *testing.T) {
	t.Parallel()
	d, ctx := newDesk(t), t.Context()
	d.page("policy", "")
	_, holder := d.begin("policy")
	noted, err := d.NoteSourceFacts(ctx, holder, everybody)
	require.NoError(t, err)
	require.True(t, noted)
	staged := d.stage(holder, "All may read this.")
	_, err = d.PublishStaged(ctx, holder, *staged.RevisionID, nil)
	require.NoError(t, err)

	page, err := d.Page(ctx, folder, "policy")
	require.NoError(t, err)
	assert.JSONEq(t, string(everybody.Access), string(page.Access))
	assert.JSONEq(t, string(everybody.Meta), string(page.Meta))
	assert.Equal(t, 1, d.count(`SELECT count(*) FROM live_chunks WHERE access @> '[{"type": "anyone"}]'`), "readers filter by it")
}

func TestRule3ALateReadTellsNothingAboutRights(t *testing.T) {
	t.Parallel()
	d, ctx := newDesk(t), t.Context()
	d.page("policy", "")
	_, late := d.begin("policy")
	d.begin("policy")
	noted, err := d.NoteSourceFacts(ctx, late, everybody)
	require.NoError(t, err)
	assert.False(t, noted)
	assert.Zero(t, d.count(`SELECT count(*) FROM pages WHERE access <> '[]'`))
}

func TestAPageWithoutFactsShowsNone(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.page("policy", "")
	page, err := d.Page(t.Context(), folder, "policy")
	require.NoError(t, err)
	shown, err := json.Marshal(page)
	require.NoError(t, err)
	assert.NotContains(t, string(shown), "access")
}
