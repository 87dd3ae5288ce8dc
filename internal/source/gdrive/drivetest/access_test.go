package drivetest_test

import (
	"fmt"
	"strconv"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/api/drive/v3"
	"google.golang.org/api/googleapi"

	"github.com/loresync/loresync/internal/source/gdrive/drivetest"
)

// all is a mask for every field.
const all = googleapi.Field("*")

// TestWhoSeesWhat gives a folder to one user and not to another.
func TestWhoSeesWhat(t *testing.T) {
	t.Parallel()
	s := newStand(t, drivetest.Options{Private: true})
	const ann, bob = "ann@example.org", "bob@elsewhere.org"
	outer := drivetest.Must(s.AddFolder("", "outer"))
	folder := drivetest.Must(s.AddFolder(outer, "folder"))
	file := drivetest.Must(s.AddFile(folder, "file", "text/plain", []byte("text")))
	require.NoError(t, s.Share(folder, ann, drivetest.RoleReader))
	s.AddUser(bob, "Bob")

	got, err := s.as(ann).Files.Get(file).Fields(all).Do()
	require.NoError(t, err)
	assert.Equal(t, []string{folder}, got.Parents)
	assert.False(t, got.OwnedByMe)
	assert.True(t, got.Shared)
	assert.Equal(t, s.Owner(), got.Owners[0].EmailAddress)
	assert.Empty(t, got.Permissions, "a reader isn't told who else is one")
	shared, err := s.as(ann).Files.Get(folder).Fields(all).Do()
	require.NoError(t, err)
	assert.Empty(t, shared.Parents, "the folder above isn't shared")
	assert.NotEmpty(t, shared.SharedWithMeTime)
	assert.Equal(t, []string{"folder"}, names(t, s.as(ann).Files.List().Q("sharedWithMe")))
	assert.ElementsMatch(t, []string{"folder", "file"}, names(t, s.as(ann).Files.List()))

	for _, id := range []string{outer, folder, file} {
		_, err = s.as(bob).Files.Get(id).Do()
		notFound(t, err)
	}
	_, err = s.as(bob).Files.Get(file).Download()
	notFound(t, err)
	assert.Empty(t, names(t, s.as(bob).Files.List()))

	owned, err := s.owner().Files.Get(file).Fields(all).Do()
	require.NoError(t, err)
	assert.Len(t, owned.Permissions, 2)
	assert.Equal(t, []string{owned.Permissions[0].Id, owned.Permissions[1].Id}, owned.PermissionIds)
	require.NoError(t, s.Unshare(folder, ann))
	_, err = s.as(ann).Files.Get(file).Do()
	notFound(t, err)
}

func TestAccessThatIsLost(t *testing.T) {
	t.Parallel()
	s := newStand(t, drivetest.Options{})
	team := drivetest.Must(s.AddDrive("Team"))
	inTeam := drivetest.Must(s.AddFolder(team, "in the drive"))
	folder := drivetest.Must(s.AddFolder("", "folder"))
	file := drivetest.Must(s.AddFile(folder, "file", "text/plain", nil))
	account := s.account()
	sees := func(id string) bool {
		_, err := account.Files.Get(id).SupportsAllDrives(true).Do()
		if err != nil {
			notFound(t, err)
		}
		return err == nil
	}
	for _, lost := range []string{file, folder, team} {
		require.True(t, sees(lost))
		require.NoError(t, s.LoseAccess(lost, s.ServiceAccount()))
		assert.False(t, sees(lost))
		assert.Equal(t, lost == team, sees(file) && !sees(inTeam))
		_, err := s.owner().Files.Get(lost).SupportsAllDrives(true).Do()
		require.NoError(t, err, "others keep their access")
		require.NoError(t, s.RegainAccess(lost, s.ServiceAccount()))
		assert.True(t, sees(lost) && sees(file) && sees(inTeam))
	}
	require.NoError(t, s.LoseAccess(team, s.ServiceAccount()))
	_, err := account.Drives.Get(team).Do()
	notFound(t, err)
	_, _, message := refused(t, err)
	assert.Equal(t, "Shared drive not found: "+team, message)
	list, err := account.Drives.List().Do()
	require.NoError(t, err)
	assert.Empty(t, list.Drives)
}

// TestLinks are good for who has them, and found by nobody.
func TestLinks(t *testing.T) {
	t.Parallel()
	s := newStand(t, drivetest.Options{Private: true})
	folder := drivetest.Must(s.AddFolder("", "folder"))
	drivetest.Must(s.AddFile(folder, "file", "text/plain", nil))
	require.NoError(t, s.SetPermissions(folder, drivetest.Permission{Type: "anyone", Role: drivetest.RoleReader}))
	account := s.account()
	_, err := account.Files.Get(folder).Do()
	require.NoError(t, err)
	assert.Empty(t, names(t, account.Files.List()))
	assert.Equal(t, []string{"file"}, names(t, account.Files.List().Q("'"+folder+"' in parents")))

	key := drivetest.Must(s.RequireResourceKey(folder))
	_, err = account.Files.Get(folder).Do()
	notFound(t, err)
	get := account.Files.Get(folder).Fields("resourceKey")
	get.Header().Set("X-Goog-Drive-Resource-Keys", "1other/0-x,"+folder+"/"+key)
	got, err := get.Do()
	require.NoError(t, err)
	assert.Equal(t, key, got.ResourceKey)
	_, err = account.Files.List().Q("'" + folder + "' in parents").Do()
	notFound(t, err)
	_, err = s.owner().Files.Get(folder).Do()
	require.NoError(t, err, "the owner needs no key")
	shortcut := drivetest.Must(s.AddShortcut("", "shortcut", folder))
	found, err := s.owner().Files.Get(shortcut).Fields("shortcutDetails", "mimeType").Do()
	require.NoError(t, err)
	assert.Equal(t, &drive.FileShortcutDetails{
		TargetId: folder, TargetMimeType: drivetest.MimeFolder, TargetResourceKey: key,
	}, found.ShortcutDetails)
}

