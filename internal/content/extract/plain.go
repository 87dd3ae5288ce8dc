package extract

import (
	"context"
	"errors"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/loresync/loresync/internal/content/render"
)

// plain handles what needs no parser.
func (e *Extractor) plain(ctx context.Context, k kind, r io.Reader) (Result, error) {
	head, cut, err := readHead(ctx, r, e.options.MaxRunes*utf8.UTFMax, e.options.MaxBytes)
	if errors.Is(err, errTooLarge) {
		return tooLarge(e.options.MaxBytes), nil
	}
	if err != nil {
		return Result{}, err
	}
	text, note, err := decode(head, cut, k.charset)
	if err != nil {
		return unsearchable(ReasonBinary), nil //nolint:nilerr // that a file is no text is an answer, and no other try changes it
	}
	document, err := toMarkdown(k.format, text)
	if err != nil {
		return Result{}, err
	}
	result := limited(document.Markdown, e.options.MaxRunes, cut)
	result.Note = note
	return result, nil
}

// toMarkdown takes a text that is no table after all as it stands.
func toMarkdown(f format, text []byte) (render.Document, error) {
	switch f {
	case formatMarkdown:
		return render.Markdown(text)
	case formatTable:
		if table, ok := tableOf(string(text)); ok {
			return render.Markdown([]byte(table))
		}
		return render.Text(text)
	default:
		return render.Text(text)
	}
}

// limited makes the result for a text: searchable unless it is empty, and no longer than maxRunes.
func limited(text string, maxRunes int, truncated bool) Result {
	if strings.TrimSpace(text) == "" {
		return unsearchable(ReasonEmpty)
	}
	short := render.Truncate(text, maxRunes)
	return Result{Text: short, Searchable: true, Truncated: truncated || len(short) < len(text)}
}
