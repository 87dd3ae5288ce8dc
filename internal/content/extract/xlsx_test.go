package extract

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/xuri/excelize/v2"
)

func TestExcel_shows_cells_as_a_reader_sees_them(t *testing.T) {
	t.Parallel()
	styles := `<styleSheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><numFmts count="3">` +
		`<numFmt numFmtId="164" formatCode="#,##0&quot;円&quot;;[Red]-#,##0&quot;円&quot;"/><numFmt numFmtId="165" formatCode=";;;"/>` +
		`<numFmt numFmtId="166" formatCode="[h]:mm"/></numFmts><cellXfs>`
	styles += `<xf numFmtId="0"/><xf numFmtId="164"/><xf numFmtId="165"/><xf numFmtId="14"/><xf numFmtId="9"/><xf numFmtId="27"/>` +
		`<xf numFmtId="21"/><xf numFmtId="166"/><xf numFmtId="49"/><xf numFmtId="999"/></cellXfs></styleSheet>`
	shared := `<sst><si><t>plain</t></si><si><r><t>ri</t></r><r><rPr/><t xml:space="preserve">ch </t></r><rPh><t>よみ</t></rPh><phoneticPr/></si><si>` +
		`<t>_x0041__x000D_|_x005F_x0041_</t></si></sst>`
	for name, c := range map[string]struct{ cell, want string }{
		"a shared text":                  {`<c t="s"><v>0</v></c>`, "plain"},
		"pieces, without the reading":    {`<c t="s"><v>1</v></c>`, "rich"},
		"escaped characters":             {`<c t="s"><v>2</v></c>`, `A\|_x0041_`},
		"a text that isn't there":        {`<c t="s"><v>77</v></c><c t="str"><v>x</v></c>`, "x"},
		"a text in place":                {`<c t="inlineStr"><is><t>in place</t></is></c>`, "in place"},
		"what a formula came to":         {`<c t="str"><f>A1&amp;"b"</f><v>ab</v></c>`, "ab"},
		"an error":                       {`<c t="e"><f>1/0</f><v>#DIV/0!</v></c>`, "#DIV/0!"},
		"yes":                            {`<c t="b"><v>1</v></c>`, "TRUE"},
		"no":                             {`<c t="b"><v>0</v></c>`, "FALSE"},
		"a whole number":                 {`<c><v>42</v></c>`, "42"},
		"a long number":                  {`<c><v>4901234567894</v></c>`, "4901234567894"},
		"a number as it is computed":     {`<c><v>0.30000000000000004</v></c>`, "0.3"},
		"a number in the other notation": {`<c><v>1.2E-3</v></c>`, "0.0012"},
		"a tiny number":                  {`<c><v>1.5E-20</v></c>`, "1.5E-20"},
		"a huge number":                  {`<c><v>1.5E+20</v></c>`, "1.5E+20"},
		"money":                          {`<c s="1"><v>1234567</v></c>`, "1,234,567円"},
		"less than nothing":              {`<c s="1"><v>-5</v></c>`, "-5円"},
		"what isn't to be seen":          {`<c s="2"><v>5</v></c><c t="str"><v>x</v></c>`, "x"},
		"a date":                         {`<c s="3"><v>46143</v></c>`, "2026-05-01"},
		"a percentage":                   {`<c s="4"><v>0.5</v></c>`, "50%"},
		"a Japanese date":                {`<c s="5"><v>46143</v></c>`, "R8.5.1"},
		"a time":                         {`<c s="6"><v>0.75</v></c>`, "18:00:00"},
		"hours":                          {`<c s="7"><v>1.5</v></c>`, "36:00"},
		"a number kept as a text":        {`<c s="8"><v>7</v></c>`, "7"},
		"a format that isn't there":      {`<c s="9"><v>7</v></c>`, "7"},
		"a style that isn't there":       {`<c s="500"><v>7</v></c>`, "7"},
		"a date written as one":          {`<c t="d" s="3"><v>2026-05-01T00:00:00</v></c>`, "2026-05-01"},
		"no number at all":               {`<c s="1"><v>&lt;seven&gt;</v></c>`, `\<seven>`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := parsed(t, workbookOf(row(1, c.cell)).with(parts{"xl/styles.xml": styles, "xl/sharedStrings.xml": shared}))
			assert.Equal(t, "## S\n\n| "+c.want+" |\n| --- |\n", got.Text)
		})
	}
	t.Run("dates of the Macintosh", func(t *testing.T) {
		t.Parallel()
		p := workbookOf(row(1, `<c s="3"><v>44681</v></c>`)).with(parts{"xl/styles.xml": styles})
		p["xl/workbook.xml"] = strings.Replace(p["xl/workbook.xml"], "<sheets>", `<workbookPr date1904="1"/><sheets>`, 1)
		assert.Contains(t, parsed(t, p).Text, "2026-05-01")
	})
	t.Run("without styles, or with broken ones", func(t *testing.T) {
		t.Parallel()
		assert.Contains(t, parsed(t, workbookOf(row(1, `<c s="3"><v>46143</v></c>`))).Text, "46143")
		broken := styles[:len(styles)-20]
		assert.Equal(t, ReasonCorrupt, parsed(t, workbookOf(row(1, `<c s="3"><v>46143</v></c>`)).with(parts{"xl/styles.xml": broken})).Reason)
	})
}

