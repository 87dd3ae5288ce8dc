package document_test

import (
	"bytes"
	"encoding/json"
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

func encode(t testing.TB, v any) json.RawMessage {
	t.Helper()
	raw, err := json.Marshal(v)
	require.NoError(t, err)
	return raw
}

// block decodes a block as Notion sends it and hangs its children below it.
func block(t testing.TB, kind string, payload object, children ...*document.Block) *document.Block {
	t.Helper()
	b, err := document.DecodeBlock(encode(t, object{
		"object": "block", "id": "b-" + kind, "type": kind, kind: payload, "has_children": len(children) > 0,
	}))
	require.NoError(t, err)
	b.Children = children
	// Ids of these blocks are only as unique as their types, which is no cycle.
	b.ID = ""
	return &b
}

// text is a block that holds plain text.
func text(t testing.TB, kind, content string, children ...*document.Block) *document.Block {
	t.Helper()
	return block(t, kind, object{"rich_text": []any{run(content)}}, children...)
}

func render(blocks ...*document.Block) string {
	markdown, _ := document.Markdown(document.Document{Blocks: blocks})
	return markdown
}

// parse renders Markdown as HTML by an independent implementation of CommonMark and GitHub's tables.
func parse(t testing.TB, markdown string) *nethtml.Node {
	t.Helper()
	md := goldmark.New(
		goldmark.WithExtensions(extension.Table, extension.Strikethrough, extension.TaskList),
		goldmark.WithRendererOptions(html.WithUnsafe()),
	)
	var out bytes.Buffer
	require.NoError(t, md.Convert([]byte(markdown), &out))
	root, err := nethtml.Parse(&out)
	require.NoError(t, err)
	return root
}

// shown is the text that a reader of the Markdown sees, white space folded.
func shown(t testing.TB, markdown string) string {
	t.Helper()
	var out strings.Builder
	walk(parse(t, markdown), func(n *nethtml.Node) {
		switch {
		case n.Type == nethtml.TextNode:
			out.WriteString(n.Data)
		case n.Data == "img":
			for _, a := range n.Attr {
				if a.Key == "alt" {
					out.WriteString(" " + a.Val + " ")
				}
			}
		case strings.Contains(" p br li td th tr h1 h2 h3 h4 pre blockquote ", " "+n.Data+" "):
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
func outline(t testing.TB, markdown string) string {
	t.Helper()
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
	return strings.TrimSuffix(strings.TrimPrefix(write(parse(t, markdown)), "html(head,body("), "))")
}
