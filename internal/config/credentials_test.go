package config

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/loresync/loresync/internal/source/gdrive"
	"github.com/loresync/loresync/internal/source/notion"
	"github.com/loresync/loresync/internal/store"
)

func TestAKeyNamesItsAccountAndNothingSecret(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ key, subject, want string }{
		"a service account":          {`{"type":"service_account","client_email":"kb@p.iam","private_key":"secret"}`, "", "kb@p.iam"},
		"one that acts as a user":    {`{"type":"service_account","client_email":"kb@p.iam"}`, "eve@example.com", "kb@p.iam as eve@example.com"},
		"a person's consent":         {`{"type":"authorized_user","client_id":"c1","client_secret":"secret"}`, "", "a person's consent for the client c1"},
		"what can't be read":         {`secret`, "", ""},
		"what has no account at all": {`{}`, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			assert.Equal(t, c.want, accountOf([]byte(c.key), c.subject))
		})
	}
}

func TestRefusedCredentialsAreReplacedAsTheirOriginSays(t *testing.T) {
	t.Parallel()
	d, ctx := newDeployment(t), t.Context()
	for name, ref := range map[string]string{"by-variable": "env:HR_TOKEN", "by-file": "file:/run/secrets/hr"} {
		added, err := d.store.AddConnection(ctx, store.Connection{Name: name, Source: notion.Name, SecretRef: ref}, "mika")
		require.NoError(t, err)
		require.True(t, added)
	}
	d.config.GDrive.CredentialsFile = "/run/secrets/drive.json"
	s := d.process()
	assert.Contains(t, s.renewal(ctx, notion.Name, "notion"), "set LORESYNC_NOTION_TOKEN for all workers and gateways and restart them")
	assert.Contains(t, s.renewal(ctx, notion.Name, "by-variable"), "set HR_TOKEN for all workers and gateways and restart them")
	assert.Contains(t, s.renewal(ctx, notion.Name, "by-file"), "into /run/secrets/hr: it is read anew, and nothing has to be restarted")
	assert.Contains(t, s.renewal(ctx, gdrive.Name, "gdrive"), "into /run/secrets/drive.json, which is read anew")
	d.authorize(s)
	assert.Contains(t, s.renewal(ctx, notion.Name, "notion"), "starter connection authorize notion")
}

func TestTheKeysThatWorkersUseAreNoted(t *testing.T) {
	t.Parallel()
	d, ctx := newDeployment(t), t.Context()
	used := func() store.KeyInUse {
		row, err := d.store.Connection(ctx, "notion")
		require.NoError(t, err)
		return row.KeyInUse
	}
	require.NoError(t, d.check(d.process()))
	assert.Nil(t, used().KeySince, "a process that is no worker notes nothing")

	worker := func() {
		s := d.process()
		s.KeepKeys()
		require.NoError(t, d.check(s))
	}
	worker()
	first := used()
	require.NotNil(t, first.KeySince)
	assert.Equal(t, notionSetting, first.KeyOrigin)
	worker()
	assert.Equal(t, first, used(), "a worker that starts anew with the same key")

	checked, err := d.process().Identity(ctx, notion.Name, "notion")
	require.NoError(t, err)
	assert.NotEmpty(t, checked.Identity)
	assert.Equal(t, checked.Identity, used().Identity)
	assert.Equal(t, first.KeySince, used().KeySince)

	d.authorize(d.process())
	consent := used()
	assert.Empty(t, consent.KeyDigest, "a person's consent goes before the setting")
	assert.Contains(t, consent.KeyOrigin, "mika")
}
