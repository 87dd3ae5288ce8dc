package drivetest

import (
	"fmt"
	"strings"
)

// Slide is one of a presentation.
type Slide struct {
	Title string
	// Body has a paragraph on each line.
	Body string
	// Notes are the speaker's.
	Notes string
}

// deck is a presentation.
type deck []Slide

func (d deck) formats() []string { return []string{"text/plain", mimePptx} }

func (d deck) export(mime string) ([]byte, error) {
	if mime == "text/plain" {
		return windows(d.words()), nil
	}
	return d.pptx()
}

// words has each slide's title, body and notes in lines, and an empty line between slides.
func (d deck) words() string {
	slides := make([]string, len(d))
	for i, slide := range d {
		var lines []string
		for _, part := range []string{slide.Title, slide.Body, slide.Notes} {
			if part != "" {
				lines = append(lines, part)
			}
		}
		slides[i] = strings.Join(lines, "\n")
	}
	return strings.Join(slides, "\n\n")
}

func (d deck) size() int { return len(d.words()) }

// pptx writes a presentation as a file of PowerPoint.
func (d deck) pptx() ([]byte, error) {
	types := [][2]string{{"ppt/presentation.xml", "presentationml.presentation.main"}}
	var links [][2]string
	var files []zipped
	var list strings.Builder
	for i, slide := range d {
		n := i + 1
		types = append(types, [2]string{fmt.Sprintf("ppt/slides/slide%d.xml", n), "presentationml.slide"})
		links = append(links, [2]string{"slide", fmt.Sprintf("slides/slide%d.xml", n)})
		fmt.Fprintf(&list, `<p:sldId id="%d" r:id="rId%d"/>`, 256+i, n)
		files = append(files, zipped{fmt.Sprintf("ppt/slides/slide%d.xml", n), shapes("sld", [2]string{"title", slide.Title}, [2]string{"body", slide.Body})})
		if slide.Notes == "" {
			continue
		}
		types = append(types, [2]string{fmt.Sprintf("ppt/notesSlides/notesSlide%d.xml", n), "presentationml.notesSlide"})
		files = append(
			files, zipped{fmt.Sprintf("ppt/notesSlides/notesSlide%d.xml", n), shapes("notes", [2]string{"body", slide.Notes})},
			relations(fmt.Sprintf("ppt/slides/_rels/slide%d.xml.rels", n), [2]string{"notesSlide", fmt.Sprintf("../notesSlides/notesSlide%d.xml", n)}),
			relations(fmt.Sprintf("ppt/notesSlides/_rels/notesSlide%d.xml.rels", n), [2]string{"slide", fmt.Sprintf("../slides/slide%d.xml", n)}),
		)
	}
	presentation := xmlHead + `<p:presentation xmlns:p="` + slideSpace + `" xmlns:r="` + officeRelations + `"><p:sldIdLst>` +
		list.String() + "</p:sldIdLst></p:presentation>"
	return zipUp(append([]zipped{
		contentTypes(types...), relations("_rels/.rels", [2]string{"officeDocument", "ppt/presentation.xml"}),
		{"ppt/presentation.xml", presentation},
		relations("ppt/_rels/presentation.xml.rels", links...),
	}, files...))
}

// shapes is a slide, or its notes, with a shape for each text, given as pairs of its place and the text.
func shapes(root string, texts ...[2]string) string {
	var out strings.Builder
	fmt.Fprintf(&out, `%s<p:%s xmlns:p="%s" xmlns:a="%s"><p:cSld><p:spTree>`, xmlHead, root, slideSpace, drawSpace)
	for i, text := range texts {
		fmt.Fprintf(&out, `<p:sp><p:nvSpPr><p:cNvPr id="%d" name="%s"/><p:cNvSpPr/><p:nvPr><p:ph type="%s"/></p:nvPr></p:nvSpPr><p:txBody><a:bodyPr/>`,
			i+2, text[0], text[0])
		for line := range strings.SplitSeq(text[1], "\n") {
			fmt.Fprintf(&out, "<a:p><a:r><a:t>%s</a:t></a:r></a:p>", escaped(line))
		}
		out.WriteString("</p:txBody></p:sp>")
	}
	fmt.Fprintf(&out, "</p:spTree></p:cSld></p:%s>", root)
	return out.String()
}
