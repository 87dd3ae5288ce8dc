package extract

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"testing"
	"testing/iotest"
	"unicode/utf16"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestMain lets this test binary be the child, as a program's main does, and the parent of one.
func TestMain(m *testing.M) {
	ServeChildIfAsked()
	if os.Getenv(parentVariable) != "" {
		playParent()
	}
	os.Exit(runWithCache(m))
}

// The tests share the compiled PDF engine, and those that need no bounds of their own one child.
var (
	cacheDir string
	shared   *Extractor
)

// fillCache has the PDF engine compiled once, rather than by several children at the same time.
var fillCache = sync.OnceFunc(func() {
	_, _ = shared.Extract(context.Background(), "application/pdf", "", strings.NewReader("%PDF-1.7")) // a test would see it fail
})

func runWithCache(m *testing.M) int {
	var err error
	if cacheDir, err = os.MkdirTemp("", "extract-test-"); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer func() { _ = os.RemoveAll(cacheDir) }()
	shared = New(Options{CacheDir: cacheDir})
	defer shared.Close()
	return m.Run()
}

func utf16Hex(r rune) string {
	var hex strings.Builder
	for _, unit := range utf16.Encode([]rune{r}) {
		fmt.Fprintf(&hex, "%04X", unit)
	}
	return hex.String()
}

func extractor(t *testing.T, options Options) *Extractor {
	t.Helper()
	fillCache()
	options.CacheDir = cacheDir
	e := New(options)
	t.Cleanup(e.Close)
	return e
}

func extract(t *testing.T, e *Extractor, mime, name string, content []byte) Result {
	t.Helper()
	result, err := e.Extract(t.Context(), mime, name, bytes.NewReader(content))
	require.NoError(t, err)
	return result
}

func TestExtract_reads_PDFs(t *testing.T) {
	t.Parallel()
	whole := textPDF(slicesOf(20, "page %d")...).bytes()
	for name, c := range map[string]struct {
		file []byte
		want Result
	}{
		"a text layer": {
			textPDF("The first line\nand (the) second").bytes(),
			Result{Text: "The first line\nand (the) second\n", Pages: 1, Searchable: true},
		},
		"pages become paragraphs": {
			textPDF("one\ntwo", "three").bytes(),
			Result{Text: "one\ntwo\n\nthree\n", Pages: 2, Searchable: true},
		},
		"what Markdown would read as structure is escaped": {
			textPDF("# 1 item\n> more").bytes(),
			Result{Text: "\\# 1 item\n\\> more\n", Pages: 1, Searchable: true},
		},
		"divided words are joined": {
			textPDF("an inter-\nnational com-\npany in Baden-\nBaden").bytes(),
			Result{Text: "an international company in Baden-\nBaden\n", Pages: 1, Searchable: true},
		},
		"Japanese through a table of characters": {
			unicodePDF("休暇は事前に申請する。", "経費は月末までに精算する。").bytes(),
			Result{Text: "休暇は事前に申請する。\n\n経費は月末までに精算する。\n", Pages: 2, Searchable: true},
		},
		"ligatures and radicals become letters, other shapes stay": {
			unicodePDF("e\uFB03cient o\uFB01ce x\u00B2 \u2F47\u672C ｱ").bytes(),
			Result{Text: "efficient ofice x² 日本 ｱ\n", Pages: 1, Searchable: true},
		},
		"characters beyond 16 bits": {
			unicodePDF("a😀b 𠮷野家").bytes(),
			Result{Text: "a😀b 𠮷野家\n", Pages: 1, Searchable: true},
		},
		"a text beside a large picture": {scrapbookPDF(24 << 20).bytes(), Result{Text: "a caption\n", Pages: 1, Searchable: true}},
		"images only":                   {imagePDF(3).bytes(), Result{Pages: 3, Reason: ReasonScanned}},
		"an empty page":                 {textPDF("").bytes(), Result{Pages: 1, Reason: ReasonEmpty}},
		"an empty file":                 {nil, Result{Reason: ReasonEmpty}},
		"a password":                    {encryptedPDF().bytes(), Result{Reason: ReasonEncrypted}},
		"no PDF at all":                 {[]byte("PK\x03\x04 and so on"), Result{Reason: ReasonCorrupt}},
		"only its header":               {[]byte("%PDF-1.7\n"), Result{Reason: ReasonCorrupt}},
		"no pages":                      {pages(helvetica, "").bytes(), Result{Reason: ReasonCorrupt}},
		"a lost table": {
			bytes.ReplaceAll(textPDF("still here").bytes(), []byte("xref"), []byte("xxxx")),
			Result{Text: "still here\n", Pages: 1, Searchable: true},
		},
		"a lost second half": {whole[:len(whole)/2], Result{Reason: ReasonCorrupt}},
		"a lost page": {
			bytes.Replace(whole, []byte("<< /Type /Page /Parent"), []byte("[] /Type /Page /Parent"), 1),
			Result{Text: strings.Join(slicesOf(20, "page %d")[1:], "\n\n") + "\n", Pages: 20, Searchable: true, Truncated: true},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			assert.Equal(t, c.want, extract(t, shared, "application/pdf", "a.pdf", c.file))
		})
	}
}

