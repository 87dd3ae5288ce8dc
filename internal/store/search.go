package store

import (
	"cmp"
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"
)

// MaxSearchTerms is how many lexemes one search compares: the bits of TermMatch.Terms.
const MaxSearchTerms = 64

// maxLexemeBytes is what a tsquery takes as one lexeme; a tsvector can't hold a longer one either.
const maxLexemeBytes = 2046

// ChunkRef names a chunk of the revision that was live when a search looked. ChunkNo -1 stands for the page's first chunk.
type ChunkRef struct {
	FolderID   string
	PageID     string
	RevisionID int64
	ChunkNo    int32
}

// PageName is what a live page is called.
type PageName struct {
	FolderID string
	PageID   string
	Title    string
	Path     string
}

// TermMatch is a chunk that holds at least one of the lexemes asked for; bit i of Terms stands for lexeme i.
type TermMatch struct {
	ChunkRef

	Terms int64
}

// VectorMatch is the chunk of a page that is nearest to a vector, with their dot product.
type VectorMatch struct {
	ChunkRef

	Similarity float64
}

// SearchChunk is what a reader sees of a chunk: the chunk a search asked for, or the page's first one when the page was
// published anew in between. A page without text has no chunk: Text and HeadingPath are empty.
type SearchChunk struct {
	// Asked is the index of the reference this answers.
	Asked    int
	FolderID string
	PageID   string
	// Connection and Origin name the page at its source: two pages with the same pair are one source page below two folders.
	Connection     string
	Origin         string
	Title          string
	URL            string
	Path           string
	Summary        string
	HeadingPath    []string
	Text           string
	SyncedAt       *time.Time
	VerifiedAt     *time.Time
	SourceEditedAt *time.Time
}

const searchFolderSQL = `SELECT folder_id FROM folders WHERE folder_id = $1`

// SearchFolder is ErrNotFound unless the folder is registered. Any string may be asked for.
func (s *Store) SearchFolder(ctx context.Context, folder string) error {
	doing := fmt.Sprintf("find folder %q", folder)
	if !storable(folder) {
		return wrap(doing, pgx.ErrNoRows)
	}
	_, err := scalar[string](ctx, s, doing, searchFolderSQL, folder)
	return err
}

const searchPagesSQL = `
SELECT p.folder_id, p.page_id, p.title, p.path FROM live_pages p
WHERE $1 = '' OR p.folder_id = $1`

// SearchPages names all live pages of a folder, or of all folders when it is empty, in no order.
func (s *Store) SearchPages(ctx context.Context, folder string) ([]PageName, error) {
	return list[PageName](ctx, s, "name the live pages", searchPagesSQL, folder)
}

const searchSizeSQL = `
SELECT count(*) FROM live_chunks c
WHERE $1 = '' OR c.folder_id = $1`

// SearchSize counts the live chunks of a folder, or of all folders when it is empty.
func (s *Store) SearchSize(ctx context.Context, folder string) (int64, error) {
	return scalar[int64](ctx, s, "count the live chunks", searchSizeSQL, folder)
}

// One index scan a lexeme instead of one for all of them: it tells which lexemes a chunk holds without reading its tsvector,
// which lies out of line and costs more than all the rest. Chunks are live chunks when their revision is a live page's; asked
// after the grouping, which leaves one row a chunk to join.
const searchTermsSQL = `
WITH held AS MATERIALIZED (
    SELECT c.revision_id, c.chunk_no, bit_or(1::bigint << t.bit) AS terms
    FROM unnest($2::integer[], $3::text[]) AS t (bit, query)
    JOIN chunks c ON c.terms @@ t.query::tsquery
    GROUP BY c.revision_id, c.chunk_no
)
SELECT p.folder_id, p.page_id, h.revision_id, h.chunk_no, h.terms
FROM held h JOIN live_pages p ON p.revision_id = h.revision_id
WHERE $1 = '' OR p.folder_id = $1`

// SearchTerms finds the live chunks that hold any of the first MaxSearchTerms lexemes, in no order. A lexeme may be any string.
func (s *Store) SearchTerms(ctx context.Context, folder string, lexemes []string) ([]TermMatch, error) {
	bits, queries := []int32{}, []string{}
	for bit, lexeme := range lexemes[:min(len(lexemes), MaxSearchTerms)] {
		if lexeme == "" || len(lexeme) > maxLexemeBytes || !storable(lexeme) {
			continue
		}
		bits, queries = append(bits, int32(bit)), append(queries, quoteLexeme(lexeme))
	}
	if len(bits) == 0 {
		return []TermMatch{}, nil
	}
	return list[TermMatch](ctx, s, "search the live chunks for words", searchTermsSQL, folder, bits, queries)
}

