package drivetest

import (
	"net/http"
	"reflect"
	"strings"
	"unicode"
)

// mask is which fields of an answer were asked for: a(b,c/d),e or *. A mask without fields is for all of them.
type mask struct{ fields map[string]*mask }

// defaults are the fields that are answered when none are asked for.
var defaults = map[Kind]string{
	KindList:        "kind,nextPageToken,incompleteSearch,files(kind,id,name,mimeType)",
	KindGet:         "kind,id,name,mimeType",
	KindPermissions: "kind,nextPageToken,permissions(kind,id,type,role)",
	KindDrives:      "kind,nextPageToken,drives(kind,id,name)",
	KindDrive:       "kind,id,name",
	KindChanges: "kind,nextPageToken,newStartPageToken," +
		"changes(kind,changeType,type,time,removed,fileId,driveId,file(kind,id,name,mimeType),drive(kind,id,name))",
	KindStartToken: "*",
	KindWatch:      "*",
}

// mask reads the parameter fields and checks it against what the endpoint can answer.
func (c *call) mask() (*mask, error) {
	text := c.query().Get("fields")
	if text == "" {
		text = defaults[c.kind]
	}
	if text == "" {
		return nil, &apiError{
			status: http.StatusBadRequest, reason: "required", message: "The 'fields' parameter is required for this method.",
		}
	}
	p := &maskParser{rest: text}
	m, ok := p.list()
	if !ok || p.rest != "" {
		return nil, badField(text)
	}
	if err := m.check(reflect.TypeOf(answers[c.kind])); err != nil {
		return nil, err
	}
	return m, nil
}

func badField(name string) error {
	return &apiError{
		status: http.StatusBadRequest, reason: "invalidParameter", message: "Invalid field selection " + name,
	}
}

// check errs for a field that doesn't exist.
func (m *mask) check(t reflect.Type) error {
	for name, below := range m.fields {
		if name == "*" {
			continue
		}
		field, ok := fieldOf(t, name)
		if !ok {
			return badField(name)
		}
		if err := below.check(field); err != nil {
			return err
		}
	}
	return nil
}

// sub is what was asked for of a field; nil for nothing.
func (m *mask) sub(name string) *mask {
	if len(m.fields) == 0 {
		return m
	}
	if below := m.fields[name]; below != nil {
		return below
	}
	return m.fields["*"]
}

// prune leaves of a value what was asked for.
func (m *mask) prune(value any) any {
	if len(m.fields) == 0 {
		return value
	}
	switch value := value.(type) {
	case Object:
		left := Object{}
		for name, inner := range value {
			if below := m.sub(name); below != nil && (len(below.fields) == 0 || !isScalar(inner)) {
				left[name] = below.prune(inner)
			}
		}
		return left
	case []any:
		left := make([]any, len(value))
		for i, inner := range value {
			left[i] = m.prune(inner)
		}
		return left
	}
	return value
}

// isScalar is whether a value has no fields.
func isScalar(value any) bool {
	switch value.(type) {
	case Object, []any:
		return false
	}
	return true
}

// object is prune for an answer.
func (m *mask) object(o Object) answer {
	left, _ := m.prune(o).(Object)
	return answer{object: left}
}

// maskParser reads the language of masks.
type maskParser struct{ rest string }

// list reads selections between commas.
func (p *maskParser) list() (*mask, bool) {
	m := &mask{fields: map[string]*mask{}}
	for {
		if !p.selection(m) {
			return nil, false
		}
		if !p.take(',') {
			return m, true
		}
	}
}

// selection reads a path with what is asked for at its end into a mask.
func (p *maskParser) selection(m *mask) bool {
	name := p.name()
	if name == "" {
		return false
	}
	below := &mask{fields: map[string]*mask{}}
	switch {
	case p.take('/'):
		if !p.selection(below) {
			return false
		}
	case p.take('('):
		var ok bool
		if below, ok = p.list(); !ok || !p.take(')') {
			return false
		}
	}
	m.add(name, below)
	return true
}

// name reads the name of a field, or *; it is empty when neither comes.
func (p *maskParser) name() string {
	if p.take('*') {
		return "*"
	}
	rest := strings.TrimLeftFunc(p.rest, func(r rune) bool {
		return r == '_' || r < unicode.MaxASCII && (unicode.IsLetter(r) || unicode.IsDigit(r))
	})
	name := p.rest[:len(p.rest)-len(rest)]
	p.rest = rest
	return name
}

// add asks for a field besides what was asked for before. Asking for all of it, which is a mask without fields, wins.
func (m *mask) add(name string, below *mask) {
	known := m.fields[name]
	switch {
	case known == nil || len(below.fields) == 0:
		m.fields[name] = below
	case len(known.fields) > 0:
		for inner, more := range below.fields {
			known.add(inner, more)
		}
	}
}

func (p *maskParser) take(c byte) bool {
	if p.rest != "" && p.rest[0] == c {
		p.rest = p.rest[1:]
		return true
	}
	return false
}
