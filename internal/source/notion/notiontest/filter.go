package notiontest

import (
	"slices"
	"strings"
	"time"
)

// condition reads a filter: a list of others under "and" or "or", a condition on a time, or one on a property. Lists may be
// nested twice, as the API says.
func (c *call) condition(value any, columns []Column, where string, depth int) (func(*node) bool, error) {
	filter, ok := value.(Object)
	if !ok || len(filter) == 0 || depth > 2 {
		return nil, invalid("body failed validation: %s should be a filter of at most two levels, instead was `%v`.", where, value)
	}
	for _, join := range []string{"and", "or"} {
		if list, given := filter[join]; given {
			if err := onlyKeys(filter, where, join); err != nil {
				return nil, err
			}
			return c.joined(join, list, columns, where+"."+join, depth)
		}
	}
	if _, given := filter["timestamp"]; given {
		return timeCondition(filter, where)
	}
	return c.propertyCondition(filter, columns, where)
}

func (c *call) joined(join string, value any, columns []Column, where string, depth int) (func(*node) bool, error) {
	list, ok := value.([]any)
	if !ok || len(list) == 0 || len(list) > maxList {
		return nil, invalid("body failed validation: %s should be an array of 1 to %d filters, instead was `%v`.", where, maxList, value)
	}
	conditions := make([]func(*node) bool, len(list))
	for i, item := range list {
		condition, err := c.condition(item, columns, where, depth+1)
		if err != nil {
			return nil, err
		}
		conditions[i] = condition
	}
	return func(n *node) bool {
		holds := func(condition func(*node) bool) bool { return condition(n) }
		if join == "or" {
			return slices.ContainsFunc(conditions, holds)
		}
		return !slices.ContainsFunc(conditions, func(condition func(*node) bool) bool { return !condition(n) })
	}, nil
}

// timeCondition is one on the times that every page has. They are compared as they are shown: cut down to the minute.
func timeCondition(filter Object, where string) (func(*node) bool, error) {
	name, _ := filter["timestamp"].(string)
	if name != "created_time" && name != "last_edited_time" {
		return nil, invalid("body failed validation: %s.timestamp should be a timestamp, instead was `%v`.", where, filter["timestamp"])
	}
	if err := onlyKeys(filter, where, "timestamp", name); err != nil {
		return nil, err
	}
	holds, err := oneOperator(filter[name], where+"."+name, dateOperator)
	if err != nil {
		return nil, err
	}
	return func(n *node) bool {
		if name == "created_time" {
			return holds(minute(n.created))
		}
		return holds(minute(n.edited))
	}, nil
}

func (c *call) propertyCondition(filter Object, columns []Column, where string) (func(*node) bool, error) {
	name, _ := filter["property"].(string)
	column, ok := columnNamed(columns, name)
	if !ok {
		return nil, invalid("Could not find property with name or id: %s", name)
	}
	if err := onlyKeys(filter, where, "property", "type", column.Type); err != nil {
		return nil, err
	}
	holds, err := oneOperator(filter[column.Type], where+"."+column.Type, operatorsOf(column.Type))
	if err != nil {
		return nil, err
	}
	return func(n *node) bool {
		if n.kind != kindPage {
			return false
		}
		return holds(c.value(n, column))
	}, nil
}

// operator makes a test of a property's value from an operator's name and operand; nil for a name it doesn't know or an
// operand it can't use.
type operator func(name string, operand any) func(value any) bool

func operatorsOf(typ string) operator {
	switch typ {
	case "number":
		return numberOperator
	case "checkbox":
		return truthOperator
	case "date", "created_time", "last_edited_time":
		return dateOperator
	default:
		return wordsOperator
	}
}

// oneOperator reads the object that holds exactly one operator.
func oneOperator(value any, where string, operators operator) (func(any) bool, error) {
	o, _ := value.(Object)
	if len(o) != 1 {
		return nil, invalid("body failed validation: %s should hold one condition, instead was `%v`.", where, value)
	}
	for name, operand := range o {
		if holds := emptiness(name, operand); holds != nil {
			return holds, nil
		}
		if holds := operators(name, operand); holds != nil {
			return holds, nil
		}
		value = Object{name: operand}
	}
	return nil, invalid("body failed validation: %s should hold a condition of this type, instead was `%v`.", where, value)
}

