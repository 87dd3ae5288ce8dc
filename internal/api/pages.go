package api

import (
	"maps"
	"slices"

	"github.com/loresync/loresync/internal/control"
	"github.com/loresync/loresync/internal/knowledge"
	"github.com/loresync/loresync/internal/search"
)

const markdownType = "text/markdown; charset=utf-8"

// restoreOptions say how much of a deleted page comes back.
type restoreOptions struct {
	Subtree bool `json:"subtree"`
}

func (a *API) listPages(c *call) (reply, error) {
	slice, err := a.options.Control.PagesFrom(c.r.Context(), c.path("folder"), control.PageFilter{
		State: c.text("state"), Match: c.text("q"), Containers: c.flag("containers"), Limit: c.number("limit", defaultPages),
	}, c.text("cursor"))
	answer := reply{body: slice.Pages}
	if slice.Next != "" {
		query := maps.Clone(c.query)
		query.Set("cursor", slice.Next)
		answer.next = c.r.URL.EscapedPath() + "?" + query.Encode()
	}
	return answer, err
}

func (a *API) showPage(c *call) (reply, error) {
	return ok(a.options.Control.Page(c.r.Context(), c.path("folder"), c.path("page")))
}

func (a *API) showMarkdown(c *call) (reply, error) {
	text, err := a.options.Control.Markdown(c.r.Context(), c.path("folder"), c.path("page"))
	return reply{raw: append([]byte{}, text...), mediaType: markdownType}, err
}

func (a *API) showChunks(c *call) (reply, error) {
	return ok(a.options.Control.Chunks(c.r.Context(), c.path("folder"), c.path("page")))
}

func (a *API) showRevisions(c *call) (reply, error) {
	return ok(a.options.Control.Revisions(c.r.Context(), c.path("folder"), c.path("page")))
}

func (a *API) syncPage(c *call) (reply, error) {
	return did(a.options.Control.SyncPage(c.r.Context(), c.path("folder"), c.path("page"), c.actor()))
}

func (a *API) deletePage(c *call) (reply, error) {
	return did(a.options.Control.DeletePage(c.r.Context(), c.path("folder"), c.path("page"),
		control.DeleteOptions{Subtree: c.flag("subtree"), Now: c.flag("now")}, c.actor()))
}

func (a *API) restorePage(c *call) (reply, error) {
	wanted, err := decode[restoreOptions](c)
	if err != nil {
		return reply{}, err
	}
	return did(a.options.Control.RestorePage(c.r.Context(), c.path("folder"), c.path("page"), wanted.Subtree, c.actor()))
}

func (a *API) listDeletes(c *call) (reply, error) {
	deletes, err := a.options.Control.Deletes(c.r.Context())
	return ok(slices.DeleteFunc(deletes, func(d knowledge.Delete) bool { return !c.who.Sees(d.FolderID) }), err)
}

func (a *API) why(c *call) (reply, error) {
	if c.text("ref") == "" {
		return reply{}, badInput("ref", "Give ref: a page id, a path, a URL or a whole title.")
	}
	return ok(a.options.Control.WhyIn(c.r.Context(), c.text("ref"), c.who.Sees))
}

// search asks in one folder at a time for whoever sees some only: the scores of two answers can't be compared.
func (a *API) search(c *call) (reply, error) {
	query := search.Query{Text: c.text("q"), Folder: c.text("folder"), Limit: c.number("limit", search.DefaultLimit)}
	switch {
	case query.Folder == "" && len(c.who.Folders) == 1:
		query.Folder = c.who.Folders[0]
	case query.Folder == "" && c.who.Scoped():
		return reply{}, badInput("folder", "Give folder: this token is for several, and each is searched by itself.")
	}
	if query.Folder != "" {
		if !c.who.Sees(query.Folder) {
			return reply{}, control.UnknownFolder(query.Folder)
		}
		if _, err := a.options.Control.Folder(c.r.Context(), query.Folder); err != nil {
			return reply{}, err
		}
	}
	found, err := a.options.Searcher.Answer(c.r.Context(), query)
	for i, hit := range found.Hits {
		found.Hits[i].AlsoIn = slices.DeleteFunc(hit.AlsoIn, func(folder string) bool { return !c.who.Sees(folder) })
	}
	return reply{body: found.Hits, warning: found.Warning}, err
}
