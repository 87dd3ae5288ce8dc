package notion

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"path"

	"github.com/loresync/loresync/internal/source/notion/document"
)

const (
	// maxAttachment bounds a file in bytes, and maxAttachments the files of one page.
	maxAttachment  = 25 << 20
	maxAttachments = 50
)

// readAttachments downloads the files of a page's blocks and turns them into text. A file that can't be read is named in the
// report and costs nothing else.
func (s *Source) readAttachments(ctx context.Context, doc *reading) error {
	if s.extract == nil {
		return nil
	}
	files := attached(doc.Blocks, nil)
	for i, file := range files {
		if i == maxAttachments {
			doc.cut(fmt.Sprintf("only the first %d of %d attached files were read", maxAttachments, len(files)))
			return nil
		}
		read, err := s.attachment(ctx, file)
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case err != nil:
			doc.unreadable("the attached file %q could not be read", file.name)
			continue
		}
		doc.attach(file, read)
	}
	return nil
}

// attach keeps what was read of a file, and counts what was not.
func (r *reading) attach(file attachedFile, read Extracted) {
	if read.Reason != "" {
		r.unreadable("the attached file %q is not searchable: %s", file.name, read.Reason)
	}
	if read.Note != "" {
		r.notes = append(r.notes, fmt.Sprintf("the attached file %q: %s", file.name, read.Note))
	}
	if read.Truncated {
		r.lostEnds++
		r.notes = append(r.notes, fmt.Sprintf("a part of the attached file %q was left out", file.name))
	}
	if read.Text != "" {
		if r.Attachments == nil {
			r.Attachments = map[string]string{}
		}
		r.Attachments[file.block] = read.Text
	}
}

type attachedFile struct{ block, name, url string }

// attached finds the files in blocks that are hosted by Notion. What is linked from elsewhere stays a link.
func attached(blocks []*document.Block, found []attachedFile) []attachedFile {
	for _, block := range blocks {
		if block.Type == "pdf" || block.Type == "file" {
			var payload struct {
				Name string `json:"name"`
				File struct {
					URL string `json:"url"`
				} `json:"file"`
			}
			if err := json.Unmarshal(block.Payload, &payload); err == nil && payload.File.URL != "" {
				found = append(found, attachedFile{block: block.ID, name: nameOf(payload.Name, payload.File.URL), url: payload.File.URL})
			}
		}
		found = attached(block.Children, found)
	}
	return found
}

func nameOf(name, address string) string {
	if name != "" {
		return name
	}
	u, err := url.Parse(address)
	if err != nil {
		return "file"
	}
	return path.Base(u.Path)
}

var errDownload = errors.New("the file could not be downloaded")

func (s *Source) attachment(ctx context.Context, file attachedFile) (Extracted, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, file.url, http.NoBody)
	if err != nil {
		return Extracted{}, errDownload // the cause would quote the signed address
	}
	resp, err := s.files.Do(req)
	if err != nil {
		return Extracted{}, errDownload
	}
	defer func() { _ = resp.Body.Close() }()
	if resp.StatusCode != http.StatusOK {
		return Extracted{}, fmt.Errorf("%w: status %d", errDownload, resp.StatusCode)
	}
	tooLarge := fmt.Sprintf("it is larger than %d MB", maxAttachment>>20)
	if resp.ContentLength > maxAttachment {
		return Extracted{Reason: tooLarge}, nil
	}
	body := &io.LimitedReader{R: resp.Body, N: maxAttachment + 1}
	read, err := s.extract(ctx, file.name, body)
	if body.N == 0 {
		// The length wasn't told before, and what was read isn't all of it.
		return Extracted{Reason: tooLarge}, nil
	}
	return read, err
}
