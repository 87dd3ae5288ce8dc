package drivetest

import (
	"archive/zip"
	"bytes"
	"encoding/xml"
	"fmt"
	"strings"
)

// zipped is one file of an archive.
type zipped struct{ name, text string }

func zipUp(files []zipped) ([]byte, error) {
	var out bytes.Buffer
	archive := zip.NewWriter(&out)
	for _, file := range files {
		w, err := archive.Create(file.name)
		if err != nil {
			return nil, fmt.Errorf("pack %s: %w", file.name, err)
		}
		if _, err := w.Write([]byte(file.text)); err != nil {
			return nil, fmt.Errorf("pack %s: %w", file.name, err)
		}
	}
	if err := archive.Close(); err != nil {
		return nil, fmt.Errorf("pack an export: %w", err)
	}
	return out.Bytes(), nil
}

const xmlHead = `<?xml version="1.0" encoding="UTF-8" standalone="yes"?>` + "\n"

// The names of the parts of Office's files, and of how they are related.
const (
	officeTypes     = "application/vnd.openxmlformats-officedocument."
	officeRelations = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
	wordSpace       = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
	slideSpace      = "http://schemas.openxmlformats.org/presentationml/2006/main"
	drawSpace       = "http://schemas.openxmlformats.org/drawingml/2006/main"
)

// contentTypes lists the types of parts, given as pairs of a name and a type.
func contentTypes(parts ...[2]string) zipped {
	var out strings.Builder
	out.WriteString(xmlHead + `<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">` +
		`<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>` +
		`<Default Extension="xml" ContentType="application/xml"/>`)
	for _, part := range parts {
		fmt.Fprintf(&out, `<Override PartName="/%s" ContentType="%s%s+xml"/>`, part[0], officeTypes, part[1])
	}
	out.WriteString("</Types>")
	return zipped{"[Content_Types].xml", out.String()}
}

// relations say what a part leads to, given as pairs of a kind and a target; their ids are rId1, rId2, ….
func relations(name string, targets ...[2]string) zipped {
	var out strings.Builder
	out.WriteString(xmlHead + `<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">`)
	for i, target := range targets {
		mode := ""
		if target[0] == "hyperlink" {
			mode = ` TargetMode="External"`
		}
		fmt.Fprintf(&out, `<Relationship Id="rId%d" Type="%s/%s" Target="%s"%s/>`, i+1, officeRelations, target[0], escaped(target[1]), mode)
	}
	out.WriteString("</Relationships>")
	return zipped{name, out.String()}
}

// escaped is text for XML.
func escaped(s string) string {
	var out bytes.Buffer
	// Writing to memory can't fail.
	_ = xml.EscapeText(&out, []byte(s))
	return out.String()
}
