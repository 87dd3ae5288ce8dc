package handbook

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/loresync/loresync/internal/control"
	"github.com/loresync/loresync/internal/knowledge"
)

func TestWrite(t *testing.T) {
	t.Parallel()
	files := fstest.MapFS{"ja/経費精算.md": {Data: []byte("# 経費")}, "about.md": {Data: []byte("# About")}}
	t.Run("puts all files", func(t *testing.T) {
		t.Parallel()
		dir := filepath.Join(t.TempDir(), "sample")
		require.NoError(t, Write(dir, files))
		content, err := os.ReadFile(filepath.Join(dir, "ja", "経費精算.md"))
		require.NoError(t, err)
		assert.Equal(t, "# 経費", string(content))
		left, err := os.ReadDir(filepath.Dir(dir))
		require.NoError(t, err)
		assert.Len(t, left, 1, "nothing is left of the making")
	})
	t.Run("leaves what a person changed and deleted", func(t *testing.T) {
		t.Parallel()
		dir := filepath.Join(t.TempDir(), "sample")
		require.NoError(t, Write(dir, files))
		require.NoError(t, os.WriteFile(filepath.Join(dir, "about.md"), []byte("mine"), 0o600))
		require.NoError(t, os.RemoveAll(filepath.Join(dir, "ja")))
		require.NoError(t, Write(dir, files))
		content, err := os.ReadFile(filepath.Join(dir, "about.md"))
		require.NoError(t, err)
		assert.Equal(t, "mine", string(content))
		assert.NoDirExists(t, filepath.Join(dir, "ja"))
	})
}

// leftAlone is a door behind which the folder is in a state, and nothing may be started.
type leftAlone struct {
	Door
	state string
}

func (d leftAlone) Folder(context.Context, string) (knowledge.Folder, error) {
	return knowledge.Folder{ID: "sample", State: d.state}, nil
}

func TestSyncLeavesAFolderAloneThatAPersonPutAside(t *testing.T) {
	t.Parallel()
	for state, hint := range map[string]string{"deleted": "folder restore sample", "paused": "folder resume sample"} {
		result, err := Sync(t.Context(), leftAlone{state: state}, Files("/"), control.Actor{}, nil)
		require.NoError(t, err)
		assert.Contains(t, result.Skipped, hint)
	}
}
