package extract

import (
	"archive/zip"
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"github.com/xuri/excelize/v2"
	"golang.org/x/net/html"
)

const (
	// maxStyles bounds the part with the styles, which excelize holds as a whole.
	maxStyles = 16 << 20
	// shownDigits is how many digits Excel shows of a fraction that has no format of its own.
	shownDigits = 10
	// wholeDigits is how many digits of a number are stored at most.
	wholeDigits = 1e15
	// maxStumbles is how often excelize is asked anew.
	maxStumbles = 20
	// general is the number of the format that says nothing.
	general = "0"
)

// numberFormats is how a workbook shows numbers.
type numberFormats struct {
	date1904 bool
	// general tells which styles show a number as it is, hidden which don't show it.
	general, hidden map[int32]bool
	styles          []byte
}

// styledNumber is a number as it is stored, with the style that shows it.
type styledNumber struct {
	style int32
	text  string
}

// fillNumbers puts what is shown in place of what is stored.
func (b *workbook) fillNumbers() error {
	if err := b.readFormats(); err != nil {
		return err
	}
	shown := map[styledNumber]string{}
	var order []styledNumber
	b.eachCell(kindNumber, func(c *sheetCell) {
		n := styledNumber{c.style, c.text}
		if b.format.isGeneral(c.style) {
			c.text, c.kind = plainNumber(c.text), kindShown
		} else if b.format.hidden[c.style] {
			c.text, c.kind = "", kindShown
		} else if _, found := shown[n]; !found {
			shown[n] = c.text
			order = append(order, n)
		}
	})
	if len(order) == 0 {
		return nil
	}
	if err := b.format.show(order, shown); err != nil {
		return err
	}
	b.eachCell(kindNumber, func(c *sheetCell) { c.text = shown[styledNumber{c.style, c.text}] })
	return nil
}

// readFormats reads which styles have a format. Without styles every number is shown as it is.
func (b *workbook) readFormats() error {
	part := first(b.links, "styles")
	if part == "" || !b.archive.has(part) {
		return nil
	}
	r, err := b.archive.open(part)
	if err != nil {
		return err
	}
	defer func() { _ = r.Close() }() // closing what was only read can lose nothing
	styles, err := io.ReadAll(io.LimitReader(r, maxStyles+1))
	if err != nil || len(styles) > maxStyles {
		return errors.Join(err, errBomb)
	}
	b.format.styles = styles
	w := newWalker(bytes.NewReader(styles), unbounded())
	if _, err := w.root(); err != nil {
		return err
	}
	return b.format.read(w)
}

func (f *numberFormats) read(w *walker) error {
	f.general, f.hidden = map[int32]bool{}, map[int32]bool{}
	hidden := map[string]bool{}
	style := int32(0)
	return w.each(func(e xml.StartElement) error {
		switch e.Name.Local {
		case "numFmts":
			return w.each(func(e xml.StartElement) error {
				// Sections for all numbers, and nothing in them.
				hidden[attribute(e, "numFmtId")] = strings.Trim(attribute(e, "formatCode"), ";") == ""
				return w.Skip()
			})
		case "cellXfs":
			return w.each(func(e xml.StartElement) error {
				number := attribute(e, "numFmtId")
				f.general[style] = number == "" || number == general
				f.hidden[style] = hidden[number]
				style++
				return w.Skip()
			})
		default:
			return w.Skip()
		}
	})
}

func (f *numberFormats) isGeneral(style int32) bool {
	isGeneral, known := f.general[style]
	return isGeneral || !known
}

// plainNumber shows a number without a format: whole ones as they are, others as far as Excel shows them, which hides that
// 0.1 and 0.2 make 0.30000000000000004.
func plainNumber(stored string) string {
	n, err := strconv.ParseFloat(strings.TrimSpace(stored), 64)
	switch {
	case err != nil || math.IsNaN(n) || math.IsInf(n, 0):
		return stored
	case n == math.Trunc(n) && math.Abs(n) < wholeDigits:
		return strconv.FormatFloat(n, 'f', -1, 64)
	}
	rounded, _ := strconv.ParseFloat(strconv.FormatFloat(n, 'g', shownDigits, 64), 64)
	if size := math.Abs(rounded); size < 1e-9 || size >= wholeDigits {
		return strconv.FormatFloat(rounded, 'G', -1, 64)
	}
	return strconv.FormatFloat(rounded, 'f', -1, 64)
}

