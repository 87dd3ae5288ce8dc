package notiontest

import (
	"fmt"
	"net/url"
	"slices"
)

// Column is one column of a data source.
type Column struct {
	Name string
	// ID is made from the workspace's seed when empty. It is URL-encoded, as the API shows it.
	ID string
	// Type is Notion's name of it.
	Type string
	// Config is what the schema shows under the type's name; an empty object when nil.
	Config Object
}

// Value is what a row has in a column: Notion's name of the type, and what the API shows under that name.
type Value struct {
	Type    string
	Payload any
}

// schema gives columns their ids, and a title if there is none.
func (w *Workspace) schema(columns []Column) []Column {
	columns = slices.Clone(columns)
	if !slices.ContainsFunc(columns, func(c Column) bool { return c.Type == "title" }) {
		columns = append([]Column{{Name: "Name", Type: "title"}}, columns...)
	}
	for i := range columns {
		c := &columns[i]
		if c.Config == nil {
			c.Config = Object{}
		}
		switch {
		case c.Type == "title":
			c.ID = "title"
		case c.ID == "":
			// Some ids of Notion's need encoding in a path, so a part of them is made of such characters.
			c.ID = url.PathEscape(w.nextID()[:2] + `:\`[i%2:i%2+1] + string(rune('A'+i%26)))
		}
	}
	return columns
}

// column finds a column by its name, and makes sure that it takes values of a type.
func (n *node) column(name, typ string) (Column, error) {
	for _, c := range n.columns {
		if c.Name != name {
			continue
		}
		if c.Type != typ {
			return Column{}, fmt.Errorf("the column %q takes %s, not %s", name, c.Type, typ)
		}
		return c, nil
	}
	return Column{}, fmt.Errorf("the data source has no column %q", name)
}

// WordsValue is a value of type rich_text.
func WordsValue(text ...Span) Value { return Value{"rich_text", richText(text)} }

// NumberValue is a value of type number.
func NumberValue(n float64) Value { return Value{"number", n} }

// CheckboxValue is a value of type checkbox.
func CheckboxValue(ticked bool) Value { return Value{"checkbox", ticked} }

// SelectValue is a value of type select.
func SelectValue(name string) Value { return Value{"select", option(name)} }

// StatusValue is a value of type status.
func StatusValue(name string) Value { return Value{"status", option(name)} }

// MultiSelectValue is a value of type multi_select.
func MultiSelectValue(names ...string) Value {
	options := make([]any, 0, len(names))
	for _, name := range names {
		options = append(options, option(name))
	}
	return Value{"multi_select", options}
}

// option is a choice with an id of its own.
func option(name string) Object {
	return Object{"id": uuidOf(0, "option/"+name), "name": name, "color": "default"}
}

// DateValue is a value of type date: a day or a time in Notion's spelling, with an end or an empty one.
func DateValue(start, end string) Value {
	date := Object{"start": start, "end": nil, "time_zone": nil}
	if end != "" {
		date["end"] = end
	}
	return Value{"date", date}
}

// URLValue is a value of type url.
func URLValue(address string) Value { return Value{"url", address} }

// EmailValue is a value of type email.
func EmailValue(address string) Value { return Value{"email", address} }

// PhoneValue is a value of type phone_number.
func PhoneValue(number string) Value { return Value{"phone_number", number} }

// PeopleValue is a value of type people, by the ids of users. More than 25 are cut on the page and whole on the property.
func PeopleValue(users ...string) Value { return Value{"people", references("user", users)} }

// RelationValue is a value of type relation, by the ids of pages. More than 25 are cut on the page and whole on the property.
func RelationValue(pages ...string) Value { return Value{"relation", references("", pages)} }

func references(object string, ids []string) []any {
	refs := make([]any, 0, len(ids))
	for _, id := range ids {
		ref := Object{"id": id}
		if object != "" {
			ref["object"] = object
		}
		refs = append(refs, ref)
	}
	return refs
}

// FilesValue is a value of type files: the ids of files that Notion keeps, each with its name.
func FilesValue(files ...NamedFile) Value {
	list := make([]any, 0, len(files))
	for _, f := range files {
		list = append(list, Object{"name": f.Name, "type": "file", "file": hosted(f.ID)})
	}
	return Value{"files", list}
}

// NamedFile is a file of AddFile's under a name.
type NamedFile struct{ ID, Name string }

// FormulaValue is a value of type formula: the type of its result (string, number, boolean, date) and the result.
func FormulaValue(typ string, result any) Value {
	return Value{"formula", Object{"type": typ, typ: result}}
}

// RollupValue is a value of type rollup that lists values.
func RollupValue(values ...Value) Value {
	list := make([]any, 0, len(values))
	for _, v := range values {
		list = append(list, Object{"type": v.Type, v.Type: v.Payload})
	}
	return Value{"rollup", Object{"type": "array", "array": list, "function": "show_original"}}
}

// UniqueIDValue is a value of type unique_id, with a prefix or an empty one.
func UniqueIDValue(prefix string, number int) Value {
	id := Object{"prefix": nil, "number": number}
	if prefix != "" {
		id["prefix"] = prefix
	}
	return Value{"unique_id", id}
}
