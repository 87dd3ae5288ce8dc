package control_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/loresync/loresync/internal/control"
	"github.com/loresync/loresync/internal/knowledge"
	"github.com/loresync/loresync/internal/store"
)

func TestWhySaysWhenAnEditMayHaveBeenMissed(t *testing.T) {
	t.Parallel()
	r, ctx := withFolder(t), t.Context()
	page := r.page("a.md")
	publish(r, page)
	answer, err := r.Why(ctx, page)
	require.NoError(t, err)
	assert.Equal(t, "It is in the knowledge base.", answer[0].Sentence)
	r.exec(`INSERT INTO due_reads (folder_id, page_id, due_at, reason) VALUES ('hr', $1, '2030-05-06 07:08:09Z', 'recent_edit')`, page)
	answer, err = r.Why(ctx, page)
	require.NoError(t, err)
	assert.Contains(t, answer[0].Sentence, "may be stale: it is read again at 2030-05-06 07:08 UTC")
	assert.Contains(t, answer[0].NextStep, "starter sync page hr")
	for _, fact := range answer[0].Facts {
		assert.NotContains(t, fact, "last verified")
	}
	r.exec(`UPDATE due_reads SET reason = 'models'`)
	answer, err = r.Why(ctx, page)
	require.NoError(t, err)
	assert.Equal(t, "It is in the knowledge base.", answer[0].Sentence, "what waits for a model was read")
}

// publish gives a page content that readers see.
func publish(r *room, page string) {
	r.exec(`INSERT INTO revisions (folder_id, page_id, token, state, read_seq, raw, format, content_hash, markdown, title, published_at)
		VALUES ('hr', $1, gen_random_uuid(), 'published', 1, '', 'markdown', '', 'text', 'A', now())`, page)
	r.exec(`UPDATE pages p SET published_revision_id = r.revision_id, published_read_seq = 1, read_at = now() FROM revisions r
		WHERE r.page_id = p.page_id AND p.page_id = $1`, page)
}

func TestAFolderThatIsBeingErasedIsNotOfferedForARestore(t *testing.T) {
	t.Parallel()
	r, ctx := withFolder(t), t.Context()
	request := store.DeleteRequest{Folder: "hr", Who: "mika", WorkflowID: "folder/hr/delete", Undo: time.Hour, Now: true}
	_, err := r.store.AcceptFolderDelete(ctx, request)
	require.NoError(t, err)
	_, err = r.AddFolder(ctx, control.FolderSpec{ID: "hr", Source: "files", Root: r.root}, mika)
	requireKind(t, err, control.KindRefused, "purging")
	assert.Contains(t, err.Error(), "try again once")
	assert.Contains(t, err.Error(), "starter folder delete hr --now --wait")
	assert.NotContains(t, err.Error(), "restore")
	_, err = r.PauseFolder(ctx, "hr", mika)
	requireKind(t, err, control.KindRefused, "purging")
	assert.NotContains(t, err.Error(), "restore")
}

