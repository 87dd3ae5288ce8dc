package notiontest

import (
	"slices"
	"time"
)

// kind tells the objects of a workspace apart.
type kind string

const (
	kindPage     kind = "page"
	kindDatabase kind = "database"
	kindSource   kind = "data_source"
	kindBlock    kind = "block"
)

// node is one object of the workspace's tree. Child pages and child databases stand among the blocks of their parent under
// their own id, as in Notion.
type node struct {
	id   string
	kind kind
	// parent is empty for what lies at the top of the workspace.
	parent string
	// children are, in order: a page's or block's blocks, pages and databases; a database's data sources; a data source's rows.
	children []string

	created, edited     time.Time
	createdBy, editedBy string
	// order is the number of the change that made the object, editedOrder that of its last change.
	order, editedOrder int

	trashed  bool
	archived bool
	locked   bool
	hidden   bool
	// linked is a view of a database that lies elsewhere: a block that can be seen and an object that can't be read.
	linked bool
	inline bool

	title       []Span
	description []Span
	icon, cover Object

	columns []Column
	values  map[string]Value

	// typ and payload are those of a block; an empty typ is the partial object that Notion documents.
	typ     string
	payload Object
}

// stamp marks a new object.
func (w *Workspace) stamp(n *node) {
	w.order++
	n.order, n.editedOrder = w.order, w.order
	n.created = w.clock.Now()
	n.edited = n.created
	n.createdBy, n.editedBy = w.editor, w.editor
	w.nodes[n.id] = n
}

// touch marks an object as edited now.
func (w *Workspace) touch(n *node) {
	w.order++
	n.editedOrder = w.order
	n.edited = w.clock.Now()
	n.editedBy = w.editor
}

// holder is the page that a block lies on, or the object itself.
func (w *Workspace) holder(n *node) *node {
	for n != nil && n.kind == kindBlock {
		n = w.nodes[n.parent]
	}
	return n
}

// attach puts an object below a parent; at the top of the workspace for an empty one.
func (w *Workspace) attach(n *node, parent string) {
	n.parent = parent
	if parent == "" {
		w.top = append(w.top, n.id)
		if _, told := w.access[n.id]; !told && !w.private {
			w.access[n.id] = true
		}
		return
	}
	p := w.nodes[parent]
	p.children = append(p.children, n.id)
}

// detach takes an object from its parent's children.
func (w *Workspace) detach(n *node) {
	without := func(ids []string) []string {
		return slices.DeleteFunc(ids, func(id string) bool { return id == n.id })
	}
	if n.parent == "" {
		w.top = without(w.top)
		return
	}
	p := w.nodes[n.parent]
	p.children = without(p.children)
}

// remove takes an object and everything below it out of the workspace for good.
func (w *Workspace) remove(n *node) {
	for _, id := range slices.Clone(n.children) {
		w.remove(w.nodes[id])
	}
	w.detach(n)
	delete(w.nodes, n.id)
	delete(w.access, n.id)
}

// visible is whether the integration may see an object: what was said of it, or of the nearest thing above it, counts.
func (w *Workspace) visible(n *node) bool {
	for n != nil {
		if granted, told := w.access[n.id]; told {
			return granted
		}
		n = w.nodes[n.parent]
	}
	return false
}

// inTrash is whether an object or anything above it lies in the trash.
func (w *Workspace) inTrash(n *node) bool {
	for n != nil {
		if n.trashed {
			return true
		}
		n = w.nodes[n.parent]
	}
	return false
}

// below is whether an object is another one or lies below it.
func (w *Workspace) below(n, above *node) bool {
	for n != nil {
		if n == above {
			return true
		}
		n = w.nodes[n.parent]
	}
	return false
}

// living are the children that don't lie in the trash themselves.
func (w *Workspace) living(n *node) []*node {
	children := make([]*node, 0, len(n.children))
	for _, id := range n.children {
		if child := w.nodes[id]; !child.trashed {
			children = append(children, child)
		}
	}
	return children
}
