package notiontest

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"
)

// listType is the type of lists of pages and databases.
func (c *call) listType() string {
	if c.v < v2025 {
		return "page_or_database"
	}
	return "page_or_data_source"
}

// container is what search calls what holds rows: a database before 2025-09-03, a data source since.
func (c *call) container() string {
	if c.v < v2025 {
		return "database"
	}
	return "data_source"
}

// search finds pages and databases by their titles.
func (c *call) search() (Object, error) {
	if err := onlyKeys(c.body, "body", "query", "sort", "filter", "start_cursor", "page_size", "in_trash"); err != nil {
		return nil, err
	}
	query, err := stringField(c.body, "body", "query")
	if err != nil {
		return nil, err
	}
	object, trashed, err := c.searchFilter()
	if err != nil {
		return nil, err
	}
	ascending, err := c.searchSort()
	if err != nil {
		return nil, err
	}
	var found []*node
	for _, n := range c.w.nodes {
		if c.searchable(n, trashed) && c.isObject(n, object) && contains(plain(n.title), query) {
			found = append(found, n)
		}
	}
	slices.SortFunc(found, func(a, b *node) int {
		if ascending {
			return cmp.Compare(a.editedOrder, b.editedOrder)
		}
		return cmp.Compare(b.editedOrder, a.editedOrder)
	})
	return c.capped(found)
}

func contains(title, query string) bool {
	return strings.Contains(strings.ToLower(title), strings.ToLower(strings.TrimSpace(query)))
}

// searchable is whether the index of searches knows an object by now.
func (c *call) searchable(n *node, trashed bool) bool {
	return !n.hidden && !n.linked && c.w.visible(n) && c.w.inTrash(n) == trashed &&
		!n.created.Add(c.s.options.SearchLag).After(c.w.clock.Now())
}

// isObject is whether an object is of the wanted kind; of a kind that search knows, for an empty one. Databases of several
// data sources are unknown to versions before them.
func (c *call) isObject(n *node, want string) bool {
	switch {
	case n.kind == kindPage:
		return want == "" || want == "page"
	case want == "page":
		return false
	case c.v < v2025:
		return n.kind == kindDatabase && len(c.w.living(n)) <= 1
	default:
		return n.kind == kindSource
	}
}

func (c *call) searchFilter() (object string, trashed bool, err error) {
	if trashed, err = boolField(c.body, "body", "in_trash"); err != nil {
		return "", false, err
	}
	value, given := c.body["filter"]
	if !given {
		return "", trashed, nil
	}
	filter, ok := value.(Object)
	if !ok || len(filter) == 0 {
		return "", false, invalid("body failed validation: body.filter.property should be defined, instead was `undefined`.")
	}
	if err := onlyKeys(filter, "body.filter", "property", "value", "in_trash"); err != nil {
		return "", false, err
	}
	// Clients of the oldest version send both fields empty when they mean no filter, and the API takes it.
	if c.v == v2022 && filter["property"] == "" && filter["value"] == "" {
		return "", trashed, nil
	}
	if filter["property"] != "object" {
		return "", false, invalid("body failed validation: body.filter.property should be `\"object\"`, instead was `%v`.", filter["property"])
	}
	object, _ = filter["value"].(string)
	if object != "page" && object != c.container() {
		return "", false, invalid("body failed validation: body.filter.value should be `\"page\"` or `%q`, instead was `%v`.", c.container(), filter["value"])
	}
	inTrash, err := boolField(filter, "body.filter", "in_trash")
	return object, trashed || inTrash, err
}

func (c *call) searchSort() (ascending bool, err error) {
	value, given := c.body["sort"]
	if !given {
		return false, nil
	}
	sort, _ := value.(Object)
	if err := onlyKeys(sort, "body.sort", "timestamp", "direction"); err != nil {
		return false, err
	}
	if sort["timestamp"] != "last_edited_time" {
		return false, invalid("body failed validation: body.sort.timestamp should be `\"last_edited_time\"`, instead was `%v`.", sort["timestamp"])
	}
	return direction(sort, "body.sort")
}

// direction reads the direction of a sort.
func direction(sort Object, where string) (ascending bool, err error) {
	switch sort["direction"] {
	case "ascending":
		return true, nil
	case "descending":
		return false, nil
	default:
		return false, invalid(
			"body failed validation: %s.direction should be `\"ascending\"` or `\"descending\"`, instead was `%v`.", where, sort["direction"],
		)
	}
}

// capped lists what was found, up to the number at which the API stops with has_more false and says so in request_status.
func (c *call) capped(found []*node) (Object, error) {
	all := len(found)
	found = found[:min(all, c.s.options.ResultCap)]
	keys := make([]string, len(found))
	for i, n := range found {
		keys[i] = n.id
	}
	o, err := c.list(c.listType(), c.scope(), keys, func(i int) any { return c.object(found[i]) })
	if err == nil && all > len(found) && o["has_more"] == false {
		o["request_status"] = Object{"type": "incomplete", "incomplete_reason": "query_result_limit_reached"}
	}
	return o, err
}

// scope names the list that a request asks for: its path, and its body without the paging.
func (c *call) scope() string {
	body := Object{}
	for key, value := range c.body {
		if key != "start_cursor" && key != "page_size" {
			body[key] = value
		}
	}
	text, _ := json.Marshal(body) //nolint:errchkjson // It was JSON a moment ago.
	return c.v.String() + c.r.URL.Path + string(text)
}

// onlyKeys refuses fields that the API doesn't know.
func onlyKeys(o Object, where string, keys ...string) error {
	for key := range o {
		if !slices.Contains(keys, key) {
			return invalid("body failed validation: %s.%s should be not present, instead was `%v`.", where, key, o[key])
		}
	}
	return nil
}

func stringField(o Object, where, key string) (string, error) {
	value, given := o[key]
	text, ok := value.(string)
	if given && !ok {
		return "", invalid("body failed validation: %s.%s should be a string or `undefined`, instead was `%v`.", where, key, value)
	}
	return text, nil
}

func boolField(o Object, where, key string) (bool, error) {
	value, given := o[key]
	truth, ok := value.(bool)
	if given && !ok {
		return false, invalid("body failed validation: %s.%s should be a boolean or `undefined`, instead was `%v`.", where, key, value)
	}
	return truth, nil
}