func slicesOf(count int, format string) []string {
	all := make([]string, 0, count)
	for i := range count {
		all = append(all, fmt.Sprintf(format, i+1))
	}
	return all
}

func TestExtract_stops_at_its_bounds(t *testing.T) {
	t.Parallel()
	e := extractor(t, Options{MaxBytes: 1 << 20, MaxPages: 250, MaxRunes: 10_000})
	for name, c := range map[string]struct {
		mime string
		file []byte
		want Result
	}{
		"pages": {
			"application/pdf", textPDF(slicesOf(300, "p%d")...).bytes(),
			Result{Text: strings.Join(slicesOf(250, "p%d"), "\n\n") + "\n", Pages: 300, Searchable: true, Truncated: true},
		},
		"runes of a PDF": {
			"application/pdf", textPDF(slicesOf(100, strings.Repeat("word ", 60)+"%d")...).bytes(),
			Result{Pages: 100, Searchable: true, Truncated: true},
		},
		"runes of a text": {"text/plain", []byte(strings.Repeat("語", 20_000)), Result{Text: strings.Repeat("語", 10_000), Searchable: true, Truncated: true}},
		"runes of a web page": {
			"text/html", []byte("<p>" + strings.Repeat("語", 20_000)),
			Result{Text: strings.Repeat("語", 10_000), Searchable: true, Truncated: true},
		},
		"bytes of a PDF":        {"application/pdf", make([]byte, 1<<20+1), Result{Reason: "too large: files of more than 1.0 MiB are not read"}},
		"bytes of a text":       {"text/plain", make([]byte, 1<<20+1), Result{Reason: "too large: files of more than 1.0 MiB are not read"}},
		"after one too large":   {"application/pdf", textPDF("fine").bytes(), Result{Text: "fine\n", Pages: 1, Searchable: true}},
		"a text that just fits": {"text/plain", []byte(strings.Repeat("a", 9_999) + "\n"), Result{Text: strings.Repeat("a", 9_999) + "\n", Searchable: true}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := extract(t, e, c.mime, "", c.file)
			assert.LessOrEqual(t, len([]rune(got.Text)), 10_000)
			if c.want.Searchable && c.want.Text == "" {
				assert.Greater(t, len(got.Text), 9_000)
				got.Text = ""
			}
			assert.Equal(t, c.want, got)
		})
	}
}

