package main

import (
	"bytes"
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/loresync/loresync/internal/control"
	"github.com/loresync/loresync/internal/knowledge"
	"github.com/loresync/loresync/internal/search"
	"github.com/loresync/loresync/internal/store"
	"github.com/loresync/loresync/starter/internal/out"
)

var (
	now    = time.Date(2026, time.March, 14, 12, 0, 0, 0, time.UTC)
	tokyo  = time.FixedZone("JST", 9*60*60)
	before = func(d time.Duration) *time.Time {
		at := now.Add(-d).In(tokyo)
		return &at
	}
)

// canned is a door that answers the same whatever it is asked, for tests of what the command line makes of answers. The door
// itself is tested in internal/control and tests, against real servers.
type canned struct {
	err      error
	answer   control.Answer
	waited   control.Answer
	wait     func(ctx context.Context) error
	folders  []knowledge.Folder
	pages    []knowledge.Page
	page     knowledge.Page
	markdown string
	deletes  []knowledge.Delete
	runs     []knowledge.Run
	holds    []knowledge.Hold
	why      []control.Explanation
	fsck     []control.Difference
	checks   []control.ConnectionCheck
	keys     control.CredentialsCheck
	schedule control.ScheduleInfo
	status   control.StatusInfo
	found    search.Answer
	tokens   []control.Token

	asked []string
	patch control.FolderPatch
}

func (c *canned) note(parts ...string) { c.asked = append(c.asked, strings.Join(parts, " ")) }

func (c *canned) folder(id string) (knowledge.Folder, error) {
	for _, folder := range c.folders {
		if folder.ID == id {
			return folder, c.err
		}
	}
	return knowledge.Folder{ID: id, State: "active", Root: "/srv/" + id}, c.err
}

func (c *canned) AddFolder(_ context.Context, spec control.FolderSpec, actor control.Actor) (knowledge.Folder, error) {
	c.note("add", spec.ID, spec.Source, spec.Root, actor.Name, actor.Trigger)
	return c.folder(spec.ID)
}

func (c *canned) SetFolder(_ context.Context, id string, patch control.FolderPatch, _ control.Actor) (knowledge.Folder, error) {
	c.patch = patch
	return c.folder(id)
}
func (c *canned) Folders(context.Context) ([]knowledge.Folder, error) { return c.folders, c.err }
func (c *canned) Folder(_ context.Context, id string) (knowledge.Folder, error) {
	return c.folder(id)
}

func (c *canned) PauseFolder(_ context.Context, id string, _ control.Actor) (knowledge.Folder, error) {
	return c.folder(id)
}

func (c *canned) ResumeFolder(_ context.Context, id string, _ control.Actor) (knowledge.Folder, error) {
	return c.folder(id)
}

func (c *canned) Connections(context.Context) ([]control.Connection, error) {
	return []control.Connection{
		{Name: "files", Source: "files", State: "active"},
		{Name: "gdrive", Source: "gdrive", State: "not_configured", Reason: "LORESYNC_GDRIVE_CREDENTIALS_FILE is not set"},
		{
			Name: "notion", Source: "notion", State: "paused", Reason: "paused by mika", Since: before(time.Hour),
			Credentials: &control.Credentials{Identity: "Lore bot (Acme)", Key: "3f2a91c0", Origin: "LORESYNC_NOTION_TOKEN", Since: before(3 * time.Hour)},
		},
	}, c.err
}

func (c *canned) AddConnection(_ context.Context, spec control.ConnectionSpec, _ control.Actor) (control.Connection, error) {
	return control.Connection{Name: spec.Name, Source: spec.Source, State: "active"}, c.err
}

func (c *canned) AddToken(_ context.Context, spec control.TokenSpec, _ control.Actor) (control.Token, error) {
	c.note("token", spec.Name, spec.Role, strings.Join(spec.Folders, "+"), spec.Life.String())
	token := control.Token{ID: "tok_1", Name: spec.Name, Role: spec.Role, Folders: spec.Folders, State: "active", CreatedAt: now, Secret: "loresync_told-once"}
	if spec.Life > 0 {
		token.ExpiresAt = before(-spec.Life)
	}
	return token, c.err
}

