package control

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"strings"
	"time"

	"github.com/loresync/loresync/internal/source"
	"github.com/loresync/loresync/internal/store"
)

// Authorizer is what Sources are besides where connections can be authorized by a person's consent at the source.
type Authorizer interface {
	// Authorization gives the page at the source that asks for consent, and the address that it leads back to. The state comes back
	// with the code. The error is a *Error when the source has no such page, or the settings don't suffice.
	Authorization(source, connection, state string) (page, callback string, err error)
	// Exchange turns the code of a consent into tokens, encrypted. A code is good for one exchange.
	Exchange(ctx context.Context, source, connection, code string) (store.OAuthSealed, error)
}

// stateLasts is how long a person has for the consent: time to sign in and to choose pages, not to leave the page open over night.
const stateLasts = 15 * time.Minute

// longestCode bounds what may be a code or state, in bytes. Notion's have less than a hundred.
const longestCode = 2048

// Authorization is a consent that a person was asked for.
type Authorization struct {
	Connection string `json:"connection"`
	// URL is the page to open.
	URL string `json:"url"`
	// RedirectURI is where the page leads back to. It has to be in the settings of the integration at the source.
	RedirectURI string `json:"redirect_uri"`
	// ExpiresAt is when the page is no longer good for an authorization.
	ExpiresAt time.Time `json:"expires_at"`
}

// Consent is what a person brings back from the source.
type Consent struct {
	// Connection may be empty where State names it.
	Connection string
	// Code is what is exchanged for tokens.
	Code string
	// State came with the code. Without it, which is for people at a command line alone, Connection must have been asked about.
	State string
}

// Authorized is a connection that has tokens of its own from now on.
type Authorized struct {
	Connection
	// Account is what the source calls the account.
	Account string `json:"account"`
}

// BeginAuthorization asks for the consent that gives a connection its tokens. Any number may be under way; each state is good for
// one authorization and for 15 minutes.
func (c *Control) BeginAuthorization(ctx context.Context, name string) (Authorization, error) {
	row, authorizer, err := c.authorizable(ctx, name)
	if err != nil {
		return Authorization{}, err
	}
	state := rand.Text()
	page, callback, err := authorizer.Authorization(row.Source, name, state)
	if err != nil {
		return Authorization{}, err
	}
	expires, err := c.store.BeginAuthorization(ctx, name, stateHash(state), stateLasts)
	return Authorization{Connection: name, URL: page, RedirectURI: callback, ExpiresAt: expires}, err
}

// FinishAuthorization exchanges what a person brought back, and stores the tokens in the place of older ones. A connection that was
// paused because its credentials were refused goes on.
func (c *Control) FinishAuthorization(ctx context.Context, consent Consent, actor Actor) (Authorized, error) {
	if consent.Code == "" || len(consent.Code) > longestCode || len(consent.State) > longestCode || !storable(consent.Code) {
		return Authorized{}, usage("oauth_code", "no usable code was given: paste the code, or the whole address that the source led back to")
	}
	pending, err := c.pendingAuthorization(ctx, consent)
	if err != nil {
		return Authorized{}, err
	}
	row, authorizer, err := c.authorizable(ctx, pending.Connection)
	if err != nil {
		return Authorized{}, err
	}
	sealed, err := authorizer.Exchange(ctx, row.Source, row.Name, consent.Code)
	if err != nil {
		return Authorized{}, exchangeTrouble(err)
	}
	kept, err := c.store.KeepAuthorization(ctx, pending, sealed, who(actor))
	if err != nil {
		return Authorized{}, err
	}
	if !kept {
		return Authorized{}, stateUnknown(row.Name)
	}
	row, err = c.connection(ctx, row.Name)
	return Authorized{Connection: connectionOf(row), Account: sealed.Account}, err
}

// authorizable gives a connection that may hold tokens: one without a secret of its own.
func (c *Control) authorizable(ctx context.Context, name string) (store.Connection, Authorizer, error) {
	row, err := c.connection(ctx, name)
	if err != nil {
		return row, nil, err
	}
	authorizer, able := c.sources.(Authorizer)
	switch {
	case !able:
		return row, nil, refuse("oauth_unsupported", "this process can't authorize connections")
	case row.SecretRef != "":
		return row, nil, refuse("oauth_secret", "the connection %q has a secret of its own: add another one without --secret, and authorize that", name)
	}
	return row, authorizer, nil
}

func (c *Control) pendingAuthorization(ctx context.Context, consent Consent) (store.PendingAuthorization, error) {
	if consent.State == "" && consent.Connection == "" {
		return store.PendingAuthorization{}, usage("oauth_state", "no state was given: open the address that `starter connection authorize` prints")
	}
	if consent.Connection != "" {
		if _, err := c.connection(ctx, consent.Connection); err != nil {
			return store.PendingAuthorization{}, err
		}
	}
	pending, err := c.begunAuthorization(ctx, consent)
	switch {
	case errors.Is(err, store.ErrNotFound):
		return pending, stateUnknown(consent.Connection)
	case err == nil && consent.Connection != "" && pending.Connection != consent.Connection:
		return pending, stateUnknown(consent.Connection)
	}
	return pending, err
}

// begunAuthorization finds what a state belongs to, or without one what was begun last.
func (c *Control) begunAuthorization(ctx context.Context, consent Consent) (store.PendingAuthorization, error) {
	if consent.State == "" {
		return c.store.NewestAuthorization(ctx, consent.Connection)
	}
	return c.store.AuthorizationByState(ctx, stateHash(consent.State))
}

// stateUnknown doesn't tell an expired state from one that was used, or that is another connection's.
func stateUnknown(connection string) *Error {
	if connection == "" {
		connection = "NAME"
	}
	return refuse("oauth_state", "this authorization has expired, was finished or was never begun: begin anew with `starter connection authorize %s`", connection)
}

// exchangeTrouble gives a refusal by the source the sentence that it has for people.
func exchangeTrouble(err error) error {
	var failure *source.Failure
	if !errors.As(err, &failure) {
		return err
	}
	kind := KindFailed
	if failure.Class == source.ClassUnauthorized {
		kind = KindRefused
	}
	return &Error{Kind: kind, Code: "oauth_exchange", Sentence: failure.Sentence, Err: err}
}

// stateHash is what is stored of a state: whoever reads the database can't finish another's authorization.
func stateHash(state string) []byte {
	hash := sha256.Sum256([]byte(strings.TrimSpace(state)))
	return hash[:]
}
