package extract

import (
	"strings"
	"testing"
	"unicode/utf8"
)

// fuzzRunes is the length of the longest text when fuzzing, so that bounds are met.
const fuzzRunes = 2000

// sound parses a file and fails if the reply breaks a promise. A panic would end the child.
func sound(t *testing.T, file []byte) {
	t.Helper()
	r := parseOffice(order{job: job{Format: formatOffice, MaxPages: 5, MaxRunes: fuzzRunes}, file: hold(file)})
	switch {
	case r.Searchable == (r.Reason != ""):
		t.Fatalf("searchable is %v, and the reason is %q", r.Searchable, r.Reason)
	case r.Searchable == (strings.TrimSpace(r.Text) == ""):
		t.Fatalf("searchable is %v, and the text is %q", r.Searchable, r.Text)
	case !utf8.ValidString(r.Text) || strings.ContainsAny(r.Text, "\x00"+string(noteOpen)+string(noteClose)):
		t.Fatalf("the text is no text: %q", r.Text)
	case utf8.RuneCountInString(r.Text) > fuzzRunes:
		t.Fatalf("the text has %d characters", utf8.RuneCountInString(r.Text))
	}
}

// inside gives the content of the first element of a name, with what is around it.
func inside(xml, name string) string {
	_, rest, _ := strings.Cut(xml, "<"+name)
	_, rest, _ = strings.Cut(rest, ">")
	content, _, _ := strings.Cut(rest, "</"+name+">")
	return content
}

func FuzzWord(f *testing.F) {
	for _, file := range [][]byte{handbookDocx(f), rulesDocx(f)} {
		a, err := openArchive(hold(file))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(inside(partOf(f, a, "word/document.xml"), "w:body"), partOf(f, a, "word/numbering.xml"))
	}
	f.Fuzz(func(t *testing.T, body, numbering string) {
		sound(t, docx(body).with(parts{"word/numbering.xml": numbering, "word/footnotes.xml": numbering}).bytes(t))
	})
}

func FuzzPowerPoint(f *testing.F) {
	a, err := openArchive(hold(kickoffPptx(f)))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(inside(partOf(f, a, "ppt/slides/slide3.xml"), "p:spTree"), partOf(f, a, "ppt/diagrams/data1.xml"))
	f.Fuzz(func(t *testing.T, shapes, diagram string) {
		sound(t, pptx(deckSlide{shapes: shapes, notes: shapes}).with(parts{"ppt/diagrams/data1.xml": diagram}).bytes(t))
	})
}

func FuzzExcel(f *testing.F) {
	f.Add(`<row r="1"><c r="A1" s="1"><v>46143</v></c><c t="s"><v>0</v></c></row><row><c t="inlineStr"><is><t>x</t></is></c></row>`,
		`<mergeCells><mergeCell ref="A1:B3"/></mergeCells>`, `#,##0.00;[Red]-0`, `<si><t>a</t></si><si><r><t>b</t></r></si>`)
	f.Add(`<row><c s="1"><v>-1.5e300</v></c><c r="XFD1" t="d"><v>2026-05-01T00:00:00</v></c></row>`, "", `[$-411]ggge"年"`, "")
	f.Add(`<row><c s="1"><v>0.75</v></c></row>`, "", `# ?/?`, "")
	f.Fuzz(func(t *testing.T, rows, behind, format, texts string) {
		p := workbookOf(rows)
		p["xl/worksheets/sheet1.xml"] = strings.Replace(p["xl/worksheets/sheet1.xml"], "</sheetData>", "</sheetData>"+behind, 1)
		sound(t, p.with(parts{
			"xl/sharedStrings.xml": "<sst>" + texts + "</sst>",
			"xl/styles.xml": `<styleSheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><numFmts><numFmt numFmtId="164" formatCode="` +
				escapeXML(format) + `"/></numFmts><cellXfs><xf numFmtId="0"/><xf numFmtId="164"/></cellXfs></styleSheet>`,
		}).bytes(t))
	})
}

func FuzzOpenDocument(f *testing.F) {
	for _, file := range [][]byte{minutesOdt(f), stockOds(f), talkOdp(f)} {
		a, err := openArchive(hold(file))
		if err != nil {
			f.Fatal(err)
		}
		content := partOf(f, a, openContent)
		f.Add(inside(content, "office:automatic-styles"), inside(content, "office:body"))
	}
	f.Fuzz(func(t *testing.T, styles, body string) { sound(t, openFileOf(styles, body).bytes(t)) })
}

func FuzzArchive(f *testing.F) {
	f.Add(handbookDocx(f))
	f.Add(kickoffPptx(f))
	f.Add(budgetXlsx(f))
	f.Add(minutesOdt(f))
	f.Add([]byte(openingOLE))
	f.Fuzz(func(t *testing.T, file []byte) { sound(t, file) })
}