func (c *canned) Tokens(context.Context) ([]control.Token, error) { return c.tokens, c.err }

func (c *canned) RevokeToken(_ context.Context, ref string, _ control.Actor) (control.Token, error) {
	return control.Token{ID: "tok_1", Name: ref, Role: "viewer", State: "revoked", RevokedAt: before(0), RevokedBy: "mika@desk"}, c.err
}

func (c *canned) CheckConnection(context.Context, string) ([]control.ConnectionCheck, error) {
	return c.checks, c.err
}

func (c *canned) CheckCredentials(context.Context, string) (control.CredentialsCheck, error) {
	return c.keys, c.err
}

func (c *canned) PauseConnection(_ context.Context, name string, _ control.Actor) (control.Connection, error) {
	return control.Connection{Name: name, State: "paused"}, c.err
}

func (c *canned) Webhook(_ context.Context, connection string, _ control.Actor) (control.WebhookInfo, error) {
	switch connection {
	case "gdrive":
		return watchedInfo(connection), c.err
	case "files":
		return control.WebhookInfo{Connection: connection, Source: "files", State: "unsupported", Advice: "the source files has no webhooks"}, c.err
	case "by-setting":
		return control.WebhookInfo{Connection: connection, Source: "notion", State: "setting", Advice: "the secret is in the setting"}, c.err
	}
	return control.WebhookInfo{
		Connection: connection, Source: "notion", State: "waiting", ReceivedAt: before(time.Minute), ShownAt: before(0), Token: "secret_shown_once",
	}, c.err
}

// watchedInfo is a connection of which one log is watched and another can't be.
func watchedInfo(connection string) control.WebhookInfo {
	return control.WebhookInfo{
		Connection: connection, Source: "gdrive", State: "failing", Advice: "no channel could be opened on 0AB (the address is refused): it is tried again soon",
		Channels: []knowledge.Watch{
			{
				Log: "user", State: "active", Address: "https://lore.test/webhooks/drive/gdrive", OpenedAt: before(time.Hour), ConfirmedAt: before(time.Hour),
				HeardAt: before(3 * time.Minute), RenewAt: before(-100 * time.Hour), ExpiresAt: before(-6 * 24 * time.Hour),
			},
			{Log: "0AB", State: "failed", Failures: 3, FailedAt: before(time.Minute), Sentence: "the address is refused", NextTryAt: before(-time.Minute)},
		},
	}
}

func (c *canned) ForgetWebhook(_ context.Context, connection string, _ control.Actor) (control.WebhookInfo, error) {
	return control.WebhookInfo{Connection: connection, Source: "notion", State: "none"}, c.err
}

func (c *canned) ForceConnection(_ context.Context, name string, _ control.Actor) (control.Connection, error) {
	c.note("force", name)
	return control.Connection{Name: name, State: "active"}, c.err
}

func (c *canned) ResumeConnection(_ context.Context, name string, _ control.Actor) (control.Connection, error) {
	c.note("resume", name)
	return control.Connection{Name: name, State: "active"}, c.err
}

func (c *canned) SyncFolder(_ context.Context, id string, mode knowledge.Mode, _ control.Actor) (control.Answer, error) {
	c.note("sync", id, string(mode))
	return c.answer, c.err
}

func (c *canned) SyncPage(_ context.Context, folder, ref string, _ control.Actor) (control.Answer, error) {
	c.note("sync page", folder, ref)
	return c.answer, c.err
}

func (c *canned) SyncAll(context.Context, control.Actor) (control.Answer, error) {
	return c.answer, c.err
}

func (c *canned) Retry(_ context.Context, folder, class string, _ control.Actor) (control.Answer, error) {
	c.note("retry", folder, class)
	return c.answer, c.err
}

func (c *canned) Wait(ctx context.Context, _ control.Answer, _ func(knowledge.RunProgress)) (control.Answer, error) {
	if c.wait != nil {
		return control.Answer{}, c.wait(ctx)
	}
	return c.waited, nil
}

func (c *canned) DeleteFolder(_ context.Context, id string, _ bool, _ control.Actor) (control.Answer, error) {
	c.note("delete folder", id)
	return c.answer, c.err
}

func (c *canned) RestoreFolder(context.Context, string, control.Actor) (control.Answer, error) {
	return c.answer, c.err
}

