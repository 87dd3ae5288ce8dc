package gdrive

import (
	"bytes"
	"context"
	"errors"
	"net/http"
	"strings"

	"github.com/loresync/loresync/internal/content/block"
	"github.com/loresync/loresync/internal/content/render"
	"github.com/loresync/loresync/internal/knowledge"
	"github.com/loresync/loresync/internal/source"
	"github.com/loresync/loresync/internal/source/transport"
)

// reading is what was read of one file.
type reading struct {
	markdown string
	// raw is a text file's own bytes; nil for all others.
	raw    []byte
	report knowledge.Fidelity
}

// content reads a file in the form that keeps most of it.
func (s *Source) content(ctx context.Context, f file, limits source.Limits) (reading, error) {
	switch f.mime {
	case mimeDoc:
		return s.doc(ctx, f)
	case mimeSheet:
		return s.sheet(ctx, f, limits)
	case mimeSlides:
		return s.slides(ctx, f, limits)
	}
	body, err := s.download(ctx, f, limits)
	if err != nil {
		return reading{}, err
	}
	read, err := s.extracted(ctx, f.mime, f.name, body)
	if strings.HasPrefix(bareType(f.mime), "text/") && len(body) <= maxRaw {
		read.raw = body
	}
	return read, err
}

// doc reads a Doc as Markdown; as plain text where that is too large, since pictures are part of the Markdown.
func (s *Source) doc(ctx context.Context, f file) (reading, error) {
	body, err := s.exported(ctx, f, mimeMarkdown)
	if err == nil {
		markdown, pictures := DocsMarkdown(body)
		return reading{markdown: markdown, report: reportOf(markdown, pictures)}, nil
	}
	if !errors.Is(err, errTooLarge) {
		return reading{}, err
	}
	return s.plain(ctx, f, "the Doc is too large to be exported as Markdown: its headings, lists and links are lost")
}

// plain reads a file of Google's own as text without structure.
func (s *Source) plain(ctx context.Context, f file, note string) (reading, error) {
	body, err := s.client.export(ctx, f.id, mimeText, MaxContent)
	if exportTooLarge(err) {
		return reading{}, skipped(tooLargeToExport)
	}
	if err != nil {
		return reading{}, err
	}
	document, err := render.Text(body)
	if err != nil {
		return reading{}, skipped(source.Skip{Class: "invalid_utf8", Sentence: "Google exported it as something that is no text"})
	}
	read := reading{markdown: document.Markdown, report: reportOf(document.Markdown, 0)}
	read.report.Notes = append(read.report.Notes, note)
	return read, nil
}

// sheet reads all tabs of a Sheet: as CSV, Google gives only the first.
func (s *Source) sheet(ctx context.Context, f file, _ source.Limits) (reading, error) {
	body, err := s.exported(ctx, f, mimeXLSX)
	if errors.Is(err, errTooLarge) {
		return reading{}, skipped(tooLargeToExport)
	}
	if err != nil {
		return reading{}, err
	}
	return s.extracted(ctx, mimeXLSX, f.name+".xlsx", body)
}

// slides reads a presentation with its notes; as plain text where that can't be had.
func (s *Source) slides(ctx context.Context, f file, _ source.Limits) (reading, error) {
	const note = "the presentation could only be read as plain text: its notes and tables may be missing"
	body, err := s.exported(ctx, f, mimePPTX)
	if errors.Is(err, errTooLarge) {
		return s.plain(ctx, f, note)
	}
	if err != nil {
		return reading{}, err
	}
	read, err := s.extracted(ctx, mimePPTX, f.name+".pptx", body)
	var refused *source.Failure
	if errors.As(err, &refused) && refused.Skip != nil {
		return s.plain(ctx, f, note)
	}
	return read, err
}

// errTooLarge is a file that Google doesn't export in one format by any way.
var errTooLarge = errors.New("it is too large to be exported")

func exportTooLarge(err error) bool {
	_, reason := refusedWith(err)
	return reason == reasonExportSize || errors.As(err, new(*transport.TooLargeError))
}

// exported exports a file. Google's limit of 10 MB doesn't hold for the links that come with the metadata, which cost a request more
// and so are asked for only then.
func (s *Source) exported(ctx context.Context, f file, mimeType string) ([]byte, error) {
	body, err := s.client.export(ctx, f.id, mimeType, MaxContent)
	if !exportTooLarge(err) {
		return body, err
	}
	link, err := s.client.exportLink(ctx, f.id, mimeType)
	switch {
	case err != nil:
		return nil, err
	case link == "":
		return nil, errTooLarge
	}
	body, err = s.client.link(ctx, link, mimeType)
	status, _ := refusedWith(err)
	if exportTooLarge(err) || errors.Is(err, errForeignHost) || status >= http.StatusBadRequest && status < http.StatusInternalServerError {
		return nil, errTooLarge
	}
	return body, err
}

// extracted takes the text out of a file's bytes.
func (s *Source) extracted(ctx context.Context, mimeType, name string, body []byte) (reading, error) {
	if s.extract == nil {
		return reading{}, skipped(source.Skip{Class: skipUnknown, Sentence: "this process reads no files of the kind " + kindName(mimeType)})
	}
	text, err := s.extract(ctx, mimeType, name, bytes.NewReader(body))
	switch {
	case ctx.Err() != nil:
		return reading{}, ctx.Err()
	case err != nil:
		return reading{}, &source.Failure{
			Class: source.ClassUnavailable, Doing: "take the text out of a file", Sentence: "the file's text could not be taken out: it is tried again", Err: err,
		}
	case !text.Searchable && text.Text == "" && !strings.HasPrefix(text.Reason, "empty"):
		return reading{}, skipped(source.Skip{Class: skipUnreadable, Sentence: sentenceFor(text.Reason)})
	}
	read := reading{markdown: text.Text, report: knowledge.Fidelity{Blocks: max(text.Pages, len(block.Scan(text.Text))), Searchable: 1}}
	if text.Truncated {
		read.report.Truncated = 1
		read.report.Notes = append(read.report.Notes, "the end of the file was left out")
	}
	for _, said := range []string{text.Reason, text.Note} {
		if said != "" {
			read.report.Notes = append(read.report.Notes, said)
		}
	}
	return read, nil
}

func sentenceFor(reason string) string {
	if reason == "" {
		return "there is no text in it that can be read"
	}
	return "it can't be read: " + reason
}

// reportOf counts what could be kept of a Doc: pictures are named, and what they show isn't found.
func reportOf(markdown string, pictures int) knowledge.Fidelity {
	blocks := len(block.Scan(markdown))
	report := knowledge.Fidelity{Blocks: blocks + pictures, Searchable: 1}
	if pictures > 0 {
		report.Unsupported = map[string]int{"image": pictures}
		report.Searchable = float64(blocks) / float64(blocks+pictures)
	}
	return report
}
