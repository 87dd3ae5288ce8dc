package main

import (
	"context"
	"crypto/sha256"
	"fmt"
	"log/slog"
	"testing"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"github.com/loresync/loresync/bench/internal/corpus"
	"github.com/loresync/loresync/internal/config"
	"github.com/loresync/loresync/internal/content/chunk"
	"github.com/loresync/loresync/internal/content/embed"
	"github.com/loresync/loresync/internal/content/terms"
	"github.com/loresync/loresync/internal/control"
	"github.com/loresync/loresync/internal/ids"
	"github.com/loresync/loresync/internal/knowledge"
	"github.com/loresync/loresync/internal/source"
	"github.com/loresync/loresync/internal/store"
	"github.com/loresync/loresync/internal/testenv"
)

const (
	benchFolder = "bench"
	// batchPages is how many pages a batch of the files source has.
	batchPages = 1000
	// turnPages is how many pages take turns at being published.
	turnPages = 100
)

// shelf is a store with one folder, and a session to look behind it.
type shelf struct {
	*store.Store
	b       *testing.B
	sql     *pgx.Conn
	listing int64
	entries []source.Entry
}

// newShelf registers n pages as a listing would. They are not published yet.
func newShelf(b *testing.B, n int) *shelf {
	b.Helper()
	url := testenv.Database(b)
	st, err := store.Open(b.Context(), url, store.Options{})
	require.NoError(b, err)
	b.Cleanup(st.Close)
	sql, err := pgx.Connect(b.Context(), url)
	require.NoError(b, err)
	b.Cleanup(func() { _ = sql.Close(context.Background()) })
	s := &shelf{Store: st, b: b, sql: sql}
	// The door without Temporal: nothing is started here.
	door := control.New(st, nil, config.NewSources(config.Config{}, nil), slog.New(slog.DiscardHandler), control.Options{})
	_, err = door.AddFolder(b.Context(), control.FolderSpec{ID: benchFolder, Source: "files", Root: b.TempDir()}, person)
	require.NoError(b, err)
	for i := range n {
		path := fmt.Sprintf("dir%02d/page%05d.md", i%20, i)
		s.entries = append(s.entries, source.Entry{SourceID: path, Kind: source.KindDocument, Title: path, Path: path, Version: "1"})
	}
	s.listing = s.list()
	return s
}

func (s *shelf) list() int64 {
	s.b.Helper()
	workflowID, err := ids.SyncFolder(benchFolder, "first")
	require.NoError(s.b, err)
	_, err = s.ClaimFolderRun(s.b.Context(), benchFolder, workflowID, knowledge.ModeFull, "cli", "bench")
	require.NoError(s.b, err)
	listing, err := s.BeginListing(s.b.Context(), workflowID, benchFolder, uuid.NewString())
	require.NoError(s.b, err)
	s.stageBatch(listing.ListingID, 0)
	_, err = s.CompleteListing(s.b.Context(), listing.ListingID, source.VerdictComplete, "")
	require.NoError(s.b, err)
	for taken := 1; taken > 0; {
		taken, err = s.RegisterEntries(s.b.Context(), listing.ListingID, 500)
		require.NoError(s.b, err)
	}
	return listing.ListingID
}

func (s *shelf) stageBatch(listing int64, batch int) {
	goOn, err := s.StageBatch(s.b.Context(), listing, batch, source.Batch{Entries: s.entries, Returned: len(s.entries)}, false)
	require.NoError(s.b, err)
	require.True(s.b, goOn)
}

// pageText is what a page is published as.
type pageText struct {
	revision knowledge.StagedRevision
	vectors  map[string][]float32
}

func newPageText(ctx context.Context, entry source.Entry, text string) (pageText, error) {
	hash := sha256.Sum256([]byte(text))
	summary := "A summary."
	lexical := embed.Lexical{}
	p := pageText{vectors: map[string][]float32{}, revision: knowledge.StagedRevision{
		Raw: []byte(text), Format: string(source.FormatMarkdown), ContentHash: hash[:], Markdown: text, Title: entry.Title, Summary: &summary,
		Version: entry.Version, Fingerprint: hash[:], EmbeddingModel: lexical.Model(), EmbeddingDimensions: lexical.Dimensions(),
		Place: knowledge.Place{Path: entry.Path, ListedTitle: entry.Title},
	}}
	for _, piece := range chunk.Split(text, chunk.Options{}) {
		hash := chunk.TextHash(piece)
		vectors, err := lexical.Embed(ctx, []string{chunk.EmbeddingText(piece)})
		if err != nil {
			return p, err
		}
		p.vectors[string(hash[:])] = vectors[0]
		p.revision.Chunks = append(p.revision.Chunks, knowledge.StagedChunk{
			HeadingPath: piece.HeadingPath, Body: piece.Text, TextHash: hash[:], Terms: terms.Document(piece.Text),
		})
	}
	return p, nil
}