func (c *canned) DeletePage(_ context.Context, folder, ref string, options control.DeleteOptions, _ control.Actor) (control.Answer, error) {
	c.note("delete page", folder, ref)
	if options.Subtree {
		c.note("with what is below")
	}
	return c.answer, c.err
}

func (c *canned) RestorePage(context.Context, string, string, bool, control.Actor) (control.Answer, error) {
	return c.answer, c.err
}
func (c *canned) Deletes(context.Context) ([]knowledge.Delete, error) { return c.deletes, c.err }
func (c *canned) WaitLive(ctx context.Context, restored control.Answer) (control.Answer, error) {
	c.note("wait live", restored.FolderID, restored.PageID)
	if c.wait != nil {
		return restored, c.wait(ctx)
	}
	return restored, nil
}

func (c *canned) Pages(_ context.Context, _ string, filter control.PageFilter) ([]knowledge.Page, error) {
	pages := c.pages
	for i, page := range pages {
		if filter.After == page.PageID {
			pages = pages[i+1:]
			break
		}
	}
	return pages[:min(len(pages), filter.Limit)], c.err
}

func (c *canned) Page(context.Context, string, string) (knowledge.Page, error) { return c.page, c.err }

func (c *canned) Markdown(context.Context, string, string) (string, error) { return c.markdown, c.err }

func (c *canned) Chunks(context.Context, string, string) ([]knowledge.Chunk, error) {
	return []knowledge.Chunk{
		{ChunkNo: 1, HeadingPath: []string{"Travel", "Trains"}, Text: "Ask for the ticket first.", Embedded: true},
		{ChunkNo: 2, Text: "出張の前に申請する。"},
	}, c.err
}

func (c *canned) Revisions(context.Context, string, string) ([]knowledge.Revision, error) {
	return []knowledge.Revision{{RevisionID: 12, State: "published", Title: "Trains", Chunks: 2, Bytes: 2048, PublishedAt: before(time.Hour)}}, c.err
}

func (c *canned) Why(context.Context, string) ([]control.Explanation, error) { return c.why, c.err }
func (c *canned) Runs(_ context.Context, folder string, _ int) ([]knowledge.Run, error) {
	c.note("runs", folder)
	return c.runs, c.err
}

func (c *canned) Run(context.Context, string) (control.RunDetail, error) {
	if c.err != nil || len(c.runs) == 0 {
		return control.RunDetail{}, c.err
	}
	return control.RunDetail{Run: c.runs[0]}, nil
}

func (c *canned) CancelRun(context.Context, string, control.Actor) (control.Answer, error) {
	return c.answer, c.err
}
func (c *canned) Holds(context.Context, bool) ([]knowledge.Hold, error) { return c.holds, c.err }

func (c *canned) Hold(_ context.Context, id string) (control.HoldDetail, error) {
	if c.err != nil || len(c.holds) == 0 {
		return control.HoldDetail{}, c.err
	}
	c.note("hold", id)
	return control.HoldDetail{Hold: c.holds[0], Pages: []control.HeldPage{{
		HeldPage: store.HeldPage{PageID: "p3", SourceID: "travel/old.md", Title: "Old news", UnseenSince: before(3 * time.Hour), Strikes: 2},
		Evidence: "2 full syncs in a row have not seen it",
	}, {
		HeldPage: store.HeldPage{PageID: "p4", SourceID: "travel/gone.md"}, Evidence: "its source said that it is gone",
	}}}, nil
}

func (c *canned) ApproveHold(context.Context, string, control.Actor) (control.Answer, error) {
	return c.answer, c.err
}

func (c *canned) RejectHold(context.Context, string, control.Actor) (control.Answer, error) {
	return c.answer, c.err
}

func (c *canned) Schedule(context.Context) (control.ScheduleInfo, error) { return c.schedule, c.err }

func (c *canned) SetSchedule(_ context.Context, spec control.ScheduleSpec) (control.ScheduleInfo, error) {
	c.note("schedule", spec.Cron, spec.Timezone)
	if spec.Jitter != nil {
		c.note(spec.Jitter.String())
	}
	return c.schedule, c.err
}