// parsed reads an office file in this process.
func parsed(tb testing.TB, p parts) reply {
	tb.Helper()
	return parseOffice(order{job: job{Format: formatOffice, MaxPages: DefaultMaxPages, MaxRunes: DefaultMaxRunes}, file: hold(p.bytes(tb))})
}

func TestExcel_keeps_tables_that_can_be_read(t *testing.T) {
	t.Parallel()
	text := func(place, words string) string { return `<c r="` + place + `" t="str"><v>` + words + `</v></c>` }
	t.Run("without what is empty", func(t *testing.T) {
		t.Parallel()
		got := parsed(t, workbookOf(row(1, `<c r="A1" s="1"/>`)+row(3, text("CV3", "b")+text("B3", "a"))+
			row(7, text("B7", " "))+row(1_000_000, text("CV9", " ")+text("B9", "c"))))
		assert.Equal(t, "## S\n\n| a | b |\n| --- | --- |\n| c |  |\n", got.Text)
		assert.False(t, got.Truncated)
	})
	t.Run("with merged cells said in each row, once in each", func(t *testing.T) {
		t.Parallel()
		p := workbookOf(row(1, text("A1", "k")+text("B1", "both")+text("C1", "x")) + row(2, text("A2", "one")+text("C2", "y")) + row(3, text("C3", "z")) +
			row(4, text("C4", "last")))
		p["xl/worksheets/sheet1.xml"] = strings.Replace(p["xl/worksheets/sheet1.xml"], "</sheetData>",
			`</sheetData><mergeCells><mergeCell ref="A2:B3"/><mergeCell ref="B1:B2"/><mergeCell ref="nonsense"/><mergeCell ref="Z1:Z9"/></mergeCells>`, 1)
		assert.Equal(t, "## S\n\n| k | both | x |\n| --- | --- | --- |\n| one | both | y |\n| one |  | z |\n|  |  | last |\n", parsed(t, p).Text)
	})
	t.Run("of as many columns as are kept", func(t *testing.T) {
		t.Parallel()
		var wide strings.Builder
		for i := range 120 {
			fmt.Fprintf(&wide, `<c t="str"><v>%d</v></c>`, i+1)
		}
		got := parsed(t, workbookOf(row(1, wide.String())))
		assert.True(t, got.Truncated)
		assert.Equal(t, "left out: 20 columns", got.Note)
		assert.Contains(t, got.Text, "| 99 | 100 |\n|")
		assert.Contains(t, got.Text, "|\n\n*Left out: 20 more columns.*\n")
	})
	t.Run("of as many rows as are kept", func(t *testing.T) {
		t.Parallel()
		var rows strings.Builder
		for i := range 6001 {
			rows.WriteString(row(2*i+1, text(fmt.Sprintf("A%d", 2*i+1), "r")) + row(2*i+2, `<c s="1"/>`))
		}
		got := parsed(t, workbookOf(rows.String()))
		assert.True(t, got.Truncated)
		assert.Equal(t, "left out: 1,001 rows", got.Note)
		assert.Equal(t, "## S\n\n| r |\n| --- |\n"+strings.Repeat("| r |\n", maxRows-1)+"\n*Left out: 1,001 more rows.*\n", got.Text)
	})
	t.Run("of the sheets that there is room for", func(t *testing.T) {
		t.Parallel()
		f := excelize.NewFile()
		for _, sheet := range []string{"Sheet1", "Second", "# Third"} {
			_, err := f.NewSheet(sheet)
			require.NoError(t, err)
			for i := range 30 {
				require.NoError(t, f.SetCellValue(sheet, fmt.Sprintf("A%d", i+1), strings.Repeat("語", 20)))
			}
		}
		file, err := f.WriteToBuffer()
		require.NoError(t, err)
		read := func(runes int) reply {
			return parseOffice(order{job: job{Format: formatOffice, MaxRunes: runes}, file: hold(file.Bytes())})
		}
		all := read(DefaultMaxRunes)
		assert.Contains(t, all.Text, "## \\# Third\n")
		assert.False(t, all.Truncated)
		some := read(1100)
		assert.True(t, some.Truncated)
		assert.Equal(t, "left out: 26 rows; left out: 1 sheet", some.Note)
		assert.Contains(t, some.Text, "|\n\n*Left out: 26 more rows.*\n\n*Left out: 1 more sheet.*\n")
	})
}

func TestExcel_goes_by_no_nonsense(t *testing.T) {
	t.Parallel()
	for name, rows := range map[string]string{
		"rows beyond all sheets":  `<row r="99999999999999999999"><c r="A1" t="str"><v>x</v></c></row>`,
		"cells without a place":   `<row><c r="??" t="str"><v>x</v></c></row>`,
		"cells beyond all sheets": `<row><c r="ZZZZZZ9" t="str"><v>x</v></c></row>`,
		"rows that go back":       row(5, `<c r="A5" t="str"><v>x</v></c>`) + row(1, `<c r="A1"/>`),
	} {
		assert.Equal(t, "## S\n\n| x |\n| --- |\n", parsed(t, workbookOf(rows)).Text, name)
	}
}
