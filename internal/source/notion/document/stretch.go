package document

import (
	"strings"
	"unicode/utf8"
)

// stretch is a run of cells that look the same, rendered.
type stretch struct {
	markdown    string
	first, last rune
	style       style
	link        int32
}

// write renders the cells: links outside, emphasis inside them.
func (w *inliner) write() {
	all := w.stretches()
	for i := 0; i < len(all); {
		end := i
		for end < len(all) && all[end].link == all[i].link {
			end++
		}
		w.writeLink(all, i, end)
		i = end
	}
}

func (w *inliner) stretches() []stretch {
	var all []stretch
	for i := 0; i < len(w.cells); {
		end := i
		for end < len(w.cells) && w.cells[end].style == w.cells[i].style && w.cells[end].link == w.cells[i].link {
			end++
		}
		all = append(all, w.stretch(i, end))
		i = end
	}
	return all
}

func (w *inliner) stretch(from, to int) stretch {
	s := stretch{style: w.cells[from].style, link: w.cells[from].link, first: w.edge(from), last: w.edge(to - 1)}
	var out []byte
	var piece strings.Builder
	begin := from
	flush := func() {
		e := escaper{
			inLink: s.link > 0, inCell: w.flow == flowCell, newline: w.flow.newline(),
			lineStart: w.flow == flowParagraph && (begin == 0 || w.cells[begin-1].newline()),
		}
		out = e.append(out, piece.String())
		piece.Reset()
	}
	for i := from; i < to; i++ {
		if w.cells[i].atom == 0 {
			piece.WriteRune(w.cells[i].r)
			continue
		}
		flush()
		out = append(out, w.atoms[w.cells[i].atom-1]...)
		begin = i + 1
	}
	flush()
	s.markdown = string(out)
	return s
}

// edge is the character that a delimiter beside cell i meets.
func (w *inliner) edge(i int) rune {
	if a := w.cells[i].atom; a > 0 {
		r, _ := utf8.DecodeRuneInString(w.atoms[a-1])
		return r
	}
	if w.cells[i].newline() && w.flow == flowCell {
		return '<' // of the tag that stands for a line break
	}
	return w.cells[i].r
}

// writeLink writes all[from:to], which share a link or have none.
func (w *inliner) writeLink(all []stretch, from, to int) {
	link := all[from].link
	if link == 0 {
		w.writeEmphasis(all, from, to)
		return
	}
	url := w.links[link-1]
	if to-from == 1 && all[from].style == 0 && all[from].markdown == url && strings.Contains(url, "://") {
		w.out = append(append(append(w.out, '<'), url...), '>')
		return
	}
	if n := len(w.out); n > 0 && w.out[n-1] == '!' {
		// Unescaped, it would make an image of the link.
		w.out = append(w.out[:n-1], `\!`...)
	}
	w.out = append(w.out, '[')
	w.writeEmphasis(all, from, to)
	w.out = append(append(append(w.out, "]("...), url...), ')')
}

// writeEmphasis writes all[from:to]; stretches with annotations that touch are delimited together.
func (w *inliner) writeEmphasis(all []stretch, from, to int) {
	for from < to {
		if all[from].style == 0 {
			w.out = append(w.out, all[from].markdown...)
			from++
			continue
		}
		end := from
		for end < to && all[end].style != 0 {
			end++
		}
		before := ' '
		if len(w.out) > 0 {
			before, _ = utf8.DecodeLastRune(w.out)
		}
		w.out = emphasise(w.out, all[from:end], before, runeAfter(all, end))
		from = end
	}
}

// runeAfter is the character that will stand behind all[end-1].
func runeAfter(all []stretch, end int) rune {
	switch {
	case end == len(all):
		if all[end-1].link > 0 {
			return ']'
		}
		return ' '
	case all[end].link == all[end-1].link:
		return all[end].first
	case all[end-1].link > 0:
		return ']'
	default:
		return '['
	}
}

// atom renders code or mathematics.
func atom(s span, to flow) string {
	content := strings.Join(strings.Fields(s.text), " ")
	if s.kind == spanCode {
		content = strings.ReplaceAll(s.text, "\n", " ")
	}
	if to == flowCell {
		content = strings.ReplaceAll(content, "|", `\|`)
	}
	if s.kind == spanMath && !strings.Contains(content, "$") {
		return "$" + content + "$"
	}
	return codeSpan(content)
}

// codeSpan fences content by one backtick more than any run in it; a space keeps apart what would touch.
func codeSpan(content string) string {
	fence := strings.Repeat("`", longestRun(content, '`')+1)
	if strings.HasPrefix(content, "`") || strings.HasSuffix(content, "`") || (strings.HasPrefix(content, " ") && strings.HasSuffix(content, " ")) {
		content = " " + content + " "
	}
	return fence + content + fence
}

// longestRun counts the longest run of c in s.
func longestRun(s string, c byte) int {
	longest, run := 0, 0
	for i := range len(s) {
		if s[i] != c {
			run = 0
			continue
		}
		run++
		longest = max(longest, run)
	}
	return longest
}
