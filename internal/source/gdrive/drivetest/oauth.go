package drivetest

import (
	"crypto/rand"
	"net/http"
	"strings"
	"sync"
	"time"
)

// oauth gives out access tokens and knows whose they are.
type oauth struct {
	life     time.Duration
	rotate   bool
	delegate bool

	mu      sync.Mutex
	access  map[string]grantOf
	refresh map[string]string
	revoked map[string]bool
}

// grantOf is whom an access token is for, and until when.
type grantOf struct {
	email string
	until time.Time
}

func newOAuth(o Options) *oauth {
	return &oauth{
		life: o.TokenLife, rotate: o.RotateRefresh, delegate: !o.NoDelegation,
		access: map[string]grantOf{}, refresh: map[string]string{}, revoked: map[string]bool{},
	}
}

// AccessToken gives an access token of a user that is good as long as all others.
func (s *Server) AccessToken(email string) string {
	s.mu.Lock()
	s.user(email)
	s.mu.Unlock()
	return s.oauth.issue(email)
}

// RefreshToken gives a refresh token of a user, good with OAuthClient at TokenURL.
func (s *Server) RefreshToken(email string) string {
	s.mu.Lock()
	s.user(email)
	s.mu.Unlock()
	o := s.oauth
	o.mu.Lock()
	defer o.mu.Unlock()
	token := "1//" + rand.Text()
	o.refresh[token] = email
	return token
}

// HTTPClient gives a client that acts for a user without asking for tokens.
func (s *Server) HTTPClient(email string) *http.Client {
	return &http.Client{Transport: bearing{token: s.AccessToken(email)}}
}

// bearing adds an access token to requests.
type bearing struct{ token string }

// RoundTrip sends the request with the token.
func (b bearing) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+b.token)
	return http.DefaultTransport.RoundTrip(r)
}

// ExpireTokens makes all access tokens expired. Refresh tokens and keys stay good.
func (s *Server) ExpireTokens() {
	s.oauth.mu.Lock()
	defer s.oauth.mu.Unlock()
	clear(s.oauth.access)
}

// Revoke ends the access of a user, or of the service account by itself: access tokens are refused and no new ones given
// (invalid_grant) until Allow.
func (s *Server) Revoke(email string) {
	s.oauth.mu.Lock()
	defer s.oauth.mu.Unlock()
	s.oauth.revoked[email] = true
}

// Allow ends Revoke.
func (s *Server) Allow(email string) {
	s.oauth.mu.Lock()
	defer s.oauth.mu.Unlock()
	delete(s.oauth.revoked, email)
}

func (o *oauth) issue(email string) string {
	o.mu.Lock()
	defer o.mu.Unlock()
	token := "ya29." + rand.Text()
	o.access[token] = grantOf{email: email, until: time.Now().Add(o.life)}
	return token
}

// bearer gives whose token a request bears.
func (o *oauth) bearer(r *http.Request) (string, error) {
	token, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	o.mu.Lock()
	defer o.mu.Unlock()
	grant, known := o.access[token]
	if !ok || !known || o.revoked[grant.email] || !time.Now().Before(grant.until) {
		return "", refusal(AuthError, "")
	}
	return grant.email, nil
}

// oauthError is a refusal of the token endpoint, which has another form than Drive's.
type oauthError struct {
	status            int
	code, description string
}

func (e *oauthError) Error() string { return e.code + ": " + e.description }

// serve answers the token endpoint.
func (o *oauth) serve(w http.ResponseWriter, r *http.Request, s *Server) {
	r.Body = http.MaxBytesReader(w, r.Body, 64<<10)
	var email string
	var err *oauthError
	grant := r.PostFormValue("grant_type")
	switch grant {
	case "urn:ietf:params:oauth:grant-type:jwt-bearer":
		email, err = o.assertion(r.PostFormValue("assertion"), s)
	case "refresh_token":
		email, err = o.refreshing(r)
	default:
		err = &oauthError{http.StatusBadRequest, "unsupported_grant_type", "Invalid grant_type: " + grant}
	}
	if err == nil && o.isRevoked(email) {
		err = invalidGrant("Token has been expired or revoked.")
	}
	if err != nil {
		write(w, err.status, Object{"error": err.code, "error_description": err.description})
		return
	}
	given := Object{
		"access_token": o.issue(email), "expires_in": int(o.life.Seconds()), "token_type": "Bearer",
		"scope": "https://www.googleapis.com/auth/drive.readonly",
	}
	if grant == "refresh_token" && o.rotate {
		given["refresh_token"] = o.rotated(r.PostFormValue("refresh_token"), email)
	}
	write(w, http.StatusOK, given)
}

func invalidGrant(description string) *oauthError {
	return &oauthError{http.StatusBadRequest, "invalid_grant", description}
}

func (o *oauth) isRevoked(email string) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.revoked[email]
}

// refreshing gives whose a refresh token is.
func (o *oauth) refreshing(r *http.Request) (string, *oauthError) {
	id, secret, ok := r.BasicAuth()
	if !ok {
		id, secret = r.PostFormValue("client_id"), r.PostFormValue("client_secret")
	}
	if id != clientID || secret != clientSecret {
		return "", &oauthError{http.StatusUnauthorized, "invalid_client", "The OAuth client was not found."}
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	email, ok := o.refresh[r.PostFormValue("refresh_token")]
	if !ok {
		return "", invalidGrant("Token has been expired or revoked.")
	}
	return email, nil
}

// rotated gives a refresh token in the place of an old one.
func (o *oauth) rotated(old, email string) string {
	o.mu.Lock()
	defer o.mu.Unlock()
	delete(o.refresh, old)
	token := "1//" + rand.Text()
	o.refresh[token] = email
	return token
}
