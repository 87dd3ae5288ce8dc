package render

import (
	"strings"

	"github.com/loresync/loresync/internal/content/block"
)

// maxBlankLines is how many blank lines in a row are kept outside of fences.
const maxBlankLines = 2

// tidy trims the ends of lines, keeping hard line breaks, and long runs of blank
// lines. Inside a fence it changes nothing.
func tidy(s string) string {
	t := tidier{}
	t.out.Grow(len(s) + 1)
	for line := range strings.SplitSeq(s, "\n") {
		t.line(line)
	}
	body := strings.TrimRight(t.out.String(), " \t\n")
	if body == "" {
		return ""
	}
	return body + "\n"
}

// tidier writes each line without its end: that depends on the line behind it.
type tidier struct {
	out    strings.Builder
	fence  block.FenceMark
	fenced bool
	broken bool // the last line asks for a hard break, if text follows
	blanks int  // blank lines since
}

func (t *tidier) line(line string) {
	if t.fenced {
		t.fenced = !t.fence.Closes(line)
		t.out.WriteByte('\n')
		t.out.WriteString(line)
		return
	}
	trimmed := strings.TrimRight(line, " \t\u00A0\u3000")
	if trimmed == "" {
		t.blanks++
		return
	}
	t.endLast()
	t.out.WriteString(trimmed)
	t.fence, t.fenced = block.OpenFence(trimmed)
	heading := strings.HasPrefix(strings.TrimLeft(trimmed, " "), "#")
	t.broken = !t.fenced && !heading && strings.HasSuffix(line, "  ")
}

// endLast ends the line written last, now that text follows.
func (t *tidier) endLast() {
	if t.out.Len() > 0 {
		if t.broken && t.blanks == 0 {
			t.out.WriteString("  ")
		}
		t.out.WriteString("\n\n\n"[:1+min(t.blanks, maxBlankLines)])
	}
	t.blanks = 0
}

// escapeLines puts a backslash in front of what would make a line of plain text a
// heading, a quote or the start of a fence.
func escapeLines(s string) string {
	var out strings.Builder
	out.Grow(len(s))
	for line := range strings.SplitAfterSeq(s, "\n") {
		body := strings.TrimLeft(line, " ")
		out.WriteString(line[:len(line)-len(body)])
		_, fence := block.OpenFence(line)
		if fence || strings.HasPrefix(body, "#") || strings.HasPrefix(body, ">") {
			out.WriteByte('\\')
		}
		out.WriteString(body)
	}
	return out.String()
}
