package sandbox

import (
	"archive/zip"
	"bytes"
	"fmt"
	"html"
	"strings"

	"github.com/loresync/loresync/internal/source/gdrive/drivetest"
)

var onboarding = []drivetest.Slide{
	{Title: "Welcome", Body: "Your laptop is on your desk\nYour buddy takes you to lunch", Notes: "Ask who has been here before."},
	{Title: "The first week", Body: "Read the handbook\nMeet your team", Notes: "Feedback goes to people@example.com."},
}

var equipment = []drivetest.Tab{
	{Name: "Laptops", Rows: [][]any{{"Owner", "Model", "Since"}, {"Mika", "X13", 2024}, {"Ken", "M3", 2025}}},
	{Name: "Monitors", Rows: [][]any{{"Room", "Inches"}, {"Sakura", 32}, {"Fuji", 27}}},
}

// seatsInShiftJIS is a table as spreadsheets in Japan write it: "席,名前" and two rows.
var seatsInShiftJIS = []byte("\x90\xc8,\x96\xbc\x91\x4f,\x95\x94\x8f\x90\r\n" +
	"A1,\x8d\xb2\x93\xa1\x82\xb3\x82\xf1,\x91\x8d\x96\xb1\x95\x94\r\n" +
	"A2,\x97\xe9\x96\xd8\x82\xb3\x82\xf1,\x89\x63\x8b\xc6\x95\x94\r\n")

// keysInUTF16 is "Keys go to reception." as Windows writes it, with its mark.
var keysInUTF16 = []byte("\xff\xfeK\x00e\x00y\x00s\x00 \x00g\x00o\x00 \x00t\x00o\x00 " +
	"\x00r\x00e\x00c\x00e\x00p\x00t\x00i\x00o\x00n\x00.\x00")

const (
	visitors  = "Visitors sign in at reception and wear a badge. Whoever invited them walks with them."
	fireDrill = "When the alarm rings, leave by the stairs and meet at the bicycle racks. Do not use the lift."
)

// openDocument is the smallest file of the kind that office programs open: one paragraph.
func openDocument(text string) []byte {
	var file bytes.Buffer
	archive := zip.NewWriter(&file)
	parts := []struct{ name, content string }{
		{"mimetype", mimeOdt},
		{"META-INF/manifest.xml", `<?xml version="1.0"?><manifest:manifest xmlns:manifest="urn:oasis:names:tc:opendocument:xmlns:manifest:1.0">` +
			`<manifest:file-entry manifest:full-path="/" manifest:media-type="` + mimeOdt + `"/>` +
			`<manifest:file-entry manifest:full-path="content.xml" manifest:media-type="text/xml"/></manifest:manifest>`},
		{"content.xml", `<?xml version="1.0"?><office:document-content xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0" ` +
			`xmlns:text="urn:oasis:names:tc:opendocument:xmlns:text:1.0" office:version="1.3"><office:body><office:text>` +
			`<text:h text:outline-level="1">Visitors</text:h><text:p>` + html.EscapeString(text) + `</text:p></office:text></office:body></office:document-content>`},
	}
	for _, part := range parts {
		w, err := archive.Create(part.name)
		if err == nil {
			_, err = w.Write([]byte(part.content))
		}
		if err != nil {
			panic(err) // a buffer takes everything
		}
	}
	if err := archive.Close(); err != nil {
		panic(err)
	}
	return file.Bytes()
}

// portableDocument is a PDF of one page with one line of text.
func portableDocument(text string) []byte {
	escaped := strings.NewReplacer(`\`, `\\`, "(", `\(`, ")", `\)`).Replace(text)
	content := "BT /F1 12 Tf 50 780 Td (" + escaped + ") Tj ET"
	objects := []string{
		"<< /Type /Catalog /Pages 2 0 R >>",
		"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
		"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 842 842] /Contents 4 0 R /Resources << /Font << /F1 5 0 R >> >> >>",
		fmt.Sprintf("<< /Length %d >>\nstream\n%s\nendstream", len(content), content),
		"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
	}
	var file bytes.Buffer
	file.WriteString("%PDF-1.4\n")
	offsets := make([]int, len(objects))
	for i, object := range objects {
		offsets[i] = file.Len()
		fmt.Fprintf(&file, "%d 0 obj\n%s\nendobj\n", i+1, object)
	}
	start := file.Len()
	fmt.Fprintf(&file, "xref\n0 %d\n0000000000 65535 f \n", len(objects)+1)
	for _, offset := range offsets {
		fmt.Fprintf(&file, "%010d 00000 n \n", offset)
	}
	fmt.Fprintf(&file, "trailer\n<< /Size %d /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF\n", len(objects)+1, start)
	return file.Bytes()
}
