package control

import (
	"context"
	"errors"
	"path"
	"slices"
	"strings"

	"github.com/loresync/loresync/internal/ids"
	"github.com/loresync/loresync/internal/knowledge"
	"github.com/loresync/loresync/internal/source"
	"github.com/loresync/loresync/internal/store"
)

// PageRef is the page that a person named.
type PageRef struct {
	FolderID, PageID, SourceID, Kind, Title string
	// Purged is true when the page is gone and only the exclusion remembers it: it can be restored, and nothing else.
	Purged bool
}

// ResolvePage turns what a person calls a page (a page id, a source id, a URL or what else its source understands) into the
// page. With register a page that no listing has seen yet, but that the source says is there, gets its row: where its
// syncs and deletes meet. Below an excluded subtree nothing is registered, the answer is a refusal.
func (c *Control) ResolvePage(ctx context.Context, folder, ref string, register bool) (PageRef, error) {
	place, err := c.place(ctx, folder)
	if err != nil {
		return PageRef{}, err
	}
	if ref == "" || !storable(ref) {
		return PageRef{}, unknownPage(folder, ref)
	}
	key, err := c.store.FindPage(ctx, folder, ref)
	if !errors.Is(err, store.ErrNotFound) {
		return pageRef(key), err
	}
	return c.resolveBySource(ctx, place, ref, register)
}

func (c *Control) resolveBySource(ctx context.Context, place store.FolderPlace, ref string, register bool) (PageRef, error) {
	src, err := c.sourceOf(ctx, place)
	if err != nil {
		// Without its source the folder's pages are known by their ids and addresses alone.
		return PageRef{}, unknownPage(place.FolderID, ref)
	}
	root, err := rootOf(place)
	if err != nil {
		return PageRef{}, err
	}
	sourceID, ok := src.Resolve(root, ref)
	if !ok || !storable(sourceID) {
		return PageRef{}, unknownPage(place.FolderID, ref)
	}
	key, err := c.store.FindPage(ctx, place.FolderID, sourceID)
	if !errors.Is(err, store.ErrNotFound) {
		return pageRef(key), err
	}
	if place.DeletedAt != nil || !register {
		return PageRef{}, unknownPage(place.FolderID, ref)
	}
	return c.register(ctx, src, root, sourceID, ref)
}

// register gives a page its row after its source has said that it is there.
func (c *Control) register(ctx context.Context, src source.Source, root source.Root, sourceID, ref string) (PageRef, error) {
	entry, there, err := lookAtSource(ctx, src, root, sourceID)
	if err != nil {
		return PageRef{}, &Error{Kind: KindUnreachable, Code: "source_unreachable", Sentence: sentenceOf(err), Err: err}
	}
	if !there {
		return PageRef{}, unknownPage(root.FolderID, ref)
	}
	var above []string
	if known, ok := src.(lineage); ok {
		above = known.Ancestors(sourceID)
	}
	if err := c.refuseCovered(ctx, root.FolderID, ref, above); err != nil {
		return PageRef{}, err
	}
	if entry.ParentSourceID, err = c.registerAncestors(ctx, root.FolderID, above, entry.ParentSourceID); err != nil {
		return PageRef{}, err
	}
	key, err := c.store.RegisterPage(ctx, newPage(root.FolderID, entry, src.Traits().StableIDs))
	return pageRef(key), err
}

// lookAtSource asks whether a page is there. Local sources are read at once, which tells the title and a page from what is
// none; a remote one is asked for its presence only, since reading is the sync's work.
func lookAtSource(ctx context.Context, src source.Source, root source.Root, sourceID string) (entry source.Entry, there bool, err error) {
	if src.Traits().Remote {
		presence, err := src.Presence(ctx, root, sourceID)
		return source.Entry{SourceID: sourceID, Title: sourceID}, presence == source.PresenceAlive, err
	}
	page, err := src.Fetch(ctx, root, sourceID)
	if err == nil {
		return page.Entry, true, nil
	}
	var failure *source.Failure
	if !errors.As(err, &failure) {
		return entry, false, err
	}
	switch {
	case failure.Class == source.ClassNotFound:
		return entry, false, nil
	case failure.Skip != nil:
		// A page that can't be used is a page, and its sync will say why; what no listing gives out is none.
		return source.Entry{SourceID: sourceID, Title: path.Base(sourceID)}, failure.Skip.Class != "unsupported", nil
	}
	return entry, false, err
}

func (c *Control) refuseCovered(ctx context.Context, folder, ref string, above []string) error {
	top, err := c.store.ExcludedAmong(ctx, folder, above)
	if err != nil || top == "" {
		return err
	}
	return refuse("excluded", "%q lies below %q, which a person deleted with all that is below it: `starter restore page %s %s --subtree` brings it back",
		ref, top, folder, shellWord(top))
}

// registerAncestors registers what lies above a page, top first, so that a delete of a subtree finds the page below it.
func (c *Control) registerAncestors(ctx context.Context, folder string, above []string, parent string) (string, error) {
	if len(above) == 0 {
		return parent, nil
	}
	upper := ""
	for _, id := range slices.Backward(above) {
		_, err := c.store.RegisterPage(ctx, newPage(folder, source.Entry{
			SourceID: id, ParentSourceID: upper, Kind: source.KindContainer, Title: path.Base(id), Path: id,
		}, false))
		if err != nil {
			return "", err
		}
		upper = id
	}
	return upper, nil
}

