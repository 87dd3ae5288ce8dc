package control

import (
	"context"
	"encoding/base64"
	"strconv"

	"github.com/loresync/loresync/internal/knowledge"
)

// PageSlice is some of a folder's pages.
type PageSlice struct {
	Pages []knowledge.Page
	// Next is the cursor of the slice that follows; empty at the end.
	Next string
}

// PagesFrom gives the pages of a folder slice by slice, as many as the filter's limit at a time: from the beginning with an empty
// cursor, and else behind the slice whose Next it is. A page that comes or goes meanwhile moves no other one between slices.
func (c *Control) PagesFrom(ctx context.Context, folder string, filter PageFilter, cursor string) (PageSlice, error) {
	query, err := c.pageQuery(ctx, folder, filter)
	if err != nil {
		return PageSlice{}, err
	}
	if query.Limit == 0 {
		return PageSlice{}, usage("limit", "the limit 0 is not possible: give how many pages to show at a time")
	}
	if query.AfterNo, err = readCursor(cursor); err != nil {
		return PageSlice{}, err
	}
	pages, next, err := c.store.PagesBehind(ctx, folder, query)
	return PageSlice{Pages: pages, Next: writeCursor(next)}, err
}

// A cursor is opaque to callers, and begins with what it is made of, should that change.
const cursorKind = "n"

func writeCursor(pageNo int64) string {
	if pageNo == 0 {
		return ""
	}
	return base64.RawURLEncoding.EncodeToString([]byte(cursorKind + strconv.FormatInt(pageNo, 10)))
}

func readCursor(cursor string) (int64, error) {
	if cursor == "" {
		return 0, nil
	}
	text, err := base64.RawURLEncoding.DecodeString(cursor)
	if err != nil || len(text) < 2 || string(text[:1]) != cursorKind {
		return 0, usage("cursor", "the cursor is none that an answer gave: begin without one")
	}
	pageNo, err := strconv.ParseInt(string(text[1:]), 10, 64)
	if err != nil || pageNo < 0 {
		return 0, usage("cursor", "the cursor is none that an answer gave: begin without one")
	}
	return pageNo, nil
}