func TestSharedDrives(t *testing.T) {
	t.Parallel()
	s := newStand(t, drivetest.Options{})
	team := drivetest.Must(s.AddDrive("Team", "ann@example.org"))
	file := drivetest.Must(s.AddFile(team, "file", "text/plain", []byte("text")))
	account := s.account()
	_, err := account.Files.Get(file).Do()
	notFound(t, err)
	got, err := account.Files.Get(file).SupportsAllDrives(true).Fields(all).Do()
	require.NoError(t, err)
	assert.Equal(t, []string{team}, got.Parents)
	assert.Equal(t, team, got.DriveId)
	assert.Empty(t, got.Owners)
	assert.Empty(t, got.Permissions)
	assert.Equal(t, "text/plain", got.MimeType)
	top, err := account.Files.Get(team).SupportsAllDrives(true).Do()
	require.NoError(t, err)
	assert.Equal(t, "Drive", top.Name, "the drive's name is told by drives.get alone")
	found, err := account.Drives.Get(team).Do()
	require.NoError(t, err)
	assert.Equal(t, "Team", found.Name)
	require.NoError(t, s.Rename(team, "Crew"))
	for i := range 3 {
		drivetest.Must(s.AddDrive(fmt.Sprint("Drive ", i)))
	}
	var seen []string
	require.NoError(t, account.Drives.List().PageSize(3).Pages(t.Context(), func(list *drive.DriveList) error {
		for _, d := range list.Drives {
			seen = append(seen, d.Name)
		}
		return nil
	}))
	assert.Equal(t, []string{"Crew", "Drive 0", "Drive 1", "Drive 2"}, seen)
	assert.Equal(t, 2, s.Count(drivetest.KindDrives))

	permissions, err := account.Permissions.List(file).SupportsAllDrives(true).Fields(all).Do()
	require.NoError(t, err)
	require.Len(t, permissions.Permissions, 3)
	for _, p := range permissions.Permissions {
		require.Len(t, p.PermissionDetails, 1)
		assert.Equal(t, team, p.PermissionDetails[0].InheritedFrom)
		assert.Equal(t, "member", p.PermissionDetails[0].PermissionType)
	}
	require.NoError(t, s.Delete(team))
	_, err = account.Files.Get(file).SupportsAllDrives(true).Do()
	notFound(t, err)
}

func TestListPermissions(t *testing.T) {
	t.Parallel()
	s := newStand(t, drivetest.Options{})
	folder := drivetest.Must(s.AddFolder("", "folder"))
	file := drivetest.Must(s.AddFile(folder, "file", "text/plain", nil))
	require.NoError(t, s.SetPermissions(file,
		drivetest.Permission{Type: "user", Email: "ann@example.org", Role: drivetest.RoleWriter},
		drivetest.Permission{Type: "group", Email: "staff@example.org", Role: drivetest.RoleReader},
		drivetest.Permission{Type: "domain", Domain: "example.org", Role: drivetest.RoleCommenter},
		drivetest.Permission{Type: "anyone", Role: drivetest.RoleReader},
	))
	list, err := s.owner().Permissions.List(file).Fields("permissions(type,role,emailAddress,domain)").Do()
	require.NoError(t, err)
	got := make([]string, 0, len(list.Permissions))
	for _, p := range list.Permissions {
		got = append(got, fmt.Sprint(p.Type, " ", p.EmailAddress, p.Domain, " ", p.Role))
	}
	assert.ElementsMatch(t, []string{
		"user owner@example.org owner", "user ann@example.org writer", "group staff@example.org reader", "domain example.org commenter",
		"anyone  reader", "user loresync@stand-in.iam.gserviceaccount.com reader",
	}, got)
	_, err = s.account().Permissions.List(file).Do()
	requireStatus(t, err, 403, drivetest.InsufficientFile)
}

// TestTheOwnersTrash is hidden from others if that is asked for.
func TestTheOwnersTrash(t *testing.T) {
	t.Parallel()
	for _, hidden := range []bool{false, true} {
		t.Run(strconv.FormatBool(hidden), func(t *testing.T) {
			t.Parallel()
			s := newStand(t, drivetest.Options{HideOwnersTrash: hidden})
			folder := drivetest.Must(s.AddFolder("", "folder"))
			file := drivetest.Must(s.AddFile(folder, "file", "text/plain", nil))
			require.NoError(t, s.Trash(folder))
			for _, service := range []*drive.Service{s.account(), s.owner()} {
				got, err := service.Files.Get(file).Fields("trashed", "explicitlyTrashed").Do()
				if hidden && err != nil {
					notFound(t, err)
					continue
				}
				require.NoError(t, err)
				assert.True(t, got.Trashed)
				assert.False(t, got.ExplicitlyTrashed, "it went with its folder")
			}
		})
	}
}
