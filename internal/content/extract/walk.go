package extract

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"strings"

	"golang.org/x/net/html/charset"
	"golang.org/x/text/encoding"
	textunicode "golang.org/x/text/encoding/unicode"
	"golang.org/x/text/transform"
)

const (
	// maxNesting is deeper than any office program nests its elements; readers call themselves for each level.
	maxNesting = 256
	// relationSpace is the end of the namespaces, transitional and strict, in which Office refers to other parts.
	relationSpace = "/relationships"
)

var (
	errNesting = errors.New("elements are nested too deeply")
	// errEnough ends the reading of a file whose text has reached its bound. It is no fault.
	errEnough = errors.New("the text has reached its bound")
)

// walker reads an XML part element by element and holds no more of it than that. The decoder knows no entities but the five
// of XML itself, so none can be made to grow.
type walker struct {
	*xml.Decoder

	budget  *budget
	nesting int
}

func newWalker(r io.Reader, b *budget) *walker {
	// A mark decides, before the declaration that it makes readable.
	d := xml.NewDecoder(transform.NewReader(r, textunicode.BOMOverride(encoding.Nop.NewDecoder())))
	d.CharsetReader = func(label string, r io.Reader) (io.Reader, error) {
		if strings.HasPrefix(strings.ToLower(label), "utf-16") {
			return r, nil
		}
		return charset.NewReaderLabel(label, r)
	}
	return &walker{Decoder: d, budget: b}
}

// root reads on to the first element.
func (w *walker) root() (xml.StartElement, error) {
	for {
		token, err := w.Token()
		if err != nil {
			return xml.StartElement{}, fmt.Errorf("read XML: %w", err)
		}
		if start, ok := token.(xml.StartElement); ok {
			return start, nil
		}
	}
}

// each calls take for every child of the element that was just entered, until that element ends. take has to read the child
// to its end, by each, text or Skip.
func (w *walker) each(take func(xml.StartElement) error) error {
	return w.content(take, func(string) {})
}

// content is each for an element whose own text matters too.
func (w *walker) content(take func(xml.StartElement) error, text func(string)) error {
	w.nesting++
	if w.nesting > maxNesting {
		return errNesting
	}
	for {
		if w.budget.over() {
			return errEnough
		}
		token, err := w.Token()
		if err != nil {
			return fmt.Errorf("read XML: %w", err)
		}
		switch t := token.(type) {
		case xml.StartElement:
			if err := take(t); err != nil {
				return err
			}
		case xml.CharData:
			text(string(t))
		case xml.EndElement:
			w.nesting--
			return nil
		}
	}
}

// text reads the element that was just entered to its end and gives the text in it, also of elements below.
func (w *walker) text() (string, error) {
	var out strings.Builder
	var take func(xml.StartElement) error
	keep := func(s string) { out.WriteString(s[:min(len(s), max(0, maxString-out.Len()))]) }
	take = func(xml.StartElement) error { return w.content(take, keep) }
	err := take(xml.StartElement{})
	return strings.ToValidUTF8(out.String(), ""), err
}

// maxString bounds one piece of text, in bytes. Beyond it is nothing that a person wrote: a cell of Excel holds 32,767
// characters.
const maxString = 1 << 20

// attribute gives the value of an attribute, by its name without its namespace; empty when there is none.
func attribute(e xml.StartElement, name string) string {
	for _, a := range e.Attr {
		if a.Name.Local == name {
			return a.Value
		}
	}
	return ""
}

// relation gives the id of another part that an element refers to, which shares its name with other attributes.
func relation(e xml.StartElement, name string) string {
	for _, a := range e.Attr {
		if a.Name.Local == name && strings.HasSuffix(a.Name.Space, relationSpace) {
			return a.Value
		}
	}
	return ""
}

// isOn reads one of Office's switches, which is on when it is there and doesn't say otherwise.
func isOn(e xml.StartElement) bool {
	switch attribute(e, "val") {
	case "0", "false", "off", "none":
		return false
	default:
		return true
	}
}