// show asks excelize how the numbers are shown. It stumbles over some formats: such a number stays as it is stored, and so do all
// when that happens too often.
func (f *numberFormats) show(numbers []styledNumber, shown map[styledNumber]string) error {
	for range maxStumbles {
		file, err := f.workbook(numbers)
		if err != nil {
			return err
		}
		done := ask(file, func(at int, text string) { shown[numbers[at]] = text })
		if done >= len(numbers) {
			return nil
		}
		numbers = numbers[done+1:]
	}
	return nil
}

// ask reads the first cells of the rows of a workbook, and tells how many rows it got through.
func ask(file []byte, take func(int, string)) (done int) {
	defer func() { _ = recover() }() // the row that caused it is the one behind done
	book, err := excelize.OpenReader(bytes.NewReader(file), excelize.Options{
		UnzipSizeLimit: maxTotal, UnzipXMLSizeLimit: maxTotal,
		// Formats that follow the settings of the machine get dates that mean the same everywhere; Excel's built-in formats of
		// East Asia are Japanese.
		ShortDatePattern: "yyyy-mm-dd", LongDatePattern: "yyyy-mm-dd", LongTimePattern: "hh:mm:ss", CultureInfo: excelize.CultureNameJaJP,
	})
	if err != nil {
		return math.MaxInt // the styles are damaged, the numbers aren't
	}
	defer func() { _ = book.Close() }() // it has no files of its own
	rows, err := book.Rows(formatSheet)
	if err != nil {
		return math.MaxInt
	}
	for rows.Next() {
		cells, err := rows.Columns()
		if err == nil && len(cells) > 0 {
			take(done, strings.TrimSpace(cells[0]))
		}
		done++
	}
	return math.MaxInt
}

const formatSheet = "s"

// workbook makes the workbook for excelize: the styles of the file, and one number a row.
func (f *numberFormats) workbook(numbers []styledNumber) ([]byte, error) {
	var rows strings.Builder
	for _, n := range numbers {
		fmt.Fprintf(&rows, `<row><c s="%d"><v>%s</v></c></row>`, n.style, html.EscapeString(n.text))
	}
	const (
		main  = `http://schemas.openxmlformats.org/spreadsheetml/2006/main`
		links = `http://schemas.openxmlformats.org/officeDocument/2006/relationships`
	)
	date1904 := strconv.FormatBool(f.date1904)
	return pack([][2]string{
		{"[Content_Types].xml", `<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"/>`},
		{"_rels/.rels", relationships(`<Relationship Id="r1" Type="` + links + `/officeDocument" Target="xl/workbook.xml"/>`)},
		{"xl/workbook.xml", `<workbook xmlns="` + main + `" xmlns:r="` + links + `"><workbookPr date1904="` + date1904 +
			`"/><sheets><sheet name="` + formatSheet + `" sheetId="1" r:id="r1"/></sheets></workbook>`},
		{"xl/_rels/workbook.xml.rels", relationships(`<Relationship Id="r1" Type="` + links + `/worksheet" Target="worksheets/sheet1.xml"/>` +
			`<Relationship Id="r2" Type="` + links + `/styles" Target="styles.xml"/>`)},
		{"xl/styles.xml", string(f.styles)},
		{"xl/worksheets/sheet1.xml", `<worksheet xmlns="` + main + `"><sheetData>` + rows.String() + `</sheetData></worksheet>`},
	})
}

func relationships(all string) string {
	return `<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">` + all + `</Relationships>`
}

// pack makes an archive of parts.
func pack(parts [][2]string) ([]byte, error) {
	var out bytes.Buffer
	w := zip.NewWriter(&out)
	for _, part := range parts {
		entry, err := w.CreateHeader(&zip.FileHeader{Name: part[0], Method: zip.Store})
		if err == nil {
			_, err = io.WriteString(entry, part[1])
		}
		if err != nil {
			return nil, fmt.Errorf("make a workbook: %w", err)
		}
	}
	if err := w.Close(); err != nil {
		return nil, fmt.Errorf("make a workbook: %w", err)
	}
	return out.Bytes(), nil
}