func newPage(folder string, entry source.Entry, stableIDs bool) store.NewPage {
	candidate := ids.PageIDForPath(entry.SourceID, 0)
	if stableIDs {
		candidate = ids.PageIDForVendor(entry.SourceID)
	}
	kind := entry.Kind
	if kind == "" {
		kind = source.KindDocument
	}
	return store.NewPage{
		FolderID: folder, SourceID: entry.SourceID, ParentSourceID: entry.ParentSourceID, CandidateID: candidate, Kind: string(kind),
		Title: entry.Title, URL: entry.URL, Path: entry.Path,
	}
}

func pageRef(key store.PageKey) PageRef {
	return PageRef{
		FolderID: key.FolderID, PageID: key.PageID, SourceID: key.SourceID, Kind: key.Kind, Title: key.Title, Purged: key.ExclusionOnly,
	}
}

func unknownPage(folder, ref string) error {
	return notFound("page_unknown", "folder %q knows no page %q: `starter pages %s` shows those it knows; a new one appears with the next sync",
		folder, ref, folder)
}

// shellWord quotes a word of a command that people copy from a sentence.
func shellWord(word string) string {
	plain := func(r rune) bool {
		return r == '/' || r == '.' || r == '-' || r == '_' || r == ':' || r > 127 ||
			r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z'
	}
	if word != "" && !strings.ContainsFunc(word, func(r rune) bool { return !plain(r) }) {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

// PageFilter says which pages to show.
type PageFilter struct {
	// State is live, excluded, tombstoned, skipped or pending, or one of failed, syncing, held; empty for all.
	State string
	// Containers includes the folders and directories that only give the tree its shape.
	Containers bool
	// Limit bounds the answer; 0 means no bound. After is the page id behind which it starts.
	Limit int
	After string
	// Match is part of the title, the path or the URL, in any case; empty for all.
	Match string
}

// pageStates are what PageFilter.State takes.
var pageStates = []string{"live", "excluded", "tombstoned", "skipped", "pending", "failed", "syncing", "held"}

// PageStates are what PageFilter.State takes.
func PageStates() []string { return slices.Clone(pageStates) }

// Pages gives the pages of a folder, in the order in which they were first seen.
func (c *Control) Pages(ctx context.Context, folder string, filter PageFilter) ([]knowledge.Page, error) {
	query, err := c.pageQuery(ctx, folder, filter)
	if err != nil {
		return nil, err
	}
	return c.store.Pages(ctx, folder, query)
}

func (c *Control) pageQuery(ctx context.Context, folder string, filter PageFilter) (store.PageQuery, error) {
	query := store.PageQuery{
		State: filter.State, Containers: filter.Containers, Limit: filter.Limit, After: filter.After, Match: strings.TrimSpace(filter.Match),
	}
	_, err := c.place(ctx, folder)
	switch {
	case err != nil:
		return query, err
	case filter.State != "" && !slices.Contains(pageStates, filter.State):
		return query, usage("state", "there is no page state %q: use one of %s", filter.State, strings.Join(pageStates, ", "))
	case filter.Limit < 0:
		return query, usage("limit", "the limit %d is not possible: give how many pages to show, or 0 for all", filter.Limit)
	case !storable(filter.After):
		return query, unknownPage(folder, filter.After)
	case !storable(filter.Match):
		return query, usage("match", "what to look for is not text")
	}
	return query, nil
}

// Page gives one page, by its page id, source id or URL.
func (c *Control) Page(ctx context.Context, folder, ref string) (knowledge.Page, error) {
	found, err := c.ResolvePage(ctx, folder, ref, false)
	if err != nil {
		return knowledge.Page{}, err
	}
	if found.Purged {
		return c.purgedPage(ctx, found)
	}
	page, err := c.store.Page(ctx, folder, found.PageID)
	if errors.Is(err, store.ErrNotFound) {
		return page, unknownPage(folder, ref)
	}
	return page, err
}

// purgedPage shows what is left of a page: that a person deleted it.
func (c *Control) purgedPage(ctx context.Context, ref PageRef) (knowledge.Page, error) {
	return knowledge.Page{
		PageID: ref.PageID, SourceID: ref.SourceID, FolderID: ref.FolderID, Kind: ref.Kind, Path: ref.SourceID,
		State: knowledge.StateExcluded, Reason: "deleted by a person and purged; the next sync after a restore reads it again",
	}, ctx.Err()
}

// Markdown gives the Markdown that readers of a page see, or would see if it weren't hidden.
func (c *Control) Markdown(ctx context.Context, folder, pageID string) (string, error) {
	page, err := c.Page(ctx, folder, pageID)
	if err != nil {
		return "", err
	}
	text, published, err := c.store.Markdown(ctx, folder, page.PageID)
	if errors.Is(err, store.ErrNotFound) || err == nil && !published {
		return "", notFound("not_published", "page %q has no published text: `starter why %s` says why", pageID, page.PageID)
	}
	return text, err
}

// Chunks gives the pieces of a page's published revision.
func (c *Control) Chunks(ctx context.Context, folder, pageID string) ([]knowledge.Chunk, error) {
	page, err := c.Page(ctx, folder, pageID)
	if err != nil {
		return nil, err
	}
	return c.store.Chunks(ctx, folder, page.PageID)
}

// Revisions gives what is kept of a page's history, newest first.
func (c *Control) Revisions(ctx context.Context, folder, pageID string) ([]knowledge.Revision, error) {
	page, err := c.Page(ctx, folder, pageID)
	if err != nil {
		return nil, err
	}
	return c.store.Revisions(ctx, folder, page.PageID)
}
