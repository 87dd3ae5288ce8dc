package extract

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestKindOf(t *testing.T) {
	t.Parallel()
	const archive = "application/zip"
	for _, c := range []struct {
		mime, name string
		want       format
	}{
		{"application/vnd.openxmlformats-officedocument.wordprocessingml.document", "", formatOffice},
		{"application/vnd.openxmlformats-officedocument.spreadsheetml.sheet", "x.bin", formatOffice},
		{"application/vnd.openxmlformats-officedocument.presentationml.template; charset=binary", "", formatOffice},
		{"application/vnd.ms-word.document.macroEnabled.12", "", formatOffice},
		{"application/vnd.ms-excel.sheet.macroenabled.12", "", formatOffice},
		{"application/vnd.oasis.opendocument.text", "", formatOffice},
		{"application/vnd.oasis.opendocument.presentation-template", "", formatOffice},
		{"application/msword", "a.doc", formatOffice},
		{"application/vnd.ms-powerpoint", "", formatOffice},
		{"application/vnd.ms-excel", "report.csv", formatTable},
		{"application/vnd.ms-excel", "report.xls", formatOffice},
		{"application/vnd.ms-excel", "", formatOffice},
		{"text/rtf", "", formatOffice},
		{"application/octet-stream", "A.PPTX", formatOffice},
		{"", "b.ods", formatOffice},
		{archive, "c.docx", formatOffice},
		{archive, "c.pdf", formatUnknown},
		{archive, "c.zip", formatUnknown},
		{"image/png", "d.docx", formatUnknown},
		{"application/csv", "", formatTable},
	} {
		assert.Equal(t, c.want, kindOf(c.mime, c.name).format, "%s %s", c.mime, c.name)
	}
}
