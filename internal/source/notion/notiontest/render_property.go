package notiontest

// shown is how many references a relation or a list of people has on the page itself.
const shown = 25

// titleColumn is the only column of pages that aren't rows.
var titleColumn = Column{Name: "title", ID: "title", Type: "title"}

// columnsOf are the columns of a page: its data source's, or the title alone.
func (w *Workspace) columnsOf(n *node) []Column {
	if source := w.nodes[n.parent]; source != nil && source.kind == kindSource {
		return source.columns
	}
	return []Column{titleColumn}
}

// properties writes all properties of a page.
func (r render) properties(n *node) Object {
	properties := Object{}
	for _, c := range r.w.columnsOf(n) {
		properties[c.Name] = r.property(n, c)
	}
	return properties
}

// property writes one property as the page shows it: cut after 25 references.
func (r render) property(n *node, c Column) Object {
	payload := r.value(n, c)
	o := Object{"id": c.ID, "type": c.Type}
	list, isList := payload.([]any)
	cut := isList && len(list) > shown && (c.Type == "relation" || c.Type == "people")
	if cut {
		payload = list[:shown]
	}
	if c.Type == "relation" || cut {
		o["has_more"] = cut
	}
	o[c.Type] = payload
	return o
}

// value is the whole of what a page has in a column.
func (r render) value(n *node, c Column) any {
	switch c.Type {
	case "title":
		return richText(n.title)
	case "created_time":
		return minute(n.created)
	case "last_edited_time":
		return minute(n.edited)
	case "created_by":
		return r.user(*r.w.user(n.createdBy))
	case "last_edited_by":
		return r.user(*r.w.user(n.editedBy))
	}
	value, ok := n.values[c.ID]
	switch {
	case !ok:
		return empty(c.Type)
	case c.Type == "people":
		return r.people(value.Payload)
	default:
		return r.resolved(value.Payload)
	}
}

// people writes users whole where they are known; groups and strangers as they were given.
func (r render) people(payload any) any {
	refs, ok := payload.([]any)
	if !ok {
		return payload
	}
	people := make([]any, len(refs))
	for i, ref := range refs {
		people[i] = ref
		o, _ := ref.(Object)
		id, _ := o["id"].(string)
		if u := r.w.user(id); u != nil {
			people[i] = r.user(*u)
		}
	}
	return people
}

// empty is what a row without a value shows.
func empty(typ string) any {
	switch typ {
	case "rich_text", "multi_select", "people", "files", "relation":
		return []any{}
	case "checkbox":
		return false
	case "button":
		return Object{}
	default:
		return nil
	}
}
