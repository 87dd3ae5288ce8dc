package extract

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestWord_counts_lists_as_Word_does(t *testing.T) {
	t.Parallel()
	definitions := [][][2]string{
		{{"decimal", "%1."}, {"decimal", "%1.%2"}, {"upperRoman", "%3)"}},
		{{"decimalEnclosedCircle", "%1"}, {"none", ""}},
		{{"bullet", "•"}},
	}
	items := func(all ...string) string { return strings.Join(all, "") }
	for name, c := range map[string]struct{ body, want string }{
		"levels begin anew below each other": {
			items(para(item(1, 0), "a"), para(item(1, 1), "b"), para(item(1, 1), "c"), para(item(1, 0), "d"), para(item(1, 1), "e")),
			"1. a\n\n   - 1.1 b\n   - 1.2 c\n2. d\n\n   - 2.1 e\n",
		},
		"a level without its upper one":         {items(para(item(1, 2), "a"), para(item(1, 2), "b")), "- I) a\n- II) b\n"},
		"numbers that Markdown hasn't":          {items(para(item(2, 0), "a"), para(item(2, 0), "b")), "- ① a\n- ② b\n"},
		"a list without numbers is text":        {para(item(2, 1), "a"), "a\n"},
		"a list goes on behind other text":      {items(para(item(1, 0), "a"), para("", "text"), para(item(1, 0), "b")), "1. a\n\ntext\n\n2. b\n"},
		"an empty item isn't counted":           {items(para(item(1, 0), "a"), para(item(1, 0), " "), para(item(1, 0), "b")), "1. a\n2. b\n"},
		"a list that isn't there is text":       {para(item(9, 0), "a"), "a\n"},
		"no list, though the style has one":     {para(item(0, 0), "a"), "a\n"},
		"a level beyond all":                    {para(item(3, 77), "a"), "- a\n"},
		"a heading with a number":               {para(`<w:outlineLvl w:val="1"/>`+item(1, 0), "a"), "## 1. a\n"},
		"a heading with a bullet":               {para(`<w:outlineLvl w:val="1"/>`+item(3, 0), "a"), "## a\n"},
		"an outline level for body text":        {para(`<w:outlineLvl w:val="9"/>`, "a"), "a\n"},
		"an outline level deeper than Markdown": {para(`<w:outlineLvl w:val="8"/>`, "a"), "###### a\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := parsed(t, docx(c.body).with(parts{"word/numbering.xml": numberingXML(definitions...)}))
			assert.Equal(t, c.want, got.Text)
		})
	}
	t.Run("a level that doesn't say how it looks is numbered", func(t *testing.T) {
		t.Parallel()
		lvl := func(level, inside string) string { return `<w:lvl w:ilvl="` + level + `">` + inside + `</w:lvl>` }
		numbering := `<w:numbering ` + wordRoot + `><w:abstractNum w:abstractNumId="1">` +
			lvl("0", `<w:start w:val="3"/><w:numFmt w:val="decimal"/>`) + lvl("1", `<w:numFmt w:val="upperRoman"/>`) + lvl("2", "") +
			lvl("3", `<w:numFmt w:val="bullet"/>`) + lvl("4", `<w:numFmt w:val="decimal"/><w:lvlText w:val=""/>`) +
			`</w:abstractNum><w:num w:numId="1"><w:abstractNumId w:val="1"/></w:num></w:numbering>`
		body := items(para(item(1, 0), "a"), para(item(1, 0), "b"), para(item(1, 1), "c"), para(item(1, 2), "d"), para(item(1, 3), "e"), para(item(1, 4), "f"))
		got := parsed(t, docx(body).with(parts{"word/numbering.xml": numbering})).Text
		assert.Equal(t, "3. a\n4. b\n\n   - I. c\n\n     1. d\n\n        - e\n\nf\n", got)
	})
	t.Run("a second list of the same definition begins where it says", func(t *testing.T) {
		t.Parallel()
		numbering := strings.Replace(numberingXML(definitions...), "</w:numbering>",
			`<w:num w:numId="7"><w:abstractNumId w:val="1"/><w:lvlOverride w:ilvl="0"><w:startOverride w:val="5"/></w:lvlOverride></w:num></w:numbering>`, 1)
		body := items(para(item(1, 0), "a"), para("", "text"), para(item(7, 0), "b"), para(item(7, 0), "c"))
		assert.Equal(t, "1. a\n\ntext\n\n5. b\n6. c\n", parsed(t, docx(body).with(parts{"word/numbering.xml": numbering})).Text)
	})
}