func TestExtract_reads_texts(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		mime, name, file string
		want             Result
	}{
		"plain text":                        {"text/plain; charset=utf-8", "a.txt", "# one\r\ntwo", Result{Text: "\\# one\ntwo\n", Searchable: true}},
		"Markdown":                          {"text/markdown", "a.md", "# one\n\n\n\n\ntwo", Result{Text: "# one\n\n\ntwo\n", Searchable: true}},
		"Markdown that a server calls text": {"text/plain", "README.MD", "# one", Result{Text: "# one\n", Searchable: true}},
		"Markdown by its name":              {"", "a.markdown", "# one", Result{Text: "# one\n", Searchable: true}},
		"a text without a name":             {"TEXT/PLAIN", "", "one", Result{Text: "one\n", Searchable: true}},
		"commas": {
			"text/csv", "", "name,\"what, who\"\nA|B,\"two\nlines\"\nonly\na,b,c\n",
			Result{Text: "| name | what, who |\n| --- | --- |\n| A\\|B | two lines |\n| only |  |\n| a | b c |\n", Searchable: true},
		},
		"semicolons":            {"", "a.csv", "x;y\n1,5;2", Result{Text: "| x | y |\n| --- | --- |\n| 1,5 | 2 |\n", Searchable: true}},
		"tabs":                  {"", "a.tsv", "x\ty\n1\t2", Result{Text: "| x | y |\n| --- | --- |\n| 1 | 2 |\n", Searchable: true}},
		"a table of one column": {"text/csv", "", "# x\ny", Result{Text: "\\# x\ny\n", Searchable: true}},
		"a named encoding": {
			"text/csv; charset=Shift_JIS", "", "\x93\xfa\x96\x7b,x\n1,2",
			Result{Text: "| 日本 | x |\n| --- | --- |\n| 1 | 2 |\n", Searchable: true},
		},
		"UTF-16 with its mark": {"text/plain", "", "\xff\xfeA\x00\x2a\x4e", Result{Text: "A个\n", Searchable: true}},
		"HTML": {
			"text/html", "", "<title>T</title><h1>H</h1><script>x()</script><p>a <b>b</b>", Result{Text: "# H\n\na **b**\n", Searchable: true},
		},
		"HTML by its name":    {"application/octet-stream", "a.HTM", "<p>a", Result{Text: "a\n", Searchable: true}},
		"nothing":             {"text/plain", "", " \n\t\n", Result{Reason: ReasonEmpty}},
		"empty HTML":          {"text/html", "", "<p> </p>", Result{Reason: ReasonEmpty}},
		"an unknown encoding": {"text/plain", "", "\xe9\xe8\xff\xfd\x90", Result{Reason: ReasonBinary}},
		"an unheard encoding": {
			"text/plain; charset=x-klingon", "", "caf\xe9",
			Result{Text: "café\n", Searchable: true, Note: "read as Windows-1252: the file isn't in the encoding that it names"},
		},
		"NUL bytes":            {"text/plain", "", "a\x00b", Result{Reason: ReasonBinary}},
		"binary HTML":          {"text/html", "", "<p>\x00\xff", Result{Reason: ReasonBinary}},
		"endless nesting":      {"text/html", "", strings.Repeat("<div><b>", 50_000), Result{Reason: ReasonCorrupt}},
		"an archive":           {"application/zip", "a.txt", "x", Result{Reason: "unsupported: no text is taken from files of the kind application/zip"}},
		"an unknown extension": {"application/octet-stream", "a.xyz", "x", Result{Reason: "unsupported: no text is taken from files of the kind .xyz"}},
		"nothing to go by":     {"", "", "x", Result{Reason: "unsupported: no text is taken from files of the kind unknown"}},
		"a broken media type":  {"text/plain; charset", "", "x", Result{Text: "x\n", Searchable: true}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			assert.Equal(t, c.want, extract(t, shared, c.mime, c.name, []byte(c.file)))
		})
	}
}

var errReader = errors.New("the connection was cut")

func TestExtract_errs_when_the_file_cannot_be_read_and_goes_on_with_the_next(t *testing.T) {
	t.Parallel()
	for _, mime := range []string{"application/pdf", "text/plain", "text/html"} {
		_, err := shared.Extract(t.Context(), mime, "", io.MultiReader(strings.NewReader("some"), iotest.ErrReader(errReader)))
		require.ErrorIs(t, err, errReader)
	}
	assert.Equal(t, "fine\n", extract(t, shared, "application/pdf", "", textPDF("fine").bytes()).Text)
}
