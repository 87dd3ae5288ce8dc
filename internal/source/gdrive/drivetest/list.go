package drivetest

import (
	"net/http"
	"slices"
)

// listing is one request for a list of files.
type listing struct {
	*call
	scope
	mask  *mask
	query *query
	order []sortKey
	size  int
	// same names the query for its page tokens.
	same  string
	from  pageToken
	trick trick
}

// listFiles answers files.list.
func (c *call) listFiles() (answer, error) {
	l := &listing{call: c, trick: trickOf(c.r)}
	for _, read := range []func() error{l.readMask, l.readQuery, l.readScope, l.readPage, l.checkParents} {
		if err := read(); err != nil {
			return answer{}, err
		}
	}
	return l.answer(), nil
}

func (l *listing) readMask() (err error) {
	l.mask, err = l.call.mask()
	return err
}

func (l *listing) readQuery() (err error) {
	values := l.call.query()
	if l.query, err = parseQuery(values.Get("q")); err != nil {
		return err
	}
	if l.order, err = parseOrder(values.Get("orderBy")); err != nil {
		return err
	}
	if l.query.fullText && l.order != nil {
		return &apiError{
			status: http.StatusBadRequest, reason: "badRequest",
			message: "Sorting is not supported for queries with fullText terms. Results are always in descending relevance order.",
		}
	}
	return nil
}

func (l *listing) readPage() (err error) {
	if l.size, err = l.pageSize(100, 1000); err != nil {
		return err
	}
	if limit := l.s.options.PageCap; limit > 0 {
		l.size = min(l.size, limit)
	}
	l.same = l.sameQuery("q", "orderBy", "corpora", "driveId", "spaces", "includeItemsFromAllDrives", "supportsAllDrives")
	text := l.call.query().Get("pageToken")
	if text == "" {
		return nil
	}
	var ok bool
	if l.from, ok = l.readToken(text, l.same); !ok {
		return invalid("")
	}
	return nil
}

// checkParents refuses a query that names a folder which isn't there for the user, as Drive does, without naming it.
func (l *listing) checkParents() error {
	for _, id := range l.query.parents {
		it, err := l.itemOf(id, l.all)
		if err != nil || !it.isFolder() || it.drive != "" && !l.items {
			return notFound("")
		}
	}
	return nil
}

// answer gives one page.
func (l *listing) answer() answer {
	found := l.sorted(l.found(), l.order, l.from.After)
	if l.from.Doubled {
		found = append(l.again(), found...)
	}
	o := Object{"kind": "drive#fileList", "incompleteSearch": l.trick == trickIncomplete}
	page := found[:min(l.size, len(found))]
	next := pageToken{For: l.same, User: l.email, Doubled: l.trick == trickDuplicate && len(page) > 0}
	if len(page) > 0 {
		next.After = &page[len(page)-1].at
	}
	switch {
	case l.trick == trickEmpty:
		page, next = nil, pageToken{For: l.same, User: l.email, After: l.from.After}
	case l.trick == trickRepeat:
		next.After = l.from.After
	case l.trick == trickIncomplete && len(page) > 0:
		page = page[:len(page)-1]
	}
	if len(found) > l.size || l.trick > trickIncomplete && len(found) > 0 {
		o["nextPageToken"] = l.s.token(next)
	}
	files := make([]any, len(page))
	if below := l.mask.sub("files"); below != nil {
		for i, p := range page {
			files[i] = l.file(p.item, below)
		}
	}
	o["files"] = files
	return l.mask.object(o)
}

// again gives the file that the page before ended with.
func (l *listing) again() []placed {
	all := l.sorted(l.found(), l.order, nil)
	i := slices.IndexFunc(all, func(p placed) bool { return p.at.compare(*l.from.After, l.order) == 0 })
	if i < 0 {
		return nil
	}
	return all[i : i+1]
}

// found are all files that the query is about, in no order.
func (l *listing) found() []*item {
	var found []*item
	for _, it := range l.s.items {
		if !it.gone && !it.isRoot && !it.isDrive && l.query.holds(l.view, it) && l.includes(it) {
			found = append(found, it)
		}
	}
	return found
}

// includes is whether a file belongs to what is searched. Those right in a folder that the query names do so wherever it is.
func (l *listing) includes(it *item) bool {
	named := slices.ContainsFunc(l.query.parents, func(id string) bool { return l.hasParent(it, id) })
	if named {
		return l.sees(it) && l.contains(it, true)
	}
	return l.finds(it) && l.contains(it, false)
}
