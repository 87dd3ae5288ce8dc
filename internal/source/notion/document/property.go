package document

import (
	"encoding/json"
	"strconv"
	"strings"
)

// header writes what stands before the blocks: a page's properties, or a database's description and columns.
func (r *renderer) header() {
	if r.doc.Object.Kind == KindDatabase || r.doc.Object.Kind == KindDataSource {
		r.database()
		return
	}
	r.properties(r.doc.Object.Properties)
}

// properties writes a line for each property that has a value, by name. Those without one share the last line: that nobody
// is assigned is worth knowing, but not a line for each of thirty columns.
func (r *renderer) properties(all []Property) {
	var lines, empty []string
	for _, p := range all {
		if leftOut(p) {
			continue
		}
		name := propertyName(p.Name)
		value := r.property(p)
		if value == "" {
			empty = append(empty, name)
			continue
		}
		r.hit()
		lines = append(lines, name+": "+value)
	}
	if len(empty) > 0 {
		lines = append(lines, "Empty: "+strings.Join(empty, ", "))
	}
	r.list(lines)
}

// leftOut reports properties that say nothing about the page: its title is known, a button is an action, and the time of the
// last visit changes without an edit.
func leftOut(p Property) bool {
	return p.Type == typeTitle || p.Type == "button" || p.Type == "last_visited_time"
}

// list writes lines as one list without blank lines.
func (r *renderer) list(lines []string) {
	for i, line := range lines {
		r.w.gap(i > 0)
		r.w.push("- ", "  ")
		r.w.lines(guardLine(line))
		r.w.pop("  ")
	}
}

func propertyName(name string) string {
	name = strings.Join(strings.Fields(tidyText(name)), " ")
	if name == "" {
		return "(no name)"
	}
	return escapeText(name, flowLine)
}

// property is a property's value as Markdown; empty when it has none.
func (r *renderer) property(p Property) string {
	f, err := decodeFields(p.Raw)
	if err != nil || p.Type == "" {
		r.report.Unreadable++
		r.note("property %q has an unknown shape", p.Name)
		return r.compactText(p.Raw)
	}
	value := r.value(p.Type, f[p.Type], p.HasMore)
	if p.HasMore {
		r.report.Truncated++
		r.note("property %q holds more than Notion sent", p.Name)
		if p.Type != "relation" {
			value = strings.TrimSpace(value + " and more")
		}
	}
	return value
}

// value renders a value of any type, also inside of rollups. more says that Notion cut it short.
func (r *renderer) value(kind string, raw json.RawMessage, more bool) string {
	if absent(raw) {
		return ""
	}
	switch kind {
	case typeTitle, "rich_text", "text":
		return r.richValue(raw)
	case "checkbox", "boolean":
		return yesNo(raw)
	case "people":
		return escapeText(strings.Join(people(raw), ", "), flowLine)
	case "created_by", "last_edited_by", "verified_by", "user":
		return escapeText(userText(raw), flowLine)
	case "files":
		return r.files(raw)
	case "relation":
		return r.relation(raw, more)
	case "formula":
		return r.formula(raw)
	case "rollup":
		return r.rollup(raw)
	case "number", "string", "email", "phone_number", "url", "date", "created_time", "last_edited_time", "select", "status",
		"multi_select", "unique_id", "verification", "place", "location":
		return r.plainValue(kind, raw)
	case "button", "last_visited_time":
		return ""
	}
	r.unsupported("property " + kind)
	return r.compactText(raw)
}

// plainValue renders values without rich text in them.
func (r *renderer) plainValue(kind string, raw json.RawMessage) string {
	switch kind {
	case "number":
		return escapeText(numberText(raw), flowLine)
	case "url":
		return r.address(decodeText(raw))
	case "date":
		return escapeText(dateText(raw), flowLine)
	case "created_time", "last_edited_time":
		return escapeText(momentText(decodeText(raw)), flowLine)
	case "select", "status", "multi_select":
		return escapeText(strings.Join(names(raw), ", "), flowLine)
	case "unique_id":
		return escapeText(uniqueID(raw), flowLine)
	case "verification":
		return escapeText(verification(raw), flowLine)
	case "place", "location":
		return escapeText(placeText(raw), flowLine)
	default:
		return escapeText(decodeText(raw), flowLine)
	}
}

