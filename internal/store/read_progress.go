package store

import (
	"bytes"
	"compress/flate"
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"time"

	"github.com/loresync/loresync/internal/knowledge"
)

const (
	// progressBound is how much is kept of one page, compressed: many times what 20,000 blocks take.
	progressBound = 64 << 20
	// progressLife is how long it is good for: half of what the links in a vendor's answers live for, so that a read that goes on
	// from them can still follow them.
	progressLife = 30 * time.Minute
)

const saveProgress = `SELECT save_progress($1, $2, $3, $4, $5, $6)`

// SaveProgress keeps a part of the holder's read, compressed, for whoever reads the page next. The answer is saved, full when the
// page has 64 MiB already, fenced, or cancel_requested.
func (s *Store) SaveProgress(ctx context.Context, h knowledge.Holder, key string, part []byte) (string, error) {
	const doing = "keep the progress of a read"
	packed, err := deflate(part)
	if err != nil {
		return "", fmt.Errorf("%s: %w", doing, err)
	}
	return scalar[string](ctx, s, doing, saveProgress, h.Folder, h.Page, h.Token, progressKey(key), packed, progressBound)
}

const loadProgress = `
SELECT value FROM read_progress WHERE folder_id = $1 AND page_id = $2 AND key_hash = $3 AND saved_at > now() - $4::interval`

// LoadProgress gives a part of an earlier read of the page, whoever kept it; false when there is none, or it is older than half
// an hour.
func (s *Store) LoadProgress(ctx context.Context, folder, page, key string) ([]byte, bool, error) {
	const doing = "read the progress of a read"
	rows, err := list[struct{ Value []byte }](ctx, s, doing, loadProgress, folder, page, progressKey(key), progressLife)
	if err != nil || len(rows) == 0 {
		return nil, false, err
	}
	part, err := io.ReadAll(flate.NewReader(bytes.NewReader(rows[0].Value)))
	if err != nil {
		return nil, false, fmt.Errorf("%s: %w", doing, err)
	}
	return part, true, nil
}

// progressKey makes a key of any length one that an index takes.
func progressKey(key string) []byte {
	sum := sha256.Sum256([]byte(key))
	return sum[:]
}

func deflate(part []byte) ([]byte, error) {
	var packed bytes.Buffer
	w, err := flate.NewWriter(&packed, flate.BestSpeed)
	if err != nil {
		return nil, err
	}
	if _, err := w.Write(part); err != nil {
		return nil, err
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	return packed.Bytes(), nil
}
