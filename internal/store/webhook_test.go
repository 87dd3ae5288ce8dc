package store_test

import (
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/loresync/loresync/internal/knowledge"
	"github.com/loresync/loresync/internal/store"
)

func TestWebhookSecret(t *testing.T) {
	t.Parallel()
	d, ctx := newDesk(t), t.Context()
	keep := func(secret string, signed bool) bool {
		kept, err := d.KeepWebhookSecret(ctx, "notion", secret, signed)
		require.NoError(t, err)
		return kept
	}
	show := func() string {
		secret, err := d.ShowWebhookSecret(ctx, "notion", "mika")
		require.NoError(t, err)
		return secret
	}
	read := func() knowledge.WebhookSecret {
		known, err := d.WebhookSecret(ctx, "notion")
		require.NoError(t, err)
		return known
	}
	assert.Equal(t, knowledge.WebhookSecret{Connection: "notion", Source: "notion"}, read())
	assert.Empty(t, show())
	assert.True(t, keep("secret_one", false), "the first is accepted")
	assert.False(t, keep("secret_forged", false), "another one needs the signature of the first")
	assert.Equal(t, "secret_one", read().Secret)
	assert.Equal(t, "secret_one", show())
	assert.Empty(t, show(), "it is shown once")
	assert.True(t, keep("secret_one", false), "the same one may come again")
	assert.Equal(t, "secret_one", show(), "and is shown once more")

	require.NoError(t, d.ConfirmWebhook(ctx, "notion", "secret_other"))
	assert.Nil(t, read().ConfirmedAt)
	require.NoError(t, d.ConfirmWebhook(ctx, "notion", "secret_one"))
	assert.NotNil(t, read().ConfirmedAt)
	assert.True(t, keep("secret_two", true))
	assert.Equal(t, "secret_two", read().Secret)
	assert.Nil(t, read().ConfirmedAt, "nothing was signed with the new one yet")

	forgotten, err := d.ForgetWebhookSecret(ctx, "notion", "mika")
	require.NoError(t, err)
	assert.True(t, forgotten)
	assert.True(t, keep("secret_three", false))
	_, err = d.WebhookSecret(ctx, "none")
	require.ErrorIs(t, err, store.ErrNotFound)
	assert.Zero(t, d.count(`SELECT count(*) FROM sync_events WHERE data::text LIKE '%secret_%'`), "no event holds a secret")
}

func TestOneOfManyFirstVerificationsIsKept(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	var kept sync.Map
	var group sync.WaitGroup
	for i := range 20 {
		group.Go(func() {
			secret := "secret_" + string(rune('a'+i))
			if ok, err := d.KeepWebhookSecret(t.Context(), "notion", secret, false); err != nil {
				t.Errorf("keep a secret: %v", err)
			} else if ok {
				kept.Store(secret, true)
			}
		})
	}
	group.Wait()
	n := 0
	kept.Range(func(any, any) bool { n++; return true })
	assert.Equal(t, 1, n)
}

