package main

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/loresync/loresync/internal/control"
	"github.com/loresync/loresync/internal/knowledge"
)

// says is one command line's words for people, answer and messages together.
func says(t *testing.T, d *canned, line string) string {
	t.Helper()
	got := run1(t, d, strings.Fields(line)...)
	assert.Equal(t, exitDone, got.code, got.err)
	return got.out + got.err
}

func TestAPageInADeletedFolderHintsAtTheFoldersRestore(t *testing.T) {
	t.Parallel()
	d := furnished()
	d.page.State = knowledge.StateExcluded
	assert.Contains(t, says(t, d, "page show hr p2"), "starter restore page hr travel/trains.md", "its own delete")
	d.folders[0].State, d.folders[0].DeletedAt, d.folders[0].PurgeAt = "deleted", before(time.Hour), before(-time.Hour)
	said := says(t, d, "page show hr p2")
	assert.Contains(t, said, "starter folder restore hr")
	assert.NotContains(t, said, "restore page")
	d.folders[0].PurgeAt = before(time.Second)
	assert.NotContains(t, says(t, d, "page show hr p2"), "starter folder restore hr", "nothing is offered that would be refused")
}

func TestAPageDeletedBeforeSaysSinceWhenByWhomAndUntilWhen(t *testing.T) {
	t.Parallel()
	d := furnished()
	d.answer.Joined, d.answer.AcceptedAt, d.answer.AcceptedBy = true, before(2*time.Hour), "kim"
	said := says(t, d, "delete page hr travel/trains.md")
	assert.Contains(t, said, "travel/trains.md is deleted already: 2 hours ago, by kim")
	assert.Contains(t, said, "it can be restored until 21 March 12:00 UTC: starter restore page hr travel/trains.md")

	d.answer = control.Answer{Joined: true, Status: "purged", FolderID: "hr", PageID: "p2", AcceptedAt: before(240 * time.Hour), AcceptedBy: "kim"}
	said = says(t, d, "delete page hr travel/trains.md --wait")
	assert.Contains(t, said, "deleted already: 1 week ago, by kim")
	assert.Contains(t, said, "its content is erased; let the next sync read it anew")
}

func TestAFolderOnTheSameRootIsAddedWithAWarning(t *testing.T) {
	t.Parallel()
	d := furnished()
	d.folders[0].Warnings = []string{`the root is that of folder "wiki"`}
	for _, line := range []string{"folder add hr --source files --root /srv/hr", "folder set hr --root /srv/hr"} {
		assert.Contains(t, says(t, d, line), `warning: the root is that of folder "wiki"`)
		answer := document[map[string]any](t, run1(t, d, append(strings.Fields(line), "--json")...).out)
		assert.Equal(t, []any{`the root is that of folder "wiki"`}, answer["warnings"])
	}
}

func TestASyncSaysWhatItDidNotSee(t *testing.T) {
	t.Parallel()
	d := furnished()
	const words = "not seen this time: a page goes after the second full sync that doesn't see it"
	assert.NotContains(t, says(t, d, "sync folder hr --wait"), words)
	three := int64(3)
	d.waited.Unseen = &three
	assert.Contains(t, says(t, d, "sync folder hr --wait"), "3 "+words)
	answer := document[map[string]any](t, run1(t, d, "sync", "folder", "hr", "--wait", "--json").out)
	assert.InDelta(t, 3, answer["unseen"], 0)
}

func TestADryRunSaysThatNothingChangedWhatWouldGoAndHowToDoIt(t *testing.T) {
	t.Parallel()
	d := furnished()
	d.waited.DryRun, d.waited.Counts = true, &knowledge.Counts{Listed: 3, New: 1, Unchanged: 2, Removed: 12}
	d.waited.WouldRemove = []knowledge.HoldPage{{PageID: "p3", SourceID: "travel/old.md", Title: "Old news"}, {PageID: "p4", SourceID: "x.md"}}
	said := says(t, d, "sync folder hr --dry-run --wait")
	assert.Contains(t, said, "nothing was changed")
	assert.Contains(t, said, "3 pages listed: 1 new and 2 unchanged\n")
	assert.Contains(t, said, "12 pages not seen, which the second full sync that doesn't see them would remove:\n"+
		"  - Old news  travel/old.md\n  - Untitled  x.md\n  and 10 more\n")
	assert.Contains(t, said, "do it: starter sync folder hr --full --wait")
	assert.NotContains(t, said, "besides 12 removed")

	d.waited.Counts.Removed, d.waited.WouldRemove = 0, nil
	assert.Contains(t, says(t, d, "sync folder hr --dry-run --wait"), "nothing would be removed")
}

