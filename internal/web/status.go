package web

import (
	"fmt"
	"net/http"
	"time"

	"github.com/dustin/go-humanize"

	"github.com/loresync/loresync/internal/control"
	"github.com/loresync/loresync/internal/knowledge"
)

const (
	// The page follows a running sync closely, and looks now and then whether one began.
	refreshBusy = 5
	refreshIdle = 30
)

// statusPage shows the state of the deployment, as much of it as the request may see.
func (s *server) statusPage(w http.ResponseWriter, r *http.Request) {
	seen := s.door.sight(r)
	if seen == sightNone {
		s.refuse(w, r)
		return
	}
	status, err := s.options.Status.Status(r.Context())
	if err != nil {
		s.options.Log.WarnContext(r.Context(), "status could not be read", "error", err)
		page := message{
			frame: newFrame("Not available · loresync"), Heading: "The status can't be read",
			Sentence: "Postgres doesn't answer. The gateway goes on by itself when it does; its log says more.",
		}
		page.Refresh = refreshBusy
		s.render(w, r, http.StatusServiceUnavailable, messageTemplate, page)
		return
	}
	view := s.view(status, seen == sightAll)
	if r.URL.Query().Get("refresh") == "off" {
		view.Refresh = 0
	}
	s.render(w, r, http.StatusOK, statusTemplate, view)
}

// refuse answers whoever may see nothing.
func (s *server) refuse(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("WWW-Authenticate", `Bearer realm="loresync"`)
	s.render(w, r, http.StatusUnauthorized, messageTemplate, message{
		frame: newFrame("Not signed in · loresync"), Heading: "Not signed in",
		Sentence: "The status of this knowledge base is for people with its admin token, LORESYNC_ADMIN_TOKEN.",
		Command:  `curl -H "Authorization: Bearer $LORESYNC_ADMIN_TOKEN" …`,
	})
}

// statusView is the data of the status page.
type statusView struct {
	frame
	// Full is whether titles, roots and names are shown.
	Full        bool
	Services    []serviceView
	Maintenance bool
	Waiting     []waitingView
	Totals      []totalView
	Running     []runView
	InFlight    string
	Folders     []folderView
	TemporalUI  string
	Version     string
	Models      string
	Kept        string
}

type serviceView struct {
	Name, Detail string
	OK           bool
}

// waitingView is something that a person should look at, and how.
type waitingView struct{ Sentence, Command string }

type totalView struct{ Name, Count, Tone string }

type runView struct {
	Folder, Phase, Detail, Link string
	Done, Total                 int64
	Since                       timeView
}

type folderView struct {
	ID, Title, Source, Root, Link, State, Tone                 string
	Live, Pending, Skipped, Failed, Held, Excluded, Tombstoned string
	HasFailed, HasHeld, Overdue                                bool
	LastSync                                                   *timeView
}

// timeView is a time for people and for machines.
type timeView struct{ Words, Machine string }

func (s *server) view(status control.StatusInfo, full bool) statusView {
	view := statusView{
		frame: newFrame("Status · loresync"), Full: full, Maintenance: status.Maintenance, TemporalUI: s.links.home(), Version: status.Version,
		Services: []serviceView{
			{Name: "Postgres", OK: true, Detail: status.Database},
			{Name: "Temporal", OK: status.TemporalOK, Detail: status.Temporal},
		},
		Waiting: waiting(status), Totals: totals(sum(status.Folders)), Models: models(status), Kept: kept(status),
	}
	view.Refresh = refreshIdle
	for _, folder := range status.Folders {
		view.Folders = append(view.Folders, s.folderView(folder.Folder, full))
		if folder.Running != nil {
			view.Running = append(view.Running, s.runView(folder.ID, *folder.Running))
		}
	}
	if status.InFlight > 0 {
		view.InFlight = plural(status.InFlight, "page is", "pages are") + " being synced one by one."
	}
	if len(view.Running) > 0 || status.InFlight > 0 {
		view.Refresh = refreshBusy
	}
	return view
}

