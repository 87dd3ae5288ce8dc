package oauth

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"time"

	"github.com/loresync/loresync/internal/knowledge"
	"github.com/loresync/loresync/internal/source/notion"
	"github.com/loresync/loresync/internal/source/transport"
)

// maxGrant bounds an answer of the token endpoint, in bytes. One has less than a thousand.
const maxGrant = 1 << 20

// App is the public integration, as its settings at Notion name it.
type App struct {
	// BaseURL is without /v1; empty means Notion's own.
	BaseURL string
	// ClientID and ClientSecret are the integration's.
	ClientID, ClientSecret string
	// RedirectURI is where Notion sends a person back to. It is the same in the authorization and in the exchange.
	RedirectURI string
	// Transport sends requests to the token endpoint; nil means the plain default one.
	Transport http.RoundTripper
}

// ErrNoApp says that the settings name no integration.
var ErrNoApp = errors.New("LORESYNC_NOTION_OAUTH_CLIENT_ID and LORESYNC_NOTION_OAUTH_CLIENT_SECRET are not both set: " +
	"take them from the settings of the public integration at Notion")

func (a App) check() error {
	if a.ClientID == "" || a.ClientSecret == "" {
		return ErrNoApp
	}
	return nil
}

func (a App) base() string {
	if a.BaseURL == "" {
		return notion.DefaultBaseURL
	}
	return strings.TrimRight(a.BaseURL, "/")
}

// AuthorizeURL is the page at Notion on which a person consents. state comes back with the code.
func (a App) AuthorizeURL(state string) string {
	query := url.Values{
		"client_id": {a.ClientID}, "redirect_uri": {a.RedirectURI}, "response_type": {"code"}, "owner": {"user"}, "state": {state},
	}
	return a.base() + "/v1/oauth/authorize?" + query.Encode()
}

// grant is what the token endpoint gives. Its fields are hidden from whatever prints or encodes it.
type grant struct {
	access, refresh string
	// expiresIn is 0 when Notion didn't tell, which is the rule.
	expiresIn time.Duration
	// account is the workspace's name.
	account string
}

// String hides the tokens.
func (grant) String() string { return "grant" }

// GoString hides the tokens.
func (grant) GoString() string { return "grant" }

// refusedError is the token endpoint's answer when it isn't 200.
type refusedError struct {
	status int
	// code is Notion's own word for it, empty when the answer was not Notion's.
	code string
}

func (e *refusedError) Error() string {
	return strings.TrimSpace(fmt.Sprintf("Notion answered %d %s", e.status, e.code))
}

// The words that are acted on.
const (
	codeInvalidGrant  = "invalid_grant"
	codeInvalidClient = "invalid_client"
)

func (a App) exchange(ctx context.Context, code string) (grant, error) {
	return a.ask(ctx, map[string]string{"grant_type": "authorization_code", "code": code, "redirect_uri": a.RedirectURI})
}

func (a App) refresh(ctx context.Context, token string) (grant, error) {
	return a.ask(ctx, map[string]string{"grant_type": "refresh_token", "refresh_token": token})
}

// ask makes one request. It goes before all others and is sent while the connection is paused too: they wait for it.
func (a App) ask(ctx context.Context, in map[string]string) (grant, error) {
	body, err := json.Marshal(in)
	if err != nil {
		return grant{}, err
	}
	ctx = transport.WithAttempt(ctx, transport.Attempt{Lane: knowledge.LanePerson, Check: true})
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, a.base()+"/v1/oauth/token", bytes.NewReader(body))
	if err != nil {
		return grant{}, err
	}
	req.SetBasicAuth(a.ClientID, a.ClientSecret)
	req.Header.Set("Notion-Version", notion.Version)
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json")
	// A redirect would carry the secrets on.
	client := &http.Client{Transport: a.Transport, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	resp, err := client.Do(req)
	if err != nil {
		return grant{}, transport.Bare(err)
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(io.LimitReader(resp.Body, maxGrant))
	if err != nil {
		return grant{}, fmt.Errorf("read the answer: %w", err)
	}
	if resp.StatusCode != http.StatusOK {
		return grant{}, refusal(resp.StatusCode, answer)
	}
	return readGrant(answer)
}

// word is what a code may look like: anything else could be a text that quotes what was sent.
var word = regexp.MustCompile(`^[a-z_]{1,50}$`)

func refusal(status int, body []byte) error {
	var said struct {
		Error string `json:"error"`
		Code  string `json:"code"`
	}
	refused := &refusedError{status: status}
	// A body that isn't JSON leaves the status alone to speak.
	_ = json.Unmarshal(body, &said)
	if said.Error == "" {
		said.Error = said.Code
	}
	if word.MatchString(said.Error) {
		refused.code = said.Error
	}
	return refused
}

var errNoGrant = errors.New("the answer holds no access token")

// readGrant never wraps an error of the decoder, which may quote the answer.
func readGrant(body []byte) (grant, error) {
	var said struct {
		Access    string  `json:"access_token"`
		Refresh   *string `json:"refresh_token"`
		ExpiresIn float64 `json:"expires_in"`
		Workspace *string `json:"workspace_name"`
	}
	if json.Unmarshal(body, &said) != nil || said.Access == "" {
		return grant{}, errNoGrant
	}
	g := grant{access: said.Access}
	if said.Refresh != nil {
		g.refresh = *said.Refresh
	}
	if said.Workspace != nil {
		g.account = *said.Workspace
	}
	if said.ExpiresIn > 0 {
		g.expiresIn = time.Duration(min(said.ExpiresIn, longestLife.Seconds()) * float64(time.Second))
	}
	return g, nil
}

// longestLife keeps a told lifetime within what a time can be added to.
const longestLife = 10 * 365 * 24 * time.Hour
