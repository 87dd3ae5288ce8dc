package notiontest

import "fmt"

// Move puts a page, database or block under another parent. It does not count as an edit of what was moved: whether it does in
// Notion isn't known, and clients that rely on it would miss moves.
func (w *Workspace) Move(id, parent string) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	n, err := w.findKind(id, kindPage, kindDatabase, kindBlock)
	if err != nil {
		return fmt.Errorf("move: %w", err)
	}
	above, err := w.place(parent, w.parentsOf(n)...)
	if err != nil {
		return fmt.Errorf("move %s: %w", n.id, err)
	}
	if above == "" && n.kind == kindBlock {
		return fmt.Errorf("move %s: a block can't lie at the top of the workspace", n.id)
	}
	if above != "" && w.below(w.nodes[above], n) {
		return fmt.Errorf("move %s: %s lies below it", n.id, above)
	}
	from := n.parent
	w.detach(n)
	w.attach(n, above)
	if n.kind != kindBlock {
		w.emit(n, "moved", nil)
	}
	w.contentChanged(from, n.id)
	w.contentChanged(above, n.id)
	return nil
}

func (w *Workspace) parentsOf(n *node) []kind {
	if n.kind == kindBlock {
		return []kind{kindPage, kindBlock}
	}
	return []kind{kindPage, kindBlock, kindSource}
}

// Trash moves an object to the trash, with all that lies below it. It can still be read there.
func (w *Workspace) Trash(id string) error { return w.setTrashed("trash", id, true) }

// Restore takes an object out of the trash.
func (w *Workspace) Restore(id string) error { return w.setTrashed("restore", id, false) }

// setTrashed doesn't count as an edit of the object itself: the times of recorded objects didn't move.
func (w *Workspace) setTrashed(doing, id string, trashed bool) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	n, err := w.find(id)
	if err != nil {
		return fmt.Errorf("%s: %w", doing, err)
	}
	if n.trashed == trashed {
		return nil
	}
	n.trashed = trashed
	switch {
	case n.kind == kindBlock:
	case trashed:
		w.emit(n, "deleted", nil)
	default:
		w.emit(n, "undeleted", nil)
	}
	w.contentChanged(n.parent, n.id)
	return nil
}

// Delete removes an object and all below it for good: nobody finds it any more.
func (w *Workspace) Delete(id string) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	n, err := w.find(id)
	if err != nil {
		return fmt.Errorf("delete: %w", err)
	}
	if n.kind != kindBlock && !w.inTrash(n) {
		w.emit(n, "deleted", nil)
	}
	parent := n.parent
	w.remove(n)
	w.contentChanged(parent, n.id)
	return nil
}

// Share lets the integration see an object and all below it.
func (w *Workspace) Share(id string) error { return w.setAccess("share", id, true) }

// Unshare keeps the integration from seeing an object and all below it, whatever is shared above. Its times don't change.
func (w *Workspace) Unshare(id string) error { return w.setAccess("unshare", id, false) }

func (w *Workspace) setAccess(doing, id string, granted bool) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	n, err := w.find(id)
	if err != nil {
		return fmt.Errorf("%s: %w", doing, err)
	}
	w.access[n.id] = granted
	return nil
}

// Hide keeps a page, database or data source out of searches though it is shared: search promises only what was shared
// directly. Show ends that.
func (w *Workspace) Hide(id string) error { return w.setHidden("hide", id, true) }

// Show lets searches find an object that was hidden.
func (w *Workspace) Show(id string) error { return w.setHidden("show", id, false) }

func (w *Workspace) setHidden(doing, id string, hidden bool) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	n, err := w.findKind(id, kindPage, kindDatabase, kindSource)
	if err != nil {
		return fmt.Errorf("%s: %w", doing, err)
	}
	n.hidden = hidden
	for _, child := range n.children {
		if n.kind == kindDatabase {
			w.nodes[child].hidden = hidden
		}
	}
	return nil
}
