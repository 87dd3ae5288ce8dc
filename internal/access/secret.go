package access

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"strings"
)

// SecretPrefix begins every API token, so that people and scanners of leaked secrets know one when they see it.
const SecretPrefix = "loresync_"

// secretBytes is how many random bytes a secret has: too many to be guessed, so that its hash needs no salt and no slowness.
const secretBytes = 32

// Hash is what is kept of a secret.
type Hash = [sha256.Size]byte

// NewSecret makes the secret of an API token, and what to keep of it.
func NewSecret() (secret string, kept Hash) {
	random := make([]byte, secretBytes)
	_, _ = rand.Read(random) // never fails: the program ends where there is no randomness
	secret = SecretPrefix + base64.RawURLEncoding.EncodeToString(random)
	return secret, HashOf(secret)
}

// HashOf gives what is kept of a secret.
func HashOf(secret string) Hash { return sha256.Sum256([]byte(secret)) }

// isSecret tells whether a text has the form of an API token's secret.
func isSecret(text string) bool {
	encoded, ours := strings.CutPrefix(text, SecretPrefix)
	if !ours {
		return false
	}
	random, err := base64.RawURLEncoding.DecodeString(encoded)
	return err == nil && len(random) == secretBytes
}
