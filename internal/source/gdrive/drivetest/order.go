package drivetest

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// sortKey gives the text by which files are put in order.
type sortKey struct {
	of         func(v *view, it *item) string
	descending bool
}

// parseOrder reads a parameter orderBy: keys between commas, each with desc behind it for the other direction.
func parseOrder(text string) ([]sortKey, error) {
	var keys []sortKey
	if text == "" {
		return nil, nil
	}
	for part := range strings.SplitSeq(text, ",") {
		name, direction, has := strings.Cut(strings.TrimSpace(part), " ")
		of, ok := sortKeys[name]
		if !ok || has && direction != "desc" {
			return nil, invalid("")
		}
		keys = append(keys, sortKey{of: of, descending: direction == "desc"})
	}
	return keys, nil
}

var sortKeys = map[string]func(*view, *item) string{
	"name":             func(_ *view, it *item) string { return strings.ToLower(it.shownName()) },
	"name_natural":     func(_ *view, it *item) string { return natural(it.shownName()) },
	"createdTime":      func(_ *view, it *item) string { return stamp(it.created) },
	"modifiedTime":     func(_ *view, it *item) string { return stamp(it.modified) },
	"recency":          func(_ *view, it *item) string { return stamp(it.modified) },
	"modifiedByMeTime": func(v *view, it *item) string { return timeText(it.editor == v.email, stamp(it.modified)) },
	"viewedByMeTime":   func(*view, *item) string { return "" },
	"starred":          func(*view, *item) string { return "" },
	"sharedWithMeTime": func(v *view, it *item) string { return timeText(v.isSharedWith(it), stamp(it.sharedAt[v.email])) },
	"quotaBytesUsed":   func(v *view, it *item) string { return fmt.Sprintf("%020v", quota(v, it)) },
	// Folders come first.
	"folder": func(_ *view, it *item) string { return strconv.FormatBool(!it.isFolder()) },
}

func timeText(has bool, at string) string {
	if has {
		return at
	}
	return ""
}

// natural makes numbers in a name compare by their size.
func natural(name string) string {
	var out strings.Builder
	for rest := strings.ToLower(name); rest != ""; {
		digits := strings.IndexFunc(rest, func(r rune) bool { return r < '0' || r > '9' })
		if digits < 0 {
			digits = len(rest)
		}
		if digits == 0 {
			out.WriteByte(rest[0])
			rest = rest[1:]
			continue
		}
		fmt.Fprintf(&out, "%20s", rest[:digits])
		rest = rest[digits:]
	}
	return out.String()
}

// place is where an item stands in an order: the values of its keys, and when it was made, which is what is left to order by.
type place struct {
	Keys  []string `json:"k,omitempty"`
	Order int      `json:"o"`
}

func (v *view) placeOf(it *item, keys []sortKey) place {
	p := place{Order: it.order}
	for _, key := range keys {
		p.Keys = append(p.Keys, key.of(v, it))
	}
	return p
}

// compare orders places; without keys the youngest comes first.
func (p place) compare(other place, keys []sortKey) int {
	for i, key := range keys {
		if i >= len(p.Keys) || i >= len(other.Keys) {
			break
		}
		n := strings.Compare(p.Keys[i], other.Keys[i])
		if key.descending {
			n = -n
		}
		if n != 0 {
			return n
		}
	}
	return cmp.Compare(other.Order, p.Order)
}

// placed is an item in an order.
type placed struct {
	*item
	at place
}

// sorted puts items in order and leaves out what doesn't come after a place, if one is given.
func (v *view) sorted(items []*item, keys []sortKey, after *place) []placed {
	var found []placed
	for _, it := range items {
		p := placed{item: it, at: v.placeOf(it, keys)}
		if after == nil || p.at.compare(*after, keys) > 0 {
			found = append(found, p)
		}
	}
	slices.SortFunc(found, func(a, b placed) int { return a.at.compare(b.at, keys) })
	return found
}
