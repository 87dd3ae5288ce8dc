package chunk

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/rivo/uniseg"

	"github.com/loresync/loresync/internal/content/block"
	"github.com/loresync/loresync/internal/content/text"
)

// items adds a list item by item.
func (u *units) items(b block.Block) {
	for i, start := range b.Items {
		end := b.End
		if i+1 < len(b.Items) {
			end = b.Items[i+1]
		}
		if u.runes(start, end) <= u.keep {
			u.add(start, end, blockBorder)
			continue
		}
		u.lines(start, end)
	}
}

// table adds a table row by row, with its header on top of every piece unless
// that is very long.
func (u *units) table(b block.Block) {
	header := strings.TrimRight(u.src[b.Start:b.Body], " \t\n")
	if utf8.RuneCountInString(header) > u.head || strings.TrimSpace(u.src[b.Body:b.End]) == "" {
		u.plainLines(b.Start, b.End)
		return
	}
	first := len(u.list)
	u.wrapped(&wrap{open: header}, b.Body, b.End)
	u.list[first].start, u.list[first].opens = b.Start, true
}

// fence adds a fenced block line by line, each piece opened and closed again. One
// without content, or with fence lines too long to be repeated, is only lines.
func (u *units) fence(start, body, bodyEnd, end int) {
	line := strings.TrimRight(u.src[start:body], " \t\n")
	at := strings.IndexAny(line, "`~")
	mark, ok := block.OpenFence(line[max(at, 0):])
	long := utf8.RuneCountInString(line) > u.head || u.runes(bodyEnd, end) > u.head
	if !ok || long || strings.TrimSpace(u.src[body:bodyEnd]) == "" {
		u.plainLines(start, end)
		return
	}
	first := len(u.list)
	u.wrapped(&wrap{open: line[at:], close: strings.Repeat(string(rune(mark.Char)), mark.Length)}, body, bodyEnd)
	u.list[first].start, u.list[first].opens = start, true
	last := &u.list[len(u.list)-1]
	last.end, last.closes = max(last.end, bodyEnd+len(strings.TrimRight(u.src[bodyEnd:end], " \t\n"))), true
}

func (u *units) wrapped(w *wrap, start, end int) {
	u.wrap = w
	u.plainLines(start, end)
	u.wrap = nil
}

// plainLines adds the lines of src[start:end], whatever stands in them. A line
// behind a blank one begins a paragraph of its kind.
func (u *units) plainLines(start, end int) {
	c := blockBorder
	for at := start; at < end; {
		next := u.nextLine(at, end)
		if strings.TrimSpace(u.src[at:next]) == "" {
			c = blockBorder
		} else {
			u.prose(at, next, c)
			c = lineBorder
		}
		at = next
	}
}

// lines is plainLines with an eye on fences inside a list item or quote, which
// stay whole or are opened again.
func (u *units) lines(start, end int) {
	plain := start
	for at := start; at < end; {
		body := u.nextLine(at, end)
		mark, ok := nestedFence(u.src[at:body])
		if !ok {
			at = body
			continue
		}
		u.plainLines(plain, at)
		bodyEnd, after := u.closing(mark, body, end)
		if u.runes(at, after) <= u.keep {
			u.add(at, after, blockBorder)
		} else {
			u.fence(at, body, bodyEnd, after)
		}
		plain, at = after, after
	}
	u.plainLines(plain, end)
}

// closing returns the bounds of the line that closes a fence whose content begins
// at offset at; without one, the content goes on to the end.
func (u *units) closing(mark block.FenceMark, at, end int) (from, to int) {
	for at < end {
		next := u.nextLine(at, end)
		if mark.Closes(strings.Trim(u.src[at:next], " \t>\n")) {
			return at, next
		}
		at = next
	}
	return end, end
}

// nestedFence looks for a fence behind the marks of quotes and list items.
func nestedFence(line string) (block.FenceMark, bool) {
	return block.OpenFence(strings.TrimLeft(strings.TrimRight(line, "\n"), " \t>-*+0123456789.)"))
}

func (u *units) nextLine(at, end int) int {
	if i := strings.IndexByte(u.src[at:end], '\n'); i >= 0 {
		return at + i + 1
	}
	return end
}

// prose adds a paragraph or line, c being the border in front of it: whole if it
// is short, else sentence by sentence.
func (u *units) prose(start, end int, c class) {
	if u.runes(start, end) <= u.piece {
		u.add(start, end, c)
		return
	}
	text.Sentences(u.src[start:end], func(from, to int) bool {
		u.sentence(start+from, start+to, c)
		c = max(c, sentence)
		return true
	})
}

// sentence adds a sentence whole, or one that is too long word by word.
func (u *units) sentence(start, end int, c class) {
	if u.runes(start, end) <= u.piece {
		u.add(start, end, c)
		return
	}
	for at := start; at < end; {
		rest := u.src[at:end]
		word := len(rest) - len(strings.TrimLeftFunc(rest, unicode.IsSpace))
		stop := strings.IndexFunc(rest[word:], unicode.IsSpace)
		next := end
		if stop >= 0 {
			next = at + word + stop
		}
		u.word(at+word, next, c)
		c, at = max(c, wordBorder), next
	}
}

// word adds a word whole, or one that is too long, such as an encoded file or a
// Japanese sentence without an end, in parts. A part ends between two grapheme
// clusters where the text itself says so, one place in 32, so that an edit moves
// the borders near it only.
func (u *units) word(start, end int, c class) {
	if u.runes(start, end) <= u.piece {
		u.add(start, end, c)
		return
	}
	part, length, state := start, 0, -1
	for at := start; at < end; {
		var size int
		size, state = cluster(u.src[at:end], state)
		length += u.runes(at, at+size)
		at += size
		if length >= u.piece/2 || fnv1a(u.src[max(start, at-window):at])>>16%32 == 0 {
			u.add(part, at, c)
			c, part, length = max(c, runeBorder), at, 0
		}
	}
	u.add(part, end, c)
}

const (
	// maxCluster is the length in bytes from which on a grapheme cluster is an
	// attack on the reader rather than a character, and may be cut.
	maxCluster = 128
	// window is how many bytes in front of a place decide whether it is a border.
	window = 16
)

// cluster returns the length of the first grapheme cluster of s, or of its first
// rune if the cluster is longer than a cluster should be. It looks no further than
// that, or an endless cluster would be read again for each of its runes.
func cluster(s string, state int) (size, next int) {
	first, _, _, next := uniseg.FirstGraphemeClusterInString(s[:min(len(s), maxCluster+utf8.UTFMax)], state)
	if len(first) <= maxCluster {
		return len(first), next
	}
	_, size = utf8.DecodeRuneInString(s)
	return size, -1
}
