package tests

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/loresync/loresync/internal/control"
	"github.com/loresync/loresync/internal/knowledge"
	"github.com/loresync/loresync/internal/source/gdrive"
	"github.com/loresync/loresync/internal/source/gdrive/drivetest"
	"github.com/loresync/loresync/internal/source/notion"
	"github.com/loresync/loresync/internal/source/notion/notiontest"
)

// added registers another folder and gives what its adder is told.
func (r *rig) added(id, root string) []string {
	r.t.Helper()
	folder, err := r.AddFolder(r.t.Context(), control.FolderSpec{ID: id, Source: r.spec.Source, Root: root}, person)
	require.NoError(r.t, err)
	return folder.Warnings
}

// overlapsOf gives the other folders of each folder, with how the roots lie, as the status has them.
func (r *rig) overlapsOf() map[string]map[string]string {
	r.t.Helper()
	status, err := r.Status(r.t.Context())
	require.NoError(r.t, err)
	all := map[string]map[string]string{}
	for _, folder := range status.Folders {
		shown, err := r.Folder(r.t.Context(), folder.ID)
		require.NoError(r.t, err)
		assert.Equal(r.t, folder.Overlaps, shown.Overlaps)
		all[folder.ID] = map[string]string{}
		for _, o := range folder.Overlaps {
			all[folder.ID][o.FolderID] = o.How
		}
	}
	return all
}

func TestARootBelowOrAboveAnotherFoldersIsToldInNotion(t *testing.T) {
	t.Parallel()
	var top, middle, beside string
	w := newWiki(t, notiontest.ServerOptions{}, notion.Workspace, func(space *notiontest.Workspace) {
		top = notiontest.Must(space.AddPage("", "Handbook", paragraph("All of it.")))
		middle = notiontest.Must(space.AddPage(top, "Travel", paragraph("By train.")))
		notiontest.Must(space.AddPage(middle, "Trains", paragraph("Ask first.")))
		beside = notiontest.Must(space.AddPage("", "Canteen", paragraph("Noodles.")))
	})
	require.Len(t, w.added("travel", middle), 1, "a workspace holds everything, synced or not")
	require.Equal(t, map[string]string{folderID: knowledge.OverlapBelow}, w.overlapsOf()["travel"])
	_, err := w.DeleteFolder(t.Context(), folderID, false, person)
	require.NoError(t, err)
	assert.Empty(t, w.overlapsOf()["travel"], "a deleted folder syncs nothing")

	assert.Empty(t, w.added("handbook", top), "nothing was synced that tells of it")
	w.wait(w.SyncFolder(t.Context(), "handbook", knowledge.ModeFull, person))
	w.server.ResetLog()
	assert.Equal(t, map[string]string{"travel": knowledge.OverlapAbove}, w.overlapsOf()["handbook"], "the first sync found it")
	assert.Equal(t, map[string]string{"handbook": knowledge.OverlapBelow}, w.overlapsOf()["travel"])
	assert.Zero(t, w.server.Count(), "Notion isn't asked for it")
	warnings := w.added("again", middle)
	require.Len(t, warnings, 2)
	assert.Contains(t, warnings[0], `the root is below that of folder "handbook"`)
	assert.Contains(t, warnings[1], `the root is that of folder "travel"`)
	assert.Empty(t, w.added("canteen", beside))
}

func TestARootBelowOrAboveAnotherFoldersIsToldInDrive(t *testing.T) {
	t.Parallel()
	var guides, travel string
	c := newCabinet(t, 500, drivetest.Options{}, func(c *cabinet) {
		guides = drivetest.Must(c.server.AddFolder(c.root, "Guides"))
		travel = drivetest.Must(c.server.AddFolder(guides, "Travel"))
		drivetest.Must(c.server.AddDoc(travel, "Trains", "# Trains\n\nAsk first.\n"))
	})
	key := drivetest.Must(c.server.RequireResourceKey(c.outside))
	require.NoError(t, c.server.Share(c.outside, c.server.ServiceAccount(), drivetest.RoleReader))
	assert.Empty(t, c.added("plain", c.outside+"?resourcekey="+key))
	warnings := c.added("keyed", "https://drive.google.com/drive/folders/"+c.outside+"?resourcekey="+key)
	require.Len(t, warnings, 1, "a key makes no other folder of it")
	assert.Contains(t, warnings[0], `the root is that of folder "plain"`)

	assert.Empty(t, c.added("guides", guides), "nothing was synced that tells of it")
	c.synced()
	assert.Equal(t, map[string]string{folderID: knowledge.OverlapBelow}, c.overlapsOf()["guides"])
	c.server.ResetLog()
	c.overlapsOf()
	assert.Empty(t, c.server.Requests(), "Drive isn't asked for it")
	warnings = c.added("travel", travel)
	require.Len(t, warnings, 1, "the other folder has not been synced")
	assert.Contains(t, warnings[0], `the root is below that of folder "`+folderID+`"`)

	require.NoError(t, c.server.Move(guides, c.outside))
	c.changed()
	assert.Empty(t, c.overlapsOf()["guides"], "it was moved out")
	c.exec(`UPDATE folders SET deleted_at = now(), purge_at = now() WHERE folder_id = 'plain'`)
	assert.Empty(t, c.overlapsOf()["keyed"])
}

func TestTheEmptyDriveOfAServiceAccountIsToldWithItsAddress(t *testing.T) {
	t.Parallel()
	c := newCabinet(t, 500, drivetest.Options{}, func(c *cabinet) {
		drivetest.Must(c.server.AddDoc(c.root, "Plan", "# Plan\n\nText.\n"))
	})
	warnings := c.added("mine", gdrive.MyDrive)
	require.Len(t, warnings, 1)
	assert.Contains(t, warnings[0], "share a folder with "+c.server.ServiceAccount())
	assert.Contains(t, warnings[0], "--subject")

	require.NoError(t, c.server.LoseAccess(c.outside, c.server.ServiceAccount()))
	_, err := c.AddFolder(t.Context(), control.FolderSpec{ID: "unshared", Source: gdrive.Name, Root: c.outside}, person)
	require.Error(t, err)
	assert.Contains(t, err.Error(), "share the folder with "+c.server.ServiceAccount())
	assert.NotContains(t, err.Error(), "any more")
}
