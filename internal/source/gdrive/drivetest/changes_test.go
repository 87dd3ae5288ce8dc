package drivetest_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/api/drive/v3"

	"github.com/loresync/loresync/internal/source/gdrive/drivetest"
)

// token gives a start token of the user's log, or of a shared drive's.
func token(t *testing.T, service *drive.Service, of string) string {
	t.Helper()
	call := service.Changes.GetStartPageToken().SupportsAllDrives(true)
	if of != "" {
		call.DriveId(of)
	}
	got, err := call.Do()
	require.NoError(t, err)
	return got.StartPageToken
}

// changesSince reads a log to its end and gives what it says, in short, and the next token.
func changesSince(t *testing.T, service *drive.Service, of, from string, alter func(*drive.ChangesListCall)) (found []string, next string) {
	t.Helper()
	for {
		call := service.Changes.List(from).SupportsAllDrives(true).IncludeItemsFromAllDrives(true).
			Fields("nextPageToken", "newStartPageToken", "changes(changeType,removed,fileId,driveId,drive/name,file(name,trashed,parents))")
		if of != "" {
			call.DriveId(of)
		}
		if alter != nil {
			alter(call)
		}
		list, err := call.Do()
		require.NoError(t, err)
		for _, c := range list.Changes {
			found = append(found, short(c))
		}
		if list.NextPageToken == "" {
			require.NotEmpty(t, list.NewStartPageToken)
			return found, list.NewStartPageToken
		}
		require.Empty(t, list.NewStartPageToken, "only the last page has it")
		from = list.NextPageToken
	}
}

func short(c *drive.Change) string {
	switch {
	case c.ChangeType == "drive":
		return "drive " + c.Drive.Name
	case c.Removed && c.File == nil:
		return "removed"
	case c.Removed:
		return "left " + c.File.Name
	case c.File.Trashed:
		return "trashed " + c.File.Name
	}
	return c.File.Name
}

func TestChanges(t *testing.T) {
	t.Parallel()
	s := newStand(t, drivetest.Options{PageCap: 1})
	folder := drivetest.Must(s.AddFolder("", "folder"))
	file := drivetest.Must(s.AddFile(folder, "file", "text/plain", nil))
	sub := drivetest.Must(s.AddFolder(folder, "sub"))
	drivetest.Must(s.AddFile(sub, "deep", "text/plain", nil))
	account := s.account()
	at := token(t, account, "")
	step := func(what string, change func() error, want ...string) {
		t.Helper()
		require.NoError(t, change())
		var got []string
		got, at = changesSince(t, account, "", at, nil)
		assert.Equal(t, want, got, what)
	}
	step("nothing", func() error { return nil })
	step("edited", func() error { return s.EditFile(file, []byte("x")) }, "file")
	step("a folder that was trashed is one change", func() error { return s.Trash(sub) }, "trashed sub")
	step("and restored", func() error { return s.Restore(sub) }, "sub")
	step("a folder that moved is one change", func() error { return s.Move(sub, "") }, "removed")
	step("and moved back", func() error { return s.Move(sub, folder) }, "sub")
	step("several changes are one entry, where the last was", func() error {
		require.NoError(t, s.Rename(file, "one"))
		require.NoError(t, s.Rename(sub, "two"))
		return s.Rename(file, "three")
	}, "two", "three")
	step("access to a folder lost is one change", func() error { return s.LoseAccess(folder, s.ServiceAccount()) }, "removed")
	step("what happens there isn't seen as more than that", func() error { return s.Rename(file, "secret") }, "removed")
	step("and given back", func() error { return s.RegainAccess(folder, s.ServiceAccount()) }, "folder")
	step("unshared", func() error { return s.Unshare(folder, s.ServiceAccount()) }, "removed")
	step("shared", func() error { return s.Share(folder, s.ServiceAccount(), drivetest.RoleReader) }, "folder")
	step("deleted", func() error { return s.Delete(sub) }, "removed")
	step("what was never seen isn't told", func() error {
		s.AddUser("ann@example.org", "Ann")
		return s.Rename(s.Root("ann@example.org"), "other")
	})
}

