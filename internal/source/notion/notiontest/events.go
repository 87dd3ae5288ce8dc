package notiontest

import (
	"slices"
	"time"
)

// change is what happened to an object, as webhooks tell it.
type change struct {
	// typ is the event's type, such as page.created.
	typ        string
	id, entity string
	parent     Object
	at         time.Time
	author     Object
	// field is updated_blocks, updated_properties or empty; refs is what stands there.
	field string
	refs  []any
	// comments name the page that they were made on.
	page string
}

// listen has every change told to a function, which must not use the workspace: it runs under its lock.
func (w *Workspace) listen(to func(change)) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.listeners = append(w.listeners, to)
}

// emit tells what happened to an object that the integration may see; refs are the ids of blocks or properties.
func (w *Workspace) emit(n *node, what string, refs []string) {
	if len(w.listeners) == 0 || n.linked || !w.visible(n) {
		return
	}
	c := change{typ: string(n.kind) + "." + what, id: n.id, entity: string(n.kind), parent: w.parentOf(n)}
	switch what {
	case "content_updated":
		c.field = "updated_blocks"
	case "properties_updated":
		c.field = "updated_properties"
	}
	c.refs = []any{}
	for _, ref := range refs {
		if c.field == "updated_blocks" {
			c.refs = append(c.refs, Object{"id": ref, "type": "block"})
		} else {
			c.refs = append(c.refs, ref)
		}
	}
	w.tell(c)
}

func (w *Workspace) emitComment(comment *comment, what string) {
	n := w.nodes[comment.parent]
	if len(w.listeners) == 0 || !w.visible(n) {
		return
	}
	parent := Object{"id": n.id, "type": string(n.kind)}
	w.tell(change{typ: "comment." + what, id: comment.id, entity: "comment", parent: parent, page: w.holder(n).id})
}

func (w *Workspace) tell(c change) {
	c.at = w.clock.Now()
	kind := "person"
	if w.editor == w.bot {
		kind = "bot"
	}
	c.author = Object{"id": w.editor, "type": kind}
	for _, listener := range w.listeners {
		listener(c)
	}
}

// parentOf is where an object lies in the words of webhooks. Rows lie in a database, with the data source named beside it.
func (w *Workspace) parentOf(n *node) Object {
	p := w.nodes[n.parent]
	switch {
	case p == nil:
		return Object{"id": w.id, "type": "space"}
	case p.kind == kindSource:
		return Object{"id": p.parent, "type": "database", "data_source_id": p.id}
	default:
		return Object{"id": p.id, "type": string(p.kind)}
	}
}

// event is a change on its way to a subscriber.
type event struct {
	change
	eventID string
	due     time.Time
	// attempt is the number of the next attempt, from 1.
	attempt int
}

// aggregated adds a change to those that wait for their first delivery: edits of one object become one event, edits of a new
// object are part of its making, and what was made and deleted again, or deleted and restored, was nothing.
func aggregated(waiting []*event, c change) (rest []*event, taken bool) {
	for i, e := range waiting {
		if e.id != c.id || e.attempt > 1 {
			continue
		}
		switch {
		case e.typ == c.typ && c.field != "":
			e.refs = union(e.refs, c.refs)
			return waiting, true
		case isType(e, "created") && c.field != "":
			return waiting, true
		case isType(e, "created") && c.typ == c.entity+".deleted", isType(e, "deleted") && c.typ == c.entity+".undeleted":
			return slices.Delete(waiting, i, i+1), true
		}
	}
	return waiting, false
}

func isType(e *event, what string) bool { return e.typ == e.entity+"."+what }

func union(a, b []any) []any {
	for _, ref := range b {
		if !slices.ContainsFunc(a, func(other any) bool { return refID(other) == refID(ref) }) {
			a = append(a, ref)
		}
	}
	return a
}

func refID(ref any) any {
	if o, ok := ref.(Object); ok {
		return o["id"]
	}
	return ref
}
