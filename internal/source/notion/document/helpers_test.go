package document_test

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/renderer/html"
	nethtml "golang.org/x/net/html"

	"github.com/loresync/loresync/internal/source/notion/document"
)

type object = map[string]any

// run is rich text of one piece with the annotations that are named.
func run(text string, annotations ...string) object {
	marks := object{}
	for _, a := range annotations {
		marks[a] = true
	}
	return object{"type": "text", "plain_text": text, "annotations": marks, "text": object{"content": text}}
}

func linked(text, href string) object {
	r := run(text)
	r["href"] = href
	return r
}

func encode(tb testing.TB, v any) json.RawMessage {
	tb.Helper()
	raw, err := json.Marshal(v)
	require.NoError(tb, err)
	return raw
}

// block decodes a block as Notion sends it and hangs its children below it.
func block(tb testing.TB, kind string, payload object, children ...*document.Block) *document.Block {
	tb.Helper()
	b, err := document.DecodeBlock(encode(tb, object{
		"object": "block", "id": "b-" + kind, "type": kind, kind: payload, "has_children": len(children) > 0,
	}))
	require.NoError(tb, err)
	b.Children = children
	// Ids of these blocks are only as unique as their types, which is no cycle.
	b.ID = ""
	return &b
}

// text is a block that holds plain text.
func text(tb testing.TB, kind, content string, children ...*document.Block) *document.Block {
	tb.Helper()
	return block(tb, kind, object{"rich_text": []any{run(content)}}, children...)
}

func render(blocks ...*document.Block) string {
	markdown, _ := document.Markdown(document.Document{Blocks: blocks})
	return markdown
}

// parse renders Markdown as HTML by an independent implementation of CommonMark and GitHub's tables.
func parse(tb testing.TB, markdown string) *nethtml.Node {
	tb.Helper()
	md := goldmark.New(
		goldmark.WithExtensions(extension.Table, extension.Strikethrough, extension.TaskList),
		goldmark.WithRendererOptions(html.WithUnsafe()),
	)
	var out bytes.Buffer
	require.NoError(tb, md.Convert([]byte(markdown), &out))
	root, err := nethtml.Parse(&out)
	require.NoError(tb, err)
	return root
}

// separate are the elements that stand apart from the text around them.
var separate = []string{"p", "br", "li", "td", "th", "tr", "h1", "h2", "h3", "h4", "pre", "blockquote"}

// shown is the text that a reader of the Markdown sees, white space folded.
func shown(tb testing.TB, markdown string) string {
	tb.Helper()
	var out strings.Builder
	walk(parse(tb, markdown), func(n *nethtml.Node) {
		switch {
		case n.Type == nethtml.TextNode:
			out.WriteString(n.Data)
		case n.Data == "img":
			for _, a := range n.Attr {
				if a.Key == "alt" {
					out.WriteString(" " + a.Val + " ")
				}
			}
		case slices.Contains(separate, n.Data):
			out.WriteByte(' ')
		}
	})
	return fold(out.String())
}

func fold(s string) string { return strings.Join(strings.Fields(s), " ") }

func walk(n *nethtml.Node, visit func(*nethtml.Node)) {
	visit(n)
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		walk(c, visit)
	}
}

// outline writes the elements of the body as nested names, such as ul(li,li(ol(li))).
func outline(tb testing.TB, markdown string) string {
	tb.Helper()
	var write func(n *nethtml.Node) string
	write = func(n *nethtml.Node) string {
		var parts []string
		for c := n.FirstChild; c != nil; c = c.NextSibling {
			if c.Type == nethtml.ElementNode {
				parts = append(parts, write(c))
			}
		}
		if len(parts) == 0 {
			return n.Data
		}
		return n.Data + "(" + strings.Join(parts, ",") + ")"
	}
	return strings.TrimSuffix(strings.TrimPrefix(write(parse(tb, markdown)), "(html(head,body("), ")))")
}
