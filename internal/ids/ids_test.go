package ids_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/loresync/loresync/internal/ids"
)

var (
	folders = rapid.StringMatching(`[a-z0-9_-]{1,64}`)
	pages   = rapid.StringMatching(`[A-Za-z0-9_-]{1,128}`)
	uniques = rapid.StringMatching(`[A-Za-z0-9_-]{1,36}`)
	events  = rapid.StringMatching(`[A-Za-z0-9_-]{1,128}`)
)

func TestEveryIDRoundTripsAndFits(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		folder, page, unique := folders.Draw(t, "folder"), pages.Draw(t, "page"), uniques.Draw(t, "unique")
		for _, want := range []ids.Parsed{
			{Kind: ids.KindSyncFolder, Folder: folder, Unique: unique},
			{Kind: ids.KindSyncPage, Folder: folder, Page: page},
			{Kind: ids.KindDeletePage, Folder: folder, Page: page},
			{Kind: ids.KindDeleteFolder, Folder: folder},
			{Kind: ids.KindHold, Folder: folder, Unique: unique},
			{Kind: ids.KindWebhook, Connection: folder, Unique: events.Draw(t, "event")},
		} {
			id := build(t, want)
			got, err := ids.Parse(id)
			require.NoError(t, err)
			require.Equal(t, want, got)
			require.LessOrEqual(t, len(id), ids.MaxWorkflow)
		}
	})
}

func TestNoPrefixOfOneFolderOrPageMatchesAnother(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		folder, page := folders.Draw(t, "folder"), pages.Draw(t, "page")
		otherFolder := rapid.OneOf(folders, rapid.Just(folder+"0"), rapid.Just(folder+"_")).Filter(func(s string) bool {
			return s != folder && len(s) <= ids.MaxFolder
		}).Draw(t, "other folder")
		otherPage := rapid.OneOf(pages, rapid.Just(page+"0"), rapid.Just(strings.ToUpper(page))).Filter(func(s string) bool {
			return s != page && len(s) <= ids.MaxPage
		}).Draw(t, "other page")

		folderPrefix, err := ids.FolderPrefix(folder)
		require.NoError(t, err)
		pagePrefix, err := ids.PagePrefix(folder, page)
		require.NoError(t, err)
		require.True(t, strings.HasSuffix(folderPrefix, "/") && strings.HasSuffix(pagePrefix, "/"))

		inside, outside := mustSync(t, folder, page), mustSync(t, otherFolder, page)
		require.True(t, strings.HasPrefix(inside, folderPrefix) && strings.HasPrefix(inside, pagePrefix))
		require.False(t, strings.HasPrefix(outside, folderPrefix))
		require.False(t, strings.HasPrefix(mustSync(t, folder, otherPage), pagePrefix))
	})
}

func TestHostileSegmentsAreRefused(t *testing.T) {
	t.Parallel()
	for _, folder := range []string{
		"", "a/b", `a"b`, `a'b`, `a\b`, "a b", "Handbook", "ハンドブック", strings.Repeat("a", 65), "a\x00b", "a%b", "..", "a.b", "é",
	} {
		for _, build := range []func() (string, error){
			func() (string, error) { return ids.SyncFolder(folder, "u") },
			func() (string, error) { return ids.SyncPage(folder, "p") },
			func() (string, error) { return ids.DeletePage(folder, "p") },
			func() (string, error) { return ids.DeleteFolder(folder) },
			func() (string, error) { return ids.FolderPrefix(folder) },
			func() (string, error) { return ids.PagePrefix(folder, "p") },
		} {
			id, err := build()
			require.Error(t, err, "folder %q gave %q", folder, id)
			assert.Empty(t, id)
		}
	}
	for _, page := range []string{"", "a/b", `"`, " ", "頁", strings.Repeat("p", 129)} {
		_, err := ids.SyncPage("f", page)
		require.Error(t, err, "page %q", page)
	}
}

