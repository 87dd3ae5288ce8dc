package drivetest_test

import (
	"bytes"
	"crypto/md5"
	"encoding/hex"
	"io"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/oauth2/google"
	"google.golang.org/api/drive/v3"
	"google.golang.org/api/googleapi"
	"google.golang.org/api/option"

	"github.com/loresync/loresync/internal/source/gdrive/drivetest"
)

// TestTheGoClient reads a Drive with the client that the project uses, with a key file as admins have it.
func TestTheGoClient(t *testing.T) {
	t.Parallel()
	s := newStand(t, drivetest.Options{})
	folder := drivetest.Must(s.AddFolder("", "Folder"))
	doc := drivetest.Must(s.AddDoc(folder, "Doc", "# Title\n\nText."))
	data := []byte("some bytes")
	file := drivetest.Must(s.AddFile(folder, "file.bin", "application/octet-stream", data))

	config, err := google.JWTConfigFromJSON(s.CredentialsJSON(), drive.DriveReadonlyScope)
	require.NoError(t, err)
	service, err := drive.NewService(t.Context(), option.WithHTTPClient(config.Client(t.Context())), option.WithEndpoint(s.Endpoint()))
	require.NoError(t, err)

	list, err := service.Files.List().Q("'"+folder+"' in parents and trashed = false").
		Fields("nextPageToken", "incompleteSearch", "files(id,name,mimeType,md5Checksum,size,parents,capabilities/canDownload)").Do()
	require.NoError(t, err)
	require.Len(t, list.Files, 2)
	sum := md5.Sum(data)
	assert.Equal(t, hex.EncodeToString(sum[:]), list.Files[0].Md5Checksum)
	assert.Equal(t, int64(len(data)), list.Files[0].Size)
	assert.Equal(t, []string{folder}, list.Files[0].Parents)
	assert.True(t, list.Files[0].Capabilities.CanDownload)
	assert.Equal(t, doc, list.Files[1].Id)

	got, err := service.Files.Get(file).Download()
	require.NoError(t, err)
	defer func() { _ = got.Body.Close() }()
	raw, err := io.ReadAll(got.Body)
	require.NoError(t, err)
	assert.Equal(t, data, raw)

	exported, err := service.Files.Export(doc, "text/markdown").Download()
	require.NoError(t, err)
	defer func() { _ = exported.Body.Close() }()
	raw, err = io.ReadAll(exported.Body)
	require.NoError(t, err)
	assert.Equal(t, "# **Title**\n\nText.\n", string(raw))

	about, err := service.About.Get().Fields("user", "exportFormats").Do()
	require.NoError(t, err)
	assert.Equal(t, s.ServiceAccount(), about.User.EmailAddress)
	assert.Contains(t, about.ExportFormats[drivetest.MimeDoc], "text/markdown")
	assert.True(t, bytes.HasPrefix(s.CredentialsJSON(), []byte("{")))
	_, err = service.Files.Get("1nothing").Do()
	var refused *googleapi.Error
	require.ErrorAs(t, err, &refused)
	assert.Equal(t, "File not found: 1nothing.", refused.Message)
	assert.Equal(t, 1, s.Count(drivetest.KindToken), "one token is good for all requests")
}
