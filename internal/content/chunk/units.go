package chunk

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/loresync/loresync/internal/content/block"
	"github.com/loresync/loresync/internal/content/text"
)

// maxTitleRunes bounds one heading in a path; a longer one is a paragraph that
// somebody marked as a heading.
const maxTitleRunes = 120

// unit is a stretch of the page that is never cut. It carries the border in front
// of it.
type unit struct {
	start, end  int // bytes
	pos, endPos int // the same in runes
	class       class
	key         uint64
	path        *path
	heading     bool
	wrap        *wrap
	opens       bool // it holds the opening line of its wrap already
	closes      bool // it holds the closing line
}

// wrap is what a piece of a block needs around it to be read as that block.
type wrap struct{ open, close string }

// path is a heading and the ones above it.
type path struct {
	parent *path
	level  int
	title  string
}

// units are the units of one page in order.
type units struct {
	src  string
	list []unit
	end  int // where the last unit ends, in runes

	keep  int   // blocks up to this size stay whole
	piece int   // sentences, lines and words up to this size stay whole
	head  int   // opening lines and headers up to this size are repeated
	at    *path // the heading that the walk is below
	wrap  *wrap // what the units that are being added stand in
}

func newUnits(markdown string, opts Options) *units {
	u := &units{
		src:   markdown,
		keep:  opts.MaxRunes * 3 / 4,
		piece: opts.TargetRunes * 5 / 4,
		head:  opts.MaxRunes / 7,
	}
	for _, b := range block.Scan(markdown) {
		u.block(b)
	}
	u.measure()
	return u
}

func (u *units) block(b block.Block) {
	switch b.Kind {
	case block.Rule: // says nothing: it stays where it is between two units
	case block.Heading:
		u.heading(b)
	case block.Paragraph:
		u.prose(b.Start, b.End, blockBorder)
	case block.List, block.Quote, block.Verbatim, block.Fence, block.Table:
		if u.runes(b.Start, b.End) <= u.keep {
			u.add(b.Start, b.End, blockBorder)
			return
		}
		u.open(b)
	}
}

// open takes a block apart that is too large to be kept whole.
func (u *units) open(b block.Block) {
	switch b.Kind {
	case block.List:
		u.items(b)
	case block.Fence:
		u.fence(b.Start, b.Body, b.BodyEnd, b.End)
	case block.Table:
		u.table(b)
	default:
		u.lines(b.Start, b.End)
	}
}

func (u *units) heading(b block.Block) {
	for u.at != nil && u.at.level >= b.Level {
		u.at = u.at.parent
	}
	title := text.Truncate(text.Plain(b.Title), maxTitleRunes)
	u.at = &path{parent: u.at, level: b.Level, title: title}
	first := len(u.list)
	u.prose(b.Start, b.End, class(b.Level))
	for i := first; i < len(u.list); i++ {
		u.list[i].heading = true
	}
}

// add appends the unit src[start:end] without the white space at its end.
func (u *units) add(start, end int, c class) {
	end = start + len(strings.TrimRight(u.src[start:end], " \t\n"))
	if strings.TrimSpace(u.src[start:end]) == "" {
		return
	}
	u.list = append(u.list, unit{start: start, end: end, class: c, path: u.at, wrap: u.wrap})
}

// measure fills in what depends on a unit's neighbours: positions in runes, the
// key of its border, and the class of the ones that a heading holds back.
func (u *units) measure() {
	pos, at := 0, 0
	for i := range u.list {
		v := &u.list[i]
		pos += u.runes(at, v.start)
		v.pos, v.endPos = pos, pos+u.runes(v.start, v.end)
		pos, at = v.endPos, v.end
		u.end = v.endPos
		switch {
		case i > 0 && u.list[i-1].heading:
			v.class = headingUnder
		case v.heading:
			v.key = key(u.src[v.start:v.end])
		}
		if i > 0 && !v.heading {
			v.key = key(u.src[u.list[i-1].start:u.list[i-1].end])
		}
	}
}

// key ranks borders of one class. It's a hash, so that the order is as good as
// random and yet the same each time.
func key(s string) uint64 {
	// FNV's high bits hardly change with a text's last bytes: mix them.
	k := fnv1a(s)
	k ^= k >> 33
	k *= 0xff51afd7ed558ccd
	return k ^ k>>33
}

// fnv1a is the 64-bit FNV-1a hash, here without the allocation of hash/fnv.
func fnv1a(s string) uint64 {
	h := uint64(0xcbf29ce484222325)
	for i := range len(s) {
		h = (h ^ uint64(s[i])) * 0x100000001b3
	}
	return h
}

func (u *units) runes(start, end int) int { return utf8.RuneCountInString(u.src[start:end]) }

// span is the length in runes from the start of unit from to the end of the one
// before to.
func (u *units) span(from, to int) int { return u.list[to-1].endPos - u.list[from].pos }

func (u *units) chunk(from, to int) Chunk {
	first, last := u.list[from], u.list[to-1]
	body := u.src[first.start:last.end]
	if first.wrap != nil && !first.opens {
		body = first.wrap.open + "\n" + body
	}
	if last.wrap != nil && last.wrap.close != "" && !last.closes {
		body += "\n" + last.wrap.close
	}
	return Chunk{HeadingPath: u.path(from, to), Text: body, Start: first.start, End: last.end}
}

// path returns the headings that all content of the units has in common. Headings
// without content don't count, unless there is nothing else.
func (u *units) path(from, to int) []string {
	var common *path
	found := false
	for i := from; i < to; i++ {
		switch v := u.list[i]; {
		case v.heading:
		case !found:
			common, found = v.path, true
		default:
			common = meet(common, v.path)
		}
	}
	if !found {
		common = u.list[to-1].path
	}
	titles := []string{}
	for ; common != nil; common = common.parent {
		if common.title != "" {
			titles = append(titles, common.title)
		}
	}
	slices.Reverse(titles)
	return titles
}

// meet returns the nearest heading above both. Levels fall on the way up, so of
// two different headings the one with the higher level isn't above the other.
func meet(a, b *path) *path {
	for a != b {
		if a == nil || b == nil {
			return nil
		}
		up := a.level - b.level
		if up >= 0 {
			a = a.parent
		}
		if up <= 0 {
			b = b.parent
		}
	}
	return a
}
