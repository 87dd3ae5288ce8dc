package oauth

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"strings"
)

const (
	// sealVersion is the first byte of what is sealed, so that another form can follow.
	sealVersion = 1
	// keySize is AES-256's, in bytes.
	keySize = 32
	// keyIDSize is how many bytes tell keys apart: enough for the few that a deployment ever had, too few to say anything of them.
	keyIDSize = 4
	// shortestSecret bounds what people type, in bytes: a key is derived from it without stretching.
	shortestSecret = 32
)

var (
	// ErrNoKey says that there is no key to encrypt tokens with.
	ErrNoKey = errors.New("LORESYNC_SECRET_KEY is not set: it encrypts the tokens of authorized connections; " +
		"make one with `openssl rand -base64 32` and give it to every process")
	// ErrShortKey says that the key is too easily guessed.
	ErrShortKey = errors.New("LORESYNC_SECRET_KEY is too short: give 32 bytes in base64, as `openssl rand -base64 32` makes them")

	errOtherKey = errors.New("it was encrypted with another LORESYNC_SECRET_KEY")
	errTampered = errors.New("it was changed since it was encrypted")
)

// Sealer encrypts tokens with AES-256-GCM. It is safe for concurrent use.
type Sealer struct {
	aead cipher.AEAD
	// head is what everything sealed begins with: the version and the key's id.
	head []byte
}

// NewSealer derives a key from a secret, by HKDF with SHA-256: 32 bytes in base64, or any text of at least 32 bytes. The error is
// ErrNoKey or ErrShortKey, and never repeats the secret.
func NewSealer(secret string) (*Sealer, error) {
	material, err := material(strings.TrimSpace(secret))
	if err != nil {
		return nil, err
	}
	key, err := hkdf.Key(sha256.New, material, nil, "loresync oauth tokens", keySize)
	if err != nil {
		return nil, fmt.Errorf("derive a key: %w", err)
	}
	id, err := hkdf.Key(sha256.New, material, nil, "loresync oauth key id", keyIDSize)
	if err != nil {
		return nil, fmt.Errorf("derive a key's id: %w", err)
	}
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, fmt.Errorf("use a key: %w", err)
	}
	aead, err := cipher.NewGCMWithRandomNonce(block)
	if err != nil {
		return nil, fmt.Errorf("use a key: %w", err)
	}
	return &Sealer{aead: aead, head: append([]byte{sealVersion}, id...)}, nil
}

func material(secret string) ([]byte, error) {
	for _, encoding := range []*base64.Encoding{base64.StdEncoding, base64.RawStdEncoding, base64.URLEncoding, base64.RawURLEncoding} {
		if decoded, err := encoding.DecodeString(secret); err == nil && len(decoded) == keySize {
			return decoded, nil
		}
	}
	switch {
	case secret == "":
		return nil, ErrNoKey
	case len(secret) < shortestSecret:
		return nil, ErrShortKey
	}
	return []byte(secret), nil
}

// place is where a sealed token belongs. It is authenticated with it: a token that was copied to another connection, column or
// pair doesn't open there.
type place struct{ connection, generation, kind string }

func (p place) bytes() []byte {
	return fmt.Appendf(nil, "%q %q %q", p.connection, p.generation, p.kind)
}

// seal gives version, key id, nonce and ciphertext in one.
func (s *Sealer) seal(token string, at place) []byte {
	//nolint:gosec // the cipher draws a random nonce by itself, and takes none
	return s.aead.Seal(bytes.Clone(s.head), nil, []byte(token), append(at.bytes(), s.head...))
}

// open gives the token back. The error is errOtherKey or errTampered.
func (s *Sealer) open(sealed []byte, at place) (string, error) {
	if len(sealed) <= len(s.head) || sealed[0] != sealVersion {
		return "", errTampered
	}
	if !bytes.HasPrefix(sealed, s.head) {
		return "", errOtherKey
	}
	token, err := s.aead.Open(nil, nil, sealed[len(s.head):], append(at.bytes(), s.head...))
	if err != nil {
		return "", errTampered
	}
	return string(token), nil
}
