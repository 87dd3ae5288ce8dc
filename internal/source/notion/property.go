package notion

import (
	"context"
	"encoding/json"

	"github.com/loresync/loresync/internal/source/notion/document"
)

// completeProperties reads the values that a page cuts off after 25 references.
func (s *Source) completeProperties(ctx context.Context, object *document.Object) error {
	for i := range object.Properties {
		property := &object.Properties[i]
		if !property.HasMore {
			continue
		}
		var items []json.RawMessage
		err := pages(ctx, func(cursor string) (list, error) {
			return s.client.property(ctx, object.ID, property.ID, cursor)
		}, func(answer list) (bool, error) {
			items = append(items, answer.Results...)
			return true, nil
		})
		if notShared(err) {
			continue // the page's own 25 stay, and are counted as cut
		}
		if err != nil {
			return err
		}
		if err := property.Complete(items); err != nil {
			continue // what is no object is shown as it came
		}
	}
	return nil
}