// publish does what a page sync asks of the store: take the page, stage, embed what is new, publish.
func (s *shelf) publish(ctx context.Context, entry source.Entry, text pageText) error {
	holder, err := s.take(ctx, entry)
	if err != nil {
		return err
	}
	staged, err := s.StageRevision(ctx, holder, text.revision)
	if err != nil {
		return err
	}
	if len(staged.Missing) > 0 {
		vectors := make([][]float32, len(staged.Missing))
		for i, hash := range staged.Missing {
			vectors[i] = text.vectors[string(hash)]
		}
		if _, err := s.EnrichRevision(ctx, holder, knowledge.Enrichment{
			RevisionID: *staged.RevisionID, Model: text.revision.EmbeddingModel, Dimensions: text.revision.EmbeddingDimensions,
			Hashes: staged.Missing, Vectors: vectors,
		}); err != nil {
			return err
		}
	}
	published, err := s.PublishStaged(ctx, holder, *staged.RevisionID, nil)
	if err == nil && published.Outcome != string(knowledge.OutcomePublished) {
		err = fmt.Errorf("publish %s: %w: %s", entry.Path, errOutcome, published.Outcome)
	}
	return err
}

func (s *shelf) take(ctx context.Context, entry source.Entry) (knowledge.Holder, error) {
	page := ids.PageIDForPath(entry.SourceID, 0)
	begun, err := s.BeginPageSync(ctx, benchFolder, page, "folder/bench/page/"+page+"/sync", "first", "run", knowledge.LaneBackfill)
	if err == nil && begun.Outcome != "begun" {
		err = fmt.Errorf("begin %s: %w: %s", entry.Path, errOutcome, begun.Outcome)
	}
	return knowledge.Holder{Folder: benchFolder, Page: page, Token: begun.Token}, err
}

// logged is the position in the write-ahead log, in bytes.
func (s *shelf) logged() int64 {
	s.b.Helper()
	var at int64
	require.NoError(s.b, s.sql.QueryRow(s.b.Context(), written).Scan(&at))
	return at
}

// BenchmarkStageUnchangedBatch compares a batch of 1,000 pages, none of which changed, with what is known.
func BenchmarkStageUnchangedBatch(b *testing.B) {
	s := newShelf(b, batchPages)
	var group errgroup.Group
	group.SetLimit(8)
	for _, entry := range s.entries {
		group.Go(func() error {
			text, err := newPageText(b.Context(), entry, "# "+entry.Title+"\n\nText.\n")
			if err != nil {
				return err
			}
			return s.publish(b.Context(), entry, text)
		})
	}
	require.NoError(b, group.Wait())
	_, err := s.sql.Exec(b.Context(), `VACUUM (ANALYZE)`)
	require.NoError(b, err)
	batch, before := 1, s.logged()
	for b.Loop() {
		s.stageBatch(s.listing, batch)
		batch++
	}
	pages := float64(b.N * batchPages)
	b.ReportMetric(float64(b.Elapsed().Microseconds())/pages, "µs/page")
	b.ReportMetric(float64(s.logged()-before)/pages, "log-bytes/page")
}

// BenchmarkPublishPage takes, stages, embeds and publishes a page of the corpus, with a text that is new each time.
func BenchmarkPublishPage(b *testing.B) {
	s := newShelf(b, turnPages)
	pages := corpus.New(1)
	turn, chunks, before := 0, 0, s.logged()
	for b.Loop() {
		b.StopTimer()
		entry := s.entries[turn%turnPages]
		text, err := newPageText(b.Context(), entry, pages.Page(turn).Text)
		require.NoError(b, err)
		turn, chunks = turn+1, chunks+len(text.revision.Chunks)
		b.StartTimer()
		require.NoError(b, s.publish(b.Context(), entry, text))
	}
	b.ReportMetric(float64(b.Elapsed().Microseconds())/1000/float64(b.N), "ms/page")
	b.ReportMetric(float64(chunks)/float64(b.N), "chunks/page")
	b.ReportMetric(float64(s.logged()-before)/float64(b.N), "log-bytes/page")
}

// BenchmarkReadUnchangedPage takes a page and finds its content as it was.
func BenchmarkReadUnchangedPage(b *testing.B) {
	s := newShelf(b, turnPages)
	pages := corpus.New(1)
	for i, entry := range s.entries {
		text, err := newPageText(b.Context(), entry, pages.Page(i).Text)
		require.NoError(b, err)
		require.NoError(b, s.publish(b.Context(), entry, text))
	}
	turn, before := 0, s.logged()
	for b.Loop() {
		entry := s.entries[turn%turnPages]
		turn++
		holder, err := s.take(b.Context(), entry)
		require.NoError(b, err)
		published, err := s.PublishUnchanged(b.Context(), holder, knowledge.Reading{
			Title: entry.Title, Place: knowledge.Place{Path: entry.Path, ListedTitle: entry.Title}, Version: entry.Version,
		})
		require.NoError(b, err)
		require.Equal(b, "unchanged", published.Outcome)
	}
	b.ReportMetric(float64(b.Elapsed().Microseconds())/1000/float64(b.N), "ms/page")
	b.ReportMetric(float64(s.logged()-before)/float64(b.N), "log-bytes/page")
}
