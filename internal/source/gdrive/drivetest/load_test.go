package drivetest_test

import (
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/loresync/loresync/internal/source/gdrive/drivetest"
)

func sample() fstest.MapFS {
	file := func(text string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(text)} }
	return fstest.MapFS{
		"welcome.md": file("# Welcome\n\n![logo](img/logo.png)"), "img/logo.png": file("\x89PNG\r\n\x1a\nlogo"),
		"team/people.csv": file("a,b"), "team/rules/travel.markdown": file("# Travel"), "notes.txt": file("text"), "data.bin": file("\x00\x01"),
		".git/config": file("x"), ".env": file("SECRET=1"),
	}
}

func TestLoad(t *testing.T) {
	t.Parallel()
	s := newStand(t, drivetest.Options{Seed: 5})
	folder := drivetest.Must(s.AddFolder("", "Handbook"))
	ids, err := s.Load(folder, sample(), drivetest.LoadOptions{})
	require.NoError(t, err)
	kinds := map[string]string{}
	for path, id := range ids {
		file := drivetest.Must(s.File(id))
		kinds[path] = file.Name + " " + file.Mime
		dir := folder
		if i := strings.LastIndex(path, "/"); i >= 0 {
			dir = ids[path[:i]]
		}
		assert.Equal(t, []string{dir}, file.Parents, path)
	}
	assert.Equal(t, map[string]string{
		"welcome.md": "welcome " + drivetest.MimeDoc, "img": "img " + drivetest.MimeFolder, "img/logo.png": "logo.png image/png",
		"team": "team " + drivetest.MimeFolder, "team/people.csv": "people.csv text/csv", "team/rules": "rules " + drivetest.MimeFolder,
		"team/rules/travel.markdown": "travel " + drivetest.MimeDoc, "notes.txt": "notes.txt text/plain", "data.bin": "data.bin application/octet-stream",
	}, kinds)
	assert.Contains(t, string(drivetest.Must(s.Exported(ids["welcome.md"], "text/markdown"))), "[image1]: <data:image/png;base64,iVBORw0KGgpsb2dv>")
	_, err = s.Load(folder, sample(), drivetest.LoadOptions{})
	require.Error(t, err, "the ids are taken")

	other := newStand(t, drivetest.Options{Seed: 5})
	drivetest.Must(other.AddFolder("", "Handbook"))
	drivetest.Must(other.AddFolder("", "more"))
	again, err := other.Load(folder, sample(), drivetest.LoadOptions{})
	require.NoError(t, err)
	assert.Equal(t, ids, again, "ids go by the seed, the folder and the path")
}

func TestLoadAsFiles(t *testing.T) {
	t.Parallel()
	s := newStand(t, drivetest.Options{})
	ids, err := s.Load("", sample(), drivetest.LoadOptions{KeepMarkdown: true, Hidden: true})
	require.NoError(t, err)
	file := drivetest.Must(s.File(ids["welcome.md"]))
	assert.Equal(t, "text/markdown", file.Mime)
	assert.Equal(t, "welcome.md", file.Name)
	assert.Contains(t, ids, ".git/config")
	assert.ElementsMatch(t, []string{"welcome.md", "img", "team", "notes.txt", "data.bin", ".git", ".env"},
		names(t, s.owner().Files.List().Q("'root' in parents")))
	assert.Len(t, s.Files(), len(ids))
	_, err = s.Load(ids["welcome.md"], sample(), drivetest.LoadOptions{})
	require.Error(t, err, "a file holds no files")
}
