package drivetest_test

import (
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/api/drive/v3"
	"pgregory.net/rapid"

	"github.com/loresync/loresync/internal/source/gdrive/drivetest"
)

// TestPagesGiveEveryFileOnce lists with pages of any size, in any order.
func TestPagesGiveEveryFileOnce(t *testing.T) {
	t.Parallel()
	clock := drivetest.NewClock(start())
	s := newStand(t, drivetest.Options{Clock: clock})
	want := make([]string, 0, 37)
	for i := range 37 {
		want = append(want, drivetest.Must(s.AddFile("", strconv.Itoa(i%7), "text/plain", make([]byte, i%5))))
		clock.Advance(time.Duration(i%3) * time.Second)
	}
	slices.Sort(want)
	owner := s.owner()
	rapid.Check(t, func(t *rapid.T) {
		order := rapid.SampledFrom([]string{
			"", "name", "name desc", "modifiedTime desc,name", "folder,name_natural", "quotaBytesUsed,createdTime desc",
		}).Draw(t, "order")
		size := rapid.Int64Range(1, 40).Draw(t, "size")
		got := collect(t, owner.Files.List().OrderBy(order).PageSize(size), size)
		slices.Sort(got)
		require.Equal(t, want, got)
	})
}

// collect follows page tokens to the end.
func collect(t require.TestingT, call *drive.FilesListCall, size int64) []string {
	var got []string
	for token := ""; ; {
		list, err := call.PageToken(token).Fields("nextPageToken", "files/id").Do()
		require.NoError(t, err)
		require.LessOrEqual(t, int64(len(list.Files)), size)
		for _, file := range list.Files {
			got = append(got, file.Id)
		}
		if token = list.NextPageToken; token == "" {
			return got
		}
	}
}

func TestOrder(t *testing.T) {
	t.Parallel()
	clock := drivetest.NewClock(start())
	s := newStand(t, drivetest.Options{Clock: clock})
	for _, name := range []string{"b10", "a", "b9"} {
		drivetest.Must(s.AddFile("", name, "text/plain", []byte(name)))
		clock.Advance(time.Second)
	}
	drivetest.Must(s.AddFolder("", "z"))
	cases := map[string][]string{
		"name": {"a", "b10", "b9", "z"}, "name desc": {"z", "b9", "b10", "a"}, "name_natural": {"a", "b9", "b10", "z"},
		"createdTime": {"b10", "a", "b9", "z"}, "folder,modifiedTime desc": {"z", "b9", "a", "b10"}, "quotaBytesUsed desc,name": {"b10", "b9", "a", "z"},
	}
	for order, want := range cases {
		t.Run(order, func(t *testing.T) {
			t.Parallel()
			assert.Equal(t, want, names(t, s.owner().Files.List().OrderBy(order)))
		})
	}
}

func TestParametersThatAreRefused(t *testing.T) {
	t.Parallel()
	s := newStand(t, drivetest.Options{})
	shared := drivetest.Must(s.AddDrive("Team"))
	list := func() *drive.FilesListCall { return s.owner().Files.List() }
	cases := map[string]struct {
		call   *drive.FilesListCall
		status int
		reason drivetest.Reason
	}{
		"too many":             {list().PageSize(1001), 400, drivetest.Invalid},
		"none":                 {list().PageSize(-1), 400, drivetest.Invalid},
		"order":                {list().OrderBy("size"), 400, drivetest.Invalid},
		"order upwards":        {list().OrderBy("name asc"), 400, drivetest.Invalid},
		"order of a search":    {list().OrderBy("name").Q("fullText contains 'a'"), 400, "badRequest"},
		"corpora":              {list().Corpora("teamDrive"), 400, drivetest.Invalid},
		"space":                {list().Spaces("photos"), 400, drivetest.Invalid},
		"made-up token":        {list().PageToken("abc"), 400, drivetest.Invalid},
		"drive without id":     {everywhere(list()).Corpora("drive"), 403, "teamDriveIdRequiresTeamDriveCorpora"},
		"id without drive":     {everywhere(list()).DriveId(shared), 403, "teamDriveIdRequiresTeamDriveCorpora"},
		"drive without items":  {list().SupportsAllDrives(true).Corpora("drive").DriveId(shared), 403, "teamDriveIdRequiresIncludeTeamDriveItems"},
		"all without items":    {list().Corpora("allDrives"), 403, "teamDriveIdRequiresIncludeTeamDriveItems"},
		"items without drives": {list().IncludeItemsFromAllDrives(true), 403, "includeTeamDriveItemsRequiresSupportsTeamDrives"},
		"no such drive":        {everywhere(list()).Corpora("drive").DriveId("0Anothing"), 404, drivetest.NotFound},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := c.call.Do()
			requireStatus(t, err, c.status, c.reason)
		})
	}
}