func (s *server) folderView(folder knowledge.Folder, full bool) folderView {
	p := folder.Pages
	view := folderView{
		ID: folder.ID, Source: folder.Source, Link: s.links.folder(folder.ID), State: folder.State, Tone: tone(folder.State),
		Live: number(p.Live), Pending: number(p.Pending), Skipped: number(p.Skipped), Failed: number(p.Failed), Held: number(p.Held),
		Excluded: number(p.Excluded), Tombstoned: number(p.Tombstoned), HasFailed: p.Failed > 0, HasHeld: p.Held > 0,
		Overdue: isOverdue(folder, s.options.Now()),
	}
	if folder.LastSyncAt != nil {
		last := s.timeView(*folder.LastSyncAt)
		view.LastSync = &last
	}
	if !full {
		return view
	}
	view.Root = folder.Root
	if folder.Title != folder.ID {
		view.Title = folder.Title
	}
	return view
}

func tone(state string) string {
	switch state {
	case "active":
		return "good"
	case "paused":
		return "warn"
	}
	return "bad"
}

func (s *server) runView(folder string, run control.RunningRun) runView {
	view := runView{
		Folder: folder, Phase: run.Phase, Link: s.links.workflow(run.WorkflowID), Done: min(run.Done, run.Total), Total: run.Total,
		Since: s.timeView(run.Since), Detail: number(run.Listed) + " listed",
	}
	if run.Total > 0 {
		view.Detail = fmt.Sprintf("%s of %s read", number(run.Done), plural(run.Total, "page", "pages"))
	}
	if run.Failed > 0 {
		view.Detail += ", " + number(run.Failed) + " failed"
	}
	return view
}

func (s *server) timeView(t time.Time) timeView {
	return timeView{
		Words:   humanize.RelTime(t, s.options.Now(), "ago", "from now"),
		Machine: t.UTC().Format(time.RFC3339),
	}
}

func totals(p knowledge.PageCounts) []totalView {
	return []totalView{
		{Name: "Live", Count: number(p.Live), Tone: "good"},
		{Name: "Syncing", Count: number(p.Syncing)},
		{Name: "Pending", Count: number(p.Pending)},
		{Name: "Failed", Count: number(p.Failed), Tone: toneIf(p.Failed, "bad")},
		{Name: "Held", Count: number(p.Held), Tone: toneIf(p.Held, "warn")},
		{Name: "Skipped", Count: number(p.Skipped)},
		{Name: "Excluded", Count: number(p.Excluded)},
		{Name: "Lost by the source", Count: number(p.Tombstoned)},
	}
}

func toneIf(n int64, tone string) string {
	if n == 0 {
		return ""
	}
	return tone
}

func waiting(status control.StatusInfo) []waitingView {
	var all []waitingView
	add := func(n int64, one, many, command string) {
		if n > 0 {
			all = append(all, waitingView{Sentence: plural(n, one, many), Command: command})
		}
	}
	add(status.Holds, "planned removal waits for a person:", "planned removals wait for a person:", "starter holds list")
	add(status.UnfinishedDeletes, "accepted delete hasn’t ended yet; its pages are hidden already:",
		"accepted deletes haven’t ended yet; their pages are hidden already:", "starter deletes")
	return all
}

func models(status control.StatusInfo) string {
	if status.EmbeddingModel == "" {
		return "vectors: " + status.VectorStore
	}
	return fmt.Sprintf("vectors: %s, made by %s", status.VectorStore, status.EmbeddingModel)
}

func kept(status control.StatusInfo) string {
	r := status.Retention
	return fmt.Sprintf("kept: %d revisions or %d days, runs %d days, undo %d days", r.Revisions, r.RevisionsDays, r.RunsDays, r.UndoDays)
}

func number(n int64) string { return humanize.Comma(n) }

func plural(n int64, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return number(n) + " " + many
}