func (r *renderer) richValue(raw json.RawMessage) string {
	var runs []textRun
	if !decodeInto(raw, &runs) {
		r.report.Unreadable++
		r.note("a text property has parts of an unknown shape")
	}
	return r.inline(runs, flowParagraph, 0)
}

// address is a link that shows itself.
func (r *renderer) address(address string) string {
	destination := r.destination(address)
	if destination == "" || !strings.Contains(destination, "://") {
		return escapeText(address, flowLine)
	}
	return "<" + destination + ">"
}

func yesNo(raw json.RawMessage) string {
	switch string(raw) {
	case "true":
		return "yes"
	case "false":
		return "no"
	}
	return ""
}

// files names the files; those that Notion keeps have no lasting address of their own.
func (r *renderer) files(raw json.RawMessage) string {
	var items []json.RawMessage
	decodeInto(raw, &items)
	var out []string
	for _, item := range items {
		f, err := decodeFields(item)
		if err != nil {
			r.report.Unreadable++
			continue
		}
		var external, file fileSource
		decodeInto(f["external"], &external)
		decodeInto(f["file"], &file)
		name := firstOf(f.text("name"), fileName(external.URL+file.URL), "file")
		if address := r.destination(external.URL); address != "" {
			out = append(out, link(stableURL(name), address))
			continue
		}
		out = append(out, escapeText(stableURL(name), flowLine))
	}
	return strings.Join(out, ", ")
}

// relation counts the related pages and links to them.
func (r *renderer) relation(raw json.RawMessage, more bool) string {
	var items []json.RawMessage
	decodeInto(raw, &items)
	links := make([]string, 0, len(items))
	unknown := 0
	for _, item := range items {
		f, err := decodeFields(item)
		if err != nil {
			r.report.Unreadable++
			continue
		}
		title, address := r.page(f.text("id"), "")
		if title == "" {
			unknown++
			continue
		}
		links = append(links, link(title, escapeURL(address)))
	}
	if count := pageCount(unknown, len(links) > 0, more); count != "" {
		links = append(links, count)
	}
	return strings.Join(links, ", ")
}

// pageCount says how many pages there are whose titles aren't known: n, beside others that were named, or more than that.
func pageCount(n int, beside, more bool) string {
	pages := "pages"
	if n == 1 {
		pages = "page"
	}
	if beside {
		pages = "more " + pages
	}
	switch {
	case n == 0 && more:
		return "and more"
	case n == 0:
		return ""
	case more:
		return "at least " + strconv.Itoa(n) + " " + pages
	default:
		return strconv.Itoa(n) + " " + pages
	}
}

// formula renders the result of a formula, which says its own type.
func (r *renderer) formula(raw json.RawMessage) string {
	f, err := decodeFields(raw)
	if err != nil {
		r.report.Unreadable++
		return ""
	}
	kind := f.text("type")
	if kind == typeUnsupported {
		r.unsupported("property formula")
		return "(not supported)"
	}
	return r.value(kind, f[kind], false)
}

// rollup renders the result of a rollup: a value, or a list of values of any type.
func (r *renderer) rollup(raw json.RawMessage) string {
	f, err := decodeFields(raw)
	if err != nil {
		r.report.Unreadable++
		return ""
	}
	switch kind := f.text("type"); kind {
	case typeUnsupported:
		r.unsupported("property rollup")
		return "(not supported)"
	case "incomplete":
		r.report.Truncated++
		r.note("Notion did not finish a rollup")
		return "(incomplete)"
	case "array":
		return r.rollupArray(f[kind])
	default:
		return r.value(kind, f[kind], false)
	}
}

func (r *renderer) rollupArray(raw json.RawMessage) string {
	var items []json.RawMessage
	decodeInto(raw, &items)
	var out []string
	for _, item := range items {
		f, err := decodeFields(item)
		if err != nil {
			r.report.Unreadable++
			continue
		}
		kind := f.text("type")
		if kind == "rollup" {
			// A rollup of rollups isn't known to exist; following it would have no end.
			r.unsupported("property rollup")
			continue
		}
		if value := r.value(kind, f[kind], f.flag("has_more")); value != "" {
			out = append(out, value)
		}
	}
	return strings.Join(out, ", ")
}
