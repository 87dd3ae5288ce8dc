package notion

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/jomei/notionapi"

	"github.com/loresync/loresync/internal/source/notion/document"
)

// The kinds of objects that search is asked for.
const (
	searchPages       = "page"
	searchDataSources = "data_source"
)

// maxEmpty bounds answers that hold nothing and promise more.
const maxEmpty = 50

// errBrokenList is a list that can't be read to its end, which says nothing about what is in it.
var (
	errBrokenList  = errors.New("the list has no good end")
	errSameCursor  = fmt.Errorf("%w: the same cursor came twice", errBrokenList)
	errNoCursor    = fmt.Errorf("%w: more was promised without a cursor", errBrokenList)
	errEmptyPages  = fmt.Errorf("%w: %d answers in a row were empty", errBrokenList, maxEmpty)
	errStaleCursor = fmt.Errorf("%w: its cursor was refused", errBrokenList)
)

// pages goes through all pages of a list. It ends an endless one with an error.
func pages(ctx context.Context, ask func(cursor string) (list, error), take func(list) (goOn bool, err error)) error {
	cursor, empty, seen := "", 0, map[string]bool{}
	for {
		answer, err := ask(cursor)
		switch {
		case cursor != "" && statusOf(err) == http.StatusBadRequest:
			// The same list was good up to here. Without the refusal in the chain it can't be taken for one of the object.
			return fmt.Errorf("%w: %s", errStaleCursor, err.Error())
		case err != nil:
			return err
		}
		goOn, err := take(answer)
		if err != nil || !goOn || !answer.HasMore {
			return err
		}
		empty++
		if len(answer.Results) > 0 {
			empty = 0
		}
		cursor = answer.NextCursor
		switch {
		case cursor == "":
			return errNoCursor
		case seen[cursor]:
			return errSameCursor
		case empty >= maxEmpty:
			return errEmptyPages
		case ctx.Err() != nil:
			return ctx.Err()
		}
		seen[cursor] = true
	}
}

// found is what search told of one object.
type found struct {
	objects map[string]document.Object
	// order is the ids as they came.
	order []string
	// strange counts results that could not be read at all.
	strange int
	// capped is set when Notion gave up before the end.
	capped bool
}

// searchAll gives all objects of a kind that were edited at or after since, all of them when it is zero. Notion sorts by the
// time of the last edit; its cut to the minute is the caller's to allow for.
func (s *Source) searchAll(ctx context.Context, kind string, since time.Time) (found, error) {
	result := found{objects: map[string]document.Object{}}
	err := s.searchOnce(ctx, kind, notionapi.SortOrderDESC, since, &result)
	if err != nil || !result.capped || !since.IsZero() {
		return result, err
	}
	// The most that one search gives was reached. From the other end it gives as many again; where the two meet, all was seen.
	newest := len(result.order)
	result.capped = false
	other := found{objects: map[string]document.Object{}}
	if err := s.searchOnce(ctx, kind, notionapi.SortOrderASC, time.Time{}, &other); err != nil {
		return result, err
	}
	met := !other.capped
	for _, id := range other.order {
		if _, known := result.objects[id]; known {
			met = true
			continue
		}
		result.objects[id] = other.objects[id]
		result.order = append(result.order, id)
	}
	result.strange += other.strange
	result.capped = !met || newest == 0
	return result, nil
}

func (s *Source) searchOnce(ctx context.Context, kind string, order notionapi.SortOrder, since time.Time, into *found) error {
	sort := &notionapi.SortObject{Direction: order, Timestamp: notionapi.TimestampLastEdited}
	return pages(ctx, func(cursor string) (list, error) {
		return s.client.search(ctx, searchRequest{Filter: searchFilter{Property: "object", Value: kind}, Sort: sort, StartCursor: cursor})
	}, func(answer list) (bool, error) {
		into.capped = into.capped || answer.capped()
		older := false
		for _, raw := range answer.Results {
			object, err := document.DecodeObject(raw)
			if err != nil || object.ID == "" {
				into.strange++
				continue
			}
			// One without a time that can be read counts as new, and ends nothing.
			if !object.EditedAt.IsZero() && object.EditedAt.Before(since) {
				older = true
				continue
			}
			into.add(object)
		}
		return !older, nil
	})
}

func (f *found) add(object document.Object) {
	if _, twice := f.objects[object.ID]; !twice {
		f.order = append(f.order, object.ID)
	}
	f.objects[object.ID] = object
}

// decodeAll decodes the objects of a list; those that can't be read are counted.
func decodeAll(results []json.RawMessage) (objects []document.Object, strange int) {
	for _, raw := range results {
		object, err := document.DecodeObject(raw)
		if err != nil || object.ID == "" {
			strange++
			continue
		}
		objects = append(objects, object)
	}
	return objects, strange
}
