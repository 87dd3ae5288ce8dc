package notiontest

import "strings"

// Span is one piece of rich text with one look.
type Span struct {
	Text string
	// Link is where the text leads: a URL, or a path that begins with a slash, as links inside a workspace do.
	Link string
	// Color is Notion's name of one; "default" when empty.
	Color                                        string
	Bold, Italic, Strikethrough, Underline, Code bool
	// Equation makes Text a TeX expression.
	Equation bool
	// Mention is the payload of a mention with its type, whose plain text is Text.
	Mention Object
	// Raw, when set, is sent in place of everything else, for pieces of a type that isn't known yet.
	Raw Object
}

// Text is a plain piece of text.
func Text(text string) Span { return Span{Text: text} }

// Bold is a bold piece of text.
func Bold(text string) Span { return Span{Text: text, Bold: true} }

// Linked is a piece of text that leads to a URL.
func Linked(text, url string) Span { return Span{Text: text, Link: url} }

// Equation is a piece of TeX.
func Equation(expression string) Span { return Span{Text: expression, Equation: true} }

// MentionPage is a mention of a page, with the title that readers see.
func MentionPage(id, title string) Span {
	return Span{Text: title, Link: "/" + compact(id), Mention: Object{"type": "page", "page": Object{"id": id}}}
}

// MentionDatabase is a mention of a database, with the title that readers see.
func MentionDatabase(id, title string) Span {
	return Span{Text: title, Link: "/" + compact(id), Mention: Object{"type": "database", "database": Object{"id": id}}}
}

// MentionUser is a mention of a user, with the name that readers see.
func MentionUser(id, name string) Span {
	return Span{Text: "@" + name, Mention: Object{"type": "user", "user": Object{"object": "user", "id": id}}}
}

// MentionDate is a mention of a day or a time, spelled as Notion's dates are.
func MentionDate(start string) Span {
	return Span{Text: start, Mention: Object{"type": "date", "date": Object{"start": start, "end": nil, "time_zone": nil}}}
}

// plain is the text of spans without their looks.
func plain(spans []Span) string {
	var b strings.Builder
	for _, s := range spans {
		b.WriteString(s.Text)
	}
	return b.String()
}

// titled makes the spans of a title; none for an empty one, as Notion does.
func titled(title string) []Span {
	if title == "" {
		return nil
	}
	return []Span{Text(title)}
}

// richText is the API's form of spans: an array, never null.
func richText(spans []Span) []any {
	rich := make([]any, 0, len(spans))
	for _, s := range spans {
		rich = append(rich, s.object())
	}
	return rich
}

func (s Span) object() Object {
	if s.Raw != nil {
		return s.Raw
	}
	o := Object{"annotations": s.annotations(), "plain_text": s.Text, "href": nil}
	if s.Link != "" {
		o["href"] = s.Link
	}
	switch {
	case s.Equation:
		o["type"], o["equation"] = "equation", Object{"expression": s.Text}
	case s.Mention != nil:
		o["type"], o["mention"] = "mention", s.Mention
	default:
		o["type"], o["text"] = "text", Object{"content": s.Text, "link": s.link()}
	}
	return o
}

func (s Span) link() any {
	if s.Link == "" {
		return nil
	}
	return Object{"url": s.Link}
}

func (s Span) annotations() Object {
	return Object{
		"bold": s.Bold, "italic": s.Italic, "strikethrough": s.Strikethrough, "underline": s.Underline, "code": s.Code,
		"color": withDefault(s.Color, "default"),
	}
}
