package drivetest_test

import (
	"archive/zip"
	"bytes"
	"encoding/base64"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/xuri/excelize/v2"
	"google.golang.org/api/drive/v3"
	"pgregory.net/rapid"

	"github.com/loresync/loresync/internal/source/gdrive/drivetest"
)

const (
	docx = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
	xlsx = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
	pptx = "application/vnd.openxmlformats-officedocument.presentationml.presentation"
)

// exported gives an export as the client gets it.
func exported(t *testing.T, service *drive.Service, id, mime string) string {
	t.Helper()
	got, err := service.Files.Export(id, mime).Download()
	require.NoError(t, err)
	defer func() { _ = got.Body.Close() }()
	assert.Equal(t, mime, got.Header.Get("Content-Type"))
	raw, err := io.ReadAll(got.Body)
	require.NoError(t, err)
	return string(raw)
}

// unzipped gives the parts of an archive.
func unzipped(t *testing.T, raw string) map[string]string {
	t.Helper()
	archive, err := zip.NewReader(strings.NewReader(raw), int64(len(raw)))
	require.NoError(t, err)
	parts := map[string]string{}
	for _, file := range archive.File {
		r, err := file.Open()
		require.NoError(t, err)
		text, err := io.ReadAll(r)
		require.NoError(t, err)
		parts[file.Name] = string(text)
	}
	return parts
}

const handbook = `# A_title

##

Some **bold**, *italic* and ~~struck~~ text with ` + "`code_here`" + `, a [link](https://example.org/a_b?c=d) and
a second line.\
Broken - here. 1. Not a list.

- one
- two
  1. first
  2. second
- [x] done
- [ ] not done

| Name | Value |
| ---- | ----- |
| a\|b | *c*   |

![picture](picture.png)

> Quoted.

` + "```go\nfmt.Println(a_b)\n```" + `

---
`

func TestDocs(t *testing.T) {
	t.Parallel()
	s := newStand(t, drivetest.Options{})
	doc := drivetest.Must(s.AddDoc("", "Doc", handbook))
	account := s.account()

	t.Run("Markdown", func(t *testing.T) {
		t.Parallel()
		got := exported(t, account, doc, "text/markdown")
		text, picture, ok := strings.Cut(got, "[image1]: <data:image/png;base64,")
		require.True(t, ok)
		assert.Equal(t, `# **A\_title**

## 

Some **bold**, *italic* and ~~struck~~ text with `+"`code_here`"+`, a [link](https://example.org/a_b?c=d) and a second line.  
Broken \- here. 1\. Not a list.

* one
* two
  1. first
  2. second
- [x] done
- [ ] not done

| Name | Value |
| :---- | :---- |
| a\|b | *c* |

![][image1]

Quoted.

`+"```go\nfmt.Println(a_b)\n```"+`

---

`, text)
		raw, err := base64.StdEncoding.DecodeString(strings.TrimSuffix(picture, ">\n"))
		require.NoError(t, err)
		assert.Equal(t, "image/png", http.DetectContentType(raw))
		assert.Equal(t, got, exported(t, account, doc, "text/x-markdown"))
	})

	t.Run("text", func(t *testing.T) {
		t.Parallel()
		got := exported(t, account, doc, "text/plain")
		rest, ok := strings.CutPrefix(got, "\ufeffA_title\r\n")
		require.True(t, ok, "a byte order mark comes first")
		assert.NotContains(t, strings.ReplaceAll(rest, "\r\n", ""), "\n")
		assert.Contains(t, rest, "* two\r\n   1. first\r\n")
		assert.NotContains(t, rest, "https://example.org", "links are lost")
	})

	t.Run("HTML", func(t *testing.T) {
		t.Parallel()
		got := exported(t, account, doc, "text/html")
		assert.Contains(t, got, `https://www.google.com/url?q=https%3A%2F%2Fexample.org%2Fa_b%3Fc%3Dd&amp;sa=D`)
		assert.Contains(t, got, `<span class="c6 c1">bold</span>`)
		assert.Contains(t, got, `src="data:image/png;base64,`)
		assert.Equal(t, strings.Count(got, "<ul")+strings.Count(got, "<ol"), strings.Count(got, "</ul>")+strings.Count(got, "</ol>"))
		parts := unzipped(t, exported(t, account, doc, "application/zip"))
		assert.Contains(t, parts["Document.html"], `src="images/image1.png"`)
		assert.Contains(t, parts, "images/image1.png")
	})

	t.Run("Word", func(t *testing.T) {
		t.Parallel()
		parts := unzipped(t, exported(t, account, doc, docx))
		body := parts["word/document.xml"]
		assert.Contains(t, body, `<w:pStyle w:val="Heading1"/></w:pPr><w:r><w:rPr></w:rPr><w:t xml:space="preserve">A_title</w:t>`)
		assert.Contains(t, body, `<w:b/></w:rPr><w:t xml:space="preserve">bold</w:t>`)
		assert.Contains(t, body, `<w:ilvl w:val="1"/><w:numId w:val="2"/>`)
		assert.Contains(t, parts["word/_rels/document.xml.rels"], `Target="https://example.org/a_b?c=d" TargetMode="External"`)
		assert.Contains(t, parts, "[Content_Types].xml")
	})
}

