package document

import (
	"strings"

	"github.com/loresync/loresync/internal/content/text"
)

// Document is everything that was read of one page, database or data source.
type Document struct {
	Object Object
	// Schemas are the data sources of a database, whose properties are its columns. A database of API version 2022-06-28
	// has its columns in Object.
	Schemas []Object
	// Blocks are the top-level blocks, in order.
	Blocks []*Block
	// Comments are written at the end, in order.
	Comments []Comment
	// Attachments are the texts of files, by the id of the block that holds the file.
	Attachments map[string]string
	// Links knows other pages by their id, with or without dashes: their title and where people read them. Nil knows none.
	Links func(id string) (title, url string, ok bool)
}

// Markdown renders a document: properties or schema, then blocks, then comments. The title is left out, it is
// Object.Title. The text is CommonMark with GitHub's tables, task lists and strikethrough, valid UTF-8 without NUL, with \n
// as line break and one at its end unless it is empty. The same content always gives the same text.
func Markdown(doc Document) (string, Report) {
	r := &renderer{doc: &doc}
	r.header()
	r.blocks(doc.Blocks, false)
	r.comments()
	r.report.Searchable = 1
	if r.found+r.lost > 0 {
		r.report.Searchable = float64(r.found) / float64(r.found+r.lost)
	}
	markdown := strings.TrimRight(text.Clean(string(r.w.buf)), " \n")
	if markdown == "" {
		return "", r.report
	}
	return markdown + "\n", r.report
}

// Bounds of one document. Notion documents none for reading; nobody reads deeper, and a page of 20,000 blocks is the largest
// that is promised to come whole.
const (
	maxDepth  = 60
	maxBlocks = 100_000
)

type renderer struct {
	doc    *Document
	report Report
	w      writer
	// path are the blocks above the one being written: a block among its own descendants ends there.
	path []*Block
	// scratch is the memory of the last rich text, for the next one.
	scratch []cell
	// found and lost count items with content that is and isn't in the Markdown.
	found, lost int
}

func (r *renderer) hit() { r.found++ }

func (r *renderer) loss() { r.lost++ }

// placeholder stands for what can't be shown, so that a reader knows that something is there.
func (r *renderer) placeholder(what string) {
	r.loss()
	r.w.block("[" + escapeText(what, flowLine) + "]")
}

// enter guards against cycles, endless depth and endless pages. A false answer has written why.
func (r *renderer) enter(b *Block) bool {
	switch {
	case r.report.Blocks >= maxBlocks:
		r.report.Truncated++
		r.note("the page has more than %d blocks; the rest is left out", maxBlocks)
		return false
	case len(r.path) >= maxDepth:
		r.report.Truncated++
		r.note("blocks nested deeper than %d levels are left out", maxDepth)
		r.placeholder("content nested too deeply")
		return false
	}
	for _, above := range r.path {
		if above == b || (b.ID != "" && above.ID == b.ID) {
			r.report.Truncated++
			r.note("a block stands among its own descendants and is shown once")
			r.placeholder("a block that contains itself")
			return false
		}
	}
	r.report.Blocks++
	return true
}

// blocks writes siblings. inItem says that they follow the text of a list's item.
func (r *renderer) blocks(list []*Block, inItem bool) {
	s := siblings{inItem: inItem}
	for _, b := range list {
		if b == nil {
			r.report.Unreadable++
			continue
		}
		if b.InTrash {
			r.report.Skipped++
			continue
		}
		if !r.enter(b) {
			continue
		}
		r.path = append(r.path, b)
		before := len(r.w.buf)
		p := r.payload(b)
		r.block(b, p, s.next(b, p))
		s.done(b, len(r.w.buf) > before)
		r.path = r.path[:len(r.path)-1]
	}
}

// payload decodes the payload of a known type as far as it fits; what doesn't fit is counted.
func (r *renderer) payload(b *Block) *payload {
	p := &payload{}
	if !knownTypes[b.Type] {
		return p
	}
	if !decodeInto(b.Payload, p) {
		r.report.Unreadable++
		r.note("a block of type %s has parts of an unknown shape", b.Type)
	}
	if len(p.RichText) == 0 {
		decodeInto(p.Text, &p.RichText)
	}
	return p
}

// above is the type of the block that holds the one being written; empty at the top.
func (r *renderer) above() string {
	if len(r.path) < 2 {
		return ""
	}
	return r.path[len(r.path)-2].Type
}

// children writes a block's children, or says why they are missing.
func (r *renderer) children(b *Block, inItem bool) {
	r.blocks(b.Children, inItem)
	switch b.Missing {
	case MissingUnshared:
		r.report.Unreadable++
		r.placeholder("content that is not shared")
	case MissingLimit, MissingDepth:
		r.report.Truncated++
		r.placeholder("content beyond the limit of this page")
	case MissingError:
		r.report.Unreadable++
		r.placeholder("content that could not be read")
	default:
		if b.Missing != "" || (b.HasChildren && b.Children == nil) {
			r.report.Unreadable++
			r.placeholder("content that was not read")
		}
	}
}
