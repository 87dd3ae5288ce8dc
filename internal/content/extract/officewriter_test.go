package extract

import (
	"archive/zip"
	"bytes"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/net/html"
)

// parts are the parts of an office file, by name.
type parts map[string]string

// with gives the same parts and others.
func (p parts) with(more parts) parts {
	all := parts{}
	for _, some := range []parts{p, more} {
		maps.Copy(all, some)
	}
	return all
}

func (p parts) bytes(tb testing.TB) []byte {
	tb.Helper()
	var out bytes.Buffer
	w := zip.NewWriter(&out)
	names := make([]string, 0, len(p))
	for name := range p {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		entry, err := w.Create(name)
		require.NoError(tb, err)
		_, err = io.WriteString(entry, p[name])
		require.NoError(tb, err)
	}
	require.NoError(tb, w.Close())
	return out.Bytes()
}

const officeLinks = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"

// linksXML writes the links of a part: id, kind, target each.
func linksXML(links ...[3]string) string {
	var out strings.Builder
	for _, l := range links {
		mode := ""
		if strings.Contains(l[2], ":") {
			mode = ` TargetMode="External"`
		}
		fmt.Fprintf(&out, `<Relationship Id="%s" Type="%s/%s" Target="%s"%s/>`, l[0], officeLinks, l[1], l[2], mode)
	}
	return relationships(out.String())
}

const wordRoot = `xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main" xmlns:r="` + officeLinks + `" ` +
	`xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/2006" xmlns:wps="http://schemas.microsoft.com/office/word/2010/wordprocessingShape" ` +
	`xmlns:m="http://schemas.openxmlformats.org/officeDocument/2006/math" xmlns:v="urn:schemas-microsoft-com:vml"`

// docx is a document of Word with the given body.
func docx(body string) parts {
	return parts{
		"_rels/.rels":       linksXML([3]string{"r1", "officeDocument", "word/document.xml"}),
		"word/document.xml": `<?xml version="1.0" encoding="UTF-8" standalone="yes"?><w:document ` + wordRoot + `><w:body>` + body + `</w:body></w:document>`,
		"word/_rels/document.xml.rels": linksXML(
			[3]string{"s", "styles", "styles.xml"}, [3]string{"n", "numbering", "numbering.xml"},
			[3]string{"f", "footnotes", "footnotes.xml"}, [3]string{"e", "endnotes", "endnotes.xml"},
			[3]string{"web", "hyperlink", "https://example.com/a?b=c&amp;d=e"}, [3]string{"script", "hyperlink", "javascript:alert(1)"}),
	}
}

// para is a paragraph of Word; properties are those of the paragraph.
func para(properties, content string) string {
	if properties != "" {
		properties = "<w:pPr>" + properties + "</w:pPr>"
	}
	if !strings.HasPrefix(content, "<") {
		content = run("", content)
	}
	return "<w:p>" + properties + content + "</w:p>"
}

func run(properties, text string) string {
	if properties != "" {
		properties = "<w:rPr>" + properties + "</w:rPr>"
	}
	return "<w:r>" + properties + `<w:t xml:space="preserve">` + text + "</w:t></w:r>"
}

func item(list, level int) string {
	return fmt.Sprintf(`<w:numPr><w:ilvl w:val="%d"/><w:numId w:val="%d"/></w:numPr>`, level, list)
}

// numberingXML has definitions of lists, each with the form and the label of its levels, and a list for each.
func numberingXML(definitions ...[][2]string) string {
	var out, lists strings.Builder
	for i, levels := range definitions {
		fmt.Fprintf(&out, `<w:abstractNum w:abstractNumId="%d">`, i+1)
		for level, l := range levels {
			form, goesOn := strings.CutSuffix(l[0], " goes on")
			restart := ""
			if goesOn {
				restart = `<w:lvlRestart w:val="0"/>`
			}
			fmt.Fprintf(&out, `<w:lvl w:ilvl="%d"><w:start w:val="1"/>`+restart+`<w:numFmt w:val="%s"/><w:lvlText w:val="%s"/></w:lvl>`, level, form, l[1])
		}
		out.WriteString(`</w:abstractNum>`)
		fmt.Fprintf(&lists, `<w:num w:numId="%d"><w:abstractNumId w:val="%d"/></w:num>`, i+1, i+1)
	}
	return `<w:numbering ` + wordRoot + `>` + out.String() + lists.String() + `</w:numbering>`
}

