package document

import (
	"bytes"
	"strings"
)

// writer lays blocks out on lines. It knows how deep it stands in lists and quotes, so that whoever writes a block doesn't.
type writer struct {
	buf []byte
	// prefix begins every line at this depth: indentation of lists, signs of quotes.
	prefix []byte
	// first begins the next line instead, when it opens an item or a quote; nil when it doesn't.
	first []byte
}

// push goes one level down: first begins the next line, rest the others.
func (w *writer) push(first, rest string) {
	if w.first == nil {
		w.first = append([]byte{}, w.prefix...)
	}
	w.first = append(w.first, first...)
	w.prefix = append(w.prefix, rest...)
}

// pop comes back from a level that was entered with rest. A level in which nothing was written leaves its bare sign.
func (w *writer) pop(rest string) {
	if w.first != nil {
		w.line("")
	}
	w.prefix = w.prefix[:len(w.prefix)-len(rest)]
}

// gap separates what follows from what was written before: by a blank line, or by nothing when tight.
func (w *writer) gap(tight bool) {
	if tight || len(w.buf) == 0 || w.first != nil {
		return
	}
	w.buf = append(w.buf, bytes.TrimRight(w.prefix, " ")...)
	w.buf = append(w.buf, '\n')
}

// line writes one line.
func (w *writer) line(s string) {
	begin := w.prefix
	if w.first != nil {
		begin, w.first = w.first, nil
	}
	if s == "" {
		begin = bytes.TrimRight(begin, " ")
	}
	w.buf = append(append(append(w.buf, begin...), s...), '\n')
}

// block writes s, which may have several lines, as a block of its own.
func (w *writer) block(s string) {
	w.gap(false)
	w.lines(s)
}

func (w *writer) lines(s string) {
	for strings.IndexByte(s, '\n') >= 0 {
		var line string
		line, s, _ = strings.Cut(s, "\n")
		w.line(line)
	}
	w.line(s)
}
