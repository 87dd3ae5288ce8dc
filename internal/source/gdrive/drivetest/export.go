package drivetest

import (
	"net/http"
	"slices"
	"strings"
)

// formats are the endings by which exportLinks name the formats that there are.
var formats = map[string]string{
	"text/markdown": "md", "text/x-markdown": "markdown", "text/plain": "txt", "text/html": "html", "application/zip": "zip",
	"text/csv": "csv", "text/tab-separated-values": "tsv", "application/pdf": "pdf", "image/png": "png", "image/svg+xml": "svg",
	"image/jpeg": "jpg", "application/vnd.google-apps.script+json": "json", mimeDocx: "docx", mimeXlsx: "xlsx", mimePptx: "pptx",
}

// The types of Office's files.
const (
	mimeDocx = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
	mimeXlsx = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
	mimePptx = "application/vnd.openxmlformats-officedocument.presentationml.presentation"
)

// offered are the formats that a content is exported in.
func offered(of content) []string {
	if of == nil {
		return nil
	}
	return of.formats()
}

// exportLinks lead to the same exports, without a limit of their size. Drive's lead to docs.google.com.
func exportLinks(v *view, it *item) any {
	links := Object{}
	for _, mime := range offered(it.content) {
		links[mime] = v.s.url + exportPath + withDefault(editors[it.mime], "file") + "/export?id=" + it.id + "&exportFormat=" + formatName(mime)
	}
	if len(links) == 0 {
		return nil
	}
	return links
}

func formatName(mime string) string {
	return withDefault(formats[mime], strings.ReplaceAll(mime, "/", "-"))
}

func withDefault(s, otherwise string) string {
	if s == "" {
		return otherwise
	}
	return s
}

// exportFile answers files.export. It knows shared drives without being asked to.
func (c *call) exportFile() (answer, error) {
	it, err := c.itemOf(c.r.PathValue("id"), true)
	if err != nil {
		return answer{}, err
	}
	mime := c.query().Get("mimeType")
	if mime == "" {
		return answer{}, &apiError{status: http.StatusBadRequest, reason: "required", message: "Required parameter: mimeType"}
	}
	a, err := c.export(it, mime)
	if err == nil && len(a.media) > c.s.options.ExportLimit {
		return answer{}, refusal(ExportTooLarge, it.id)
	}
	return a, err
}

// followExportLink answers an address of exportLinks.
func (c *call) followExportLink() (answer, error) {
	it, err := c.itemOf(c.query().Get("id"), true)
	if err != nil {
		return answer{}, err
	}
	for _, mime := range offered(it.content) {
		if formatName(mime) == c.query().Get("exportFormat") {
			return c.export(it, mime)
		}
	}
	return answer{}, noConversion()
}

func (c *call) export(it *item, mime string) (answer, error) {
	switch _, isBlob := it.content.(*blob); {
	case isBlob || it.content == nil && !isEditors(it.mime):
		return answer{}, refusal(NotExportable, it.id)
	case !c.canDownload(it):
		return answer{}, refusal(CannotExport, it.id)
	case !slices.Contains(offered(it.content), mime):
		return answer{}, noConversion()
	}
	data, err := it.content.export(mime)
	return answer{media: data, mime: mime}, err
}

// noConversion is what is said to a format that a file isn't exported in.
func noConversion() error {
	return &apiError{status: http.StatusBadRequest, reason: "badRequest", message: "The requested conversion is not supported."}
}