func TestARootThatAnotherFolderSyncsIsTakenWithAWarning(t *testing.T) {
	t.Parallel()
	r, ctx := withFolder(t), t.Context()
	below, beside := filepath.Join(r.root, "below"), r.root+"-beside"
	for _, dir := range []string{below, beside} {
		require.NoError(t, os.Mkdir(dir, 0o750))
	}
	t.Cleanup(func() { _ = os.Remove(beside) })
	for id, c := range map[string]struct{ root, how string }{
		"again": {r.root + "/", "the root is that of"},
		"sub":   {below, "the root is below that of"},
		"above": {filepath.Dir(r.root), "the root holds that of"},
		"other": {beside, ""},
	} {
		folder, err := r.AddFolder(ctx, control.FolderSpec{ID: id, Source: "files", Root: c.root}, mika)
		require.NoError(t, err, id)
		_, err = r.store.AcceptFolderDelete(ctx, store.DeleteRequest{Folder: id, Who: "mika", WorkflowID: "folder/" + id + "/delete", Undo: time.Hour})
		require.NoError(t, err, "a deleted folder syncs nothing and is named by none of the others")
		if c.how == "" {
			assert.Empty(t, folder.Warnings, id)
			continue
		}
		require.Len(t, folder.Warnings, 1, id)
		assert.Contains(t, folder.Warnings[0], c.how+` folder "hr"`)
	}
	_, err := r.AddFolder(ctx, control.FolderSpec{ID: "set", Source: "files", Root: t.TempDir()}, mika)
	require.NoError(t, err)
	folder, err := r.SetFolder(ctx, "set", control.FolderPatch{Root: &r.root}, mika)
	require.NoError(t, err)
	assert.Len(t, folder.Warnings, 1)
	title := "Set"
	folder, err = r.SetFolder(ctx, "set", control.FolderPatch{Title: &title}, mika)
	require.NoError(t, err)
	assert.Empty(t, folder.Warnings, "the warning comes with the root")
}

func TestARefusalForAPauseNamesWhatIsPausedSinceWhenAndWhy(t *testing.T) {
	t.Parallel()
	const connection = `UPDATE connections SET paused_at = '2026-03-04 05:06:07Z', pause_reason = `
	for name, c := range map[string]struct {
		change string
		words  []string
	}{
		"the folder": {
			`UPDATE folders SET paused_at = '2026-03-04 05:06:07Z'`,
			[]string{`folder "hr" is paused since 2026-03-04 05:06 UTC`, "starter folder resume hr"},
		},
		"the connection by a person": {
			connection + `'paused by kim' WHERE name = 'files'`,
			[]string{`connection "files"`, "since 2026-03-04 05:06 UTC (paused by kim)", "starter connection resume files"},
		},
		"the connection by its vendor": {
			connection + `'` + knowledge.PausedByToken + `it was revoked' WHERE name = 'files'`,
			[]string{`connection "files"`, "it was revoked", "resumes by itself", "starter connection check files"},
		},
		"both": {
			`WITH c AS (` + connection + `'paused by kim' WHERE name = 'files') UPDATE folders SET paused_at = now()`,
			[]string{"starter folder resume hr", "starter connection resume files"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r, ctx := withFolder(t), t.Context()
			page := r.page("a.md")
			r.exec(c.change)
			_, syncFolder := r.SyncFolder(ctx, "hr", knowledge.ModeFull, mika)
			_, syncPage := r.SyncPage(ctx, "hr", page, mika)
			_, retry := r.Retry(ctx, "hr", "", mika)
			for _, err := range []error{syncFolder, syncPage, retry} {
				requireKind(t, err, control.KindRefused, "paused")
				for _, words := range c.words {
					assert.Contains(t, err.Error(), words)
				}
			}
			status, err := r.Status(ctx)
			require.NoError(t, err)
			assert.Len(t, status.PausedConnections, map[bool]int{true: 0, false: 1}[name == "the folder"])
		})
	}
}

func TestAConnectionWithoutCredentialsIsNotConfigured(t *testing.T) {
	t.Parallel()
	r, ctx := newRoom(t, nil, ""), t.Context()
	connections, err := r.Connections(ctx)
	require.NoError(t, err)
	states := map[string]string{}
	for _, c := range connections {
		states[c.Name] = c.State
	}
	assert.Equal(t, "active", states["files"], "files need none")
	paused, err := r.PauseConnection(ctx, "gdrive", mika)
	require.NoError(t, err)
	assert.Equal(t, "paused", paused.State, "a person's pause is what counts")
	require.NotNil(t, paused.Since)
}