func (c *canned) TriggerSchedule(context.Context, control.Actor) (control.Answer, error) {
	return c.answer, c.err
}
func (c *canned) Status(context.Context) (control.StatusInfo, error) { return c.status, c.err }
func (c *canned) Fsck(context.Context, control.FsckOptions) ([]control.Difference, error) {
	return c.fsck, c.err
}

func (c *canned) Janitor(context.Context, control.Actor) (control.Answer, error) {
	return c.answer, c.err
}

func (c *canned) SetMaintenance(_ context.Context, on bool, _ control.Actor) error {
	if on {
		c.note("maintenance on")
	}
	return c.err
}

func (c *canned) Answer(_ context.Context, query search.Query) (search.Answer, error) {
	c.note("search", query.Text, query.Folder)
	return c.found, c.err
}

// result is what one command line left behind.
type result struct {
	code        int
	out, err    string
	connections int
}

// call is one command line to be carried out.
type call struct {
	terminals out.Terminals
	typed     string
	connect   error
}

func (k call) run(ctx context.Context, t *testing.T, d *canned, args ...string) result {
	t.Helper()
	var stdout, stderr bytes.Buffer
	done := result{}
	err := execute(ctx, deps{
		in: strings.NewReader(k.typed), out: &stdout, err: &stderr, terminals: k.terminals,
		now:   func() time.Time { return now },
		actor: control.Actor{Name: "mika@desk", Trigger: "cli"},
		connect: func(context.Context) (*session, error) {
			if k.connect != nil {
				return nil, k.connect
			}
			done.connections++
			return &session{door: d, searcher: d, close: func() { done.connections-- }}, nil
		},
		migrate: func(context.Context) (int64, error) { return 7, k.connect },
	}, args)
	done.code, done.out, done.err = exitCode(err), stdout.String(), stderr.String()
	return done
}

func run1(t *testing.T, d *canned, args ...string) result {
	t.Helper()
	return call{}.run(t.Context(), t, d, args...)
}

