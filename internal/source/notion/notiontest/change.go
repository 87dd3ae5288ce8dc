package notiontest

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
)

// Edit makes a page's content these blocks. A block that stays in its place with its type keeps its id, as when a person types
// into it; child pages and child databases stay, behind the blocks.
func (w *Workspace) Edit(page string, blocks ...Block) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	n, err := w.findKind(page, kindPage, kindBlock)
	if err != nil {
		return fmt.Errorf("edit a page: %w", err)
	}
	changed := w.rewrite(n, blocks)
	if len(changed) > 0 {
		w.contentChanged(n.id, changed...)
	}
	return nil
}

// rewrite makes the blocks below a parent those that are given, and tells which were changed, added or removed.
func (w *Workspace) rewrite(parent *node, blocks []Block) []string {
	var old, objects []string
	for _, id := range parent.children {
		if w.nodes[id].kind == kindBlock {
			old = append(old, id)
		} else {
			objects = append(objects, id)
		}
	}
	parent.children = nil
	var changed []string
	for i, b := range blocks {
		if i < len(old) && w.nodes[old[i]].typ == b.Type {
			parent.children = append(parent.children, old[i])
			changed = append(changed, w.rewriteBlock(w.nodes[old[i]], b)...)
			old[i] = ""
			continue
		}
		changed = append(changed, w.addBlocks(parent, []Block{b})...)
	}
	parent.children = append(parent.children, objects...)
	for _, id := range old {
		if id != "" {
			changed = append(changed, id)
			w.rescue(w.nodes[id], parent)
			w.remove(w.nodes[id])
		}
	}
	return changed
}

func (w *Workspace) rewriteBlock(n *node, b Block) []string {
	changed := w.rewrite(n, b.Children)
	if len(changed) > 0 || !reflect.DeepEqual(n.payload, b.Payload) {
		n.payload = maps.Clone(b.Payload)
		w.touch(n)
		changed = append(changed, n.id)
	}
	return changed
}

// rescue moves pages and databases that lie below a block to another parent, so that removing the block doesn't remove them.
func (w *Workspace) rescue(block, to *node) {
	for _, id := range slices.Clone(block.children) {
		child := w.nodes[id]
		if child.kind == kindBlock {
			w.rescue(child, to)
			continue
		}
		w.detach(child)
		w.attach(child, to.id)
	}
}

// SetBlock makes one block the one that is given, under its old id and with its old children, its type included.
func (w *Workspace) SetBlock(id string, b Block) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	n, err := w.findKind(id, kindBlock)
	if err != nil {
		return fmt.Errorf("set a block: %w", err)
	}
	n.typ, n.payload = b.Type, maps.Clone(b.Payload)
	w.touch(n)
	w.contentChanged(n.id, n.id)
	return nil
}

// Rename gives a page, a database or a data source a new title. A database's only data source is renamed with it.
func (w *Workspace) Rename(id, title string) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	n, err := w.findKind(id, kindPage, kindDatabase, kindSource)
	if err != nil {
		return fmt.Errorf("rename to %q: %w", title, err)
	}
	n.title = titled(title)
	w.touch(n)
	if n.kind == kindPage {
		w.emit(n, "properties_updated", []string{"title"})
		return nil
	}
	w.emit(n, "content_updated", nil)
	if n.kind == kindDatabase && len(n.children) == 1 {
		source := w.nodes[n.children[0]]
		source.title = titled(title)
		w.touch(source)
		w.emit(source, "content_updated", nil)
	}
	return nil
}

// SetProperty gives a row a value in a column.
func (w *Workspace) SetProperty(row, column string, value Value) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	n, err := w.findKind(row, kindPage)
	if err != nil {
		return fmt.Errorf("set %q: %w", column, err)
	}
	source := w.nodes[n.parent]
	if source == nil || source.kind != kindSource {
		return fmt.Errorf("set %q: %s is not a row of a data source", column, n.id)
	}
	c, err := source.column(column, value.Type)
	if err != nil {
		return fmt.Errorf("set a property: %w", err)
	}
	if n.values == nil {
		n.values = make(map[string]Value)
	}
	n.values[c.ID] = value
	w.touch(n)
	w.emit(n, "properties_updated", []string{c.ID})
	return nil
}

// SetDescription describes a database, or a data source, under its title.
func (w *Workspace) SetDescription(id, description string) error {
	return w.alter("describe", id, []kind{kindDatabase, kindSource}, func(n *node) { n.description = titled(description) })
}

// SetIcon gives a page, database or data source an icon in the API's form; nil takes it away. Emoji and UploadedIcon make some.
func (w *Workspace) SetIcon(id string, icon Object) error {
	return w.alter("set the icon", id, []kind{kindPage, kindDatabase, kindSource}, func(n *node) { n.icon = icon })
}

// SetCover gives a page or database a cover in the API's form; nil takes it away.
func (w *Workspace) SetCover(id string, cover Object) error {
	return w.alter("set the cover", id, []kind{kindPage, kindDatabase, kindSource}, func(n *node) { n.cover = cover })
}

// Archive marks a page as archived, which is another thing than the trash: it stays alive, and queries leave it out.
func (w *Workspace) Archive(id string, archived bool) error {
	return w.alter("archive", id, []kind{kindPage}, func(n *node) { n.archived = archived })
}

// Lock keeps a page or database from being edited by people, which readers see in is_locked only.
func (w *Workspace) Lock(id string, locked bool) error {
	return w.alter("lock", id, []kind{kindPage, kindDatabase}, func(n *node) { n.locked = locked })
}

// alter changes one object and marks it as edited.
func (w *Workspace) alter(doing, id string, kinds []kind, change func(*node)) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	n, err := w.findKind(id, kinds...)
	if err != nil {
		return fmt.Errorf("%s: %w", doing, err)
	}
	change(n)
	w.touch(n)
	return nil
}
