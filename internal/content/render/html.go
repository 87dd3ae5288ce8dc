package render

import (
	"fmt"
	"strings"

	"github.com/JohannesKaufmann/html-to-markdown/v2/converter"
	"github.com/JohannesKaufmann/html-to-markdown/v2/plugin/base"
	"github.com/JohannesKaufmann/html-to-markdown/v2/plugin/commonmark"
	"github.com/JohannesKaufmann/html-to-markdown/v2/plugin/strikethrough"
	"github.com/JohannesKaufmann/html-to-markdown/v2/plugin/table"
	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// HTML converts an HTML page. Scripts, styles, forms' fields and everything else
// that isn't text is dropped; tables become Markdown tables. A page
// nested deeper than 512 elements is an error: the parser refuses it, and the
// converter, which recurses, couldn't survive it.
func HTML(raw []byte) (Document, error) {
	source, err := decode(raw)
	if err != nil {
		return Document{}, err
	}
	root, err := html.Parse(strings.NewReader(source))
	if err != nil {
		return Document{}, fmt.Errorf("parse HTML: %w", err)
	}
	title := cleanTitle(pageTitle(root))
	prune(root)
	markdown, err := newConverter().ConvertNode(root)
	if err != nil {
		return Document{}, fmt.Errorf("convert HTML: %w", err)
	}
	doc := Document{Markdown: normalise(CleanText(string(markdown))), Meta: map[string]any{}}
	if doc.Title = headingTitle(doc.Markdown); doc.Title == "" {
		doc.Title = title
	}
	return doc, nil
}

// newConverter makes a converter for one page. Next to the page itself it costs
// nothing, and nothing is shared between goroutines.
func newConverter() *converter.Converter {
	return converter.NewConverter(converter.WithPlugins(
		base.NewBasePlugin(),
		commonmark.NewCommonmarkPlugin(),
		strikethrough.NewStrikethroughPlugin(),
		table.NewTablePlugin(table.WithHeaderPromotion(true), table.WithCellPaddingBehavior(table.CellPaddingBehaviorMinimal)),
	))
}

// pageTitle returns the text of the first title element outside of drawings.
func pageTitle(root *html.Node) string {
	for node := range root.Descendants() {
		if node.DataAtom == atom.Title && node.Namespace == "" && node.FirstChild != nil {
			return node.FirstChild.Data
		}
	}
	return ""
}

// prune drops drawings and templates, whose text nobody reads in order, and the
// data of embedded images.
func prune(node *html.Node) {
	dropData(node)
	for child := node.FirstChild; child != nil; {
		next := child.NextSibling
		if child.DataAtom == atom.Svg || child.DataAtom == atom.Template {
			node.RemoveChild(child)
		} else {
			prune(child)
		}
		child = next
	}
}

// dropData replaces data URIs in attributes. In HTML they may hold spaces, quotes
// and tags, where dropDataURIs would see an end.
func dropData(node *html.Node) {
	for i, attr := range node.Attr {
		value := strings.TrimSpace(attr.Val)
		if len(value) < len("data:") || !strings.EqualFold(value[:len("data:")], "data:") {
			continue
		}
		media, _, _ := strings.Cut(value[len("data:"):], ",")
		media, _, _ = strings.Cut(media, ";")
		node.Attr[i].Val = embedded(media)
	}
}
