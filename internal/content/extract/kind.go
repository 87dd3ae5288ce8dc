package extract

import (
	"mime"
	"path"
	"strings"
)

// format is what a file has to be read as.
type format string

const (
	formatUnknown  format = ""
	formatPDF      format = "pdf"
	formatText     format = "text"
	formatMarkdown format = "markdown"
	formatTable    format = "table"
	formatHTML     format = "html"
)

// kind is what is known of a file before it is read.
type kind struct {
	format format
	// media is the media type or the extension that the format was taken from, for people.
	media string
	// charset is the encoding that the media type names; empty when it doesn't.
	charset string
}

var formatsByMedia = map[string]format{
	"application/pdf":           formatPDF,
	"application/x-pdf":         formatPDF,
	"text/plain":                formatText,
	"text/markdown":             formatMarkdown,
	"text/x-markdown":           formatMarkdown,
	"text/csv":                  formatTable,
	"text/tab-separated-values": formatTable,
	"text/html":                 formatHTML,
	"application/xhtml+xml":     formatHTML,
}

var formatsByExtension = map[string]format{
	".pdf":      formatPDF,
	".txt":      formatText,
	".text":     formatText,
	".log":      formatText,
	".md":       formatMarkdown,
	".markdown": formatMarkdown,
	".csv":      formatTable,
	".tsv":      formatTable,
	".html":     formatHTML,
	".htm":      formatHTML,
	".xhtml":    formatHTML,
}

// vagueMedia are the types that senders give when they know no better. text/plain is one of them: it is what a web server
// or a mail program says of a CSV or Markdown file.
var vagueMedia = map[string]bool{"": true, "application/octet-stream": true, "binary/octet-stream": true, "text/plain": true}

// kindOf takes the media type at its word unless it is vague; then the extension decides, if it is known.
func kindOf(mediaType, name string) kind {
	media, parameters, err := mime.ParseMediaType(mediaType)
	if err != nil {
		media, _, _ = strings.Cut(strings.ToLower(mediaType), ";")
		media = strings.TrimSpace(media)
	}
	k := kind{format: formatsByMedia[media], media: media, charset: parameters["charset"]}
	if !vagueMedia[media] {
		return k
	}
	extension := strings.ToLower(path.Ext(name))
	if byName := formatsByExtension[extension]; byName != formatUnknown {
		k.format = byName
	}
	if extension != "" && k.format == formatUnknown {
		k.media = extension
	}
	if k.media == "" {
		k.media = "unknown"
	}
	return k
}
