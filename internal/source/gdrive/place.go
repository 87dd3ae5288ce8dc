package gdrive

import (
	"cmp"
	"context"
	"time"

	"github.com/loresync/loresync/internal/source"
)

// climber finds out where files are by going up from them. One serves one question, or the changes of one run.
type climber struct {
	s   *Source
	top placed
	// look reads a folder.
	look func(ctx context.Context, id string) (file, error)
	// age is how old the list of shortcuts may be.
	age   time.Duration
	spots map[string]spot
	busy  map[string]bool
}

// spot is where a file is.
type spot struct {
	placed
	inside bool
	// unsure is set when something above can't be seen: that is no proof of anything.
	unsure bool
	// linked is set when only a shortcut leads there.
	linked bool
}

func (s *Source) climber(top placed, age time.Duration) *climber {
	return &climber{
		s: s, top: top, age: age, spots: map[string]spot{}, busy: map[string]bool{},
		look: func(ctx context.Context, id string) (file, error) { return s.folder(ctx, id, age) },
	}
}

// place tells where below the root a file is: at the highest of its places and, of those, in the folder with the smallest id, which
// is where a listing meets it first.
func (c *climber) place(ctx context.Context, f file) (spot, error) {
	if f.id == c.top.id {
		return spot{placed: c.top, inside: true}, nil
	}
	if known, ok := c.spots[f.id]; ok {
		return known, nil
	}
	if c.busy[f.id] {
		return spot{}, nil // a circle of folders leads nowhere
	}
	c.busy[f.id] = true
	defer delete(c.busy, f.id)
	at, err := c.byParents(ctx, f)
	if err == nil && !at.inside {
		at, err = c.byShortcuts(ctx, f, at.unsure)
	}
	if err == nil {
		c.spots[f.id] = at
	}
	return at, err
}

func (c *climber) byParents(ctx context.Context, f file) (spot, error) {
	if c.top.id == SharedWithMe && f.sharedWithMe {
		return spot{placed: c.top.under(f), inside: true}, nil
	}
	best := spot{}
	for _, parent := range f.parents {
		above, err := c.folder(ctx, parent)
		if err != nil {
			return spot{}, err
		}
		best.unsure = best.unsure || above.unsure
		if !above.inside {
			continue
		}
		if at := above.under(f); !best.inside || before(at, best.placed) {
			best.placed, best.inside, best.linked = at, true, above.linked
		}
	}
	return best, nil
}

// before is the order in which a listing meets places.
func before(a, b placed) bool {
	return cmp.Or(cmp.Compare(a.depth, b.depth), cmp.Compare(a.parent, b.parent)) < 0
}

func (c *climber) folder(ctx context.Context, id string) (spot, error) {
	if id == c.top.id {
		return spot{placed: c.top, inside: true}, nil
	}
	f, err := c.look(ctx, id)
	if _, known := c.spots[id]; err == nil && !known {
		f, err = c.s.client.named(ctx, f)
	}
	switch {
	case notFound(err), withheld(err):
		return spot{unsure: true}, nil
	case err != nil:
		return spot{}, err
	case f.trashed:
		return spot{}, nil
	}
	return c.place(ctx, f)
}

// byShortcuts looks for shortcuts below the root that stand for a file outside of it.
func (c *climber) byShortcuts(ctx context.Context, f file, unsure bool) (spot, error) {
	best := spot{unsure: unsure}
	links, whole, err := c.s.targets.to(ctx, c.s.client, c.top.drive, f.id, c.age)
	if err != nil {
		return best, err
	}
	best.unsure = best.unsure || !whole
	for _, link := range links {
		at, err := c.place(ctx, link)
		if err != nil {
			return best, err
		}
		if at.inside && (!best.inside || before(at.placed, best.placed)) {
			best.placed, best.inside, best.linked = at.standingFor(f), true, true
		}
	}
	return best, nil
}

// standingFor puts a shortcut's target in its place.
func (p placed) standingFor(f file) placed {
	path := f.title()
	if above := len(p.path) - len(p.title()); above > 0 {
		path = p.path[:above] + path
	}
	return placed{file: f, parent: p.parent, path: path, depth: p.depth}
}

// placeOf is where a file is below a root.
func (s *Source) placeOf(ctx context.Context, root source.Root, f file, age time.Duration) (spot, source.Listed, error) {
	top, listed, err := s.top(ctx, root, age)
	if err != nil || listed.Verdict != "" {
		return spot{}, listed, err
	}
	at, err := s.climber(top, age).place(ctx, f)
	return at, source.Listed{}, err
}
