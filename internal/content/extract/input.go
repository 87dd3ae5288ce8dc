package extract

import (
	"context"
	"errors"
	"io"
)

// readSize is how much is read between two looks at the context.
const readSize = 64 << 10

// errTooLarge says that a file goes on beyond MaxBytes.
var errTooLarge = errors.New("the file is too large")

// pump reads r to its end and hands it on piece by piece; a piece is valid until take returns. It errs with errTooLarge
// beyond limit bytes.
func pump(ctx context.Context, r io.Reader, limit int64, take func([]byte) error) error {
	buffer := make([]byte, readSize)
	for total := int64(0); ; {
		if err := ctx.Err(); err != nil {
			return err
		}
		n, err := r.Read(buffer)
		if total += int64(n); total > limit {
			return errTooLarge
		}
		if n > 0 {
			if err := take(buffer[:n]); err != nil {
				return err
			}
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return &readError{err}
		}
	}
}

// readError marks trouble with the file's own reader, which says nothing about the child it was being sent to.
type readError struct{ err error }

// Error gives the reader's trouble.
func (e *readError) Error() string { return "read the file: " + e.err.Error() }

// Unwrap gives the reader's own error.
func (e *readError) Unwrap() error { return e.err }

// readHead reads r to its end and keeps the first bytes of it, so that a long log costs no more memory than the text that is
// taken from it. cut tells whether something was left out.
func readHead(ctx context.Context, r io.Reader, keep int, limit int64) (head []byte, cut bool, err error) {
	err = pump(ctx, r, limit, func(piece []byte) error {
		fits := min(len(piece), keep-len(head))
		head = append(head, piece[:fits]...)
		cut = cut || fits < len(piece)
		return nil
	})
	return head, cut, err
}
