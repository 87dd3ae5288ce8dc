package notiontest

import (
	"fmt"
	"maps"
)

// Database is the ids of a new database: its own, and that of its first data source.
type Database struct {
	ID     string
	Source string
}

// AddPage makes a page with blocks on it and gives its id. The parent is a page or block; empty for the top of the workspace.
func (w *Workspace) AddPage(parent, title string, blocks ...Block) (string, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.addPage(w.nextID(), parent, title, blocks)
}

func (w *Workspace) addPage(id, parent, title string, blocks []Block) (string, error) {
	above, err := w.place(parent, kindPage, kindBlock)
	if err != nil {
		return "", fmt.Errorf("add the page %q: %w", title, err)
	}
	n := &node{id: id, kind: kindPage, title: titled(title)}
	w.stamp(n)
	w.attach(n, above)
	w.addBlocks(n, blocks)
	w.emit(n, "created", nil)
	w.contentChanged(above, n.id)
	return n.id, nil
}

// AddDatabase makes a database with one data source of these columns; one of type title, called Name, is added if none is
// given. The parent is a page, a block or the top of the workspace; for a row of a wiki, which is a database, it is the wiki's
// data source.
func (w *Workspace) AddDatabase(parent, title string, columns ...Column) (Database, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	above, err := w.place(parent, kindPage, kindBlock, kindSource)
	if err != nil {
		return Database{}, fmt.Errorf("add the database %q: %w", title, err)
	}
	n := &node{id: w.nextID(), kind: kindDatabase, title: titled(title)}
	w.stamp(n)
	w.attach(n, above)
	source := w.addSource(n, title, columns)
	w.emit(n, "created", nil)
	w.contentChanged(above, n.id)
	return Database{ID: n.id, Source: source.id}, nil
}

// AddLinkedDatabase makes a view of a database that lies where the integration can't read it: a block of type child_database
// whose database is not found. It gives the block's id.
func (w *Workspace) AddLinkedDatabase(parent, title string) (string, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	above, err := w.findKind(parent, kindPage, kindBlock)
	if err != nil {
		return "", fmt.Errorf("add the linked database %q: %w", title, err)
	}
	n := &node{id: w.nextID(), kind: kindDatabase, title: titled(title), linked: true}
	w.stamp(n)
	w.attach(n, above.id)
	w.contentChanged(above.id, n.id)
	return n.id, nil
}

// AddDataSource gives a database another data source and returns its id.
func (w *Workspace) AddDataSource(database, name string, columns ...Column) (string, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	n, err := w.findKind(database, kindDatabase)
	if err != nil {
		return "", fmt.Errorf("add the data source %q: %w", name, err)
	}
	return w.addSource(n, name, columns).id, nil
}

func (w *Workspace) addSource(database *node, name string, columns []Column) *node {
	n := &node{id: w.nextID(), kind: kindSource, title: titled(name), columns: w.schema(columns)}
	w.stamp(n)
	w.attach(n, database.id)
	w.emit(n, "created", nil)
	return n
}

// AddRow makes a row, which is a page, and gives its id. Values are keyed by the names of columns.
func (w *Workspace) AddRow(source, title string, values map[string]Value, blocks ...Block) (string, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	above, err := w.findKind(source, kindSource)
	if err != nil {
		return "", fmt.Errorf("add the row %q: %w", title, err)
	}
	byID := make(map[string]Value, len(values))
	for name, value := range values {
		column, err := above.column(name, value.Type)
		if err != nil {
			return "", fmt.Errorf("add the row %q: %w", title, err)
		}
		byID[column.ID] = value
	}
	n := &node{id: w.nextID(), kind: kindPage, title: titled(title), values: byID}
	w.stamp(n)
	w.attach(n, above.id)
	w.addBlocks(n, blocks)
	w.emit(n, "created", nil)
	w.contentChanged(above.id, n.id)
	return n.id, nil
}

// Append puts blocks at the end of a page or block and gives their ids, those of the first level.
func (w *Workspace) Append(parent string, blocks ...Block) ([]string, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	n, err := w.findKind(parent, kindPage, kindBlock)
	if err != nil {
		return nil, fmt.Errorf("append blocks: %w", err)
	}
	ids := w.addBlocks(n, blocks)
	if n.kind == kindBlock {
		w.touch(n)
	}
	w.contentChanged(n.id, ids...)
	return ids, nil
}

func (w *Workspace) addBlocks(parent *node, blocks []Block) []string {
	ids := make([]string, 0, len(blocks))
	for _, b := range blocks {
		n := &node{id: w.nextID(), kind: kindBlock, typ: b.Type, payload: maps.Clone(b.Payload)}
		w.stamp(n)
		w.attach(n, parent.id)
		w.addBlocks(n, b.Children)
		ids = append(ids, n.id)
	}
	return ids
}

// place checks where something is to be put: the id in its usual spelling, or empty for the top of the workspace.
func (w *Workspace) place(parent string, kinds ...kind) (string, error) {
	if parent == "" {
		return "", nil
	}
	n, err := w.findKind(parent, kinds...)
	if err != nil {
		return "", err
	}
	return n.id, nil
}

// contentChanged marks the page that holds a parent as edited, and tells of the blocks that changed on it. A data source whose
// rows come or go is told of too, but isn't edited.
func (w *Workspace) contentChanged(parent string, blocks ...string) {
	holder := w.holder(w.nodes[parent])
	switch {
	case holder == nil:
	case holder.kind == kindSource:
		w.emit(holder, "content_updated", nil)
	case holder.kind == kindPage:
		w.touch(holder)
		w.emit(holder, "content_updated", blocks)
	}
}
