package api

import (
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/loresync/loresync/internal/access"
	"github.com/loresync/loresync/internal/control"
	"github.com/loresync/loresync/internal/knowledge"
	"github.com/loresync/loresync/internal/search"
)

// handlerFunc answers an admitted request.
type handlerFunc func(*call) (reply, error)

// reach is how a route's answer depends on the folders that a principal sees.
type reach int

const (
	// oneFolder routes name their folder in the path.
	oneFolder reach = iota
	// filtered routes show of several folders those that the principal sees; their handlers see to it.
	filtered
	// wholeDeployment routes are for principals that see everything.
	wholeDeployment
	// noFolder routes tell nothing of any folder.
	noFolder
)

// route is one row of the table: who may use an address, what it takes and what it answers.
type route struct {
	method, path string
	least        access.Role
	reach        reach
	do           handlerFunc
	// stream answers by itself, as long as it likes; nil for all others.
	stream func(*call, http.ResponseWriter) error

	// summary is the sentence of the OpenAPI document; name the operation there.
	name, summary string
	query         []parameter
	// body is a value of the type that the body is read into; nil where none is taken.
	body any
	// gives has a value of the type of each answer's body, by status.
	gives map[int]any
	// mediaType is that of the answers; JSON when it is empty.
	mediaType string
}

func (r route) pattern() string { return r.method + " " + Prefix + r.path }

func (r route) mutates() bool { return r.method != http.MethodGet }

// parameter is something that the query of an address may hold.
type parameter struct {
	name string
	// kind is string, boolean or integer; from least to most for the last.
	kind        string
	least, most int
	words       []string
	doc         string
	required    bool
}

func (p parameter) check(value string) error {
	switch p.kind {
	case kindBoolean:
		if value != "true" && value != "false" {
			return badInput("parameter", fmt.Sprintf("The parameter %q is %q: use true or false.", p.name, value))
		}
	case kindInteger:
		if n, err := strconv.Atoi(value); err != nil || n < p.least || n > p.most {
			return badInput("parameter", fmt.Sprintf("The parameter %q is %q: use a number from %d to %d.", p.name, value, p.least, p.most))
		}
	default:
		if p.words != nil && value != "" && !slices.Contains(p.words, value) {
			return badInput("parameter", fmt.Sprintf("The parameter %q is %q: use one of %s.", p.name, value, strings.Join(p.words, ", ")))
		}
	}
	return nil
}

// The kinds of parameters, in OpenAPI's words.
const (
	kindString  = "string"
	kindBoolean = "boolean"
	kindInteger = "integer"
)

const (
	defaultPages, maxPages = 100, 1000
	defaultRuns, maxRuns   = 50, 1000
)

// table lists every route. An address that isn't here isn't answered, and a row without a role is open to all.
func (a *API) table() []route {
	return slices.Concat(a.folderRoutes(), a.pageRoutes(), a.findRoutes(), a.runRoutes(), a.holdRoutes(), a.careRoutes())
}

var (
	nowParameter     = parameter{name: "now", kind: kindBoolean, doc: "Erase at once, without an undo window."}
	subtreeParameter = parameter{name: "subtree", kind: kindBoolean, doc: "Also all that is below it, now and later."}
)

// started are the answers of what starts a workflow or joins one.
func started() map[int]any {
	return map[int]any{http.StatusAccepted: control.Answer{}, http.StatusOK: control.Answer{}}
}

func gives(value any) map[int]any { return map[int]any{http.StatusOK: value} }

