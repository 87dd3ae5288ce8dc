package gdrive

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"time"

	"github.com/loresync/loresync/internal/content/text"
	"github.com/loresync/loresync/internal/source"
)

// maxRaw is the largest text file that is kept as it is.
const maxRaw = 1 << 20

// payload is what is kept of a file whose content isn't: no link that ends, and nothing that differs at each read.
type payload struct {
	ID       string    `json:"id"`
	Name     string    `json:"name"`
	MimeType string    `json:"mime_type"`
	Version  int64     `json:"version,omitempty"`
	MD5      string    `json:"md5,omitempty"`
	Size     int64     `json:"size,omitempty"`
	DriveID  string    `json:"drive_id,omitempty"`
	Parents  []string  `json:"parents,omitempty"`
	Edited   time.Time `json:"edited,omitzero"`
}

// page makes a page of what was read.
func (s *Source) page(ctx context.Context, f file, entry source.Entry, read reading) (source.Page, error) {
	fidelity, err := json.Marshal(read.report)
	if err != nil {
		return source.Page{}, fmt.Errorf("write a report: %w", err)
	}
	raw := read.raw
	if len(raw) == 0 {
		if raw, err = json.Marshal(f.payload()); err != nil {
			return source.Page{}, fmt.Errorf("write a payload: %w", err)
		}
	}
	access, err := s.access(ctx, f)
	if err != nil {
		return source.Page{}, failure(err)
	}
	var fingerprint []byte
	if read.markdown != "" {
		sum := sha256.Sum256([]byte(read.markdown))
		fingerprint = sum[:]
	}
	return source.Page{
		Entry: entry, Raw: raw, Format: source.FormatConverted, Markdown: read.markdown, Identity: []byte(entry.Title + "\n" + read.markdown),
		Fingerprint: fingerprint, Fidelity: fidelity, Access: access, Meta: f.meta(),
	}, nil
}

func (f file) payload() payload {
	return payload{
		ID: f.id, Name: text.Clean(f.name), MimeType: text.Clean(f.mime), Version: f.version, MD5: f.md5, Size: f.size, DriveID: f.drive,
		Parents: f.parents, Edited: f.edited,
	}
}

// meta is what else Drive knows of a file.
func (f file) meta() map[string]any {
	meta := map[string]any{"mime_type": text.Clean(f.mime)}
	if f.owner != "" {
		meta["owner"] = f.owner
	}
	if f.editor != "" {
		meta["modified_by"] = f.editor
	}
	if !f.created.IsZero() {
		meta["created_at"] = f.created.Format(time.RFC3339)
	}
	return meta
}
