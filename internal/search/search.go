// Package search answers questions from the live pages: by their words, by their titles and by the nearness of their vectors,
// fused by reciprocal rank. Which pages are live is asked of Postgres for every answer, at its end once more; nothing is kept
// in between.
package search

import (
	"context"
	"errors"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/loresync/loresync/internal/content/terms"
	"github.com/loresync/loresync/internal/content/text"
	"github.com/loresync/loresync/internal/store"
)

// ErrEmptyQuery says that a search was asked for nothing.
var ErrEmptyQuery = errors.New("the search query is empty")

// The number of hits: unless asked for, and at most.
const (
	DefaultLimit = 10
	MaxLimit     = 100
)

const (
	// maxQueryRunes bounds what goes to the embedding model; the words of a query are bounded by package terms.
	maxQueryRunes = 2000
	// minPool is how many pages each of the two rankings gives at least: what only one of them puts low can still rise.
	minPool = 100
)

// Embedder turns the question into a vector, by the model that embedded the chunks.
type Embedder interface {
	Model() string
	Dimensions() int
	// Remote tells a model that knows what words mean from a built-in one, which only knows the words.
	Remote() bool
	Embed(ctx context.Context, texts []string) ([][]float32, error)
}

// Query is a question. Its text may be any string.
type Query struct {
	Text string
	// Folder restricts the search to one folder; empty means all.
	Folder string
	// Limit is how many hits to give: DefaultLimit for 0 or less, at most MaxLimit.
	Limit int
}

// Hit is a page that answers a question, with the best of its chunks.
type Hit struct {
	PageID   string `json:"page_id"`
	FolderID string `json:"folder_id"`
	// AlsoIn names other folders that hold the same source page, which is given once.
	AlsoIn      []string `json:"also_in,omitempty"`
	Title       string   `json:"title"`
	URL         string   `json:"url"`
	HeadingPath []string `json:"heading_path"`
	// Snippet is plain text around the best match, about 200 characters long.
	Snippet string `json:"snippet"`
	// Score orders the hits of one answer; it means nothing between answers.
	Score          float64    `json:"score"`
	SyncedAt       *time.Time `json:"synced_at"`
	VerifiedAt     *time.Time `json:"verified_at"`
	SourceEditedAt *time.Time `json:"source_edited_at"`
}

// Answer is what was found.
type Answer struct {
	// Hits are never nil, the best first.
	Hits []Hit `json:"hits"`
	// Warning says in a sentence what the answer lacks, such as the vectors when the embedding model doesn't answer.
	Warning string `json:"warning,omitempty"`
}

// Searcher searches one database. It is safe for concurrent use.
type Searcher struct {
	store    *store.Store
	embedder Embedder
}

// New makes a Searcher. Without an embedder it searches by words alone.
func New(st *store.Store, embedder Embedder) *Searcher {
	return &Searcher{store: st, embedder: embedder}
}

// Search is Answer for callers that need the hits only.
func (s *Searcher) Search(ctx context.Context, q Query) ([]Hit, error) {
	answer, err := s.Answer(ctx, q)
	return answer.Hits, err
}

// Answer finds the live pages that answer the query. The error is ErrEmptyQuery for a blank one, wraps store.ErrNotFound for an
// unknown folder, and else says that the database could not be asked.
func (s *Searcher) Answer(ctx context.Context, q Query) (Answer, error) {
	q = q.normal()
	if q.Text == "" {
		return Answer{}, ErrEmptyQuery
	}
	if q.Folder != "" {
		if err := s.store.SearchFolder(ctx, q.Folder); err != nil {
			return Answer{}, err
		}
	}
	found, err := s.look(ctx, q)
	if err != nil {
		return Answer{}, err
	}
	hits, err := s.rank(ctx, q, found)
	if err != nil {
		return Answer{}, err
	}
	return Answer{Hits: hits, Warning: found.warning}, nil
}

func (q Query) normal() Query {
	q.Text = text.Truncate(strings.TrimSpace(text.Clean(q.Text)), maxQueryRunes)
	if q.Limit <= 0 {
		q.Limit = DefaultLimit
	}
	q.Limit = min(q.Limit, MaxLimit)
	return q
}

// pool is how many pages each ranking gives.
func (q Query) pool() int { return max(minPool, q.Limit) }

// findings are what the three looks of a search brought back.
type findings struct {
	terms   []string
	pages   []store.PageName
	matches []store.TermMatch
	size    int64
	nearest []store.VectorMatch
	warning string
}

// look asks for words, titles and vectors at once: the model may be far away, and no transaction waits for it.
func (s *Searcher) look(ctx context.Context, q Query) (findings, error) {
	found := findings{terms: terms.Query(q.Text)}
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() (err error) {
		found.matches, err = s.store.SearchTerms(ctx, q.Folder, found.terms)
		return err
	})
	group.Go(func() (err error) {
		if found.size, err = s.store.SearchSize(ctx, q.Folder); err != nil {
			return err
		}
		found.pages, err = s.store.SearchPages(ctx, q.Folder)
		return err
	})
	group.Go(func() (err error) {
		found.nearest, found.warning, err = s.near(ctx, q)
		return err
	})
	return found, group.Wait()
}

// rank puts the findings in order and makes hits of the best. Its one query is the last of the search: what is deleted by then
// is left out.
func (s *Searcher) rank(ctx context.Context, q Query, found findings) ([]Hit, error) {
	lexical := newLexical(found)
	byWords := lexical.candidates(q.pool())
	refs := make([]store.ChunkRef, 0, len(byWords)+len(found.nearest))
	for _, c := range byWords {
		refs = append(refs, c.ref)
	}
	for _, n := range found.nearest {
		refs = append(refs, n.ChunkRef)
	}
	chunks, err := s.store.SearchChunks(ctx, refs)
	if err != nil {
		return nil, err
	}
	worded := lexical.ranking(chunks, byWords)
	fused := fuse(ranking{chunks: worded, weight: 1}, s.nearestRanking(chunks, len(byWords), worded))
	once := oncePerOrigin(fused)
	return hits(once[:min(len(once), q.Limit)], lexical), nil
}

func hits(ranked []ranked, lexical *lexical) []Hit {
	out := make([]Hit, 0, len(ranked))
	for _, r := range ranked {
		c := r.chunk
		body := c.Text
		if strings.TrimSpace(body) == "" {
			body = c.Summary
		}
		out = append(out, Hit{
			PageID: c.PageID, FolderID: c.FolderID, AlsoIn: r.alsoIn, Title: c.Title, URL: c.URL, HeadingPath: c.HeadingPath,
			Snippet: snippet(plain(body), lexical.weightOf), Score: r.score,
			SyncedAt: c.SyncedAt, VerifiedAt: c.VerifiedAt, SourceEditedAt: c.SourceEditedAt,
		})
	}
	return out
}
