// Package render turns what a source delivers into the Markdown that is stored,
// cut, embedded and shown. Whatever the source, the result has one form, so that a
// page only counts as changed when a reader could see a change.
package render

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/unicode/norm"

	"github.com/loresync/loresync/internal/content/block"
	"github.com/loresync/loresync/internal/content/text"
)

// ErrInvalidUTF8 says that the input is neither UTF-8 nor UTF-16 with a byte order
// mark. Guessing at other encodings would store garbage as if it were text.
var ErrInvalidUTF8 = errors.New("text is not valid UTF-8")

// maxTitleRunes bounds a title. A longer heading is a paragraph in disguise.
const maxTitleRunes = 300

// Document is one converted page.
type Document struct {
	// Title is the front matter's title, else the first heading of level 1, else
	// the title of an HTML page. It is empty when there is none; a file's name is
	// for the caller to fall back to.
	Title string
	// Markdown is the body in normal form: valid UTF-8 in NFC, \n as line break, no
	// NUL, no front matter, no data URI, and one line break at the end unless it is
	// empty.
	Markdown string
	// Meta is the front matter, ready to be stored as jsonb. It is never nil.
	Meta map[string]any
}

// Markdown converts a Markdown file. Front matter that is not sound YAML stays in
// the text: a page is worth more than its header.
func Markdown(raw []byte) (Document, error) {
	source, err := decode(raw)
	if err != nil {
		return Document{}, err
	}
	meta, body := frontMatter(source)
	doc := Document{Markdown: normalise(body), Meta: meta}
	doc.Title = metaTitle(meta)
	if doc.Title == "" {
		doc.Title = headingTitle(doc.Markdown)
	}
	return doc, nil
}

// Text converts a plain text file. Lines that Markdown would take for headings,
// quotes or fences are escaped, so that they stay text.
func Text(raw []byte) (Document, error) {
	source, err := decode(raw)
	if err != nil {
		return Document{}, err
	}
	body := normalise(escapeLines(source))
	return Document{Title: headingTitle(body), Markdown: body, Meta: map[string]any{}}, nil
}

// decode returns raw as UTF-8 with \n as line break and without NULs.
func decode(raw []byte) (string, error) {
	source, err := utf8From(raw)
	if err != nil {
		return "", err
	}
	if strings.IndexByte(source, '\r') >= 0 {
		source = strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(source)
	}
	return text.Clean(source), nil
}

// utf8From takes the byte order mark off. UTF-16 is accepted with a mark only, and
// only if all of it decodes: without a mark, or with half a character, it's a
// binary file.
func utf8From(raw []byte) (string, error) {
	raw = bytes.TrimPrefix(raw, []byte("\xEF\xBB\xBF"))
	if utf8.Valid(raw) {
		return string(raw), nil
	}
	utf16 := bytes.HasPrefix(raw, []byte("\xFF\xFE")) || bytes.HasPrefix(raw, []byte("\xFE\xFF"))
	if !utf16 || len(raw)%2 != 0 {
		return "", ErrInvalidUTF8
	}
	out, err := unicode.UTF16(unicode.LittleEndian, unicode.UseBOM).NewDecoder().Bytes(raw)
	if err != nil || bytes.ContainsRune(out, utf8.RuneError) {
		return "", ErrInvalidUTF8
	}
	return string(out), nil
}

// normalise gives a body the form that Document.Markdown promises.
func normalise(body string) string {
	return tidy(norm.NFC.String(dropDataURIs(body)))
}

func metaTitle(meta map[string]any) string {
	switch title := meta["title"].(type) {
	case string:
		return cleanTitle(title)
	case int, float64, bool:
		return cleanTitle(fmt.Sprint(title))
	default:
		return ""
	}
}

func headingTitle(markdown string) string {
	for _, b := range block.Scan(markdown) {
		if b.Kind == block.Heading && b.Level == 1 {
			if title := cleanTitle(text.Plain(b.Title)); title != "" {
				return title
			}
		}
	}
	return ""
}

func cleanTitle(title string) string {
	folded := strings.Join(strings.Fields(norm.NFC.String(title)), " ")
	return Truncate(folded, maxTitleRunes)
}

// CleanText makes any string storable in a Postgres text or jsonb column: valid
// UTF-8 and without NUL.
func CleanText(s string) string { return text.Clean(s) }

// CleanMeta returns a copy of meta that can be marshalled and stored as jsonb, its
// keys and strings cleaned at every depth. It is never nil.
func CleanMeta(meta map[string]any) map[string]any { return text.CleanMeta(meta) }

// Truncate returns at most maxRunes runes of s without cutting a character that
// consists of several.
func Truncate(s string, maxRunes int) string { return text.Truncate(s, maxRunes) }
