package notiontest

import (
	"cmp"
	"net/http"
)

// seen gives an object that the integration may see; nil for all others. A view of a database that lies elsewhere isn't one.
func (c *call) seen(id string) *node {
	n := c.w.nodes[id]
	if n == nil || !c.w.visible(n) {
		return nil
	}
	return n
}

// readable is seen without views of databases that lie elsewhere, and with the answer for what isn't there.
func (c *call) readable(name, what string, kinds ...kind) (*node, error) {
	id, err := c.id(name)
	if err != nil {
		return nil, err
	}
	n := c.seen(id)
	for _, k := range kinds {
		if n != nil && n.kind == k && !n.linked {
			return n, nil
		}
	}
	if n != nil && n.kind == kindDatabase && !n.linked && what == "page" {
		return nil, invalid("Provided ID %s is a database, not a page. Use the retrieve database API instead.", id)
	}
	return nil, c.w.notFound(what, id)
}

func (c *call) getPage() (Object, error) {
	n, err := c.readable("page_id", "page", kindPage)
	if err != nil {
		return nil, err
	}
	o := c.page(n)
	return o, c.keepProperties(o, c.w.columnsOf(n))
}

func (c *call) getDatabase() (Object, error) {
	n, err := c.readable("database_id", "database", kindDatabase)
	if err != nil {
		return nil, err
	}
	if err := c.oneSource(n); err != nil {
		return nil, err
	}
	return c.database(n), nil
}

// oneSource refuses a database of several data sources to versions that don't know of them.
func (c *call) oneSource(n *node) error {
	sources := c.w.living(n)
	if c.v >= v2025 || len(sources) <= 1 {
		return nil
	}
	ids := make([]any, len(sources))
	for i, source := range sources {
		ids[i] = source.id
	}
	err := &apiError{
		status: http.StatusBadRequest, code: "validation_error",
		message: "Databases with multiple data sources are not supported in this API version.",
	}
	err.additional = Object{
		"error_type": "multiple_data_sources_for_database", "database_id": n.id,
		"child_data_source_ids": ids, "minimum_api_version": v2025.String(),
	}
	return err
}

func (c *call) getSource() (Object, error) {
	n, err := c.readable("data_source_id", "data source", kindSource)
	if err != nil {
		return nil, err
	}
	return c.source(n), nil
}

// getBlock shows blocks, and pages and databases as the blocks that they are on their parents.
func (c *call) getBlock() (Object, error) {
	id, err := c.id("block_id")
	if err != nil {
		return nil, err
	}
	n := c.seen(id)
	if n == nil || n.kind == kindSource {
		return nil, c.w.notFound("block", id)
	}
	return c.block(n), nil
}

// getChildren lists the blocks of a page or block. A copy of a synced block has the children of its original; where that isn't
// shared there is nothing to be found.
func (c *call) getChildren() (Object, error) {
	id, err := c.id("block_id")
	if err != nil {
		return nil, err
	}
	n := c.seen(id)
	if n == nil || n.kind == kindSource || n.linked {
		return nil, c.w.notFound("block", id)
	}
	if original := originalOf(n); original != "" {
		if n = c.seen(original); n == nil {
			return nil, c.w.notFound("block", original)
		}
	}
	if n.kind == kindDatabase {
		return nil, invalid("Provided ID %s is a database. Query its data source instead.", n.id)
	}
	children := c.w.living(n)
	keys := make([]string, len(children))
	for i, child := range children {
		keys[i] = child.id
	}
	return c.list("block", "children/"+n.id, keys, func(i int) any { return c.block(children[i]) })
}

func (c *call) listUsers() (Object, error) {
	keys := make([]string, len(c.w.users))
	for i, u := range c.w.users {
		keys[i] = u.id
	}
	return c.list("user", "users", keys, func(i int) any { return c.user(c.w.users[i]) })
}

// getMe shows the bot by name to every token.
func (c *call) getMe() (Object, error) {
	whole := c.render
	whole.names = true
	return whole.user(*c.w.user(c.w.bot)), nil
}

func (c *call) getUser() (Object, error) {
	id, err := c.id("user_id")
	if err != nil {
		return nil, err
	}
	u := c.w.user(id)
	if u == nil {
		return nil, c.w.notFound("user", id)
	}
	return c.user(*u), nil
}

// listComments lists the open comments of one page or block; those of the blocks on a page are asked for one by one.
func (c *call) listComments() (Object, error) {
	asked := c.r.URL.Query().Get("block_id")
	id, ok := parseID(asked)
	if !ok {
		return nil, invalid("query failed validation: query.block_id should be a valid uuid, instead was `%q`.", cmp.Or(asked, "undefined"))
	}
	if n := c.seen(id); n == nil || n.linked {
		return nil, c.w.notFound("block", id)
	}
	var open []*comment
	var keys []string
	for _, comment := range c.w.comment {
		if comment.parent == id && !comment.resolved {
			open = append(open, comment)
			keys = append(keys, comment.id)
		}
	}
	return c.list("comment", "comments/"+id, keys, func(i int) any { return c.comment(open[i]) })
}
