package drivetest

import (
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"math/big"
)

// The lengths of Drive's ids: those of editors' files are longer than those of all others.
const (
	longID  = 44
	shortID = 33
	driveID = 19
)

// idOf gives the id that a seed makes of a name: letters, digits, "-" and "_", beginning as Drive's do.
func idOf(seed uint64, name, prefix string, length int) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%d/%s", seed, name))
	text := base64.RawURLEncoding.EncodeToString(sum[:])
	return (prefix + text + text)[:length]
}

// fileID is the id of a file of a type.
func fileID(seed uint64, name, mime string) string {
	length := shortID
	if isEditors(mime) {
		length = longID
	}
	return idOf(seed, name, "1", length)
}

// numberOf gives the number that permissions of a user bear.
func numberOf(name string) string {
	sum := sha256.Sum256([]byte(name))
	return new(big.Int).SetBytes(sum[:8]).String()
}
