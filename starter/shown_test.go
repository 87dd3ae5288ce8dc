package main

import (
	"strings"
	"testing"
	"unicode"

	"github.com/stretchr/testify/assert"

	"github.com/loresync/loresync/internal/control"
	"github.com/loresync/loresync/internal/knowledge"
	"github.com/loresync/loresync/starter/internal/out"
)

// titled is a door all of whose titles are this one.
func titled(title string) *canned {
	d := furnished()
	for i := range d.pages {
		d.pages[i].Title = title
	}
	for i := range d.folders {
		d.folders[i].Title = title
	}
	d.page.Title, d.found.Hits[0].Title, d.why[0].Title, d.holds[0].Pages[0].Title = title, title, title, title
	return d
}

func TestLongTitlesAreCutForPeopleOnly(t *testing.T) {
	t.Parallel()
	title := strings.Repeat("出張規程", 75)
	for _, line := range []string{"pages hr", "pages hr --tree", "search x", "why x", "holds list", "folder list"} {
		for _, width := range []int{0, 100} {
			got := call{terminals: out.Terminals{Width: width}}.run(t.Context(), t, titled(title), strings.Fields(line)...)
			assert.Contains(t, got.out, "…", line)
			for shown := range strings.Lines(got.out) {
				assert.LessOrEqual(t, out.Width(strings.TrimSuffix(shown, "\n")), 150, line)
			}
		}
		if line != "folder list" && !strings.HasPrefix(line, "holds") {
			assert.Contains(t, run1(t, titled(title), append(strings.Fields(line), "--json")...).out, title, line)
		}
	}
	assert.Contains(t, says(t, titled(title), "page show hr p2"), title, "there is room for all of it")
}

func TestNothingOfASourceSteersATerminal(t *testing.T) {
	t.Parallel()
	const hostile = "a\x1b[2Jb\u009b31mc\x7f\u202ed"
	d := titled(hostile)
	d.markdown = hostile + "\n"
	for _, line := range []string{
		"pages hr", "pages hr --tree", "page show hr p2", "page show hr p2 --markdown", "search x", "why x", "holds list", "folder list",
	} {
		for _, terminals := range []out.Terminals{{}, {Out: true, Width: 100}} {
			got := call{terminals: terminals}.run(t.Context(), t, d, strings.Fields(line)...)
			for _, steering := range []string{"[2J", "\u009b", "\x7f", "\u202e"} {
				assert.NotContains(t, got.out, steering, line)
			}
		}
		got := run1(t, d, append(strings.Fields(line), "--json")...)
		assert.Negative(t, strings.IndexFunc(got.out, func(r rune) bool { return r != '\n' && (unicode.IsControl(r) || r == '\u202e') }), line)
	}
	kept := document[map[string]any](t, run1(t, d, "page", "show", "hr", "p2", "--json").out)
	assert.Equal(t, hostile, kept["title"], "escaped, and whole")
	kept = document[map[string]any](t, run1(t, d, "page", "show", "hr", "p2", "--markdown", "--json").out)
	assert.Equal(t, hostile+"\n", kept["markdown"])
}

func TestASyncOfAllSaysWhatItLeftOutAndWhy(t *testing.T) {
	t.Parallel()
	d := furnished()
	skipped := []control.SkippedFolder{{FolderID: "wiki", Reason: "paused", Sentence: `folder "wiki" is paused since then: run this`}}
	d.answer.SkippedFolders, d.waited.SkippedFolders = skipped, skipped
	for _, line := range []string{"sync all", "sync all --wait", "schedule trigger"} {
		assert.Contains(t, says(t, d, line), "1 folder not synced:\n  - folder \"wiki\" is paused since then: run this\n", line)
		answer := document[map[string]any](t, run1(t, d, append(strings.Fields(line), "--json")...).out)
		assert.Equal(t, []any{map[string]any{"folder_id": "wiki", "reason": "paused", "sentence": skipped[0].Sentence}}, answer["skipped_folders"], line)
	}
	d.answer.Status = "refused"
	d.err = &control.Error{Kind: control.KindRefused, Code: "paused", Sentence: "every folder is paused"}
	for _, line := range []string{"sync all", "sync all --wait", "schedule trigger"} {
		got := run1(t, d, strings.Fields(line)...)
		assert.Equal(t, exitRefused, got.code, line)
		assert.Contains(t, got.out, "1 folder not synced:", line)
		assert.Contains(t, got.err, "error: every folder is paused", line)
		got = run1(t, d, append(strings.Fields(line), "--json")...)
		assert.Equal(t, exitRefused, got.code, line)
		assert.Len(t, document[map[string]any](t, got.out)["skipped_folders"], 1, line)
	}
}

