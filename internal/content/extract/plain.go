package extract

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/encoding/htmlindex"

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
	text, err := decode(head, cut, k.charset)
	if err != nil {
		return unsearchable(ReasonBinary), nil //nolint:nilerr // that a file is no text is an answer, and no other try changes it
	}
	document, err := toMarkdown(k.format, text)
	if err != nil {
		return Result{}, err
	}
	return limited(document.Markdown, e.options.MaxRunes, cut), nil
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

var errBinary = errors.New("the file holds NUL bytes")

// decode gives text in an encoding that render understands: UTF-8, or UTF-16 with its mark. Another one must be named by
// the media type; guessing would store garbage as if it were text.
func decode(raw []byte, cut bool, charset string) ([]byte, error) {
	if hasUTF16Mark(raw) {
		return raw[:len(raw)-len(raw)%2], nil
	}
	if charset != "" && !utf8.Valid(wholeRunes(raw, cut)) {
		encoding, err := htmlindex.Get(charset)
		if err != nil {
			return nil, fmt.Errorf("find the encoding: %w", err)
		}
		if raw, err = encoding.NewDecoder().Bytes(raw); err != nil {
			return nil, fmt.Errorf("decode the text: %w", err)
		}
		if cut {
			raw = bytes.TrimSuffix(raw, []byte(string(utf8.RuneError)))
		}
	}
	raw = wholeRunes(raw, cut)
	if bytes.IndexByte(raw, 0) >= 0 {
		return nil, errBinary
	}
	if !utf8.Valid(raw) {
		return nil, render.ErrInvalidUTF8
	}
	return raw, nil
}

func hasUTF16Mark(raw []byte) bool {
	return bytes.HasPrefix(raw, []byte{0xFF, 0xFE}) || bytes.HasPrefix(raw, []byte{0xFE, 0xFF})
}

// wholeRunes drops the first bytes of a character whose rest was cut off.
func wholeRunes(raw []byte, cut bool) []byte {
	if !cut {
		return raw
	}
	for i := 1; i <= min(utf8.UTFMax, len(raw)); i++ {
		if start := len(raw) - i; utf8.RuneStart(raw[start]) {
			if !utf8.FullRune(raw[start:]) {
				return raw[:start]
			}
			break
		}
	}
	return raw
}
