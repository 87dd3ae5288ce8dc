package drivetest

import (
	"slices"
	"strings"
	"time"
)

// condition is whether an item is found by a query, for one user.
type condition func(v *view, it *item) bool

// query is a parsed parameter q.
type query struct {
	holds condition
	// parents are the folders that are named; fullText is whether the text of files is looked through.
	parents  []string
	fullText bool
}

// parseQuery reads a parameter q:
//
//	query = term { ("and" | "or") term }     from the left to the right, without one going before the other
//	term  = [ "not" ] ( "(" query ")" | field operator value | value "in" collection | "sharedWithMe" )
//
// What Drive isn't documented to take is refused: other cases of words, double quotes, other operators than a field has.
func parseQuery(text string) (*query, error) {
	lexemes, ok := lex(text)
	p := &queryParser{rest: lexemes, query: &query{}}
	if strings.TrimSpace(text) == "" {
		p.query.holds = func(*view, *item) bool { return true }
		return p.query, nil
	}
	if ok {
		p.query.holds, ok = p.terms()
	}
	if !ok || len(p.rest) > 0 {
		return nil, invalid("")
	}
	return p.query, nil
}

type queryParser struct {
	rest  []lexeme
	query *query
	depth int
}

// maxDepth is how deep brackets may be nested.
const maxDepth = 100

// next takes a piece of the query; an empty one at its end.
func (p *queryParser) next() lexeme {
	if len(p.rest) == 0 {
		return lexeme{}
	}
	first := p.rest[0]
	p.rest = p.rest[1:]
	return first
}

// word takes a piece if it is the given one, outside of quotes.
func (p *queryParser) word(text string) bool {
	if len(p.rest) > 0 && p.rest[0] == (lexeme{text: text}) {
		p.rest = p.rest[1:]
		return true
	}
	return false
}

func (p *queryParser) terms() (condition, bool) {
	holds, ok := p.term()
	for ok {
		var more condition
		left := holds
		switch {
		case p.word("and"):
			more, ok = p.term()
			holds = func(v *view, it *item) bool { return left(v, it) && more(v, it) }
		case p.word("or"):
			more, ok = p.term()
			holds = func(v *view, it *item) bool { return left(v, it) || more(v, it) }
		default:
			return holds, true
		}
	}
	return nil, false
}

func (p *queryParser) term() (condition, bool) {
	p.depth++
	defer func() { p.depth-- }()
	if p.depth > maxDepth {
		return nil, false
	}
	switch {
	case p.word("not"):
		holds, ok := p.term()
		return func(v *view, it *item) bool { return !holds(v, it) }, ok
	case p.word("("):
		holds, ok := p.terms()
		return holds, ok && p.word(")")
	}
	first := p.next()
	if first.quoted {
		return p.membership(first.text)
	}
	if first.text == "sharedWithMe" && !p.comes("=") && !p.comes("!=") {
		return func(v *view, it *item) bool { return v.isSharedWith(it) }, true
	}
	return p.comparison(first.text)
}

func (p *queryParser) comes(sign string) bool {
	return len(p.rest) > 0 && p.rest[0] == lexeme{text: sign}
}

// membership reads what follows a value: in and a collection.
func (p *queryParser) membership(value string) (condition, bool) {
	if !p.word("in") {
		return nil, false
	}
	switch collection := p.next(); collection {
	case lexeme{text: "parents"}:
		p.query.parents = append(p.query.parents, value)
		return func(v *view, it *item) bool { return v.hasParent(it, value) }, true
	case lexeme{text: "owners"}:
		return func(_ *view, it *item) bool { return it.owner == value }, true
	case lexeme{text: "writers"}:
		return func(v *view, it *item) bool { return v.s.allows(it, value, RoleWriter) }, true
	case lexeme{text: "readers"}:
		return func(v *view, it *item) bool { return v.s.allows(it, value, RoleReader) }, true
	}
	return nil, false
}

