package extract

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"strings"
	"unicode/utf16"

	"github.com/loresync/loresync/internal/content/text"
)

// The openings of files. An office file is read as what it begins with: people rename files, and servers guess.
const (
	openingPDF = "%PDF-"
	// openingOLE begins the files of Office up to 2003, and the ones of today when they are encrypted.
	openingOLE = "\xD0\xCF\x11\xE0\xA1\xB1\x1A\xE1"
	openingRTF = `{\rtf`
)

// encryptedPackage is how the directory of an encrypted file names what is in it.
var encryptedPackage = utf16Bytes("EncryptedPackage")

func utf16Bytes(s string) []byte {
	units := utf16.Encode([]rune(s))
	out := make([]byte, 0, 2*len(units))
	for _, unit := range units {
		out = append(out, byte(unit), byte(unit>>8))
	}
	return out
}

var (
	errOutdated = errors.New("the format is an old one")
	errFormat   = errors.New("the archive is no office file")
)

// actual is the format of a file that is called an office file.
func actual(named format, file *held) format {
	if named == formatOffice && file.begins(openingPDF) {
		return formatPDF
	}
	return named
}

// parseOffice reads a file of Office or OpenDocument.
func parseOffice(o order) reply {
	if o.file.size == 0 {
		return reply{Reason: ReasonEmpty}
	}
	a, err := openOffice(o.file)
	if err != nil {
		return refusal(err)
	}
	s := &story{job: o.job, archive: a, budget: &budget{left: o.MaxRunes}}
	markdown, err := s.read()
	if err != nil && !errors.Is(err, errEnough) {
		return refusal(err)
	}
	r := replyOf(limited(text.Clean(markdown), o.MaxRunes, s.truncated || errors.Is(err, errEnough)))
	r.Pages, r.Note = s.pages, strings.Join(s.notes, "; ")
	return r
}

func openOffice(file *held) (*archive, error) {
	switch {
	case file.begins(openingOLE):
		if bytes.Contains(file.bytes(), encryptedPackage) {
			return nil, errEncrypted
		}
		return nil, errOutdated
	case file.begins(openingRTF):
		return nil, errOutdated
	default:
		return openArchive(file)
	}
}

// refusal is the reply to a file that can't be read.
func refusal(err error) reply {
	switch {
	case errors.Is(err, errEncrypted):
		return reply{Reason: ReasonEncrypted}
	case errors.Is(err, errOutdated):
		return reply{Reason: ReasonOutdated}
	case errors.Is(err, errBomb):
		return reply{Reason: ReasonUnpacked}
	default:
		return reply{Reason: ReasonCorrupt}
	}
}

// story is the reading of one office file.
type story struct {
	job

	archive *archive
	budget  *budget
	// pages is the number of slides.
	pages     int
	truncated bool
	// cells counts what is kept of all sheets, hiddenSheets those that aren't read.
	cells, hiddenSheets int
	// notes tell people what was left out.
	notes []string
}

// mainParts are where Office keeps the document itself, for a file that has lost the table that says so.
var mainParts = []string{"word/document.xml", "ppt/presentation.xml", "xl/workbook.xml"}

// read gives the text of the file as Markdown. With errEnough comes as much as there is room for.
func (s *story) read() (string, error) {
	if s.archive.has(openContent) {
		return s.openDocument()
	}
	main, err := s.mainPart()
	if err != nil {
		return "", err
	}
	root := ""
	err = s.archive.walk(main, unbounded(), func(_ *walker, e xml.StartElement) error {
		root = e.Name.Local
		return nil
	})
	if err != nil {
		return "", err
	}
	switch root {
	case "document":
		return s.word(main)
	case "presentation":
		return s.powerPoint(main)
	case "workbook":
		return s.excel(main)
	default:
		return "", errFormat
	}
}

func (s *story) mainPart() (string, error) {
	all, err := s.archive.links("")
	if err != nil {
		return "", err
	}
	main := first(all, "officeDocument")
	if strings.HasSuffix(main, ".bin") {
		return "", errOutdated
	}
	if s.archive.has(main) {
		return main, nil
	}
	for _, part := range mainParts {
		if s.archive.has(part) {
			return part, nil
		}
	}
	return "", errMissing
}

// optional reads a part that a file may do without.
func (s *story) optional(part string, take func(*walker, xml.StartElement) error) error {
	if part == "" || !s.archive.has(part) {
		return nil
	}
	return s.archive.walk(part, unbounded(), take)
}

// addNote tells people that something was left out.
func (s *story) addNote(format string, values ...any) {
	s.notes = append(s.notes, fmt.Sprintf(format, values...))
}

// isEnough tells whether reading ended because there is enough text; what was read until then is kept.
func isEnough(err error) bool { return err == nil || errors.Is(err, errEnough) }
