package document

import (
	"slices"
	"unicode"
)

// mark is one delimiter of one annotation, or a stretch of text between delimiters.
type mark struct {
	sign byte // 0 for a stretch
	size int
	id   int // of the pair; for a stretch its index
	open bool
}

// attempt is one way to delimit a group of stretches: the annotations it shows, and the sign it uses for italics.
type attempt struct {
	shown  style
	italic byte
}

// attempts are tried in this order. Delimiters that touch can mean something else than was meant (CommonMark counts signs
// modulo three); then an annotation is given up rather than the text littered with asterisks.
var attempts = []attempt{
	{strike | bold | italic, '*'},
	{strike | bold | italic, '_'},
	{strike | bold, '*'},
	{bold | italic, '*'},
	{bold | italic, '_'},
	{bold, '*'},
	{strike, '*'},
	{italic, '*'},
}

// emphasise writes stretches that touch, with the richest delimiters that CommonMark reads back as they are meant. before
// and after are the characters around the group.
func emphasise(dst []byte, group []stretch, before, after rune) []byte {
	for _, a := range attempts {
		marks := a.marks(group)
		if readsBack(marks, group, before, after) {
			return appendMarks(dst, marks, group)
		}
	}
	for _, s := range group {
		dst = append(dst, s.markdown...)
	}
	return dst
}

func appendMarks(dst []byte, marks []mark, group []stretch) []byte {
	for _, m := range marks {
		if m.sign == 0 {
			dst = append(dst, group[m.id].markdown...)
			continue
		}
		for range m.size {
			dst = append(dst, m.sign)
		}
	}
	return dst
}

// openMark is an annotation that has been opened and not yet closed.
type openMark struct {
	bit style
	id  int
}

// marks puts delimiters around the stretches: what reaches furthest is opened first, so that pairs nest.
func (a attempt) marks(group []stretch) []mark {
	var out []mark
	var stack []openMark
	next := 0
	closeTo := func(depth int) {
		for len(stack) > depth {
			top := stack[len(stack)-1]
			out = append(out, a.mark(top, false))
			stack = stack[:len(stack)-1]
		}
	}
	for i, s := range group {
		wanted := s.style & a.shown
		if d := slices.IndexFunc(stack, func(o openMark) bool { return wanted&o.bit == 0 }); d >= 0 {
			closeTo(d)
		}
		for _, bit := range a.toOpen(group[i:], wanted, stack) {
			stack = append(stack, openMark{bit, next})
			next++
			out = append(out, a.mark(stack[len(stack)-1], true))
		}
		out = append(out, mark{id: i})
	}
	closeTo(0)
	return out
}

func (a attempt) mark(o openMark, open bool) mark {
	switch o.bit {
	case strike:
		return mark{sign: '~', size: 2, id: o.id, open: open}
	case bold:
		return mark{sign: '*', size: 2, id: o.id, open: open}
	default:
		return mark{sign: a.italic, size: 1, id: o.id, open: open}
	}
}

// toOpen orders the wanted annotations that aren't open by how far they reach. Where they reach equally far, bold is the
// innermost: that is how CommonMark reads three asterisks.
func (a attempt) toOpen(rest []stretch, wanted style, stack []openMark) []style {
	var bits []style
	for _, bit := range []style{strike, italic, bold} {
		if wanted&bit != 0 && !slices.ContainsFunc(stack, func(o openMark) bool { return o.bit == bit }) {
			bits = append(bits, bit)
		}
	}
	if len(bits) > 1 {
		slices.SortStableFunc(bits, func(x, y style) int { return reach(rest, y) - reach(rest, x) })
	}
	return bits
}

func reach(rest []stretch, bit style) int {
	n := 0
	for n < len(rest) && rest[n].style&bit != 0 {
		n++
	}
	return n
}

// signRun is a run of equal delimiter signs, as CommonMark sees it: it knows nothing of the pairs that were meant.
type signRun struct {
	sign              byte
	marks             []mark // what is left of it
	length            int    // as written
	canOpen, canClose bool
}

