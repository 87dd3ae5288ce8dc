package gdrive

import (
	"cmp"
	"context"
	"maps"
	"slices"

	"github.com/loresync/loresync/internal/source"
)

// digest works out what changes mean for the tree below a root.
type digest struct {
	s    *Source
	root source.Root
	top  placed
	news *news
	// known are the parents of the folder's known pages.
	known map[string]string
	climb *climber
	// sweep lists again what is below folders.
	sweep *sweep
	// found is what is below the root, at its place, and lost what was known and is there no more.
	found map[string]placed
	lost  map[string]bool
}

func (s *Source) digest(root source.Root, top placed) *digest {
	d := &digest{
		s: s, root: root, top: top, news: newNews(), climb: s.climber(top, fresh), sweep: s.sweep(top, checkpoint{}, false),
		found: map[string]placed{}, lost: map[string]bool{},
	}
	read := d.climb.look
	d.climb.look = func(ctx context.Context, id string) (file, error) { return d.look(ctx, id, read) }
	d.sweep.take = func(_ context.Context, at placed) error {
		d.found[at.id] = at
		return nil
	}
	return d
}

// look believes the news before it asks.
func (d *digest) look(ctx context.Context, id string, read func(context.Context, string) (file, error)) (file, error) {
	if f, told := d.news.files[id]; told {
		return f, nil
	}
	return read(ctx, id)
}

// understand goes through the news in an order in which nothing is asked twice.
func (d *digest) understand(ctx context.Context) error {
	if d.news.empty() {
		return nil
	}
	if d.root.Known != nil {
		var err error
		if d.known, err = d.root.Known(ctx); err != nil {
			return err
		}
	}
	if err := d.addDrives(ctx); err != nil {
		return err
	}
	links, err := d.sort(ctx)
	if err != nil {
		return err
	}
	if err := d.relist(ctx); err != nil {
		return err
	}
	if err := d.follow(ctx, links); err != nil {
		return err
	}
	d.loseBelow()
	return nil
}

// addDrives makes a changed shared drive to which a shortcut leads a changed folder: its name is in the paths of what it holds.
func (d *digest) addDrives(ctx context.Context) error {
	for _, id := range slices.Sorted(maps.Keys(d.news.renamed)) {
		if _, known := d.known[id]; !known || !d.news.renamed[id] {
			continue
		}
		f, err := d.s.client.get(ctx, id, fileFields)
		if err == nil {
			f, err = d.s.client.named(ctx, f)
		}
		switch {
		case err == nil:
			d.news.files[id] = f
		case !notFound(err) && !withheld(err):
			return err
		}
	}
	return nil
}

// sort parts the changed files into what is below the root now and what was. It gives the shortcuts, which stand for others.
func (d *digest) sort(ctx context.Context) (links []placed, err error) {
	for id := range d.news.gone {
		d.lose(id)
	}
	for _, id := range slices.Sorted(maps.Keys(d.news.files)) {
		f := d.news.files[id]
		at := spot{}
		if !f.trashed {
			if at, err = d.climb.place(ctx, f); err != nil {
				return nil, err
			}
		}
		switch {
		case f.isShortcut() && at.inside:
			links = append(links, at.placed)
		case f.isShortcut() && !at.unsure:
			d.lose(id)
			err = d.unlink(ctx, f.target.id)
		case at.inside && id != d.top.id:
			d.found[id] = at.placed
		case !at.unsure:
			d.lose(id)
		}
		if err != nil {
			return nil, err
		}
	}
	return links, nil
}

// relist lists what is below changed folders, from the top down. That a folder was only shared or given another color can't be told
// from a rename, whose traces are in the paths of all that is below it.
func (d *digest) relist(ctx context.Context) error {
	changed := slices.Collect(maps.Values(d.found))
	slices.SortFunc(changed, func(a, b placed) int { return cmp.Or(cmp.Compare(a.depth, b.depth), cmp.Compare(a.id, b.id)) })
	for _, at := range changed {
		if !at.isFolder() || d.sweep.seen[at.id] {
			continue
		}
		d.s.folders.put(at.id, at.file, nil)
		d.sweep.seen[at.id] = true
		if err := d.sweep.down(ctx, []placed{at}); err != nil {
			return err
		}
	}
	return nil
}

// follow lists what changed shortcuts stand for, unless it is below the root by itself.
func (d *digest) follow(ctx context.Context, links []placed) error {
	for links = append(links, d.takeLinks()...); len(links) > 0; links = d.takeLinks() {
		for _, link := range links {
			if err := d.followOne(ctx, link); err != nil {
				return err
			}
		}
	}
	return nil
}

func (d *digest) takeLinks() []placed {
	links := d.sweep.shortcuts
	d.sweep.shortcuts = nil
	return links
}

func (d *digest) followOne(ctx context.Context, link placed) error {
	at, err := d.sweep.resolve(ctx, link)
	switch {
	case err != nil:
		return err
	case at.skip != nil:
		d.found[at.id] = at
		return nil
	case d.sweep.seen[at.id]:
		return nil
	}
	// The climber may know of a shortcut that is listed before this one, or find the target in the tree.
	spot, err := d.climb.place(ctx, at.file)
	if err != nil || spot.inside && !spot.linked {
		return err
	}
	if spot.inside {
		at = spot.placed
	}
	d.found[at.id] = at
	if !at.isFolder() {
		return nil
	}
	d.sweep.seen[at.id] = true
	return d.sweep.down(ctx, []placed{at})
}