func (a *API) folderRoutes() []route {
	folder := gives(knowledge.Folder{})
	return []route{
		{
			method: http.MethodGet, path: "/folders", least: access.Viewer, reach: filtered, do: a.listFolders, gives: gives([]knowledge.Folder{}),
			name: "listFolders", summary: "All folders, deleted ones that can still be restored included.",
		},
		{
			method: http.MethodPost, path: "/folders", least: access.Admin, reach: wholeDeployment, do: a.addFolder, body: newFolder{},
			gives: map[int]any{http.StatusCreated: knowledge.Folder{}}, name: "addFolder", summary: "Registers a root for syncing. Nothing is synced yet.",
		},
		{
			method: http.MethodGet, path: "/folders/{folder}", least: access.Viewer, do: a.showFolder, gives: folder,
			name: "showFolder", summary: "A folder with the counts of its pages.",
		},
		{
			method: http.MethodPatch, path: "/folders/{folder}", least: access.Admin, do: a.setFolder, body: folderPatch{}, gives: folder,
			name: "setFolder", summary: "Changes what is given of a folder. Another root re-scopes it.",
		},
		{
			method: http.MethodDelete, path: "/folders/{folder}", least: access.Admin, do: a.deleteFolder, query: []parameter{nowParameter}, gives: started(),
			name: "deleteFolder", summary: "Deletes a folder with all its pages: hidden from the answer on, erased after the undo window.",
		},
		{
			method: http.MethodPost, path: "/folders/{folder}/restore", least: access.Admin, do: a.restoreFolder, gives: started(),
			name: "restoreFolder", summary: "Undoes the delete of a folder. A full sync follows.",
		},
		{
			method: http.MethodPost, path: "/folders/{folder}/pause", least: access.Operator, do: a.pauseFolder, gives: folder,
			name: "pauseFolder", summary: "Lets no sync of the folder start; running ones stop at their next batch.",
		},
		{
			method: http.MethodPost, path: "/folders/{folder}/resume", least: access.Operator, do: a.resumeFolder, gives: folder,
			name: "resumeFolder", summary: "Lets a paused folder sync again.",
		},
		{
			method: http.MethodPost, path: "/folders/{folder}/sync", least: access.Operator, do: a.syncFolder, body: syncOptions{}, gives: started(),
			name: "syncFolder", summary: "Starts a sync of the folder, or joins the one that has not begun to list.",
		},
		{
			method: http.MethodPost, path: "/folders/{folder}/retry", least: access.Operator, do: a.retry, body: retryOptions{}, gives: started(),
			name: "retryFolder", summary: "Lets the failing pages of a folder try again now, all or those of one class.",
		},
	}
}

func (a *API) pageRoutes() []route {
	const page = "/folders/{folder}/pages/{page}"
	states := control.PageStates()
	return []route{
		{
			method: http.MethodGet, path: "/folders/{folder}/pages", least: access.Viewer, do: a.listPages, gives: gives([]knowledge.Page{}), query: []parameter{
				{name: "state", kind: kindString, words: states, doc: "Only pages in this state."},
				{name: "q", kind: kindString, doc: "Only pages with this in their title, path or URL."},
				{name: "containers", kind: kindBoolean, doc: "Also the directories that only give the tree its shape."},
				{name: "limit", kind: kindInteger, least: 1, most: maxPages, doc: fmt.Sprintf("How many pages, %d by default.", defaultPages)},
				{name: "cursor", kind: kindString, doc: "Where to go on: the answer's Link header names the next address."},
			},
			name: "listPages", summary: "The pages of a folder, in the order in which they were first seen.",
		},
		{
			method: http.MethodGet, path: page, least: access.Viewer, do: a.showPage, gives: gives(knowledge.Page{}),
			name: "showPage", summary: "A page, by its page id, its id in the source, or its URL (percent-encoded).",
		},
		{
			method: http.MethodGet, path: page + "/markdown", least: access.Viewer, do: a.showMarkdown, gives: gives(""), mediaType: markdownType,
			name: "showMarkdown", summary: "The Markdown that readers of the page see.",
		},
		{
			method: http.MethodGet, path: page + "/chunks", least: access.Viewer, do: a.showChunks, gives: gives([]knowledge.Chunk{}),
			name: "showChunks", summary: "The pieces of the published revision.",
		},
		{
			method: http.MethodGet, path: page + "/revisions", least: access.Viewer, do: a.showRevisions, gives: gives([]knowledge.Revision{}),
			name: "showRevisions", summary: "What is kept of the page's history, newest first.",
		},
		{
			method: http.MethodPost, path: page + "/sync", least: access.Operator, do: a.syncPage, gives: started(),
			name: "syncPage", summary: "Starts a sync of the page, or joins the running one, which then reads once more.",
		},
		{
			method: http.MethodDelete, path: page, least: access.Operator, do: a.deletePage, query: []parameter{subtreeParameter, nowParameter}, gives: started(),
			name: "deletePage", summary: "Deletes a page: hidden from the answer on, and later syncs don't bring it back.",
		},
		{
			method: http.MethodPost, path: page + "/restore", least: access.Operator, do: a.restorePage, body: restoreOptions{}, gives: started(),
			name: "restorePage", summary: "Undoes the delete of a page. It is visible again at once, and a sync follows.",
		},
	}
}