func TestNoticeTargets(t *testing.T) {
	t.Parallel()
	d, ctx := newDesk(t), t.Context()
	d.exec(`INSERT INTO folders (folder_id, source, connection, root, title, limits) VALUES
		('it', 'files', 'files', '/it', 'IT', '{"comments": true}'), ('other', 'notion', 'notion', 'x', 'X', '{}')`)
	d.page("top", "")
	d.page("leaf", "top.md")
	targets := func(object, parent string, folders ...string) []knowledge.NoticeTarget {
		found, err := d.NoticeTargets(ctx, "files", knowledge.Notice{SourceID: object, ParentSourceID: parent}, folders, nil)
		require.NoError(t, err)
		return found
	}
	byFolder := func(object, parent string) map[string]knowledge.NoticeTarget {
		found := map[string]knowledge.NoticeTarget{}
		for _, target := range targets(object, parent) {
			found[target.FolderID] = target
		}
		return found
	}
	leaf := byFolder("leaf.md", "top.md")
	require.Len(t, leaf, 2, "another connection's folder isn't asked")
	assert.Equal(t, "leaf", leaf["hr"].PageID)
	assert.Equal(t, "top", leaf["hr"].ParentPageID)
	assert.False(t, leaf["hr"].Hidden || leaf["hr"].Excluded || leaf["hr"].IsRoot || leaf["hr"].Comments)
	assert.Empty(t, leaf["it"].PageID)
	assert.True(t, leaf["it"].Comments)
	assert.True(t, byFolder("/it", "")["it"].IsRoot)
	assert.Len(t, targets("leaf.md", "", "it"), 1)

	d.exec(`INSERT INTO exclusions (folder_id, source_id, page_id, subtree, who) VALUES ('hr', 'top.md', 'top', true, 'mika')`)
	assert.True(t, byFolder("leaf.md", "top.md")["hr"].Excluded, "below an excluded subtree")
	assert.True(t, byFolder("new.md", "top.md")["hr"].Excluded, "an unknown one there too")
	assert.False(t, byFolder("new.md", "")["hr"].Excluded)

	d.exec(`UPDATE folders SET paused_at = now() WHERE folder_id = 'hr'`)
	assert.Len(t, targets("leaf.md", ""), 1, "a paused folder has no notices")
	d.exec(`UPDATE deployment SET maintenance = true`)
	assert.Empty(t, targets("leaf.md", ""))
}

func TestAFolderSyncThatAWebhookAskedForCountsForAMinute(t *testing.T) {
	t.Parallel()
	d, ctx := newDesk(t), t.Context()
	look := func(since *time.Time) knowledge.NoticeTarget {
		found, err := d.NoticeTargets(ctx, "files", knowledge.Notice{SourceID: "x"}, nil, since)
		require.NoError(t, err)
		require.Len(t, found, 1)
		return found[0]
	}
	first := look(nil)
	assert.False(t, first.Listed || first.Asked)
	claim, err := d.ClaimFolderRun(ctx, folder, "folder/hr/sync/u1", knowledge.ModeIncremental, "webhook", "loresync")
	require.NoError(t, err)
	require.Equal(t, "claimed", claim.Outcome)
	assert.False(t, look(&first.At).Asked, "one that waits to list is joined")
	_, err = d.BeginListing(ctx, "folder/hr/sync/u1", folder, "run-1")
	require.NoError(t, err)
	assert.True(t, look(&first.At).Listed)
	assert.True(t, look(nil).Asked)
	now := look(nil).At
	assert.False(t, look(&now).Listed, "it began before")
	d.exec(`UPDATE sync_runs SET requested_at = requested_at - interval '2 minutes'`)
	assert.False(t, look(&now).Asked)
}

func TestPagesBelow(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.page("a", "")
	d.page("b", "a.md")
	d.page("c", "b.md")
	d.page("d", "c.md")
	d.page("z", "")
	d.exec(`UPDATE pages SET tombstoned_at = now(), tombstone_reason = 'source', purge_at = now() WHERE page_id = 'b'`)
	d.exec(`UPDATE pages SET removal_rejected = true WHERE page_id = 'd'`)
	below, err := d.PagesBelow(t.Context(), folder, "a.md", 10)
	require.NoError(t, err)
	assert.Equal(t, []knowledge.Lost{{PageID: "c", SourceID: "c.md"}}, below)
	d.exec(`UPDATE pages SET parent_source_id = 'c.md' WHERE page_id = 'a'`)
	_, err = d.PagesBelow(t.Context(), folder, "a.md", 10)
	require.NoError(t, err, "a circle ends")
}

