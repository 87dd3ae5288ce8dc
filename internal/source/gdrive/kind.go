package gdrive

import (
	"fmt"
	"mime"
	"path"
	"strings"

	"github.com/dustin/go-humanize"

	"github.com/loresync/loresync/internal/content/text"
	"github.com/loresync/loresync/internal/source"
)

const (
	googleTypes = "application/vnd.google-apps."
	mimeDoc     = googleTypes + "document"
	mimeSheet   = googleTypes + "spreadsheet"
	mimeSlides  = googleTypes + "presentation"

	mimeMarkdown = "text/markdown"
	mimeText     = "text/plain"
	mimeXLSX     = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
	mimePPTX     = "application/vnd.openxmlformats-officedocument.presentationml.presentation"
)

// textTypes are kinds of files that hold text though their names don't begin with text/.
var textTypes = map[string]bool{
	"application/pdf": true, "application/x-pdf": true, "application/rtf": true, "application/epub+zip": true,
	"application/msword": true, "application/vnd.ms-excel": true, "application/vnd.ms-powerpoint": true,
	"application/json": true, "application/xml": true, "application/xhtml+xml": true, "application/yaml": true, "application/x-yaml": true,
	"application/javascript": true, "application/x-javascript": true, "application/typescript": true, "application/sql": true,
	"application/x-sh": true, "application/toml": true, "application/x-tex": true, "application/x-latex": true,
}

// textFamilies begin the names of the types of office programs.
var textFamilies = []string{
	"text/", "application/vnd.openxmlformats-officedocument.", "application/vnd.oasis.opendocument.text",
	"application/vnd.oasis.opendocument.spreadsheet", "application/vnd.oasis.opendocument.presentation",
	"application/vnd.ms-word.", "application/vnd.ms-excel.", "application/vnd.ms-powerpoint.",
}

// textExtensions are believed where the type says nothing.
var textExtensions = map[string]bool{
	".pdf": true, ".txt": true, ".text": true, ".log": true, ".md": true, ".markdown": true, ".csv": true, ".tsv": true, ".html": true,
	".htm": true, ".xhtml": true, ".docx": true, ".xlsx": true, ".pptx": true, ".odt": true, ".ods": true, ".odp": true, ".rtf": true,
	".json": true, ".xml": true, ".yaml": true, ".yml": true, ".toml": true, ".rst": true, ".adoc": true, ".org": true, ".tex": true,
}

// vagueTypes are what those who upload say when they know no better.
var vagueTypes = map[string]bool{"": true, "application/octet-stream": true, "binary/octet-stream": true, "application/x-unknown": true}

// isNative tells Google's own kinds, which have no bytes of their own.
func isNative(mimeType string) bool { return strings.HasPrefix(mimeType, googleTypes) }

// holdsText tells kinds of files that may hold text; what is in them shows only by reading.
func holdsText(f file) bool {
	kind := bareType(f.mime)
	switch {
	case isNative(kind):
		return kind == mimeDoc || kind == mimeSheet || kind == mimeSlides
	case vagueTypes[kind]:
		return textExtensions[strings.ToLower(path.Ext(f.name))]
	case textTypes[kind], strings.HasSuffix(kind, "+json"):
		return true
	}
	for _, family := range textFamilies {
		if strings.HasPrefix(kind, family) {
			return true
		}
	}
	return false
}

func bareType(mimeType string) string {
	kind, _, err := mime.ParseMediaType(mimeType)
	if err != nil {
		return strings.ToLower(strings.TrimSpace(mimeType))
	}
	return kind
}

// limitOf is the largest file that is read.
func limitOf(limits source.Limits) int64 {
	if limits.MaxBytes <= 0 {
		return MaxContent
	}
	return min(limits.MaxBytes, MaxContent)
}

// skipOf tells from a file's metadata alone that it can't be read as knowledge.
func skipOf(f file, limits source.Limits) *source.Skip {
	switch {
	case f.isShortcut():
		return deadShortcut()
	case !holdsText(f):
		return &source.Skip{Class: skipUnknown, Sentence: "files of the kind " + kindName(f.mime) + " hold no text that can be read"}
	case !isNative(f.mime) && f.size > limitOf(limits):
		return tooLarge(limits)
	case f.locked:
		return &source.Skip{Class: skipNoDownload, Sentence: sayNoContent}
	}
	return nil
}

func tooLarge(limits source.Limits) *source.Skip {
	return &source.Skip{
		Class:    skipTooLarge,
		Sentence: fmt.Sprintf("it is larger than the folder's limit of %s: raise the limit, or split it up", humanize.IBytes(uint64(limitOf(limits)))),
	}
}

func kindName(mimeType string) string {
	const longest = 100
	if name := text.Truncate(text.Clean(bareType(mimeType)), longest); name != "" {
		return name
	}
	return "unknown"
}
