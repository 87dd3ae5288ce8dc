package gdrive_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/xuri/excelize/v2"

	"github.com/loresync/loresync/internal/source"
	"github.com/loresync/loresync/internal/source/gdrive"
	"github.com/loresync/loresync/internal/source/gdrive/drivetest"
	"github.com/loresync/loresync/internal/source/transport"
)

// office is a Drive behind a stand-in server, and the source that reads one folder of it as the service account.
type office struct {
	*drivetest.Server
	t    testing.TB
	src  *gdrive.Source
	root source.Root
}

func newOffice(tb testing.TB, o drivetest.Options, change ...func(*gdrive.Options)) *office {
	tb.Helper()
	s := &office{Server: drivetest.Start(tb, o), t: tb}
	s.src = s.source(change...)
	s.root = source.Root{FolderID: "handbook", Ref: s.folder("", "Handbook")}
	return s
}

// source gives another source of the same Drive, as another process would have it.
func (s *office) source(change ...func(*gdrive.Options)) *gdrive.Source {
	s.t.Helper()
	options := gdrive.Options{
		Endpoint: s.Endpoint(), Transport: quick(gdrive.Transport("gdrive", nil)), TokenTransport: quick(gdrive.TokenTransport()), BatchSize: 7, Extract: extract,
		Credentials: gdrive.Credentials{Key: key(s.CredentialsJSON())},
	}
	for _, c := range change {
		c(&options)
	}
	src, err := gdrive.New(options)
	require.NoError(s.t, err)
	return src
}

// key is one that stays the same.
func key(raw []byte) func(context.Context) ([]byte, error) {
	return func(context.Context) ([]byte, error) { return raw, nil }
}

// quick sends requests as production does, with shorter waits.
func quick(config transport.Config) *transport.Transport {
	config.Backoff, config.MaxBackoff = time.Millisecond, 10*time.Millisecond
	return transport.New(config)
}

// extract is a small one of its kind: texts, and the cells of workbooks.
func extract(_ context.Context, mimeType, name string, r io.Reader) (gdrive.Extracted, error) {
	body, err := io.ReadAll(r)
	switch {
	case err != nil:
		return gdrive.Extracted{}, err
	case strings.HasSuffix(name, ".xlsx"):
		return cells(body)
	case !strings.HasPrefix(mimeType, "text/"):
		return gdrive.Extracted{Reason: "unsupported: no text is taken from " + mimeType}, nil
	case len(bytes.TrimSpace(body)) == 0:
		return gdrive.Extracted{Reason: "empty: there is no text in it"}, nil
	}
	return gdrive.Extracted{Text: string(body), Searchable: true}, nil
}

func cells(body []byte) (gdrive.Extracted, error) {
	book, err := excelize.OpenReader(bytes.NewReader(body))
	if err != nil {
		return gdrive.Extracted{}, err
	}
	var out strings.Builder
	for _, tab := range book.GetSheetList() {
		rows, err := book.GetRows(tab)
		if err != nil {
			return gdrive.Extracted{}, err
		}
		fmt.Fprintf(&out, "## %s\n\n", tab)
		for _, row := range rows {
			out.WriteString(strings.Join(row, " | ") + "\n")
		}
	}
	return gdrive.Extracted{Text: out.String(), Searchable: true}, nil
}

func (s *office) folder(parent, name string) string {
	s.t.Helper()
	id, err := s.AddFolder(parent, name)
	require.NoError(s.t, err)
	return id
}

func (s *office) doc(parent, name, markdown string) string {
	s.t.Helper()
	id, err := s.AddDoc(parent, name, markdown)
	require.NoError(s.t, err)
	return id
}

func (s *office) file(parent, name, mimeType, body string) string {
	s.t.Helper()
	id, err := s.AddFile(parent, name, mimeType, []byte(body))
	require.NoError(s.t, err)
	return id
}

func (s *office) shortcut(parent, name, target string) string {
	s.t.Helper()
	id, err := s.AddShortcut(parent, name, target)
	require.NoError(s.t, err)
	return id
}

