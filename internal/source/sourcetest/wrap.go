package sourcetest

import (
	"context"
	"errors"

	"github.com/loresync/loresync/internal/source"
)

// fingerprinter is a function as a source.Fingerprinter.
type fingerprinter func(ctx context.Context, root source.Root, sourceID string) ([]byte, error)

// Fingerprint calls the function.
func (f fingerprinter) Fingerprint(ctx context.Context, root source.Root, sourceID string) ([]byte, error) {
	return f(ctx, root, sourceID)
}

// wrap gives the wrapper the optional abilities that the wrapped source has, and no others, since callers look for them by
// their methods.
func wrap(wrapper, inner source.Source, fingerprint fingerprinter) source.Source {
	_, fingerprints := inner.(source.Fingerprinter)
	feed, feeds := inner.(source.ChangeFeed)
	switch {
	case fingerprints && feeds:
		return struct {
			source.Source
			source.Fingerprinter
			source.ChangeFeed
		}{wrapper, fingerprint, feed}
	case fingerprints:
		return struct {
			source.Source
			source.Fingerprinter
		}{wrapper, fingerprint}
	case feeds:
		return struct {
			source.Source
			source.ChangeFeed
		}{wrapper, feed}
	default:
		return wrapper
	}
}

// innerFingerprint is the wrapped source's own fingerprint; wrap offers it only if there is one.
func innerFingerprint(inner source.Source) fingerprinter {
	return func(ctx context.Context, root source.Root, sourceID string) ([]byte, error) {
		fp, ok := inner.(source.Fingerprinter)
		if !ok {
			return nil, errors.ErrUnsupported
		}
		return fp.Fingerprint(ctx, root, sourceID)
	}
}
