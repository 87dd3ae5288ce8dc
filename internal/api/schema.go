package api

import (
	"encoding/json"
	"reflect"
	"strings"
	"time"

	"github.com/loresync/loresync/internal/knowledge"
)

// schemas makes JSON schemas of the types of answers, and names those of structs.
type schemas struct {
	named object
	// types are those that have the names, and twice the names that two types would have.
	types map[string]reflect.Type
	twice []string
}

// enums are the words of the types that have only some.
var enums = map[reflect.Type][]string{
	reflect.TypeFor[knowledge.RunStatus](): {"running", "completed", "partial", "failed", "cancelled", "refused"},
	reflect.TypeFor[knowledge.PageState](): {"live", "excluded", "tombstoned", "skipped", "pending"},
	reflect.TypeFor[knowledge.Mode]():      {"full", "incremental", "dry_run"},
}

// of gives the schema of a value's type, as document.Normal and encoding/json write it.
func (s *schemas) of(value any) object { return s.ofType(reflect.TypeOf(value)) }

func (s *schemas) ofType(t reflect.Type) object {
	switch t {
	case reflect.TypeFor[time.Time]():
		return object{typeWord: kindString, "format": "date-time"}
	case reflect.TypeFor[json.RawMessage]():
		return object{} // whatever the source or a person gave
	}
	switch t.Kind() {
	case reflect.Bool:
		return object{typeWord: kindBoolean}
	case reflect.Float32, reflect.Float64:
		return object{typeWord: "number"}
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return object{typeWord: kindInteger}
	case reflect.String:
		if words := enums[t]; words != nil {
			return object{typeWord: kindString, "enum": words}
		}
		return object{typeWord: kindString}
	case reflect.Slice:
		return object{typeWord: "array", "items": s.ofType(t.Elem())}
	case reflect.Map:
		return object{typeWord: "object", "additionalProperties": s.ofType(t.Elem())}
	case reflect.Pointer:
		return orNull(s.ofType(t.Elem()))
	case reflect.Struct:
		return s.ofStruct(t)
	default:
		return object{}
	}
}

// orNull allows null too.
func orNull(schema object) object {
	switch kind, plain := schema[typeWord].(string); {
	case len(schema) == 0:
		return schema
	case plain && schema["enum"] == nil:
		schema[typeWord] = []string{kind, "null"}
		return schema
	}
	return object{"anyOf": []object{schema, {typeWord: "null"}}}
}

// ofStruct refers to the schema of a struct, which stands among the named ones.
func (s *schemas) ofStruct(t reflect.Type) object {
	name := strings.ToUpper(t.Name()[:1]) + t.Name()[1:]
	reference := object{"$ref": "#/components/schemas/" + name}
	if s.named[name] != nil {
		if s.types[name] != t {
			s.twice = append(s.twice, name)
		}
		return reference
	}
	schema := object{typeWord: "object"}
	s.named[name], s.types[name] = schema, t
	properties := object{}
	var required []string
	for _, f := range fieldsOf(t) {
		properties[f.name] = s.ofType(f.of)
		if f.required {
			required = append(required, f.name)
		}
	}
	schema["properties"] = properties
	if len(required) > 0 {
		schema["required"] = required
	}
	if isRequest(t) {
		schema["additionalProperties"] = false
	}
	return reference
}

// field is a field of a struct as JSON has it.
type field struct {
	name     string
	of       reflect.Type
	required bool
}

// fieldsOf gives a struct's fields, those of embedded structs included unless a field of its own has the same name.
func fieldsOf(t reflect.Type) []field {
	var own, embedded []field
	for f := range t.Fields() {
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case f.Anonymous && name == "":
			embedded = append(embedded, fieldsOf(f.Type)...)
		case name == "-" || !f.IsExported():
		default:
			required := options != "omitempty"
			if isRequest(t) {
				required = f.Tag.Get("required") == "true"
			}
			own = append(own, field{name: name, of: f.Type, required: required})
		}
	}
	taken := map[string]bool{}
	for _, f := range own {
		taken[f.name] = true
	}
	for _, f := range embedded {
		if !taken[f.name] {
			own = append(own, f)
		}
	}
	return own
}

// isRequest tells the types of bodies that are taken in, which are this package's own, from those of answers.
func isRequest(t reflect.Type) bool {
	return t.PkgPath() == reflect.TypeFor[newFolder]().PkgPath() && t != reflect.TypeFor[Problem]()
}

// hasRequired tells whether a body has to be there.
func hasRequired(body any) bool {
	for _, f := range fieldsOf(reflect.TypeOf(body)) {
		if f.required {
			return true
		}
	}
	return false
}
