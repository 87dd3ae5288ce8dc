package control_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/loresync/loresync/internal/control"
	"github.com/loresync/loresync/internal/store"
)

func TestAddFolder(t *testing.T) { //nolint:tparallel // the cases share one room
	t.Parallel()
	r, ctx := newRoom(t, nil, ""), t.Context()
	r.file("a.txt", "text")
	plain := filepath.Join(r.root, "a.txt")
	spec := func(id, src, root string) control.FolderSpec {
		return control.FolderSpec{ID: id, Source: src, Root: root}
	}
	for name, c := range map[string]struct {
		spec control.FolderSpec
		kind control.Kind
		code string
	}{
		"slash":              {spec("a/b", "files", r.root), control.KindUsage, "folder_id"},
		"quote":              {spec(`a"b`, "files", r.root), control.KindUsage, "folder_id"},
		"space":              {spec("a b", "files", r.root), control.KindUsage, "folder_id"},
		"capitals":           {spec("HR", "files", r.root), control.KindUsage, "folder_id"},
		"65 characters":      {spec(strings.Repeat("a", 65), "files", r.root), control.KindUsage, "folder_id"},
		"Japanese":           {spec("人事", "files", r.root), control.KindUsage, "folder_id"},
		"no id":              {spec("", "files", r.root), control.KindUsage, "folder_id"},
		"no source":          {spec("hr", "", r.root), control.KindUsage, "source"},
		"a later source":     {spec("hr", "notion", "workspace"), control.KindUsage, "source"},
		"no root":            {spec("hr", "files", ""), control.KindUsage, "root"},
		"a missing root":     {spec("hr", "files", r.root+"/none"), control.KindUsage, "root"},
		"a file as root":     {spec("hr", "files", plain), control.KindUsage, "root"},
		"NUL in the root":    {spec("hr", "files", "/a\x00b"), control.KindUsage, "root"},
		"unknown connection": {control.FolderSpec{ID: "hr", Source: "files", Root: r.root, Connection: "none"}, control.KindNotFound, "connection_unknown"},
		"wrong connection":   {control.FolderSpec{ID: "hr", Source: "files", Root: r.root, Connection: "notion"}, control.KindUsage, "connection_source"},
		"a title of lines":   {control.FolderSpec{ID: "hr", Source: "files", Root: r.root, Title: "a\nb"}, control.KindUsage, "title"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := r.AddFolder(ctx, c.spec, mika)
			requireKind(t, err, c.kind, c.code)
		})
	}
	folders, err := r.Folders(ctx)
	require.NoError(t, err)
	assert.Empty(t, folders, "nothing that was refused is left")

	folder, err := r.AddFolder(ctx, spec("hr", "files", r.root+"/./"), mika)
	require.NoError(t, err)
	assert.Equal(t, r.root, folder.Root)
	assert.Equal(t, "files", folder.Connection)
	assert.Equal(t, "hr", folder.Title)
	assert.Equal(t, "active", folder.State)
	_, err = r.AddFolder(ctx, spec("hr", "files", r.root), mika)
	requireKind(t, err, control.KindRefused, "folder_exists")
}

func TestADeletedFolderKeepsItsIDUntilItIsPurged(t *testing.T) {
	t.Parallel()
	r, ctx := withFolder(t), t.Context()
	_, err := r.store.AcceptFolderDelete(ctx, store.DeleteRequest{Folder: "hr", Who: "mika", WorkflowID: "folder/hr/delete", Undo: time.Hour})
	require.NoError(t, err)
	_, err = r.AddFolder(ctx, control.FolderSpec{ID: "hr", Source: "files", Root: r.root}, mika)
	requireKind(t, err, control.KindRefused, "folder_deleted")
	assert.Contains(t, err.Error(), "starter folder restore hr")
	assert.Contains(t, err.Error(), "starter folder delete hr --now")
	_, err = r.SetFolder(ctx, "hr", control.FolderPatch{}, mika)
	requireKind(t, err, control.KindRefused, "folder_deleted")
	_, err = r.PauseFolder(ctx, "hr", mika)
	requireKind(t, err, control.KindRefused, "folder_deleted")
	folder, err := r.Folder(ctx, "hr")
	require.NoError(t, err)
	assert.Equal(t, "deleted", folder.State)
}