const slideRoot = `xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main" xmlns:r="` + officeLinks + `" ` +
	`xmlns:p="http://schemas.openxmlformats.org/presentationml/2006/main" xmlns:dgm="http://schemas.openxmlformats.org/drawingml/2006/diagram"`

// deckSlide is a slide of a presentation: its shapes, and the text of its notes.
type deckSlide struct{ shapes, notes, attributes string }

func pptx(slides ...deckSlide) parts {
	var list strings.Builder
	links := make([][3]string, 0, len(slides))
	p := parts{"_rels/.rels": linksXML([3]string{"r1", "officeDocument", "ppt/presentation.xml"})}
	for i, s := range slides {
		// The parts are numbered against the order of the slides, which only the list tells.
		part := fmt.Sprintf("slide%d.xml", len(slides)-i)
		id := fmt.Sprintf("rId%d", i+1)
		fmt.Fprintf(&list, `<p:sldId id="%d" r:id="%s"/>`, 256+i, id)
		links = append(links, [3]string{id, "slide", "slides/" + part})
		p["ppt/slides/"+part] = `<p:sld ` + slideRoot + ` ` + s.attributes + `><p:cSld><p:spTree>` + s.shapes + `</p:spTree></p:cSld></p:sld>`
		p["ppt/slides/_rels/"+part+".rels"] = linksXML([3]string{"n", "notesSlide", "../notesSlides/" + part},
			[3]string{"web", "hyperlink", "https://example.com/"}, [3]string{"d", "diagramData", "/ppt/diagrams/data1.xml"})
		if s.notes != "" {
			p["ppt/notesSlides/"+part] = `<p:notes ` + slideRoot + `><p:cSld><p:spTree>` + shape("sldImg", "") +
				shape("body", drawn("", s.notes)) + shape("sldNum", drawn("", "7")) + `</p:spTree></p:cSld></p:notes>`
		}
	}
	p["ppt/presentation.xml"] = `<p:presentation ` + slideRoot + `><p:sldIdLst>` + list.String() + `</p:sldIdLst></p:presentation>`
	p["ppt/_rels/presentation.xml.rels"] = linksXML(links...)
	return p
}

// shape is a place of a slide's layout with text; without a place it is a text box.
func shape(place, content string) string {
	ph := ""
	if place != "" {
		ph = `<p:ph type="` + place + `"/>`
	}
	return `<p:sp><p:nvSpPr><p:cNvPr id="1" name="x"/><p:cNvSpPr/><p:nvPr>` + ph + `</p:nvPr></p:nvSpPr><p:spPr/><p:txBody>` +
		`<a:bodyPr/>` + content + `</p:txBody></p:sp>`
}

func drawn(properties, text string) string {
	return `<a:p>` + properties + `<a:r><a:rPr lang="en"/><a:t>` + text + `</a:t></a:r></a:p>`
}

const openRoot = `xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0" xmlns:text="urn:oasis:names:tc:opendocument:xmlns:text:1.0" ` +
	`xmlns:table="urn:oasis:names:tc:opendocument:xmlns:table:1.0" xmlns:style="urn:oasis:names:tc:opendocument:xmlns:style:1.0" ` +
	`xmlns:fo="urn:oasis:names:tc:opendocument:xmlns:xsl-fo-compatible:1.0" xmlns:draw="urn:oasis:names:tc:opendocument:xmlns:drawing:1.0" ` +
	`xmlns:presentation="urn:oasis:names:tc:opendocument:xmlns:presentation:1.0" xmlns:xlink="http://www.w3.org/1999/xlink"`

// openFileOf is a file of OpenDocument; body is the element that tells its kind.
func openFileOf(styles, body string) parts {
	return parts{
		"mimetype": "application/vnd.oasis.opendocument.text",
		"content.xml": `<office:document-content ` + openRoot + `><office:automatic-styles>` + styles + `</office:automatic-styles>` +
			`<office:body>` + body + `</office:body></office:document-content>`,
		"styles.xml": `<office:document-styles ` + openRoot + `><office:styles/></office:document-styles>`,
	}
}

// partOf unpacks a part.
func partOf(tb testing.TB, a *archive, name string) string {
	tb.Helper()
	r, err := a.open(name)
	require.NoError(tb, err)
	content, err := io.ReadAll(r)
	require.NoError(tb, err)
	return string(content)
}

func escapeXML(text string) string { return html.EscapeString(text) }
