package files

import (
	"bytes"
	"crypto/sha256"
	"unicode/utf8"

	"github.com/loresync/loresync/internal/source"
)

// sniffBytes is how much of a file is looked at to tell a binary from a text in another encoding.
const sniffBytes = 8 << 10

// maxControlPercent is the share of control characters above which bytes are no text. Texts hold tabs and line ends, which
// don't count, and now and then a stray one; compressed or numeric data has about one in ten.
const maxControlPercent = 5

// unusable tells why a file's bytes can't be published as knowledge; nil when they are a UTF-8 text, empty ones included.
func unusable(raw []byte) *source.Skip {
	switch {
	case hasUTF16Mark(raw):
		return &source.Skip{Class: skipInvalidUTF8, Sentence: "The file is UTF-16; save it as UTF-8."}
	case bytes.IndexByte(raw, 0) >= 0:
		return &source.Skip{Class: skipBinary, Sentence: "The file holds NUL bytes, so it is binary whatever its name says."}
	case looksBinary(raw):
		return &source.Skip{Class: skipBinary, Sentence: "The file is binary whatever its name says."}
	case !utf8.Valid(raw):
		return &source.Skip{Class: skipInvalidUTF8, Sentence: "The file is not valid UTF-8; save it as UTF-8."}
	}
	return nil
}

func hasUTF16Mark(raw []byte) bool {
	return bytes.HasPrefix(raw, []byte{0xFF, 0xFE}) || bytes.HasPrefix(raw, []byte{0xFE, 0xFF})
}

// binaryHeads are the first bytes of kinds of files that people rename by mistake and that need not hold a NUL byte.
var binaryHeads = [][]byte{
	[]byte("%PDF-"), []byte("PK\x03\x04"), []byte("\x89PNG\r\n"),
	{0xFF, 0xD8, 0xFF},
	{0x1F, 0x8B},
	[]byte("7z\xBC\xAF"),
	{0xD0, 0xCF, 0x11, 0xE0},
}

func looksBinary(raw []byte) bool {
	for _, head := range binaryHeads {
		if bytes.HasPrefix(raw, head) {
			return true
		}
	}
	head := raw[:min(len(raw), sniffBytes)]
	controls := 0
	for _, b := range head {
		if isControlByte(b) {
			controls++
		}
	}
	return controls*100 > len(head)*maxControlPercent
}

// isControlByte leaves out what texts hold: tab, line feed, form feed, carriage return and escape (terminal logs, and the
// Japanese ISO-2022-JP encoding).
func isControlByte(b byte) bool {
	switch b {
	case '\t', '\n', '\f', '\r', 0x1B:
		return false
	}
	return b < 0x20 || b == 0x7F
}

// utf8Mark is the byte order mark that some editors put before UTF-8.
var utf8Mark = []byte("\uFEFF")

// fingerprint identifies a text for recognising it under another path. What holds nothing but white space has none, since
// all empty files look the same.
func fingerprint(raw []byte) []byte {
	if len(bytes.TrimSpace(bytes.TrimPrefix(raw, utf8Mark))) == 0 {
		return nil
	}
	sum := sha256.Sum256(raw)
	return sum[:]
}
