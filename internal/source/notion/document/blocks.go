package document

import "strings"

// block writes one block by its type.
func (r *renderer) block(b *Block, p *payload, at place) {
	switch b.Type {
	case "paragraph":
		r.paragraph(b, p)
	case typeBulleted, typeNumbered, typeToDo:
		r.item(b, p, at)
	case "heading_1", "heading_2", "heading_3", "heading_4":
		r.heading(b, p)
	case "toggle", "template":
		r.labelled(b, r.inline(p.RichText, flowLine, bold))
	case "quote", "callout":
		r.quote(b, p)
	case "code":
		r.code(b, p)
	case "equation":
		r.equation(b, p)
	case "divider":
		r.w.block("---")
		r.children(b, false)
	case "breadcrumb", "table_of_contents":
		r.children(b, false)
	default:
		r.container(b, p)
	}
}

// container writes blocks whose content is in their children, and hands on what isn't one.
func (r *renderer) container(b *Block, p *payload) {
	switch b.Type {
	case "column_list", "column", typeTab:
		r.children(b, false)
	case "synced_block":
		r.synced(b, p)
	case "meeting_notes", "transcription":
		r.meeting(b, p)
	case "table":
		r.table(b, p)
	case typeTableRow:
		r.looseRow(b, p)
	default:
		r.reference(b, p)
	}
}

// paragraph writes text; what is nested below it follows at the same depth, since Markdown has no nested paragraphs. Directly
// below a tab block a paragraph is a tab: its text is the label, its children are what the tab shows.
func (r *renderer) paragraph(b *Block, p *payload) {
	if r.above() == typeTab {
		label := r.inline(p.RichText, flowLine, bold)
		r.labelled(b, strings.TrimSpace(escapeText(p.Icon.sign(), flowLine)+" "+label))
		return
	}
	if body := r.inline(p.RichText, flowParagraph, 0); body != "" {
		r.hit()
		r.w.block(body)
	}
	r.children(b, false)
}

// heading writes a heading; the content of a toggle heading follows at the normal depth.
func (r *renderer) heading(b *Block, p *payload) {
	if body := r.inline(p.RichText, flowLine, 0); body != "" {
		r.hit()
		level := int(b.Type[len(b.Type)-1] - '0')
		r.w.block(strings.Repeat("#", level) + " " + closeHeading(body))
	}
	r.children(b, false)
}

// closeHeading keeps signs at a heading's end from being taken for its closing sequence.
func closeHeading(body string) string {
	if strings.HasSuffix(body, "#") {
		return body[:len(body)-1] + `\#`
	}
	return body
}

// labelled writes a line that stands for what is below it, such as a toggle's summary.
func (r *renderer) labelled(b *Block, label string) {
	if label != "" {
		r.hit()
		r.w.block(guardLine(label))
	}
	r.children(b, false)
}

// guardLine escapes what would make something else of a label that begins a line.
func guardLine(line string) string {
	if n := blockSign(line); n >= 0 {
		return line[:n] + `\` + line[n:]
	}
	return line
}

// quote writes quotes and callouts with all that is in them.
func (r *renderer) quote(b *Block, p *payload) {
	body := r.inline(p.RichText, flowParagraph, 0)
	if b.Type == "callout" {
		body = strings.TrimSpace(escapeText(p.Icon.sign(), flowParagraph) + " " + body)
	}
	if body == "" && len(b.Children) == 0 && !b.HasChildren && b.Missing == "" {
		return
	}
	const sign = "> "
	r.w.gap(false)
	r.w.push(sign, sign)
	if body != "" {
		r.hit()
		r.w.lines(body)
	}
	r.children(b, false)
	r.w.pop(sign)
}

// code writes a fence that is longer than any run of backticks in the code.
func (r *renderer) code(b *Block, p *payload) {
	body := codeText(p.RichText)
	if strings.TrimSpace(body) != "" {
		r.hit()
	}
	fence := strings.Repeat("`", max(3, longestRun(body, '`')+1))
	r.w.block(fence + codeLanguage(p.Language))
	if body != "" {
		r.w.lines(body)
	}
	r.w.line(fence)
	r.caption(p)
	r.children(b, false)
}

// codeText is code as it was written, tabs included, without line breaks at its end.
func codeText(runs []textRun) string {
	var out strings.Builder
	for i := range runs {
		if t := runs[i].PlainText; t != "" {
			out.WriteString(t)
			continue
		}
		out.WriteString(runs[i].Text.Content)
	}
	return strings.TrimRight(lineEnds.Replace(out.String()), "\n")
}

// codeLanguage is the word behind a fence; "plain text" says nothing.
func codeLanguage(language string) string {
	if language == "plain text" {
		return ""
	}
	return strings.Join(strings.FieldsFunc(language, func(r rune) bool { return r == '`' || r <= ' ' }), "-")
}

func (r *renderer) caption(p *payload) {
	if caption := r.inline(p.Caption, flowParagraph, 0); caption != "" {
		r.hit()
		r.w.block(caption)
	}
}

// equation writes mathematics between lines of $$. A line that Markdown would take for a list, a heading or an underline is
// joined to the one before, which means the same to TeX.
func (r *renderer) equation(b *Block, p *payload) {
	var lines []string
	for line := range strings.SplitSeq(tidyText(p.Expression), "\n") {
		line = strings.TrimSpace(line)
		switch {
		case line == "":
		case len(lines) > 0 && blockSign(line) >= 0:
			lines[len(lines)-1] += " " + line
		default:
			lines = append(lines, line)
		}
	}
	if len(lines) > 0 {
		r.hit()
		r.w.block("$$")
		if blockSign(lines[0]) >= 0 {
			lines[0] = "{}" + lines[0]
		}
		r.w.lines(strings.Join(lines, "\n"))
		r.w.line("$$")
	}
	r.children(b, false)
}

// synced writes the content of a synced block where it stands. Without its original a copy has none.
func (r *renderer) synced(b *Block, p *payload) {
	if p.SyncedFrom.BlockID != "" && b.Missing == MissingUnshared && len(b.Children) == 0 {
		r.report.Unreadable++
		r.note("the original of a synced block is not shared with the integration")
		r.placeholder("synced block: its original is not shared")
		return
	}
	r.children(b, false)
}
