package drivetest

import (
	"crypto/md5"  //nolint:gosec // Drive gives the MD5 of a file.
	"crypto/sha1" //nolint:gosec // Drive gives the SHA-1 of a file.
	"crypto/sha256"
	"encoding/hex"
	"maps"
	"slices"
)

// content is what a file holds.
type content interface {
	// formats are those that it is exported in.
	formats() []string
	// export gives the content in one of its formats.
	export(mime string) ([]byte, error)
	// words is what is found by a search for text.
	words() string
	// size is in bytes.
	size() int
}

// blob is a file of bytes.
type blob struct {
	data              []byte
	md5, sha1, sha256 string
}

func newBlob(data []byte) *blob {
	first, second, third := md5.Sum(data), sha1.Sum(data), sha256.Sum256(data) //nolint:gosec // as Drive does
	return &blob{
		data: data, md5: hex.EncodeToString(first[:]), sha1: hex.EncodeToString(second[:]), sha256: hex.EncodeToString(third[:]),
	}
}

func (b *blob) formats() []string             { return nil }
func (b *blob) export(string) ([]byte, error) { return nil, noConversion() }
func (b *blob) words() string                 { return string(b.data) }
func (b *blob) size() int                     { return len(b.data) }

// native is a file of one of Google's types whose exports were given.
type native map[string][]byte

func (n native) formats() []string                  { return slices.Sorted(maps.Keys(n)) }
func (n native) export(mime string) ([]byte, error) { return n[mime], nil }
func (n native) words() string                      { return string(n["text/plain"]) }

func (n native) size() int {
	total := 0
	for _, data := range n {
		total += len(data)
	}
	return total
}
