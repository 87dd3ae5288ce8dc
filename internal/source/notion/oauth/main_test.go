package oauth_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/loresync/loresync/internal/source"
	"github.com/loresync/loresync/internal/source/notion"
	"github.com/loresync/loresync/internal/source/notion/notiontest"
	"github.com/loresync/loresync/internal/source/notion/oauth"
	"github.com/loresync/loresync/internal/source/transport"
	"github.com/loresync/loresync/internal/store"
	"github.com/loresync/loresync/internal/testenv"
	"github.com/loresync/loresync/schema"
)

func TestMain(m *testing.M) {
	testenv.SetMigrate(func(ctx context.Context, url string) error {
		_, err := schema.Migrate(ctx, url)
		return err
	})
	testenv.Main(m)
}

// desk is a workspace at a stand-in of Notion and the database of a deployment.
type desk struct {
	*notiontest.Server
	t      *testing.T
	url    string
	notion string
	sql    *pgx.Conn
	st     *store.Store
}

func newDesk(t *testing.T) *desk {
	t.Helper()
	workspace := notiontest.New(notiontest.Options{Seed: 1})
	d := &desk{t: t, url: testenv.Database(t)}
	d.Server = notiontest.NewServer(workspace, notiontest.ServerOptions{OAuth: notiontest.OAuthClient{ID: "app", Secret: "app-secret"}})
	address, err := d.Start()
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, d.Close()) })
	d.notion = address
	d.sql, err = pgx.Connect(t.Context(), d.url)
	require.NoError(t, err)
	t.Cleanup(func() { _ = d.sql.Close(context.WithoutCancel(t.Context())) })
	d.st = d.open(store.Options{})
	return d
}

// open is what another process has of the database.
func (d *desk) open(o store.Options) *store.Store {
	d.t.Helper()
	st, err := store.Open(d.t.Context(), d.url, o)
	require.NoError(d.t, err)
	d.t.Cleanup(st.Close)
	return st
}

// ledger is the store as the tokens see it.
type ledger struct{ *store.Store }

func (l ledger) OAuthToken(ctx context.Context, connection string) (oauth.Record, error) {
	row, err := l.Store.OAuthToken(ctx, connection)
	return oauth.Record(row), err
}

func (l ledger) KeepOAuthRefresh(ctx context.Context, connection, generation string, renewed oauth.Sealed) (bool, error) {
	return l.Store.KeepOAuthRefresh(ctx, connection, generation, store.OAuthSealed(renewed))
}

// key is 32 bytes in base64.
func key(value byte) string {
	return base64.StdEncoding.EncodeToString(bytes.Repeat([]byte{value}, 32))
}

func (d *desk) options(st *store.Store) oauth.Options {
	return oauth.Options{
		Connection: "notion", SecretKey: key(1), Ledger: ledger{st},
		App: oauth.App{
			BaseURL: d.notion, ClientID: "app", ClientSecret: "app-secret", RedirectURI: "https://lore.test/oauth/notion/callback",
			Transport: transport.New(notion.Transport("notion", nil)),
		},
	}
}

// process is one process' tokens and its client, which is Notion's as the source uses it.
type process struct {
	*oauth.Tokens
	d    *desk
	http *http.Client
}

func (d *desk) process(st *store.Store, change ...func(*oauth.Options)) process {
	o := d.options(st)
	for _, apply := range change {
		apply(&o)
	}
	tokens := oauth.New(o)
	through := tokens.Transport(transport.New(notion.Transport("notion", nil)))
	return process{Tokens: tokens, d: d, http: &http.Client{Transport: through}}
}

// authorize gives the connection new tokens, as a person's consent does.
func (p process) authorize() {
	t, ctx := p.d.t, p.d.t.Context()
	t.Helper()
	sealed, err := p.Exchange(ctx, p.d.AuthorizationCode())
	require.NoError(t, err)
	state := []byte(uuid.NewString())
	_, err = p.d.st.BeginAuthorization(ctx, "notion", state, time.Minute)
	require.NoError(t, err)
	kept, err := p.d.st.KeepAuthorization(ctx, store.PendingAuthorization{Connection: "notion", StateHash: state}, store.OAuthSealed(sealed), "mika")
	require.NoError(t, err)
	require.True(t, kept)
	p.d.ResetLog()
}

// search is a request with a body, sent with a token.
func (p process) search(ctx context.Context, token string) (int, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, p.d.notion+"/v1/search", strings.NewReader(`{"page_size":10}`))
	if err != nil {
		return 0, err
	}
	req.Header.Set("Authorization", "Bearer "+token)
	req.Header.Set("Notion-Version", notion.Version)
	req.Header.Set("Content-Type", "application/json")
	resp, err := p.http.Do(req)
	if err != nil {
		return 0, err
	}
	defer resp.Body.Close()
	_, err = io.Copy(io.Discard, resp.Body)
	return resp.StatusCode, err
}

func (p process) token() string {
	p.d.t.Helper()
	token, err := p.Token(p.d.t.Context())
	require.NoError(p.d.t, err)
	return token
}

func (d *desk) exec(query string, args ...any) {
	d.t.Helper()
	_, err := d.sql.Exec(d.t.Context(), query, args...)
	require.NoError(d.t, err)
}

// age makes the last renewal, and the claim of one, older than they are.
func (d *desk) age() {
	d.t.Helper()
	d.exec(`UPDATE oauth_tokens SET refreshed_at = refreshed_at - interval '1 hour', claimed_until = claimed_until - interval '1 hour'`)
}

// lost has Notion answer a renewal whose answer never arrives: the tokens that are stored are dead from then on.
func (d *desk) lost(p process) {
	d.t.Helper()
	defer d.Fail(tokenRequests(), 1, lose)()
	used := p.token()
	d.Revoke(used)
	_, err := p.Renew(d.t.Context(), used)
	class(d.t, err, source.ClassUnavailable)
}

// dead has Notion end an authorization.
func (d *desk) dead(p process) {
	d.t.Helper()
	d.lost(p)
	d.exec(`UPDATE oauth_tokens SET in_doubt = false`)
	d.ResetLog()
}

// renewals is how many requests the token endpoint got since the connection was authorized.
func (d *desk) renewals() int { return d.Count(notiontest.KindToken) }

func tokenRequests() notiontest.Match { return notiontest.OfKind(notiontest.KindToken) }

// lose lets Notion do what was asked, and cuts the connection in the place of the answer.
func lose(_ http.ResponseWriter, r *http.Request, next http.HandlerFunc) {
	next(httptest.NewRecorder(), r)
	panic(http.ErrAbortHandler)
}

// class checks the kind of a failure and gives its sentence.
func class(t *testing.T, err error, want source.Class) string {
	t.Helper()
	var failure *source.Failure
	require.ErrorAs(t, err, &failure)
	assert.Equal(t, want, failure.Class, failure.Error())
	for _, text := range []string{err.Error(), failure.Sentence} {
		assert.NotRegexp(t, `n[tr][nt]_[0-9a-f]|code_[0-9a-f]|app-secret`, text)
	}
	return failure.Sentence
}