func TestAPausedConnectionStandsInTheStatus(t *testing.T) {
	t.Parallel()
	d := furnished()
	d.status.PausedConnections = []control.Connection{
		{Name: "notion", State: "paused", Reason: "paused by kim", Since: before(time.Hour)},
		{Name: "team", State: "paused", Reason: knowledge.PausedByToken + "the token was revoked", Since: before(time.Hour)},
	}
	said := says(t, d, "status")
	assert.Contains(t, said, "connection notion, paused 1 hour ago: paused by kim")
	assert.Contains(t, said, "starter connection resume notion")
	assert.Contains(t, said, "starter connection check team")
	assert.NotContains(t, said, "starter connection resume team", "it resumes by itself")
}

func TestUntitledPagesHaveAWordForPeopleAndAnEmptyTitleForPrograms(t *testing.T) {
	t.Parallel()
	d := furnished()
	for i := range d.pages {
		d.pages[i].Title = ""
	}
	d.page.Title, d.found.Hits[0].Title, d.why[0].Title, d.holds[0].Pages[0].Title, d.runs[0].Status = "", "", "", "", "running"
	for _, line := range []string{"pages hr", "pages hr --tree", "page show hr p2", "search x", "why x", "holds list"} {
		assert.Contains(t, says(t, d, line), "Untitled", line)
		assert.NotContains(t, run1(t, d, append(strings.Fields(line), "--json")...).out, "Untitled", line)
	}
}

func TestAHoldDecidedBeforeSaysSo(t *testing.T) {
	t.Parallel()
	d := furnished()
	d.answer = control.Answer{Joined: true, AcceptedAt: before(time.Hour), AcceptedBy: "kim", Status: "approved"}
	assert.Contains(t, says(t, d, "holds approve h1"), "the hold h1 was approved already: 1 hour ago, by kim")
	d.answer.AcceptedAt = nil // joined the workflow of an approval that is under way
	assert.Contains(t, says(t, d, "holds approve h1"), "approved the hold h1")
}

func TestAnApprovalTellsWhatBecameOfThePages(t *testing.T) {
	t.Parallel()
	d := furnished()
	said := says(t, d, "holds approve h1")
	assert.Contains(t, said, "starter holds show h1")
	removed, kept := int64(5), int64(2)
	d.waited.HoldOutcome = knowledge.HoldOutcome{Removed: &removed, Kept: &kept}
	assert.Contains(t, says(t, d, "holds approve h1 --wait"), "approved the hold h1: 5 pages removed; 2 pages left")
	d.holds[0].State, d.holds[0].HoldOutcome = "approved", d.waited.HoldOutcome
	assert.Contains(t, says(t, d, "holds show h1"), "5 pages removed; 2 pages left")
}

func TestACheckTellsWhenTheWorkersUseOtherCredentials(t *testing.T) {
	t.Parallel()
	d := furnished()
	d.keys = control.CredentialsCheck{
		Here: &control.Credentials{Identity: "New bot (Acme)", Key: "91bc0000", Origin: "LORESYNC_NOTION_TOKEN"},
		Used: &control.Credentials{Identity: "Old bot (Acme)", Key: "3f2a91c0", Origin: "LORESYNC_NOTION_TOKEN", Since: before(time.Hour)},
	}
	said := says(t, d, "connection check notion")
	assert.Contains(t, said, "the credentials here: New bot (Acme), key 91bc0000")
	assert.Contains(t, said, "the workers use others: Old bot (Acme), key 3f2a91c0")
	d.keys.Here = d.keys.Used
	assert.Contains(t, says(t, d, "connection check notion"), "the workers use the same, since 1 hour ago")
	d.keys = control.CredentialsCheck{Trouble: "Notion refused the token"}
	assert.Contains(t, says(t, d, "connection check notion"), "can't be told: Notion refused the token")
}

func TestAFoldersRestoreWaitsForTheSyncThatFollows(t *testing.T) {
	t.Parallel()
	d := furnished()
	said := says(t, d, "folder restore hr --wait")
	assert.Contains(t, said, "1,204 pages listed")
	d.waited.Status = "partial"
	assert.Equal(t, exitFailed, run1(t, d, "folder", "restore", "hr", "--wait").code)
}

func TestWhatIsBeingErasedIsNotOfferedForARestore(t *testing.T) {
	t.Parallel()
	d := furnished()
	assert.Contains(t, says(t, d, "deletes"), "undo: starter restore page")
	d.deletes[0].Now = true
	said := says(t, d, "deletes")
	assert.Contains(t, said, "none: being erased")
	assert.NotContains(t, said, "undo: ")
	d.folders[0].State, d.folders[0].DeletedAt, d.folders[0].PurgeAt = "deleted", before(time.Hour), before(-time.Hour)
	assert.Contains(t, says(t, d, "folder show hr"), "starter folder restore hr")
	d.folders[0].PurgeAt = before(time.Second)
	assert.NotContains(t, says(t, d, "folder show hr"), "starter folder restore hr")
}