func (a *API) findRoutes() []route {
	return []route{
		{
			method: http.MethodGet, path: "/deletes", least: access.Viewer, reach: filtered, do: a.listDeletes, gives: gives([]knowledge.Delete{}),
			name: "listDeletes", summary: "What was deleted and can be undone, with the time left.",
		},
		{
			method: http.MethodGet, path: "/why", least: access.Viewer, reach: filtered, do: a.why, gives: gives([]control.Explanation{}),
			query: []parameter{{name: "ref", kind: kindString, required: true, doc: "A page id, a path, a URL or a whole title."}},
			name:  "why", summary: "Why a page is, or isn't, in the knowledge base.",
		},
		{
			method: http.MethodGet, path: "/search", least: access.Viewer, reach: filtered, do: a.search, gives: gives([]search.Hit{}), query: []parameter{
				{name: "q", kind: kindString, required: true, doc: "What to look for, in any language."},
				{name: "folder", kind: kindString, doc: "Only pages of this folder."},
				{name: "limit", kind: kindInteger, least: 1, most: search.MaxLimit, doc: fmt.Sprintf("How many pages, %d by default.", search.DefaultLimit)},
			},
			name: "search", summary: "The live pages that answer a question, the best first. A Warning header says what the answer lacks.",
		},
	}
}

func (a *API) runRoutes() []route {
	return []route{
		{
			method: http.MethodGet, path: "/runs", least: access.Viewer, reach: filtered, do: a.listRuns, gives: gives([]knowledge.Run{}), query: []parameter{
				{name: "folder", kind: kindString, doc: "Only runs of this folder."},
				{name: "limit", kind: kindInteger, least: 1, most: maxRuns, doc: fmt.Sprintf("How many runs, %d by default.", defaultRuns)},
			},
			name: "listRuns", summary: "The sync runs, newest first.",
		},
		{
			method: http.MethodGet, path: "/runs/{run}", least: access.Viewer, reach: filtered, do: a.showRun, gives: gives(control.RunDetail{}),
			name: "showRun", summary: "A run with the pages that failed, by its run id, its Workflow ID (percent-encoded), or the last part of that.",
		},
		{
			method: http.MethodGet, path: "/runs/{run}/events", least: access.Viewer, reach: filtered, stream: a.followRun, gives: gives(""), mediaType: eventsType,
			name: "followRun", summary: "The run's state as server-sent events: one named state now and at each change, one named ended when the run has ended.",
		},
		{
			method: http.MethodPost, path: "/runs/{run}/cancel", least: access.Operator, reach: filtered, do: a.cancelRun, gives: started(),
			name: "cancelRun", summary: "Asks a running sync to stop.",
		},
		{
			method: http.MethodPost, path: "/sync", least: access.Operator, reach: wholeDeployment, do: a.syncAll, gives: started(),
			name: "syncAll", summary: "Starts one full sync per active folder, or joins the running batch.",
		},
		{
			method: http.MethodGet, path: "/schedule", least: access.Viewer, reach: wholeDeployment, do: a.showSchedule, gives: gives(control.ScheduleInfo{}),
			name: "showSchedule", summary: "When the daily batch runs.",
		},
		{
			method: http.MethodPatch, path: "/schedule", least: access.Admin, reach: wholeDeployment, do: a.setSchedule, body: schedulePatch{},
			gives: gives(control.ScheduleInfo{}), name: "setSchedule", summary: "Changes what is given of the daily batch.",
		},
		{
			method: http.MethodPost, path: "/schedule/trigger", least: access.Operator, reach: wholeDeployment, do: a.triggerSchedule, gives: started(),
			name: "triggerSchedule", summary: "Starts the daily batch now, or joins the running one.",
		},
	}
}