// comparison reads what follows a field: an operator that it has, and a value of its kind.
func (p *queryParser) comparison(field string) (condition, bool) {
	operator, value := p.next(), p.next()
	if operator.quoted {
		return nil, false
	}
	switch field {
	case "name", "mimeType", "shortcutDetails.targetId":
		return textCondition(field, operator.text, value)
	case "fullText":
		p.query.fullText = true
		return func(_ *view, it *item) bool { return it.mentions(value.text) }, operator.text == "contains" && value.quoted
	case "modifiedTime", "createdTime", "sharedWithMeTime", "viewedByMeTime":
		return timeCondition(field, operator.text, value)
	case "trashed", "starred", "sharedWithMe":
		return boolCondition(field, operator.text, value)
	case "visibility":
		return visibilityCondition(operator.text, value)
	case "properties", "appProperties":
		return p.hasProperty(operator.text, value)
	}
	return nil, false
}

func textCondition(field, operator string, value lexeme) (condition, bool) {
	of := map[string]func(*item) string{
		"name": (*item).shownName, "mimeType": func(it *item) string { return it.mime },
		"shortcutDetails.targetId": func(it *item) string { return it.target },
	}[field]
	switch {
	case !value.quoted:
	case operator == "=":
		return func(_ *view, it *item) bool { return of(it) == value.text }, true
	case operator == "!=":
		return func(_ *view, it *item) bool { return of(it) != value.text }, true
	case operator == "contains" && field == "name":
		return func(_ *view, it *item) bool { return hasPrefixes(it.shownName(), value.text) }, true
	case operator == "contains" && field == "mimeType":
		return func(_ *view, it *item) bool { return strings.Contains(it.mime, value.text) }, true
	}
	return nil, false
}

func timeCondition(field, operator string, value lexeme) (condition, bool) {
	compare, known := map[string]func(int) bool{
		"=": func(n int) bool { return n == 0 }, "!=": func(n int) bool { return n != 0 },
		"<": func(n int) bool { return n < 0 }, "<=": func(n int) bool { return n <= 0 },
		">": func(n int) bool { return n > 0 }, ">=": func(n int) bool { return n >= 0 },
	}[operator]
	at, ok := parseTime(value)
	return func(v *view, it *item) bool {
		is := v.timeOf(it, field)
		return !is.IsZero() && compare(is.Truncate(time.Millisecond).Compare(at))
	}, ok && known
}

// parseTime reads a time of RFC 3339, in UTC when it has no zone, or a day.
func parseTime(value lexeme) (time.Time, bool) {
	if !value.quoted {
		return time.Time{}, false
	}
	for _, form := range []string{time.RFC3339, "2006-01-02T15:04:05", time.DateOnly} {
		if at, err := time.Parse(form, value.text); err == nil {
			return at, true
		}
	}
	return time.Time{}, false
}

func boolCondition(field, operator string, value lexeme) (condition, bool) {
	of := map[string]condition{
		"trashed": func(v *view, it *item) bool { return v.s.isTrashed(it) }, "starred": func(*view, *item) bool { return false },
		"sharedWithMe": (*view).isSharedWith,
	}[field]
	want := value.text == "true"
	if operator == "!=" {
		want = !want
	}
	return func(v *view, it *item) bool { return of(v, it) == want },
		(operator == "=" || operator == "!=") && !value.quoted && (value.text == "true" || value.text == "false")
}

func visibilityCondition(operator string, value lexeme) (condition, bool) {
	known := []string{"anyoneCanFind", "anyoneWithLink", "domainCanFind", "domainWithLink", "limited"}
	return func(v *view, it *item) bool { return (v.s.visibility(it) == value.text) == (operator == "=") },
		(operator == "=" || operator == "!=") && value.quoted && slices.Contains(known, value.text)
}

// hasProperty reads { key='…' and value='…' }. Files here have no properties.
func (p *queryParser) hasProperty(operator string, bracket lexeme) (condition, bool) {
	quoted := func() bool { return p.next().quoted }
	ok := operator == "has" && bracket == lexeme{text: "{"} && p.word("key") && p.word("=") && quoted() &&
		p.word("and") && p.word("value") && p.word("=") && quoted() && p.word("}")
	return func(*view, *item) bool { return false }, ok
}
