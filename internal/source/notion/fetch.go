package notion

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"

	"github.com/loresync/loresync/internal/knowledge"
	"github.com/loresync/loresync/internal/source"
	"github.com/loresync/loresync/internal/source/notion/document"
)

// Fetch reads a page with its blocks, or a database with its rows' names. Identity is what it says as Markdown: times, signed
// links and what else differs at each read are not part of it.
func (s *Source) Fetch(ctx context.Context, root source.Root, sourceID string) (source.Page, error) {
	raw, err := s.client.page(ctx, sourceID)
	switch {
	case err == nil:
		return s.fetchPage(ctx, root, raw)
	case notShared(err) || statusOf(err) == http.StatusBadRequest:
		raw, err = s.client.database(ctx, sourceID)
		if err == nil {
			return s.fetchDatabase(ctx, root, raw)
		}
	case isServerError(err):
		return s.fetchByBlocks(ctx, root, sourceID, err)
	}
	if notShared(err) {
		return source.Page{}, missing(err)
	}
	return source.Page{}, failure(err)
}

// missing is what isn't shown: gone for a page that was read once, and not shared for one that was only seen from outside, such
// as a linked database.
func missing(err error) error {
	return &source.Failure{
		Class: source.ClassNotFound, Doing: "read a page", Sentence: sayNotShared, Err: err,
		Skip: &source.Skip{Class: "not_shared", Sentence: sayNotShared},
	}
}

func trashed(what string) error {
	return &source.Failure{Class: source.ClassNotFound, Doing: "read a " + what, Sentence: "the " + what + " is in Notion's trash", Told: true}
}

func unreadable(err error) error {
	return &source.Failure{
		Class: source.ClassInvalid, Doing: "read a page", Sentence: "Notion's answer for the page can't be read: report it with the run's id", Err: err,
	}
}

func (s *Source) fetchPage(ctx context.Context, root source.Root, raw json.RawMessage) (source.Page, error) {
	object, err := document.DecodeObject(raw)
	if err != nil {
		return source.Page{}, unreadable(err)
	}
	if object.InTrash {
		return source.Page{}, trashed("page")
	}
	if err := s.completeProperties(ctx, &object); err != nil {
		return source.Page{}, failure(err)
	}
	above := placeOf(object.Parent)
	entry := source.Entry{
		SourceID: object.ID, ParentSourceID: s.belowRoot(root, object, above), ParentUnknown: above.unknown, Kind: source.KindDocument,
		Title: object.Title, URL: object.URL, Version: versionOf(object.EditedAt), EditedAt: object.EditedAt, FoundBy: knowledge.FoundByTree,
	}
	return s.fetchContent(ctx, root, entry, &reading{Document: document.Document{Object: object}, object: raw})
}

// belowRoot is the parent of an object in the folder: nothing for the root itself, which for a data source is its database.
func (*Source) belowRoot(root source.Root, object document.Object, above place) string {
	isRoot := func(ref document.Source) bool { return ref.ID == root.Ref }
	if object.ID == root.Ref || above.unknown || slices.ContainsFunc(object.DataSources, isRoot) {
		return ""
	}
	return above.parent
}

// fetchContent reads the blocks of a page, what is attached to them and, where the folder wants them, its comments.
func (s *Source) fetchContent(ctx context.Context, root source.Root, entry source.Entry, doc *reading) (source.Page, error) {
	reader := s.blockReader(entry.SourceID, progressOf(root, entry))
	blocks, err := reader.read(ctx)
	if err != nil {
		return source.Page{}, failure(err)
	}
	doc.Blocks = blocks
	if note := fmt.Sprintf("the page has more than %d blocks", s.maxBlocks); reader.atTop {
		doc.cut(note)
	} else if reader.beyond {
		doc.notes = append(doc.notes, note) // the places are marked and counted
	}
	if root.Limits.Comments {
		if doc.Comments, err = s.readComments(ctx, entry.SourceID); err != nil {
			return source.Page{}, failure(err)
		}
	}
	if err := s.readAttachments(ctx, doc); err != nil {
		return source.Page{}, err
	}
	return doc.page(entry, reader.children)
}

// fetchByBlocks reads a page that Notion can't give, though it gives its blocks: its properties are missing, and counted so.
func (s *Source) fetchByBlocks(ctx context.Context, root source.Root, sourceID string, cause error) (source.Page, error) {
	raw, err := s.client.block(ctx, sourceID)
	if err != nil {
		return source.Page{}, failure(cause)
	}
	block, err := document.DecodeBlock(raw)
	if err != nil || block.Type != "child_page" || block.InTrash {
		return source.Page{}, failure(cause)
	}
	entry := source.Entry{
		SourceID: sourceID, ParentUnknown: true, Kind: source.KindDocument, Title: childTitle(&block), URL: databaseURL(sourceID),
		EditedAt: block.LastEdited, FoundBy: knowledge.FoundByTree,
	}
	object := document.Object{Kind: document.KindPage, ID: sourceID, Title: entry.Title, URL: entry.URL, EditedAt: block.LastEdited}
	doc := &reading{Document: document.Document{Object: object}, object: raw}
	doc.unreadable("Notion can't give the page itself, only its blocks: its properties are missing")
	return s.fetchContent(ctx, root, entry, doc)
}
