package drivetest

import (
	"fmt"
	"strings"
)

// docx writes a Doc as a file of Word: headings, lists, tables, links and what is bold or italic.
func (d *document) docx() ([]byte, error) {
	w := &docxWriter{links: [][2]string{{"styles", "styles.xml"}, {"numbering", "numbering.xml"}}}
	for _, p := range d.paragraphs {
		w.block(p)
	}
	body := xmlHead + `<w:document xmlns:w="` + wordSpace + `" xmlns:r="` + officeRelations + `"><w:body>` + w.out.String() +
		"<w:sectPr/></w:body></w:document>"
	return zipUp([]zipped{
		contentTypes(
			[2]string{"word/document.xml", "wordprocessingml.document.main"}, [2]string{"word/styles.xml", "wordprocessingml.styles"},
			[2]string{"word/numbering.xml", "wordprocessingml.numbering"},
		),
		relations("_rels/.rels", [2]string{"officeDocument", "word/document.xml"}),
		{"word/document.xml", body},
		{"word/styles.xml", docxStyles()},
		{"word/numbering.xml", docxNumbering()},
		relations("word/_rels/document.xml.rels", w.links...),
	})
}

func docxStyles() string {
	var out strings.Builder
	fmt.Fprintf(&out, `%s<w:styles xmlns:w="%s">`, xmlHead, wordSpace)
	for level := 1; level <= 6; level++ {
		fmt.Fprintf(&out, `<w:style w:type="paragraph" w:styleId="Heading%d"><w:name w:val="heading %d"/></w:style>`, level, level)
	}
	return out.String() + "</w:styles>"
}

// docxNumbering has bullets as list 1 and numbers as list 2.
func docxNumbering() string {
	var out strings.Builder
	fmt.Fprintf(&out, `%s<w:numbering xmlns:w="%s">`, xmlHead, wordSpace)
	for i, format := range []string{"bullet", "decimal"} {
		fmt.Fprintf(&out, `<w:abstractNum w:abstractNumId="%d">`, i)
		for level := range 9 {
			fmt.Fprintf(&out, `<w:lvl w:ilvl="%d"><w:start w:val="1"/><w:numFmt w:val="%s"/></w:lvl>`, level, format)
		}
		out.WriteString("</w:abstractNum>")
	}
	for i := range 2 {
		fmt.Fprintf(&out, `<w:num w:numId="%d"><w:abstractNumId w:val="%d"/></w:num>`, i+1, i)
	}
	return out.String() + "</w:numbering>"
}

type docxWriter struct {
	out   strings.Builder
	links [][2]string
}

func (w *docxWriter) block(p paragraph) {
	switch p.style {
	case heading:
		w.paragraph(fmt.Sprintf(`<w:pStyle w:val="Heading%d"/>`, p.level), p.runs)
	case bullet, checkbox:
		w.paragraph(listProperties(p.level, 1), p.runs)
	case numbered:
		w.paragraph(listProperties(p.level, 2), p.runs)
	case code:
		for line := range strings.SplitSeq(strings.TrimSuffix(p.text, "\n"), "\n") {
			w.paragraph("", []run{{text: line, mono: true}})
		}
	case table:
		w.table(p)
	case rule:
		w.paragraph("", nil)
	case plainText:
		w.paragraph("", p.runs)
	}
}

func listProperties(level, list int) string {
	return fmt.Sprintf(`<w:numPr><w:ilvl w:val="%d"/><w:numId w:val="%d"/></w:numPr>`, level-1, list)
}

func (w *docxWriter) paragraph(properties string, runs []run) {
	w.out.WriteString("<w:p>")
	if properties != "" {
		w.out.WriteString("<w:pPr>" + properties + "</w:pPr>")
	}
	for _, r := range runs {
		w.run(r)
	}
	w.out.WriteString("</w:p>")
}

func (w *docxWriter) run(r run) {
	text := fmt.Sprintf(`<w:t xml:space="preserve">%s</w:t>`, escaped(r.text))
	if r.broken {
		text = "<w:br/>"
	}
	var properties strings.Builder
	for _, property := range []struct {
		text string
		has  bool
	}{{"<w:b/>", r.bold}, {"<w:i/>", r.italic}, {"<w:strike/>", r.struck}, {`<w:rFonts w:ascii="Roboto Mono"/>`, r.mono}} {
		if property.has {
			properties.WriteString(property.text)
		}
	}
	inner := "<w:r><w:rPr>" + properties.String() + "</w:rPr>" + text + "</w:r>"
	if r.link != "" {
		w.links = append(w.links, [2]string{"hyperlink", r.link})
		inner = fmt.Sprintf(`<w:hyperlink r:id="rId%d">%s</w:hyperlink>`, len(w.links), inner)
	}
	w.out.WriteString(inner)
}

func (w *docxWriter) table(p paragraph) {
	w.out.WriteString("<w:tbl>")
	for _, row := range p.rows {
		w.out.WriteString("<w:tr>")
		for _, cell := range row {
			w.out.WriteString("<w:tc>")
			w.paragraph("", cell)
			w.out.WriteString("</w:tc>")
		}
		w.out.WriteString("</w:tr>")
	}
	w.out.WriteString("</w:tbl>")
}