// TestAnyTextComesBack writes Docs of any words and reads them from the Markdown that comes out of it.
func TestAnyTextComesBack(t *testing.T) {
	t.Parallel()
	s := newStand(t, drivetest.Options{})
	doc := drivetest.Must(s.AddDoc("", "Doc", ""))
	again := drivetest.Must(s.AddDoc("", "Again", ""))
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringMatching(`[A-Za-z*_#.0-9\-+!<>|~=\\\[\] ü語&]{1,30}`).Draw(t, "text")
		escaped := regexp.MustCompile(`[\\*_#.\-+!<>|~=\[\]&]`).ReplaceAllString(text, `\$0`)
		require.NoError(t, s.EditDoc(doc, "x"+escaped+"x"))
		got := drivetest.Must(s.Exported(doc, "text/markdown"))
		require.NoError(t, s.EditDoc(again, string(got)))
		require.Equal(t, drivetest.Must(s.Exported(doc, "text/plain")), drivetest.Must(s.Exported(again, "text/plain")))
		require.Equal(t, "\ufeffx"+text+"x", string(drivetest.Must(s.Exported(doc, "text/plain"))))
	})
}

// TestAnchors are named in the export of a Doc whose links lead to headings.
func TestAnchors(t *testing.T) {
	t.Parallel()
	s := newStand(t, drivetest.Options{})
	doc := drivetest.Must(s.AddDoc("", "Doc", "# The first part\n\n[up](#the-first-part)"))
	assert.Equal(t, "# **The first part** {#the-first-part}\n\n[up](#the-first-part)\n", string(drivetest.Must(s.Exported(doc, "text/markdown"))))
}

func TestSheets(t *testing.T) {
	t.Parallel()
	s := newStand(t, drivetest.Options{})
	sheet := drivetest.Must(s.AddSheet("", "Sheet",
		drivetest.Tab{Name: "First", Rows: [][]any{{"Name", "Number", "Yes"}, {"a, \"b\"", 1.5, true}, {nil, -2}}},
		drivetest.Tab{Name: "Second & last", Rows: [][]any{{"only here"}}, Hidden: true},
	))
	assert.Equal(t, "Name,Number,Yes\r\n\"a, \"\"b\"\"\",1.5,TRUE\r\n,-2,", exported(t, s.account(), sheet, "text/csv"))
	assert.Equal(t, "Name\tNumber\tYes\r\n\"a, \"\"b\"\"\"\t1.5\tTRUE\r\n\t-2\t", exported(t, s.account(), sheet, "text/tab-separated-values"))
	file, err := excelize.OpenReader(strings.NewReader(exported(t, s.account(), sheet, xlsx)))
	require.NoError(t, err)
	assert.Equal(t, []string{"First", "Second & last"}, file.GetSheetList())
	rows, err := file.GetRows("First")
	require.NoError(t, err)
	assert.Equal(t, [][]string{{"Name", "Number", "Yes"}, {`a, "b"`, "1.5", "TRUE"}, {"", "-2"}}, rows)
	visible, err := file.GetSheetVisible("Second & last")
	require.NoError(t, err)
	assert.False(t, visible)
	require.NoError(t, s.EditSheet(sheet, drivetest.Tab{Name: "New", Rows: [][]any{{"x"}}}))
	assert.Equal(t, "x", exported(t, s.account(), sheet, "text/csv"))
}

