package gdrive

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"golang.org/x/oauth2"
	"golang.org/x/oauth2/google"
	"google.golang.org/api/drive/v3"

	"github.com/loresync/loresync/internal/content/text"
	"github.com/loresync/loresync/internal/source"
	"github.com/loresync/loresync/internal/source/transport"
)

// Credentials say who asks: whose key is given, or whoever a function gives tokens of.
type Credentials struct {
	// Key gives the JSON key of a service account, or an "authorized user" file with a person's consent, as gcloud writes it. It is
	// asked for each token anew, so that a key that was replaced is used without a restart.
	Key func(context.Context) ([]byte, error)
	// Subject is the user as whom a service account with domain-wide delegation asks; empty for the account itself.
	Subject string
	// Token gives the access token for each request, so that it may be renewed. It goes before Key.
	Token func(context.Context) (string, error)
}

const (
	// tokenTimeout and maxToken bound one request for a token. An answer has about a thousand bytes.
	tokenTimeout = 10 * time.Second
	tokenTotal   = 30 * time.Second
	maxToken     = 1 << 20
	// tokenMargin is how long before its end a token is renewed, so that it outlives the request that bears it.
	tokenMargin = time.Minute
)

var (
	errNoCredentials = errors.New("no credentials for Google Drive: give the JSON key of a service account")
	// What was wrong with a key may quote it, so it isn't said.
	errKeyForm = errors.New("the credentials for Google Drive are neither the JSON key of a service account nor an authorized user's file: " +
		"make a new key and store it whole")
)

// tokens gives the access tokens of one connection.
type tokens interface {
	// token gives a good token.
	token(ctx context.Context) (string, error)
	// refused tells that Google doesn't take a token although its time isn't over.
	refused(ctx context.Context, token string)
}

func newTokens(opts Options) (tokens, error) {
	if opts.Credentials.Token != nil {
		return given(opts.Credentials.Token), nil
	}
	if opts.Credentials.Key == nil {
		return nil, errNoCredentials
	}
	sending := opts.TokenTransport
	if sending == nil {
		sending = transport.New(TokenTransport())
	}
	return &keyed{credentials: opts.Credentials, sending: sending, turn: newTurn()}, nil
}

// TokenTransport is how requests for access tokens are sent.
func TokenTransport() transport.Config {
	return transport.Config{
		Timeout: tokenTimeout, Total: tokenTotal, MaxBody: maxToken, Retries: 2,
		IsRead: func(*http.Request) bool { return true }, // a grant may be asked for twice
	}
}

// account exchanges what a key holds for tokens, by a client that the context bears.
type account func(ctx context.Context) oauth2.TokenSource

// accountOf reads a key. Each kind names itself.
func accountOf(raw []byte, subject string) (account, error) {
	var key struct {
		Type         string `json:"type"`
		ClientID     string `json:"client_id"`
		ClientSecret string `json:"client_secret"`
		RefreshToken string `json:"refresh_token"`
		TokenURI     string `json:"token_uri"`
	}
	if json.Unmarshal(raw, &key) != nil {
		return nil, errKeyForm
	}
	if key.Type == "authorized_user" && key.RefreshToken != "" {
		config := oauth2.Config{ClientID: key.ClientID, ClientSecret: key.ClientSecret, Endpoint: google.Endpoint}
		if key.TokenURI != "" {
			config.Endpoint.TokenURL = key.TokenURI
		}
		consent := &oauth2.Token{RefreshToken: key.RefreshToken}
		return func(ctx context.Context) oauth2.TokenSource { return config.TokenSource(ctx, consent) }, nil
	}
	config, err := google.JWTConfigFromJSON(raw, drive.DriveReadonlyScope)
	if err != nil {
		return nil, errKeyForm
	}
	config.Subject = subject
	return config.TokenSource, nil
}

// given are tokens that somebody else keeps.
type given func(context.Context) (string, error)

func (g given) token(ctx context.Context) (string, error) { return g(ctx) }

func (given) refused(context.Context, string) {}

// keyed exchanges a key for tokens. Requests that need one at the same time wait for a single exchange.
type keyed struct {
	credentials Credentials
	sending     http.RoundTripper
	// turn is held by whoever looks at current.
	turn    turn
	current *oauth2.Token
}

