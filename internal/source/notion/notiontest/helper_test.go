package notiontest_test

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/loresync/loresync/internal/source/notion/notiontest"
)

const (
	oldest = "2022-06-28"
	middle = "2025-09-03"
	newest = "2026-03-11"
)

// start is the time at which every workspace of these tests begins: seconds and milliseconds that must not be seen.
func start() time.Time { return time.Date(2026, 7, 4, 9, 8, 57, 778_000_000, time.UTC) }

// stand is a workspace with a server that listens.
type stand struct {
	*notiontest.Workspace
	*notiontest.Server
	t *testing.T
}

func newStand(t *testing.T, o notiontest.ServerOptions) stand {
	t.Helper()
	w := notiontest.New(notiontest.Options{Seed: 7, Clock: notiontest.NewClock(start())})
	s := notiontest.NewServer(w, o)
	_, err := s.Start()
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, s.Close()) })
	return stand{Workspace: w, Server: s, t: t}
}

// answer is what a request got.
type answer struct {
	status int
	header http.Header
	raw    []byte
	body   notiontest.Object
}

func (a answer) code() any { return a.body["code"] }

func (a answer) results() []notiontest.Object {
	list, _ := a.body["results"].([]any)
	results := make([]notiontest.Object, len(list))
	for i, item := range list {
		results[i], _ = item.(notiontest.Object)
	}
	return results
}

func (a answer) ids() []string {
	ids := make([]string, 0, len(a.results()))
	for _, result := range a.results() {
		id, _ := result["id"].(string)
		ids = append(ids, id)
	}
	return ids
}

func (s stand) request(version, method, path string, body any) *http.Request {
	s.t.Helper()
	var reader io.Reader
	switch body := body.(type) {
	case nil:
	case string:
		reader = bytes.NewReader([]byte(body))
	default:
		raw, err := json.Marshal(body)
		require.NoError(s.t, err)
		reader = bytes.NewReader(raw)
	}
	r, err := http.NewRequestWithContext(s.t.Context(), method, s.URL()+path, reader)
	require.NoError(s.t, err)
	r.Header.Set("Authorization", "Bearer "+s.Token())
	r.Header.Set("Notion-Version", version)
	r.Header.Set("Content-Type", "application/json")
	return r
}

// send sends a request that must be answered somehow.
func (s stand) send(r *http.Request) answer {
	s.t.Helper()
	a, err := trySend(r)
	require.NoError(s.t, err)
	return a
}

func trySend(r *http.Request) (answer, error) {
	got, err := http.DefaultClient.Do(r)
	if err != nil {
		return answer{}, err
	}
	defer func() { _ = got.Body.Close() }()
	raw, err := io.ReadAll(got.Body)
	if err != nil {
		return answer{}, err
	}
	a := answer{status: got.StatusCode, header: got.Header, raw: raw}
	// Bodies that aren't JSON leave the object nil, which is what the tests of the edge's answers look for.
	_ = json.Unmarshal(raw, &a.body)
	return a, nil
}

func (s stand) get(path string) answer {
	s.t.Helper()
	return s.send(s.request(newest, http.MethodGet, path, nil))
}

func (s stand) post(path string, body any) answer {
	s.t.Helper()
	return s.send(s.request(newest, http.MethodPost, path, body))
}

func (s stand) as(version, method, path string, body any) answer {
	s.t.Helper()
	return s.send(s.request(version, method, path, body))
}

// page makes a page at the top of the workspace.
func (s stand) page(title string, blocks ...notiontest.Block) string {
	s.t.Helper()
	id, err := s.AddPage("", title, blocks...)
	require.NoError(s.t, err)
	return id
}

func (s stand) database(parent, title string, columns ...notiontest.Column) notiontest.Database {
	s.t.Helper()
	db, err := s.AddDatabase(parent, title, columns...)
	require.NoError(s.t, err)
	return db
}

func (s stand) row(source, title string, values map[string]notiontest.Value) string {
	s.t.Helper()
	id, err := s.AddRow(source, title, values)
	require.NoError(s.t, err)
	return id
}

func words(text string) []notiontest.Span { return []notiontest.Span{notiontest.Text(text)} }

// paragraphs are n of them, numbered from 0.
func paragraphs(n int) []notiontest.Block {
	blocks := make([]notiontest.Block, n)
	for i := range blocks {
		blocks[i] = notiontest.Paragraph(notiontest.Text("paragraph " + string(rune('a'+i%26))))
	}
	return blocks
}
