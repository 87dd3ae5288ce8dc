package control_test

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/loresync/loresync/internal/control"
	"github.com/loresync/loresync/internal/knowledge"
)

func TestResolvePageRegistersWhatTheSourceHas(t *testing.T) {
	t.Parallel()
	r, ctx := withFolder(t), t.Context()
	r.file("guides/first day.md", "# First day\n")
	_, err := r.ResolvePage(ctx, "hr", "guides/first day.md", false)
	requireKind(t, err, control.KindNotFound, "page_unknown")
	assert.Contains(t, err.Error(), "starter pages hr")

	first, err := r.ResolvePage(ctx, "hr", "guides/first day.md", true)
	require.NoError(t, err)
	assert.Equal(t, "guides/first day.md", first.SourceID)
	for _, ref := range []string{
		first.PageID, first.SourceID, filepath.Join(r.root, first.SourceID), "file://" + r.root + "/guides/first%20day.md", "./guides/first day.md",
	} {
		again, err := r.ResolvePage(ctx, "hr", ref, false)
		require.NoError(t, err, ref)
		assert.Equal(t, first.PageID, again.PageID, ref)
	}
	page, err := r.Page(ctx, "hr", first.PageID)
	require.NoError(t, err)
	assert.Equal(t, knowledge.StatePending, page.State)
	assert.Equal(t, "request", page.FoundBy)
	require.NotNil(t, page.ParentPageID, "its directory is registered with it")
}

func TestResolvePageKnowsNothingOfStrangers(t *testing.T) {
	t.Parallel()
	r, ctx := withFolder(t), t.Context()
	r.file("guides/a.md", "text")
	for _, ref := range []string{"", "none.md", "../outside.md", "/etc/passwd", "https://example.com/a", "a\x00b", "\xff", "guides", "guides/a.png"} {
		_, err := r.ResolvePage(ctx, "hr", ref, true)
		requireKind(t, err, control.KindNotFound, "page_unknown")
	}
	_, err := r.ResolvePage(ctx, "none", "a.md", true)
	requireKind(t, err, control.KindNotFound, "folder_unknown")
	pages, err := r.Pages(ctx, "hr", control.PageFilter{Containers: true})
	require.NoError(t, err)
	assert.Empty(t, pages)
}

func TestResolvePageRegistersNothingBelowAnExcludedSubtree(t *testing.T) {
	t.Parallel()
	r, ctx := withFolder(t), t.Context()
	r.page("old/deep/a.md")
	top, err := r.ResolvePage(ctx, "hr", "old", false)
	require.NoError(t, err)
	assert.Equal(t, "container", top.Kind)
	r.delete(top.PageID, true, false)
	r.file("old/deep/new/b.md", "later")
	_, err = r.ResolvePage(ctx, "hr", "old/deep/new/b.md", true)
	requireKind(t, err, control.KindRefused, "excluded")
	assert.Contains(t, err.Error(), "starter restore page hr old --subtree")
}

func TestAPurgedPageCanStillBeNamed(t *testing.T) {
	t.Parallel()
	r, ctx := withFolder(t), t.Context()
	id := r.page("a.md")
	r.delete(id, false, true)
	_, err := r.store.PurgePages(ctx, 0, 10)
	require.NoError(t, err)
	for _, ref := range []string{id, "a.md", filepath.Join(r.root, "a.md")} {
		found, err := r.ResolvePage(ctx, "hr", ref, true)
		require.NoError(t, err, ref)
		assert.True(t, found.Purged)
	}
	page, err := r.Page(ctx, "hr", id)
	require.NoError(t, err)
	assert.Equal(t, knowledge.StateExcluded, page.State)
	_, err = r.Markdown(ctx, "hr", id)
	requireKind(t, err, control.KindNotFound, "not_published")
}

func TestPagesTakeOnlyKnownFilters(t *testing.T) {
	t.Parallel()
	r, ctx := withFolder(t), t.Context()
	r.page("a.md")
	deleted := r.page("b.md")
	r.delete(deleted, false, false)
	pages, err := r.Pages(ctx, "hr", control.PageFilter{})
	require.NoError(t, err)
	assert.Equal(t, map[string]knowledge.PageState{"a.md": knowledge.StatePending, "b.md": knowledge.StateExcluded}, stateOf(pages))
	_, err = r.Pages(ctx, "hr", control.PageFilter{State: "gone"})
	requireKind(t, err, control.KindUsage, "state")
	_, err = r.Pages(ctx, "hr", control.PageFilter{Limit: -1})
	requireKind(t, err, control.KindUsage, "limit")
	_, err = r.Pages(ctx, "none", control.PageFilter{})
	requireKind(t, err, control.KindNotFound, "folder_unknown")
	_, err = r.Markdown(ctx, "hr", "a.md")
	requireKind(t, err, control.KindNotFound, "not_published")
	chunks, err := r.Chunks(ctx, "hr", "a.md")
	require.NoError(t, err)
	assert.Empty(t, chunks)
	revisions, err := r.Revisions(ctx, "hr", "a.md")
	require.NoError(t, err)
	assert.Empty(t, revisions)
}
