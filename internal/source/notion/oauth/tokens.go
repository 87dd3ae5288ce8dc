package oauth

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/google/uuid"
	"golang.org/x/sync/singleflight"

	"github.com/loresync/loresync/internal/knowledge"
	"github.com/loresync/loresync/internal/source"
)

// Record is a connection's pair of tokens as it is stored. Times are judged by the ledger's clock.
type Record struct {
	// Generation is a UUID that names the pair.
	Generation string
	// Access and Refresh are sealed; Refresh is nil when Notion gave none.
	Access, Refresh []byte
	// Stale is true when the told end of the access token is near.
	Stale bool
	// Young is true when the pair was renewed a moment ago: renewing it again would help nobody.
	Young bool
	// Refused is true when Notion said that the refresh token is dead.
	Refused bool
	// InDoubt is true when a renewal of this pair never came to its end.
	InDoubt bool
}

// Sealed is a new pair of tokens, to be stored.
type Sealed struct {
	// Generation is a new UUID.
	Generation string
	// Access is never empty; Refresh is nil when there is none.
	Access, Refresh []byte
	// ExpiresIn is the access token's life from now on; 0 when Notion didn't tell.
	ExpiresIn time.Duration
	// Account is the workspace's name, for people.
	Account string
}

// Ledger is where tokens are kept, the same for all processes. Package store documents the methods; a connection that was never
// authorized is knowledge.ErrNotFound.
type Ledger interface {
	OAuthToken(ctx context.Context, connection string) (Record, error)
	ClaimOAuthRefresh(ctx context.Context, connection, generation, claim string, lasting time.Duration) (claimed, inDoubt bool, err error)
	ReleaseOAuthRefresh(ctx context.Context, connection, claim string, inDoubt bool) error
	RefuseOAuthRefresh(ctx context.Context, connection, claim string) (bool, error)
	KeepOAuthRefresh(ctx context.Context, connection, generation string, renewed Sealed) (bool, error)
}

// Options make the Tokens of one connection.
type Options struct {
	Connection string
	App        App
	// SecretKey is what NewSealer takes. Without a usable one every call fails with a sentence that says so.
	SecretKey string
	Ledger    Ledger
	// Patience is how long one request to the token endpoint may take, and how long storing its answer is tried. Zero means 20
	// seconds.
	Patience time.Duration
}

// Tokens are the tokens of one connection. It is safe for concurrent use, in any number of processes.
type Tokens struct {
	connection string
	app        App
	sealer     *Sealer
	// keyTrouble is why there is no sealer.
	keyTrouble error
	ledger     Ledger
	patience   time.Duration
	flights    singleflight.Group

	mu sync.Mutex
	// unsaved are renewed pairs that could not be stored, by the generation they replace.
	unsaved map[string]Sealed
}

const defaultPatience = 20 * time.Second

// New gives the Tokens of a connection. Nothing is read or sent yet.
func New(o Options) *Tokens {
	if o.Patience <= 0 {
		o.Patience = defaultPatience
	}
	sealer, trouble := NewSealer(o.SecretKey)
	return &Tokens{
		connection: o.Connection, app: o.App, sealer: sealer, keyTrouble: trouble, ledger: o.Ledger, patience: o.Patience,
		unsaved: map[string]Sealed{},
	}
}

// Ready tells whether the settings are enough to authorize a connection: ErrNoApp, ErrNoKey or ErrShortKey when they aren't.
func (t *Tokens) Ready() error {
	if err := t.app.check(); err != nil {
		return err
	}
	return t.keyTrouble
}

