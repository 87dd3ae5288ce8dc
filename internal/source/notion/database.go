package notion

import (
	"context"
	"encoding/json"
	"time"

	"github.com/jomei/notionapi"

	"github.com/loresync/loresync/internal/knowledge"
	"github.com/loresync/loresync/internal/source"
	"github.com/loresync/loresync/internal/source/notion/document"
)

// fetchDatabase reads a database: what it is for, its data sources with their schemas, and which rows there are. A data source
// that isn't shared is named and left out.
func (s *Source) fetchDatabase(ctx context.Context, root source.Root, raw json.RawMessage) (source.Page, error) {
	object, err := document.DecodeObject(raw)
	if err != nil {
		return source.Page{}, unreadable(err)
	}
	if object.InTrash {
		return source.Page{}, trashed("database")
	}
	object.DataSources = ofRoot(root, object.DataSources)
	doc := reading{Document: document.Document{Object: object}, object: raw}
	var children []source.Entry
	edited := time.Time{}
	for _, ref := range object.DataSources {
		schema, rows, err := s.readDataSource(ctx, object.ID, ref, &doc)
		if err != nil {
			return source.Page{}, failure(err)
		}
		if schema.EditedAt.After(edited) {
			edited = schema.EditedAt
		}
		children = append(children, rows...)
	}
	above := placeOf(object.Parent)
	entry := source.Entry{
		SourceID: object.ID, ParentSourceID: s.belowRoot(root, object, above), ParentUnknown: above.unknown, Kind: source.KindDocument,
		Title: object.Title, URL: databaseURL(object.ID), Version: versionOf(edited), EditedAt: edited, FoundBy: knowledge.FoundByTree,
	}
	return doc.page(entry, children)
}

// ofRoot leaves of a database's data sources the one that the folder is restricted to, if it is.
func ofRoot(root source.Root, refs []document.Source) []document.Source {
	for i, ref := range refs {
		if ref.ID == root.Ref {
			return refs[i : i+1]
		}
	}
	return refs
}

// readDataSource reads one data source of a database. One that Notion doesn't give, or whose rows it doesn't give, is named and
// costs the others nothing.
func (s *Source) readDataSource(
	ctx context.Context, database string, ref document.Source, doc *reading,
) (document.Object, []source.Entry, error) {
	raw, err := s.client.dataSource(ctx, ref.ID)
	switch {
	case withheld(err):
		doc.unreadable("the data source %q is not shared, or not given out by Notion", ref.Name)
		return document.Object{}, nil, nil
	case err != nil:
		return document.Object{}, nil, err
	}
	schema, strange := document.DecodeObject(raw)
	if strange != nil {
		doc.unreadable("the data source %q can't be read", ref.Name)
		return schema, nil, nil //nolint:nilerr // it is counted
	}
	doc.Schemas, doc.schemas = append(doc.Schemas, schema), append(doc.schemas, raw)
	rows, err := s.rows(ctx, database, ref.ID, doc)
	if withheld(err) {
		doc.unreadable("the rows of the data source %q are not given out by Notion", ref.Name)
		err = nil
	}
	return schema, rows, err
}

// rows gives the rows of a data source. A query gives at most 10,000: beyond them it is asked again for what was created at or
// after the last one, and behind a minute that has more rows than a query gives, for what came later.
func (s *Source) rows(ctx context.Context, database, dataSource string, doc *reading) ([]source.Entry, error) {
	q := &query{database: database, seen: map[string]bool{}}
	in := queryRequest{Sorts: []notionapi.SortObject{{Timestamp: notionapi.TimestampCreated, Direction: notionapi.SortOrderASC}}}
	for from := (time.Time{}); ; {
		q.capped = false
		err := pages(ctx, func(cursor string) (list, error) {
			in.StartCursor = cursor
			return s.client.query(ctx, dataSource, in)
		}, func(answer list) (bool, error) {
			doc.lost += q.take(answer)
			return true, nil
		})
		if err != nil || !q.capped {
			return q.rows, err
		}
		switch {
		case q.last.After(from):
			from = q.last
		case q.last.Equal(from) && !from.IsZero():
			doc.cut("more rows of the database were made in one minute than Notion gives")
			from = from.Add(time.Minute)
		default:
			doc.cut("the database has more rows than Notion gives") // and it doesn't say when they were made
			return q.rows, nil
		}
		in.Filter = &createdFilter{Timestamp: "created_time", CreatedTime: createdBoundary{OnOrAfter: from.UTC().Format(time.RFC3339)}}
	}
}

// query is what came of the rows of a data source so far.
type query struct {
	database string
	rows     []source.Entry
	seen     map[string]bool
	// last is when the newest row was made, cut down to the minute; capped is set when Notion has more.
	last   time.Time
	capped bool
}

// take adds the rows of an answer. strange counts those that can't be read.
func (q *query) take(answer list) (strange int) {
	q.capped = q.capped || answer.capped()
	objects, strange := decodeAll(answer.Results)
	for _, object := range objects {
		if object.CreatedAt.After(q.last) {
			q.last = object.CreatedAt
		}
		if row, ok := rowOf(q.database, object); ok && !q.seen[row.SourceID] {
			q.seen[row.SourceID] = true
			q.rows = append(q.rows, row)
		}
	}
	return strange
}

// rowOf is what a query says about a row: a page, or in a wiki a database.
func rowOf(database string, object document.Object) (source.Entry, bool) {
	if object.InTrash {
		return source.Entry{}, false
	}
	row := source.Entry{
		SourceID: object.ID, ParentSourceID: database, Kind: source.KindDocument, Title: object.Title, URL: object.URL,
		Version: versionOf(object.EditedAt), EditedAt: object.EditedAt, FoundBy: knowledge.FoundByTree,
	}
	switch object.Kind {
	case document.KindDataSource:
		if row.SourceID = databaseOf(object); row.SourceID == "" {
			return row, false
		}
		row.URL, row.Version = databaseURL(row.SourceID), ""
	case document.KindDatabase:
		// Its own time of the last edit tells nothing.
		row.URL, row.Version = databaseURL(row.SourceID), ""
	case document.KindPage:
	}
	return row, true
}
