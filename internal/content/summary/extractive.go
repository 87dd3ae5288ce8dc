package summary

import (
	"context"
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/loresync/loresync/internal/content/block"
	"github.com/loresync/loresync/internal/content/terms"
	"github.com/loresync/loresync/internal/content/text"
)

const (
	extractiveModel = "extractive-v1"
	maxSentences    = 3
	maxRunes        = 300
	// minRunes is the length from which on a sentence says something. Shorter ones
	// are taken if there is nothing else.
	minRunes = 15
	// maxCandidates bounds the work on a book. What it is about stands in the
	// beginning.
	maxCandidates = 200
	// maxBlock bounds how much of one paragraph is read, in bytes.
	maxBlock = 16 << 10
)

// Extractive picks up to three sentences, 300 runes in all, that share the most
// words with the page and its title, early ones preferred. It works on prose;
// lists, tables and code speak only for a page that has nothing else.
type Extractive struct{}

// Model returns "extractive-v1".
func (Extractive) Model() string { return extractiveModel }

// Remote returns false.
func (Extractive) Remote() bool { return false }

// Summarize never fails, except when ctx has ended.
func (Extractive) Summarize(ctx context.Context, title, markdown string) (string, error) {
	if err := ctx.Err(); err != nil {
		return "", err //nolint:wrapcheck // the caller's own context
	}
	found := candidates(markdown)
	if len(found) == 0 {
		return "", nil
	}
	rank(found, title)
	return join(pick(found)), nil
}

type candidate struct {
	text  string
	terms []string
	runes int
	score float64
	order int
}

// candidates returns the sentences to choose from: those of the first kinds of
// blocks that have any.
func candidates(markdown string) []candidate {
	blocks := block.Scan(markdown)
	for _, kinds := range [][]block.Kind{
		{block.Paragraph}, {block.List, block.Quote}, {block.Heading}, {block.Table, block.Fence, block.Verbatim},
	} {
		var found []candidate
		for _, b := range blocks {
			if slices.Contains(kinds, b.Kind) && len(found) < maxCandidates {
				found = sentences(found, plain(markdown, b))
			}
		}
		if len(found) > 0 {
			return found
		}
	}
	return nil
}

// plain returns the lines of one block as a reader sees them. Every item and row
// is a line of its own.
func plain(markdown string, b block.Block) []string {
	source := markdown[b.Start:b.End]
	switch b.Kind {
	case block.Paragraph:
		return []string{text.Plain(bounded(source))}
	case block.Heading:
		return []string{text.Plain(bounded(b.Title))}
	default:
		var lines []string
		for line := range strings.SplitSeq(bounded(source), "\n") {
			lines = append(lines, text.Plain(unmark(line)))
		}
		return lines
	}
}

// unmark takes off what makes a line an item, a row, a quote or a fence.
func unmark(line string) string {
	line = strings.TrimLeft(line, " \t>|-*+#`~:=")
	number := strings.TrimLeft(line, "0123456789")
	if number != line && (strings.HasPrefix(number, ". ") || strings.HasPrefix(number, ") ")) {
		line = number[2:]
	}
	return strings.ReplaceAll(line, "|", " ")
}

func bounded(s string) string {
	if len(s) <= maxBlock {
		return s
	}
	return strings.ToValidUTF8(s[:maxBlock], "")
}

// sentences appends the sentences of lines to found. One that ends with a colon
// announces something that a summary doesn't show, and one without a letter, such
// as a template's mark, says nothing.
func sentences(found []candidate, lines []string) []candidate {
	for _, line := range lines {
		text.Sentences(line, func(start, end int) bool {
			s := line[start:end]
			if !strings.HasSuffix(s, ":") && !strings.HasSuffix(s, "：") && wordy(s) {
				found = append(found, candidate{
					text: s, terms: content(s), runes: utf8.RuneCountInString(s), order: len(found),
				})
			}
			return len(found) < maxCandidates
		})
	}
	return found
}

func wordy(s string) bool {
	if strings.HasPrefix(s, "{%") || strings.HasPrefix(s, "{{") || strings.HasPrefix(s, ":::") {
		return false
	}
	for range terms.All(s) {
		return true
	}
	return false
}

// rank scores each sentence by how often its terms occur in all of them, with the
// title's counted double, as an average so that length alone is no merit; being
// early adds up to half as much again.
func rank(found []candidate, title string) {
	counts := map[string]float64{}
	for _, c := range found {
		for _, term := range c.terms {
			counts[term]++
		}
	}
	for _, term := range content(title) {
		counts[term] = 2*counts[term] + 1
	}
	for i := range found {
		c := &found[i]
		for _, term := range c.terms {
			c.score += math.Log(1 + counts[term])
		}
		c.score /= float64(len(c.terms) + 4) // a sentence of one frequent word isn't the best
		c.score *= 1 + 0.5/float64(1+i)
		if c.runes < minRunes {
			c.score /= 4
		}
	}
}

// content returns the distinct terms of s that mean something.
func content(s string) []string {
	var list []string
	for term, kind := range terms.All(s) {
		if kind == terms.Word || kind == terms.Pair {
			list = append(list, term)
		}
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// pick returns the best sentences that fit, in the order of the page. The best one
// is shortened if it doesn't fit alone.
func pick(found []candidate) []candidate {
	slices.SortStableFunc(found, func(a, b candidate) int {
		switch {
		case a.score > b.score:
			return -1
		case a.score < b.score:
			return 1
		default:
			return a.order - b.order
		}
	})
	if found[0].runes > maxRunes {
		return []candidate{{text: text.Ellipsize(found[0].text, maxRunes)}}
	}
	var picked []candidate
	left := maxRunes
	for _, c := range found {
		repeated := slices.ContainsFunc(picked, func(p candidate) bool { return p.text == c.text })
		if len(picked) < maxSentences && c.runes <= left && !repeated {
			picked = append(picked, c)
			left -= c.runes + 1
		}
	}
	slices.SortFunc(picked, func(a, b candidate) int { return a.order - b.order })
	return picked
}

// join puts a space between two sentences unless the first ends as Japanese and
// Chinese ones do.
func join(picked []candidate) string {
	var out strings.Builder
	for i, c := range picked {
		if i > 0 && !endsWide(picked[i-1].text) {
			out.WriteByte(' ')
		}
		out.WriteString(c.text)
	}
	return out.String()
}

func endsWide(s string) bool {
	last, _ := utf8.DecodeLastRuneInString(s)
	return strings.ContainsRune("。！？｡．」』）】", last)
}
