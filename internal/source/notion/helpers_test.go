package notion_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/loresync/loresync/internal/source"
	"github.com/loresync/loresync/internal/source/notion"
	"github.com/loresync/loresync/internal/source/notion/document"
	"github.com/loresync/loresync/internal/source/notion/notiontest"
	"github.com/loresync/loresync/internal/source/transport"
)

// plainSpace is a workspace behind a server without lags and limits.
func plainSpace(t *testing.T) *space {
	t.Helper()
	return newSpace(t, notiontest.ServerOptions{})
}

// with gives another source of the same workspace, with settings of its own.
func (s *space) with(change func(*notion.Options)) *notion.Source {
	config := notion.Transport("notion", nil)
	config.Backoff, config.MaxBackoff = time.Millisecond, 10*time.Millisecond
	options := notion.Options{
		BaseURL: s.server.URL(), Transport: transport.New(config),
		Token: func(context.Context) (string, error) { return s.server.Token(), nil },
	}
	change(&options)
	return notion.New(options)
}

// page makes a page; at the top of the workspace for an empty parent.
func (s *space) page(parent, title string, blocks ...notiontest.Block) string {
	s.t.Helper()
	id, err := s.AddPage(parent, title, blocks...)
	require.NoError(s.t, err)
	return id
}

func (s *space) database(parent, title string, columns ...notiontest.Column) notiontest.Database {
	s.t.Helper()
	db, err := s.AddDatabase(parent, title, columns...)
	require.NoError(s.t, err)
	return db
}

func (s *space) row(dataSource, title string, values map[string]notiontest.Value, blocks ...notiontest.Block) string {
	s.t.Helper()
	id, err := s.AddRow(dataSource, title, values, blocks...)
	require.NoError(s.t, err)
	return id
}

// below is the space's root moved to a page, a database or a data source.
func (s *space) below(ref string) source.Root {
	root := s.root
	root.Ref = ref
	return root
}

// fetch reads a page that can be read.
func (s *space) fetch(id string) source.Page {
	s.t.Helper()
	page, err := s.src.Fetch(s.t.Context(), s.root, id)
	require.NoError(s.t, err)
	return page
}

// refused reads a page that can't be read, and gives why.
func (s *space) refused(id string) *source.Failure {
	s.t.Helper()
	_, err := s.src.Fetch(s.t.Context(), s.root, id)
	return failureOf(s.t, err)
}

func failureOf(tb testing.TB, err error) *source.Failure {
	tb.Helper()
	var failure *source.Failure
	require.ErrorAs(tb, err, &failure)
	assert.NotEmpty(tb, failure.Sentence, "a failure has a sentence for people")
	return failure
}

// list gives everything that a listing sees, and its word on it.
func (s *space) list(root source.Root) ([]source.Entry, source.Listed) {
	s.t.Helper()
	entries, listed, err := s.tryList(root)
	require.NoError(s.t, err)
	return entries, listed
}

func (s *space) tryList(root source.Root) ([]source.Entry, source.Listed, error) {
	var entries []source.Entry
	listed, err := s.src.List(s.t.Context(), root, "", func(batch source.Batch) error {
		entries = append(entries, batch.Entries...)
		return nil
	})
	return entries, listed, err
}

// changes gives what an incremental listing sees.
func (s *space) changes(checkpoint string) (changed []source.Entry, removed []string, listed source.Listed) {
	s.t.Helper()
	listed, err := s.src.Changes(s.t.Context(), s.root, checkpoint, func(some []source.Entry, gone []string) error {
		changed, removed = append(changed, some...), append(removed, gone...)
		return nil
	})
	require.NoError(s.t, err)
	return changed, removed, listed
}

func idsOf(entries []source.Entry) []string {
	ids := make([]string, len(entries))
	for i, entry := range entries {
		ids[i] = entry.SourceID
	}
	return ids
}

// entryOf finds one entry by its id.
func entryOf(tb testing.TB, entries []source.Entry, id string) source.Entry {
	tb.Helper()
	for _, entry := range entries {
		if entry.SourceID == id {
			return entry
		}
	}
	require.Contains(tb, idsOf(entries), id)
	return source.Entry{}
}

// reportOf is a page's word on how much of it could be kept.
func reportOf(tb testing.TB, page source.Page) document.Report {
	tb.Helper()
	var report document.Report
	require.NoError(tb, json.Unmarshal(page.Fidelity, &report))
	return report
}

func words(text string) []notiontest.Span { return []notiontest.Span{notiontest.Text(text)} }

func paragraph(text string) notiontest.Block { return notiontest.Paragraph(words(text)...) }

// paragraphs are n of them, each with its number after a word.
func paragraphs(word string, n int) []notiontest.Block {
	blocks := make([]notiontest.Block, n)
	for i := range blocks {
		blocks[i] = paragraph(word + " " + strconv.Itoa(i))
	}
	return blocks
}

// append puts blocks at the end of a page and gives their ids.
func (s *space) append(parent string, blocks ...notiontest.Block) []string {
	s.t.Helper()
	ids, err := s.Append(parent, blocks...)
	require.NoError(s.t, err)
	return ids
}

// afterwards does something once the API has answered.
func afterwards(do func()) notiontest.Effect {
	return func(w http.ResponseWriter, r *http.Request, next http.HandlerFunc) {
		next(w, r)
		do()
	}
}

// spelled answers with some bytes of the API's answer replaced, for spellings that no encoder of JSON makes.
func spelled(old, replacement string) notiontest.Effect {
	return func(w http.ResponseWriter, r *http.Request, next http.HandlerFunc) {
		kept := httptest.NewRecorder()
		next(kept, r)
		w.Header().Set("Content-Type", kept.Header().Get("Content-Type"))
		w.WriteHeader(kept.Code)
		_, _ = w.Write(bytes.ReplaceAll(kept.Body.Bytes(), []byte(old), []byte(replacement)))
	}
}

// saying answers with a status and a body of choice.
func saying(status int, kind, body string) notiontest.Effect {
	return func(w http.ResponseWriter, _ *http.Request, _ http.HandlerFunc) {
		w.Header().Set("Content-Type", kind)
		w.WriteHeader(status)
		_, _ = w.Write([]byte(body))
	}
}

// eachResult sets one member of every result of a list.
func eachResult(member string, value any) notiontest.Effect {
	return notiontest.Rewrite(func(body notiontest.Object) {
		results, _ := body["results"].([]any)
		for _, result := range results {
			if object, ok := result.(notiontest.Object); ok {
				object[member] = value
			}
		}
	})
}

var errEnough = errors.New("enough was listed")

// known tells the parents of pages that a sync has read.
func known(parents map[string]string) func(context.Context) (map[string]string, error) {
	return func(context.Context) (map[string]string, error) { return parents, nil }
}

// endless answers every download with a body whose length isn't told and that is larger than any file that is read.
func endless() *http.Client {
	return &http.Client{Transport: roundTrip(func(r *http.Request) (*http.Response, error) {
		body := io.LimitReader(xs{}, 26<<20)
		return &http.Response{StatusCode: http.StatusOK, ContentLength: -1, Body: io.NopCloser(body), Request: r}, nil
	})}
}

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// xs reads as the letter x without end.
type xs struct{}

func (xs) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = 'x'
	}
	return len(p), nil
}
