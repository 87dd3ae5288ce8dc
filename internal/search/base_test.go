package search_test

import (
	"context"
	"crypto/sha256"
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"github.com/loresync/loresync/internal/content/terms"
	"github.com/loresync/loresync/internal/search"
	"github.com/loresync/loresync/internal/store"
	"github.com/loresync/loresync/internal/testenv"
)

// concepts is an embedder that knows a few ideas by the words for them: what a real model does for all of language.
type concepts struct {
	broken error
}

var ideas = [][]string{
	{"vacation", "holiday", "annual leave", "有給", "休暇"},
	{"salary", "wage", "payroll", "給与", "給料"},
	{"deploy", "release", "rollout", "リリース"},
	{"coffee", "espresso", "コーヒー"},
}

func (concepts) Model() string   { return "concepts" }
func (concepts) Dimensions() int { return len(ideas) }
func (concepts) Remote() bool    { return true }

func (c concepts) Embed(_ context.Context, texts []string) ([][]float32, error) {
	out := make([][]float32, len(texts))
	for i, text := range texts {
		out[i] = meaning(text)
	}
	return out, c.broken
}

func meaning(text string) []float32 {
	vector, square := make([]float32, len(ideas)), 0.0
	for i, words := range ideas {
		for _, word := range words {
			vector[i] += float32(strings.Count(strings.ToLower(text), word))
		}
		square += float64(vector[i] * vector[i])
	}
	for i := range vector {
		vector[i] /= float32(math.Max(1, math.Sqrt(square)))
	}
	return vector
}

var errModelDown = errors.New("connection refused")

// base is a knowledge base of its own.
type base struct {
	t        testing.TB
	pool     *pgxpool.Pool
	store    *store.Store
	embedder search.Embedder
}

func newBase(tb testing.TB) *base {
	tb.Helper()
	url := testenv.Database(tb)
	st, err := store.Open(tb.Context(), url, store.Options{})
	require.NoError(tb, err)
	tb.Cleanup(st.Close)
	pool, err := pgxpool.New(tb.Context(), url)
	require.NoError(tb, err)
	tb.Cleanup(pool.Close)
	b := &base{t: tb, pool: pool, store: st, embedder: concepts{}}
	b.folder("hr")
	return b
}

func (b *base) exec(query string, args ...any) {
	b.t.Helper()
	_, err := b.pool.Exec(b.t.Context(), query, args...)
	require.NoError(b.t, err)
}

func (b *base) folder(id string) {
	b.t.Helper()
	b.exec(`INSERT INTO folders (folder_id, source, connection, root, title) VALUES ($1, 'files', 'files', '/srv/' || $1, $1)`, id)
}

// page is a live page; each of its texts is a chunk, embedded with its heading.
type page struct {
	folder, id, title, path, parent, heading string
	texts                                    []string
}

func (b *base) add(pages ...page) {
	b.t.Helper()
	for _, p := range pages {
		if p.folder == "" {
			p.folder = "hr"
		}
		b.exec(`INSERT INTO pages (folder_id, page_id, source_id, parent_source_id, title, path, url, read_at, synced_at)
			VALUES ($1, $2, $2, $3, $4, $5, 'https://example.org/' || $2, now(), now())`, p.folder, p.id, p.parent, p.title, p.path)
		b.publish(p)
	}
}

// publish gives a page a new revision that readers see.
func (b *base) publish(p page) {
	b.t.Helper()
	var revision int64
	b.exec(`UPDATE revisions SET state = 'superseded' WHERE folder_id = $1 AND page_id = $2 AND state = 'published'`, p.folder, p.id)
	require.NoError(b.t, b.pool.QueryRow(b.t.Context(), `
		INSERT INTO revisions (folder_id, page_id, token, state, read_seq, raw, format, content_hash, markdown, title, summary, published_at)
		VALUES ($1, $2, gen_random_uuid(), 'published', nextval('moments'), '', 'markdown', '', $3, $4, 'In short: ' || $4, now())
		RETURNING revision_id`, p.folder, p.id, strings.Join(p.texts, "\n\n"), p.title).Scan(&revision))
	for i, text := range p.texts {
		b.chunk(revision, i, p.heading, text)
	}
	b.exec(`UPDATE pages SET published_revision_id = $3, published_read_seq = nextval('moments') WHERE folder_id = $1 AND page_id = $2`,
		p.folder, p.id, revision)
}

func (b *base) chunk(revision int64, number int, heading, text string) {
	b.t.Helper()
	headings, whole := []string{}, text
	if heading != "" {
		headings, whole = []string{heading}, heading+"\n\n"+text
	}
	hash := sha256.Sum256([]byte(whole))
	vectors, err := b.embedder.Embed(b.t.Context(), []string{whole})
	require.NoError(b.t, err)
	model, dimensions := b.embedder.Model(), b.embedder.Dimensions()
	b.exec(`INSERT INTO embeddings (model, dimensions, text_hash, embedding) VALUES ($1, $2, $3, $4) ON CONFLICT DO NOTHING`,
		model, dimensions, hash[:], vectors[0])
	b.exec(`INSERT INTO chunks (revision_id, chunk_no, heading_path, body, text_hash, terms, model, dimensions)
		VALUES ($1, $2, $3, $4, $5, array_to_tsvector($6::text[]), $7, $8)`,
		revision, number, headings, text, hash[:], distinct(terms.Document(whole)), model, dimensions)
}

// distinct is what array_to_tsvector needs.
func distinct(tokens []string) []string {
	seen, out := map[string]bool{}, []string{}
	for _, token := range tokens {
		if !seen[token] {
			seen[token] = true
			out = append(out, token)
		}
	}
	return out
}

func (b *base) searcher(embedder search.Embedder) *search.Searcher {
	return search.New(b.store, embedder)
}

// find gives the page ids that a search finds, in order.
func (b *base) find(embedder search.Embedder, q search.Query) []string {
	b.t.Helper()
	hits, err := b.searcher(embedder).Search(b.t.Context(), q)
	require.NoError(b.t, err)
	ids := make([]string, len(hits))
	for i, hit := range hits {
		ids[i] = hit.PageID
	}
	return ids
}