// TestLogsOfSharedDrives are apart from the users' logs.
func TestLogsOfSharedDrives(t *testing.T) {
	t.Parallel()
	s := newStand(t, drivetest.Options{})
	team := drivetest.Must(s.AddDrive("Team"))
	other := drivetest.Must(s.AddDrive("Other"))
	folder := drivetest.Must(s.AddFolder("", "folder"))
	file := drivetest.Must(s.AddFile(team, "file", "text/plain", nil))
	owner := s.owner()
	mine, teams, others := token(t, owner, ""), token(t, owner, team), token(t, owner, other)

	require.NoError(t, s.Rename(file, "new"))
	require.NoError(t, s.Rename(folder, "mine"))
	require.NoError(t, s.Rename(team, "Crew"))
	logs := func(of, at string, alter func(*drive.ChangesListCall)) []string {
		got, _ := changesSince(t, owner, of, at, alter)
		return got
	}
	assert.Equal(t, []string{"new"}, logs(team, teams, nil))
	assert.Empty(t, logs(other, others, nil))
	assert.Equal(t, []string{"new", "mine", "drive Crew"}, logs("", mine, nil))
	without := func(c *drive.ChangesListCall) { c.IncludeItemsFromAllDrives(false) }
	assert.Equal(t, []string{"mine"}, logs("", mine, without))
	require.NoError(t, s.Move(file, other))
	assert.Equal(t, []string{"removed"}, logs(team, teams, nil), "it left the drive")
	assert.Equal(t, []string{"left new"}, logs(team, teams, func(c *drive.ChangesListCall) { c.IncludeCorpusRemovals(true) }))
	assert.Empty(t, logs(team, teams, func(c *drive.ChangesListCall) { c.IncludeRemoved(false) }))
	assert.Equal(t, []string{"new"}, logs(other, others, nil))
	require.NoError(t, s.Move(file, folder))
	assert.Equal(t, []string{"mine", "new"}, logs("", mine, func(c *drive.ChangesListCall) { c.RestrictToMyDrive(true) }))

	require.NoError(t, s.Delete(other))
	assert.NotContains(t, logs("", mine, nil), "drive Other", "the end of a shared drive is in no log")
	_, err := owner.Changes.List(others).DriveId(other).SupportsAllDrives(true).IncludeItemsFromAllDrives(true).Do()
	notFound(t, err)
	_, err = owner.Changes.GetStartPageToken().DriveId(other).SupportsAllDrives(true).Do()
	notFound(t, err)
	_, _, message := refused(t, err)
	assert.Equal(t, "Shared drive not found: "+other, message)
}

func TestChangeTokens(t *testing.T) {
	t.Parallel()
	s := newStand(t, drivetest.Options{})
	team := drivetest.Must(s.AddDrive("Team"))
	owner := s.owner()
	at := token(t, owner, "")
	list := func(service *drive.Service, at string) error {
		_, err := service.Changes.List(at).Do()
		return err
	}
	require.NoError(t, list(owner, at))
	requireStatus(t, list(s.account(), at), 400, drivetest.Invalid)
	requireStatus(t, list(owner, token(t, owner, team)), 400, drivetest.Invalid)
	requireStatus(t, list(owner, "1234"), 400, drivetest.Invalid)
	requireStatus(t, list(owner, ""), 400, "required")
	for _, status := range []int{410, 400} {
		s.ForgetChanges(status)
		got, _, _ := refused(t, list(owner, at))
		assert.Equal(t, status, got)
		at = token(t, owner, "")
		require.NoError(t, list(owner, at), "a fresh one is good")
	}
	_, err := owner.Changes.List(at).IncludeItemsFromAllDrives(true).Do()
	requireStatus(t, err, 403, "includeTeamDriveItemsRequiresSupportsTeamDrives")
	_, err = owner.Changes.List(token(t, owner, team)).DriveId(team).SupportsAllDrives(true).Do()
	requireStatus(t, err, 403, "teamDriveIdRequiresIncludeTeamDriveItems")
}

func TestTricksOfChanges(t *testing.T) {
	t.Parallel()
	s := newStand(t, drivetest.Options{RepeatChanges: true})
	owner := s.owner()
	at := token(t, owner, "")
	file := drivetest.Must(s.AddFile("", "file", "text/plain", nil))
	require.NoError(t, s.Rename(file, "new"))
	got, _ := changesSince(t, owner, "", at, nil)
	assert.Equal(t, []string{"new", "new"}, got, "the same file twice, as it is now")
	s.Fail(drivetest.OfKind(drivetest.KindChanges), 1, drivetest.EmptyPage())
	list, err := owner.Changes.List(at).Do()
	require.NoError(t, err)
	assert.Empty(t, list.Changes)
	got, _ = changesSince(t, owner, "", list.NextPageToken, nil)
	assert.Len(t, got, 2)
}