// furnished is a door with something of everything in it.
func furnished() *canned {
	parent, hold := "p1", "h1"
	pages := int64(3)
	return &canned{
		answer: control.Answer{
			WorkflowID: "folder/hr/sync/1", RunID: "r1", FolderID: "hr", PageID: "p2", Pages: &pages,
			AcceptedAt: before(time.Second), PurgeAt: before(-7 * 24 * time.Hour),
		},
		waited: control.Answer{
			WorkflowID: "folder/hr/sync/1", RunID: "r1", FolderID: "hr", Status: "completed", Pages: &pages,
			Counts: &knowledge.Counts{Listed: 1204, New: 2, Changed: 1, Unchanged: 1200, Skipped: 1, Moved: 1, Held: 6},
		},
		folders: []knowledge.Folder{
			{
				ID: "hr", Source: "files", Root: "/srv/hr", Connection: "files", Title: "人事ハンドブック", State: "active", Interval: "15m0s",
				Pages: knowledge.PageCounts{Live: 1204, Failed: 2}, LastSyncAt: before(3 * time.Minute), CreatedAt: *before(48 * time.Hour),
			},
			{
				ID: "wiki", Source: "notion", Root: "workspace", Connection: "notion", Title: "Wiki", State: "paused",
				Pages: knowledge.PageCounts{Live: 7, Held: 1}, CreatedAt: *before(48 * time.Hour),
			},
		},
		pages: []knowledge.Page{
			{PageID: "p1", SourceID: "travel", FolderID: "hr", Kind: "container", Title: "travel", State: "pending"},
			{
				PageID: "p2", SourceID: "travel/trains.md", FolderID: "hr", ParentPageID: &parent, Kind: "document", Title: "出張と電車",
				State: "live", SyncedAt: before(time.Hour),
			},
			{
				PageID: "p3", SourceID: "travel/old.md", FolderID: "hr", ParentPageID: &parent, Kind: "document", Title: "Old\x1b[2J news",
				State: "live", SyncedAt: before(30 * 24 * time.Hour), HoldID: &hold,
				Failure: &knowledge.PageFailure{Class: "Unavailable", Sentence: "The file can't be read.", Since: *before(time.Hour), Attempts: 2},
			},
		},
		page: knowledge.Page{
			PageID: "p2", SourceID: "travel/trains.md", FolderID: "hr", ParentPageID: &parent, Kind: "document", Title: "出張と電車",
			URL: "file:///srv/hr/travel/trains.md", State: "live", SyncedAt: before(time.Hour), VerifiedAt: before(time.Minute), FoundBy: "listing",
			Facts: knowledge.Facts{
				Access: json.RawMessage(`[{"type":"user","role":"writer","email":"mika@example.com"},{"type":"domain","role":"reader","domain":"example.com"}]`),
				Meta:   json.RawMessage(`{"owner":"Mika","modified_by":"Ken"}`),
			},
		},
		markdown: "# Trains\n\nAsk \x1b]0;owned\x07first.\n",
		deletes: []knowledge.Delete{{
			DeleteID: 4, FolderID: "hr", PageID: "p9", SourceID: "drafts", Subtree: true, Who: "mika@desk", Pages: 12,
			AcceptedAt: *before(24 * time.Hour), PurgeAt: *before(-6 * 24 * time.Hour), UndoSeconds: 6 * 24 * 3600,
		}},
		runs: []knowledge.Run{{
			RunID: "r1", WorkflowID: "folder/hr/sync/1", FolderID: "hr", Kind: "folder", Mode: "full", Trigger: "cli", Actor: "mika@desk",
			Status: "partial", Reason: "2 pages failed", Verdict: "complete", RequestedAt: *before(time.Hour), StartedAt: before(time.Hour),
			EndedAt: before(58 * time.Minute), Counts: knowledge.Counts{Listed: 10, Unchanged: 8, Failed: 2},
		}},
		holds: []knowledge.Hold{{
			HoldID: "h1", FolderID: "wiki", Reason: "6 pages would be removed", State: "open", CreatedAt: *before(2 * time.Hour),
			Pages: []knowledge.HoldPage{{PageID: "p3", SourceID: "travel/old.md", Title: "Old news"}},
		}},
		why: []control.Explanation{{
			FolderID: "hr", PageID: "p9", SourceID: "drafts/a.md", Title: "A draft", State: "excluded", Sentence: "mika@desk deleted it.",
			Facts: []string{"deleted yesterday"}, NextStep: "starter restore page hr drafts/a.md",
		}},
		schedule: control.ScheduleInfo{
			Cron: "0 3 * * *", Timezone: "Asia/Tokyo", Jitter: "10m0s",
			NextRuns: []time.Time{now.Add(6 * time.Hour), now.Add(30 * time.Hour), now.Add(54 * time.Hour), now.Add(78 * time.Hour)},
		},
		status: control.StatusInfo{
			Version: "v0.1.0", Database: "127.0.0.1:5432/loresync", Temporal: "127.0.0.1:7233", TemporalOK: true, VectorStore: "exact",
			EmbeddingModel: "lexical", Holds: 1, InFlight: 2, Retention: store.KeptByDefault,
			Folders: []control.FolderStatus{{
				Folder:  knowledge.Folder{ID: "hr", State: "active", Pages: knowledge.PageCounts{Live: 1204, Failed: 2}, LastSyncAt: before(time.Hour)},
				Running: &control.RunningRun{WorkflowID: "folder/hr/sync/2", Phase: "syncing", Done: 40, Total: 100, Since: *before(20 * time.Second)},
			}},
		},
		tokens: []control.Token{
			{ID: "tok_1", Name: "ci", Role: "operator", State: "active", CreatedAt: now, CreatedBy: "mika@desk", LastUsedAt: before(time.Minute)},
			{
				ID: "tok_2", Name: "helpdesk", Role: "viewer", Folders: []string{"hr", "it"}, State: "expired", CreatedAt: *before(48 * time.Hour),
				CreatedBy: "mika@desk", ExpiresAt: before(time.Hour),
			},
		},
		found: search.Answer{Hits: []search.Hit{{
			PageID: "p2", FolderID: "hr", Title: "出張と電車", URL: "file:///srv/hr/travel/trains.md", HeadingPath: []string{"Trains"},
			Snippet: "Ask for the ticket first.", Score: 0.5, SyncedAt: before(time.Hour), AlsoIn: []string{"wiki"},
		}}},
	}
}