func TestWord_reads_text_as_people_see_it(t *testing.T) {
	t.Parallel()
	field := func(kind string) string { return `<w:r><w:fldChar w:fldCharType="` + kind + `"/></w:r>` }
	for name, c := range map[string]struct{ body, want string }{
		"spaces between looks": {para("", run("<w:b/>", "a ")+run("<w:i/>", "b")+run("", " c")), "**a** *b* c\n"},
		"spaces within a look": {para("", run("<w:b/>", "a ")+run("<w:b/>", " ")+run("<w:b/>", "b")+run("", " ")+run("<w:b/>", " c ")), "**a b c**\n"},
		"both looks":           {para("", run("<w:b/><w:i/>", "a")), "***a***\n"},
		"a look that is off":   {para("", run(`<w:b w:val="false"/><w:i w:val="0"/>`, "a")), "a\n"},
		"tabs and hyphens":     {para("", `<w:r><w:t>a</w:t><w:tab/><w:t>b</w:t><w:noBreakHyphen/><w:t>c</w:t><w:softHyphen/></w:r>`), "a b-c\n"},
		"a page break":         {para("", `<w:r><w:t>a</w:t><w:br w:type="page"/></w:r>`) + para("", "b"), "a\n\nb\n"},
		"a field by what it shows": {para("", run("", "on ")+field("begin")+`<w:r><w:instrText>DATE</w:instrText>`+
			`</w:r>`+field("separate")+run("", "Monday")+field("end")), "on Monday\n"},
		"a field that never shows": {para("", run("", "a")+field("begin")+run("", "lost")) + para("", "b"), "a\n\nb\n"},
		"a simple field": {para("", `<w:fldSimple w:instr="HYPERLINK &quot;https://example.com&quot;">`+run("", "site")+
			`</w:fldSimple>`), "[site](https://example.com)\n"},
		"a formula":              {para("", `<m:oMathPara><m:oMath><m:r><m:t>E=mc</m:t></m:r><m:r><m:t>2</m:t></m:r></m:oMath></m:oMathPara>`), "E=mc2\n"},
		"what was moved":         {para("", `<w:moveFrom>`+run("", "old")+`</w:moveFrom><w:moveTo>`+run("", "new")+`</w:moveTo>`), "new\n"},
		"markup as text":         {para("", "&lt;b&gt;*x*&lt;/b&gt; [y](z) `c` _d_"), "&lt;b&gt;\\*x\\*&lt;/b&gt; \\[y](z) \\`c\\` \\_d_\n"},
		"characters for no text": {para("", "a\uFDD0b\uFDD1c\u00ADd"), "abcd\n"},
		"a table in a table": {"<w:tbl><w:tr><w:tc>" + para("", "a") + "<w:tbl><w:tr><w:tc>" + para("", "b") + "</w:tc><w:tc>" + para("", "c") +
			"</w:tc></w:tr></w:tbl></w:tc><w:tc>" + para("", "d") + "</w:tc></w:tr></w:tbl>", "| a b c | d |\n|---|---|\n"},
		"a frame around a text": {"<w:tbl><w:tr><w:tc>" + para("", "a") + para("", "b") + "</w:tc></w:tr></w:tbl>", "a b\n"},
		"lines in a cell": {"<w:tbl><w:tr><w:tc>" + para("", "<w:r><w:t>a</w:t><w:br/><w:t>b</w:t></w:r>") +
			"</w:tc><w:tc/></w:tr></w:tbl>", "| a b |  |\n|---|---|\n"},
		"a note that isn't there":   {para("", run("", "a")+`<w:r><w:footnoteReference w:id="5"/></w:r>`), "a[^1]\n\n[^1]:\n"},
		"a heading with a line end": {para(`<w:outlineLvl w:val="0"/>`, "<w:r><w:t>a</w:t><w:br/><w:t>b</w:t></w:r>"), "# a b\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			assert.Equal(t, c.want, parsed(t, docx(c.body)).Text)
		})
	}
}

func TestNumeral(t *testing.T) {
	t.Parallel()
	for form, want := range map[string][]string{
		"decimal":               {"1", "9", "10", "27", "104"},
		"decimalZero":           {"01", "09", "10", "27", "104"},
		"upperLetter":           {"A", "I", "J", "AA", "ZZZZ"},
		"lowerRoman":            {"i", "ix", "x", "xxvii", "civ"},
		"decimalEnclosedCircle": {"①", "⑨", "⑩", "27", "104"},
		"japaneseCounting":      {"一", "九", "十", "二十七", "百四"},
		"aiueo":                 {"ア", "ケ", "コ", "ヒ", "シシシ"},
		"iroha":                 {"イ", "リ", "ヌ", "オ", "チチチ"},
		"unheard of":            {"1", "9", "10", "27", "104"},
	} {
		for i, n := range []int{1, 9, 10, 27, 104} {
			assert.Equal(t, want[i], numeral(n, form), "%d as %s", n, form)
		}
		assert.Equal(t, "0", numeral(0, form))
		assert.Equal(t, "5000", numeral(5000, form))
	}
}
