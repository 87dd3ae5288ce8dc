package block

import "strings"

// codeIndent is the indentation from which on a line is code.
const codeIndent = 4

func blank(line string) bool { return strings.TrimLeft(line, " \t\r") == "" }

// indent returns the width of the white space that line begins with, tabs going
// to the next column of four.
func indent(line string) int {
	width := 0
	for i := range len(line) {
		switch line[i] {
		case ' ':
			width++
		case '\t':
			width += codeIndent - width%codeIndent
		default:
			return width
		}
	}
	return width
}

// headingLevel returns the level of the ATX heading that text is, or 0.
func headingLevel(text string) int {
	level := len(text) - len(strings.TrimLeft(text, "#"))
	if level == 0 || level > 6 {
		return 0
	}
	if level < len(text) && text[level] != ' ' && text[level] != '\t' {
		return 0
	}
	return level
}

func atxTitle(text string) string {
	title := strings.TrimSpace(strings.TrimLeft(text, "#"))
	open := strings.TrimRight(title, "#")
	if open == "" || open != strings.TrimRight(open, " \t") {
		title = strings.TrimSpace(open)
	}
	return title
}

// underline returns the level of the heading that line makes of the paragraph
// above it, or 0.
func underline(line string) int {
	if indent(line) >= codeIndent {
		return 0
	}
	switch text := strings.TrimSpace(line); {
	case text == "":
		return 0
	case strings.Trim(text, "=") == "":
		return 1
	case strings.Trim(text, "-") == "":
		return 2
	default:
		return 0
	}
}

// isRule says whether text is a thematic break: three or more of *, - or _.
func isRule(text string) bool {
	if text == "" || strings.IndexByte("*-_", text[0]) < 0 {
		return false
	}
	marks := strings.Count(text, text[:1])
	return marks >= 3 && strings.Trim(text, text[:1]+" \t") == ""
}

// delimiterRow says whether line is the second row of a table.
func delimiterRow(line string) bool {
	return strings.Contains(line, "-") && strings.Contains(line, "|") &&
		strings.Trim(line, "|-: \t") == "" && indent(line) < codeIndent
}

// interrupts says whether line ends a paragraph or quote above it.
func interrupts(line string) bool {
	if indent(line) >= codeIndent {
		return false
	}
	text := strings.TrimLeft(line, " ")
	if text == "" {
		return true
	}
	if _, ok := OpenFence(line); ok {
		return true
	}
	if headingLevel(text) > 0 || isRule(text) || text[0] == '>' || htmlEnd(text) != "" {
		return true
	}
	m, ok := listMarker(line)
	return ok && !m.empty && (!m.ordered || m.first)
}

// FenceMark is the opening of a fenced code block.
type FenceMark struct {
	Char   byte
	Length int
}

// OpenFence says whether line opens a fenced code block, at any indentation: a
// list item's fences stand below its text.
func OpenFence(line string) (FenceMark, bool) {
	text := strings.TrimLeft(line, " \t")
	if len(text) < 3 || (text[0] != '`' && text[0] != '~') {
		return FenceMark{}, false
	}
	info := strings.TrimLeft(text, text[:1])
	mark := FenceMark{Char: text[0], Length: len(text) - len(info)}
	if mark.Length < 3 || (mark.Char == '`' && strings.IndexByte(info, '`') >= 0) {
		return FenceMark{}, false
	}
	return mark, true
}

// Closes says whether line closes the block that m opened: the same character,
// at least as often, and nothing else.
func (m FenceMark) Closes(line string) bool {
	text := strings.Trim(line, " \t\r")
	return len(text) >= m.Length && text[0] == m.Char && strings.Trim(text, string(rune(m.Char))) == ""
}
