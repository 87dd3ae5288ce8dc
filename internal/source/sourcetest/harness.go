package sourcetest

import (
	"context"
	"regexp"
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/loresync/loresync/internal/source"
)

// promptly is how long a cancelled call may take to come back.
const promptly = 2 * time.Second

// maxBatch is the largest batch that a fixture may give, so that a test with few pages sees several.
const maxBatch = 10

// maxCursorBytes is what callers store of a cursor.
const maxCursorBytes = 4 << 10

// sweep is a listing as it came.
type sweep struct {
	batches []source.Batch
	entries []source.Entry
	listed  source.Listed
	// incidental tells the documents that no test put there.
	incidental func(sourceID string) bool
}

// list reads a listing to its end and checks what must hold for every one.
func list(t *testing.T, f Fixture, cursor string) sweep {
	t.Helper()
	s := sweep{incidental: func(string) bool { return false }}
	if c, ok := f.(ContainerPager); ok {
		s.incidental = c.IsContainer
	}
	listed, err := f.Source().List(t.Context(), f.Root(), cursor, func(b source.Batch) error {
		s.batches = append(s.batches, b)
		s.entries = append(s.entries, b.Entries...)
		return nil
	})
	require.NoError(t, err)
	s.listed = listed
	checkBatches(t, s.batches)
	checkEntries(t, s.entries)
	checkVerdict(t, listed)
	return s
}

// listAll is list from the start, for roots in which everything can be seen.
func listAll(t *testing.T, f Fixture) sweep {
	t.Helper()
	s := list(t, f, "")
	require.Equal(t, source.VerdictComplete, s.listed.Verdict, s.listed.Sentence)
	return s
}

func checkBatches(t *testing.T, batches []source.Batch) {
	t.Helper()
	for i, b := range batches {
		require.Len(t, b.Entries, b.Returned, "batch %d must hold as many entries as it says it returned", i)
		require.LessOrEqual(t, len(b.Entries), maxBatch, "a fixture's batches must be small")
		if i == len(batches)-1 {
			require.Empty(t, b.Cursor, "the last batch must not be resumable")
			continue
		}
		require.NotEmpty(t, b.Cursor, "batch %d must be resumable", i)
		require.LessOrEqual(t, len(b.Cursor), maxCursorBytes)
		requireStorable(t, b.Cursor)
	}
}

func checkEntries(t *testing.T, entries []source.Entry) {
	t.Helper()
	seen := make(map[string]bool, len(entries))
	for _, e := range entries {
		require.NotEmpty(t, e.SourceID)
		require.False(t, seen[e.SourceID], "%q was listed twice", e.SourceID)
		seen[e.SourceID] = true
		require.Contains(t, []source.Kind{source.KindDocument, source.KindContainer}, e.Kind)
		require.NotEqual(t, e.SourceID, e.ParentSourceID)
		for _, text := range []string{e.SourceID, e.ParentSourceID, e.Title, e.URL, e.Path, e.Version} {
			requireStorable(t, text)
		}
		if e.Skip != nil {
			require.NotEmpty(t, e.Skip.Class)
			require.NotEmpty(t, e.Skip.Sentence)
		}
	}
}

// requireStorable checks that a text can be stored in Postgres and printed on a terminal.
func requireStorable(t *testing.T, text string) {
	t.Helper()
	require.True(t, utf8.ValidString(text), "%q is not valid UTF-8", text)
	require.False(t, strings.ContainsFunc(text, unicode.IsControl), "%q holds control characters", text)
}

func checkVerdict(t *testing.T, listed source.Listed) {
	t.Helper()
	if listed.Verdict == source.VerdictComplete {
		require.Empty(t, listed.Sentence)
		return
	}
	require.NotEmpty(t, listed.Sentence, "the verdict %q needs a sentence", listed.Verdict)
}

// documents gives the listed documents by id.
func (s sweep) documents() map[string]source.Entry {
	found := make(map[string]source.Entry)
	for _, e := range s.entries {
		if e.Kind == source.KindDocument && !s.incidental(e.SourceID) {
			found[e.SourceID] = e
		}
	}
	return found
}

// requireListed and requireNotListed say which id is missing or too many, rather than show the whole listing.
func requireListed(t *testing.T, documents map[string]source.Entry, id string) {
	t.Helper()
	_, listed := documents[id]
	require.True(t, listed, "%q must be listed", id)
}

func requireNotListed(t *testing.T, documents map[string]source.Entry, id string) {
	t.Helper()
	_, listed := documents[id]
	require.False(t, listed, "%q must not be listed", id)
}

func (s sweep) ids() []string {
	ids := make([]string, 0, len(s.entries))
	for _, e := range s.entries {
		ids = append(ids, e.SourceID)
	}
	return ids
}

func fetch(t *testing.T, f Fixture, id string) source.Page {
	t.Helper()
	page, err := f.Source().Fetch(t.Context(), f.Root(), id)
	require.NoError(t, err)
	require.Equal(t, id, page.Entry.SourceID)
	return page
}

// escape is a character of a text that Markdown would read as its own.
var escape = regexp.MustCompile(`\\([[:punct:]])`)

// text is what a page says, in whichever form the source gives it.
func text(page source.Page) string {
	if page.Format == source.FormatConverted {
		return escape.ReplaceAllString(page.Markdown, "$1")
	}
	return string(page.Raw)
}

func requireFailure(t *testing.T, err error, class source.Class) source.Failure {
	t.Helper()
	var failure *source.Failure
	require.ErrorAs(t, err, &failure)
	require.Equal(t, class, failure.Class, failure.Error())
	require.NotEmpty(t, failure.Doing)
	require.NotEmpty(t, failure.Sentence)
	return *failure
}

func presence(t *testing.T, f Fixture, id string) source.Presence {
	t.Helper()
	answer, err := f.Source().Presence(t.Context(), f.Root(), id)
	require.NoError(t, err)
	return answer
}

// requireCancelled checks that a call comes back soon after its context ended, with the context's error.
func requireCancelled(t *testing.T, call func(ctx context.Context) error) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	ended := make(chan error, 1)
	go func() { ended <- call(ctx) }()
	select {
	case err := <-ended:
		require.ErrorIs(t, err, context.Canceled)
	case <-time.After(promptly):
		t.Fatal("the call went on after its context had ended")
	}
}

func passTime(f Fixture) {
	if p, ok := f.(TimePasser); ok {
		p.PassTime()
	}
}
