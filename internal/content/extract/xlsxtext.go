package extract

import (
	"encoding/xml"
	"regexp"
	"strconv"
	"strings"
)

// fillTexts puts the texts that the sheets share into the cells that refer to them. Only those are kept, as the table of texts
// may be as large as the sheets.
func (b *workbook) fillTexts() error {
	wanted := map[int]string{}
	b.eachCell(kindText, func(c *sheetCell) {
		if n, err := strconv.Atoi(strings.TrimSpace(c.text)); err == nil {
			wanted[n] = ""
		}
	})
	if len(wanted) == 0 {
		return nil
	}
	number := -1
	err := b.optional(first(b.links, "sharedStrings"), func(w *walker, _ xml.StartElement) error {
		return w.each(func(xml.StartElement) error {
			number++
			if _, found := wanted[number]; !found {
				return w.Skip()
			}
			text, err := richText(w)
			wanted[number] = unescape(text)
			return err
		})
	})
	b.eachCell(kindText, func(c *sheetCell) {
		n, _ := strconv.Atoi(strings.TrimSpace(c.text))
		c.text = wanted[n]
	})
	return err
}

// eachCell calls take for the cells of a kind.
func (b *workbook) eachCell(kind cellKind, take func(*sheetCell)) {
	for _, one := range b.sheets {
		for i := range one.cells {
			if one.cells[i].kind == kind {
				take(&one.cells[i])
			}
		}
	}
}

// richText reads a text in pieces of different looks, without the reading that may stand above Japanese.
func richText(w *walker) (string, error) {
	var out strings.Builder
	var take func(xml.StartElement) error
	take = func(e xml.StartElement) error {
		switch e.Name.Local {
		case "t":
			text, err := w.text()
			out.WriteString(text)
			return err
		case "r":
			return w.each(take)
		default:
			return w.Skip()
		}
	}
	err := w.each(take)
	return out.String(), err
}

// escaped is how Excel writes characters that XML can't hold.
var escaped = regexp.MustCompile(`_x[0-9A-Fa-f]{4}_`)

func unescape(text string) string {
	if !strings.Contains(text, "_x") {
		return text
	}
	return escaped.ReplaceAllStringFunc(text, func(mark string) string {
		code, _ := strconv.ParseUint(mark[2:6], 16, 16)
		return strings.Map(visible, string(rune(code)))
	})
}