func TestSlides(t *testing.T) {
	t.Parallel()
	s := newStand(t, drivetest.Options{})
	slides := drivetest.Must(s.AddSlides("", "Slides",
		drivetest.Slide{Title: "Begin <here>", Body: "one\ntwo", Notes: "Say hello"}, drivetest.Slide{Title: "End"},
	))
	assert.Equal(t, "\ufeffBegin <here>\r\none\r\ntwo\r\nSay hello\r\n\r\nEnd", exported(t, s.account(), slides, "text/plain"))
	parts := unzipped(t, exported(t, s.account(), slides, pptx))
	assert.Contains(t, parts["ppt/slides/slide1.xml"], "<a:t>Begin &lt;here&gt;</a:t>")
	assert.Contains(t, parts["ppt/slides/slide1.xml"], "<a:t>one</a:t></a:r></a:p><a:p><a:r><a:t>two</a:t>")
	assert.Contains(t, parts["ppt/notesSlides/notesSlide1.xml"], "Say hello")
	assert.NotContains(t, parts, "ppt/notesSlides/notesSlide2.xml")
	assert.Contains(t, parts["ppt/_rels/presentation.xml.rels"], "slides/slide2.xml")
	require.NoError(t, s.EditSlides(slides, drivetest.Slide{Title: "New"}))
	assert.Equal(t, "\ufeffNew", exported(t, s.account(), slides, "text/plain"))
}

func TestRefusedExportsAndDownloads(t *testing.T) {
	t.Parallel()
	s := newStand(t, drivetest.Options{ExportLimit: 100})
	doc := drivetest.Must(s.AddDoc("", "Doc", "Short."))
	long := drivetest.Must(s.AddDoc("", "Long", strings.Repeat("word ", 40)))
	file := drivetest.Must(s.AddFile("", "file", "text/plain", []byte("text")))
	folder := drivetest.Must(s.AddFolder("", "folder"))
	form := drivetest.Must(s.AddNative("", "form", drivetest.MimeForm, nil))
	drawing := drivetest.Must(s.AddNative("", "drawing", drivetest.MimeDrawing, map[string][]byte{"image/svg+xml": []byte("<svg/>")}))
	account := s.account()
	export := func(id, mime string) error {
		got, err := account.Files.Export(id, mime).Download()
		if err == nil {
			_ = got.Body.Close()
		}
		return err
	}
	media := func(service *drive.Service, id string, acknowledge bool) error {
		got, err := service.Files.Get(id).AcknowledgeAbuse(acknowledge).Download()
		if err == nil {
			_ = got.Body.Close()
		}
		return err
	}
	requireStatus(t, export(long, "text/markdown"), 403, drivetest.ExportTooLarge)
	require.NoError(t, export(doc, "text/markdown"))
	requireStatus(t, export(file, "text/plain"), 403, drivetest.NotExportable)
	requireStatus(t, export(folder, "text/plain"), 403, drivetest.NotExportable)
	requireStatus(t, export(doc, "text/csv"), 400, "badRequest")
	requireStatus(t, export(form, "application/zip"), 400, "badRequest")
	requireStatus(t, export(doc, ""), 400, "required")
	notFound(t, export("1nothing", "text/plain"))
	assert.Equal(t, "<svg/>", exported(t, account, drawing, "image/svg+xml"))
	for _, id := range []string{doc, folder, form} {
		requireStatus(t, media(account, id, false), 403, drivetest.NotDownloadable)
	}

	require.NoError(t, s.SetAbusive(file, true))
	requireStatus(t, media(s.owner(), file, false), 403, drivetest.Abusive)
	requireStatus(t, media(account, file, true), 403, drivetest.Abusive)
	require.NoError(t, media(s.owner(), file, true))
	require.NoError(t, s.SetAbusive(file, false))
	for _, id := range []string{doc, file} {
		require.NoError(t, s.SetDownload(id, false))
		got, err := account.Files.Get(id).Fields("capabilities/canDownload", "copyRequiresWriterPermission").Do()
		require.NoError(t, err)
		assert.False(t, got.Capabilities.CanDownload)
		assert.True(t, got.CopyRequiresWriterPermission)
	}
	requireStatus(t, export(doc, "text/plain"), 403, drivetest.CannotExport)
	requireStatus(t, media(account, file, false), 403, drivetest.CannotDownload)
	require.NoError(t, media(s.owner(), file, false), "who may write may have it")
}

