package extract

import (
	"archive/zip"
	"bytes"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const office = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"

func TestOffice_refuses_with_a_reason(t *testing.T) {
	t.Parallel()
	whole := docx(para("", "fine")).bytes(t)
	without := func(p parts, name string) []byte {
		delete(p, name)
		return p.bytes(t)
	}
	for name, c := range map[string]struct {
		file []byte
		want string
	}{
		"an encrypted file of today": {append([]byte(openingOLE+strings.Repeat("\x00", 504)), encryptedPackage...), ReasonEncrypted},
		"a file of Office 97":        {[]byte(openingOLE + strings.Repeat("\x00", 504)), ReasonOutdated},
		"rich text":                  {[]byte(`{\rtf1 hello}`), ReasonOutdated},
		"a binary workbook":          {parts{"_rels/.rels": linksXML([3]string{"r", "officeDocument", "xl/workbook.bin"})}.bytes(t), ReasonOutdated},
		"no archive":                 {[]byte("just text"), ReasonCorrupt},
		"half of it":                 {whole[:len(whole)/2], ReasonCorrupt},
		"another archive":            {parts{"a.txt": "x"}.bytes(t), ReasonCorrupt},
		"another document":           {docx("").with(parts{"word/document.xml": "<html/>"}).bytes(t), ReasonCorrupt},
		"broken XML":                 {docx("<w:p>").bytes(t), ReasonCorrupt},
		"no main part":               {without(docx(""), "word/document.xml"), ReasonCorrupt},
		"no parts at all":            {parts{}.bytes(t), ReasonCorrupt},
		"a missing sheet":            {without(workbookOf(""), "xl/worksheets/sheet1.xml"), ReasonCorrupt},
		"a missing slide":            {without(pptx(deckSlide{}), "ppt/slides/slide1.xml"), ReasonCorrupt},
		"an archive with a password": {encryptedZip(t), ReasonEncrypted},
		"OpenDocument with a password": {openFileOf("", "").with(parts{openManifest: `<manifest><file-entry full-path="content.xml"><encryption-data/>` +
			`</file-entry></manifest>`, "content.xml": "\x01\x02"}).bytes(t), ReasonEncrypted},
		"an unknown OpenDocument": {openFileOf("", "<office:database/>").bytes(t), ReasonCorrupt},
		"entities": {docx("").with(parts{"word/document.xml": `<!DOCTYPE x [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;">]>` +
			`<w:document ` + wordRoot +
			`><w:body>` + para("", "&b;") + `</w:body></w:document>`}).bytes(t), ReasonCorrupt},
		"a file from outside": {docx("").with(parts{"word/document.xml": `<!DOCTYPE x [<!ENTITY a SYSTEM "file:///etc/passwd">]><w:document ` + wordRoot +
			`><w:body>` + para("", "&a;") + `</w:body></w:document>`}).bytes(t), ReasonCorrupt},
		"deep nesting":                        {docx(strings.Repeat("<w:sdt><w:sdtContent>", 100_000)).bytes(t), ReasonCorrupt},
		"deep tables":                         {docx(strings.Repeat("<w:tbl><w:tr><w:tc>", 100_000)).bytes(t), ReasonCorrupt},
		"deep lists":                          {openFileOf("", "<office:text>"+strings.Repeat("<text:list><text:list-item>", 100_000)).bytes(t), ReasonCorrupt},
		"deep skipped elements":               {docx(strings.Repeat("<w:other>", 500_000)).bytes(t), ReasonCorrupt},
		"too many parts":                      {manyParts(t, maxEntries+1), ReasonUnpacked},
		"a document that unpacks to too much": {docx(strings.Repeat(`<w:p><w:pPr/></w:p>`, 1<<20)).bytes(t), ReasonUnpacked},
		"styles that unpack to too much": {workbookOf(row(1, `<c><v>1</v>`+
			`</c>`)).with(parts{"xl/styles.xml": "<styleSheet>" + strings.Repeat(" ", 12<<20) + "</styleSheet>"}).bytes(t), ReasonUnpacked},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := extract(t, shared, office, "a.docx", c.file)
			assert.Equal(t, c.want, got.Reason)
			assert.Empty(t, got.Text)
			assert.False(t, got.Searchable)
		})
	}
}

// encryptedZip has an entry that says that it needs a password.
func encryptedZip(t *testing.T) []byte {
	t.Helper()
	var out bytes.Buffer
	w := zip.NewWriter(&out)
	entry, err := w.CreateRaw(&zip.FileHeader{Name: "word/document.xml", Flags: encryptedFlag, CompressedSize64: 1, UncompressedSize64: 1})
	require.NoError(t, err)
	_, err = io.WriteString(entry, "x")
	require.NoError(t, err)
	require.NoError(t, w.Close())
	return out.Bytes()
}

func manyParts(t *testing.T, count int) []byte {
	t.Helper()
	var out bytes.Buffer
	w := zip.NewWriter(&out)
	for i := range count {
		_, err := w.CreateHeader(&zip.FileHeader{Name: fmt.Sprintf("p%d", i)})
		require.NoError(t, err)
	}
	require.NoError(t, w.Close())
	return out.Bytes()
}