// readsBack runs CommonMark's rule for emphasis over the marks and reports whether every delimiter finds the partner that
// was meant for it.
func readsBack(marks []mark, group []stretch, before, after rune) bool {
	runs := signRuns(marks, group, before, after)
	for i := range runs {
		closer := &runs[i]
		for closer.canClose && len(closer.marks) > 0 {
			o := findOpener(runs[:i], closer)
			if o < 0 {
				break
			}
			if !match(&runs[o], closer) || leftBetween(runs[o+1:i]) {
				return false
			}
		}
	}
	return !leftBetween(runs)
}

// match takes one pair off the inner ends of two runs, and reports whether it is a pair that was meant.
func match(opener, closer *signRun) bool {
	last := len(opener.marks) - 1
	o, c := opener.marks[last], closer.marks[0]
	opener.marks, closer.marks = opener.marks[:last], closer.marks[1:]
	return o.open && !c.open && o.id == c.id && o.size == pairSize(opener, closer, o, c)
}

// pairSize is the number of signs that CommonMark takes from two runs: two where both have two left.
func pairSize(opener, closer *signRun, o, c mark) int {
	if signsLeft(opener)+o.size >= 2 && signsLeft(closer)+c.size >= 2 {
		return 2
	}
	return 1
}

func signsLeft(r *signRun) int {
	n := 0
	for _, m := range r.marks {
		n += m.size
	}
	return n
}

func leftBetween(runs []signRun) bool {
	return slices.ContainsFunc(runs, func(r signRun) bool { return len(r.marks) > 0 })
}

func findOpener(runs []signRun, closer *signRun) int {
	for i, r := range slices.Backward(runs) {
		if r.sign != closer.sign || !r.canOpen || len(r.marks) == 0 {
			continue
		}
		// The rule of three, by which **a*b** isn't closed in its middle.
		if (r.canClose || closer.canOpen) && (r.length+closer.length)%3 == 0 && closer.length%3 != 0 {
			continue
		}
		return i
	}
	return -1
}

// signRuns groups delimiters that stand together and works out which of them can open and close.
func signRuns(marks []mark, group []stretch, before, after rune) []signRun {
	var runs []signRun
	for i := 0; i < len(marks); {
		if marks[i].sign == 0 {
			i++
			continue
		}
		end := i
		run := signRun{sign: marks[i].sign}
		for end < len(marks) && marks[end].sign == run.sign {
			run.length += marks[end].size
			end++
		}
		run.marks = marks[i:end]
		run.flank(runeBefore(marks[:i], group, before), runeBehind(marks[end:], group, after))
		runs = append(runs, run)
		i = end
	}
	return runs
}

// runeBefore is the character that ends what was written so far; outside stands before all marks.
func runeBefore(marks []mark, group []stretch, outside rune) rune {
	if len(marks) == 0 {
		return outside
	}
	if m := marks[len(marks)-1]; m.sign == 0 {
		return group[m.id].last
	}
	return rune(marks[len(marks)-1].sign)
}

// runeBehind is the character that begins what follows; outside stands behind all marks.
func runeBehind(marks []mark, group []stretch, outside rune) rune {
	if len(marks) == 0 {
		return outside
	}
	if m := marks[0]; m.sign == 0 {
		return group[m.id].first
	}
	return rune(marks[0].sign)
}

// flank applies CommonMark's definition of left- and right-flanking delimiter runs.
func (r *signRun) flank(before, after rune) {
	spaceBefore, spaceAfter := unicode.IsSpace(before), unicode.IsSpace(after)
	punctBefore, punctAfter := isPunct(before), isPunct(after)
	left := !spaceAfter && (!punctAfter || spaceBefore || punctBefore)
	right := !spaceBefore && (!punctBefore || spaceAfter || punctAfter)
	r.canOpen, r.canClose = left, right
	if r.sign == '_' {
		r.canOpen = left && (!right || punctBefore)
		r.canClose = right && (!left || punctAfter)
	}
	// A run of tildes behind another tilde, escaped or not, isn't one for every parser.
	if r.sign == '~' && (r.length > 2 || before == '~') {
		r.canOpen, r.canClose = false, false
	}
}
