package gdrive

import (
	"strings"

	"golang.org/x/text/unicode/norm"

	"github.com/loresync/loresync/internal/content/block"
	"github.com/loresync/loresync/internal/content/text"
)

// DocsMarkdown makes readable what Google exports Docs as: pictures, which are kept as data at the end of the text and would be most
// of it, become placeholders with their descriptions; escapes without need, bold of whole headings and headings without a text are
// taken away; line breaks have one form. What looks like a tag is text, since Docs hold no HTML: it gets a backslash, or readers of
// Markdown would drop it. What is between fences stays as it is. It also counts the pictures.
//
// The result is UTF-8 in NFC without NUL, and ends in one line break unless it is empty. What was made readable stays as it is.
func DocsMarkdown(exported []byte) (markdown string, pictures int) {
	source := strings.TrimPrefix(text.Clean(string(exported)), "\uFEFF")
	source = strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(source)
	w := docsWriter{data: map[string]bool{}}
	lines := strings.Split(norm.NFC.String(source), "\n")
	for _, line := range w.withoutData(lines) {
		w.line(line)
	}
	body := strings.Trim(w.out.String(), "\n")
	if body == "" {
		return "", w.pictures
	}
	return body + "\n", w.pictures
}

// docsWriter writes line by line.
type docsWriter struct {
	out strings.Builder
	// data are the labels of pictures that are defined as data.
	data     map[string]bool
	pictures int
	fence    block.FenceMark
	fenced   bool
	// broken is set when the last line asks for a line break, and blank when an empty one came after it.
	broken, blank bool
}

// withoutData takes away the definitions of pictures, which stand outside of fences, and remembers their labels.
func (w *docsWriter) withoutData(lines []string) []string {
	kept := make([]string, 0, len(lines))
	fence, fenced := block.FenceMark{}, false
	for _, line := range lines {
		switch label := dataLabel(line); {
		case fenced:
			fenced = !fence.Closes(line)
		case label != "":
			w.data[label] = true
			continue
		default:
			fence, fenced = block.OpenFence(line)
		}
		kept = append(kept, line)
	}
	return kept
}

// dataLabel reads `[image1]: <data:image/png;base64,…>`; empty for every other line.
func dataLabel(line string) string {
	label, rest, ok := strings.Cut(strings.TrimLeft(line, " "), "]:")
	if !ok || len(label) < 2 || label[0] != '[' || strings.ContainsAny(label[1:], "[]\\") {
		return ""
	}
	rest = strings.TrimPrefix(strings.TrimSpace(rest), "<")
	const scheme = "data:"
	if len(rest) < len(scheme) || !strings.EqualFold(rest[:len(scheme)], scheme) {
		return ""
	}
	return strings.ToLower(label[1:])
}

func (w *docsWriter) line(line string) {
	if w.fenced {
		w.fenced = !w.fence.Closes(line)
		w.write(line, false)
		return
	}
	if mark, opens := block.OpenFence(line); opens {
		w.fence, w.fenced = mark, true
		w.write(strings.TrimRight(line, " \t"), false)
		return
	}
	trimmed := strings.TrimRight(line, " \t\u00A0")
	if level, title, is := headingOf(trimmed); is {
		title = strings.TrimSpace(w.inline(withoutAnchor(title), true))
		if title = unbold(title); title == "" {
			w.blank, w.broken = true, false
			return
		}
		w.write(strings.Repeat("#", level)+" "+title, false)
		return
	}
	if trimmed == "" || onlyBreaks(trimmed) {
		w.blank = true
		return
	}
	w.write(strings.TrimRight(w.inline(trimmed, false), " \t\u00A0"), strings.HasSuffix(line, "  "))
}

// write adds a line. A break at the end of the one before is kept only if text follows it.
func (w *docsWriter) write(line string, broken bool) {
	if w.out.Len() > 0 {
		if w.broken && !w.blank {
			w.out.WriteString("  ")
		}
		w.out.WriteByte('\n')
		if w.blank {
			w.out.WriteByte('\n')
		}
	}
	w.out.WriteString(line)
	w.broken, w.blank = broken, false
}

// headingOf parts a heading into its level and its text.
func headingOf(line string) (level int, title string, is bool) {
	rest := strings.TrimLeft(line, " ")
	if len(line)-len(rest) > 3 {
		return 0, "", false
	}
	title = strings.TrimLeft(rest, "#")
	level = len(rest) - len(title)
	if level < 1 || level > 6 || title != "" && title[0] != ' ' && title[0] != '\t' {
		return 0, "", false
	}
	return level, strings.TrimSpace(title), true
}

// withoutAnchor takes the names off a heading under which other places of the Doc link to it.
func withoutAnchor(title string) string {
	for {
		at := strings.LastIndex(title, "{#")
		if at < 0 || !strings.HasSuffix(title, "}") || strings.ContainsAny(title[at:len(title)-1], " \t}") || strings.HasSuffix(title[:at], `\`) {
			return title
		}
		title = strings.TrimRight(title[:at], " \t")
	}
}

// unbold takes bold off a heading that is bold as a whole: Google writes it around each piece that has a look of its own.
func unbold(title string) string {
	for {
		inner, opened := strings.CutPrefix(title, "**")
		inner, closed := strings.CutSuffix(inner, "**")
		if !opened || !closed || strings.Contains(inner, "**") || strings.HasSuffix(inner, `\`) || title == "**" {
			return unboldPieces(title)
		}
		title = strings.TrimSpace(inner)
	}
}

// unboldPieces reads `**Bold and** ***more***`, and gives every other title as it is.
func unboldPieces(title string) string {
	var out strings.Builder
	for rest := title; rest != ""; {
		behind := strings.TrimLeft(rest, " ")
		out.WriteString(rest[:len(rest)-len(behind)])
		stars := len(behind) - len(strings.TrimLeft(behind, "*"))
		if stars != 2 && stars != 3 {
			return title
		}
		mark := behind[:stars]
		piece, after, closed := strings.Cut(behind[stars:], mark)
		if !closed || piece == "" || piece != strings.TrimSpace(piece) || strings.ContainsAny(piece, "*\\`") || strings.HasPrefix(after, "*") {
			return title
		}
		out.WriteString(mark[2:] + piece + mark[2:])
		rest = after
	}
	return out.String()
}
