package drivetest_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/api/googleapi"

	"github.com/loresync/loresync/internal/source/gdrive/drivetest"
)

// TestRoot is an alias that means another folder to each user.
func TestRoot(t *testing.T) {
	t.Parallel()
	s := newStand(t, drivetest.Options{})
	folder := drivetest.Must(s.AddFolder("", "folder"))
	mine, err := s.owner().Files.Get("root").Fields("id", "name", "parents").Do()
	require.NoError(t, err)
	assert.Equal(t, s.Root(s.Owner()), mine.Id)
	assert.Equal(t, "My Drive", mine.Name)
	assert.Empty(t, mine.Parents)
	theirs, err := s.account().Files.Get("root").Do()
	require.NoError(t, err)
	assert.Equal(t, s.Root(s.ServiceAccount()), theirs.Id)
	assert.Empty(t, names(t, s.account().Files.List().Q("'root' in parents")), "its own My Drive is empty")
	_, err = s.account().Files.Get(mine.Id).Do()
	notFound(t, err)
	got, err := s.account().Files.Get(folder).Fields("parents").Do()
	require.NoError(t, err)
	assert.Empty(t, got.Parents)
}

// TestShortcuts keep what their target was when they were made.
func TestShortcuts(t *testing.T) {
	t.Parallel()
	s := newStand(t, drivetest.Options{})
	doc := drivetest.Must(s.AddDoc("", "doc", "text"))
	shortcut := drivetest.Must(s.AddShortcut("", "to doc", doc))
	require.NoError(t, s.Delete(doc))
	got, err := s.account().Files.Get(shortcut).Fields(all).Do()
	require.NoError(t, err)
	assert.Equal(t, doc, got.ShortcutDetails.TargetId)
	assert.Equal(t, drivetest.MimeDoc, got.ShortcutDetails.TargetMimeType)
	assert.Zero(t, got.Size)
	assert.Empty(t, got.ExportLinks)
	assert.Equal(t, []string{"to doc"}, names(t, s.account().Files.List().Q("shortcutDetails.targetId = '"+doc+"'")))
	_, err = s.account().Files.Get(shortcut).Download()
	requireStatus(t, err, 403, drivetest.NotDownloadable)
}

// TestAddressesOfFiles are those that people paste.
func TestAddressesOfFiles(t *testing.T) {
	t.Parallel()
	s := newStand(t, drivetest.Options{})
	for id, want := range map[string]string{
		drivetest.Must(s.AddFolder("", "a")):                                 "https://drive.google.com/drive/folders/%",
		drivetest.Must(s.AddDoc("", "a", "")):                                "https://docs.google.com/document/d/%/edit?usp=drivesdk",
		drivetest.Must(s.AddSheet("", "a")):                                  "https://docs.google.com/spreadsheets/d/%/edit?usp=drivesdk",
		drivetest.Must(s.AddSlides("", "a")):                                 "https://docs.google.com/presentation/d/%/edit?usp=drivesdk",
		drivetest.Must(s.AddFile("", "a", "text/plain", nil)):                "https://drive.google.com/file/d/%/view?usp=drivesdk",
		drivetest.Must(s.AddNative("", "a", drivetest.MimeScript, nil)):      "https://drive.google.com/file/d/%/view?usp=drivesdk",
		drivetest.Must(s.AddShortcut("", "a", "1AAAAAAAAAAAAAAAAAAAAAAAAA")): "https://drive.google.com/file/d/%/view?usp=drivesdk",
	} {
		got, err := s.account().Files.Get(id).Fields("webViewLink", "id").Do()
		require.NoError(t, err)
		before, after, _ := strings.Cut(want, "%")
		assert.Equal(t, before+id+after, got.WebViewLink)
	}
}

// FuzzFields sends masks of any kind: each is answered or refused by its name.
func FuzzFields(f *testing.F) {
	for _, seed := range []string{"*", "id,name", "owners(me,displayName)", "capabilities/canDownload", "a((", "*/*", ",", "owners/*(me)"} {
		f.Add(seed)
	}
	server := drivetest.New(drivetest.Options{})
	f.Cleanup(server.Close)
	id := drivetest.Must(server.AddFile("", "file", "text/plain", []byte("text")))
	f.Fuzz(func(t *testing.T, fields string) {
		s := stand{Server: server, t: t}
		if _, err := s.owner().Files.Get(id).Fields(googleapi.Field(fields)).Do(); err != nil {
			requireStatus(t, err, 400, "invalidParameter")
		}
	})
}
