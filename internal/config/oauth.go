package config

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/loresync/loresync/internal/control"
	"github.com/loresync/loresync/internal/source/notion"
	"github.com/loresync/loresync/internal/source/notion/oauth"
	"github.com/loresync/loresync/internal/source/transport"
	"github.com/loresync/loresync/internal/store"
)

// OAuthStore is what authorized connections ask of the store.
type OAuthStore interface {
	OAuthToken(ctx context.Context, connection string) (store.OAuthToken, error)
	ClaimOAuthRefresh(ctx context.Context, connection, generation, claim string, lasting time.Duration) (claimed, inDoubt bool, err error)
	ReleaseOAuthRefresh(ctx context.Context, connection, claim string, inDoubt bool) error
	RefuseOAuthRefresh(ctx context.Context, connection, claim string) (bool, error)
	KeepOAuthRefresh(ctx context.Context, connection, generation string, sealed store.OAuthSealed) (bool, error)
}

// ledger is the store as the tokens see it: neither knows the other's types.
type ledger struct{ OAuthStore }

// OAuthToken reads.
func (l ledger) OAuthToken(ctx context.Context, connection string) (oauth.Record, error) {
	row, err := l.OAuthStore.OAuthToken(ctx, connection)
	return oauth.Record(row), err
}

// KeepOAuthRefresh stores.
func (l ledger) KeepOAuthRefresh(ctx context.Context, connection, generation string, renewed oauth.Sealed) (bool, error) {
	return l.OAuthStore.KeepOAuthRefresh(ctx, connection, generation, store.OAuthSealed(renewed))
}

var _ control.Authorizer = (*Sources)(nil)

// notionTokens are the tokens of a connection, whether it was authorized or not: it may be at any time. The budget is open.
func (s *Sources) notionTokens(connection string) *oauth.Tokens {
	return oauth.New(oauth.Options{
		Connection: connection, SecretKey: s.config.SecretKey, Ledger: ledger{s.store},
		App: oauth.App{
			BaseURL: s.config.Notion.BaseURL, ClientID: s.config.Notion.OAuthClientID, ClientSecret: s.config.Notion.OAuthClientSecret,
			RedirectURI: s.config.notionCallback(), Transport: transport.New(notion.Transport(connection, s.budget)),
		},
	})
}

// notionToken gives the access token of an authorized connection, and the secret of every other, anew for each request.
func (s *Sources) notionToken(connection string, tokens *oauth.Tokens) func(context.Context) (string, error) {
	return func(ctx context.Context) (string, error) {
		token, err := tokens.Token(ctx)
		if errors.Is(err, oauth.ErrNotAuthorized) {
			token, err = s.secret(ctx, connection, s.config.Notion.Token, notionSetting)
			if err == nil {
				s.use(ctx, connection, notionSetting, []byte(token), "")
			}
		}
		return token, err
	}
}

// notionCallback is the gateway's page that Notion sends people back to.
func (c *Config) notionCallback() string {
	public := strings.TrimRight(c.PublicURL, "/")
	if public == "" {
		public = "http://" + c.Listen
	}
	return public + "/oauth/notion/callback"
}

// Authorization gives the page at the source on which a person authorizes a connection, and the address that it leads back to.
func (s *Sources) Authorization(name, connection, state string) (page, callback string, err error) {
	tokens, err := s.authorizing(name, connection)
	if err != nil {
		return "", "", err
	}
	if err := tokens.Ready(); err != nil {
		return "", "", &control.Error{Kind: control.KindUsage, Code: "oauth_settings", Sentence: err.Error(), Err: err}
	}
	app := oauth.App{
		BaseURL: s.config.Notion.BaseURL, ClientID: s.config.Notion.OAuthClientID, RedirectURI: s.config.notionCallback(),
	}
	return app.AuthorizeURL(state), app.RedirectURI, nil
}

// Exchange turns the code of a person's consent into tokens, encrypted.
func (s *Sources) Exchange(ctx context.Context, name, connection, code string) (store.OAuthSealed, error) {
	tokens, err := s.authorizing(name, connection)
	if err != nil {
		return store.OAuthSealed{}, err
	}
	if err := s.store.SetBudget(ctx, connection, s.config.Notion.Rate, notionBurst); err != nil {
		return store.OAuthSealed{}, err
	}
	sealed, err := tokens.Exchange(ctx, code)
	return store.OAuthSealed(sealed), err
}

// authorizing gives the tokens of a connection of a source that has such an authorization.
func (s *Sources) authorizing(name, connection string) (*oauth.Tokens, error) {
	if s.store == nil {
		return nil, errNoStore
	}
	if name != notion.Name {
		return nil, &control.Error{
			Kind: control.KindRefused, Code: "oauth_unsupported",
			Sentence: fmt.Sprintf("a connection of the source %s is not authorized this way: only those of notion are", name),
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.openBudget()
	return s.notionTokens(connection), nil
}
