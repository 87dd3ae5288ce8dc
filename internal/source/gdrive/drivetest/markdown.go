package drivetest

import (
	"fmt"
	"strings"
	"unicode"
)

// googleMarkdown writes a Doc as Google's export does: starred bullets, bold headings, backslashes before all that could be
// read as Markdown, and the pictures as data at the end.
func (d *document) googleMarkdown() []byte {
	w := &markdownWriter{anchors: d.hasAnchors()}
	for i, p := range d.paragraphs {
		w.block(p)
		if i+1 < len(d.paragraphs) && p.inList() && d.paragraphs[i+1].inList() {
			w.out.WriteString("\n")
		} else {
			w.out.WriteString("\n\n")
		}
	}
	for i, picture := range w.pictures {
		fmt.Fprintf(&w.out, "[image%d]: <%s>\n\n", i+1, dataURI(picture, i))
	}
	return []byte(strings.TrimRight(w.out.String(), "\n") + "\n")
}

func (p paragraph) inList() bool {
	return p.style == bullet || p.style == numbered || p.style == checkbox
}

// hasAnchors is whether links lead to headings: then the export names those.
func (d *document) hasAnchors() bool {
	for _, p := range d.paragraphs {
		for _, r := range p.runs {
			if strings.HasPrefix(r.link, "#") {
				return true
			}
		}
	}
	return false
}

// markdownWriter collects the text, and the pictures that follow it.
type markdownWriter struct {
	out      strings.Builder
	pictures [][]byte
	anchors  bool
	// indents are how far items of lists are moved in, by their level.
	indents []int
}

func (w *markdownWriter) block(p paragraph) {
	switch p.style {
	case heading:
		w.heading(p)
	case bullet, numbered, checkbox:
		w.item(p)
	case code:
		fmt.Fprintf(&w.out, "```%s\n%s```", p.language, p.text)
	case table:
		w.table(p)
	case rule:
		w.out.WriteString("---")
	case plainText:
		w.out.WriteString(w.line(p.runs))
	}
}

// heading writes a heading in bold; one without text is there, too.
func (w *markdownWriter) heading(p paragraph) {
	runs := make([]run, len(p.runs))
	for i, r := range p.runs {
		r.bold = true
		runs[i] = r
	}
	w.out.WriteString(strings.Repeat("#", p.level) + " " + w.line(joined(runs)))
	if w.anchors {
		fmt.Fprintf(&w.out, " {#%s}", strings.Join(tokens(textOf(p.runs)), "-"))
	}
}

func (w *markdownWriter) item(p paragraph) {
	mark := map[style]string{bullet: "* ", numbered: fmt.Sprintf("%d. ", p.number), checkbox: "- [ ] "}[p.style]
	if p.checked {
		mark = "- [x] "
	}
	for len(w.indents) < p.level {
		w.indents = append(w.indents, 0)
	}
	before := 0
	for _, width := range w.indents[:p.level-1] {
		before += width
	}
	w.indents[p.level-1] = len(strings.SplitN(mark, " ", 2)[0]) + 1
	w.out.WriteString(strings.Repeat(" ", before) + mark + w.line(p.runs))
}

func (w *markdownWriter) table(p paragraph) {
	for i, row := range p.rows {
		w.out.WriteString("|")
		for _, cell := range row {
			w.out.WriteString(" " + strings.ReplaceAll(w.line(cell), "  \n", "<br>") + " |")
		}
		if i == 0 {
			w.out.WriteString("\n|" + strings.Repeat(" :---- |", len(row)))
		}
		if i+1 < len(p.rows) {
			w.out.WriteString("\n")
		}
	}
}

// line writes runs.
func (w *markdownWriter) line(runs []run) string {
	var out strings.Builder
	for _, r := range runs {
		switch {
		case r.broken:
			out.WriteString("  \n")
		case r.picture != nil:
			w.pictures = append(w.pictures, r.picture)
			fmt.Fprintf(&out, "![][image%d]", len(w.pictures))
		default:
			out.WriteString(r.markdown())
		}
	}
	return out.String()
}

// markdown writes a run. Spaces at its ends stay outside of its signs, inside of which they would undo them.
func (r run) markdown() string {
	inner := strings.TrimSpace(r.text)
	if inner == "" {
		return r.text
	}
	before, after, _ := strings.Cut(r.text, inner)
	if r.mono {
		inner = "`" + inner + "`"
	} else {
		inner = escape(inner)
	}
	for _, sign := range []struct {
		text string
		has  bool
	}{{"*", r.italic}, {"**", r.bold}, {"~~", r.struck}} {
		if sign.has {
			inner = sign.text + inner + sign.text
		}
	}
	if r.link != "" {
		inner = "[" + inner + "](" + r.link + ")"
	}
	return before + inner + after
}

// escape puts backslashes before what could be read as Markdown, as the export does: more often than needed.
func escape(s string) string {
	var out strings.Builder
	var last rune
	for _, c := range s {
		if strings.ContainsRune("\\`*_[]<>#+-=~|!{}&", c) || c == '.' && unicode.IsDigit(last) {
			out.WriteByte('\\')
		}
		out.WriteRune(c)
		last = c
	}
	return out.String()
}

// textOf is the text of runs alone.
func textOf(runs []run) string {
	var out strings.Builder
	for _, r := range runs {
		if r.broken {
			out.WriteByte('\n')
		}
		out.WriteString(r.text)
	}
	return out.String()
}

// plain writes a Doc as text: every paragraph on a line, cells of tables too.
func (d *document) plain() string {
	var lines []string
	for _, p := range d.paragraphs {
		switch p.style {
		case code:
			lines = append(lines, strings.TrimSuffix(p.text, "\n"))
		case table:
			for _, row := range p.rows {
				for _, cell := range row {
					lines = append(lines, textOf(cell))
				}
			}
		case rule:
			lines = append(lines, "________________")
		default:
			lines = append(lines, p.mark()+textOf(p.runs))
		}
	}
	return strings.Join(lines, "\n")
}

// mark is what stands before a paragraph in text.
func (p paragraph) mark() string {
	indent := strings.Repeat("   ", max(0, p.level-1))
	switch p.style {
	case bullet:
		return indent + "* "
	case numbered:
		return fmt.Sprintf("%s%d. ", indent, p.number)
	case checkbox:
		return indent + "[ ] "
	default:
		return ""
	}
}
