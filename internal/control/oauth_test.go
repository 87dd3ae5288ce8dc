package control_test

import (
	"log/slog"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/loresync/loresync/internal/config"
	"github.com/loresync/loresync/internal/control"
	"github.com/loresync/loresync/internal/source/notion/notiontest"
)

// consulate is a room whose connections can be authorized at a stand-in of Notion.
type consulate struct {
	*room
	notion *notiontest.Server
}

func newConsulate(t *testing.T, change ...func(*config.Config)) *consulate {
	t.Helper()
	server := notiontest.NewServer(notiontest.New(notiontest.Options{Seed: 1}), notiontest.ServerOptions{
		OAuth: notiontest.OAuthClient{ID: "app", Secret: "app-secret"},
	})
	address, err := server.Start()
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, server.Close()) })
	c := &consulate{room: newRoom(t, nil, ""), notion: server}
	settings := config.Config{
		PublicURL: "https://lore.test/", SecretKey: strings.Repeat("correct horse ", 3),
		Notion: config.Notion{BaseURL: address, Rate: 1000, OAuthClientID: "app", OAuthClientSecret: "app-secret"},
	}
	for _, apply := range change {
		apply(&settings)
	}
	c.Control = control.New(c.store, nil, config.NewSources(settings, c.store), slog.New(slog.DiscardHandler), control.Options{})
	return c
}

// begin asks for a consent and gives the state of its page.
func (c *consulate) begin(name string) string {
	c.t.Helper()
	begun, err := c.BeginAuthorization(c.t.Context(), name)
	require.NoError(c.t, err)
	page, err := url.Parse(begun.URL)
	require.NoError(c.t, err)
	assert.Equal(c.t, "https://lore.test/oauth/notion/callback", begun.RedirectURI)
	assert.Equal(c.t, begun.RedirectURI, page.Query().Get("redirect_uri"))
	assert.WithinDuration(c.t, time.Now().Add(15*time.Minute), begun.ExpiresAt, time.Minute)
	require.NotEmpty(c.t, page.Query().Get("state"))
	return page.Query().Get("state")
}

// refusedAs checks a refusal's code and that it repeats nothing secret.
func refusedAs(t *testing.T, err error, kind control.Kind, code string) string {
	t.Helper()
	var known *control.Error
	require.ErrorAs(t, err, &known)
	assert.Equal(t, kind, known.Kind)
	assert.Equal(t, code, known.Code)
	assert.NotRegexp(t, `n[tr][nt]_[0-9a-f]|code_[0-9a-f]|app-secret|correct horse`, known.Sentence)
	return known.Sentence
}

func TestAuthorizing(t *testing.T) {
	t.Parallel()

	for name, consent := range map[string]func(code, state string) control.Consent{
		"with the state that came back": func(code, state string) control.Consent { return control.Consent{Code: code, State: state} },
		"with the state, for the connection that it is of": func(code, state string) control.Consent {
			return control.Consent{Connection: "notion", Code: code, State: state}
		},
		"with the code alone": func(code, _ string) control.Consent { return control.Consent{Connection: "notion", Code: code} },
	} {
		t.Run("gives a connection tokens "+name, func(t *testing.T) {
			t.Parallel()
			c := newConsulate(t)
			got, err := c.FinishAuthorization(t.Context(), consent(c.notion.AuthorizationCode(), c.begin("notion")), mika)
			require.NoError(t, err)
			assert.NotEmpty(t, got.Account)
			require.NotNil(t, got.Credentials)
			assert.Equal(t, []string{got.Account, "the consent of mika"}, []string{got.Credentials.Identity, got.Credentials.Origin})
			got.Credentials = nil
			assert.Equal(t, control.Connection{Name: "notion", Source: "notion", State: "active"}, got.Connection)
			_, err = c.store.OAuthToken(t.Context(), "notion")
			require.NoError(t, err)
		})
	}

	t.Run("refuses a state that expired, was used, or is another's", func(t *testing.T) {
		t.Parallel()
		c := newConsulate(t)
		_, err := c.AddConnection(t.Context(), control.ConnectionSpec{Name: "other", Source: "notion"}, mika)
		require.NoError(t, err)
		used, expired, others := c.begin("notion"), c.begin("notion"), c.begin("other")
		_, err = c.FinishAuthorization(t.Context(), control.Consent{Code: c.notion.AuthorizationCode(), State: used}, mika)
		require.NoError(t, err)
		_, err = c.sql.Exec(t.Context(), `UPDATE oauth_states SET expires_at = now() WHERE connection = 'notion'`)
		require.NoError(t, err)
		c.notion.ResetLog()
		for _, consent := range []control.Consent{
			{State: used}, {State: expired}, {State: "made up"}, {State: others, Connection: "notion"}, {Connection: "notion"},
		} {
			consent.Code = c.notion.AuthorizationCode()
			_, err := c.FinishAuthorization(t.Context(), consent, mika)
			assert.Contains(t, refusedAs(t, err, control.KindRefused, "oauth_state"), "begin anew")
		}
		assert.Zero(t, c.notion.Count(), "no code was sent")
		_, err = c.FinishAuthorization(t.Context(), control.Consent{Code: "c0de"}, mika)
		refusedAs(t, err, control.KindUsage, "oauth_state")
		_, err = c.FinishAuthorization(t.Context(), control.Consent{Connection: "nobody", Code: "c0de"}, mika)
		refusedAs(t, err, control.KindNotFound, "connection_unknown")
	})

	t.Run("leaves the state good when Notion doesn't take the code", func(t *testing.T) {
		t.Parallel()
		c := newConsulate(t)
		state := c.begin("notion")
		_, err := c.FinishAuthorization(t.Context(), control.Consent{Code: "code_0bad", State: state}, mika)
		refusedAs(t, err, control.KindRefused, "oauth_exchange")
		_, err = c.FinishAuthorization(t.Context(), control.Consent{Code: c.notion.AuthorizationCode(), State: state}, mika)
		require.NoError(t, err)
	})

	t.Run("refuses connections that have a secret, or are of another source", func(t *testing.T) {
		t.Parallel()
		c := newConsulate(t)
		_, err := c.AddConnection(t.Context(), control.ConnectionSpec{Name: "mine", Source: "notion", SecretRef: "env:X"}, mika)
		require.NoError(t, err)
		_, err = c.BeginAuthorization(t.Context(), "mine")
		refusedAs(t, err, control.KindRefused, "oauth_secret")
		_, err = c.BeginAuthorization(t.Context(), "files")
		refusedAs(t, err, control.KindRefused, "oauth_unsupported")
		_, err = c.BeginAuthorization(t.Context(), "nobody")
		refusedAs(t, err, control.KindNotFound, "connection_unknown")
	})

	for want, change := range map[string]func(*config.Config){
		"LORESYNC_SECRET_KEY is not set":      func(c *config.Config) { c.SecretKey = "" },
		"LORESYNC_SECRET_KEY is too short":    func(c *config.Config) { c.SecretKey = "correct horse" },
		"LORESYNC_NOTION_OAUTH_CLIENT_ID":     func(c *config.Config) { c.Notion.OAuthClientID = "" },
		"LORESYNC_NOTION_OAUTH_CLIENT_SECRET": func(c *config.Config) { c.Notion.OAuthClientSecret = "" },
	} {
		t.Run("says which setting is missing: "+want, func(t *testing.T) {
			t.Parallel()
			_, err := newConsulate(t, change).BeginAuthorization(t.Context(), "notion")
			assert.Contains(t, refusedAs(t, err, control.KindUsage, "oauth_settings"), want)
		})
	}
}
