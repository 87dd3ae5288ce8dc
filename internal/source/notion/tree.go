package notion

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"net/http"
	"slices"
	"time"

	"github.com/loresync/loresync/internal/source"
	"github.com/loresync/loresync/internal/source/notion/document"
)

// top is the root of a folder as Notion knows it.
type top struct {
	// id is the page's or database's id; empty for the whole workspace.
	id string
	// dataSource restricts a database to one of its data sources.
	dataSource string
	object     document.Object
}

// node is a page or database that search showed, and where it says that it hangs.
type node struct {
	id, title, url string
	edited         time.Time
	above          place
}

// place is where an object hangs: below a page or database; in a block of a page that isn't told; or at the top of a workspace.
type place struct {
	parent     string
	dataSource string
	unknown    bool
}

// tree is what search showed, and what lies below the root in it.
type tree struct {
	top     top
	nodes   map[string]node
	known   map[string]string
	gone    []string
	newest  time.Time
	strange int
	capped  bool
}

// top reads the root, whatever it is. A verdict says that it isn't there.
func (s *Source) top(ctx context.Context, root source.Root) (top, source.Listed, error) {
	if root.Ref == Workspace {
		return top{}, source.Listed{}, nil
	}
	for _, read := range []func(context.Context, string) (top, error){s.topPage, s.topDatabase, s.topDataSource} {
		found, err := read(ctx, root.Ref)
		switch {
		case err == nil && found.object.InTrash:
			return top{}, rootMissing("the root is in Notion's trash: restore it there, or choose another root"), nil
		case err == nil:
			return found, source.Listed{}, nil
		case !notShared(err) && statusOf(err) != http.StatusBadRequest:
			return top{}, source.Listed{}, err
		}
	}
	return top{}, rootMissing("Notion doesn't show the root to this integration: share it with the integration, or choose another root"), nil
}

func rootMissing(sentence string) source.Listed {
	return source.Listed{Verdict: source.VerdictRootMissing, Sentence: sentence}
}

func (s *Source) topPage(ctx context.Context, id string) (top, error) {
	object, err := decoded(s.client.page(ctx, id))
	return top{id: object.ID, object: object}, err
}

func (s *Source) topDatabase(ctx context.Context, id string) (top, error) {
	object, err := decoded(s.client.database(ctx, id))
	return top{id: object.ID, object: object}, err
}

func (s *Source) topDataSource(ctx context.Context, id string) (top, error) {
	object, err := decoded(s.client.dataSource(ctx, id))
	if err == nil && databaseOf(object) == "" {
		err = errors.New("the data source names no database")
	}
	return top{id: databaseOf(object), dataSource: object.ID, object: object}, err
}

func decoded(raw []byte, err error) (document.Object, error) {
	if err != nil {
		return document.Object{}, err
	}
	return document.DecodeObject(raw)
}

// databaseOf is the database that a data source, or a row of one, belongs to.
func databaseOf(object document.Object) string {
	return cmp.Or(object.Parent.DatabaseID, object.Parent.ID)
}

// placeOf reads a parent. Below a data source an object hangs in its database.
func placeOf(parent document.Parent) place {
	switch parent.Type {
	case "page_id", "database_id":
		return place{parent: parent.ID}
	case "data_source_id":
		return place{parent: parent.DatabaseID, dataSource: parent.ID, unknown: parent.DatabaseID == ""}
	case "workspace":
		return place{}
	}
	return place{unknown: true}
}

// wantsKnown tells whether search showed an object without telling where it hangs.
func (t *tree) wantsKnown(pages, sources found) bool {
	for _, object := range pages.objects {
		if placeOf(object.Parent).unknown {
			return true
		}
	}
	for _, object := range sources.objects {
		if placeOf(object.DatabaseParent).unknown {
			return true
		}
	}
	return false
}

func (t *tree) add(pages, sources found) {
	t.strange, t.capped = pages.strange+sources.strange, pages.capped || sources.capped
	for _, id := range pages.order {
		t.addPage(pages.objects[id])
	}
	for _, id := range sources.order {
		t.addDataSource(sources.objects[id])
	}
	slices.Sort(t.gone)
}

// addTop adds the root where search doesn't know it, so that what is below is found by reading it: search promises only what
// was shared by itself. An incremental listing adds it when it was edited since; a database doesn't tell when it was.
func (t *tree) addTop(since time.Time) {
	object := t.top.object
	if _, shown := t.nodes[t.top.id]; shown || t.top.id == "" || object.EditedAt.Before(since) {
		return
	}
	switch object.Kind {
	case document.KindPage:
		t.addPage(object)
	case document.KindDataSource:
		t.addDataSource(object)
	case document.KindDatabase:
		if since.IsZero() {
			t.nodes[object.ID] = node{id: object.ID, title: object.Title, url: databaseURL(object.ID), above: placeOf(object.Parent)}
		}
	}
}