func TestEachLeftDifferenceHasItsOwnAdvice(t *testing.T) {
	t.Parallel()
	d := furnished()
	d.fsck = []control.Difference{
		{Kind: "purge_overdue", FolderID: "hr", PageID: "p1", NextStep: "`starter fsck --repair` mends it"},
		{Kind: "source_vanished", FolderID: "hr", PageID: "p2", NextStep: "two full syncs remove it"},
		{Kind: "source_vanished", FolderID: "hr", PageID: "p3", NextStep: "two full syncs remove it"},
		{Kind: "purge_overdue", FolderID: "wiki", PageID: "p4", NextStep: "`starter fsck --repair` mends it"},
		{Kind: "orphan_embeddings", Repaired: true},
	}
	got := run1(t, d, "fsck", "--against-source")
	assert.Equal(t, exitFailed, got.code)
	assert.Equal(t, "hr and wiki: `starter fsck --repair` mends it\nhr: two full syncs remove it\nerror: 4 differences left\n", got.err)
}

func TestAdviceNamesWhatItIsAbout(t *testing.T) {
	t.Parallel()
	d := furnished()
	d.why = append(d.why, control.Explanation{FolderID: "old", PageID: "p8", SourceID: "a.md", Title: "A draft", State: "excluded", NextStep: "Wait."})
	got := run1(t, d, "why", "a.md")
	assert.Equal(t, "hr drafts/a.md: starter restore page hr drafts/a.md\nold a.md: Wait.\n", got.err)

	hold := "h1"
	d.page.HoldID = &hold
	assert.Contains(t, says(t, d, "page show hr p2"), "the removal of travel/trains.md waits for you: starter holds show h1")
	d.answer.PurgeAt = before(0)
	assert.Contains(t, says(t, d, "delete page hr travel/trains.md"), "the content of travel/trains.md is being erased")
	assert.Contains(t, says(t, d, "sync folder hr --wait"), "what waits for you in hr: starter holds list")
	assert.Contains(t, says(t, d, "pages hr"), "3 pages of hr")
}

func TestOverlappingFoldersAreNamed(t *testing.T) {
	t.Parallel()
	d := furnished()
	below := knowledge.Overlap{FolderID: "wiki", Root: "/srv", How: knowledge.OverlapBelow}
	d.folders[0].Overlaps = []knowledge.Overlap{below, {FolderID: "ops", How: knowledge.OverlapSame}}
	assert.Contains(t, says(t, d, "folder show hr"), "overlaps    is below the root of wiki and has the root of ops")
	d.status.Folders = []control.FolderStatus{
		{Folder: knowledge.Folder{ID: "hr", State: "active", Overlaps: d.folders[0].Overlaps}},
		{Folder: knowledge.Folder{ID: "ops", State: "active", Overlaps: []knowledge.Overlap{{FolderID: "hr", How: knowledge.OverlapSame}}}},
		{Folder: knowledge.Folder{ID: "wiki", State: "active", Overlaps: []knowledge.Overlap{{FolderID: "hr", How: knowledge.OverlapAbove}}}},
	}
	said := says(t, d, "status")
	assert.Contains(t, said, "folder hr is below the root of wiki and has the root of ops: what both hold is synced twice\n")
	assert.Equal(t, 1, strings.Count(said, "synced twice"), "each pair is told once")
	assert.Contains(t, run1(t, d, "status", "--json").out, `"how": "above"`)
}
