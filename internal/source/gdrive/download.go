package gdrive

import (
	"context"
	"crypto/md5" //nolint:gosec // Drive's own checksum, against broken lines and not against people
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"strings"

	"github.com/loresync/loresync/internal/source"
	"github.com/loresync/loresync/internal/source/transport"
)

var errMismatch = errors.New("the bytes are not those that the metadata tells of")

// download reads a file's bytes, whole. A file that is cut short ends like one that isn't; its size and its checksum tell.
func (s *Source) download(ctx context.Context, f file, limits source.Limits) ([]byte, error) {
	body, err := s.client.media(ctx, f.id, limitOf(limits))
	switch {
	case errors.As(err, new(*transport.TooLargeError)):
		return nil, skipped(*tooLarge(limits))
	case err != nil:
		return nil, err
	case !f.matches(body):
		return nil, &source.Failure{Class: source.ClassUnavailable, Doing: "download a file", Sentence: sayMismatch, Err: errMismatch}
	}
	return body, nil
}

// matches tells whether bytes are the file's, by the strongest checksum that came with the metadata.
func (f file) matches(body []byte) bool {
	switch {
	case f.sha256 != "":
		sum := sha256.Sum256(body)
		return strings.EqualFold(f.sha256, hex.EncodeToString(sum[:]))
	case f.md5 != "":
		sum := md5.Sum(body) //nolint:gosec // as above
		return strings.EqualFold(f.md5, hex.EncodeToString(sum[:]))
	}
	return f.size == int64(len(body))
}
