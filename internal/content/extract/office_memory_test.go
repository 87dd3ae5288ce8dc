package extract

import (
	"archive/zip"
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// peakBound is what a child may have resident for the largest files that are asked of it.
const peakBound = 300 << 20

// TestChild_reads_large_files_within_its_bound prints what each kind of file took. The limits are Linux's to tell.
func TestChild_reads_large_files_within_its_bound(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("each of these is made of tens of megabytes")
	}
	for name, c := range map[string]struct {
		file      func(testing.TB) []byte
		text      string
		truncated bool
		note      string
	}{
		"a sheet of 100,000 rows of texts": {longSheet, "| text of row 1 column 0 |", true, "left out: 95,000 rows"},
		"a document of 50 MB of pictures":  {pictureDocx, "fine\n", false, ""},
		"a document of a million words":    {longDocx, "**strong10000**", true, ""},
		"a table of 40,000 rows":           {longTableDocx, "| cell | cell |", false, ""},
		"a PDF of 50 MB":                   {largePDF, "a caption\n", false, ""},
	} {
		t.Run(name, func(t *testing.T) {
			e := extractor(t, Options{MaxBytes: 60 << 20})
			file := c.file(t)
			got := extract(t, e, office, "", file)
			assert.GreaterOrEqual(t, strings.Index(got.Text, c.text), 0, "%s", c.text)
			assert.Equal(t, c.truncated, got.Truncated)
			assert.Equal(t, c.note, got.Note)
			one := <-e.slot
			t.Logf("%d MB in the file, %d MB resident", len(file)>>20, one.peak>>20)
			assert.Less(t, one.peak, int64(peakBound))
			e.slot <- one
		})
	}
}

func longSheet(tb testing.TB) []byte {
	tb.Helper()
	var rows, texts strings.Builder
	for r := range 100_000 {
		rows.WriteString("<row>")
		for c := range 10 {
			if c%3 == 0 {
				fmt.Fprintf(&rows, `<c t="s"><v>%d</v></c>`, r*4+c/3)
				fmt.Fprintf(&texts, "<si><t>text of row %d column %d</t></si>", r+1, c)
			} else {
				fmt.Fprintf(&rows, `<c s="%d"><v>%d.25</v></c>`, c%3-1, r*c)
			}
		}
		rows.WriteString("</row>")
	}
	return workbookOf(rows.String()).with(parts{
		"xl/sharedStrings.xml": "<sst>" + texts.String() + "</sst>",
		"xl/styles.xml":        `<styleSheet><cellXfs><xf numFmtId="0"/><xf numFmtId="4"/></cellXfs></styleSheet>`,
	}).bytes(tb)
}

// pictureDocx is a document whose pictures can't be packed any further.
func pictureDocx(tb testing.TB) []byte {
	tb.Helper()
	var out bytes.Buffer
	w := zip.NewWriter(&out)
	for name, content := range docx(para("", "fine")) {
		entry, err := w.Create(name)
		require.NoError(tb, err)
		_, err = io.WriteString(entry, content)
		require.NoError(tb, err)
	}
	picture, err := w.CreateHeader(&zip.FileHeader{Name: "word/media/image1.png", Method: zip.Store})
	require.NoError(tb, err)
	_, err = io.CopyN(picture, rand.NewChaCha8([32]byte{}), 50<<20)
	require.NoError(tb, err)
	require.NoError(tb, w.Close())
	return out.Bytes()
}

func longDocx(tb testing.TB) []byte {
	tb.Helper()
	var body strings.Builder
	for i := range 100_000 {
		body.WriteString(para("", run("", fmt.Sprintf("word%d ", i))+run("<w:b/>", fmt.Sprintf("strong%d ", i))+run("", "six more words of a text")))
	}
	return docx(body.String()).bytes(tb)
}

func longTableDocx(tb testing.TB) []byte {
	tb.Helper()
	var body strings.Builder
	for range 40_000 {
		body.WriteString("<w:tr><w:tc>" + para("", "cell") + "</w:tc><w:tc>" + para("", "cell") + "</w:tc></w:tr>")
	}
	return docx("<w:tbl>" + body.String() + "</w:tbl>").bytes(tb)
}

func largePDF(tb testing.TB) []byte {
	tb.Helper()
	return scrapbookPDF(49 << 20).bytes()
}
