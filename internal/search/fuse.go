package search

import (
	"cmp"
	"slices"
	"strings"

	"github.com/loresync/loresync/internal/store"
)

// fusionRank is the k of reciprocal rank fusion: how many ranks the first places are worth about the same.
const fusionRank = 60

// pageKey names a page.
type pageKey struct{ folder, page string }

// ranked is a page in its place, with the chunk to show.
type ranked struct {
	chunk store.SearchChunk
	score float64
	// alsoIn are other folders that hold the same source page.
	alsoIn []string
}

// ranking is pages in their order, each of them once, and what a place in it is worth.
type ranking struct {
	chunks []store.SearchChunk
	weight float64
}

// fuse adds up what each page's places in the rankings are worth. The chunk to show comes from the first ranking that has the
// page.
func fuse(rankings ...ranking) []ranked {
	at := map[pageKey]int{}
	var fused []ranked
	for _, r := range rankings {
		for place, chunk := range r.chunks {
			key := pageKey{chunk.FolderID, chunk.PageID}
			if _, known := at[key]; !known {
				at[key] = len(fused)
				fused = append(fused, ranked{chunk: chunk})
			}
			fused[at[key]].score += r.weight / float64(fusionRank+place+1)
		}
	}
	slices.SortFunc(fused, func(a, b ranked) int {
		return cmp.Or(cmp.Compare(b.score, a.score), comparePages(a.chunk, b.chunk))
	})
	return fused
}

// oncePerOrigin gives each source page once, in its best place: a reader who finds a page twice, because two folders hold it,
// finds less of the rest.
func oncePerOrigin(fused []ranked) []ranked {
	type origin struct{ connection, page string }
	at := make(map[origin]int, len(fused))
	once := make([]ranked, 0, len(fused))
	for _, r := range fused {
		key := origin{r.chunk.Connection, r.chunk.Origin}
		first, known := at[key]
		if known && key.page != "" {
			once[first].alsoIn = append(once[first].alsoIn, r.chunk.FolderID)
			continue
		}
		at[key] = len(once)
		once = append(once, r)
	}
	return once
}

func comparePages(a, b store.SearchChunk) int {
	return cmp.Or(strings.Compare(a.PageID, b.PageID), strings.Compare(a.FolderID, b.FolderID))
}