// quoteLexeme writes a lexeme as a tsquery of itself.
func quoteLexeme(lexeme string) string {
	return "'" + strings.NewReplacer(`\`, `\\`, `'`, `''`).Replace(lexeme) + "'"
}

// storable says whether Postgres takes s as a text.
func storable(s string) bool { return utf8.ValidString(s) && strings.IndexByte(s, 0) < 0 }

const searchVectorsSQL = `
SELECT c.folder_id, c.page_id, c.revision_id, c.chunk_no, array_send(c.embedding) FROM live_chunks c
WHERE c.model = $2 AND c.dimensions = $3 AND ($1 = '' OR c.folder_id = $1)`

// SearchVectors gives the pages nearest to a vector of a model, nearest first and each with its nearest chunk, as far as the
// dot product reaches the floor. The vectors of one model are of length 1, which makes it the cosine.
//
// The vectors are compared here, as they stream by, and not in SQL: taking an array apart there costs three times as much as
// sending it.
func (s *Store) SearchVectors(ctx context.Context, folder, model string, vector []float32, floor float64, limit int) ([]VectorMatch, error) {
	const doing = "search the live chunks for a meaning"
	rows, err := s.pool.Query(ctx, searchVectorsSQL, folder, model, len(vector))
	if err != nil {
		return nil, wrap(doing, err)
	}
	nearest, err := nearestOfPages(rows, vector, floor)
	if err != nil {
		return nil, wrap(doing, err)
	}
	slices.SortFunc(nearest, func(a, b VectorMatch) int { return compareMatches(a.ChunkRef, b.ChunkRef, a.Similarity, b.Similarity) })
	return nearest[:min(len(nearest), limit)], nil
}

// nearestOfPages reads the rows of SearchVectors and closes them.
func nearestOfPages(rows pgx.Rows, vector []float32, floor float64) ([]VectorMatch, error) {
	defer rows.Close()
	best := map[[2]string]int{}
	nearest := []VectorMatch{}
	for rows.Next() {
		var array pgtype.DriverBytes
		if err := rows.Scan(nil, nil, nil, nil, &array); err != nil {
			return nil, err
		}
		similarity, ok := dotProduct(vector, array)
		if !ok || math.IsNaN(similarity) || similarity < floor {
			continue
		}
		match := VectorMatch{Similarity: similarity}
		if err := rows.Scan(&match.FolderID, &match.PageID, &match.RevisionID, &match.ChunkNo, nil); err != nil {
			return nil, err
		}
		page := [2]string{match.FolderID, match.PageID}
		at, known := best[page]
		switch {
		case !known:
			best[page] = len(nearest)
			nearest = append(nearest, match)
		case compareMatches(match.ChunkRef, nearest[at].ChunkRef, similarity, nearest[at].Similarity) < 0:
			nearest[at] = match
		}
	}
	return nearest, rows.Err()
}

// The binary form of a real[] is a header of five numbers (dimensions, nulls, type, length, first index) and for each element
// its size and its bits.
const (
	arrayHeaderBytes  = 20
	arrayElementBytes = 8
)

// dotProduct multiplies a vector with one in the binary form, and refuses one of another length or with nulls.
func dotProduct(vector []float32, array []byte) (float64, bool) {
	if len(array) != arrayHeaderBytes+arrayElementBytes*len(vector) {
		return 0, false
	}
	var sum float32
	elements := array[arrayHeaderBytes:]
	for _, value := range vector {
		sum += value * math.Float32frombits(binary.BigEndian.Uint32(elements[4:8]))
		elements = elements[arrayElementBytes:]
	}
	return float64(sum), true
}

// compareMatches orders by similarity, the highest first, and equals by their place, so that the same question has the same answer.
func compareMatches(a, b ChunkRef, similarityA, similarityB float64) int {
	return cmp.Or(cmp.Compare(similarityB, similarityA), strings.Compare(a.PageID, b.PageID), strings.Compare(a.FolderID, b.FolderID),
		cmp.Compare(a.ChunkNo, b.ChunkNo))
}

// The id of a file is its path below the folder's root, so a file is the same by its whole address.
const searchChunksSQL = `
SELECT k.n - 1 AS asked, p.folder_id, p.page_id, CASE WHEN f.source = 'files' THEN 'files' ELSE f.connection END AS connection,
       CASE WHEN f.source = 'files' THEN p.url ELSE p.source_id END AS origin,
       p.title, p.url, p.path, p.summary, coalesce(c.heading_path, '{}') AS heading_path,
       coalesce(c.text, '') AS text, p.synced_at, p.verified_at, p.source_edited_at
FROM unnest($1::text[], $2::text[], $3::bigint[], $4::integer[]) WITH ORDINALITY AS k (folder_id, page_id, revision_id, chunk_no, n)
JOIN live_pages p ON p.folder_id = k.folder_id AND p.page_id = k.page_id
JOIN folders f ON f.folder_id = p.folder_id
LEFT JOIN LATERAL (
    SELECT x.heading_path, x.body AS text FROM chunks x
    WHERE x.revision_id = p.revision_id
    ORDER BY (x.revision_id = k.revision_id AND x.chunk_no = k.chunk_no) DESC, x.chunk_no LIMIT 1
) c ON true
ORDER BY k.n`

// SearchChunks reads chunks that a search found, in the order of refs and without those of pages that are no longer live:
// whoever answers a reader asks this last.
func (s *Store) SearchChunks(ctx context.Context, refs []ChunkRef) ([]SearchChunk, error) {
	folders, pages := make([]string, len(refs)), make([]string, len(refs))
	revisions, chunks := make([]int64, len(refs)), make([]int32, len(refs))
	for i, ref := range refs {
		folders[i], pages[i], revisions[i], chunks[i] = ref.FolderID, ref.PageID, ref.RevisionID, ref.ChunkNo
	}
	return list[SearchChunk](ctx, s, "read what the search found", searchChunksSQL, folders, pages, revisions, chunks)
}
