package extract

import (
	"encoding/xml"
	"errors"
	"fmt"
	"strings"
)

// powerPoint reads a presentation: a heading for each slide, what is on it, and the speaker's notes. Hidden slides are left
// out, as they are when it is shown.
func (s *story) powerPoint(main string) (string, error) {
	all, err := s.archive.links(main)
	if err != nil {
		return "", err
	}
	var slides []string
	err = s.archive.walk(main, unbounded(), func(w *walker, _ xml.StartElement) error {
		return w.each(func(e xml.StartElement) error {
			if e.Name.Local != "sldIdLst" {
				return w.Skip()
			}
			return w.each(func(e xml.StartElement) error {
				slides = append(slides, all[relation(e, "id")].target)
				return w.Skip()
			})
		})
	})
	if err != nil {
		return "", err
	}
	return s.show(len(slides), func(i int) (*slide, error) { return s.slide(slides[i]) })
}

// show writes slides one below the other. One that is damaged is left out.
func (s *story) show(count int, read func(int) (*slide, error)) (string, error) {
	p := &page{}
	s.pages = count
	hidden, broken, spoken := 0, 0, false
	last := min(count, s.MaxPages)
	var err error
	for i := 0; i < last && !s.budget.over(); i++ {
		var one *slide
		one, err = read(i)
		switch {
		case errors.Is(err, errBomb):
			return "", err
		case !isEnough(err):
			broken++
		case one.hidden:
			hidden++
		default:
			spoken = one.write(i+1, p.add) || spoken
		}
	}
	if broken > 0 && broken == count {
		return "", err
	}
	s.truncated = s.truncated || broken > 0 || last < count || s.budget.over()
	s.noteMissing(hidden, "hidden slide")
	s.noteMissing(broken, "damaged slide")
	if !spoken {
		return "", nil
	}
	markdown, err := p.markdown()
	out := strings.Builder{}
	out.WriteString(markdown + "\n")
	sayMissing(&out, hidden, "hidden slide")
	sayMissing(&out, broken, "damaged slide")
	return strings.TrimRight(out.String(), "\n") + "\n", err
}

// slide is what one slide says.
type slide struct {
	title       string
	body, notes []block
	hidden      bool
}

// write writes a slide, and tells whether it says anything.
func (l *slide) write(number int, to sink) bool {
	heading := fmt.Sprintf("Slide %d", number)
	if l.title != "" {
		heading += ": " + l.title
	}
	to(block{heading: 2, text: heading})
	for _, b := range l.body {
		to(b)
	}
	if len(l.notes) > 0 {
		to(block{text: "Notes:"})
	}
	for _, b := range l.notes {
		to(b)
	}
	return l.title != "" || len(l.body)+len(l.notes) > 0
}

// slide reads a slide and its notes.
func (s *story) slide(part string) (*slide, error) {
	links, err := s.archive.links(part)
	if err != nil {
		return nil, err
	}
	one := &slide{}
	f := slideFile{story: s, links: links}
	err = f.read(part, func(e xml.StartElement) { one.hidden = attribute(e, "show") == "0" })
	one.title, one.body = f.title, f.body
	if err != nil {
		return one, err
	}
	notes := slideFile{story: s, ofNotes: true}
	if part := first(links, "notesSlide"); part != "" && s.archive.has(part) {
		err = notes.read(part, func(xml.StartElement) {})
		one.notes = notes.body
	}
	return one, err
}
