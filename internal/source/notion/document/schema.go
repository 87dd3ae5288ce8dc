package document

import (
	"encoding/json"
	"strings"
)

// database writes a database or data source as a document: its description, then each data source with its columns.
func (r *renderer) database() {
	o := &r.doc.Object
	r.description(o.Description)
	r.schema(o.Properties)
	known := map[string]bool{}
	for _, source := range r.doc.Schemas {
		known[plainID(source.ID)] = true
		name := firstOf(source.Title, sourceName(o.DataSources, source.ID), "Data source")
		r.w.block("## " + closeHeading(escapeText(name, flowLine)))
		r.hit()
		if string(source.Description) != string(o.Description) {
			r.description(source.Description)
		}
		r.schema(source.Properties)
	}
	for _, source := range o.DataSources {
		if known[plainID(source.ID)] {
			continue
		}
		r.w.block("## " + closeHeading(escapeText(firstOf(source.Name, "Data source"), flowLine)))
		r.report.Unreadable++
		r.note("the columns of data source %q were not read", source.Name)
		r.placeholder("columns that were not read")
	}
}

func sourceName(sources []Source, id string) string {
	for _, s := range sources {
		if plainID(s.ID) == plainID(id) {
			return s.Name
		}
	}
	return ""
}

func (r *renderer) description(raw json.RawMessage) {
	var runs []textRun
	if !decodeInto(raw, &runs) {
		r.report.Unreadable++
		r.note("the description has an unknown shape")
	}
	if body := r.inline(runs, flowParagraph, 0); body != "" {
		r.hit()
		r.w.block(body)
	}
}

// schema writes a line for each column: its name, its type and what it may hold.
func (r *renderer) schema(columns []Property) {
	lines := make([]string, 0, len(columns))
	for _, p := range columns {
		f, err := decodeFields(p.Raw)
		if err != nil || p.Type == "" {
			r.report.Unreadable++
			r.note("column %q has an unknown shape", p.Name)
			lines = append(lines, strings.TrimRight(propertyName(p.Name)+": "+r.compactText(p.Raw), ": "))
			continue
		}
		r.hit()
		line := propertyName(p.Name) + " (" + escapeText(strings.ReplaceAll(p.Type, "_", " "), flowLine) + ")"
		if detail := r.columnDetail(p.Type, f[p.Type]); detail != "" {
			line += ": " + detail
		}
		if about := f.text("description"); about != "" {
			line += " – " + escapeText(about, flowLine)
		}
		lines = append(lines, line)
	}
	r.list(lines)
}

// columnDetail says what a column may hold: its options, format, formula or where it points.
func (r *renderer) columnDetail(kind string, raw json.RawMessage) string {
	f, err := decodeFields(raw)
	if err != nil {
		return ""
	}
	switch kind {
	case "select", "multi_select", "status":
		return escapeText(strings.Join(names(f["options"]), ", "), flowLine)
	case "number":
		return escapeText(strings.ReplaceAll(f.text("format"), "_", " "), flowLine)
	case "unique_id":
		return escapeText(f.text("prefix"), flowLine)
	case "formula":
		if expression := strings.TrimSpace(tidyText(f.text("expression"))); expression != "" {
			return codeSpan(strings.ReplaceAll(expression, "\n", " "))
		}
	case "relation":
		return r.relationDetail(f)
	case "rollup":
		return escapeText(rollupDetail(f), flowLine)
	}
	return ""
}

func (r *renderer) relationDetail(f fields) string {
	id := firstOf(f.text("data_source_id"), f.text("database_id"))
	if id == "" {
		return ""
	}
	return r.linkTo(firstOf(f.text("database_id"), id), "", "another database")
}

func rollupDetail(f fields) string {
	var parts []string
	if function := f.text("function"); function != "" {
		parts = append(parts, strings.ReplaceAll(function, "_", " "))
	}
	if of := f.text("rollup_property_name"); of != "" {
		parts = append(parts, "of "+of)
	}
	if over := f.text("relation_property_name"); over != "" {
		parts = append(parts, "over "+over)
	}
	return strings.Join(parts, " ")
}
