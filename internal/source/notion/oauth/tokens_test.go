package oauth_test

import (
	"net/url"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/loresync/loresync/internal/source"
	"github.com/loresync/loresync/internal/source/notion/oauth"
)

func TestExchange(t *testing.T) {
	t.Parallel()

	t.Run("gives tokens that Notion takes, and nothing of them can be read in the database", func(t *testing.T) {
		t.Parallel()
		d := newDesk(t)
		p := d.process(d.st)
		p.authorize()
		token := p.token()
		assert.Contains(t, d.AccessTokens(), token)
		var seen int
		require.NoError(t, d.sql.QueryRow(t.Context(), `
			SELECT (SELECT count(*) FROM oauth_tokens t WHERE position($1::bytea IN access_sealed || coalesce(refresh_sealed, '')) > 0
			        OR position('nrt_'::bytea IN refresh_sealed) > 0 OR row_to_json(t)::text LIKE '%' || $2 || '%')
			     + (SELECT count(*) FROM sync_events e WHERE row_to_json(e)::text LIKE '%' || $2 || '%')`, []byte(token), token).Scan(&seen))
		assert.Zero(t, seen)
	})

	t.Run("takes a code once", func(t *testing.T) {
		t.Parallel()
		d := newDesk(t)
		p := d.process(d.st)
		code := d.AuthorizationCode()
		_, err := p.Exchange(t.Context(), code)
		require.NoError(t, err)
		_, err = p.Exchange(t.Context(), code)
		assert.Contains(t, class(t, err, source.ClassUnauthorized), "it is good once")
	})

	t.Run("keeps a code unspent while a setting is missing", func(t *testing.T) {
		t.Parallel()
		d := newDesk(t)
		code := d.AuthorizationCode()
		for want, change := range map[string]func(*oauth.Options){
			"LORESYNC_SECRET_KEY is not set":       func(o *oauth.Options) { o.SecretKey = "" },
			"LORESYNC_SECRET_KEY is too short":     func(o *oauth.Options) { o.SecretKey = "hunter2" },
			"LORESYNC_NOTION_OAUTH_CLIENT_ID":      func(o *oauth.Options) { o.App.ClientID = "" },
			"LORESYNC_NOTION_OAUTH_CLIENT_SECRET ": func(o *oauth.Options) { o.App.ClientSecret = "" },
		} {
			p := d.process(d.st, change)
			require.Error(t, p.Ready())
			_, err := p.Exchange(t.Context(), code)
			assert.Contains(t, class(t, err, source.ClassUnauthorized), want)
		}
		assert.Zero(t, d.renewals())
	})
}

func TestStoredTokens(t *testing.T) {
	t.Parallel()

	t.Run("are refused when they were changed", func(t *testing.T) {
		t.Parallel()
		d := newDesk(t)
		p := d.process(d.st)
		p.authorize()
		old := p.token()
		d.exec(`UPDATE oauth_tokens SET refresh_sealed = set_byte(refresh_sealed, 20, get_byte(refresh_sealed, 20) # 1)`)
		_, err := p.Renew(t.Context(), old)
		assert.Contains(t, class(t, err, source.ClassUnauthorized), "it was changed since it was encrypted")
		d.exec(`UPDATE oauth_tokens SET access_sealed = set_byte(access_sealed, 20, get_byte(access_sealed, 20) # 1)`)
		_, err = p.Token(t.Context())
		assert.Contains(t, class(t, err, source.ClassUnauthorized), "starter connection authorize notion")
		assert.Zero(t, d.renewals(), "Notion is not asked with what we don't know")
	})

	t.Run("are refused in another column, pair or connection", func(t *testing.T) {
		t.Parallel()
		d := newDesk(t)
		p := d.process(d.st)
		p.authorize()
		d.exec(`INSERT INTO connections (name, source) VALUES ('other', 'notion')`)
		d.exec(`INSERT INTO oauth_tokens (connection, generation, access_sealed, account, authorized_by)
			SELECT 'other', generation, access_sealed, '', '' FROM oauth_tokens`)
		_, err := d.process(d.st, func(o *oauth.Options) { o.Connection = "other" }).Token(t.Context())
		class(t, err, source.ClassUnauthorized)
		d.exec(`UPDATE oauth_tokens SET access_sealed = refresh_sealed WHERE connection = 'notion'`)
		_, err = p.Token(t.Context())
		class(t, err, source.ClassUnauthorized)
	})

	t.Run("wait for the key that they were encrypted with", func(t *testing.T) {
		t.Parallel()
		d := newDesk(t)
		p := d.process(d.st)
		p.authorize()
		for secret, want := range map[string]string{key(2): "another LORESYNC_SECRET_KEY", "": "LORESYNC_SECRET_KEY is not set"} {
			_, err := d.process(d.st, func(o *oauth.Options) { o.SecretKey = secret }).Token(t.Context())
			assert.Contains(t, class(t, err, source.ClassUnauthorized), want)
		}
		assert.NotEmpty(t, p.token())
	})
}

func TestAuthorizeURL(t *testing.T) {
	t.Parallel()
	page, err := url.Parse(oauth.App{ClientID: "a b", RedirectURI: "https://lore.test/oauth/notion/callback"}.AuthorizeURL("s&t"))
	require.NoError(t, err)
	assert.Equal(t, "https://api.notion.com/v1/oauth/authorize", page.Scheme+"://"+page.Host+page.Path)
	assert.Equal(t, url.Values{
		"client_id": {"a b"}, "redirect_uri": {"https://lore.test/oauth/notion/callback"}, "response_type": {"code"}, "owner": {"user"}, "state": {"s&t"},
	}, page.Query())
}
