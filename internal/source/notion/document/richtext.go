package document

import (
	"encoding/json"
	"strings"
)

// textRun is one piece of Notion's rich text.
type textRun struct {
	Type string `json:"type"`
	// PlainText is what Notion shows; absent in requests and some old recordings, where Text has it.
	PlainText   string `json:"plain_text"`
	Href        string `json:"href"`
	Annotations struct {
		Bold          bool `json:"bold"`
		Italic        bool `json:"italic"`
		Strikethrough bool `json:"strikethrough"`
		Code          bool `json:"code"`
	} `json:"annotations"`
	Text struct {
		Content string `json:"content"`
		Link    struct {
			URL string `json:"url"`
		} `json:"link"`
	} `json:"text"`
	Mention  json.RawMessage `json:"mention"`
	Equation struct {
		Expression string `json:"expression"`
	} `json:"equation"`
}

// content is the text of a run whatever version of the API it came from.
func (t *textRun) content() string {
	switch {
	case t.PlainText != "":
		return tidyText(t.PlainText)
	case t.Text.Content != "":
		return tidyText(t.Text.Content)
	default:
		return tidyText(t.Equation.Expression)
	}
}

func (t *textRun) style() style {
	var s style
	if t.Annotations.Strikethrough {
		s |= strike
	}
	if t.Annotations.Bold {
		s |= bold
	}
	if t.Annotations.Italic {
		s |= italic
	}
	return s
}

// plainRuns is rich text without its markup.
func plainRuns(runs []textRun) string {
	if len(runs) == 1 {
		return runs[0].content()
	}
	var out strings.Builder
	for i := range runs {
		out.WriteString(runs[i].content())
	}
	return out.String()
}

// plainRichText is encoded rich text without its markup; "" for what isn't rich text.
func plainRichText(raw json.RawMessage) string {
	var runs []textRun
	decodeInto(raw, &runs)
	return plainRuns(runs)
}

// spanKind tells text from what has a markup of its own.
type spanKind uint8

const (
	spanText spanKind = iota
	spanCode
	spanMath
)

// span is a run that is ready to be written: its text, how it looks and where it leads.
type span struct {
	text  string
	kind  spanKind
	style style
	// link is a destination, as in Markdown; empty when there is none.
	link string
}

// spans prepares rich text, with style more laid over all of it.
func (r *renderer) spans(runs []textRun, more style) []span {
	out := make([]span, 0, len(runs))
	for i := range runs {
		run := &runs[i]
		s := span{text: run.content(), style: run.style() | more, link: r.destination(run.Href)}
		if s.link == "" {
			s.link = r.destination(run.Text.Link.URL)
		}
		switch {
		case run.Type == "equation":
			s.kind, s.link = spanMath, ""
			if run.Equation.Expression != "" {
				s.text = tidyText(run.Equation.Expression)
			}
		case run.Type == "mention":
			r.mention(run, &s)
		case run.Annotations.Code:
			s.kind = spanCode
		}
		if s.text == "" {
			continue
		}
		if n := len(out); n == 0 || !out[n-1].join(s) {
			out = append(out, s)
		}
	}
	return out
}

// join takes in the span behind it where the two must not be kept apart: they look the same, or their marks would touch and
// mean something else. Touching code keeps the annotations that both have.
func (s *span) join(next span) bool {
	switch {
	case s.kind != next.kind || s.link != next.link:
		return false
	case s.kind == spanCode:
		s.style &= next.style
	case s.kind == spanMath:
		s.style &= next.style
		s.text += " "
	case s.style != next.style:
		return false
	}
	s.text += next.text
	return true
}
