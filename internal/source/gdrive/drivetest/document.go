package drivetest

import (
	"encoding/base64"
	"net/http"
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/text"
)

// document is a Doc: paragraphs in a row, as Google's editor keeps them, not a tree.
type document struct {
	markdown   string
	paragraphs []paragraph
}

// style is what a paragraph is.
type style int

const (
	plainText style = iota
	heading
	bullet
	numbered
	checkbox
	code
	table
	rule
)

// paragraph is one line of a Doc, a block of code or a table.
type paragraph struct {
	style style
	// level is that of a heading, or how deep an item of a list lies, from 1.
	level int
	// number is that of an item of a numbered list; checked is whether a box is ticked.
	number  int
	checked bool
	runs    []run
	// language and text are those of a block of code.
	language, text string
	// rows are those of a table: cells of runs.
	rows [][][]run
}

// run is a piece of text in one style, a line break or a picture.
type run struct {
	text                       string
	bold, italic, struck, mono bool
	link                       string
	broken                     bool
	picture                    []byte
}

// newDocument makes a Doc of Markdown. Pictures are found by their addresses, in those that are given or as data URIs.
func newDocument(markdown string, pictures map[string][]byte) *document {
	source := []byte(markdown)
	r := &reader{source: source, pictures: pictures}
	root := goldmark.New(goldmark.WithExtensions(extension.GFM)).Parser().Parse(text.NewReader(source))
	r.blocks(root, paragraph{})
	return &document{markdown: markdown, paragraphs: r.found}
}

func (d *document) formats() []string {
	return []string{"text/markdown", "text/x-markdown", "text/plain", "text/html", "application/zip", mimeDocx}
}

func (d *document) export(mime string) ([]byte, error) {
	switch mime {
	case "text/markdown", "text/x-markdown":
		return d.googleMarkdown(), nil
	case "text/plain":
		return windows(d.plain()), nil
	case "text/html":
		return []byte(d.html(dataURI)), nil
	case "application/zip":
		return d.webPage()
	}
	return d.docx()
}

func (d *document) words() string { return d.plain() }
func (d *document) size() int     { return len(d.markdown) }

// windows is how Google writes plain text: with a byte order mark, and lines that end with CR LF.
func windows(s string) []byte { return []byte("\ufeff" + strings.ReplaceAll(s, "\n", "\r\n")) }

// picture gives what an image shows: known bytes, those of a data URI, else a dot.
func (r *reader) picture(address string) []byte {
	if known := r.pictures[address]; known != nil {
		return known
	}
	if _, data, ok := strings.Cut(address, ";base64,"); ok && strings.HasPrefix(address, "data:") {
		if raw, err := base64.StdEncoding.DecodeString(data); err == nil && len(raw) > 0 {
			return raw
		}
	}
	return dot()
}

// dot is a picture of one point.
func dot() []byte {
	raw, err := base64.StdEncoding.DecodeString(
		"iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==")
	if err != nil {
		panic(err)
	}
	return raw
}

// dataURI is a picture in the place of its address.
func dataURI(picture []byte, _ int) string {
	return "data:" + http.DetectContentType(picture) + ";base64," + base64.StdEncoding.EncodeToString(picture)
}
