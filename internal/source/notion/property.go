package notion

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/loresync/loresync/internal/source/notion/document"
)

// shownItems is how many references or pieces of text a page shows of a property at most. Notion doesn't say of every type that
// there are more.
const shownItems = 25

// singular are the types whose values are lists, and whose items come one by one from the property's own endpoint.
var singular = map[string]bool{"title": true, "rich_text": true, "relation": true, "people": true}

// completeProperties reads the values that a page cuts off after 25 items.
func (s *Source) completeProperties(ctx context.Context, object *document.Object) error {
	for i := range object.Properties {
		property := &object.Properties[i]
		shown := itemsOf(property)
		if !property.HasMore && shown != shownItems {
			continue
		}
		items, err := s.propertyItems(ctx, object.ID, property.ID)
		switch {
		case withheld(err):
			continue // the page's own 25 stay, and are counted as cut where Notion says so
		case err != nil:
			return err
		case len(items) <= shown && !property.HasMore:
			continue // that was all
		}
		if complete(property, items) == nil && property.Type == "title" {
			object.Title = titleIn(property)
		}
	}
	return nil
}

func (s *Source) propertyItems(ctx context.Context, page, propertyID string) ([]json.RawMessage, error) {
	var items []json.RawMessage
	err := pages(ctx, func(cursor string) (list, error) {
		return s.client.property(ctx, page, propertyID, cursor)
	}, func(answer list) (bool, error) {
		items = append(items, answer.Results...)
		return true, nil
	})
	return items, err
}

// itemsOf counts what a page shows of a property that may be cut; 0 for all others.
func itemsOf(property *document.Property) int {
	var members map[string]json.RawMessage
	if json.Unmarshal(property.Raw, &members) != nil {
		return 0
	}
	var rollup struct {
		Array []json.RawMessage `json:"array"`
	}
	var items []json.RawMessage
	switch value := members[property.Type]; {
	case singular[property.Type]:
		_ = json.Unmarshal(value, &items) // what is no list isn't cut
	case property.Type == "rollup":
		_ = json.Unmarshal(value, &rollup)
		items = rollup.Array
	}
	return len(items)
}

// complete puts all items into a property.
func complete(property *document.Property, items []json.RawMessage) error {
	if property.Type != "rollup" {
		return property.Complete(items) //nolint:wrapcheck // it names the property
	}
	for i := range items {
		items[i] = listed(items[i])
	}
	raw, err := json.Marshal(map[string]any{
		"id": property.ID, "type": "rollup", "rollup": map[string]any{"type": "array", "array": items},
	})
	if err != nil {
		return fmt.Errorf("complete a rollup: %w", err)
	}
	property.Raw, property.HasMore = raw, false
	return nil
}

// listed gives an item of a rollup the shape that it has on a page, where references and texts are lists even of one.
func listed(item json.RawMessage) json.RawMessage {
	var members map[string]json.RawMessage
	var typ string
	if json.Unmarshal(item, &members) != nil || json.Unmarshal(members["type"], &typ) != nil || !singular[typ] {
		return item
	}
	if value := members[typ]; len(value) > 0 && value[0] == '{' {
		members[typ] = append(append(json.RawMessage{'['}, value...), ']')
	}
	whole, err := json.Marshal(members)
	if err != nil {
		return item
	}
	return whole
}

// titleIn reads the title out of a property of that type.
func titleIn(property *document.Property) string {
	page, err := json.Marshal(map[string]any{"object": document.KindPage, "properties": map[string]any{property.Name: property.Raw}})
	if err != nil {
		return ""
	}
	object, err := document.DecodeObject(page)
	if err != nil {
		return ""
	}
	return object.Title
}
