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
	// formatOffice is all of Office and OpenDocument: which of them a file is, it says itself.
	formatOffice format = "office"
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
	"text/rtf":                  formatOffice,
	"application/rtf":           formatOffice,
	"text/tab-separated-values": formatTable,
	"text/html":                 formatHTML,
	"application/csv":           formatTable,
	"application/xhtml+xml":     formatHTML,
	"application/msword":        formatOffice,
}

// officeMedia are how the media types of Office and OpenDocument begin, templates and files with macros included.
var officeMedia = []string{
	"application/vnd.openxmlformats-officedocument.",
	"application/vnd.oasis.opendocument.",
	"application/vnd.ms-excel",
	"application/vnd.ms-powerpoint",
	"application/vnd.ms-word",
	"application/vnd.ms-office",
	"application/x-ole-storage",
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
	".docx":     formatOffice, ".docm": formatOffice, ".dotx": formatOffice, ".dotm": formatOffice, ".doc": formatOffice, ".dot": formatOffice,
	".xlsx": formatOffice, ".xlsm": formatOffice, ".xltx": formatOffice, ".xltm": formatOffice, ".xlsb": formatOffice, ".xls": formatOffice,
	".pptx": formatOffice, ".pptm": formatOffice, ".potx": formatOffice, ".potm": formatOffice, ".ppsx": formatOffice, ".ppsm": formatOffice,
	".ppt": formatOffice, ".pps": formatOffice,
	".odt": formatOffice, ".ott": formatOffice, ".ods": formatOffice, ".ots": formatOffice, ".odp": formatOffice, ".otp": formatOffice,
	".rtf": formatOffice,
}

// vagueMedia are the types that senders give when they know no better. text/plain is one of them: it is what a web server
// or a mail program says of a CSV or Markdown file. So is Excel's: it is what Windows says of a CSV file.
var vagueMedia = map[string]bool{
	"": true, "application/octet-stream": true, "binary/octet-stream": true, "text/plain": true, "application/vnd.ms-excel": true,
}

// archiveMedia are what servers say of an office file that they know only by its opening.
var archiveMedia = map[string]bool{"application/zip": true, "application/x-zip": true, "application/x-zip-compressed": true}

// kindOf takes the media type at its word unless it is vague; then the extension decides, if it is known.
func kindOf(mediaType, name string) kind {
	media, parameters, err := mime.ParseMediaType(mediaType)
	if err != nil {
		media, _, _ = strings.Cut(strings.ToLower(mediaType), ";")
		media = strings.TrimSpace(media)
	}
	k := kind{format: formatOf(media), media: media, charset: parameters["charset"]}
	extension := strings.ToLower(path.Ext(name))
	byName := formatsByExtension[extension]
	if archiveMedia[media] && byName == formatOffice {
		k.format = byName
	}
	if !vagueMedia[media] {
		return k
	}
	if byName != formatUnknown {
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

// formatOf is the format that a media type stands for.
func formatOf(media string) format {
	for _, beginning := range officeMedia {
		if strings.HasPrefix(media, beginning) {
			return formatOffice
		}
	}
	return formatsByMedia[media]
}
