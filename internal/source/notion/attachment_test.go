package notion_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/loresync/loresync/internal/source"
	"github.com/loresync/loresync/internal/source/notion"
	"github.com/loresync/loresync/internal/source/notion/notiontest"
)

var errExtract = errors.New("the file is broken at byte 7")

// reader stands in for what turns files into text: what it does is written in the file.
type reader struct {
	mu    sync.Mutex
	names []string
}

func (r *reader) extract(_ context.Context, name string, file io.Reader) (notion.Extracted, error) {
	body, err := io.ReadAll(file)
	if err != nil {
		return notion.Extracted{}, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.names = append(r.names, name)
	switch said, _, _ := strings.Cut(string(body), " "); said {
	case "scan":
		return notion.Extracted{Reason: "it holds pictures of text"}, nil
	case "broken":
		return notion.Extracted{}, errExtract
	case "long":
		return notion.Extracted{Text: said, Note: "read as Shift_JIS", Truncated: true}, nil
	}
	return notion.Extracted{Text: string(body)}, nil
}

func TestAttachedFilesAreReadAsText(t *testing.T) {
	t.Parallel()
	s := plainSpace(t)
	file := func(name, body string) string { return s.AddFile(name, "application/pdf", []byte(body)) }
	id := s.page("", "Page",
		notiontest.Uploaded("pdf", file("plan.pdf", "the text of the plan")),
		notiontest.Toggle(words("opens")...).With(notiontest.Uploaded("file", file("x.bin", "the text in a block")).Set("name", "notes.txt")),
		notiontest.Uploaded("pdf", file("scan.pdf", "scan of a page")),
		notiontest.Uploaded("pdf", file("broken.pdf", "broken file")),
		notiontest.External("pdf", "http://127.0.0.1:1/elsewhere.pdf"),
		notiontest.Uploaded("image", file("picture.png", "a picture")),
	)
	read := &reader{}
	src := s.with(func(o *notion.Options) { o.Extract = read.extract })
	page, err := src.Fetch(t.Context(), s.root, id)
	require.NoError(t, err)
	assert.ElementsMatch(t, []string{"plan.pdf", "notes.txt", "scan.pdf", "broken.pdf"}, read.names, "links to elsewhere and pictures aren't read")
	assert.Contains(t, page.Markdown, "> the text of the plan\n")
	assert.Contains(t, page.Markdown, "> the text in a block\n")
	report := reportOf(t, page)
	notes := strings.Join(report.Notes, "\n")
	assert.Contains(t, notes, `the attached file "scan.pdf" is not searchable: it holds pictures of text`)
	assert.Contains(t, notes, `the attached file "broken.pdf" could not be read`)
	assert.GreaterOrEqual(t, report.Unreadable, 2)
	assert.NotContains(t, notes, "byte 7", "what broke is the operator's to know")
	assert.Equal(t, 4, s.server.Count(notiontest.KindFile))

	again, err := src.Fetch(t.Context(), s.root, id)
	require.NoError(t, err)
	assert.Equal(t, string(page.Identity), string(again.Identity))
	assert.NotContains(t, string(again.Raw)+again.Markdown+string(again.Fidelity), "X-Amz")
	assert.Contains(t, string(again.Raw), "the text of the plan", "so that a later converter needs no download")
}

func TestWhatIsKnownOfAnAttachedFileIsInTheReport(t *testing.T) {
	t.Parallel()
	s := plainSpace(t)
	id := s.page("", "Page", notiontest.Uploaded("file", s.AddFile("table.csv", "text/csv", []byte("long table"))))
	src := s.with(func(o *notion.Options) { o.Extract = (&reader{}).extract })
	page, err := src.Fetch(t.Context(), s.root, id)
	require.NoError(t, err)
	report := reportOf(t, page)
	assert.Equal(t, 1, report.Truncated)
	assert.Contains(t, report.Notes, `the attached file "table.csv": read as Shift_JIS`)
	assert.NotContains(t, page.Markdown, "beyond the limit", "the page itself is whole")
}

func TestFileThatCannotBeDownloadedCostsOnlyItself(t *testing.T) {
	t.Parallel()
	s := newSpace(t, notiontest.ServerOptions{FileLife: -1})
	id := s.page("", "Page", paragraph("words"), notiontest.Uploaded("pdf", s.AddFile("late.pdf", "application/pdf", []byte("x"))))
	src := s.with(func(o *notion.Options) { o.Extract = (&reader{}).extract })
	page, err := src.Fetch(t.Context(), s.root, id)
	require.NoError(t, err)
	assert.Contains(t, page.Markdown, "words")
	assert.Contains(t, string(page.Fidelity), "late.pdf")
	assert.Positive(t, reportOf(t, page).Unreadable)
	assert.NotContains(t, string(page.Fidelity), "X-Amz")
}

func TestFilesAboveTheLimitsAreNamedAndLeftOut(t *testing.T) {
	t.Parallel()
	s := plainSpace(t)
	t.Run("too large", func(t *testing.T) {
		large := s.AddFile("large.pdf", "application/pdf", bytes.Repeat([]byte("x"), 25<<20+1))
		id := s.page("", "Large", notiontest.Uploaded("pdf", large))
		read := &reader{}
		src := s.with(func(o *notion.Options) { o.Extract = read.extract })
		page, err := src.Fetch(t.Context(), s.root, id)
		require.NoError(t, err)
		assert.Empty(t, read.names)
		assert.Contains(t, string(page.Fidelity), "larger than 25 MB")
	})
	t.Run("too many", func(t *testing.T) {
		blocks := make([]notiontest.Block, 53)
		for i := range blocks {
			blocks[i] = notiontest.Uploaded("file", s.AddFile(fmt.Sprintf("f%d.txt", i), "text/plain", fmt.Appendf(nil, "text %d", i)))
		}
		id := s.page("", "Many", blocks...)
		read := &reader{}
		src := s.with(func(o *notion.Options) { o.Extract = read.extract })
		page, err := src.Fetch(t.Context(), s.root, id)
		require.NoError(t, err)
		assert.Len(t, read.names, 50)
		assert.Contains(t, page.Markdown, "> text 49\n")
		assert.Contains(t, string(page.Fidelity), "only the first 50 of 53 attached files were read")
		assert.Positive(t, reportOf(t, page).Truncated)
	})
	t.Run("of unknown length", func(t *testing.T) {
		id := s.page("", "Endless", notiontest.Uploaded("pdf", s.AddFile("endless.pdf", "application/pdf", []byte("x"))))
		read := &reader{}
		src := s.with(func(o *notion.Options) { o.Extract, o.Files = read.extract, endless() })
		page, err := src.Fetch(t.Context(), s.root, id)
		require.NoError(t, err)
		assert.NotContains(t, page.Markdown, "xxxx", "a part of a file isn't taken for the whole")
		assert.Contains(t, string(page.Fidelity), "larger than 25 MB")
	})
}

func TestFetchThatIsCancelledDuringADownloadEnds(t *testing.T) {
	t.Parallel()
	s := plainSpace(t)
	id := s.page("", "Page", notiontest.Uploaded("pdf", s.AddFile("a.pdf", "application/pdf", []byte("x"))))
	ctx, cancel := context.WithCancel(t.Context())
	src := s.with(func(o *notion.Options) {
		o.Extract = func(context.Context, string, io.Reader) (notion.Extracted, error) {
			cancel()
			return notion.Extracted{}, errExtract
		}
	})
	_, err := src.Fetch(ctx, s.root, id)
	require.ErrorIs(t, err, context.Canceled)
}

func TestCommentsAreASectionWhereTheFolderWantsThem(t *testing.T) {
	t.Parallel()
	s := plainSpace(t)
	id := s.page("", "Page", paragraph("words"))
	first, err := s.AddComment(id, notiontest.Text("a question"))
	require.NoError(t, err)
	_, err = s.Reply(first, notiontest.Text("an answer"))
	require.NoError(t, err)
	closed, err := s.AddComment(id, notiontest.Text("settled"))
	require.NoError(t, err)
	require.NoError(t, s.Resolve(closed))
	for i := range 120 {
		_, err := s.AddComment(id, notiontest.Text(fmt.Sprintf("remark %d.", i)))
		require.NoError(t, err)
	}
	assert.NotContains(t, s.fetch(id).Markdown, "question")
	assert.Zero(t, s.server.Count(notiontest.KindComments), "they are not even asked for")

	s.root.Limits.Comments = true
	markdown := s.fetch(id).Markdown
	for _, want := range []string{"## Comments", "a question", "an answer", "remark 119."} {
		assert.Contains(t, markdown, want)
	}
	assert.NotContains(t, markdown, "settled")
	assert.Contains(t, markdown, "Sandbox Owner")

	s.server.SetCapabilities(notiontest.Capabilities{Content: true, Users: true})
	page := s.fetch(id)
	assert.Equal(t, "words\n", page.Markdown, "without the capability there are none")
	s.server.SetCapabilities(notiontest.Capabilities{Content: true, Users: true, Comments: true})
	s.server.Fail(notiontest.OfKind(notiontest.KindComments), 0, notiontest.BadGateway())
	assert.Equal(t, source.ClassUnavailable, s.refused(id).Class, "a page without them isn't the same page")
}