// Exchange turns the code of a consent into a pair of tokens, sealed for this connection. A code is good for one exchange. Errors
// are *source.Failure; settings that aren't enough are found before the code is sent.
func (t *Tokens) Exchange(ctx context.Context, code string) (Sealed, error) {
	if err := t.Ready(); err != nil {
		return Sealed{}, unusable(err)
	}
	const doing = "exchange the code"
	ctx, cancel := context.WithTimeout(ctx, t.patience)
	defer cancel()
	given, err := t.app.exchange(ctx, code)
	switch {
	case refused(err):
		return Sealed{}, &source.Failure{
			Class: source.ClassUnauthorized, Doing: doing, Err: err,
			Sentence: "Notion doesn't take the code: it is good once, for a few minutes, and for the redirect URI that it came to; " +
				"open the address again and give the new code",
		}
	case err != nil:
		return Sealed{}, failure(doing, err)
	}
	return t.seal(given), nil
}

// seal draws a generation for a pair and encrypts it.
func (t *Tokens) seal(given grant) Sealed {
	sealed := Sealed{Generation: uuid.NewString(), ExpiresIn: given.expiresIn, Account: given.account}
	sealed.Access = t.sealer.seal(given.access, t.place(sealed.Generation, kindAccess))
	if given.refresh != "" {
		sealed.Refresh = t.sealer.seal(given.refresh, t.place(sealed.Generation, kindRefresh))
	}
	return sealed
}

const (
	kindAccess  = "access"
	kindRefresh = "refresh"
)

func (t *Tokens) place(generation, kind string) place {
	return place{connection: t.connection, generation: generation, kind: kind}
}

// pair is what is stored, with the access token opened.
type pair struct {
	Record
	access string
}

// read gives the pair as it is stored now.
func (t *Tokens) read(ctx context.Context) (pair, error) {
	record, err := t.ledger.OAuthToken(ctx, t.connection)
	switch {
	case errors.Is(err, knowledge.ErrNotFound):
		return pair{}, ErrNotAuthorized
	case err != nil:
		return pair{}, fmt.Errorf("read the connection's tokens: %w", err)
	case t.keyTrouble != nil:
		return pair{}, unusable(t.keyTrouble)
	}
	access, err := t.sealer.open(record.Access, t.place(record.Generation, kindAccess))
	if err != nil {
		return pair{}, t.unreadable(err)
	}
	return pair{Record: record, access: access}, nil
}

// usable is read, for pairs that Notion may still take.
func (t *Tokens) usable(ctx context.Context) (pair, error) {
	current, err := t.read(ctx)
	if err != nil || !current.Refused || t.holds(current.Generation) {
		return current, err
	}
	return pair{}, t.dead(current.InDoubt, nil)
}

// dead says that only a person helps, and whether it was an interrupted renewal that brought it about.
func (t *Tokens) dead(inDoubt bool, err error) error {
	if inDoubt {
		return t.unauthorized(sayInterrupted, err)
	}
	return t.unauthorized(sayDead, err)
}

// Token gives the access token to send, renewed if its told end is near. ErrNotAuthorized when nobody authorized the connection; a
// *source.Failure of ClassUnauthorized when only a person helps.
func (t *Tokens) Token(ctx context.Context) (string, error) {
	current, err := t.usable(ctx)
	if err != nil {
		return "", err
	}
	due := current.Stale && !current.Young && current.Refresh != nil
	if !due && !t.holds(current.Generation) {
		return current.access, nil
	}
	renewed, err := t.renewOnce(ctx, current)
	var failure *source.Failure
	if errors.As(err, &failure) && failure.Class != source.ClassUnauthorized {
		// What is near its end isn't there yet; when it is, Notion says so.
		return current.access, nil
	}
	return renewed, err
}

// Renew gives the access token to send in the place of one that Notion refused: the stored one if it is another already, else a new
// one. Errors are as Token's, and a *source.Failure of another class when it is to be tried again.
func (t *Tokens) Renew(ctx context.Context, used string) (string, error) {
	current, err := t.usable(ctx)
	switch {
	case err != nil:
		return "", err
	case current.access != used:
		return current.access, nil
	case current.Refresh == nil:
		return "", t.unauthorized(sayNoRefresh, nil)
	case current.Young:
		return "", t.unauthorized(sayAgain, nil)
	}
	return t.renewOnce(ctx, current)
}