// TestExportLinks have no limit of size, and want the token like every request.
func TestExportLinks(t *testing.T) {
	t.Parallel()
	s := newStand(t, drivetest.Options{ExportLimit: 100})
	doc := drivetest.Must(s.AddDoc("", "Long", strings.Repeat("word ", 40)))
	got, err := s.account().Files.Get(doc).Fields("exportLinks").Do()
	require.NoError(t, err)
	require.Len(t, got.ExportLinks, 6)
	link := got.ExportLinks["text/plain"]
	require.Contains(t, link, s.URL()+"/docs.google.com/document/export?id="+doc)
	fetch := func(client *http.Client, link string) (int, string) {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, link, http.NoBody)
		require.NoError(t, err)
		answer, err := client.Do(r)
		require.NoError(t, err)
		defer func() { _ = answer.Body.Close() }()
		raw, err := io.ReadAll(answer.Body)
		require.NoError(t, err)
		return answer.StatusCode, string(raw)
	}
	status, text := fetch(s.HTTPClient(s.ServiceAccount()), link)
	assert.Equal(t, http.StatusOK, status)
	assert.Contains(t, text, strings.Repeat("word ", 3))
	status, _ = fetch(http.DefaultClient, link)
	assert.Equal(t, http.StatusUnauthorized, status)
	status, _ = fetch(s.HTTPClient(s.ServiceAccount()), strings.Replace(link, "=txt", "=pdf", 1))
	assert.Equal(t, http.StatusBadRequest, status)
	assert.Equal(t, 3, s.Count(drivetest.KindExportLink))
}

// TestRanges are parts of downloads.
func TestRanges(t *testing.T) {
	t.Parallel()
	s := newStand(t, drivetest.Options{})
	file := drivetest.Must(s.AddFile("", "file", "application/pdf", []byte("0123456789")))
	get := s.account().Files.Get(file)
	get.Header().Set("Range", "bytes=3-5")
	got, err := get.Download()
	require.NoError(t, err)
	defer func() { _ = got.Body.Close() }()
	raw, err := io.ReadAll(got.Body)
	require.NoError(t, err)
	assert.Equal(t, "345", string(raw))
	assert.Equal(t, http.StatusPartialContent, got.StatusCode)
	assert.Equal(t, "application/pdf", got.Header.Get("Content-Type"))
}

// TestLargePictures push a Doc over the limit of exports, as in Drive, while its text alone stays below.
func TestLargePictures(t *testing.T) {
	t.Parallel()
	s := newStand(t, drivetest.Options{})
	picture := base64.StdEncoding.EncodeToString(bytes.Repeat([]byte("\x89PNG\r\n\x1a\n"), 1<<20))
	doc := drivetest.Must(s.AddDoc("", "Doc", fmt.Sprintf("Text.\n\n![](data:image/png;base64,%s)", picture)))
	_, err := s.account().Files.Export(doc, "text/markdown").Download()
	requireStatus(t, err, 403, drivetest.ExportTooLarge)
	assert.Equal(t, "\ufeffText.\r\n", exported(t, s.account(), doc, "text/plain"))
}