func emptiness(name string, operand any) func(any) bool {
	switch {
	case operand != true:
		return nil
	case name == "is_empty":
		return func(v any) bool { return words(v) == "" }
	case name == "is_not_empty":
		return func(v any) bool { return words(v) != "" }
	}
	return nil
}

// wordsOperator serves text, choices and references: what they say in words, or one of the things in a list.
func wordsOperator(name string, operand any) func(any) bool {
	want, ok := operand.(string)
	if !ok {
		return nil
	}
	same := func(v any) bool { return strings.EqualFold(words(v), want) }
	has := func(v any) bool { return strings.Contains(strings.ToLower(words(v)), strings.ToLower(want)) }
	switch name {
	case "equals":
		return same
	case "does_not_equal":
		return func(v any) bool { return !same(v) }
	case "contains":
		return has
	case "does_not_contain":
		return func(v any) bool { return !has(v) }
	case "starts_with":
		return func(v any) bool { return strings.HasPrefix(strings.ToLower(words(v)), strings.ToLower(want)) }
	case "ends_with":
		return func(v any) bool { return strings.HasSuffix(strings.ToLower(words(v)), strings.ToLower(want)) }
	}
	return nil
}

func truthOperator(name string, operand any) func(any) bool {
	want, ok := operand.(bool)
	switch {
	case ok && name == "equals":
		return func(v any) bool { return v == want }
	case ok && name == "does_not_equal":
		return func(v any) bool { return v != want }
	}
	return nil
}

func numberOperator(name string, operand any) func(any) bool {
	want, ok := operand.(float64)
	if !ok {
		return nil
	}
	compare := func(holds func(float64) bool) func(any) bool {
		return func(v any) bool {
			number, ok := v.(float64)
			return ok && holds(number)
		}
	}
	switch name {
	case "equals":
		return compare(func(n float64) bool { return n == want })
	case "does_not_equal":
		return compare(func(n float64) bool { return n != want })
	case "greater_than":
		return compare(func(n float64) bool { return n > want })
	case "less_than":
		return compare(func(n float64) bool { return n < want })
	case "greater_than_or_equal_to":
		return compare(func(n float64) bool { return n >= want })
	case "less_than_or_equal_to":
		return compare(func(n float64) bool { return n <= want })
	}
	return nil
}

// dateOperator compares moments. A day is its first moment in UTC.
func dateOperator(name string, operand any) func(any) bool {
	text, _ := operand.(string)
	want, ok := moment(text)
	if !ok {
		return nil
	}
	compare := func(holds func(time.Time) bool) func(any) bool {
		return func(v any) bool {
			at, ok := moment(words(v))
			return ok && holds(at)
		}
	}
	switch name {
	case "equals":
		return compare(func(at time.Time) bool { return at.Equal(want) })
	case "before":
		return compare(func(at time.Time) bool { return at.Before(want) })
	case "after":
		return compare(func(at time.Time) bool { return at.After(want) })
	case "on_or_before":
		return compare(func(at time.Time) bool { return !at.After(want) })
	case "on_or_after":
		return compare(func(at time.Time) bool { return !at.Before(want) })
	}
	return nil
}

func moment(text string) (time.Time, bool) {
	for _, layout := range []string{time.RFC3339, time.DateOnly} {
		if at, err := time.Parse(layout, text); err == nil {
			return at, true
		}
	}
	return time.Time{}, false
}

// words is what a value says, for comparing: the text, the name, the start of a date, the ids of references.
func words(v any) string {
	switch v := v.(type) {
	case string:
		return v
	case []any:
		parts := make([]string, len(v))
		for i, item := range v {
			parts[i] = words(item)
		}
		return strings.Join(parts, " ")
	case Object:
		for _, key := range []string{"plain_text", "name", "start", "id"} {
			if text, ok := v[key].(string); ok {
				return text
			}
		}
	}
	return ""
}
