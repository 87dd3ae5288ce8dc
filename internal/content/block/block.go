// Package block cuts Markdown into its top-level blocks, with byte offsets and
// without changing a byte. It follows CommonMark and GitHub's tables as far as
// the borders of blocks go, and knows nothing of what stands inside a paragraph.
//
// A parser with a full tree isn't used because chunks need exact offsets for
// every kind of block, fence lines and table headers included, and because every
// page is scanned at each sync: this takes one pass and no tree.
package block

import "strings"

// Kind is what a block is.
type Kind int

// The kinds of blocks. Verbatim is indented code and raw HTML, where line breaks
// count and sentences don't.
const (
	Paragraph Kind = iota
	Heading
	Fence
	Table
	List
	Quote
	Verbatim
	Rule
)

// Block is one top-level block, Markdown[Start:End], without the line break
// behind it and without the blank lines around it.
type Block struct {
	Kind       Kind
	Start, End int
	// Level is a heading's, 1 to 6.
	Level int
	// Title is a heading's line without its marks.
	Title string
	// Body is where a fence's content or a table's rows begin, and BodyEnd where
	// a fence's content ends: End, if nothing closes it.
	Body, BodyEnd int
	// Items are the offsets at which a list's own items begin.
	Items []int
}

// Scan returns the blocks of markdown in order. Line breaks are \n.
func Scan(markdown string) []Block {
	s := scanner{src: markdown, blocks: make([]Block, 0, 8+len(markdown)/256)}
	for s.at < len(s.src) {
		line, next := s.line(s.at)
		if blank(line) {
			s.at = next
			continue
		}
		s.block(line, next)
	}
	return s.blocks
}

type scanner struct {
	src    string
	at     int // start of the next line to look at
	blocks []Block
}

// line returns the line at offset at, without its line break, and where the next
// one begins.
func (s *scanner) line(at int) (line string, next int) {
	if end := strings.IndexByte(s.src[at:], '\n'); end >= 0 {
		return s.src[at : at+end], at + end + 1
	}
	return s.src[at:], len(s.src)
}

// add appends b, which ends before offset end, and goes on there.
func (s *scanner) add(b Block, end int) {
	b.End = b.Start + len(strings.TrimRight(s.src[b.Start:end], " \t\n"))
	b.Body, b.BodyEnd = min(b.Body, b.End), min(b.BodyEnd, b.End)
	s.blocks = append(s.blocks, b)
	s.at = end
}

func (s *scanner) block(line string, next int) {
	if indent(line) >= codeIndent {
		s.indented()
		return
	}
	text := strings.TrimLeft(line, " ")
	switch {
	case headingLevel(text) > 0:
		s.add(Block{Kind: Heading, Start: s.at, Level: headingLevel(text), Title: atxTitle(text)}, next)
	case isRule(text):
		s.add(Block{Kind: Rule, Start: s.at}, next)
	case s.fence(line, next), s.list(line), s.table(line, next), s.html(text):
	case text[0] == '>':
		s.quote()
	default:
		s.paragraph()
	}
}

// indented consumes indented code, blank lines inside it included.
func (s *scanner) indented() {
	start, end := s.at, s.at
	for at := s.at; at < len(s.src); {
		line, next := s.line(at)
		if !blank(line) {
			if indent(line) < codeIndent {
				break
			}
			end = next
		}
		at = next
	}
	s.add(Block{Kind: Verbatim, Start: start}, end)
}

// fence consumes a fenced block. Nothing inside it has a meaning, and without a
// closing line it goes on to the end.
func (s *scanner) fence(line string, next int) bool {
	mark, ok := OpenFence(line)
	if !ok {
		return false
	}
	b := Block{Kind: Fence, Start: s.at, Body: next, BodyEnd: len(s.src)}
	for at := next; at < len(s.src); {
		inner, after := s.line(at)
		if mark.Closes(inner) {
			b.BodyEnd = at
			s.add(b, after)
			return true
		}
		at = after
	}
	s.add(b, len(s.src))
	return true
}

// quote consumes a block quote with the lazy lines that continue its paragraph.
func (s *scanner) quote() {
	start, at := s.at, s.at
	for at < len(s.src) {
		line, next := s.line(at)
		text := strings.TrimLeft(line, " ")
		if blank(line) || (text[0] != '>' && interrupts(line)) {
			break
		}
		at = next
	}
	s.add(Block{Kind: Quote, Start: start}, at)
}

// paragraph consumes lines up to a blank one or one that begins something else.
// An underline of = or - makes a heading of it.
func (s *scanner) paragraph() {
	start, at := s.at, s.at
	for at < len(s.src) {
		line, next := s.line(at)
		if level := underline(line); level > 0 && at > start {
			title := strings.TrimSpace(s.src[start:at])
			s.add(Block{Kind: Heading, Start: start, Level: level, Title: title}, next)
			return
		}
		if blank(line) || (at > start && (interrupts(line) || s.startsTable(line, next))) {
			break
		}
		at = next
	}
	s.add(Block{Kind: Paragraph, Start: start}, at)
}

// table consumes a table: a header row, a delimiter row and the rows below.
func (s *scanner) table(line string, next int) bool {
	if !s.startsTable(line, next) {
		return false
	}
	start := s.at
	_, body := s.line(next)
	at := body
	for at < len(s.src) {
		row, after := s.line(at)
		if blank(row) || interrupts(row) {
			break
		}
		at = after
	}
	s.add(Block{Kind: Table, Start: start, Body: body}, at)
	return true
}

func (s *scanner) startsTable(line string, next int) bool {
	if next >= len(s.src) || strings.IndexByte(line, '|') < 0 {
		return false
	}
	below, _ := s.line(next)
	return delimiterRow(below)
}