func TestEveryEventOfAConnectionHasAnID(t *testing.T) {
	t.Parallel()
	id, err := ids.Webhook("notion-hr", "367cba44-b6f3-4c92-81e7-6a2e9659efd4")
	require.NoError(t, err)
	assert.Equal(t, "connection/notion-hr/webhook/367cba44-b6f3-4c92-81e7-6a2e9659efd4", id)
	seen := map[string]string{}
	for _, event := range []string{"a/b", "a b", "é", strings.Repeat("e", 129), strings.Repeat("e", 130), "a\x00", `"`} {
		id, err := ids.Webhook("notion", event)
		require.NoError(t, err)
		assert.Empty(t, seen[id], "%q and %q meet", event, seen[id])
		seen[id] = event
		parsed, err := ids.Parse(id)
		require.NoError(t, err)
		assert.Equal(t, ids.KindWebhook, parsed.Kind)
	}
	for _, c := range [][2]string{{"notion", ""}, {"", "e"}, {"Notion", "e"}, {"a/b", "e"}, {strings.Repeat("n", 65), "e"}} {
		_, err := ids.Webhook(c[0], c[1])
		require.Error(t, err, c)
	}
}

func TestScheduledRunsAreRecognised(t *testing.T) {
	t.Parallel()
	got, err := ids.Parse("all/daily-2026-11-30T03:00:00Z")
	require.NoError(t, err)
	assert.Equal(t, ids.Parsed{Kind: ids.KindAll, Work: "daily", Unique: "2026-11-30T03:00:00Z"}, got)
	for _, id := range []string{"all/", "all/nothing", "all/daily-", "all/daily-yesterday"} {
		_, err := ids.Parse(id)
		require.Error(t, err, id)
	}
}

func TestPageIDsOfPathsAreStableAndTellTakenOnesApart(t *testing.T) {
	t.Parallel()
	first := ids.PageIDForPath("人事/休暇.md", 0)
	assert.Equal(t, first, ids.PageIDForPath("人事/休暇.md", 0))
	assert.NotEqual(t, first, ids.PageIDForPath("人事/休暇.md", 1))
	require.NoError(t, ids.CheckPage(ids.PageIDForPath("人事/休暇.md", 1)))
	assert.Equal(t, "3f2a", ids.PageIDForVendor("3f2a"))
	require.NoError(t, ids.CheckPage(ids.PageIDForVendor("a b/ü")))
}

func FuzzParseAcceptsOnlyWhatIsBuilt(f *testing.F) {
	for _, seed := range []string{
		"folder/f1/page/p/sync", "folder/f1/delete", "folder/f1/sync/u", "all/sync", "folder//page//sync", "folder/F/delete",
		"connection/notion/webhook/e", "connection//webhook/e",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, id string) {
		parsed, err := ids.Parse(id)
		if err != nil || parsed.Kind == ids.KindAll {
			return
		}
		if got := build(t, parsed); got != id {
			t.Fatalf("%q parsed to %+v, which builds %q", id, parsed, got)
		}
	})
}

func build(t require.TestingT, parsed ids.Parsed) string {
	var id string
	var err error
	switch parsed.Kind {
	case ids.KindSyncFolder:
		id, err = ids.SyncFolder(parsed.Folder, parsed.Unique)
	case ids.KindSyncPage:
		id, err = ids.SyncPage(parsed.Folder, parsed.Page)
	case ids.KindDeletePage:
		id, err = ids.DeletePage(parsed.Folder, parsed.Page)
	case ids.KindDeleteFolder:
		id, err = ids.DeleteFolder(parsed.Folder)
	case ids.KindHold:
		id, err = ids.Hold(parsed.Folder, parsed.Unique)
	case ids.KindWebhook:
		id, err = ids.Webhook(parsed.Connection, parsed.Unique)
	case ids.KindAll:
		id = "all/" + parsed.Work
	}
	require.NoError(t, err)
	return id
}

func mustSync(t require.TestingT, folder, page string) string {
	id, err := ids.SyncPage(folder, page)
	require.NoError(t, err)
	return id
}
