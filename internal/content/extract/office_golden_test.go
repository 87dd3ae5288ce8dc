package extract

import (
	"strings"
	"testing"
	"time"

	"github.com/sebdah/goldie/v2"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/xuri/excelize/v2"
)

// TestOffice_golden has one file of each kind; its text is in testdata.
func TestOffice_golden(t *testing.T) {
	t.Parallel()
	for name, file := range map[string]func(testing.TB) []byte{
		"handbook.docx": handbookDocx,
		"rules.docx":    rulesDocx,
		"kickoff.pptx":  kickoffPptx,
		"budget.xlsx":   budgetXlsx,
		"minutes.odt":   minutesOdt,
		"stock.ods":     stockOds,
		"talk.odp":      talkOdp,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			result := extract(t, shared, "", name, file(t))
			require.True(t, result.Searchable, result.Reason)
			text := result.Text
			if result.Note != "" {
				text += "\n(note: " + result.Note + ")\n"
			}
			goldie.New(t, goldie.WithFixtureDir("testdata"), goldie.WithNameSuffix("")).Assert(t, name+".md", []byte(text))
		})
	}
}

func handbookDocx(tb testing.TB) []byte {
	tb.Helper()
	styles := `<w:styles ` + wordRoot + `>
		<w:style w:type="paragraph" w:styleId="a"><w:name w:val="Normal"/></w:style>
		<w:style w:type="paragraph" w:styleId="1"><w:name w:val="heading 1"/><w:basedOn w:val="a"/><w:pPr><w:outlineLvl w:val="0"/></w:pPr></w:style>
		<w:style w:type="paragraph" w:styleId="own"><w:name w:val="Our Section"/><w:basedOn w:val="1"/><w:pPr><w:outlineLvl w:val="1"/></w:pPr></w:style>
		<w:style w:type="paragraph" w:styleId="T"><w:name w:val="Title"/></w:style>
		<w:style w:type="paragraph" w:styleId="toc"><w:name w:val="toc 1"/></w:style>
		<w:style w:type="paragraph" w:styleId="lb"><w:name w:val="List Bullet"/><w:pPr><w:numPr><w:numId w:val="1"/></w:numPr></w:pPr></w:style>
	</w:styles>`
	style := func(id string) string { return `<w:pStyle w:val="` + id + `"/>` }
	cellOf := func(properties, text string) string {
		return `<w:tc><w:tcPr>` + properties + `</w:tcPr>` + para("", text) + `</w:tc>`
	}
	body := para(style("T"), run("<w:b/>", "Handbook")) +
		para(style("toc"), "Travel 3") +
		para(style("1"), "Travel") +
		para("", run("", "Book ")+run("<w:b/>", "ear")+run("<w:b/>", "ly")+run("", " and ")+run("<w:i/><w:b w:val=\"0\"/>", "cheaply")+run("", ".")+
			`<w:r><w:footnoteReference w:id="2"/></w:r>`) +
		para("", run("", "See ")+`<w:hyperlink r:id="web">`+run("", "the site")+`</w:hyperlink>`+run("", " or ")+
			`<w:hyperlink r:id="script">`+run("", "this")+`</w:hyperlink>`+run("", " or ")+
			`<w:r><w:fldChar w:fldCharType="begin"/></w:r><w:r><w:instrText> HYPERLINK "https://example.com/f" </w:instrText></w:r>`+
			`<w:r><w:fldChar w:fldCharType="separate"/></w:r>`+run("", "the form")+`<w:r><w:fldChar w:fldCharType="end"/></w:r>`+run("", ".")) +
		para(style("own"), "What to bring") +
		para(style("lb"), "passport") +
		para(item(1, 1), "valid for six months") +
		para(style("lb"), "ticket") +
		para(item(2, 0), "Ask") + para(item(2, 0), "Wait") + para(item(2, 1), "a day") + para(item(2, 1), "or two") +
		para("", "In between.") +
		para(item(2, 0), "Go") +
		para("", `<w:ins w:id="1">`+run("", "added ")+`</w:ins><w:del w:id="2"><w:r><w:delText>removed </w:delText></w:r></w:del>`+
			run("<w:vanish/>", "hidden ")+run("", "# not a heading, *not* strong")) +
		para("", `<w:r><mc:AlternateContent><mc:Choice Requires="wps"><w:drawing><wps:txbx><w:txbxContent>`+para("", "A text box")+
			`</w:txbxContent></wps:txbx></w:drawing></mc:Choice><mc:Fallback><w:pict><v:textbox><w:txbxContent>`+para("", "A text box")+
			`</w:txbxContent></v:textbox></w:pict></mc:Fallback></mc:AlternateContent></w:r>`) +
		`<w:tbl><w:tr>` + cellOf("", "Country") + cellOf(`<w:gridSpan w:val="2"/>`, "Rate") + `</w:tr>` +
		`<w:tr>` + cellOf(`<w:vMerge w:val="restart"/>`, "Japan") + cellOf("", "hotel|night") + cellOf("", "12,000") + `</w:tr>` +
		`<w:tr>` + cellOf(`<w:vMerge/>`, "") + cellOf("", "day") + cellOf("", "3,000") + `</w:tr></w:tbl>` +
		`<w:sdt><w:sdtContent>` + para("", run("", "The end")+`<w:r><w:br/></w:r>`+run("", "of it")+`<w:r><w:endnoteReference w:id="1"/>`+
		`</w:r>`) + `</w:sdtContent></w:sdt>`
	return docx(body).with(parts{
		"word/styles.xml": styles,
		"word/numbering.xml": numberingXML(
			[][2]string{{"bullet", "•"}, {"bullet", "-"}},
			[][2]string{{"decimal", "%1."}, {"lowerLetter", "%2)"}}),
		"word/footnotes.xml": `<w:footnotes ` + wordRoot + `><w:footnote w:id="0" w:type="separator">` + para("", "---") + `</w:footnote>` +
			`<w:footnote w:id="2">` + para("", "At least two weeks [see above].") + `</w:footnote></w:footnotes>`,
		"word/endnotes.xml": `<w:endnotes ` + wordRoot + `><w:endnote w:id="1">` + para("", "Last changed in May.") + `</w:endnote></w:endnotes>`,
	}).bytes(tb)
}

