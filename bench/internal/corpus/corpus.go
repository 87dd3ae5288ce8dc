// Package corpus makes English pages to measure with: any number of them, the same ones for the same seed, with the sizes,
// headings, lists, tables and word frequencies of a company's handbook.
package corpus

import (
	"fmt"
	"math"
	"strings"
)

const (
	medianBytes = 4096
	// sigma is the spread of the logarithm of the sizes: nine pages of ten have between 1.5 and 11 KB.
	sigma    = 0.6
	minBytes = 400
	maxBytes = 64 << 10
	// halfBlock is by how much a page outgrows its size on average, since it ends with a whole block.
	halfBlock = 180
	// pagesPerDir is how many pages stand in one directory, dirsPerArea how many directories in one area.
	pagesPerDir = 50
	dirsPerArea = 10
)

// Corpus gives the pages of one seed.
type Corpus struct {
	seed uint64
}

// New gives the corpus of a seed.
func New(seed uint64) *Corpus { return &Corpus{seed: seed} }

// Page is one Markdown file.
type Page struct {
	// Path is relative and has slashes.
	Path string
	Text string
}

// Page gives page n, which depends on the seed and n alone.
func (c *Corpus) Page(n int) Page {
	w := newWriter(c.seed, uint64(n))
	dir := n / pagesPerDir
	path := fmt.Sprintf("area-%03d/team-%03d/page-%06d.md", dir/dirsPerArea, dir, n)
	return Page{Path: path, Text: w.page(w.size())}
}

// Paragraphs gives n paragraphs from a stream of their own: material for pages whose paragraphs are edited one by one.
func (c *Corpus) Paragraphs(stream string, n int) []string {
	w := newWriter(c.seed, streamNumber(stream))
	list := make([]string, n)
	for i := range list {
		list[i] = w.paragraph()
	}
	return list
}

// streamNumber keeps named streams apart from the pages' numbers, which are small.
func streamNumber(name string) uint64 {
	const offset, prime = 14695981039346656037, 1099511628211 // FNV-1a
	hash := uint64(offset)
	for i := range len(name) {
		hash = (hash ^ uint64(name[i])) * prime
	}
	return hash | 1<<63
}

func (w *writer) size() int {
	size := medianBytes * math.Exp(sigma*w.random.NormFloat64())
	return min(max(int(size), minBytes), maxBytes)
}

// page writes blocks below a title until the size is reached, with a heading before every third of them or so.
func (w *writer) page(size int) string {
	var b strings.Builder
	b.WriteString("# " + w.words(2+w.random.IntN(4)) + "\n")
	for first := true; first || b.Len() < size-halfBlock; first = false {
		if w.random.IntN(3) == 0 {
			b.WriteString("\n" + w.heading() + "\n")
		}
		b.WriteString("\n" + w.block() + "\n")
	}
	return b.String()
}

func (w *writer) heading() string {
	level := "##"
	if w.random.IntN(3) == 0 {
		level = "###"
	}
	return level + " " + w.words(1+w.random.IntN(4))
}

// block is a paragraph two times of three, else a list, a table or code.
func (w *writer) block() string {
	switch w.random.IntN(12) {
	case 0, 1:
		return w.lines(3+w.random.IntN(5), func() string { return "- " + w.sentence() })
	case 2:
		return "| Name | Use | Owner |\n|---|---|---|\n" + w.lines(2+w.random.IntN(5), w.tableRow)
	case 3:
		return "```sh\n" + w.lines(2+w.random.IntN(5), w.command) + "\n```"
	}
	return w.paragraph()
}

func (w *writer) tableRow() string {
	return "| " + w.words(1) + " | " + w.words(4) + " | " + w.words(2) + " |"
}

func (w *writer) command() string {
	return strings.ToLower(w.words(1)) + " --" + w.word() + " " + w.word() + "/" + w.word()
}

func (*writer) lines(n int, line func() string) string {
	list := make([]string, n)
	for i := range list {
		list[i] = line()
	}
	return strings.Join(list, "\n")
}