func (a *API) holdRoutes() []route {
	return []route{
		{
			method: http.MethodGet, path: "/holds", least: access.Viewer, reach: filtered, do: a.listHolds, gives: gives([]knowledge.Hold{}),
			query: []parameter{{name: "all", kind: kindBoolean, doc: "The decided ones too."}},
			name:  "listHolds", summary: "The planned removals that wait for a person.",
		},
		{
			method: http.MethodGet, path: "/holds/{hold}", least: access.Viewer, reach: filtered, do: a.showHold, gives: gives(control.HoldDetail{}),
			name: "showHold", summary: "A hold with the evidence against each of its pages.",
		},
		{
			method: http.MethodPost, path: "/holds/{hold}/approve", least: access.Operator, reach: filtered, do: a.approveHold, gives: started(),
			name: "approveHold", summary: "Lets the removal go on, after the source has confirmed each page once more.",
		},
		{
			method: http.MethodPost, path: "/holds/{hold}/reject", least: access.Operator, reach: filtered, do: a.rejectHold, gives: started(),
			name: "rejectHold", summary: "Keeps the pages.",
		},
	}
}

func (a *API) careRoutes() []route {
	connection := gives(control.Connection{})
	return []route{
		{
			method: http.MethodGet, path: "/connections", least: access.Viewer, reach: wholeDeployment, do: a.listConnections, gives: gives([]control.Connection{}),
			name: "listConnections", summary: "The accounts that sources are read by.",
		},
		{
			method: http.MethodGet, path: "/connections/{connection}", least: access.Viewer, reach: wholeDeployment, do: a.showConnection, gives: connection,
			name: "showConnection", summary: "A connection.",
		},
		{
			method: http.MethodPost, path: "/connections/{connection}/pause", least: access.Admin, reach: wholeDeployment, do: a.pauseConnection, gives: connection,
			name: "pauseConnection", summary: "Lets no sync of its folders start.",
		},
		{
			method: http.MethodPost, path: "/connections/{connection}/resume", least: access.Admin, reach: wholeDeployment, do: a.resumeConnection, gives: connection,
			name: "resumeConnection", summary: "Lets its folders sync again.",
		},
		{
			method: http.MethodPost, path: "/connections/{connection}/check", least: access.Operator, reach: wholeDeployment, do: a.checkConnection,
			gives: gives([]control.ConnectionCheck{}), name: "checkConnection", summary: "Asks the source now for the root of each folder of the connection.",
		},
		{
			method: http.MethodGet, path: "/status", least: access.Viewer, reach: wholeDeployment, do: a.status, gives: gives(control.StatusInfo{}),
			name: "status", summary: "The state of the deployment at a glance.",
		},
		{
			method: http.MethodGet, path: "/fsck", least: access.Operator, reach: wholeDeployment, do: a.fsck, gives: gives([]control.Difference{}),
			query: []parameter{{name: "against_source", kind: kindBoolean, doc: "Also list each folder's source and compare."}},
			name:  "fsck", summary: "Looks for drift and leftovers, and mends nothing.",
		},
		{
			method: http.MethodGet, path: "/version", least: access.Viewer, reach: noFolder, do: version, gives: gives(control.Build{}),
			name: "version", summary: "What the gateway was built from.",
		},
		{
			method: http.MethodGet, path: "/openapi.json", least: access.Anyone, reach: noFolder, do: a.describe, gives: gives(map[string]any{}),
			name: "openapi", summary: "This document.",
		},
	}
}