func rulesDocx(tb testing.TB) []byte {
	tb.Helper()
	heading := func(level string) string { return `<w:outlineLvl w:val="` + level + `"/>` }
	body := para(heading("0")+item(1, 0), "総則") +
		para(item(1, 1), "この規則は、社員の就業に関する事項を定める。") +
		para(item(1, 1), "<w:r><w:ruby><w:rt>"+run("", "きゅうか")+"</w:rt><w:rubyBase>"+run("", "休暇")+"</w:rubyBase></w:ruby></w:r>"+run("", "は事前に申請する。")) +
		para(item(1, 2), "年次有給休暇") + para(item(1, 2), "特別休暇") +
		para(heading("0")+item(1, 0), "賃金") +
		para(item(1, 1), "賃金は"+"月末に支払う。") +
		para(item(2, 0), "甲") + para(item(2, 0), "乙")
	return docx(body).with(parts{"word/numbering.xml": numberingXML(
		[][2]string{{"japaneseCounting", "第%1章"}, {"decimal goes on", "第%2条"}, {"decimal", "（%3）"}},
		[][2]string{{"aiueo", "%1．"}},
	)}).bytes(tb)
}

func kickoffPptx(tb testing.TB) []byte {
	tb.Helper()
	table := `<p:graphicFrame><a:graphic><a:graphicData><a:tbl>` +
		`<a:tr><a:tc><a:txBody>` + drawn("", "Phase") + `</a:txBody></a:tc><a:tc><a:txBody>` + drawn("", "時期") + `</a:txBody></a:tc></a:tr>` +
		`<a:tr><a:tc><a:txBody>` + drawn("", "Pilot") + `</a:txBody></a:tc><a:tc><a:txBody>` + drawn("", "4月") + `</a:txBody></a:tc></a:tr>` +
		`</a:tbl></a:graphicData></a:graphic></p:graphicFrame>`
	diagram := `<p:graphicFrame><a:graphic><a:graphicData><dgm:relIds r:dm="d"/></a:graphicData></a:graphic></p:graphicFrame>`
	return pptx(
		deckSlide{shapes: shape("subTitle", drawn("", "キックオフ")) + shape("ctrTitle", drawn("", "Project")+
			drawn("", "Aurora")), notes: "Welcome everybody._x000B_Then begin."},
		deckSlide{shapes: shape("title", drawn("", "Goals &amp; plan")) +
			shape("body", drawn("", "Faster")+drawn(`<a:pPr lvl="1"/>`, "twice")+drawn(`<a:pPr><a:buNone/></a:pPr>`, "Plain words")+
				drawn(`<a:pPr><a:buAutoNum type="arabicPeriod"/></a:pPr>`, "first")+drawn(`<a:pPr><a:buAutoNum type="arabicPeriod"/></a:pPr>`, "second")) +
			`<p:grpSp>` + shape("", `<a:p><a:r><a:rPr b="1"/><a:t>Bold</a:t></a:r><a:r><a:rPr><a:hlinkClick r:id="web"/></a:rPr><a:t> link</a:t></a:r>`+
			`</a:p>`) + `</p:grpSp>` +
			table + diagram + shape("sldNum", drawn("", "2"))},
		deckSlide{shapes: shape("title", drawn("", "Not for you")), attributes: `show="0"`},
		deckSlide{shapes: shape("", drawn("", "質疑応答"))},
	).with(parts{"ppt/diagrams/data1.xml": `<dgm:dataModel ` + slideRoot + `><dgm:ptLst><dgm:pt><dgm:t><a:bodyPr/>` + drawn("", "Plan") +
		`</dgm:t></dgm:pt><dgm:pt><dgm:t>` + drawn("", "Do") + `</dgm:t></dgm:pt></dgm:ptLst></dgm:dataModel>`}).bytes(tb)
}

