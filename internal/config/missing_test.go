package config

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/loresync/loresync/internal/source/notion"
	"github.com/loresync/loresync/internal/store"
)

func TestMissingSaysWhatAConnectionLacks(t *testing.T) {
	d := newDeployment(t)
	missing := func(name, connection string) string {
		sentence, err := d.process().Missing(t.Context(), name, connection)
		require.NoError(t, err)
		return sentence
	}
	t.Setenv("H_TOKEN", "")
	_, err := d.store.AddConnection(t.Context(), store.Connection{Name: "wiki", Source: notion.Name, SecretRef: "env:H_TOKEN"}, "mika")
	require.NoError(t, err)
	assert.Empty(t, missing("files", "files"))
	assert.Empty(t, missing(notion.Name, "notion"), "the setting is its token")
	assert.Contains(t, missing(notion.Name, "wiki"), "the secret of connection wiki is empty")
	assert.Contains(t, missing(notion.Name, "wiki"), "starter connection authorize wiki")
	assert.Contains(t, missing("gdrive", "gdrive"), "LORESYNC_GDRIVE_CREDENTIALS_FILE is not set")

	key := filepath.Join(t.TempDir(), "key.json")
	d.config.Notion.Token, d.config.GDrive.CredentialsFile = "", key
	assert.Contains(t, missing(notion.Name, "notion"), "LORESYNC_NOTION_TOKEN is not set")
	assert.Contains(t, missing("gdrive", "gdrive"), "can't be read")
	require.NoError(t, os.WriteFile(key, []byte("{}"), 0o600))
	assert.Empty(t, missing("gdrive", "gdrive"))
	d.authorize(d.process())
	assert.Empty(t, missing(notion.Name, "notion"), "a person's consent needs no setting")
}
