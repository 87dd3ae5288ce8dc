package notiontest

import (
	"fmt"
	"net/http"
	"strconv"
	"sync"
)

// maxPage is how many results one answer has at most, and by default.
const maxPage = 100

// window is the part of a list that one answer shows.
type window struct {
	from, to int
	next     any
	hasMore  bool
}

// list answers with a part of a list. Keys name its items, in their order; scope names the list, so that a cursor of another
// list, or of the same one filtered otherwise, is refused.
func (c *call) list(typ, scope string, keys []string, show func(int) any) (Object, error) {
	win, err := c.window(scope, keys)
	if err != nil {
		return nil, err
	}
	results := []any{}
	for i := win.from; i < win.to; i++ {
		results = append(results, show(i))
	}
	return Object{
		"object": "list", "results": results, "next_cursor": win.next, "has_more": win.hasMore, "type": typ, typ: Object{},
	}, nil
}

func (c *call) window(scope string, keys []string) (window, error) {
	size, cursor, err := c.paging()
	if err != nil {
		return window{}, err
	}
	from := 0
	if cursor != "" {
		if from, err = c.s.cursors.find(cursor, scope, keys); err != nil {
			return window{}, err
		}
	}
	win := window{from: from, to: min(from+size, len(keys))}
	c.tricked(&win, scope, cursor, keys)
	return win, nil
}

// tricked ends a window with its cursor, as the API does or as a fault wants it.
func (c *call) tricked(win *window, scope, cursor string, keys []string) {
	trick, _ := c.r.Context().Value(trickKey{}).(trick)
	resume := win.to
	switch trick {
	case trickEmpty:
		win.to, resume = win.from, win.from
	case trickDuplicate:
		resume = max(win.from+1, win.to-1)
	case trickNone, trickNull, trickRepeat:
	}
	win.hasMore = resume < len(keys)
	if !win.hasMore {
		return
	}
	win.next = c.s.cursors.issue(scope, keys[resume], resume)
	switch {
	case trick == trickNull:
		win.next = nil
	case trick == trickRepeat && cursor != "":
		win.next = cursor
	}
}

// paging reads the page size and the cursor from a query string or a body.
func (c *call) paging() (size int, cursor string, err error) {
	if c.r.Method == http.MethodPost {
		return pagingOf(c.body)
	}
	query := c.r.URL.Query()
	size = maxPage
	if asked := query.Get("page_size"); query.Has("page_size") {
		if size, err = strconv.Atoi(asked); err != nil {
			return 0, "", invalid("query failed validation: query.page_size should be a number, instead was `%q`.", asked)
		}
	}
	if query.Has("start_cursor") && query.Get("start_cursor") == "" {
		return 0, "", invalid("query failed validation: query.start_cursor should be a valid uuid, instead was `\"\"`.")
	}
	return size, query.Get("start_cursor"), checkSize("query", size)
}

func pagingOf(body Object) (size int, cursor string, err error) {
	size = maxPage
	if asked, given := body["page_size"]; given {
		number, ok := asked.(float64)
		if !ok || number != float64(int(number)) {
			return 0, "", invalid("body failed validation: body.page_size should be a number, instead was `%v`.", asked)
		}
		size = int(number)
	}
	if asked, given := body["start_cursor"]; given {
		text, ok := asked.(string)
		if !ok || text == "" {
			return 0, "", invalid("body failed validation: body.start_cursor should be a valid uuid, instead was `%v`.", asked)
		}
		cursor = text
	}
	return size, cursor, checkSize("body", size)
}

func checkSize(where string, size int) error {
	switch {
	case size < 1:
		return invalid("%s failed validation: %s.page_size should be ≥ `1`, instead was `%d`.", where, where, size)
	case size > maxPage:
		return invalid("%s failed validation: %s.page_size should be ≤ `%d`, instead was `%d`.", where, where, maxPage, size)
	}
	return nil
}

// maxCursors is how many cursors are remembered; older ones are refused. A list of 10,000 has 100.
const maxCursors = 100_000

// cursors are the places in lists that were given out.
type cursors struct {
	seed uint64

	mu     sync.Mutex
	made   int
	places map[string]place
	order  []string
}

// place is where a list goes on: with an item, or, when that is gone, with whatever stands at its number.
type place struct {
	scope, key string
	number     int
}

func newCursors(seed uint64) *cursors {
	return &cursors{seed: seed, places: make(map[string]place)}
}

func (c *cursors) issue(scope, key string, number int) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.made++
	cursor := uuidOf(c.seed, fmt.Sprintf("cursor/%d", c.made))
	c.places[cursor] = place{scope, key, number}
	c.order = append(c.order, cursor)
	if len(c.order) > maxCursors {
		delete(c.places, c.order[0])
		c.order = c.order[1:]
	}
	return cursor
}

// find gives the number of the item that a list goes on with. The list may have changed since the cursor was given out: items
// that moved before the place are missed, and those that moved behind it come twice, as with the real search.
func (c *cursors) find(cursor, scope string, keys []string) (int, error) {
	c.mu.Lock()
	at, known := c.places[cursor]
	c.mu.Unlock()
	if !known || at.scope != scope {
		return 0, invalid("The start_cursor provided is invalid: %s", cursor)
	}
	for i, key := range keys {
		if key == at.key {
			return i, nil
		}
	}
	return min(at.number, len(keys)), nil
}

// ForgetCursors makes every cursor that was given out invalid, as those of the real API become after a while.
func (s *Server) ForgetCursors() {
	s.cursors.mu.Lock()
	defer s.cursors.mu.Unlock()
	clear(s.cursors.places)
	s.cursors.order = nil
}