func budgetXlsx(tb testing.TB) []byte {
	tb.Helper()
	f := excelize.NewFile()
	set := func(sheet, cell string, value any, format string) {
		tb.Helper()
		require.NoError(tb, f.SetCellValue(sheet, cell, value))
		if format != "" {
			style, err := f.NewStyle(&excelize.Style{CustomNumFmt: &format})
			require.NoError(tb, err)
			require.NoError(tb, f.SetCellStyle(sheet, cell, cell, style))
		}
	}
	require.NoError(tb, f.SetSheetName("Sheet1", "予算 2026"))
	day := time.Date(2026, 5, 1, 0, 0, 0, 0, time.UTC)
	for i, header := range []string{"部門", "Item|kind", "", "Amount", "Share", "Due", "和暦", "Done"} {
		cell, err := excelize.CoordinatesToCellName(i+2, 3)
		require.NoError(tb, err)
		set("予算 2026", cell, header, "")
	}
	set("予算 2026", "B4", "営業", "")
	require.NoError(tb, f.MergeCell("予算 2026", "B4", "B5"))
	set("予算 2026", "C4", "Travel", "")
	set("予算 2026", "E4", 1234567.5, "#,##0.00")
	set("予算 2026", "F4", 0.256, "0.0%")
	set("予算 2026", "G4", day, "yyyy/mm/dd")
	set("予算 2026", "H4", 46143, `[$-411]ggge"年"m"月"d"日"`)
	set("予算 2026", "I4", true, "")
	set("予算 2026", "C5", "Hotel\nand meals", "")
	set("予算 2026", "E5", 0.1+0.2, "")
	set("予算 2026", "F5", 1.0/3, "")
	set("予算 2026", "G5", day, "")
	set("予算 2026", "H5", 123456789012, "")
	short, err := f.NewStyle(&excelize.Style{NumFmt: 14})
	require.NoError(tb, err)
	require.NoError(tb, f.SetCellStyle("予算 2026", "G5", "G5", short))
	require.NoError(tb, f.SetCellFormula("予算 2026", "I5", "=1+1"))
	for _, sheet := range []string{"Empty", "Secret", "Notes"} {
		_, err := f.NewSheet(sheet)
		require.NoError(tb, err)
	}
	set("Secret", "A1", "salaries", "")
	require.NoError(tb, f.SetSheetVisible("Secret", false))
	require.NoError(tb, f.SetCellRichText("Notes", "A1", []excelize.RichTextRun{{Text: "rich "}, {Text: "text", Font: &excelize.Font{Bold: true}}}))
	set("Notes", "A2", "<b> and _x0041_", "")
	file, err := f.WriteToBuffer()
	require.NoError(tb, err)
	return file.Bytes()
}

