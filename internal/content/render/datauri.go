package render

import "strings"

const (
	// maxURIHead bounds the part of a data URI in front of its comma.
	maxURIHead = 128
	// minBase64 and minPlain are the sizes from which on a payload is one, rather
	// than an example in a text about data URIs.
	minBase64 = 8
	minPlain  = 128
)

// dropDataURIs replaces data URIs by a short stand-in that is still a link's
// target, wherever they stand: inline, in a reference definition, in a tag. An
// exported page may carry megabytes of them, and no reader can search an image.
// The stand-in names the media type only, so that it stays the same when a source
// encodes the same image anew.
func dropDataURIs(s string) string {
	var out strings.Builder
	kept := 0
	for at := 0; ; {
		i := strings.IndexByte(s[at:], ':')
		if i < 0 {
			break
		}
		at += i + 1
		start := at - len("data:")
		if start < kept || !strings.EqualFold(s[start:at], "data:") || (start > 0 && isNameByte(s[start-1])) {
			continue
		}
		media, end := dataURI(s, at)
		if end == 0 {
			continue
		}
		out.WriteString(s[kept:start])
		out.WriteString(embedded(media))
		kept, at = end, end
	}
	if kept == 0 {
		return s
	}
	out.WriteString(s[kept:])
	return out.String()
}

// dataURI reads what follows "data:" at offset at. It returns the media type and
// where the URI ends, or 0 if there is none that has to go.
func dataURI(s string, at int) (media string, end int) {
	comma := strings.IndexByte(s[at:min(len(s), at+maxURIHead)], ',')
	if comma < 0 {
		return "", 0
	}
	head := s[at : at+comma]
	media, params, _ := strings.Cut(strings.ToLower(head), ";")
	if spanOf(head, isHead) < len(head) {
		return "", 0
	}
	from := at + comma + 1
	if params == "base64" || strings.HasSuffix(params, ";base64") {
		end = from + spanOf(s[from:], isBase64)
		return media, atLeast(end, from+minBase64)
	}
	if media != "" && !strings.Contains(media, "/") {
		return "", 0
	}
	end = from + spanOf(s[from:], isURI)
	return media, atLeast(end, from+minPlain)
}

// embedded is the stand-in for a data URI of a media type.
func embedded(media string) string {
	media = strings.ToLower(media)
	if media == "" || len(media) > maxURIHead || spanOf(media, isHead) < len(media) {
		media = "text/plain"
	}
	return "embedded:" + media
}

func atLeast(end, least int) int {
	if end < least {
		return 0
	}
	return end
}

func spanOf(s string, in func(byte) bool) int {
	for i := range len(s) {
		if !in(s[i]) {
			return i
		}
	}
	return len(s)
}

func isNameByte(c byte) bool {
	return (c >= '0' && c <= '9') || (c|0x20 >= 'a' && c|0x20 <= 'z') || c == '-' || c == '_'
}

func isHead(c byte) bool {
	return isNameByte(c) || strings.IndexByte("/.+;=\"*!#$&^%'", c) >= 0
}

func isBase64(c byte) bool {
	return isNameByte(c) || c == '+' || c == '/' || c == '=' || c == '%'
}

// isURI ends a URI where Markdown or HTML would.
func isURI(c byte) bool {
	return c > ' ' && c != ')' && c != '>' && c != '"' && c != '\'' && c != '`' && c != '\\'
}
