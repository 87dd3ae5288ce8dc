package gdrive

import "context"

// lose notes that a known file is no longer below the root. What never was is nobody's business.
func (d *digest) lose(id string) {
	if _, known := d.known[id]; known {
		d.lost[id] = true
	}
}

// unlink looks after what a shortcut stood for, now that it is gone: it is lost unless it is in the tree by itself, or by another
// shortcut.
func (d *digest) unlink(ctx context.Context, target string) error {
	if _, known := d.known[target]; !known {
		return nil
	}
	f, err := d.look(ctx, target, func(ctx context.Context, id string) (file, error) { return d.s.client.get(ctx, id, fileFields) })
	switch {
	case notFound(err):
		d.lose(target)
		return nil
	case withheld(err):
		return nil
	case err != nil:
		return err
	}
	at, err := d.climb.place(ctx, f)
	if err == nil && !at.inside && !at.unsure {
		d.lose(target)
	}
	return err
}

// loseBelow adds what is known below lost folders, since Drive logs only the folder's own change. What has moved elsewhere below the
// root stays, with all below it.
func (d *digest) loseBelow() {
	if len(d.lost) == 0 {
		return
	}
	children := map[string][]string{}
	for id, parent := range d.known {
		children[parent] = append(children[parent], id)
	}
	waiting := make([]string, 0, len(d.lost))
	for id := range d.lost {
		waiting = append(waiting, id)
	}
	for len(waiting) > 0 {
		id := waiting[len(waiting)-1]
		waiting = waiting[:len(waiting)-1]
		for _, child := range children[id] {
			if _, found := d.found[child]; !found && !d.lost[child] {
				d.lost[child] = true
				waiting = append(waiting, child)
			}
		}
	}
	for id := range d.found {
		delete(d.lost, id)
	}
}