// docs makes n Docs in a folder and gives their ids.
func (s *office) docs(parent string, n int) []string {
	s.t.Helper()
	ids := make([]string, n)
	for i := range ids {
		ids[i] = s.doc(parent, fmt.Sprintf("Page %d", i), fmt.Sprintf("text of page %d", i))
	}
	return ids
}

// did ends the test when a change of the Drive failed.
func (s *office) did(err error) {
	s.t.Helper()
	require.NoError(s.t, err)
}

// at is the office's root moved to another reference.
func (s *office) at(ref string) source.Root {
	root := s.root
	root.Ref = ref
	return root
}

// seen is what a listing saw.
type seen struct {
	entries []source.Entry
	listed  source.Listed
	batches []source.Batch
}

func (s seen) ids() []string {
	ids := make([]string, 0, len(s.entries))
	for _, e := range s.entries {
		ids = append(ids, e.SourceID)
	}
	return ids
}

func (s seen) entry(tb testing.TB, id string) source.Entry {
	tb.Helper()
	for _, e := range s.entries {
		if e.SourceID == id {
			return e
		}
	}
	require.Failf(tb, "not listed", "%s", id)
	return source.Entry{}
}

// parents is what a store knows after a listing.
func (s seen) parents() map[string]string {
	known := make(map[string]string, len(s.entries))
	for _, e := range s.entries {
		known[e.SourceID] = e.ParentSourceID
	}
	return known
}

// list gives everything that a listing sees, and its word on it.
func (s *office) list(root source.Root) seen {
	s.t.Helper()
	return s.listAfter(s.src, root, "")
}

func (s *office) listAfter(src *gdrive.Source, root source.Root, cursor string) seen {
	s.t.Helper()
	var all seen
	var err error
	all.listed, err = src.List(s.t.Context(), root, cursor, func(b source.Batch) error {
		all.entries = append(all.entries, b.Entries...)
		all.batches = append(all.batches, b)
		return nil
	})
	require.NoError(s.t, err)
	return all
}

// told is what an incremental listing saw.
type told struct {
	seen

	removed []string
}

// changes asks what changed since a listing, whose entries are what is known.
func (s *office) changes(root source.Root, since seen) told {
	s.t.Helper()
	out, err := s.tryChanges(s.src, root, since)
	require.NoError(s.t, err)
	return out
}

func (s *office) tryChanges(src *gdrive.Source, root source.Root, since seen) (told, error) {
	root.Known = func(context.Context) (map[string]string, error) { return since.parents(), nil }
	var out told
	var err error
	out.listed, err = src.Changes(s.t.Context(), root, since.listed.Checkpoint, func(some []source.Entry, gone []string) error {
		out.entries, out.removed = append(out.entries, some...), append(out.removed, gone...)
		return nil
	})
	return out, err
}

// fetch reads a page that can be read.
func (s *office) fetch(id string) source.Page {
	s.t.Helper()
	page, err := s.src.Fetch(s.t.Context(), s.root, id)
	require.NoError(s.t, err)
	return page
}

// refused reads a page that can't be read, and gives why.
func (s *office) refused(id string) *source.Failure {
	s.t.Helper()
	_, err := s.src.Fetch(s.t.Context(), s.root, id)
	return failureOf(s.t, err)
}

// skipped reads a page that is skipped, and gives the class.
func (s *office) skipped(id string) string {
	s.t.Helper()
	failure := s.refused(id)
	require.Equal(s.t, source.ClassInvalid, failure.Class, failure.Error())
	require.NotNil(s.t, failure.Skip, failure.Error())
	assert.NotEmpty(s.t, failure.Skip.Sentence)
	return failure.Skip.Class
}

func (s *office) presence(id string) source.Presence {
	s.t.Helper()
	answer, err := s.src.Presence(s.t.Context(), s.root, id)
	require.NoError(s.t, err)
	return answer
}

func failureOf(tb testing.TB, err error) *source.Failure {
	tb.Helper()
	require.Error(tb, err)
	var failure *source.Failure
	require.ErrorAs(tb, err, &failure)
	assert.NotEmpty(tb, failure.Sentence, "a failure has a sentence for people")
	return failure
}

var errYield = errors.New("no more")
