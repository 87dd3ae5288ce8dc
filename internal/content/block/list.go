package block

import "strings"

// marker is the sign that a list item begins with.
type marker struct {
	ordered bool
	first   bool // numbered 1: only such a list interrupts a paragraph
	empty   bool // nothing follows
	indent  int
	content int // the column at which the item's text begins
}

// listMarker reads the marker that line begins with.
func listMarker(line string) (marker, bool) {
	text := strings.TrimLeft(line, " \t")
	m := marker{indent: indent(line)}
	width := 1
	switch {
	case text == "":
		return m, false
	case strings.IndexByte("-*+", text[0]) >= 0:
	default:
		digits := len(text) - len(strings.TrimLeft(text, "0123456789"))
		if digits == 0 || digits > 9 || digits >= len(text) || (text[digits] != '.' && text[digits] != ')') {
			return m, false
		}
		m.ordered, m.first = true, text[:digits] == "1"
		width = digits + 1
	}
	rest := text[width:]
	m.empty = blank(rest)
	if !m.empty && rest[0] != ' ' && rest[0] != '\t' {
		return m, false
	}
	m.content = m.indent + width + 1
	return m, true
}

// list consumes a list with all that is nested in its items.
func (s *scanner) list(line string) bool {
	first, ok := listMarker(line)
	if !ok {
		return false
	}
	l := lister{scanner: s, first: first, end: s.at}
	b := Block{Kind: List, Start: s.at}
	for at := s.at; at < len(s.src); {
		line, next := s.line(at)
		starts, goesOn := l.accept(line)
		if !goesOn {
			break
		}
		if starts {
			b.Items = append(b.Items, at)
		}
		at = l.through(line, next)
	}
	s.add(b, l.end)
	return true
}

// lister walks over the lines of one list.
type lister struct {
	*scanner
	first marker
	item  marker // the item that the walk is in
	end   int    // behind the last line that surely belongs to the list
	gap   bool   // the line before was blank
}

// accept says whether line belongs to the list, and whether it starts one of the
// list's own items rather than a nested one.
func (l *lister) accept(line string) (starts, goesOn bool) {
	if blank(line) {
		l.gap = true
		return false, true
	}
	text := strings.TrimLeft(line, " \t")
	m, ok := listMarker(line)
	if ok && m.indent < l.first.content && !isRule(text) {
		if m.ordered != l.first.ordered {
			return false, false
		}
		l.item = m
		return true, true
	}
	if indent(line) >= min(l.item.content, l.item.indent+2) {
		return false, true
	}
	return false, !l.gap && !interrupts(line)
}

// through consumes an accepted line, and if it opens a fence, the lines up to
// the closing one or to the end of the item.
func (l *lister) through(line string, next int) int {
	if blank(line) {
		return next
	}
	l.gap, l.end = false, next
	text := line
	if m, ok := listMarker(line); ok {
		text = line[min(len(line), len(line)-len(strings.TrimLeft(line, " \t"))+m.content-m.indent-1):]
	}
	mark, ok := OpenFence(text)
	if !ok {
		return next
	}
	for at := next; at < len(l.src); {
		inner, after := l.line(at)
		if !blank(inner) && indent(inner) < min(l.item.content, l.item.indent+2) {
			return at
		}
		at, l.end = after, after
		if mark.Closes(inner) {
			return at
		}
	}
	return len(l.src)
}