func (t *tree) see(edited time.Time) {
	if edited.After(t.newest) {
		t.newest = edited
	}
}

func (t *tree) addPage(object document.Object) {
	t.see(object.EditedAt)
	if object.InTrash {
		t.gone = append(t.gone, object.ID)
		return
	}
	t.nodes[object.ID] = node{id: object.ID, title: object.Title, url: object.URL, edited: object.EditedAt, above: placeOf(object.Parent)}
}

// addDataSource adds the database of a data source; with several of them it was edited when the last of them was.
func (t *tree) addDataSource(object document.Object) {
	t.see(object.EditedAt)
	id := databaseOf(object)
	if id == "" || object.InTrash {
		return
	}
	n, twice := t.nodes[id]
	if !twice {
		n = node{id: id, title: object.Title, url: databaseURL(id), above: placeOf(object.DatabaseParent)}
	}
	if object.EditedAt.After(n.edited) {
		n.edited = object.EditedAt
	}
	t.nodes[id] = n
}

// databaseURL is the address of a database: a data source has one of its own, which differs.
func databaseURL(id string) string {
	return "https://www.notion.so/" + undashed(id)
}

// entries gives what lies below the root, parents first, then by id.
func (t *tree) entries() []placed {
	entries := make([]placed, 0, len(t.nodes))
	depths := map[string]int{}
	inside := map[string]bool{}
	for id, n := range t.nodes {
		if !t.isInside(id, inside) {
			continue
		}
		parent, known := t.parentOf(n)
		if id == t.top.id {
			parent, known = "", true
		}
		entries = append(entries, placed{Entry: n.entry(parent, known), depth: t.depth(id, depths)})
	}
	slices.SortFunc(entries, func(a, b placed) int { return cmp.Compare(a.cursor(), b.cursor()) })
	return entries
}

// depth is how many of the shown objects lie above one. depths remembers answers; one that is being worked out counts as 0, so
// that a circle ends.
func (t *tree) depth(id string, depths map[string]int) int {
	if known, asked := depths[id]; asked {
		return known
	}
	depths[id] = 0
	n, shown := t.nodes[id]
	if parent, known := t.parentOf(n); shown && known && parent != "" && id != t.top.id {
		if _, above := t.nodes[parent]; above {
			depths[id] = t.depth(parent, depths) + 1
		}
	}
	return depths[id]
}

// parentOf gives where an object hangs, if search tells or a sync has read it.
func (t *tree) parentOf(n node) (string, bool) {
	if !n.above.unknown {
		return n.above.parent, true
	}
	parent, known := t.known[n.id]
	return parent, known
}

// isInside climbs from an object to the root. inside remembers answers.
func (t *tree) isInside(id string, inside map[string]bool) bool {
	if t.top.id == "" {
		return true
	}
	var climbed []string
	answer := false
	for at := id; at != ""; {
		if at == t.top.id {
			answer = true
			break
		}
		if known, asked := inside[at]; asked {
			answer = known
			break
		}
		if len(climbed) > len(t.nodes)+len(t.known) || slices.Contains(climbed[max(0, len(climbed)-maxDepth):], at) {
			break // a circle
		}
		climbed = append(climbed, at)
		if at = t.above(at); at == outside {
			break
		}
	}
	for _, step := range climbed {
		inside[step] = answer
	}
	return answer
}

// left gives known pages that search now shows outside the root, with all that is known below them: they seem to have moved out.
func (t *tree) left() []string {
	if t.top.id == "" {
		return nil
	}
	inside, below := map[string]bool{}, map[string][]string{}
	for id, parent := range t.known {
		below[parent] = append(below[parent], id)
	}
	left := map[string]bool{}
	for id := range t.nodes {
		if _, known := t.known[id]; known && id != t.top.id && !t.isInside(id, inside) {
			t.takeAlong(id, below, left, inside)
		}
	}
	return slices.Sorted(maps.Keys(left))
}

// takeAlong adds an object and what is known below it, but for what search shows elsewhere below the root.
func (t *tree) takeAlong(id string, below map[string][]string, left, inside map[string]bool) {
	if _, shown := t.nodes[id]; left[id] || shown && t.isInside(id, inside) {
		return
	}
	left[id] = true
	for _, child := range below[id] {
		t.takeAlong(child, below, left, inside)
	}
}

// outside stands for a parent that is not below the root, or not known.
const outside = "-"

func (t *tree) above(id string) string {
	n, shown := t.nodes[id]
	if !shown {
		parent, known := t.known[id]
		if !known {
			return outside
		}
		return cmp.Or(parent, outside)
	}
	if t.top.dataSource != "" && n.above.parent == t.top.id && n.above.dataSource != t.top.dataSource {
		return outside
	}
	parent, known := t.parentOf(n)
	if !known {
		return outside
	}
	return cmp.Or(parent, outside)
}
