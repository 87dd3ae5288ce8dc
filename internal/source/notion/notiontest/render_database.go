package notiontest

// database writes a database. Before 2025-09-03 it has the schema of its only data source; since then it is a container of
// data sources, whose times have milliseconds and are both the time of its making.
func (r render) database(n *node) Object {
	if r.v < v2025 {
		return r.oldDatabase(n)
	}
	o := Object{
		"object": "database", "id": n.id, "title": richText(n.title), "description": richText(n.description),
		"parent": r.parent(n), "is_inline": n.inline, "in_trash": r.w.inTrash(n), "is_locked": n.locked,
		"created_time": milli(n.created), "last_edited_time": milli(n.created),
		"icon": r.picture(n.icon), "cover": r.picture(n.cover), "url": address(&node{id: n.id}), "public_url": nil,
	}
	sources := []any{}
	for _, source := range r.w.living(n) {
		if r.w.visible(source) {
			sources = append(sources, Object{"id": source.id, "name": plain(source.title)})
		}
	}
	o["data_sources"] = sources
	if r.v < v2026 {
		o["archived"] = o["in_trash"]
	}
	return o
}

func (r render) oldDatabase(n *node) Object {
	o := r.base(n, "database")
	o["title"], o["description"] = richText(n.title), richText(n.description)
	o["parent"], o["is_inline"] = r.parent(n), n.inline
	o["icon"], o["cover"] = r.picture(n.icon), r.picture(n.cover)
	o["url"], o["public_url"] = address(&node{id: n.id}), nil
	o["properties"] = Object{}
	for _, source := range r.w.living(n) {
		o["properties"] = schemaObject(source)
		o["last_edited_time"] = minute(latest(n, source).edited)
	}
	return o
}

func latest(a, b *node) *node {
	if a.edited.After(b.edited) {
		return a
	}
	return b
}

// source writes a data source.
func (r render) source(n *node) Object {
	database := r.w.nodes[n.parent]
	o := r.base(n, "data_source")
	o["title"], o["description"] = richText(n.title), richText(n.description)
	o["icon"], o["cover"] = r.picture(n.icon), r.picture(n.cover)
	o["is_inline"] = database.inline
	o["properties"] = schemaObject(n)
	o["parent"], o["database_parent"] = r.parent(n), r.parent(database)
	o["url"], o["public_url"] = address(&node{id: n.parent}), nil
	return o
}

func schemaObject(n *node) Object {
	schema := make(Object, len(n.columns))
	for _, c := range n.columns {
		schema[c.Name] = Object{"id": c.ID, "name": c.Name, "description": nil, "type": c.Type, c.Type: c.Config}
	}
	return schema
}

// user writes a user: whole with the capability to read users, only the id without.
func (r render) user(u user) Object {
	o := partialUser(u.id)
	if !r.names {
		return o
	}
	o["name"], o["avatar_url"] = u.name, nil
	if u.bot {
		o["type"] = "bot"
		o["bot"] = Object{
			"owner":          Object{"type": "workspace", "workspace": true},
			"workspace_name": r.w.name, "workspace_id": r.w.id,
			"workspace_limits": Object{"max_file_upload_size_in_bytes": maxUpload},
		}
		return o
	}
	o["type"], o["person"] = "person", Object{"email": u.email, "email_verified": true}
	return o
}

// maxUpload is what a free workspace's users/me says, in bytes. Nothing is uploaded through this API.
const maxUpload = 5 << 20

// comment writes a comment.
func (r render) comment(c *comment) Object {
	parent := Object{"type": "page_id", "page_id": c.parent}
	if n := r.w.nodes[c.parent]; n != nil && n.kind == kindBlock {
		parent = Object{"type": "block_id", "block_id": c.parent}
	}
	by, typ := r.w.user(c.by), "user"
	if by.bot {
		typ = "integration"
	}
	return Object{
		"object": "comment", "id": c.id, "parent": parent, "discussion_id": c.discussion,
		"created_time": minute(c.at), "last_edited_time": minute(c.at), "created_by": partialUser(c.by),
		"rich_text": richText(c.text), "display_name": Object{"type": typ, "resolved_name": by.name},
	}
}