func TestSetFolder(t *testing.T) {
	t.Parallel()
	r, ctx := withFolder(t), t.Context()
	ref := func(text string) *string { return &text }
	raw := func(text string) *json.RawMessage { m := json.RawMessage(text); return &m }
	second := time.Second
	for code, patch := range map[string]control.FolderPatch{
		"interval": {Interval: &second},
		"readers":  {Readers: raw(`{"a": 1}`)},
		"limits":   {Limits: raw(`{"max_byte": 5}`)},
		"root":     {Root: ref("/does/not/exist")},
		"title":    {Title: ref("")},
		"owner":    {Owner: ref(strings.Repeat("x", 501))},
	} {
		_, err := r.SetFolder(ctx, "hr", patch, mika)
		requireKind(t, err, control.KindUsage, code)
	}
	for _, bad := range []string{`null`, `[]`, `{"max_bytes": -1}`, ``, `{`} {
		_, err := r.SetFolder(ctx, "hr", control.FolderPatch{Limits: raw(bad)}, mika)
		requireKind(t, err, control.KindUsage, "limits")
	}
	_, err := r.SetFolder(ctx, "none", control.FolderPatch{Title: ref("x")}, mika)
	requireKind(t, err, control.KindNotFound, "folder_unknown")
	assert.Contains(t, err.Error(), "starter folder list")

	next := t.TempDir()
	hour := time.Hour
	folder, err := r.SetFolder(ctx, "hr", control.FolderPatch{
		Root: &next, Title: ref("People"), Owner: ref("kim"), Interval: &hour, Readers: raw(`["support"]`), Limits: raw(`{"max_bytes": 100}`),
	}, mika)
	require.NoError(t, err)
	assert.Equal(t, []string{next, "People", "kim", "1h"}, []string{folder.Root, folder.Title, folder.Owner, folder.Interval})
	assert.JSONEq(t, `["support"]`, string(folder.Readers))
	assert.JSONEq(t, `{"max_bytes": 100}`, string(folder.Limits))
}

func TestANewRootDrawsANewGenerationAndTheSameOneDoesNot(t *testing.T) {
	t.Parallel()
	r, ctx := withFolder(t), t.Context()
	generation := func() (g string) {
		require.NoError(t, r.sql.QueryRow(ctx, `SELECT generation::text FROM folders`).Scan(&g))
		return g
	}
	before, same := generation(), r.root+"/"
	_, err := r.SetFolder(ctx, "hr", control.FolderPatch{Root: &same}, mika)
	require.NoError(t, err)
	assert.Equal(t, before, generation())
	other := filepath.Join(r.root, "below")
	require.NoError(t, os.Mkdir(other, 0o750))
	_, err = r.SetFolder(ctx, "hr", control.FolderPatch{Root: &other}, mika)
	require.NoError(t, err)
	assert.NotEqual(t, before, generation())
}

func TestAFolderStaysPausedWhileItsConnectionIs(t *testing.T) {
	t.Parallel()
	r, ctx := withFolder(t), t.Context()
	folder, err := r.PauseFolder(ctx, "hr", mika)
	require.NoError(t, err)
	assert.Equal(t, "paused", folder.State)
	connection, err := r.PauseConnection(ctx, "files", mika)
	require.NoError(t, err)
	assert.Equal(t, control.Connection{Name: "files", Source: "files", State: "paused", Reason: "paused by mika", Since: connection.Since}, connection)
	folder, err = r.ResumeFolder(ctx, "hr", mika)
	require.NoError(t, err)
	assert.Equal(t, "paused", folder.State)
	_, err = r.ResumeFolder(ctx, "hr", mika)
	requireKind(t, err, control.KindRefused, "connection_paused")
	_, err = r.Retry(ctx, "hr", "", mika)
	requireKind(t, err, control.KindRefused, "paused")
	connection, err = r.ResumeConnection(ctx, "files", mika)
	require.NoError(t, err)
	assert.Equal(t, "active", connection.State)
	folder, err = r.ResumeFolder(ctx, "hr", mika)
	require.NoError(t, err)
	assert.Equal(t, "active", folder.State)
}

func TestConnections(t *testing.T) {
	t.Parallel()
	r, ctx := withFolder(t), t.Context()
	_, err := r.AddConnection(ctx, control.ConnectionSpec{Name: "No", Source: "files"}, mika)
	requireKind(t, err, control.KindUsage, "connection_name")
	_, err = r.AddConnection(ctx, control.ConnectionSpec{Name: "wiki", Source: "sharepoint"}, mika)
	requireKind(t, err, control.KindUsage, "source")
	_, err = r.AddConnection(ctx, control.ConnectionSpec{Name: "wiki", Source: "notion", Subject: "kb@example.com"}, mika)
	requireKind(t, err, control.KindUsage, "subject")
	_, err = r.AddConnection(ctx, control.ConnectionSpec{Name: "disk", Source: "files", SecretRef: "hunter2"}, mika)
	requireKind(t, err, control.KindUsage, "secret_ref")
	assert.NotContains(t, err.Error(), "hunter2")
	added, err := r.AddConnection(ctx, control.ConnectionSpec{Name: "disk", Source: "files", SecretRef: "env:DISK"}, mika)
	require.NoError(t, err)
	assert.Equal(t, "active", added.State)
	_, err = r.AddConnection(ctx, control.ConnectionSpec{Name: "disk", Source: "files"}, mika)
	requireKind(t, err, control.KindRefused, "connection_exists")

	checks, err := r.CheckConnection(ctx, "files")
	require.NoError(t, err)
	require.Len(t, checks, 1)
	assert.True(t, checks[0].OK)
	require.NoError(t, os.Rename(r.root, r.root+"-away"))
	checks, err = r.CheckConnection(ctx, "files")
	require.NoError(t, err)
	assert.False(t, checks[0].OK)
	assert.NotEmpty(t, checks[0].Sentence)
	require.NoError(t, os.Rename(r.root+"-away", r.root))
	_, err = r.CheckConnection(ctx, "none")
	requireKind(t, err, control.KindNotFound, "connection_unknown")
}