func TestRemoveToldPages(t *testing.T) {
	t.Parallel()
	told := func(d *desk, recent int64, pages ...string) knowledge.ToldRemoval {
		var generation string
		var at time.Time
		require.NoError(t, d.sql.QueryRow(d.t.Context(), `SELECT generation::text, now() FROM folders WHERE folder_id = $1`, folder).Scan(&generation, &at))
		return knowledge.ToldRemoval{FolderID: folder, Generation: generation, PageIDs: pages, Since: at, Undo: undo, Recent: recent}
	}
	fill := func(t *testing.T) *desk {
		t.Helper()
		d := newDesk(t)
		for _, id := range []string{"a", "b", "c"} {
			d.page(id, "")
			d.exec(`UPDATE pages SET read_at = now() - interval '1 hour', attempt_outcome = 'published' WHERE page_id = $1`, id)
		}
		return d
	}

	t.Run("hides what is gone", func(t *testing.T) {
		t.Parallel()
		d := fill(t)
		removed, err := d.RemoveToldPages(d.t.Context(), told(d, 0, "a", "b"))
		require.NoError(t, err)
		assert.Equal(t, knowledge.ToldRemoved{Outcome: "removed", Gone: []string{"a", "b"}}, removed)
		assert.Equal(t, 2, d.count(`SELECT count(*) FROM pages WHERE tombstone_reason = 'source' AND purge_at > now() + interval '6 days'`))
	})
	t.Run("leaves pages alone that were read since, unless the read found nothing", func(t *testing.T) {
		t.Parallel()
		d := fill(t)
		asked := told(d, 0, "a", "b", "c")
		d.exec(`UPDATE pages SET read_at = now() WHERE page_id = 'a'`)
		d.exec(`UPDATE pages SET read_at = now(), attempt_outcome = 'not_found' WHERE page_id = 'b'`)
		removed, err := d.RemoveToldPages(d.t.Context(), asked)
		require.NoError(t, err)
		assert.Equal(t, []string{"b", "c"}, removed.Gone)
	})
	t.Run("leaves pages alone that are being read", func(t *testing.T) {
		t.Parallel()
		d := fill(t)
		d.begins("a")
		removed, err := d.RemoveToldPages(d.t.Context(), told(d, 0, "a"))
		require.NoError(t, err)
		assert.Empty(t, removed.Gone)
	})
	t.Run("leaves a folder alone that became another one", func(t *testing.T) {
		t.Parallel()
		d := fill(t)
		asked := told(d, 0, "a")
		d.exec(`UPDATE folders SET generation = gen_random_uuid()`)
		removed, err := d.RemoveToldPages(d.t.Context(), asked)
		require.NoError(t, err)
		assert.Empty(t, removed.Gone)
	})
	t.Run("wants a new decision when others were removed since", func(t *testing.T) {
		t.Parallel()
		d := fill(t)
		first, second := told(d, 0, "a"), told(d, 0, "b")
		_, err := d.RemoveToldPages(d.t.Context(), first)
		require.NoError(t, err)
		removed, err := d.RemoveToldPages(d.t.Context(), second)
		require.NoError(t, err)
		assert.Equal(t, "recount", removed.Outcome)
		second.Recent = 1
		removed, err = d.RemoveToldPages(d.t.Context(), second)
		require.NoError(t, err)
		assert.Equal(t, []string{"b"}, removed.Gone)
	})
	t.Run("needs no new decision when a person approved, and even then leaves alone what was read since", func(t *testing.T) {
		t.Parallel()
		d := fill(t)
		approved := told(d, 0, "b", "c")
		approved.Approved = true
		_, err := d.RemoveToldPages(d.t.Context(), told(d, 0, "a"))
		require.NoError(t, err)
		d.exec(`UPDATE pages SET read_at = now() WHERE page_id = 'b'`)
		removed, err := d.RemoveToldPages(d.t.Context(), approved)
		require.NoError(t, err)
		assert.Equal(t, knowledge.ToldRemoved{Outcome: "removed", Gone: []string{"c"}}, removed)
		assert.Equal(t, 1, d.count(`SELECT count(*) FROM sync_events WHERE kind = 'removed' AND (data ->> 'approved')::boolean AND page_id = 'c'`))
	})
	t.Run("lets one of many decisions pass at a time", func(t *testing.T) {
		t.Parallel()
		d := fill(t)
		var group sync.WaitGroup
		for _, id := range []string{"a", "b", "c"} {
			asked := told(d, 0, id)
			group.Go(func() {
				if _, err := d.RemoveToldPages(d.t.Context(), asked); err != nil {
					t.Errorf("remove %s: %v", id, err)
				}
			})
		}
		group.Wait()
		assert.Equal(t, 1, d.count(`SELECT count(*) FROM pages WHERE tombstoned_at IS NOT NULL`))
	})
}
