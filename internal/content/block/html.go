package block

import "strings"

// toBlank marks a block of HTML that ends at a blank line.
const toBlank = "\n\n"

// htmlEnd returns what ends the HTML block that text begins, or "" if it begins
// none. Comments, scripts and preformatted text may hold blank lines and lines
// that look like headings.
func htmlEnd(text string) string {
	if len(text) < 2 || text[0] != '<' {
		return ""
	}
	switch lower := strings.ToLower(text[:min(len(text), 16)]); {
	case strings.HasPrefix(lower, "<!--"):
		return "-->"
	case strings.HasPrefix(lower, "<?"):
		return "?>"
	case strings.HasPrefix(lower, "<!"):
		return ">"
	default:
		return tagEnd(lower)
	}
}

func tagEnd(lower string) string {
	name := strings.TrimPrefix(lower[1:], "/")
	end := strings.IndexFunc(name, func(r rune) bool { return (r < 'a' || r > 'z') && (r < '1' || r > '6') })
	if end >= 0 {
		name = name[:end]
	}
	switch name {
	case "pre", "script", "style", "textarea":
		if lower[1] != '/' {
			return "</" + name + ">"
		}
		return toBlank
	case "address", "article", "aside", "blockquote", "body", "center", "dd", "details", "dialog", "div", "dl",
		"dt", "fieldset", "figcaption", "figure", "footer", "form", "frame", "h1", "h2", "h3", "h4", "h5", "h6",
		"head", "header", "hr", "html", "iframe", "li", "link", "main", "menu", "nav", "ol", "p", "section",
		"summary", "table", "tbody", "td", "tfoot", "th", "thead", "title", "tr", "ul":
		return toBlank
	}
	return ""
}

// html consumes a block of raw HTML.
func (s *scanner) html(text string) bool {
	ender := htmlEnd(text)
	if ender == "" {
		return false
	}
	end := len(s.src)
	if ender == toBlank {
		end = s.blankLine()
	} else if i := indexFold(s.src[s.at:], ender); i >= 0 {
		_, end = s.line(s.at + i)
	}
	s.add(Block{Kind: Verbatim, Start: s.at}, end)
	return true
}

// blankLine returns the start of the next blank line, or the end.
func (s *scanner) blankLine() int {
	at := s.at
	for at < len(s.src) {
		line, next := s.line(at)
		if blank(line) {
			return at
		}
		at = next
	}
	return at
}

// indexFold is strings.Index without regard to ASCII case.
func indexFold(s, lower string) int {
	for i := 0; i+len(lower) <= len(s); i++ {
		if strings.EqualFold(s[i:i+len(lower)], lower) {
			return i
		}
	}
	return -1
}
