package document

import (
	"encoding/json"
	"net/url"
	"path"
	"strings"
)

// notionBase is where Notion shows a page or a block by its id alone, whatever its title is.
const notionBase = "https://www.notion.so/"

// pageURL is a stable address of a page or database.
func pageURL(id string) string { return notionBase + url.PathEscape(plainID(id)) }

// destination makes an address ready to stand in a Markdown link; empty when it must not be one. Addresses within Notion may
// be relative. Scripts and data are no places to go to.
func (r *renderer) destination(address string) string {
	if address == "" {
		return ""
	}
	if id := strings.TrimPrefix(address, "/"); id != address && !strings.HasPrefix(id, "/") {
		if _, known := r.page(id, ""); isPlainID(id) {
			return escapeURL(known)
		}
		address = notionBase + id
	}
	u, err := url.Parse(strings.TrimSpace(address))
	if err == nil {
		switch strings.ToLower(u.Scheme) {
		case "javascript", "vbscript", "data":
			return ""
		}
	}
	return escapeURL(stableURL(strings.TrimSpace(address)))
}

func isPlainID(id string) bool {
	return len(id) == 32 && strings.Trim(id, "0123456789abcdef") == ""
}

// signedMarks are parts of a query that only a signed address has: it lasts an hour and differs at each read.
var signedMarks = []string{"x-amz-", "expirationtimestamp=", "x-goog-signature=", "signature="}

// stableURL takes a signature off an address; the rest names the same file at every read.
func stableURL(address string) string {
	before, query, ok := strings.Cut(address, "?")
	if !ok {
		return address
	}
	query = strings.ToLower(query)
	for _, mark := range signedMarks {
		if strings.Contains(query, mark) {
			return before
		}
	}
	return address
}

// escapeURL percent-encodes what would end a link's destination, a table's cell or the line, and what would be decoded as a
// character reference.
func escapeURL(address string) string {
	const digits = "0123456789ABCDEF"
	var out strings.Builder
	for i := range len(address) {
		c := address[i]
		if c > ' ' && c != 0x7F && strings.IndexByte("()<>|\\\"`", c) < 0 && (c != '&' || !isEntity(address[i:], true)) {
			out.WriteByte(c)
			continue
		}
		out.WriteByte('%')
		out.WriteByte(digits[c>>4])
		out.WriteByte(digits[c&15])
	}
	return out.String()
}

// page is what is known of another page: the resolver's word, else the fallback title and Notion's own address.
func (r *renderer) page(id, fallback string) (title, address string) {
	title, address = fallback, pageURL(id)
	if r.doc.Links == nil {
		return title, address
	}
	known, where, ok := r.doc.Links(id)
	if !ok {
		return title, address
	}
	// Notion says Untitled for a page that the integration may not read.
	if title == "" || title == "Untitled" {
		title = known
	}
	if where != "" {
		address = where
	}
	return title, address
}

// linkTo is a link to another page or database in Markdown.
func (r *renderer) linkTo(id, fallback, otherwise string) string {
	title, address := r.page(id, fallback)
	if strings.TrimSpace(title) == "" {
		title = otherwise
	}
	if id == "" {
		return escapeText(title, flowLine)
	}
	return link(title, escapeURL(address))
}

// link is a link with a plain text.
func link(title, destination string) string {
	e := escaper{inLink: true, newline: " ", inCell: true}
	return "[" + string(e.append(nil, strings.TrimSpace(tidyText(title)))) + "](" + destination + ")"
}

// fileName is the last part of an address, decoded; empty when there is none.
func fileName(address string) string {
	u, err := url.Parse(address)
	if err != nil || u.Path == "" || strings.HasSuffix(u.Path, "/") {
		return ""
	}
	return path.Base(u.Path)
}

// mention gives a mention its text and where it leads. Notion's own words are kept wherever it sent some.
func (r *renderer) mention(run *textRun, s *span) {
	f, err := decodeFields(run.Mention)
	if err != nil {
		if s.text == "" {
			r.report.Unreadable++
		}
		return
	}
	kind := f.text("type")
	switch kind {
	case "page", "database", "data_source":
		r.mentionPage(f[kind], s)
	case "date":
		if date := dateText(f[kind]); date != "" {
			s.text = date
		}
	case "user", "agent":
		if s.text == "" {
			s.text = "@" + userText(f[kind])
		}
	case "link_preview", "link_mention":
		r.mentionLink(f[kind], s)
	case "template_mention", "custom_emoji":
		if inner, err := decodeFields(f[kind]); err == nil && s.text == "" {
			s.text = templateText(inner)
		}
	default:
		r.unsupported("mention " + kind)
	}
	if s.text == "" {
		r.report.Unreadable++
	}
}

func (r *renderer) mentionPage(raw json.RawMessage, s *span) {
	f, err := decodeFields(raw)
	if err != nil || f.text("id") == "" {
		return
	}
	title, address := r.page(f.text("id"), s.text)
	if title == "" {
		title = "Untitled"
	}
	s.text, s.link = title, escapeURL(address)
}

func (r *renderer) mentionLink(raw json.RawMessage, s *span) {
	f, err := decodeFields(raw)
	if err != nil {
		return
	}
	address := f.text("url")
	if address == "" {
		address = f.text("href")
	}
	if s.link == "" {
		s.link = r.destination(address)
	}
	// The title says more than the bare address that Notion may have put into the text.
	if s.text == "" || s.text == address {
		s.text = stableURL(firstOf(f.text("title"), address))
	}
}

// templateText names what a template will put in place, or an emoji.
func templateText(f fields) string {
	if name := f.text("name"); name != "" {
		return ":" + name + ":"
	}
	return strings.TrimSpace(f.text(f.text("type")))
}
