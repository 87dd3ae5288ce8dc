package notiontest

import (
	"strings"
	"unicode"
)

// render writes objects as one request sees them. It is used under the workspace's read lock.
type render struct {
	w *Workspace
	v version
	// sign gives the signed URL of a file, and the time until which it is good.
	sign func(upload) (url, expiry string)
	// names is whether the integration may read who users are.
	names bool
}

// object writes any object as lists and events show it.
func (r render) object(n *node) Object {
	switch n.kind {
	case kindPage:
		return r.page(n)
	case kindDatabase:
		return r.database(n)
	case kindSource:
		return r.source(n)
	default:
		return r.block(n)
	}
}

// base is what all objects have in common.
func (r render) base(n *node, object string) Object {
	o := Object{
		"object": object, "id": n.id, "in_trash": r.w.inTrash(n),
		"created_time": minute(n.created), "last_edited_time": minute(n.edited),
		"created_by": partialUser(n.createdBy), "last_edited_by": partialUser(n.editedBy),
	}
	if r.v < v2026 {
		o["archived"] = o["in_trash"]
	}
	return o
}

func partialUser(id string) Object { return Object{"object": "user", "id": id} }

// page writes a page or a row.
func (r render) page(n *node) Object {
	o := r.base(n, "page")
	o["cover"], o["icon"] = r.picture(n.cover), r.picture(n.icon)
	o["parent"] = r.parent(n)
	o["is_archived"], o["is_locked"] = n.archived, n.locked
	o["properties"] = r.properties(n)
	o["url"], o["public_url"] = address(n), nil
	return o
}

// block writes a block, or the block that a child page or child database is on its parent.
func (r render) block(n *node) Object {
	if n.kind == kindBlock && n.typ == "" {
		return Object{"object": "block", "id": n.id}
	}
	o := r.base(n, "block")
	o["parent"] = r.parent(n)
	o["has_children"] = n.kind != kindDatabase && (len(r.w.living(n)) > 0 || originalOf(n) != "")
	typ, payload := r.content(n)
	o["type"], o[typ] = typ, payload
	return o
}

func (r render) content(n *node) (typ string, payload any) {
	switch {
	case n.kind == kindPage:
		return "child_page", Object{"title": plain(n.title)}
	case n.kind == kindDatabase:
		return "child_database", Object{"title": plain(n.title)}
	case n.typ == "meeting_notes" && r.v < v2026:
		return "transcription", r.resolved(n.payload)
	default:
		return n.typ, r.resolved(n.payload)
	}
}

// originalOf is the synced block that a block is a copy of; empty for all others.
func originalOf(n *node) string {
	from, _ := n.payload["synced_from"].(Object)
	id, _ := from["block_id"].(string)
	if n.typ != "synced_block" {
		return ""
	}
	return id
}

// parent writes where an object lies. Since 2025-09-03 rows lie in a data source, before in its database.
func (r render) parent(n *node) Object {
	p := r.w.nodes[n.parent]
	switch {
	case p == nil:
		return Object{"type": "workspace", "workspace": true}
	case p.kind == kindPage:
		return Object{"type": "page_id", "page_id": p.id}
	case p.kind == kindBlock:
		return Object{"type": "block_id", "block_id": p.id}
	case p.kind == kindDatabase:
		return Object{"type": "database_id", "database_id": p.id}
	case r.v < v2025:
		return Object{"type": "database_id", "database_id": p.parent}
	default:
		return Object{"type": "data_source_id", "data_source_id": p.id, "database_id": p.parent}
	}
}

// picture writes an icon or cover, or null.
func (r render) picture(o Object) any {
	if o == nil {
		return nil
	}
	return r.resolved(o)
}

// resolved copies a payload with signed URLs in the place of the files that Notion keeps.
func (r render) resolved(v any) any {
	switch v := v.(type) {
	case Object:
		if file, ok := v[hostedKey].(string); ok {
			url, expiry := r.sign(r.w.files[file])
			return Object{"url": url, "expiry_time": expiry}
		}
		o := make(Object, len(v))
		for key, value := range v {
			o[key] = r.resolved(value)
		}
		return o
	case []any:
		list := make([]any, len(v))
		for i, value := range v {
			list[i] = r.resolved(value)
		}
		return list
	default:
		return v
	}
}

// address is an object's URL: the title in ASCII and the id without dashes.
func address(n *node) string {
	slug := strings.Join(strings.FieldsFunc(plain(n.title), func(c rune) bool {
		return c > unicode.MaxASCII || (!unicode.IsLetter(c) && !unicode.IsDigit(c))
	}), "-")
	if slug != "" {
		slug += "-"
	}
	return "https://app.notion.com/p/" + slug + compact(n.id)
}
