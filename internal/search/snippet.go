package search

import (
	"strings"
	"unicode/utf8"

	"github.com/rivo/uniseg"

	"github.com/loresync/loresync/internal/content/terms"
	"github.com/loresync/loresync/internal/content/text"
)

const (
	// snippetRunes is the length of a snippet without its ellipses.
	snippetRunes = 200
	// pieceRunes is the longest piece that is kept whole: what can't be broken, such as an address, is cut there all the same.
	pieceRunes = 40
	// windowStep is how far apart two windows that are compared begin, where no sentence begins.
	windowStep = 25
)

// piece is text that a line of print could not break, or the beginning of it.
type piece struct {
	start, end int
	runes      int
	sentence   bool
}

// window is a run of pieces that fits into a snippet.
type window struct {
	start, end int
	sentence   bool
	weight     float64
}

// snippet is the part of s that holds the most of the question, cut where a line could be broken and never inside a character
// that people see as one. Among equals it begins with a sentence, or has what it holds in its middle.
func snippet(s string, weightOf func(token string) float64) string {
	if utf8.RuneCountInString(s) <= snippetRunes {
		return s
	}
	best := bestWindow(windows(s, weightOf))
	cut := strings.TrimSpace(text.Truncate(s[best.start:best.end], snippetRunes+pieceRunes))
	if best.start > 0 {
		cut = "…" + cut
	}
	if best.end < len(s) {
		cut += "…"
	}
	return cut
}

func bestWindow(all []window) window {
	var equals []window
	for _, w := range all {
		switch {
		case len(equals) == 0 || w.weight > equals[0].weight:
			equals = append(equals[:0], w)
		case w.weight == equals[0].weight:
			equals = append(equals, w)
		}
	}
	for _, w := range equals {
		if w.sentence {
			return w
		}
	}
	return equals[len(equals)/2]
}

// windows gives those of one text to choose from; there is at least one.
func windows(s string, weightOf func(token string) float64) []window {
	pieces := split(s)
	var out []window
	end, size, since := 0, 0, windowStep
	for from, first := range pieces {
		for end < len(pieces) && (end == from || size+pieces[end].runes <= snippetRunes) {
			size += pieces[end].runes
			end++
		}
		if first.sentence || since >= windowStep || end == len(pieces) {
			w := window{start: first.start, end: pieces[end-1].end, sentence: first.sentence}
			w.weight = held(s[w.start:w.end], weightOf)
			out = append(out, w)
			since = 0
		}
		if end == len(pieces) {
			break
		}
		since += first.runes
		size -= first.runes
	}
	return out
}

// held is what the different terms of the question in s are worth together.
func held(s string, weightOf func(token string) float64) float64 {
	seen := map[string]bool{}
	sum := 0.0
	for token := range terms.All(s) {
		if weight := weightOf(token); weight > 0 && !seen[token] {
			seen[token] = true
			sum += weight
		}
	}
	return sum
}

// split cuts s into pieces.
func split(s string) []piece {
	begins := map[int]bool{}
	text.Sentences(s, func(start, _ int) bool {
		begins[start] = true
		return true
	})
	var pieces []piece
	current := piece{sentence: true}
	for rest, state := s, -1; rest != ""; {
		var cluster string
		var boundaries int
		cluster, rest, boundaries, state = uniseg.StepString(rest, state)
		current.end += len(cluster)
		current.runes += utf8.RuneCountInString(cluster)
		if rest == "" || boundaries&uniseg.MaskLine != uniseg.LineDontBreak || current.runes >= pieceRunes {
			pieces = append(pieces, current)
			current = piece{start: current.end, end: current.end, sentence: begins[current.end]}
		}
	}
	return pieces
}
