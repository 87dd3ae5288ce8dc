package drivetest

import (
	"crypto"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"strings"
	"time"
)

// claims are what a service account asserts.
type claims struct {
	Issuer   string `json:"iss"`
	Subject  string `json:"sub"`
	Audience string `json:"aud"`
	Scope    string `json:"scope"`
	IssuedAt int64  `json:"iat"`
	Expires  int64  `json:"exp"`
}

// assertion gives whom a signed claim is for: the user it names, else the service account.
func (o *oauth) assertion(text string, s *Server) (string, *oauthError) {
	c, ok := readClaims(text)
	now := time.Now()
	issued, expires := time.Unix(c.IssuedAt, 0), time.Unix(c.Expires, 0)
	switch {
	case !ok:
		return "", invalidGrant("Invalid JWT Signature.")
	case c.Issuer != serviceAccount:
		return "", invalidGrant("Invalid grant: account not found")
	case c.Audience != s.TokenURL():
		return "", invalidGrant("Invalid JWT: Failed audience check.")
	case issued.After(now.Add(5*time.Minute)) || !expires.After(now) || expires.Sub(issued) > time.Hour+time.Minute:
		return "", invalidGrant("Invalid JWT: Token must be a short-lived token (60 minutes) and in a reasonable timeframe. " +
			"Check your iat and exp values in the JWT claim.")
	case !strings.Contains(c.Scope, "https://www.googleapis.com/auth/drive"):
		return "", &oauthError{http.StatusBadRequest, "invalid_scope", "Invalid OAuth scope or ID token audience provided."}
	case c.Subject == "" || c.Subject == serviceAccount:
		return serviceAccount, nil
	case !o.delegate:
		return "", &oauthError{
			http.StatusUnauthorized, "unauthorized_client",
			"Client is unauthorized to retrieve access tokens using this method, or client not authorized for any of the scopes requested.",
		}
	case !s.knows(c.Subject):
		return "", invalidGrant("Invalid email or User ID")
	}
	return c.Subject, nil
}

func (s *Server) knows(email string) bool {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.users[email] != nil
}

// readClaims checks the signature of a JWT and reads it.
func readClaims(text string) (claims, bool) {
	var c claims
	parts := strings.Split(text, ".")
	if len(parts) != 3 {
		return c, false
	}
	signature, err := base64.RawURLEncoding.DecodeString(parts[2])
	if err != nil {
		return c, false
	}
	sum := sha256.Sum256([]byte(parts[0] + "." + parts[1]))
	if rsa.VerifyPKCS1v15(&key().PublicKey, crypto.SHA256, sum[:], signature) != nil {
		return c, false
	}
	raw, err := base64.RawURLEncoding.DecodeString(parts[1])
	return c, err == nil && json.Unmarshal(raw, &c) == nil
}
