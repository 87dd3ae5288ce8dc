package control

import (
	"cmp"
	"context"
	"errors"
	"path"
	"slices"

	"github.com/loresync/loresync/internal/ids"
	"github.com/loresync/loresync/internal/source"
	"github.com/loresync/loresync/internal/store"
)

// explainedPages bounds the answer to a question that many pages fit, such as a common title.
const explainedPages = 20

// matchedPages bounds how many pages are looked at to find those that somebody sees.
const matchedPages = 1000

// Explanation is why a page is, or isn't, in the knowledge base.
type Explanation struct {
	FolderID string `json:"folder_id"`
	PageID   string `json:"page_id"`
	SourceID string `json:"source_id"`
	Title    string `json:"title"`
	// State is a page state, or unlisted for what the source has and no sync has seen yet.
	State string `json:"state"`
	// Sentence is the answer; Facts are what it rests on, in the order of their weight; NextStep is what to do.
	Sentence string   `json:"sentence"`
	Facts    []string `json:"facts"`
	NextStep string   `json:"next_step"`

	// deleted is set where the whole folder was deleted: then nothing else of the page matters.
	deleted bool
}

// Why explains a page in every folder that knows it, or whose source has it. The page is named by its page id, its source
// id, its path, a URL, or its whole title.
func (c *Control) Why(ctx context.Context, ref string) ([]Explanation, error) {
	return c.WhyIn(ctx, ref, func(string) bool { return true })
}

// WhyIn is Why for whoever sees some folders only: of the others nothing is asked, and nothing told.
func (c *Control) WhyIn(ctx context.Context, ref string, sees func(folder string) bool) ([]Explanation, error) {
	unknown := notFound("page_unknown",
		"nothing is known by %q in any folder: give a page id, a path, a URL or a whole title; `starter pages FOLDER` lists what there is", ref)
	if ref == "" || !storable(ref) {
		return nil, unknown
	}
	keys, err := c.pagesByRef(ctx, ref, sees)
	if err != nil {
		return nil, err
	}
	keys, unlisted, err := c.askSources(ctx, ref, keys, sees)
	if err != nil {
		return nil, err
	}
	explanations := []Explanation{}
	for _, key := range keys {
		facts, err := c.store.PageFacts(ctx, key)
		if errors.Is(err, store.ErrNotFound) {
			continue
		}
		if err != nil {
			return nil, err
		}
		explanations = append(explanations, explain(key, facts))
	}
	explanations = append(explanations, unlisted...)
	slices.SortStableFunc(explanations, func(x, y Explanation) int { return cmp.Compare(rank(x), rank(y)) })
	if len(explanations) == 0 {
		return nil, unknown
	}
	return explanations, nil
}

func (c *Control) pagesByRef(ctx context.Context, ref string, sees func(folder string) bool) ([]store.PageKey, error) {
	keys, err := c.store.PagesByRef(ctx, ref, matchedPages)
	keys = slices.DeleteFunc(keys, func(key store.PageKey) bool { return !sees(key.FolderID) })
	return keys[:min(len(keys), explainedPages)], err
}

// rank puts deleted folders behind all others.
func rank(e Explanation) int {
	if e.deleted {
		return 1
	}
	return 0
}

// askSources adds what folders know under the id that their source makes of the reference, and what a source has that no
// sync has seen yet.
func (c *Control) askSources(ctx context.Context, ref string, keys []store.PageKey, sees func(folder string) bool) ([]store.PageKey, []Explanation, error) {
	places, err := c.store.FolderPlaces(ctx, "")
	if err != nil {
		return nil, nil, err
	}
	known := map[string]bool{}
	for _, key := range keys {
		known[key.FolderID] = true
	}
	var unlisted []Explanation
	for _, place := range places {
		if known[place.FolderID] || c.sources == nil || !sees(place.FolderID) {
			continue
		}
		key, explanation, err := c.askSource(ctx, place, ref)
		switch {
		case err != nil:
			return nil, nil, err
		case key != nil:
			keys = append(keys, *key)
		case explanation != nil:
			unlisted = append(unlisted, *explanation)
		}
	}
	return keys, unlisted, nil
}

func (c *Control) askSource(ctx context.Context, place store.FolderPlace, ref string) (*store.PageKey, *Explanation, error) {
	src, err := c.sources.Source(ctx, place.Source, place.Connection)
	if err != nil {
		// A source that this process can't ask knows nothing more than the database.
		return nil, nil, ctx.Err()
	}
	root, err := rootOf(place)
	if err != nil {
		return nil, nil, err
	}
	sourceID, ok := src.Resolve(root, ref)
	if !ok || !storable(sourceID) {
		return nil, nil, nil
	}
	key, err := c.store.FindPage(ctx, place.FolderID, sourceID)
	if err == nil {
		return &key, nil, nil
	}
	if !errors.Is(err, store.ErrNotFound) || place.DeletedAt != nil {
		return nil, nil, ignoreMissing(err)
	}
	presence, err := src.Presence(ctx, root, sourceID)
	if err != nil || presence != source.PresenceAlive {
		return nil, nil, ctx.Err()
	}
	return nil, c.explainUnlisted(ctx, src, place, sourceID), nil
}

func ignoreMissing(err error) error {
	if errors.Is(err, store.ErrNotFound) {
		return nil
	}
	return err
}

// explainUnlisted speaks of what a source has and no sync has seen.
func (c *Control) explainUnlisted(ctx context.Context, src source.Source, place store.FolderPlace, sourceID string) *Explanation {
	e := &Explanation{
		FolderID: place.FolderID, SourceID: sourceID, Title: path.Base(sourceID), State: "unlisted", Facts: []string{},
		Sentence: "The source has it, but no sync has seen it yet.",
		NextStep: "Run `starter sync page " + place.FolderID + " " + shellWord(sourceID) + "`, or wait for the next sync.",
	}
	if !src.Traits().StableIDs {
		e.PageID = ids.PageIDForPath(sourceID, 0)
	}
	if known, ok := src.(lineage); ok {
		if top, err := c.store.ExcludedAmong(ctx, place.FolderID, known.Ancestors(sourceID)); err == nil && top != "" {
			e.State = "excluded"
			e.Sentence = "The source has it, but a person deleted " + top + " with everything below it."
			e.NextStep = "Run `starter restore page " + place.FolderID + " " + shellWord(top) + " --subtree` to have it again."
		}
	}
	facts, err := c.store.FolderFacts(ctx, place.FolderID)
	if err == nil {
		e.Facts = folderFacts(facts)
		if step := folderStep(place.FolderID, facts); step != "" && e.State == "unlisted" {
			e.NextStep = step
		}
	}
	return e
}
