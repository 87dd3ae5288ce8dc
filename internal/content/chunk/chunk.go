// Package chunk cuts a Markdown page into the pieces that are embedded and
// searched.
//
// A cut is decided by what stands near it and by nothing else, so that an edit
// never ripples through a page. Every border between two units of the page (a
// heading's section, a block, a sentence, a word) has a rank: how good a place it
// is to cut, and among equals a hash of the text in front of it. A border is a cut
// if no better one lies within a radius around it. Whether it is one therefore
// depends on the text within that radius only, two cuts are more than a radius
// apart, and an edit of one paragraph moves at most one cut on either side: three
// chunks. Where this leaves a piece above the maximum, which takes an unlikely run
// of ranks, the piece is cut at its best border until it fits.
package chunk

import (
	"crypto/sha256"
	"strings"
)

const (
	// defaultTargetRunes gives a page of 4 KB about five chunks.
	defaultTargetRunes = 1000
	// minMaxRunes is the least maximum that leaves room for a table's header or a
	// fence's opening line beside the text.
	minMaxRunes = 64
)

// Options are the sizes of chunks in runes.
type Options struct {
	// TargetRunes is the size to aim for; 0 means 1000. It's at most half of
	// MaxRunes, which leaves the cuts room to be where they are best.
	TargetRunes int
	// MaxRunes bounds a chunk's text, apart from a fence's opening and closing
	// line or a table's header that are repeated in it, which add a third of it
	// at most. 0 means two and a half times the target; the least is 64.
	MaxRunes int
}

func (o Options) normal() Options {
	if o.TargetRunes <= 0 {
		o.TargetRunes = defaultTargetRunes
	}
	if o.MaxRunes <= 0 {
		o.MaxRunes = o.TargetRunes * 5 / 2
	}
	o.MaxRunes = max(o.MaxRunes, minMaxRunes)
	o.TargetRunes = min(o.TargetRunes, o.MaxRunes/2)
	return o
}

// Chunk is one piece of a page.
type Chunk struct {
	// Index counts from 0 in the order of the page.
	Index int
	// HeadingPath is the headings that all of the chunk stands below, outermost
	// first. It's empty, never nil, in front of the first heading.
	HeadingPath []string
	// Text is markdown[Start:End]. A piece of a fenced block has the fence opened
	// and closed again, a piece of a table its header on top.
	Text string
	// Start and End are byte offsets into the Markdown.
	Start, End int
}

// Split cuts markdown into chunks. They are in order and don't overlap, no chunk
// is blank, and what no chunk covers is white space or a thematic break: a page
// without text has no chunks. Equal input gives equal output, in every version of the program that
// doesn't say otherwise in its changelog, as every other cut means new embeddings.
func Split(markdown string, opts Options) []Chunk {
	opts = opts.normal()
	u := newUnits(markdown, opts)
	if len(u.list) == 0 {
		return nil
	}
	chunks := make([]Chunk, 0, 1+u.span(0, len(u.list))/opts.TargetRunes)
	from := 0
	for _, cut := range append(cuts(u, opts), len(u.list)) {
		for _, piece := range fit(u, from, cut, opts.MaxRunes) {
			c := u.chunk(piece.from, piece.to)
			c.Index = len(chunks)
			chunks = append(chunks, c)
		}
		from = cut
	}
	return chunks
}

// EmbeddingText is what is embedded of a chunk: its heading path, so that a piece
// from the middle of a page says what it's about, and its text.
func EmbeddingText(c Chunk) string {
	if len(c.HeadingPath) == 0 {
		return c.Text
	}
	return strings.Join(c.HeadingPath, " > ") + "\n\n" + c.Text
}

// TextHash identifies the embedding of a chunk: chunks with the same hash share
// one.
func TextHash(c Chunk) [sha256.Size]byte {
	return sha256.Sum256([]byte(EmbeddingText(c)))
}
