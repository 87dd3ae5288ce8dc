package control_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/loresync/loresync/internal/control"
	"github.com/loresync/loresync/internal/store"
)

// TestWhy changes one page from state to state and asks each time.
func TestWhy(t *testing.T) {
	t.Parallel()
	const fails = `INSERT INTO page_failures (folder_id, page_id, class, sentence, retry_at, quarantined_at) SELECT 'hr', page_id, `
	for name, c := range map[string]struct {
		change   string
		state    string
		sentence string
		next     string
	}{
		"found and not read": {``, "pending", "was found, and not read", "starter sync page hr"},
		"failing": {
			fails + `'Unavailable', 'The disk is away.', now(), NULL FROM pages`,
			"pending", "The disk is away.", "starter retry hr --class Unavailable",
		},
		"quarantined": {
			fails + `'Odd', 'Odd.', NULL, now() FROM pages`,
			"pending", "Odd.", "not tried again by itself",
		},
		"skipped": {`UPDATE pages SET skip_class = 'binary', skip_sentence = 'It is binary.'`, "skipped", "It is binary.", "next sync reads it"},
		"lost by its source": {
			`UPDATE pages SET tombstoned_at = now(), tombstone_reason = 'source', purge_at = now()`,
			"tombstoned", "no longer has it", "comes back by itself",
		},
		"in a paused folder": {`UPDATE folders SET paused_at = now()`, "pending", "nothing is being synced", "starter folder resume hr"},
		"of a paused account": {
			`UPDATE connections SET paused_at = now(), pause_reason = 'no token'`,
			"pending", "nothing is being synced", "starter connection resume files",
		},
		"under maintenance": {`UPDATE deployment SET maintenance = true`, "pending", "nothing is being synced", "starter maintenance off"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := withFolder(t)
			id := r.page("a.md")
			if c.change != "" {
				r.exec(c.change)
			}
			for _, ref := range []string{id, "a.md"} {
				answer, err := r.Why(t.Context(), ref)
				require.NoError(t, err)
				require.Len(t, answer, 1)
				assert.Equal(t, c.state, answer[0].State)
				assert.Contains(t, answer[0].Sentence, c.sentence)
				assert.Contains(t, answer[0].NextStep, c.next)
				assert.NotEmpty(t, answer[0].Facts)
			}
		})
	}
}

func TestWhyNamesWhoDeletedAPage(t *testing.T) {
	t.Parallel()
	r, ctx := withFolder(t), t.Context()
	below := r.page("old/a.md")
	top, err := r.ResolvePage(ctx, "hr", "old", false)
	require.NoError(t, err)
	r.delete(top.PageID, true, false)
	answer, err := r.Why(ctx, below)
	require.NoError(t, err)
	require.Len(t, answer, 1)
	assert.Equal(t, "excluded", answer[0].State)
	assert.Contains(t, answer[0].Sentence, "old above it was deleted with everything below by mika")
	assert.Contains(t, answer[0].NextStep, "starter restore page hr "+top.PageID+" --subtree")

	r.file("old/b.md", "later")
	answer, err = r.Why(ctx, "old/b.md")
	require.NoError(t, err)
	require.Len(t, answer, 1)
	assert.Equal(t, "excluded", answer[0].State)

	single := r.page("b.md")
	r.delete(single, false, true)
	_, err = r.store.PurgePages(ctx, 0, 10)
	require.NoError(t, err)
	answer, err = r.Why(ctx, "b.md")
	require.NoError(t, err)
	require.Len(t, answer, 1)
	assert.Contains(t, answer[0].Sentence, "deleted by mika")
	assert.Contains(t, answer[0].Facts, "purged: only the exclusion is left")
}

func TestWhyLooksIntoAllFolders(t *testing.T) {
	t.Parallel()
	r, ctx := withFolder(t), t.Context()
	_, err := r.AddFolder(ctx, control.FolderSpec{ID: "people", Source: "files", Root: r.root}, mika)
	require.NoError(t, err)
	r.page("a.md")
	answer, err := r.Why(ctx, r.root+"/a.md")
	require.NoError(t, err)
	require.Len(t, answer, 2, "one page, two folders, two states")
	assert.Equal(t, []string{"pending", "unlisted"}, []string{answer[0].State, answer[1].State})
	assert.Contains(t, answer[1].NextStep, "starter sync page people a.md")

	_, err = r.store.AcceptFolderDelete(ctx, store.DeleteRequest{Folder: "hr", Who: "kim", WorkflowID: "folder/hr/delete", Undo: time.Hour})
	require.NoError(t, err)
	answer, err = r.Why(ctx, "a.md")
	require.NoError(t, err)
	require.Len(t, answer, 2)
	assert.Equal(t, "people", answer[0].FolderID, "a deleted folder comes last")
	assert.Contains(t, answer[1].Sentence, "folder hr was deleted by kim")
	assert.Contains(t, answer[1].NextStep, "starter folder restore hr")
	assert.Empty(t, answer[1].Facts, "and is short")
	r.exec(`UPDATE folders SET purge_at = now() WHERE folder_id = 'hr'`)
	answer, err = r.Why(ctx, "a.md")
	require.NoError(t, err)
	assert.NotContains(t, answer[1].NextStep, "restore", "nothing is offered that would be refused")

	for _, ref := range []string{"", "nothing of this name.md", "a\x00"} {
		_, err = r.Why(ctx, ref)
		requireKind(t, err, control.KindNotFound, "page_unknown")
	}
}
