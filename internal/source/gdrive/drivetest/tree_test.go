package drivetest_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/loresync/loresync/internal/source/gdrive/drivetest"
)

func TestMoves(t *testing.T) {
	t.Parallel()
	s := newStand(t, drivetest.Options{})
	a := drivetest.Must(s.AddFolder("", "a"))
	b := drivetest.Must(s.AddFolder(a, "b"))
	file := drivetest.Must(s.AddFile(b, "file", "text/plain", nil))
	team := drivetest.Must(s.AddDrive("Team"))

	require.Error(t, s.Move(a, b), "not below itself")
	require.Error(t, s.Move(a, a))
	require.Error(t, s.Move(a, file), "not into a file")
	require.Error(t, s.Move(s.Root(s.Owner()), a))
	require.Error(t, s.Move(team, a))
	require.Error(t, s.Move("1nothing", a))

	require.NoError(t, s.Move(b, ""))
	assert.Equal(t, []string{s.Root(s.Owner())}, drivetest.Must(s.File(b)).Parents)
	require.NoError(t, s.Move(b, team))
	got := drivetest.Must(s.File(file))
	assert.Equal(t, team, got.Drive, "all below goes with the folder")
	_, err := s.owner().Files.Get(file).Do()
	notFound(t, err)
	moved, err := s.owner().Files.Get(b).SupportsAllDrives(true).Fields(all).Do()
	require.NoError(t, err)
	assert.Empty(t, moved.Owners)
	assert.Equal(t, []string{team}, moved.Parents)
	require.NoError(t, s.Move(b, a))
	back, err := s.owner().Files.Get(file).Fields(all).Do()
	require.NoError(t, err)
	assert.Empty(t, back.DriveId)
	assert.True(t, back.OwnedByMe)
}

// TestParents has a file in two folders, and in none.
func TestParents(t *testing.T) {
	t.Parallel()
	s := newStand(t, drivetest.Options{})
	a, b := drivetest.Must(s.AddFolder("", "a")), drivetest.Must(s.AddFolder("", "b"))
	file := drivetest.Must(s.AddFile(a, "file", "text/plain", nil))
	require.NoError(t, s.AddParent(file, b))
	require.Error(t, s.AddParent(file, b), "it is there")
	for _, folder := range []string{a, b} {
		assert.Equal(t, []string{"file"}, names(t, s.account().Files.List().Q("'"+folder+"' in parents")))
	}
	trashed := func() bool { return drivetest.Must(s.File(file)).Trashed }
	require.NoError(t, s.Trash(a))
	assert.False(t, trashed(), "one of its folders is left")
	require.NoError(t, s.Trash(b))
	assert.True(t, trashed())
	require.NoError(t, s.Restore(a))
	require.NoError(t, s.Delete(b))
	assert.Equal(t, []string{a}, drivetest.Must(s.File(file)).Parents)
	require.NoError(t, s.Orphan(file))
	got, err := s.owner().Files.Get(file).Fields("parents", "trashed").Do()
	require.NoError(t, err)
	assert.Empty(t, got.Parents)
	assert.False(t, got.Trashed)
	require.NoError(t, s.Move(file, a))
	require.NoError(t, s.Delete(a))
	_, err = s.File(file)
	require.Error(t, err, "what lies in a folder goes with it")
}

// TestDeletingAFolderLeavesOthersFiles without a parent, as Drive does.
func TestDeletingAFolderLeavesOthersFiles(t *testing.T) {
	t.Parallel()
	s := newStand(t, drivetest.Options{})
	folder := drivetest.Must(s.AddFolder("", "folder"))
	require.NoError(t, s.Share(folder, "ann@example.org", drivetest.RoleWriter))
	require.NoError(t, s.As("ann@example.org"))
	require.Error(t, s.As("nobody@example.org"))
	anns := drivetest.Must(s.AddFile(folder, "hers", "text/plain", nil))
	require.NoError(t, s.As(s.Owner()))
	require.NoError(t, s.Delete(folder))
	got, err := s.as("ann@example.org").Files.Get(anns).Fields("parents", "ownedByMe").Do()
	require.NoError(t, err)
	assert.True(t, got.OwnedByMe)
	assert.Empty(t, got.Parents)
	_, err = s.owner().Files.Get(anns).Do()
	notFound(t, err)
}

// TestVersions rise with every change, times with some.
func TestVersions(t *testing.T) {
	t.Parallel()
	clock := drivetest.NewClock(start())
	s := newStand(t, drivetest.Options{Clock: clock})
	file := drivetest.Must(s.AddFile("", "file", "text/plain", []byte("one")))
	folder := drivetest.Must(s.AddFolder("", "folder"))
	later := start().Add(time.Hour)
	clock.Set(later)
	read := func() (version int64, modified, revision string) {
		got, err := s.owner().Files.Get(file).Fields("version", "modifiedTime", "headRevisionId").Do()
		require.NoError(t, err)
		return got.Version, got.ModifiedTime, got.HeadRevisionId
	}
	before, at, revision := read()
	assert.Equal(t, "2026-07-04T09:08:57.778Z", at)
	for _, change := range []func() error{
		func() error { return s.Touch(file) }, func() error { return s.Rename(file, "other") }, func() error { return s.Move(file, folder) },
		func() error { return s.Trash(file) }, func() error { return s.Restore(file) }, func() error { return s.SetAbusive(file, true) },
	} {
		require.NoError(t, change())
		version, modified, same := read()
		assert.Greater(t, version, before)
		assert.Equal(t, at, modified)
		assert.Equal(t, revision, same)
		before = version
	}
	require.NoError(t, s.EditFile(file, []byte("two")))
	_, modified, other := read()
	assert.Equal(t, "2026-07-04T10:08:57.778Z", modified)
	assert.NotEqual(t, revision, other)
	require.NoError(t, s.SetModified(file, start()))
	_, modified, _ = read()
	assert.Equal(t, at, modified, "clients may set it")
	require.Error(t, s.EditDoc(file, "x"))
	require.Error(t, s.EditFile(folder, nil))
}

// TestIDs are the same for the same calls, and as long as Drive's.
func TestIDs(t *testing.T) {
	t.Parallel()
	make3 := func(seed uint64) []string {
		s := newStand(t, drivetest.Options{Seed: seed})
		return []string{
			drivetest.Must(s.AddFolder("", "a")), drivetest.Must(s.AddDoc("", "a", "")), drivetest.Must(s.AddDrive("a")), s.Root(s.Owner()),
		}
	}
	one := make3(1)
	assert.Equal(t, one, make3(1))
	assert.NotEqual(t, one, make3(2))
	for i, length := range []int{33, 44, 19, 19} {
		assert.Len(t, one[i], length)
	}
}