func minutesOdt(tb testing.TB) []byte {
	tb.Helper()
	styles := `<style:style style:name="T1" style:family="text"><style:text-properties fo:font-weight="bold"/></style:style>` +
		`<style:style style:name="T2" style:family="text"><style:text-properties fo:font-style="italic"/></style:style>` +
		`<text:list-style style:name="L1"><text:list-level-style-number text:level="1" style:num-format="1"/>` +
		`<text:list-level-style-bullet text:level="2"/></text:list-style>`
	body := `<text:tracked-changes><text:changed-region><text:deletion><text:p>gone</text:p></text:deletion></text:changed-region></text:tracked-changes>` +
		`<text:table-of-content><text:index-body><text:p>Minutes 1</text:p></text:index-body></text:table-of-content>` +
		`<text:h text:outline-level="1">議事録</text:h>` +
		`<text:p>Two<text:s text:c="3"/>of <text:span text:style-name="T1">us</text:span><text:span text:style-name="T2"> met</text:span> at ` +
		`<text:a xlink:href="https://example.com/">the office</text:a>.<text:note text:note-class="footnote"><text:note-citation>1</text:note-citation>` +
		`<text:note-body><text:p>Third floor.</text:p></text:note-body></text:note><office:annotation><text:p>a comment</text:p></office:annotation></text:p>` +
		`<text:section><text:h text:outline-level="2">決定事項</text:h></text:section>` +
		`<text:list text:style-name="L1"><text:list-item><text:p>予算を承認する</text:p><text:list><text:list-item><text:p>by May</text:p></text:list-item>` +
		`</text:list></text:list-item>` +
		`<text:list-item><text:p>Hire</text:p></text:list-item></text:list><text:p>Later:</text:p>` +
		`<text:list text:style-name="L1" text:continue-numbering="true"><text:list-item><text:p>Review</text:p></text:list-item></text:list>` +
		`<text:p>A frame: <draw:frame><draw:text-box><text:p>framed</text:p></draw:text-box></draw:frame></text:p>` +
		`<table:table><table:table-header-rows><table:table-row><table:table-cell><text:p>Who</text:p></table:table-cell><table:table-cell>` +
		`<text:p>What</text:p></table:table-cell></table:table-row></table:table-header-rows>` +
		`<table:table-row><table:table-cell table:number-rows-spanned="2"><text:p>田中</text:p></table:table-cell><table:table-cell><text:p>plan</text:p>` +
		`<text:p>budget</text:p></table:table-cell></table:table-row>` +
		`<table:table-row><table:covered-table-cell/><table:table-cell><text:p>report</text:p></table:table-cell></table:table-row></table:table>`
	return openFileOf(styles, `<office:text>`+body+`</office:text>`).bytes(tb)
}

