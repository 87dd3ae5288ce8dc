package drivetest

import (
	"strings"

	"github.com/yuin/goldmark/ast"
	extast "github.com/yuin/goldmark/extension/ast"
)

// reader turns the tree of Markdown into paragraphs.
type reader struct {
	source   []byte
	pictures map[string][]byte
	found    []paragraph
}

// blocks adds the blocks below a node. What they lie in is told by like.
func (r *reader) blocks(parent ast.Node, like paragraph) {
	for n := parent.FirstChild(); n != nil; n = n.NextSibling() {
		r.block(n, like)
	}
}

func (r *reader) block(n ast.Node, like paragraph) {
	switch n := n.(type) {
	case *ast.Heading:
		r.add(paragraph{style: heading, level: n.Level, runs: r.inline(n, run{})})
	case *ast.List:
		r.list(n, like)
	case *ast.FencedCodeBlock:
		r.add(paragraph{style: code, language: string(n.Language(r.source)), text: r.lines(n)})
	case *ast.CodeBlock:
		r.add(paragraph{style: code, text: r.lines(n)})
	case *ast.ThematicBreak:
		r.add(paragraph{style: rule})
	case *ast.HTMLBlock:
		r.add(paragraph{runs: []run{{text: strings.TrimSpace(r.lines(n))}}})
	case *extast.Table:
		r.table(n)
	case *ast.Blockquote:
		// The editor knows no quotes.
		r.blocks(n, like)
	default:
		like.runs = r.inline(n, run{})
		r.add(like)
	}
}

func (r *reader) add(p paragraph) { r.found = append(r.found, p) }

func (r *reader) lines(n ast.Node) string {
	var out strings.Builder
	for i := range n.Lines().Len() {
		segment := n.Lines().At(i)
		out.Write(segment.Value(r.source))
	}
	return out.String()
}

// list adds the items of a list. What follows the first paragraph of an item is a paragraph of its own.
func (r *reader) list(list *ast.List, outer paragraph) {
	number := list.Start
	for n := list.FirstChild(); n != nil; n = n.NextSibling() {
		like := paragraph{style: bullet, level: outer.level + 1}
		if list.IsOrdered() {
			like.style, like.number = numbered, number
			number++
		}
		if box, ok := checkBox(n); ok {
			like.style, like.checked = checkbox, box.IsChecked
		}
		first := true
		for block := n.FirstChild(); block != nil; block = block.NextSibling() {
			if nested, ok := block.(*ast.List); ok {
				r.list(nested, like)
				continue
			}
			if first {
				r.block(block, like)
			} else {
				r.block(block, paragraph{})
			}
			first = false
		}
	}
}

func checkBox(item ast.Node) (*extast.TaskCheckBox, bool) {
	if item.FirstChild() == nil {
		return nil, false
	}
	box, ok := item.FirstChild().FirstChild().(*extast.TaskCheckBox)
	return box, ok
}

func (r *reader) table(n ast.Node) {
	p := paragraph{style: table}
	for row := n.FirstChild(); row != nil; row = row.NextSibling() {
		var cells [][]run
		for cell := row.FirstChild(); cell != nil; cell = cell.NextSibling() {
			cells = append(cells, r.inline(cell, run{}))
		}
		p.rows = append(p.rows, cells)
	}
	r.add(p)
}

// inline gives the runs below a node, in a style.
func (r *reader) inline(parent ast.Node, in run) []run {
	var runs []run
	for n := parent.FirstChild(); n != nil; n = n.NextSibling() {
		runs = append(runs, r.span(n, in)...)
	}
	return joined(runs)
}

func (r *reader) span(n ast.Node, in run) []run {
	switch n := n.(type) {
	case *ast.Text:
		return r.words(n, in)
	case *ast.String:
		in.text = string(n.Value)
		return []run{in}
	case *ast.CodeSpan:
		in.mono = true
	case *ast.Emphasis:
		in.bold, in.italic = in.bold || n.Level == 2, in.italic || n.Level == 1
	case *extast.Strikethrough:
		in.struck = true
	case *ast.Link:
		in.link = string(n.Destination)
	case *ast.AutoLink:
		in.link, in.text = string(n.URL(r.source)), string(n.Label(r.source))
		if n.AutoLinkType == ast.AutoLinkEmail {
			in.link = "mailto:" + in.text
		}
		return []run{in}
	case *ast.Image:
		return []run{{picture: r.picture(string(n.Destination))}}
	case *ast.RawHTML:
		return r.tag(n, in)
	case *extast.TaskCheckBox:
		return nil
	}
	return r.inline(n, in)
}

func (r *reader) words(n *ast.Text, in run) []run {
	in.text = string(n.Segment.Value(r.source))
	if !in.mono {
		in.text = unescape(in.text)
	}
	switch {
	case n.HardLineBreak():
		return []run{in, {broken: true}}
	case n.SoftLineBreak():
		in.text += " "
	}
	return []run{in}
}

// tag makes a line break of a <br>. The editor knows no other tags: they are text.
func (r *reader) tag(n *ast.RawHTML, in run) []run {
	in.text = string(n.Segments.Value(r.source))
	if name := strings.Trim(in.text, "<>/ "); strings.EqualFold(name, "br") {
		return []run{{broken: true}}
	}
	return []run{in}
}

// unescape takes the backslashes off what they protect.
func unescape(s string) string {
	var out strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+1 < len(s) && strings.IndexByte("!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~", s[i+1]) >= 0 {
			i++
		}
		out.WriteByte(s[i])
	}
	return out.String()
}

// joined makes one run of neighbours in the same style.
func joined(runs []run) []run {
	var out []run
	for _, next := range runs {
		if len(out) > 0 {
			last := &out[len(out)-1]
			if last.sameStyle(next) {
				last.text += next.text
				continue
			}
		}
		out = append(out, next)
	}
	return out
}

func (r run) sameStyle(other run) bool {
	return !r.broken && !other.broken && r.picture == nil && other.picture == nil && r.bold == other.bold && r.italic == other.italic &&
		r.struck == other.struck && r.mono == other.mono && r.link == other.link
}
