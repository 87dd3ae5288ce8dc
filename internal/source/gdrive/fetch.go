package gdrive

import (
	"context"

	"github.com/loresync/loresync/internal/source"
)

// Fetch reads a file's metadata and then its content, in two requests; in one, where the first listing of the folder told the
// metadata. Identity is the title and the Markdown: times and whatever else differs at each read are not part of it.
func (s *Source) Fetch(ctx context.Context, root source.Root, sourceID string) (source.Page, error) {
	at, err := s.find(ctx, root, sourceID)
	if err != nil {
		return source.Page{}, failure(err)
	}
	entry := at.entry(root.Limits)
	if entry.Kind == source.KindContainer {
		return source.Page{}, skipped(source.Skip{Class: skipUnknown, Sentence: "it is a folder in Google Drive, which says nothing by itself"})
	}
	if entry.Skip != nil {
		return source.Page{}, skipped(*entry.Skip)
	}
	read, err := s.content(ctx, at.file, root.Limits)
	if err != nil {
		return source.Page{}, failure(err)
	}
	return s.page(ctx, at.file, entry, read)
}

// find gives a file at its place below the root.
func (s *Source) find(ctx context.Context, root source.Root, id string) (placed, error) {
	if at, ok := s.noted(ctx, root, id); ok {
		return at, nil
	}
	f, err := s.metadata(ctx, root, id, pageFields)
	switch {
	case notFound(err):
		return placed{}, s.unlessRootGone(ctx, root, sayNotFound, err)
	case err != nil:
		return placed{}, err
	case f.trashed:
		return placed{}, s.unlessRootGone(ctx, root, sayTrashed, nil)
	}
	at, listed, err := s.placeOf(ctx, root, f, namesKept)
	switch {
	case err != nil:
		return placed{}, err
	case listed.Verdict != "":
		return placed{}, rootGone(nil)
	case at.inside:
		return at.placed, nil
	case at.unsure:
		return placed{file: f, hidden: true, path: f.title()}, nil
	}
	return placed{}, missing(sayMoved, nil)
}

// unlessRootGone says that a file is gone, unless its root is: then it may come back with it.
func (s *Source) unlessRootGone(ctx context.Context, root source.Root, sentence string, cause error) error {
	_, listed, err := s.top(ctx, root, presenceKept)
	switch {
	case err != nil:
		return err
	case listed.Verdict != "":
		return rootGone(cause)
	}
	return missing(sentence, cause)
}

func missing(sentence string, cause error) error {
	// Without a cause the file is there, and says itself that it is in the trash or elsewhere.
	return &source.Failure{Class: source.ClassNotFound, Doing: "read a page", Sentence: sentence, Told: cause == nil, Err: cause}
}

func rootGone(cause error) error {
	return &source.Failure{Class: source.ClassUnavailable, Doing: "read a page", Sentence: sayRootGone, Err: cause}
}

func skipped(skip source.Skip) error {
	return &source.Failure{Class: source.ClassInvalid, Doing: "read a page", Sentence: skip.Sentence, Skip: &skip}
}