// workbookOf is a workbook of one sheet with the given rows.
func workbookOf(rows string) parts {
	return parts{
		"_rels/.rels":     linksXML([3]string{"r1", "officeDocument", "xl/workbook.xml"}),
		"xl/workbook.xml": `<workbook xmlns:r="` + officeLinks + `"><sheets><sheet name="S" sheetId="1" r:id="r1"/></sheets></workbook>`,
		"xl/_rels/workbook.xml.rels": linksXML([3]string{"r1", "worksheet", "worksheets/sheet1.xml"},
			[3]string{"r2", "styles", "styles.xml"}, [3]string{"r3", "sharedStrings", "sharedStrings.xml"}),
		"xl/worksheets/sheet1.xml": `<worksheet><sheetData>` + rows + `</sheetData></worksheet>`,
	}
}

func row(number int, cells string) string { return fmt.Sprintf(`<row r="%d">%s</row>`, number, cells) }

func TestOffice_goes_by_what_a_file_is(t *testing.T) {
	t.Parallel()
	word, sheet := docx(para("", "fine")).bytes(t), workbookOf(row(1, `<c t="inlineStr"><is><t>fine</t></is></c>`)).bytes(t)
	for name, c := range map[string]struct {
		mime, name string
		file       []byte
		want       string
	}{
		"a document called a workbook":             {"", "a.xlsx", word, "fine\n"},
		"a document called an old one":             {"application/msword", "a.doc", word, "fine\n"},
		"a workbook called a document":             {office, "", sheet, "## S\n\n| fine |\n| --- |\n"},
		"a PDF called a document":                  {office, "", textPDF("fine").bytes(), "fine\n"},
		"a document that a server calls archive":   {"application/zip", "a.DOCX", word, "fine\n"},
		"a document that nobody names":             {"application/octet-stream", "a.docm", word, "fine\n"},
		"a table that Windows calls a workbook":    {"application/vnd.ms-excel", "a.csv", []byte("a,b\n1,2"), "| a | b |\n| --- | --- |\n| 1 | 2 |\n"},
		"a document without the table of links":    {office, "", parts{"word/document.xml": docx(para("", "fine"))["word/document.xml"]}.bytes(t), "fine\n"},
		"names in other case and with backslashes": {office, "", parts{`WORD\Document.xml`: docx(para("", "fine"))["word/document.xml"]}.bytes(t), "fine\n"},
		"XML in UTF-16": {office, "", docx("").with(parts{"word/document.xml": "\xFF\xFE" + string(utf16Bytes(
			`<?xml version="1.0" encoding="UTF-16"?><w:document `+wordRoot+`><w:body>`+para("", "fine")+`</w:body></w:document>`))}).bytes(t), "fine\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := extract(t, shared, c.mime, c.name, c.file)
			assert.Equal(t, Result{Text: c.want, Searchable: true, Pages: got.Pages}, got)
		})
	}
}

func TestOffice_stops_at_its_bounds(t *testing.T) {
	t.Parallel()
	e := extractor(t, Options{MaxRunes: 10_000, MaxPages: 20})
	many := func(count int, one string) string { return strings.Repeat(one, count) }
	slides := make([]deckSlide, 30)
	for i := range slides {
		slides[i].shapes = shape("title", drawn("", fmt.Sprintf("t%d", i+1)))
	}
	for name, c := range map[string]struct {
		file parts
		want string
	}{
		"paragraphs":    {docx(many(5000, para("", "some words"))), "some words\n"},
		"one paragraph": {docx(para("", strings.Repeat("語", 50_000))), "語語"},
		"a table":       {docx("<w:tbl>" + many(5000, "<w:tr><w:tc>"+para("", "cell")+"</w:tc><w:tc/></w:tr>") + "</w:tbl>"), "| cell |"},
		"slides":        {pptx(slides...), "## Slide 20: t20"},
		"an open text":  {openFileOf("", "<office:text>"+many(5000, "<text:p>some words</text:p>")+"</office:text>"), "some words\n"},
		"a sheet":       {workbookOf(many(4000, `<row><c t="str"><v>some words</v></c></row>`)), "more rows.*"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := extract(t, e, office, "", c.file.bytes(t))
			assert.True(t, got.Truncated)
			assert.LessOrEqual(t, len([]rune(got.Text)), 10_000)
			assert.Contains(t, got.Text, c.want)
		})
	}
}

func TestPptx_goes_on_behind_a_damaged_slide(t *testing.T) {
	t.Parallel()
	p := pptx(deckSlide{shapes: shape("title", drawn("", "one"))}, deckSlide{}, deckSlide{shapes: shape("title", drawn("", "three"))})
	p["ppt/slides/slide2.xml"] = "<p:sld><"
	got := extract(t, shared, "", "a.pptx", p.bytes(t))
	assert.Equal(t, Result{
		Text:  "## Slide 1: one\n\n## Slide 3: three\n\n*Left out: 1 damaged slide.*\n",
		Pages: 3, Searchable: true, Truncated: true, Note: "left out: 1 damaged slide",
	}, got)
}
