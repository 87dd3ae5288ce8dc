package drivetest

import (
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"sync"
)

const (
	serviceAccount = "loresync@stand-in.iam.gserviceaccount.com"
	clientID       = "stand-in.apps.googleusercontent.com"
	clientSecret   = "stand-in-secret"
)

// key is the service account's, one for each process: making it takes a while.
var key = sync.OnceValue(func() *rsa.PrivateKey {
	made, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		panic(fmt.Errorf("make the key of the stand-in's service account: %w", err))
	}
	return made
})

// CredentialsJSON is the key file of the service account. Its token_uri is this server.
func (s *Server) CredentialsJSON() []byte {
	der, err := x509.MarshalPKCS8PrivateKey(key())
	if err != nil {
		panic(fmt.Errorf("write the key of the stand-in's service account: %w", err))
	}
	return s.jsonFile(map[string]string{
		"type": "service_account", "project_id": "stand-in", "private_key_id": keyID,
		"private_key":  string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der})),
		"client_email": serviceAccount, "client_id": "100000000000000000001",
		"auth_uri": s.url + "/auth", "token_uri": s.TokenURL(), "universe_domain": "googleapis.com",
	})
}

// UserCredentialsJSON is the file that a person's consent leaves: a client and a refresh token, as "authorized_user". Google's
// libraries take the token endpoint of such files from elsewhere, so that it also has a token_uri.
func (s *Server) UserCredentialsJSON(email string) []byte {
	return s.jsonFile(map[string]string{
		"type": "authorized_user", "client_id": clientID, "client_secret": clientSecret,
		"refresh_token": s.RefreshToken(email), "token_uri": s.TokenURL(),
	})
}

func (s *Server) jsonFile(fields map[string]string) []byte {
	raw, err := json.MarshalIndent(fields, "", "  ")
	if err != nil {
		panic(fmt.Errorf("write credentials of the stand-in: %w", err))
	}
	return raw
}

// keyID names the service account's key.
const keyID = "0123456789abcdef0123456789abcdef01234567"

// TokenURL is where access tokens are had.
func (s *Server) TokenURL() string { return s.url + "/token" }

// OAuthClient gives the id and the secret of the client that refresh tokens belong to.
func (s *Server) OAuthClient() (id, secret string) { return clientID, clientSecret }

// secretOf is what page tokens are signed with.
func secretOf(seed uint64) []byte {
	sum := sha256.Sum256(fmt.Appendf(nil, "%d/secret", seed))
	return sum[:]
}