func (s *keyed) token(ctx context.Context) (string, error) {
	if err := s.turn.take(ctx); err != nil {
		return "", err
	}
	defer s.turn.give()
	if s.current != nil && time.Until(s.current.Expiry) > tokenMargin {
		return s.current.AccessToken, nil
	}
	fresh, err := s.exchange(ctx)
	if err != nil {
		return "", err
	}
	s.current = fresh
	return fresh.AccessToken, nil
}

func (s *keyed) refused(ctx context.Context, token string) {
	if s.turn.take(ctx) != nil {
		return
	}
	defer s.turn.give()
	if s.current != nil && s.current.AccessToken == token {
		s.current = nil
	}
}

// exchange asks for a token. The library neither heeds a context nor keeps the kind of an error, so both go through the
// RoundTripper.
func (s *keyed) exchange(ctx context.Context) (*oauth2.Token, error) {
	account, err := s.account(ctx)
	if err != nil {
		return nil, err
	}
	sent := &exchanging{ctx: ctx, next: s.sending}
	within := context.WithValue(ctx, oauth2.HTTPClient, &http.Client{Transport: sent, CheckRedirect: noRedirect})
	fresh, err := account(within).Token()
	if err == nil {
		return fresh, nil
	}
	var refused *oauth2.RetrieveError
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case !sent.asked:
		return nil, badKey() // nothing could be signed with it
	case sent.err != nil:
		return nil, transport.Failure("ask for an access token", sent.err)
	case errors.As(err, &refused):
		return nil, grantRefused(refused.Response, refused.Body, time.Now())
	}
	return nil, &source.Failure{
		Class: source.ClassUnavailable, Doing: "ask for an access token", Sentence: sayAway, Err: errors.New("the answer can't be read"),
	}
}

// account reads the key as it is now.
func (s *keyed) account(ctx context.Context) (account, error) {
	raw, err := s.credentials.Key(ctx)
	if err != nil {
		return nil, err
	}
	account, err := accountOf(raw, s.credentials.Subject)
	if err != nil {
		return nil, badKey()
	}
	return account, nil
}

func badKey() error {
	return &source.Failure{
		Class: source.ClassUnauthorized, Doing: "read the credentials", Sentence: errKeyForm.Error(), Err: errKeyForm,
	}
}

func noRedirect(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }

// exchanging binds requests to the context of whoever asks, and keeps what went wrong.
type exchanging struct {
	ctx  context.Context //nolint:containedctx // it is the request's own, which the library leaves out
	next http.RoundTripper
	// asked is whether a request was sent at all.
	asked bool
	err   error
}

// RoundTrip sends a request for a token.
func (e *exchanging) RoundTrip(req *http.Request) (*http.Response, error) {
	e.asked = true
	resp, err := e.next.RoundTrip(req.WithContext(e.ctx))
	e.err = err
	return resp, err //nolint:wrapcheck,nolintlint // the library above wraps
}

// grantRefused names the code of a refused grant; its description may quote the statement that was sent.
func grantRefused(answer *http.Response, body []byte, now time.Time) error {
	var said struct {
		Error       string `json:"error"`
		Description string `json:"error_description"`
	}
	if json.Unmarshal(body, &said) != nil {
		said.Error = ""
	}
	code, status := text.Truncate(text.Clean(said.Error), maxReason), answer.StatusCode
	if off := clockOff(answer.Header, now); off != 0 && strings.HasPrefix(said.Description, "Invalid JWT") {
		// Another machine's grant is good, so this is no reason to pause the connection for all.
		return &source.Failure{
			Class: source.ClassUnavailable, Doing: "ask for an access token", Sentence: sayClock(off),
			Err: fmt.Errorf("Google answered %d %s at %s", status, code, answer.Header.Get("Date")), //nolint:staticcheck // Google is a name
		}
	}
	return &source.Failure{
		Class: source.ClassUnauthorized, Doing: "ask for an access token", Sentence: sayGrant(code),
		Err: fmt.Errorf("Google answered %d %s", status, code), //nolint:staticcheck // Google is a name
	}
}

// clockBound is how wrong a clock may be that signs a statement: Google itself allows some minutes.
const clockBound = time.Minute

// clockOff is by how much this machine's clock is fast, negative when it is slow, by the date of an answer; zero when it is right,
// or the answer has no date.
func clockOff(header http.Header, now time.Time) time.Duration {
	sent, err := http.ParseTime(header.Get("Date"))
	if off := now.Sub(sent).Round(time.Second); err == nil && off.Abs() > clockBound {
		return off
	}
	return 0
}