// TestPageTokens belong to one query of one user.
func TestPageTokens(t *testing.T) {
	t.Parallel()
	s := newStand(t, drivetest.Options{})
	for range 3 {
		drivetest.Must(s.AddFolder("", "f"))
	}
	first, err := s.owner().Files.List().PageSize(1).Q("trashed = false").Do()
	require.NoError(t, err)
	token := first.NextPageToken
	require.NotEmpty(t, token)
	_, err = s.owner().Files.List().PageSize(2).Q("trashed = false").PageToken(token).Do()
	require.NoError(t, err, "the size of a page may change")
	_, err = s.owner().Files.List().Q("trashed = true").PageToken(token).Do()
	requireStatus(t, err, 400, drivetest.Invalid)
	_, err = s.account().Files.List().Q("trashed = false").PageToken(token).Do()
	requireStatus(t, err, 400, drivetest.Invalid)
	changed := []byte(token)
	changed[len(changed)-3] ^= 1
	_, err = s.owner().Files.List().Q("trashed = false").PageToken(string(changed)).Do()
	requireStatus(t, err, 400, drivetest.Invalid)
}

// TestCorpora has a file in each place and looks from each corpus.
func TestCorpora(t *testing.T) {
	t.Parallel()
	s := newStand(t, drivetest.Options{Private: true})
	drivetest.Must(s.AddFolder("", "mine"))
	one := drivetest.Must(s.AddDrive("One", s.ServiceAccount()))
	two := drivetest.Must(s.AddDrive("Two"))
	folder := drivetest.Must(s.AddFolder(one, "in one"))
	drivetest.Must(s.AddFile(folder, "deep in one", "text/plain", nil))
	drivetest.Must(s.AddFolder(two, "in two"))
	direct := drivetest.Must(s.AddFolder(two, "given"))
	require.NoError(t, s.Share(direct, s.ServiceAccount(), drivetest.RoleReader))
	open := drivetest.Must(s.AddFolder("", "for all of us"))
	require.NoError(t, s.SetPermissions(open, drivetest.Permission{
		Type: "domain", Domain: "example.org", Role: drivetest.RoleReader, Discoverable: true,
	}))
	s.AddUser("ann@example.org", "Ann")

	list := func(email string) *drive.FilesListCall { return s.as(email).Files.List() }
	owner, account, ann := s.Owner(), s.ServiceAccount(), "ann@example.org"
	cases := map[string]struct {
		call *drive.FilesListCall
		want []string
	}{
		"own":                      {list(owner), []string{"mine", "for all of us"}},
		"own with drives":          {everywhere(list(owner)), []string{"mine", "for all of us"}},
		"one drive":                {everywhere(list(owner)).Corpora("drive").DriveId(one), []string{"in one", "deep in one"}},
		"all drives":               {everywhere(list(owner)).Corpora("allDrives"), []string{"mine", "for all of us", "in one", "deep in one", "in two", "given"}},
		"the account by itself":    {list(account), nil},
		"the account with drives":  {everywhere(list(account)), []string{"given"}},
		"all drives of the member": {everywhere(list(account)).Corpora("allDrives"), []string{"in one", "deep in one", "given"}},
		"a named folder":           {everywhere(list(account)).Q("'" + folder + "' in parents"), []string{"deep in one"}},
		"the top of a drive":       {everywhere(list(account)).Q("'" + one + "' in parents"), []string{"in one"}},
		"the domain":               {list(ann).Corpora("domain"), []string{"for all of us"}},
		"the space of apps":        {list(owner).Spaces("appDataFolder"), nil},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			assert.ElementsMatch(t, c.want, names(t, c.call))
		})
	}
	_, err := list(account).Q("'" + one + "' in parents").Do()
	notFound(t, err)
}

// TestThousandsOfFiles lists as many as the largest folders that tests sync.
func TestThousandsOfFiles(t *testing.T) {
	t.Parallel()
	s := newStand(t, drivetest.Options{})
	for i := range 20 {
		folder := drivetest.Must(s.AddFolder("", fmt.Sprint("folder ", i)))
		for j := range 125 {
			drivetest.Must(s.AddFile(folder, fmt.Sprint("file ", j), "text/plain", []byte("text")))
		}
	}
	assert.Len(t, collect(t, s.account().Files.List().PageSize(1000), 1000), 2520)
	assert.Equal(t, 3, s.Count(drivetest.KindList))
}

func TestTricksOfLists(t *testing.T) {
	t.Parallel()
	s := newStand(t, drivetest.Options{PageCap: 2})
	for _, name := range []string{"c", "b", "a"} {
		drivetest.Must(s.AddFolder("", name))
	}
	list := func(token string) *drive.FileList {
		got, err := s.owner().Files.List().PageToken(token).OrderBy("name").Do()
		require.NoError(t, err)
		return got
	}
	one := drivetest.OfKind(drivetest.KindList)
	first := list("")
	require.Len(t, first.Files, 2, "a page may hold less than was asked for")

	s.Fail(one, 1, drivetest.EmptyPage())
	empty := list("")
	assert.Empty(t, empty.Files)
	assert.Equal(t, first.Files, list(empty.NextPageToken).Files)

	s.Fail(one, 1, drivetest.Duplicates())
	again := list(list("").NextPageToken)
	assert.Equal(t, []string{"b", "c"}, []string{again.Files[0].Name, again.Files[1].Name})

	s.Fail(one, 1, drivetest.RepeatedToken())
	assert.Equal(t, first.Files, list(list("").NextPageToken).Files)

	s.Fail(one, 1, drivetest.IncompleteSearch())
	incomplete := list("")
	assert.True(t, incomplete.IncompleteSearch)
	assert.Len(t, incomplete.Files, 1)
	assert.Equal(t, http.StatusOK, s.Requests()[0].Status)
}
