package search_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/loresync/loresync/internal/search"
)

// vague is an embedder of a real model's size whose vectors mean nothing.
type vague struct{ dimensions int }

func (vague) Model() string     { return "vague" }
func (v vague) Dimensions() int { return v.dimensions }
func (vague) Remote() bool      { return true }

func (v vague) Embed(context.Context, []string) ([][]float32, error) {
	vector := make([]float32, v.dimensions)
	for i := range vector {
		vector[i] = rand.Float32() - 0.3
	}
	return [][]float32{vector}, nil
}

// fill adds 2,000 pages of five chunks of about 800 characters. Words are drawn so that a few are in nearly every chunk.
func (b *base) fill(dimensions int) {
	b.t.Helper()
	b.exec(`INSERT INTO pages (folder_id, page_id, source_id, title, path, read_at, synced_at)
		SELECT 'hr', 'p' || i, 'p' || i, 'About word' || i % 700 || ' and word' || i % 31, 'area' || i % 40 || '/page' || i || '.md', now(), now()
		FROM generate_series(1, 2000) i`)
	b.exec(`INSERT INTO revisions (folder_id, page_id, token, state, read_seq, raw, format, content_hash, markdown, title, published_at)
		SELECT 'hr', page_id, gen_random_uuid(), 'published', nextval('moments'), '', 'markdown', '', '', title, now() FROM pages`)
	b.exec(`UPDATE pages p SET published_revision_id = r.revision_id, published_read_seq = r.read_seq FROM revisions r WHERE r.page_id = p.page_id`)
	b.exec(`INSERT INTO embeddings (model, dimensions, text_hash, embedding)
		SELECT 'vague', $1, sha256((r.revision_id || '/' || n)::bytea),
		       (SELECT array_agg(((random() - 0.3) / sqrt($1 * 0.123))::real) FROM generate_series(1, $1) WHERE n = n AND r.revision_id = r.revision_id)
		FROM revisions r, generate_series(0, 4) n`, dimensions)
	b.exec(`INSERT INTO chunks (revision_id, chunk_no, heading_path, body, text_hash, terms, model, dimensions)
		SELECT r.revision_id, n, ARRAY[r.title], w.body, sha256((r.revision_id || '/' || n)::bytea), to_tsvector('simple', w.body), 'vague', $1
		FROM revisions r, generate_series(0, 4) n,
		     LATERAL (SELECT string_agg('word' || floor(3000 * random() ^ 3)::int, ' ') AS body FROM generate_series(1, 110)
		              WHERE n = n AND r.revision_id = r.revision_id) w`, dimensions)
	b.exec(`ANALYZE`)
}

func BenchmarkSearch_of_10000_chunks(b *testing.B) {
	for _, dimensions := range []int{256, 512, 1536} {
		base := newBase(b)
		base.fill(dimensions)
		for _, question := range []string{"word1234", "word0 word1 word2 word3 word17 word900 word2500 word31"} {
			b.Run(fmt.Sprintf("%d_dimensions/%d_letters", dimensions, len(question)), func(b *testing.B) {
				for b.Loop() {
					hits, err := base.searcher(vague{dimensions}).Search(b.Context(), search.Query{Text: question})
					require.NoError(b, err)
					require.NotEmpty(b, hits)
				}
			})
		}
	}
}
