package drivetest_test

import (
	"context"
	"encoding/json"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/oauth2"
	"golang.org/x/oauth2/google"
	"golang.org/x/oauth2/jwt"
	"google.golang.org/api/drive/v3"
	"google.golang.org/api/option"

	"github.com/loresync/loresync/internal/source/gdrive/drivetest"
)

// who asks, with a client, whose Drive it is.
func (s stand) who(client *http.Client) (string, error) {
	s.t.Helper()
	service, err := drive.NewService(s.t.Context(), option.WithHTTPClient(client), option.WithEndpoint(s.Endpoint()))
	require.NoError(s.t, err)
	about, err := service.About.Get().Fields("user").Do()
	if err != nil {
		return "", err
	}
	return about.User.EmailAddress, nil
}

// key gives a client of the service account, as a user if one is named.
func (s stand) key(subject string) *http.Client {
	s.t.Helper()
	config, err := google.JWTConfigFromJSON(s.CredentialsJSON(), drive.DriveReadonlyScope)
	require.NoError(s.t, err)
	config.Subject = subject
	return config.Client(s.t.Context())
}

// code gives the code of a refusal by the token endpoint.
func code(t *testing.T, err error) string {
	t.Helper()
	var e *oauth2.RetrieveError
	require.ErrorAs(t, err, &e)
	if e.ErrorCode != "" {
		return e.ErrorCode
	}
	// For keys, the library leaves the body as it came.
	var body struct {
		Error string `json:"error"`
	}
	require.NoError(t, json.Unmarshal(e.Body, &body))
	return body.Error
}

func TestServiceAccounts(t *testing.T) {
	t.Parallel()
	s := newStand(t, drivetest.Options{})
	got, err := s.who(s.key(""))
	require.NoError(t, err)
	assert.Equal(t, s.ServiceAccount(), got)
	got, err = s.who(s.key(s.Owner()))
	require.NoError(t, err)
	assert.Equal(t, s.Owner(), got, "delegation")
	_, err = s.who(s.key("nobody@example.org"))
	assert.Equal(t, "invalid_grant", code(t, err))
	s.Revoke(s.Owner())
	_, err = s.who(s.key(s.Owner()))
	assert.Equal(t, "invalid_grant", code(t, err))
	s.Allow(s.Owner())
	_, err = s.who(s.key(s.Owner()))
	require.NoError(t, err)

	strict := newStand(t, drivetest.Options{NoDelegation: true})
	_, err = strict.who(strict.key(strict.Owner()))
	assert.Equal(t, "unauthorized_client", code(t, err))
	_, err = strict.who(strict.key(""))
	require.NoError(t, err)
}

func TestAssertionsThatAreRefused(t *testing.T) {
	t.Parallel()
	s := newStand(t, drivetest.Options{})
	other := newStand(t, drivetest.Options{})
	config := func() *jwt.Config {
		c, err := google.JWTConfigFromJSON(s.CredentialsJSON(), drive.DriveReadonlyScope)
		require.NoError(t, err)
		return c
	}
	cases := map[string]struct {
		want  string
		alter func(*jwt.Config)
	}{
		"another's account": {"invalid_grant", func(c *jwt.Config) { c.Email = "other@stand-in.iam.gserviceaccount.com" }},
		"another audience":  {"invalid_grant", func(c *jwt.Config) { c.Audience = other.TokenURL() }},
		"too long":          {"invalid_grant", func(c *jwt.Config) { c.Expires = 3 * time.Hour }},
		"other scope":       {"invalid_scope", func(c *jwt.Config) { c.Scopes = []string{"https://www.googleapis.com/auth/calendar"} }},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			config := config()
			c.alter(config)
			_, err := config.TokenSource(t.Context()).Token()
			assert.Equal(t, c.want, code(t, err))
		})
	}
	for _, assertion := range []string{"", "a.b", "a.b.c", "e30.e30.e30"} {
		answer, err := http.PostForm(s.TokenURL(), map[string][]string{
			"grant_type": {"urn:ietf:params:oauth:grant-type:jwt-bearer"}, "assertion": {assertion},
		})
		require.NoError(t, err)
		require.NoError(t, answer.Body.Close())
		assert.Equal(t, http.StatusBadRequest, answer.StatusCode)
	}
}

func TestRefreshTokens(t *testing.T) {
	t.Parallel()
	for _, rotate := range []bool{false, true} {
		s := newStand(t, drivetest.Options{RotateRefresh: rotate})
		id, secret := s.OAuthClient()
		config := &oauth2.Config{ClientID: id, ClientSecret: secret, Endpoint: oauth2.Endpoint{TokenURL: s.TokenURL()}}
		refresh := s.RefreshToken("ann@example.org")
		exchange := func(config *oauth2.Config, refresh string) (*oauth2.Token, error) {
			return config.TokenSource(t.Context(), &oauth2.Token{RefreshToken: refresh}).Token()
		}
		got, err := exchange(config, refresh)
		require.NoError(t, err)
		email, err := s.who(oauth2.NewClient(context.Background(), oauth2.StaticTokenSource(got)))
		require.NoError(t, err)
		assert.Equal(t, "ann@example.org", email)
		assert.Equal(t, rotate, got.RefreshToken != refresh)
		_, err = exchange(config, refresh)
		if rotate {
			assert.Equal(t, "invalid_grant", code(t, err), "the old one is spent")
		} else {
			require.NoError(t, err)
		}
		wrong := *config
		wrong.ClientSecret = "other"
		_, err = exchange(&wrong, got.RefreshToken)
		assert.Equal(t, "invalid_client", code(t, err))
		s.Revoke("ann@example.org")
		_, err = exchange(config, got.RefreshToken)
		assert.Equal(t, "invalid_grant", code(t, err))
		var file map[string]string
		require.NoError(t, json.Unmarshal(s.UserCredentialsJSON("ann@example.org"), &file))
		assert.Equal(t, "authorized_user", file["type"])
	}
}

func TestAccessTokens(t *testing.T) {
	t.Parallel()
	s := newStand(t, drivetest.Options{})
	client := s.HTTPClient(s.Owner())
	_, err := s.who(client)
	require.NoError(t, err)
	s.Revoke(s.Owner())
	_, err = s.who(client)
	requireStatus(t, err, 401, drivetest.AuthError)
	s.Allow(s.Owner())
	s.ExpireTokens()
	_, err = s.who(client)
	requireStatus(t, err, 401, drivetest.AuthError)
	_, err = s.who(http.DefaultClient)
	requireStatus(t, err, 401, drivetest.AuthError)
	short := newStand(t, drivetest.Options{TokenLife: time.Nanosecond})
	_, err = short.who(short.HTTPClient(short.Owner()))
	requireStatus(t, err, 401, drivetest.AuthError)
}
