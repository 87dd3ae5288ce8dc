package document

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/loresync/loresync/internal/content/text"
)

// reference writes blocks that stand for something elsewhere: another page, a web page, a file.
func (r *renderer) reference(b *Block, p *payload) {
	switch b.Type {
	case "child_page":
		r.refer(r.linkTo(b.ID, decodeText(p.Title), "Untitled"))
		// A child page is a document of its own, so its content isn't missed here.
		r.blocks(b.Children, false)
	case "child_database":
		r.refer(r.linkTo(b.ID, decodeText(p.Title), "Untitled database"))
		if b.Missing != "" {
			r.report.Unreadable++
			r.note("a database on the page can't be read: it is a linked view, or not shared with the integration")
		}
		r.blocks(b.Children, false)
	case "link_to_page":
		r.refer(r.linkToPage(p))
		r.children(b, false)
	case "bookmark", "embed", "link_preview":
		r.bookmark(b, p)
	case "image", "video", "pdf", "file", "audio":
		r.file(b, p)
	default:
		r.unknown(b)
	}
}

func (r *renderer) refer(link string) {
	r.hit()
	r.w.block(guardLine(link))
}

func (r *renderer) linkToPage(p *payload) string {
	switch {
	case p.PageID != "":
		return r.linkTo(p.PageID, "", "Linked page")
	case p.DatabaseID != "":
		return r.linkTo(p.DatabaseID, "", "Linked database")
	case p.CommentID != "":
		return "Link to a comment"
	}
	r.report.Unreadable++
	return "Link to a page that is not known"
}

// bookmark writes a link to the web under its caption.
func (r *renderer) bookmark(b *Block, p *payload) {
	if address := r.destination(p.URL); address != "" {
		title := strings.TrimSpace(plainRuns(p.Caption))
		if title == "" {
			r.refer(r.address(p.URL))
		} else {
			r.refer(link(title, address))
		}
		if r.styled(p.Caption) {
			r.caption(p)
		}
	} else {
		r.caption(p)
	}
	r.children(b, false)
}

// styled reports rich text whose links or mentions a plain title would lose.
func (r *renderer) styled(runs []textRun) bool {
	return slices.ContainsFunc(runs, func(t textRun) bool { return t.Href != "" || t.Text.Link.URL != "" || t.Type != "text" })
}

// file writes an image, a document or a recording: its name and caption, where it is kept, and its text where that was read.
func (r *renderer) file(b *Block, p *payload) {
	address, name := r.fileAddress(b, p), p.Name
	if name == "" {
		name = fileName(p.External.URL + p.File.URL)
	}
	caption := strings.TrimSpace(plainRuns(p.Caption))
	attachment := strings.TrimSpace(r.doc.Attachments[b.ID])
	r.weighFile(b, caption != "" || attachment != "")
	switch {
	case b.Type == "image" && !r.styled(p.Caption):
		r.w.block("!" + link(firstOf(caption, name, "image"), address))
	case b.Type == "image":
		r.w.block("!" + link(firstOf(name, "image"), address))
		r.caption(p)
	default:
		r.w.block(link(firstOf(name, b.Type), address))
		r.caption(p)
	}
	r.attachment(attachment)
	r.children(b, false)
}

// weighFile counts a file as searchable when there is any text of it.
func (r *renderer) weighFile(b *Block, hasText bool) {
	if hasText {
		r.hit()
		return
	}
	r.loss()
	r.note("a block of type %s has no text that can be searched", b.Type)
}

// fileAddress is a stable address of a file. Notion signs its own for an hour, so they lead to the block instead.
func (r *renderer) fileAddress(b *Block, p *payload) string {
	if p.External.URL != "" {
		if address := r.destination(p.External.URL); address != "" {
			return address
		}
	}
	if r.doc.Object.Kind == KindPage && r.doc.Object.ID != "" {
		return escapeURL(pageURL(r.doc.Object.ID) + "#" + plainID(b.ID))
	}
	return escapeURL("notion://block/" + b.ID)
}

// attachment writes the text of a file as a quote, so that a reader sees where it ends.
func (r *renderer) attachment(body string) {
	const sign = "> "
	first := true
	for part := range strings.SplitSeq(lineEnds.Replace(text.Clean(body)), "\n\n") {
		part = escapeText(part, flowParagraph)
		if part == "" {
			continue
		}
		if first {
			r.w.gap(false)
			r.w.push(sign, sign)
		}
		r.w.block(part)
		first = false
	}
	if !first {
		r.w.pop(sign)
	}
}

// unknown writes a placeholder for what Notion doesn't give out or what is newer than this package, then all text found in
// it, then its children.
func (r *renderer) unknown(b *Block) {
	if b.Type == "" {
		r.report.Unreadable++
		r.placeholder("unreadable block")
		r.blocks(b.Children, false)
		return
	}
	kind := b.Type
	if kind == typeUnsupported {
		kind = firstOf(b.BlockType, typeUnsupported)
	}
	r.unsupported(kind)
	r.placeholder("unsupported block: " + kind)
	for _, runs := range textsWithin(b.Payload, 0) {
		if body := r.inline(runs, flowParagraph, 0); body != "" {
			r.hit()
			r.w.block(body)
		}
	}
	r.children(b, false)
}

// maxSearchDepth bounds how deep text is looked for in a payload of unknown shape.
const maxSearchDepth = 8

// textsWithin finds rich text anywhere in a value, in the order of the keys.
func textsWithin(raw json.RawMessage, depth int) [][]textRun {
	if depth > maxSearchDepth || absent(raw) {
		return nil
	}
	var found [][]textRun
	if members, err := decodeFields(raw); err == nil {
		for _, key := range sortedKeys(members) {
			found = append(found, textsWithin(members[key], depth+1)...)
		}
		return found
	}
	var items []json.RawMessage
	if !decodeInto(raw, &items) {
		return nil
	}
	var runs []textRun
	for _, item := range items {
		f, err := decodeFields(item)
		if err != nil || !f.has("plain_text") {
			found = append(found, textsWithin(item, depth+1)...)
			continue
		}
		var run textRun
		decodeInto(item, &run)
		runs = append(runs, run)
	}
	if len(runs) > 0 {
		found = append(found, runs)
	}
	return found
}

func sortedKeys(f fields) []string {
	keys := make([]string, 0, len(f))
	for key := range f {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	return keys
}

// firstOf is the first text that isn't empty.
func firstOf(texts ...string) string {
	for _, t := range texts {
		if t != "" {
			return t
		}
	}
	return ""
}
