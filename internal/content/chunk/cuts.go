package chunk

// class says how good a border is to cut at: what begins behind it. Classes up
// to headingLast are the levels of headings.
type class uint8

const (
	headingLast  class = 6
	blockBorder  class = 7  // between two blocks, or items, rows and lines of one too large
	lineBorder   class = 8  // between two lines or parts of one block
	sentence     class = 9  // between two sentences
	wordBorder   class = 10 // between two words
	runeBorder   class = 11 // inside a word
	headingUnder class = 12 // behind a heading: only if nothing else is left
)

// radius is how far around a border a better one keeps it from being a cut. It
// grows as the class gets worse, which keeps two cuts of whatever class further
// apart than the larger radius of the two; the bound of three chunks an edit
// rests on that.
func (c class) radius(target int) int {
	switch {
	case c <= headingLast:
		return target / 4
	case c == blockBorder:
		return target / 2
	case c <= sentence:
		return target * 5 / 8
	default:
		return target * 3 / 4
	}
}

// cuts returns the units in front of which the page is cut.
func cuts(u *units, opts Options) []int {
	var found []int
	for i := 1; i < len(u.list); i++ {
		if u.list[i].class != headingUnder && isCut(u, i, u.list[i].class.radius(opts.TargetRunes)) {
			found = append(found, i)
		}
	}
	return found
}

// isCut says whether no border within radius of the one in front of unit i is
// better. The page's own ends count as the best borders there are. Of two with
// the same rank the first one wins.
func isCut(u *units, i, radius int) bool {
	at := u.list[i].pos
	if at-u.list[0].pos <= radius || u.end-at <= radius {
		return false
	}
	for j := i - 1; j > 0 && at-u.list[j].pos <= radius; j-- {
		if !u.list[i].better(&u.list[j]) {
			return false
		}
	}
	for j := i + 1; j < len(u.list) && u.list[j].pos-at <= radius; j++ {
		if u.list[j].better(&u.list[i]) {
			return false
		}
	}
	return true
}

// better says whether the border in front of a ranks above the one in front of b.
func (a *unit) better(b *unit) bool {
	if a.class != b.class {
		return a.class < b.class
	}
	return a.key < b.key
}

// piece is the units from up to, without, to.
type piece struct{ from, to int }

// fit cuts the units between from and to until each piece has at most limit runes.
// A single unit is never longer.
func fit(u *units, from, to, limit int) []piece {
	if to-from <= 1 || u.span(from, to) <= limit {
		return []piece{{from, to}}
	}
	cut := bestInside(u, from, to)
	return append(fit(u, from, cut, limit), fit(u, cut, to, limit)...)
}

// bestInside returns the best border of the middle half of a piece, or the one
// nearest to the middle if that half has none: neither side becomes a crumb for
// the sake of a good rank, and the depth of fit stays small.
func bestInside(u *units, from, to int) int {
	start, span := u.list[from].pos, u.span(from, to)
	best, nearest := -1, from+1
	for i := from + 1; i < to; i++ {
		off := u.list[i].pos - start
		if abs(2*off-span) < abs(2*(u.list[nearest].pos-start)-span) {
			nearest = i
		}
		if off >= span/4 && off <= span*3/4 && (best < 0 || u.list[i].better(&u.list[best])) {
			best = i
		}
	}
	if best < 0 {
		return nearest
	}
	return best
}

func abs(n int) int {
	if n < 0 {
		return -n
	}
	return n
}
