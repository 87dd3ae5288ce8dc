package gdrive_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/loresync/loresync/internal/source"
	"github.com/loresync/loresync/internal/source/gdrive/drivetest"
)

func TestFaultR033_A_shortcut_to_what_lies_above_ends(t *testing.T) {
	t.Parallel()
	s := newOffice(t, drivetest.Options{})
	folder := s.folder(s.root.Ref, "Folder")
	page := s.doc(folder, "Page", "x")
	s.shortcut(folder, "To itself", folder)
	s.shortcut(folder, "To the root", s.root.Ref)
	s.shortcut(s.root.Ref, "To the page", page)
	s.shortcut(s.root.Ref, "To the page again", page)
	other := s.folder("", "Other")
	s.shortcut(other, "And back", folder)
	s.shortcut(folder, "There", other)
	all := s.list(s.root)
	assert.ElementsMatch(t, []string{folder, page, other}, all.ids())
	assert.Equal(t, folder, all.entry(t, page).ParentSourceID, "what is in the tree stays in its place")
	assert.Equal(t, folder, all.entry(t, other).ParentSourceID)
	assert.Equal(t, source.VerdictComplete, all.listed.Verdict)
}

func TestShortcut_targets_are_listed_in_its_place_under_their_own_ids(t *testing.T) {
	t.Parallel()
	s := newOffice(t, drivetest.Options{})
	links := s.folder(s.root.Ref, "Links")
	elsewhere := s.folder("", "Elsewhere")
	file := s.doc(elsewhere, "File", "text of the file")
	folder := s.folder("", "Folder")
	below := s.doc(folder, "Below", "text below")
	drive, err := s.AddDrive("Company")
	require.NoError(t, err)
	far := s.doc(drive, "Far", "text afar")
	s.shortcut(links, "Link to a file", file)
	s.shortcut(links, "Second link", file)
	s.shortcut(links, "Link to a folder", folder)
	s.shortcut(links, "Link into a drive", far)
	s.shortcut(links, "Link to what the folder holds", below)
	all := s.list(s.root)
	assert.ElementsMatch(t, []string{links, file, folder, below, far}, all.ids())
	assert.Equal(t, "Links/File", all.entry(t, file).Path)
	assert.Equal(t, links, all.entry(t, file).ParentSourceID)
	assert.Equal(t, folder, all.entry(t, below).ParentSourceID)
	assert.Equal(t, "Links/Folder/Below", all.entry(t, below).Path)
	assert.Equal(t, []string{"user", drive}, s.src.Logs(all.listed.Checkpoint), "the drive that a shortcut leads to is followed, too")
	for _, id := range all.ids() {
		assert.Equal(t, source.PresenceAlive, s.presence(id), id)
	}
	for _, id := range []string{file, below, far} {
		page, err := s.source().Fetch(t.Context(), s.root, id)
		require.NoError(t, err)
		assert.Equal(t, all.entry(t, id), page.Entry)
	}
}

func TestFaultR050_A_shortcut_to_nothing_is_skipped_with_a_reason(t *testing.T) {
	t.Parallel()
	s := newOffice(t, drivetest.Options{})
	hidden, trashed, forbidden := s.doc("", "Hidden", "x"), s.doc("", "Trashed", "x"), s.doc("", "Forbidden", "x")
	kept := s.doc(s.root.Ref, "Kept", "x")
	s.did(s.LoseAccess(hidden, s.ServiceAccount()))
	s.did(s.Trash(trashed))
	s.Fail(drivetest.About(forbidden), 0, drivetest.Refuse(drivetest.InsufficientFile))
	links := make([]string, 0, 5)
	for _, target := range []string{"1nobody-has-this-id-anywhere", hidden, trashed, forbidden} {
		links = append(links, s.shortcut(s.root.Ref, "Link to "+target, target))
	}
	all := s.list(s.root)
	assert.ElementsMatch(t, append(links, kept), all.ids())
	assert.Equal(t, source.VerdictComplete, all.listed.Verdict)
	for _, id := range links {
		e := all.entry(t, id)
		require.NotNil(t, e.Skip)
		assert.Equal(t, "shortcut", e.Skip.Class)
		assert.Equal(t, "shortcut", s.skipped(id))
		assert.Equal(t, source.PresenceAlive, s.presence(id))
	}
}

func TestShortcut_resource_keys_are_sent(t *testing.T) {
	t.Parallel()
	s := newOffice(t, drivetest.Options{Private: true})
	s.did(s.Share(s.root.Ref, s.ServiceAccount(), drivetest.RoleReader))
	old := s.doc("", "Shared by link", "text behind a key")
	s.did(s.SetPermissions(old, drivetest.Permission{Type: "anyone", Role: drivetest.RoleReader}))
	_, err := s.RequireResourceKey(old)
	require.NoError(t, err)
	s.shortcut(s.root.Ref, "Link", old)
	all := s.list(s.root)
	require.Equal(t, []string{old}, all.ids())
	require.Nil(t, all.entries[0].Skip)
	fresh := s.source()
	page, err := fresh.Fetch(t.Context(), s.root, old)
	require.NoError(t, err, "a process that saw no listing finds the key")
	assert.Contains(t, page.Markdown, "behind a key")
}

func TestRoot_with_a_resource_key_is_found_with_it(t *testing.T) {
	t.Parallel()
	s := newOffice(t, drivetest.Options{Private: true})
	old := s.folder("", "Shared by link")
	page := s.doc(old, "Page", "text behind a key")
	s.did(s.SetPermissions(old, drivetest.Permission{Type: "anyone", Role: drivetest.RoleReader}))
	key, err := s.RequireResourceKey(old)
	require.NoError(t, err)
	_, err = s.RequireResourceKey(page)
	require.NoError(t, err)
	assert.Equal(t, source.VerdictRootMissing, s.list(s.at(old)).listed.Verdict)
	ref, err := s.src.Canonical("https://drive.google.com/drive/folders/" + old + "?resourcekey=" + key + "&usp=sharing")
	require.NoError(t, err)
	assert.Equal(t, []string{page}, s.list(s.at(ref)).ids())
	read, err := s.source().Fetch(t.Context(), s.at(ref), page)
	require.NoError(t, err, "a process that saw no listing finds the key")
	assert.Contains(t, read.Markdown, "behind a key")
}
