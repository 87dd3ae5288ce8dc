package document

import (
	"encoding/json"
	"slices"
	"strings"
)

// numberText is a JSON number as Notion wrote it; "" for all else.
func numberText(raw json.RawMessage) string {
	if s := string(raw); s != "" && (isDigit(s[0]) || s[0] == '-') {
		return s
	}
	return decodeText(raw)
}

// dateText is a date or a range of dates with its zone; "" when there is none.
func dateText(raw json.RawMessage) string {
	f, err := decodeFields(raw)
	if err != nil {
		return ""
	}
	return rangeText(f.text("start"), f.text("end"), f.text("time_zone"))
}

func rangeText(start, end, zone string) string {
	out := momentText(start)
	if end != "" {
		out = strings.TrimSpace(out + " → " + momentText(end))
	}
	if out != "" && zone != "" {
		out += " " + zone
	}
	return out
}

// momentText makes a time readable without losing what it says: a date stays a date, an offset stays, a time without one
// gets none. Seconds are written only where there are any. What has another form is left as it is.
func momentText(moment string) string {
	date, clock, ok := strings.Cut(moment, "T")
	if !ok || len(clock) < len("15:04") {
		return moment
	}
	split := strings.IndexAny(clock, "Z+-")
	offset := ""
	if split >= 0 {
		clock, offset = clock[:split], clock[split:]
	}
	clock = strings.TrimSuffix(strings.TrimSuffix(clock, ".000"), ":00")
	if len(clock) < len("15:04") {
		clock += ":00"
	}
	switch offset {
	case "":
		return date + " " + clock
	case "Z":
		return date + " " + clock + " UTC"
	}
	return date + " " + clock + " UTC" + offset
}

// names are the names of an option or of a list of options.
func names(raw json.RawMessage) []string {
	if f, err := decodeFields(raw); err == nil {
		raw = nil
		if name := f.text("name"); name != "" {
			return []string{tidyText(name)}
		}
	}
	var items []json.RawMessage
	decodeInto(raw, &items)
	var out []string
	for _, item := range items {
		if f, err := decodeFields(item); err == nil && f.text("name") != "" {
			out = append(out, tidyText(f.text("name")))
		}
	}
	return out
}

// userText names a person, a bot or a group; those whose name the integration may not see by their id.
func userText(raw json.RawMessage) string {
	f, err := decodeFields(raw)
	if err != nil {
		return ""
	}
	if name := strings.TrimSpace(f.text("name")); name != "" {
		return name
	}
	if id := f.text("id"); id != "" {
		return firstOf(f.text("object"), "user") + " " + id
	}
	return ""
}

func people(raw json.RawMessage) []string {
	var items []json.RawMessage
	decodeInto(raw, &items)
	var out []string
	for _, item := range items {
		if name := firstOf(userText(item), decodeText(item)); name != "" {
			out = append(out, name)
		}
	}
	return out
}

func uniqueID(raw json.RawMessage) string {
	f, err := decodeFields(raw)
	if err != nil {
		return ""
	}
	number, prefix := numberText(f["number"]), f.text("prefix")
	if number == "" || prefix == "" {
		return number
	}
	return prefix + "-" + number
}

// verification is the state of a wiki page's verification, until when and by whom.
func verification(raw json.RawMessage) string {
	f, err := decodeFields(raw)
	if err != nil {
		return ""
	}
	out := f.text("state")
	if date := dateText(f["date"]); date != "" {
		out += " (" + date + ")"
	}
	if by := userText(f["verified_by"]); by != "" {
		out += " by " + by
	}
	return strings.TrimSpace(out)
}

// placeText is a place's name, address and coordinates.
func placeText(raw json.RawMessage) string {
	f, err := decodeFields(raw)
	if err != nil {
		return decodeText(raw)
	}
	var parts []string
	for _, part := range []string{f.text("name"), f.text("address")} {
		if part != "" && !slices.Contains(parts, part) {
			parts = append(parts, part)
		}
	}
	lat, lon := numberText(f["lat"]), numberText(f["lon"])
	if lat != "" && lon != "" {
		parts = append(parts, "("+lat+", "+lon+")")
	}
	return strings.Join(parts, ", ")
}

// unstable are members that change at each read, or that mean nothing to a reader.
var unstable = []string{"expiry_time", "request_id", "object", "color", "icon", "annotations", "plain_text", "href"}

// compactText is a value of unknown shape in one line: its members by name, without what changes at each read.
func (r *renderer) compactText(raw json.RawMessage) string {
	var parts []string
	for _, runs := range textsWithin(raw, 0) {
		parts = append(parts, r.inline(runs, flowLine, 0))
	}
	if len(parts) == 0 {
		parts = compact(raw, "", 0)
	}
	return strings.Join(parts, ", ")
}

func compact(raw json.RawMessage, name string, depth int) []string {
	if absent(raw) || depth > maxSearchDepth || slices.Contains(unstable, name) {
		return nil
	}
	if members, err := decodeFields(raw); err == nil {
		var out []string
		for _, key := range sortedKeys(members) {
			out = append(out, compact(members[key], key, depth+1)...)
		}
		return out
	}
	var items []json.RawMessage
	if raw[0] == '[' && decodeInto(raw, &items) {
		var out []string
		for _, item := range items {
			out = append(out, compact(item, name, depth+1)...)
		}
		return out
	}
	value := firstOf(decodeText(raw), strings.Trim(string(raw), `"`))
	if value == "" {
		return nil
	}
	value = escapeText(stableURL(value), flowLine)
	if name == "" {
		return []string{value}
	}
	return []string{propertyName(name) + " " + value}
}
