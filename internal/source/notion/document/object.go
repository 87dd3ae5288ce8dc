package document

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"
)

// Kind is what an object is, in Notion's word.
type Kind string

// The kinds that are documents.
const (
	KindPage       Kind = "page"
	KindDatabase   Kind = "database"
	KindDataSource Kind = "data_source"
)

// Parent says what an object stands below.
type Parent struct {
	// Type is Notion's word: workspace, page_id, block_id, database_id, data_source_id or a newer one.
	Type string
	// ID is empty for the workspace.
	ID string
	// DatabaseID is the database of a data source, where Notion tells it.
	DatabaseID string
}

// Source is one data source of a database.
type Source struct {
	ID   string
	Name string
}

// Property is one property of a page, or one column of a database's or data source's schema.
type Property struct {
	Name string
	// ID is as Notion spells it, percent signs included; paths need it unchanged.
	ID string
	// Type is empty when the property has none that can be read.
	Type string
	// Raw is the whole property object, not decoded.
	Raw json.RawMessage
	// HasMore is true when Notion cut the value short (25 relations or people); Complete mends it.
	HasMore bool
}

// Object is a page, a database or a data source, in the shapes of API version 2026-03-11 and of the older ones.
type Object struct {
	Kind Kind
	ID   string
	// Title is plain text; empty when there is none.
	Title  string
	Parent Parent
	// DatabaseParent is what a data source's database stands below; its zero value for other kinds.
	DatabaseParent Parent
	// CreatedAt and EditedAt are cut to the minute by Notion; zero when they can't be read.
	CreatedAt, EditedAt time.Time
	// InTrash is true under either of Notion's words for it, in_trash or archived.
	InTrash bool
	URL     string
	// Properties are sorted by name, then by id.
	Properties []Property
	// DataSources are those of a database since 2025-09-03, in Notion's order.
	DataSources []Source
	// Description is rich text, not decoded.
	Description json.RawMessage
	IsInline    bool
}

// DecodeObject reads a page, a database or a data source. It errs when raw is not a JSON object or is an object of another
// kind, such as an error or a user; a member of an unexpected type is treated as absent.
func DecodeObject(raw json.RawMessage) (Object, error) {
	f, err := decodeFields(raw)
	if err != nil {
		return Object{}, fmt.Errorf("read a page or database: %w", err)
	}
	kind := Kind(f.text("object"))
	if kind != KindPage && kind != KindDatabase && kind != KindDataSource {
		return Object{}, fmt.Errorf("read a page or database: it is %q", kind)
	}
	o := Object{
		Kind:           kind,
		ID:             f.text("id"),
		Parent:         decodeParent(f["parent"]),
		DatabaseParent: decodeParent(f["database_parent"]),
		CreatedAt:      decodeTime(f["created_time"]),
		EditedAt:       decodeTime(f["last_edited_time"]),
		InTrash:        f.flag("in_trash") || f.flag("archived"),
		URL:            f.text("url"),
		Properties:     decodeProperties(f["properties"]),
		DataSources:    decodeSources(f["data_sources"]),
		Description:    f["description"],
		IsInline:       f.flag("is_inline"),
	}
	o.Title = o.title(f)
	return o, nil
}

// title is an object's own title, or for pages the property of type title, whatever its name.
func (o *Object) title(f fields) string {
	if o.Kind != KindPage {
		return strings.TrimSpace(plainRichText(f["title"]))
	}
	for _, p := range o.Properties {
		if p.Type == typeTitle {
			return strings.TrimSpace(plainRichText(p.value()))
		}
	}
	return ""
}

func decodeParent(raw json.RawMessage) Parent {
	f, err := decodeFields(raw)
	if err != nil {
		return Parent{}
	}
	p := Parent{Type: f.text("type"), DatabaseID: f.text("database_id")}
	p.ID = f.text(p.Type)
	if p.Type == "" {
		p = untypedParent(f, p)
	}
	return p
}

// untypedParent reads parents of early API versions, which say what they are by their only member.
func untypedParent(f fields, p Parent) Parent {
	for _, key := range []string{"data_source_id", "database_id", "page_id", "block_id"} {
		if id := f.text(key); id != "" {
			p.Type, p.ID = key, id
			return p
		}
	}
	return p
}

func decodeSources(raw json.RawMessage) []Source {
	var items []json.RawMessage
	decodeInto(raw, &items)
	var sources []Source
	for _, item := range items {
		if f, err := decodeFields(item); err == nil && f.text("id") != "" {
			sources = append(sources, Source{ID: f.text("id"), Name: f.text("name")})
		}
	}
	return sources
}

// decodeProperties keeps every property by its name, also one whose value is of no known shape.
func decodeProperties(raw json.RawMessage) []Property {
	members, err := decodeFields(raw)
	if err != nil {
		return nil
	}
	properties := make([]Property, 0, len(members))
	for name, value := range members {
		p := Property{Name: strings.ToValidUTF8(name, "\uFFFD"), Raw: value}
		if f, err := decodeFields(value); err == nil {
			p.ID, p.Type, p.HasMore = f.text("id"), f.text("type"), f.flag("has_more")
		}
		properties = append(properties, p)
	}
	slices.SortFunc(properties, func(a, b Property) int {
		return strings.Compare(a.Name+"\x00"+a.ID, b.Name+"\x00"+b.ID)
	})
	return properties
}

// value is the member of a property that bears its type's name.
func (p *Property) value() json.RawMessage {
	f, err := decodeFields(p.Raw)
	if err != nil {
		return nil
	}
	return f[p.Type]
}

// Complete replaces a value that Notion cut short by the items of its property endpoint, all pages of it in order. Items of
// another type than the property's are left out.
func (p *Property) Complete(items []json.RawMessage) error {
	values := make([]json.RawMessage, 0, len(items))
	for _, item := range items {
		if f, err := decodeFields(item); err == nil && f.has(p.Type) {
			values = append(values, f[p.Type])
		}
	}
	f, err := decodeFields(p.Raw)
	if err != nil {
		return fmt.Errorf("complete property %q: %w", p.Name, err)
	}
	if f[p.Type], err = json.Marshal(values); err != nil {
		return fmt.Errorf("complete property %q: %w", p.Name, err)
	}
	delete(f, "has_more")
	if p.Raw, err = json.Marshal(f); err != nil {
		return fmt.Errorf("complete property %q: %w", p.Name, err)
	}
	p.HasMore = false
	return nil
}
