package extract

import (
	"bytes"
	"compress/zlib"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// pdfWriter writes a PDF by hand: numbered objects and the table of their places. The first object is the catalogue.
type pdfWriter struct {
	objects []string
	trailer string
}

func (w *pdfWriter) add(body string) int {
	w.objects = append(w.objects, body)
	return len(w.objects)
}

func (w *pdfWriter) stream(dictionary, content string) int {
	return w.add(fmt.Sprintf("<< %s /Length %d >>\nstream\n%s\nendstream", dictionary, len(content), content))
}

func (w *pdfWriter) bytes() []byte {
	var out bytes.Buffer
	out.WriteString("%PDF-1.7\n%\xE2\xE3\xCF\xD3\n")
	places := make([]int, 0, len(w.objects))
	for i, body := range w.objects {
		places = append(places, out.Len())
		fmt.Fprintf(&out, "%d 0 obj\n%s\nendobj\n", i+1, body)
	}
	table := out.Len()
	fmt.Fprintf(&out, "xref\n0 %d\n0000000000 65535 f \n", len(w.objects)+1)
	for _, place := range places {
		fmt.Fprintf(&out, "%010d 00000 n \n", place)
	}
	fmt.Fprintf(&out, "trailer\n<< /Size %d /Root 1 0 R %s >>\nstartxref\n%d\n%%%%EOF\n", len(w.objects)+1, w.trailer, table)
	return out.Bytes()
}

// pages is a PDF of pages that share their resources and each have one content stream.
func pages(resources func(*pdfWriter) string, filter string, contents ...string) *pdfWriter {
	w := &pdfWriter{}
	w.add("<< /Type /Catalog /Pages 2 0 R >>")
	w.add("") // the list of pages, once their numbers are known
	shared := resources(w)
	var kids strings.Builder
	for _, content := range contents {
		stream := w.stream(filter, content)
		page := w.add(fmt.Sprintf("<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Resources << %s >> /Contents %d 0 R >>", shared, stream))
		fmt.Fprintf(&kids, "%d 0 R ", page)
	}
	w.objects[1] = fmt.Sprintf("<< /Type /Pages /Kids [%s] /Count %d >>", kids.String(), len(contents))
	return w
}

func helvetica(w *pdfWriter) string {
	return fmt.Sprintf("/Font << /F1 %d 0 R >>", w.add("<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>"))
}

// textPDF is a PDF with a text layer in plain ASCII; each page is a string of lines.
func textPDF(texts ...string) *pdfWriter {
	contents := make([]string, 0, len(texts))
	for _, page := range texts {
		contents = append(contents, linesOf(page, func(line string) string {
			return "(" + strings.NewReplacer(`\`, `\\`, "(", `\(`, ")", `\)`).Replace(line) + ")"
		}))
	}
	return pages(helvetica, "", contents...)
}

func linesOf(page string, encode func(string) string) string {
	var content strings.Builder
	content.WriteString("BT /F1 12 Tf 14 TL 72 740 Td\n")
	for line := range strings.SplitSeq(page, "\n") {
		content.WriteString(encode(line) + " Tj T*\n")
	}
	content.WriteString("ET")
	return content.String()
}

// unicodePDF is a PDF whose font has glyphs for these very characters, and a table that says which characters they are: what
// word processors make of any script but Latin.
func unicodePDF(texts ...string) *pdfWriter {
	var glyphs []rune
	contents := make([]string, 0, len(texts))
	for _, page := range texts {
		contents = append(contents, linesOf(page, func(line string) string {
			var hex strings.Builder
			for _, r := range line {
				at := slices.Index(glyphs, r)
				if at < 0 {
					at, glyphs = len(glyphs), append(glyphs, r)
				}
				fmt.Fprintf(&hex, "%04X", at+1)
			}
			return "<" + hex.String() + ">"
		}))
	}
	return pages(func(w *pdfWriter) string { return mappedFont(w, glyphs) }, "", contents...)
}

func mappedFont(w *pdfWriter, glyphs []rune) string {
	var table strings.Builder
	for i, r := range glyphs {
		fmt.Fprintf(&table, "1 beginbfchar\n<%04X> <%s>\nendbfchar\n", i+1, utf16Hex(r))
	}
	toUnicode := w.stream("", "/CIDInit /ProcSet findresource begin\n12 dict begin\nbegincmap\n/CMapName /Own def\n/CMapType 2 def\n"+
		"1 begincodespacerange\n<0000> <FFFF>\nendcodespacerange\n"+table.String()+"endcmap\nend")
	descriptor := w.add("<< /Type /FontDescriptor /FontName /Own /Flags 4 /FontBBox [0 0 1000 1000] /ItalicAngle 0 " +
		"/Ascent 880 /Descent -120 /CapHeight 700 /StemV 80 >>")
	descendant := w.add(fmt.Sprintf("<< /Type /Font /Subtype /CIDFontType2 /BaseFont /Own "+
		"/CIDSystemInfo << /Registry (Adobe) /Ordering (Identity) /Supplement 0 >> /FontDescriptor %d 0 R /DW 1000 >>", descriptor))
	return fmt.Sprintf("/Font << /F1 %d 0 R >>", w.add(fmt.Sprintf(
		"<< /Type /Font /Subtype /Type0 /BaseFont /Own /Encoding /Identity-H /DescendantFonts [%d 0 R] /ToUnicode %d 0 R >>", descendant, toUnicode)))
}

// imagePDF is what a scanner makes: pages that show a picture each.
func imagePDF(count int) *pdfWriter {
	picture := func(w *pdfWriter) string {
		return fmt.Sprintf("/XObject << /I1 %d 0 R >>",
			w.stream("/Type /XObject /Subtype /Image /Width 2 /Height 2 /ColorSpace /DeviceGray /BitsPerComponent 8", "\x00\xFF\xFF\x00"))
	}
	return pages(picture, "", slices.Repeat([]string{"q 612 0 0 792 0 0 cm /I1 Do Q"}, count)...)
}

// scrapbookPDF has a caption, and a picture of size bytes that isn't compressed.
func scrapbookPDF(size int) *pdfWriter {
	resources := func(w *pdfWriter) string {
		picture := w.stream(fmt.Sprintf("/Type /XObject /Subtype /Image /Width %d /Height 1000 /ColorSpace /DeviceGray /BitsPerComponent 8", size/1000),
			strings.Repeat("\x80", size))
		return helvetica(w) + fmt.Sprintf(" /XObject << /I1 %d 0 R >>", picture)
	}
	return pages(resources, "", "q 612 0 0 792 0 0 cm /I1 Do Q BT /F1 12 Tf 72 740 Td (a caption) Tj ET")
}

// encryptedPDF asks for a password, by the oldest of the encryptions.
func encryptedPDF() *pdfWriter {
	w := textPDF("secret")
	key := strings.Repeat("5A", 32)
	number := w.add("<< /Filter /Standard /V 1 /R 2 /Length 40 /P -44 /O <" + key + "> /U <" + key + "> >>")
	w.trailer = fmt.Sprintf("/Encrypt %d 0 R /ID [<0123456789ABCDEF0123456789ABCDEF> <0123456789ABCDEF0123456789ABCDEF>]", number)
	return w
}

// bombPDF has one page whose content unpacks to size bytes of the same drawing.
func bombPDF(t *testing.T, drawing string, size int) []byte {
	t.Helper()
	var packed bytes.Buffer
	writer := zlib.NewWriter(&packed)
	block := []byte(strings.Repeat(drawing, 1+64<<10/len(drawing)))
	for written := 0; written < size; written += len(block) {
		_, err := writer.Write(block)
		require.NoError(t, err)
	}
	require.NoError(t, writer.Close())
	return pages(helvetica, "/Filter /FlateDecode", packed.String()).bytes()
}
