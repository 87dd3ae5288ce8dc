package notiontest

import (
	"net/url"
	"strconv"
)

// getProperty gives one property whole: text, references and lists page by page, everything else in one object.
func (c *call) getProperty() (Object, error) {
	n, err := c.readable("page_id", "page", kindPage)
	if err != nil {
		return nil, err
	}
	name := c.segments["{property}"]
	column, ok := columnByID(c.w.columnsOf(n), name)
	if !ok {
		return nil, c.w.notFound("property", name)
	}
	whole := c.value(n, column)
	rollup, _ := whole.(Object)
	list, isList := rollup["array"].([]any)
	if column.Type == "title" || column.Type == "rich_text" || column.Type == "relation" || column.Type == "people" {
		list, isList = whole.([]any)
	}
	if !isList {
		return Object{"object": "property_item", "id": column.ID, "type": column.Type, column.Type: whole}, nil
	}
	return c.propertyList(n, column, list)
}

// columnByID finds a column by its id, as the path decodes it or as the page shows it.
func columnByID(columns []Column, id string) (Column, bool) {
	for _, c := range columns {
		plain, err := url.PathUnescape(c.ID)
		if c.ID == id || (err == nil && plain == id) {
			return c, true
		}
	}
	return Column{}, false
}

func (c *call) propertyList(n *node, column Column, list []any) (Object, error) {
	keys := make([]string, len(list))
	for i, item := range list {
		keys[i] = itemKey(i, item)
	}
	o, err := c.list("property_item", "property/"+n.id+"/"+column.ID, keys, func(i int) any {
		item := Object{"object": "property_item", "id": column.ID, "type": column.Type, column.Type: list[i]}
		if value, ok := list[i].(Object); ok && column.Type == "rollup" {
			typ, _ := value["type"].(string)
			item = Object{"object": "property_item", "id": column.ID, "type": typ, typ: value[typ]}
		}
		return item
	})
	if err != nil {
		return nil, err
	}
	about := Object{"id": column.ID, "next_url": nil, "type": column.Type, column.Type: Object{}}
	if column.Type == "rollup" {
		about["rollup"] = Object{"type": "array", "array": []any{}, "function": "show_original"}
	}
	if cursor, ok := o["next_cursor"].(string); ok {
		about["next_url"] = "https://api.notion.com/v1/pages/" + n.id + "/properties/" + column.ID +
			"?start_cursor=" + cursor
	}
	o["property_item"] = about
	return o, nil
}

// itemKey names an item of a property by its place and its id: the same page may be referred to twice.
func itemKey(number int, item any) string {
	if o, ok := item.(Object); ok {
		if id, ok := o["id"].(string); ok {
			return strconv.Itoa(number) + "/" + id
		}
	}
	return strconv.Itoa(number)
}
