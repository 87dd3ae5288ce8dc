package document

import (
	"strconv"
	"strings"
)

// place is where a block stands among its siblings, as far as its rendering depends on it.
type place struct {
	// tight says that no blank line separates it from what was written before.
	tight bool
	// number is that of a numbered item; delimiter the sign behind it.
	number    int
	delimiter string
}

// siblings follows a sequence of blocks to number its lists and to tell which items belong together.
type siblings struct {
	inItem bool
	wrote  bool
	// last is the type of the block before, whether it left a trace or not: an empty paragraph ends a list, too.
	last string
	// kind is the listKind of the block at hand with its delimiter, written that of the last block that left a trace.
	kind, written string
	number        int
	delimiter     string
}

// next gives a block its place.
func (s *siblings) next(b *Block, p *payload) place {
	if b.Type == typeNumbered {
		s.count(p)
	}
	if s.kind = listKind(b, p); s.kind == "1" {
		s.kind += s.delimiter
	}
	at := place{number: s.number, delimiter: s.delimiter}
	switch {
	case s.kind == "":
	case s.wrote:
		// A list in one block of lines, as people write it. Bullets and numbers don't mix: a number other than 1 would be
		// read as text of the bullet before.
		at.tight = s.kind == s.written
	case s.inItem:
		// What follows an item's text without a blank line must be able to interrupt a paragraph: 2. and a bare sign can't.
		at.tight = (s.kind == "-" || s.number == 1) && strings.TrimSpace(plainRuns(p.RichText)) != ""
	}
	return at
}

// count works out a numbered item's number. A list that starts anew right behind another one changes its delimiter, which
// is how Markdown tells two lists apart.
func (s *siblings) count(p *payload) {
	restarts := s.last != typeNumbered || p.ListStartIndex > 0
	if !restarts {
		s.number++
		return
	}
	behind := strings.HasPrefix(s.written, "1")
	s.number = 1
	if p.ListStartIndex > 0 && p.ListStartIndex < 1_000_000_000 {
		s.number = p.ListStartIndex
	}
	if behind && s.delimiter == "." {
		s.delimiter = ")"
		return
	}
	s.delimiter = "."
}

// done notes what became of a block.
func (s *siblings) done(b *Block, wrote bool) {
	s.last = b.Type
	if wrote {
		s.wrote, s.written = true, s.kind
	}
}

// listKind is "-" or "1" for the items of lists, by the sign that they are written with; empty for other blocks.
func listKind(b *Block, p *payload) string {
	switch {
	case b.Type == typeBulleted, b.Type == typeToDo:
		return "-"
	case b.Type == typeNumbered && spelled(p.ListFormat):
		return "-"
	case b.Type == typeNumbered:
		return "1"
	}
	return ""
}

// spelled reports a numbering that Markdown doesn't have.
func spelled(format string) bool { return format == "letters" || format == "roman" }

// item writes an item of a list with its children.
func (r *renderer) item(b *Block, p *payload, at place) {
	body := r.inline(p.RichText, flowParagraph, 0)
	if body == "" && len(b.Children) == 0 && !b.HasChildren && b.Missing == "" {
		return
	}
	marker := "- "
	switch {
	case b.Type == typeToDo && p.Checked:
		body = "[x] " + body
	case b.Type == typeToDo:
		body = "[ ] " + body
	case b.Type == typeNumbered && spelled(p.ListFormat):
		body = strings.TrimRight(ordinal(at.number, p.ListFormat)+". "+body, " ")
	case b.Type == typeNumbered:
		marker = strconv.Itoa(at.number) + at.delimiter + " "
	}
	r.w.gap(at.tight)
	indent := strings.Repeat(" ", len(marker))
	r.w.push(marker, indent)
	if body != "" {
		r.hit()
		r.w.lines(body)
	}
	r.children(b, body != "")
	r.w.pop(indent)
}

// ordinal spells a number in letters (a … z, aa …) or in Roman numerals.
func ordinal(n int, format string) string {
	if format == "roman" {
		return roman(n)
	}
	var out string
	for ; n > 0; n = (n - 1) / 26 {
		out = string(rune('a'+(n-1)%26)) + out
	}
	return out
}

// maxRoman is the largest number with a usual Roman numeral.
const maxRoman = 3999

func roman(n int) string {
	if n < 1 || n > maxRoman {
		return strconv.Itoa(n)
	}
	var out strings.Builder
	for _, step := range []struct {
		value int
		sign  string
	}{
		{1000, "m"},
		{900, "cm"},
		{500, "d"},
		{400, "cd"},
		{100, "c"},
		{90, "xc"},
		{50, "l"},
		{40, "xl"},
		{10, "x"},
		{9, "ix"},
		{5, "v"},
		{4, "iv"},
		{1, "i"},
	} {
		for n >= step.value {
			out.WriteString(step.sign)
			n -= step.value
		}
	}
	return out.String()
}
