package control

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/loresync/loresync/internal/knowledge"
	"github.com/loresync/loresync/internal/source"
	"github.com/loresync/loresync/internal/store"
)

// canonicaliser is implemented by sources whose roots have one best form, which is what is stored: an absolute path, an id
// out of a URL.
type canonicaliser interface {
	Canonical(ref string) (string, error)
}

// lineage is implemented by sources whose ids tell what lies above a page, nearest first. Without it a page that a person
// names before any listing saw it is registered directly below the root.
type lineage interface {
	Ancestors(sourceID string) []string
}

// adviser is implemented by sources that have more to say of a root which can be read: that nothing will ever be in it.
type adviser interface {
	Advice(ctx context.Context, root source.Root) ([]string, error)
}

// rootAdvice is what a source advises about a new root. The folder is registered already, so trouble costs no more than the advice.
func (c *Control) rootAdvice(ctx context.Context, folder knowledge.Folder) []string {
	place := store.FolderPlace{FolderID: folder.ID, Source: folder.Source, Connection: folder.Connection, Root: folder.Root}
	src, err := c.sourceOf(ctx, place)
	if err != nil {
		return nil
	}
	able, is := src.(adviser)
	if !is {
		return nil
	}
	advice, err := able.Advice(ctx, source.Root{FolderID: folder.ID, Ref: folder.Root})
	if err != nil {
		c.log.WarnContext(ctx, "the source could not be asked for advice on a new root", "folder_id", folder.ID, "error", err)
	}
	return advice
}

// checkSource tells which sources this version can sync.
func checkSource(name string) error {
	switch name {
	case "files", "notion", "gdrive":
		return nil
	case "":
		return usage("source", "no source was given: use --source files, notion or gdrive")
	}
	return usage("source", "there is no source %q: use files, notion or gdrive", name)
}

// sourceOf finds the source of a folder.
func (c *Control) sourceOf(ctx context.Context, place store.FolderPlace) (source.Source, error) {
	if c.sources == nil {
		return nil, usage("source", "this process knows no source %q: use a program that does, such as `starter`", place.Source)
	}
	src, err := c.sources.Source(ctx, place.Source, place.Connection)
	if err != nil {
		return nil, usageOf("source", err)
	}
	return src, nil
}

// usageOf makes a usage error of one that a source or the settings gave, unless it says itself what kind it is.
func usageOf(code string, err error) error {
	var known *Error
	if errors.As(err, &known) || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	return &Error{Kind: KindUsage, Code: code, Sentence: sentenceOf(err), Err: err}
}

// sentenceOf is what people read of an error.
func sentenceOf(err error) string {
	var failure *source.Failure
	if errors.As(err, &failure) && failure.Sentence != "" {
		return failure.Sentence
	}
	return err.Error()
}

// usableRoot gives a root's canonical form once the source has said that it can be read.
func (c *Control) usableRoot(ctx context.Context, place store.FolderPlace) (string, error) {
	if place.Root == "" || !storable(place.Root) {
		return "", usage("root", "no usable root was given: name what to sync with --root, for files a directory")
	}
	src, err := c.sourceOf(ctx, place)
	if err != nil {
		return "", err
	}
	if known, ok := src.(canonicaliser); ok {
		if place.Root, err = known.Canonical(place.Root); err != nil {
			return "", usage("root", "the root can't be used: %v", err)
		}
	}
	root, err := rootOf(place)
	if err != nil {
		return "", err
	}
	if err := src.Check(ctx, root); err != nil {
		return "", usageOf("root", err)
	}
	return place.Root, nil
}

// rootOf is a folder's root as its source wants to have it.
func rootOf(place store.FolderPlace) (source.Root, error) {
	root := source.Root{FolderID: place.FolderID, Ref: place.Root}
	var err error
	if len(place.Limits) > 0 {
		root.Limits, err = decodeLimits(place.Limits)
	}
	if err != nil {
		return root, fmt.Errorf("read the limits of folder %s: %w", place.FolderID, err)
	}
	return root, nil
}

func decodeLimits(raw json.RawMessage) (source.Limits, error) {
	var limits source.Limits
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.DisallowUnknownFields()
	err := decoder.Decode(&limits)
	return limits, err
}
