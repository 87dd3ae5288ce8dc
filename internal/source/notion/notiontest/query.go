package notiontest

import (
	"cmp"
	"net/url"
	"slices"
)

// queryDatabase is the query of versions before data sources.
func (c *call) queryDatabase() (Object, error) {
	n, err := c.readable("database_id", "database", kindDatabase)
	if err != nil {
		return nil, err
	}
	if err := c.oneSource(n); err != nil {
		return nil, err
	}
	for _, source := range c.w.living(n) {
		return c.query(source)
	}
	return nil, c.w.notFound("database", n.id)
}

func (c *call) querySource() (Object, error) {
	n, err := c.readable("data_source_id", "data source", kindSource)
	if err != nil {
		return nil, err
	}
	return c.query(n)
}

// query lists the rows of a data source. Rows of a wiki may be databases: their data sources are shown in their place.
func (c *call) query(source *node) (Object, error) {
	err := onlyKeys(c.body, "body", "filter", "sorts", "start_cursor", "page_size", "in_trash", "archived", "is_archived", "result_type")
	if err != nil {
		return nil, err
	}
	keep, err := c.queryFilter(source)
	if err != nil {
		return nil, err
	}
	compare, err := c.querySorts(source)
	if err != nil {
		return nil, err
	}
	var rows []*node
	for _, id := range source.children {
		for _, n := range c.rowsOf(c.w.nodes[id]) {
			if c.w.visible(n) && keep(n) {
				rows = append(rows, n)
			}
		}
	}
	slices.SortStableFunc(rows, compare)
	o, err := c.capped(rows)
	if err != nil {
		return nil, err
	}
	results, _ := o["results"].([]any)
	for _, result := range results {
		if row, ok := result.(Object); ok && row["object"] == "page" {
			err = cmp.Or(err, c.keepProperties(row, source.columns))
		}
	}
	return o, err
}

// rowsOf is what a child of a data source is shown as.
func (c *call) rowsOf(n *node) []*node {
	if n.kind != kindDatabase || c.v < v2025 {
		return []*node{n}
	}
	return c.w.living(n)
}

// queryFilter is the condition of a query. What lies in the trash or is archived is left out unless it is asked for.
func (c *call) queryFilter(source *node) (func(*node) bool, error) {
	inTrash, err := boolField(c.body, "body", "in_trash")
	if err != nil {
		return nil, err
	}
	old, err := boolField(c.body, "body", "archived")
	if err != nil {
		return nil, err
	}
	archived, err := boolField(c.body, "body", "is_archived")
	if err != nil {
		return nil, err
	}
	only, err := c.resultType()
	if err != nil {
		return nil, err
	}
	matches := func(*node) bool { return true }
	if filter, given := c.body["filter"]; given {
		if matches, err = c.condition(filter, source.columns, "body.filter", 0); err != nil {
			return nil, err
		}
	}
	return func(n *node) bool {
		return (only == "" || string(n.kind) == only) && c.w.inTrash(n) == (inTrash || old) && n.archived == archived && matches(n)
	}, nil
}

func (c *call) resultType() (string, error) {
	only, err := stringField(c.body, "body", "result_type")
	if err == nil && only != "" && only != "page" && only != c.container() {
		err = invalid("body failed validation: body.result_type should be `\"page\"` or `%q`, instead was `%q`.", c.container(), only)
	}
	return only, err
}

// maxList is how many sorts, or conditions in one list, a request may have.
const maxList = 100

func (c *call) querySorts(source *node) (func(a, b *node) int, error) {
	inOrder := func(a, b *node) int { return cmp.Compare(a.order, b.order) }
	value, given := c.body["sorts"]
	if !given {
		return inOrder, nil
	}
	sorts, ok := value.([]any)
	if !ok || len(sorts) > maxList {
		return nil, invalid("body failed validation: body.sorts should be an array of at most %d, instead was `%v`.", maxList, value)
	}
	compares := make([]func(a, b *node) int, 0, len(sorts)+1)
	for _, value := range sorts {
		compare, err := c.querySort(value, source)
		if err != nil {
			return nil, err
		}
		compares = append(compares, compare)
	}
	compares = append(compares, inOrder)
	return func(a, b *node) int {
		for _, compare := range compares {
			if order := compare(a, b); order != 0 {
				return order
			}
		}
		return 0
	}, nil
}

func (c *call) querySort(value any, source *node) (func(a, b *node) int, error) {
	sort, _ := value.(Object)
	if err := onlyKeys(sort, "body.sorts", "timestamp", "property", "direction"); err != nil {
		return nil, err
	}
	ascending, err := direction(sort, "body.sorts")
	if err != nil {
		return nil, err
	}
	key, err := c.sortKey(sort, source)
	if err != nil {
		return nil, err
	}
	return func(a, b *node) int {
		order := key(a, b)
		if !ascending {
			order = -order
		}
		return order
	}, nil
}

func (c *call) sortKey(sort Object, source *node) (func(a, b *node) int, error) {
	switch sort["timestamp"] {
	case "created_time":
		return func(a, b *node) int { return cmp.Compare(minute(a.created), minute(b.created)) }, nil
	case "last_edited_time":
		return func(a, b *node) int { return cmp.Compare(minute(a.edited), minute(b.edited)) }, nil
	case nil:
	default:
		return nil, invalid("body failed validation: body.sorts.timestamp should be a timestamp, instead was `%v`.", sort["timestamp"])
	}
	name, _ := sort["property"].(string)
	column, ok := columnNamed(source.columns, name)
	if !ok {
		return nil, invalid("Could not find sort property with name or id: %s", name)
	}
	return func(a, b *node) int { return compareValues(c.value(a, column), c.value(b, column)) }, nil
}

// compareValues orders two values of a column; those without one come last.
func compareValues(a, b any) int {
	if x, ok := a.(float64); ok {
		if y, ok := b.(float64); ok {
			return cmp.Compare(x, y)
		}
	}
	return cmp.Compare(words(a), words(b))
}

// columnNamed finds a column by its name or by its id, encoded or not.
func columnNamed(columns []Column, name string) (Column, bool) {
	for _, c := range columns {
		plain, err := url.PathUnescape(c.ID)
		if c.Name == name || c.ID == name || (err == nil && plain == name) {
			return c, true
		}
	}
	return Column{}, false
}

// keepProperties leaves on a page only the properties that the query string names in filter_properties.
func (c *call) keepProperties(page Object, columns []Column) error {
	wanted := c.r.URL.Query()["filter_properties"]
	if len(wanted) == 0 {
		return nil
	}
	all, _ := page["properties"].(Object)
	kept := Object{}
	for _, name := range wanted {
		column, ok := columnNamed(columns, name)
		if !ok {
			return invalid("Could not find property with name or id: %s", name)
		}
		kept[column.Name] = all[column.Name]
	}
	page["properties"] = kept
	return nil
}