func stockOds(tb testing.TB) []byte {
	tb.Helper()
	styles := `<style:style style:name="ta2" style:family="table"><style:table-properties table:display="false"/></style:style>`
	cells := func(texts ...string) string {
		var out strings.Builder
		for _, text := range texts {
			out.WriteString(`<table:table-cell>`)
			if text != "" {
				out.WriteString(`<text:p>` + text + `</text:p>`)
			}
			out.WriteString(`</table:table-cell>`)
		}
		return out.String() + `<table:table-cell table:number-columns-repeated="16000"/>`
	}
	return openFileOf(styles, `<office:spreadsheet>`+
		`<table:table table:name="在庫"><table:table-column/><table:table-row>`+cells("品名", "", "Count", "Checked")+`</table:table-row>`+
		`<table:table-row><table:table-cell table:number-rows-spanned="2"><office:annotation><text:p>a comment</text:p></office:annotation>`+
		`<text:p>紙</text:p></table:table-cell>`+cells("", "1,200", "2026-05-01")+`</table:table-row>`+
		`<table:table-row><table:covered-table-cell/>`+cells("", "7", "")+`</table:table-row>`+
		`<table:table-row table:number-rows-repeated="1048000"><table:table-cell table:number-columns-repeated="16384"/></table:table-row></table:table>`+
		`<table:table table:name="Hidden" table:style-name="ta2"><table:table-row>`+cells("x")+`</table:table-row></table:table>`+
		`</office:spreadsheet>`).bytes(tb)
}

func talkOdp(tb testing.TB) []byte {
	tb.Helper()
	frame := func(class, text string) string {
		return `<draw:frame presentation:class="` + class + `"><draw:text-box><text:p>` + text + `</text:p></draw:text-box></draw:frame>`
	}
	return openFileOf(`<style:style style:name="dp2" style:family="drawing-page"><style:drawing-page-properties presentation:visibility="hidden"/>`+
		`</style:style>`,
		`<office:presentation><draw:page draw:name="page1">`+frame("title", "発表")+
			`<draw:frame presentation:class="outline"><draw:text-box><text:list><text:list-item><text:p>one</text:p></text:list-item><text:list-item>`+
			`<text:p>two</text:p></text:list-item></text:list></draw:text-box></draw:frame>`+
			frame("page-number", "1")+`<presentation:notes>`+frame("page", "")+frame("notes", "Speak slowly.")+`</presentation:notes></draw:page>`+
			`<draw:page draw:style-name="dp2">`+frame("title", "Hidden")+`</draw:page>`+
			`<draw:page>`+frame("title", "Thanks")+`</draw:page></office:presentation>`).bytes(tb)
}

func TestOffice_says_nothing_of_files_without_text(t *testing.T) {
	t.Parallel()
	hidden := excelize.NewFile()
	_, err := hidden.NewSheet("x")
	require.NoError(t, err)
	require.NoError(t, hidden.SetCellValue("x", "A1", "secret"))
	require.NoError(t, hidden.SetSheetVisible("x", false))
	file, err := hidden.WriteToBuffer()
	require.NoError(t, err)
	for name, c := range map[string]struct {
		file []byte
		want Result
	}{
		"a.docx": {docx("").bytes(t), Result{Reason: ReasonEmpty}},
		"a.pptx": {pptx(deckSlide{}, deckSlide{}).bytes(t), Result{Reason: ReasonEmpty, Pages: 2}},
		"a.xlsx": {file.Bytes(), Result{Reason: ReasonEmpty, Note: "left out: 1 hidden sheet"}},
		"a.odt":  {openFileOf("", "<office:text/>").bytes(t), Result{Reason: ReasonEmpty}},
		"b.docx": {nil, Result{Reason: ReasonEmpty}},
	} {
		assert.Equal(t, c.want, extract(t, shared, "", name, c.file), name)
	}
}
