package config

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/loresync/loresync/internal/knowledge"
	"github.com/loresync/loresync/internal/source"
	"github.com/loresync/loresync/internal/source/notion"
	"github.com/loresync/loresync/internal/source/notion/notiontest"
	"github.com/loresync/loresync/internal/source/transport"
	"github.com/loresync/loresync/internal/store"
	"github.com/loresync/loresync/internal/testenv"
)

// deployment is a stand-in of Notion, a database, and the settings of processes between them.
type deployment struct {
	*notiontest.Server
	t      *testing.T
	store  *store.Store
	config Config
}

func newDeployment(t *testing.T) *deployment {
	t.Helper()
	workspace := notiontest.New(notiontest.Options{Seed: 1})
	_, err := workspace.AddPage("", "Handbook")
	require.NoError(t, err)
	d := &deployment{t: t, Server: notiontest.NewServer(workspace, notiontest.ServerOptions{OAuth: notiontest.OAuthClient{ID: "app", Secret: "app-secret"}})}
	address, err := d.Start()
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, d.Close()) })
	d.store, err = store.Open(t.Context(), testenv.Database(t), store.Options{})
	require.NoError(t, err)
	t.Cleanup(d.store.Close)
	d.config = Config{
		Listen: "127.0.0.1:8080", SecretKey: strings.Repeat("correct horse ", 3),
		Notion: Notion{BaseURL: address, Rate: 1000, OAuthClientID: "app", OAuthClientSecret: "app-secret", Token: d.Token()},
	}
	return d
}

// process is the sources of one process.
func (d *deployment) process() *Sources {
	d.t.Helper()
	s := NewSources(d.config, d.store)
	d.t.Cleanup(s.Close)
	return s
}

func (d *deployment) authorize(s *Sources) {
	d.t.Helper()
	sealed, err := s.Exchange(d.t.Context(), notion.Name, "notion", d.AuthorizationCode())
	require.NoError(d.t, err)
	_, err = d.store.BeginAuthorization(d.t.Context(), "notion", []byte(sealed.Generation), time.Minute)
	require.NoError(d.t, err)
	kept, err := d.store.KeepAuthorization(d.t.Context(), store.PendingAuthorization{
		Connection: "notion", StateHash: []byte(sealed.Generation),
	}, sealed, "mika")
	require.NoError(d.t, err)
	require.True(d.t, kept)
}

// check reads the root as the due reads do, which goes on while the connection is paused.
func (d *deployment) check(s *Sources) error {
	d.t.Helper()
	src, err := s.Source(d.t.Context(), notion.Name, "notion")
	if err != nil {
		return err
	}
	ctx := transport.WithAttempt(d.t.Context(), transport.Attempt{Check: true})
	_, err = src.List(ctx, source.Root{FolderID: "hr", Ref: notion.Workspace}, "", func(source.Batch) error { return nil })
	return err
}

func (d *deployment) revokeAll() {
	for _, token := range d.AccessTokens() {
		d.Revoke(token)
	}
}

func TestAnAuthorizedConnection(t *testing.T) {
	t.Parallel()

	t.Run("is read with its tokens, which are renewed by themselves", func(t *testing.T) {
		t.Parallel()
		d := newDeployment(t)
		s := d.process()
		require.NoError(t, d.check(s), "with the integration's own token")
		d.revokeAll()
		d.authorize(s)
		require.NoError(t, d.check(s), "a process that has begun uses the tokens at once")
		d.revokeAll()
		require.NoError(t, d.check(s))
		assert.Len(t, d.AccessTokens(), 1)
		row, err := d.store.Connection(t.Context(), "notion")
		require.NoError(t, err)
		assert.Nil(t, row.PausedAt)
	})

	t.Run("needs no token of an integration", func(t *testing.T) {
		t.Parallel()
		d := newDeployment(t)
		d.config.Notion.Token = ""
		s := d.process()
		require.ErrorContains(t, d.check(s), "LORESYNC_NOTION_TOKEN")
		d.authorize(s)
		require.NoError(t, d.check(s))
	})

	t.Run("is paused when Notion ends the authorization, until somebody authorizes it again", func(t *testing.T) {
		t.Parallel()
		d := newDeployment(t)
		s := d.process()
		d.authorize(s)
		d.revokeAll()
		heal := d.Fail(notiontest.OfKind(notiontest.KindToken), 0, func(w http.ResponseWriter, _ *http.Request, _ http.HandlerFunc) {
			w.WriteHeader(http.StatusBadRequest)
			_, _ = w.Write([]byte(`{"error":"invalid_grant"}`))
		})
		var failure *source.Failure
		require.ErrorAs(t, d.check(s), &failure)
		assert.Equal(t, source.ClassUnauthorized, failure.Class)
		row, err := d.store.Connection(t.Context(), "notion")
		require.NoError(t, err)
		assert.NotNil(t, row.PausedAt)
		assert.True(t, strings.HasPrefix(row.PauseReason, knowledge.PausedByToken), row.PauseReason)
		assert.Contains(t, row.PauseReason, "starter connection authorize notion")

		heal()
		d.authorize(s)
		require.NoError(t, d.check(s))
		row, err = d.store.Connection(t.Context(), "notion")
		require.NoError(t, err)
		assert.Nil(t, row.PausedAt)
	})
}

func TestTheCallbackIsBelowThePublicAddress(t *testing.T) {
	t.Parallel()
	for public, want := range map[string]string{
		"":                        "http://127.0.0.1:8080/oauth/notion/callback",
		"https://lore.test":       "https://lore.test/oauth/notion/callback",
		"https://lore.test/base/": "https://lore.test/base/oauth/notion/callback",
	} {
		c := Config{Listen: "127.0.0.1:8080", PublicURL: public}
		assert.Equal(t, want, c.notionCallback())
	}
}