func TestADeleteOfADeletedPageSaysSinceWhenAndByWhom(t *testing.T) {
	t.Parallel()
	r, ctx := withTemporal(t), t.Context()
	page := r.page("a.md")
	kim := control.Actor{Name: "kim", Trigger: "cli"}
	first, err := r.DeletePage(ctx, "hr", page, control.DeleteOptions{}, kim)
	require.NoError(t, err)
	assert.False(t, first.Joined)
	assert.Empty(t, first.AcceptedBy, "it is news")
	second, err := r.DeletePage(ctx, "hr", page, control.DeleteOptions{}, mika)
	require.NoError(t, err)
	assert.True(t, second.Joined)
	assert.Equal(t, "kim", second.AcceptedBy)
	assert.Equal(t, first.AcceptedAt, second.AcceptedAt)
	assert.Equal(t, first.PurgeAt, second.PurgeAt)

	r.exec(`UPDATE pages SET purge_at = now() - interval '1 minute'`)
	_, err = r.store.PurgePages(ctx, 0, 10)
	require.NoError(t, err)
	third, err := r.DeletePage(ctx, "hr", "a.md", control.DeleteOptions{}, mika)
	require.NoError(t, err)
	assert.Equal(t, []string{"purged", "kim"}, []string{third.Status, third.AcceptedBy})
	assert.True(t, third.Joined)
	assert.Nil(t, third.PurgeAt)
	assert.Empty(t, third.WorkflowID)
}

func TestAHoldShowsWhatSpeaksAgainstItsPages(t *testing.T) {
	t.Parallel()
	r, ctx := withTemporal(t), t.Context()
	lost, told := r.page("a.md"), r.page("b.md")
	r.exec(`UPDATE pages SET unseen_since = '2026-03-04 05:06:07Z', strikes = 2 WHERE page_id = $1`, lost)
	_, err := r.store.HoldRemovals(ctx, "hr", "h1", "too many", []string{lost, told})
	require.NoError(t, err)
	hold, err := r.Hold(ctx, "h1")
	require.NoError(t, err)
	assert.Equal(t, []string{"open", "too many"}, []string{hold.State, hold.Reason})
	require.Len(t, hold.Pages, 2)
	assert.Equal(t, "2 full syncs in a row have not seen it, the first at 2026-03-04 05:06 UTC", hold.Pages[0].Evidence)
	assert.Equal(t, "its source said that it is gone", hold.Pages[1].Evidence)
	_, err = r.Hold(ctx, "none")
	requireKind(t, err, control.KindNotFound, "hold_unknown")

	first, err := r.ApproveHold(ctx, "h1", control.Actor{Name: "kim"})
	require.NoError(t, err)
	assert.Empty(t, first.AcceptedBy)
	second, err := r.ApproveHold(ctx, "h1", mika)
	require.NoError(t, err)
	assert.Equal(t, "kim", second.AcceptedBy, "it was approved before, and by whom")
	require.NotNil(t, second.AcceptedAt)
	_, err = r.RejectHold(ctx, "h1", mika)
	requireKind(t, err, control.KindRefused, "already_decided")
	assert.Contains(t, err.Error(), "approved already, by kim")
}

func TestAnUnknownClassOfFailuresNamesTheKnownOnes(t *testing.T) {
	t.Parallel()
	r, ctx := withFolder(t), t.Context()
	_, err := r.Retry(ctx, "hr", "Timeout", mika)
	requireKind(t, err, control.KindNotFound, "class_unknown")
	assert.Contains(t, err.Error(), "Unavailable, RateLimited")
	answer, err := r.Retry(ctx, "hr", "Unavailable", mika)
	require.NoError(t, err, "a class that no page fails with at the moment")
	assert.Zero(t, *answer.Pages)
	r.page("a.md")
	r.exec(`INSERT INTO page_failures (folder_id, page_id, class, sentence, quarantined_at) SELECT 'hr', page_id, 'Odd', 'Odd.', now() FROM pages`)
	_, err = r.Retry(ctx, "hr", "Unavailable", mika)
	requireKind(t, err, control.KindNotFound, "class_unknown")
	assert.Contains(t, err.Error(), "the classes there are Odd")
}
