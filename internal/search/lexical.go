package search

import (
	"cmp"
	"math"
	"math/bits"
	"slices"
	"strings"

	"github.com/loresync/loresync/internal/content/terms"
	"github.com/loresync/loresync/internal/store"
)

const (
	// chunksOfPage is how many chunks of a page are read closely. The first look knows which words a chunk holds, not how often.
	chunksOfPage = 3
	// titleWeight and pathWeight say what a word is worth in a page's title and in the names of the folders above it, against
	// 1 for one that the text holds about as often as is usual.
	titleWeight = 1.5
	pathWeight  = 0.5
)

// lexical ranks pages by the words of the question: first all of them by which words their chunks and names hold, then the best
// by their texts. A word is worth more the fewer chunks hold it.
type lexical struct {
	// index gives the place of each term of the question; worth is its inverse document frequency.
	index   map[string]int
	worth   []float64
	matches []store.TermMatch
	// names is what the titles and paths of the pages add to the ranks of their chunks.
	names map[pageKey]float64
}

// candidate is a chunk to be read closely.
type candidate struct {
	ref   store.ChunkRef
	score float64
}

func newLexical(found findings) *lexical {
	l := &lexical{index: map[string]int{}, matches: found.matches, names: map[pageKey]float64{}}
	for i, term := range found.terms[:min(len(found.terms), store.MaxSearchTerms)] {
		l.index[term] = i
	}
	l.weigh(found.size)
	l.nameAll(found.pages)
	return l
}

// weigh counts the chunks that hold each term: every one that holds any is among the matches.
func (l *lexical) weigh(size int64) {
	holders := make([]int64, len(l.index))
	for _, m := range l.matches {
		for set := uint64(m.Terms); set != 0; set &= set - 1 {
			holders[bits.TrailingZeros64(set)]++
		}
	}
	l.worth = make([]float64, len(l.index))
	for i, n := range holders {
		// A chunk may have been published between the two queries that counted.
		others := float64(max(size-n, 0))
		l.worth[i] = math.Log1p((others + 0.5) / (float64(n) + 0.5))
	}
}

// weightOf is what a term of the question is worth, 0 for any other.
func (l *lexical) weightOf(token string) float64 {
	if i, asked := l.index[token]; asked {
		return l.worth[i]
	}
	return 0
}

func (l *lexical) worthOf(set uint64) float64 {
	sum := 0.0
	for ; set != 0; set &= set - 1 {
		sum += l.worth[bits.TrailingZeros64(set)]
	}
	return sum
}

func (l *lexical) nameAll(pages []store.PageName) {
	if len(l.index) == 0 {
		return
	}
	for _, page := range pages {
		if score := l.nameScore(page); score > 0 {
			l.names[pageKey{page.FolderID, page.PageID}] = score
		}
	}
}

// nameScore favours the title that says little else: half its weight is for the share of the title that was asked for.
func (l *lexical) nameScore(page store.PageName) float64 {
	inTitle, share := l.held(page.Title)
	inPath, _ := l.held(page.Path)
	return titleWeight*l.worthOf(inTitle)*(1+share)/2 + pathWeight*l.worthOf(inPath&^inTitle)
}

// held gives the terms of the question that s holds, and their share of all its words.
func (l *lexical) held(s string) (set uint64, share float64) {
	all, asked := 0, 0
	for token, kind := range terms.All(s) {
		i, ok := l.index[token]
		if ok {
			set |= 1 << i
		}
		if kind == terms.Char {
			continue // stands beside the pairs that it is part of
		}
		all++
		if ok {
			asked++
		}
	}
	return set, float64(asked) / float64(max(all, 1))
}

// candidates gives the chunks to read closely, a few for each of the best pages. A page of which only the name matches is
// represented by its first chunk.
func (l *lexical) candidates(pool int) []candidate {
	chunks := map[pageKey][]candidate{}
	for _, m := range l.matches {
		key := pageKey{m.FolderID, m.PageID}
		chunks[key] = keepBest(chunks[key], candidate{ref: m.ChunkRef, score: l.worthOf(uint64(m.Terms))})
	}
	for key := range l.names {
		if len(chunks[key]) == 0 {
			chunks[key] = []candidate{{ref: store.ChunkRef{FolderID: key.folder, PageID: key.page, ChunkNo: -1}}}
		}
	}
	pages := make([]candidate, 0, len(chunks))
	for key, best := range chunks {
		pages = append(pages, candidate{ref: best[0].ref, score: best[0].score + l.names[key]})
	}
	slices.SortFunc(pages, compareCandidates)
	var out []candidate
	for _, page := range pages[:min(len(pages), pool)] {
		out = append(out, chunks[pageKey{page.ref.FolderID, page.ref.PageID}]...)
	}
	return out
}

// keepBest adds a candidate to the best few of its page, which are in order.
func keepBest(best []candidate, c candidate) []candidate {
	at, _ := slices.BinarySearchFunc(best, c, compareCandidates)
	if at == chunksOfPage {
		return best
	}
	best = slices.Insert(best, at, c)
	return best[:min(len(best), chunksOfPage)]
}

func compareCandidates(a, b candidate) int {
	return cmp.Or(cmp.Compare(b.score, a.score), strings.Compare(a.ref.PageID, b.ref.PageID),
		strings.Compare(a.ref.FolderID, b.ref.FolderID), cmp.Compare(a.ref.ChunkNo, b.ref.ChunkNo))
}

// ranking reads the candidates' chunks, and gives each page once, with the best of its chunks, the best page first.
func (l *lexical) ranking(chunks []store.SearchChunk, asked []candidate) []store.SearchChunk {
	read := make([]reading, 0, len(asked))
	for _, chunk := range chunks {
		if chunk.Asked < len(asked) {
			read = append(read, l.read(chunk))
		}
	}
	best := map[pageKey]ranked{}
	usual := usualLength(read)
	for i := range read {
		key := pageKey{read[i].chunk.FolderID, read[i].chunk.PageID}
		score := l.textScore(read[i], usual) + l.names[key]
		if kept, known := best[key]; !known || score > kept.score {
			best[key] = ranked{chunk: read[i].chunk, score: score}
		}
	}
	pages := make([]ranked, 0, len(best))
	for _, page := range best {
		pages = append(pages, page)
	}
	slices.SortFunc(pages, func(a, b ranked) int {
		return cmp.Or(cmp.Compare(b.score, a.score), comparePages(a.chunk, b.chunk))
	})
	out := make([]store.SearchChunk, len(pages))
	for i, page := range pages {
		out[i] = page.chunk
	}
	return out
}
