package drivetest

import (
	"fmt"
	"html"
	"net/http"
	"net/url"
	"strings"
)

// html writes a Doc as a page. The addresses of pictures are given by a function of the picture and its number from 0.
func (d *document) html(address func([]byte, int) string) string {
	w := &htmlWriter{address: address}
	w.out.WriteString(`<html><head><meta content="text/html; charset=UTF-8" http-equiv="content-type">` +
		`<style type="text/css">.c1{font-weight:700}.c2{font-style:italic}ol{margin:0;padding:0}</style></head>` +
		`<body class="c0 doc-content">`)
	for _, p := range d.paragraphs {
		w.lists(p)
		w.block(p)
	}
	w.lists(paragraph{})
	w.out.WriteString("</body></html>")
	return w.out.String()
}

// webPage is the page with its pictures beside it, in an archive.
func (d *document) webPage() ([]byte, error) {
	var files []zipped
	page := d.html(func(picture []byte, i int) string {
		_, kind, _ := strings.Cut(http.DetectContentType(picture), "/")
		name := fmt.Sprintf("images/image%d.%s", i+1, kind)
		files = append(files, zipped{name, string(picture)})
		return name
	})
	return zipUp(append([]zipped{{"Document.html", page}}, files...))
}

type htmlWriter struct {
	out      strings.Builder
	address  func([]byte, int) string
	pictures int
	// open are the tags of the lists that are open.
	open []string
}

// lists opens and closes lists until a paragraph lies as deep as it should.
func (w *htmlWriter) lists(p paragraph) {
	level, tag := 0, "ul"
	if p.inList() {
		level = p.level
	}
	if p.style == numbered {
		tag = "ol"
	}
	for len(w.open) > level || len(w.open) == level && level > 0 && w.open[level-1] != tag {
		w.out.WriteString("</" + w.open[len(w.open)-1] + ">")
		w.open = w.open[:len(w.open)-1]
	}
	for len(w.open) < level {
		fmt.Fprintf(&w.out, `<%s class="lst-kix_list_%d-0">`, tag, len(w.open)+1)
		w.open = append(w.open, tag)
	}
}

func (w *htmlWriter) block(p paragraph) {
	switch p.style {
	case heading:
		fmt.Fprintf(&w.out, `<h%d class="c3" id="h.%s">%s</h%d>`, p.level, idOf(0, textOf(p.runs), "", 12), w.line(p.runs), p.level)
	case bullet, numbered, checkbox:
		fmt.Fprintf(&w.out, `<li class="c4 li-bullet-0">%s</li>`, w.line(p.runs))
	case code:
		for line := range strings.SplitSeq(strings.TrimSuffix(p.text, "\n"), "\n") {
			fmt.Fprintf(&w.out, `<p class="c5"><span class="c6">%s</span></p>`, html.EscapeString(line))
		}
	case table:
		w.table(p)
	case rule:
		w.out.WriteString("<hr>")
	case plainText:
		fmt.Fprintf(&w.out, `<p class="c5">%s</p>`, w.line(p.runs))
	}
}

func (w *htmlWriter) table(p paragraph) {
	w.out.WriteString(`<table class="c7">`)
	for _, row := range p.rows {
		w.out.WriteString(`<tr class="c8">`)
		for _, cell := range row {
			fmt.Fprintf(&w.out, `<td class="c9" colspan="1" rowspan="1"><p class="c5">%s</p></td>`, w.line(cell))
		}
		w.out.WriteString("</tr>")
	}
	w.out.WriteString("</table>")
}

// line writes runs. Links lead through Google, as in its exports.
func (w *htmlWriter) line(runs []run) string {
	var out strings.Builder
	for _, r := range runs {
		switch {
		case r.broken:
			out.WriteString("<br>")
		case r.picture != nil:
			fmt.Fprintf(&out, `<span><img alt="" src="%s" title=""></span>`, w.address(r.picture, w.pictures))
			w.pictures++
		default:
			out.WriteString(r.html())
		}
	}
	return out.String()
}

func (r run) html() string {
	inner := html.EscapeString(r.text)
	if r.link != "" {
		address := r.link
		if !strings.HasPrefix(address, "#") {
			address = "https://www.google.com/url?q=" + url.QueryEscape(address) + "&sa=D&source=editors"
		}
		inner = `<a class="c10" href="` + html.EscapeString(address) + `">` + inner + "</a>"
	}
	class := "c6"
	if r.bold {
		class += " c1"
	}
	if r.italic {
		class += " c2"
	}
	return `<span class="` + class + `">` + inner + "</span>"
}
